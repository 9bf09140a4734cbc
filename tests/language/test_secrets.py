"""What is taken out of a text before it is learned from, and what is left."""

import random
import re
import string
from pathlib import Path

import pytest

from kinmem.language.secrets.secrets import REMOVED, redact, secret_kinds, without_private
from tests.growth import assert_linear
from tests.tables import each

CORPORA = Path(__file__).parent / "corpora"
ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "x": "0123456789abcdef",
    "U": string.ascii_uppercase + "234567",
    "d": string.digits,
}


def lines(name: str) -> list[str]:
    text = (CORPORA / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def made_up(line: str) -> tuple[str, str]:
    """The text and the secret in it."""
    dice = random.Random(line)
    filled = re.sub(
        r"\{([xUd]?)(\d+)\}",
        lambda gap: "".join(dice.choices(ALPHABETS[gap[1]], k=int(gap[2]))),
        line,
    )
    found = re.search("⟦(.*)⟧", filled)
    assert found
    return filled.replace("⟦", "").replace("⟧", ""), found[1]


SECRETS = lines("secrets.txt")
KEYS = [line for line in SECRETS if re.search(r"⟦[^⟧]*\{[^⟧]*\}", line)]
ONLY_ASSIGNED = ("aws_secret", "export TOKEN", '"client_secret"', "secret_key")


@each("line", SECRETS)
def test_a_secret_is_taken_out(line):
    text, secret = made_up(line)

    clean, count = redact(text)

    assert count == 1
    assert secret not in clean
    assert REMOVED in clean


@each("line", SECRETS)
def test_taking_out_twice_changes_nothing(line):
    clean, _ = redact(made_up(line)[0])

    assert redact(clean) == (clean, 0)


def test_the_words_round_a_secret_stay():
    assert redact("the wifi password is hunter2, ask Ben") == (
        f"the wifi password is {REMOVED}, ask Ben",
        1,
    )


@each("text", lines("no_secrets.txt"))
def test_what_only_looks_like_one_stays(text):
    assert redact(text) == (text, 0)
    assert secret_kinds(text) == []


@each("line", [line for line in KEYS if not line.startswith(ONLY_ASSIGNED)])
def test_a_key_is_known_by_its_format(line):
    assert secret_kinds(made_up(line)[0])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("the wifi password is hunter2", "password"),
        ("my PIN is 4711", "PIN"),
        ("pay with 4111 1111 1111 1111", "card number"),
        ("send it to DE89 3704 0044 0532 0130 00", "bank account"),
        ("mi DNI es 12345678Z", "number of a person"),
        ("my social security number is 078051120", "account or id number"),
        ('password = "blue giraffe"', "password"),
    ],
)
def test_what_it_is_can_be_told_without_repeating_it(text, kind):
    assert kind in secret_kinds(text)


def test_a_private_key_goes_whole_even_if_its_end_is_missing():
    head = "-----BEGIN " + "OPENSSH PRIVATE KEY-----"
    tail = "-----END " + "OPENSSH PRIVATE KEY-----"

    assert redact(f"a\n{head}\nb3Blbn\n{tail}\nz") == (f"a\n{REMOVED}\nz", 1)
    assert redact(f"a\n{head}\nb3Blbn") == (f"a\n{REMOVED}", 1)
    assert secret_kinds(f"a\n{head}\nb3Blbn") == ["private key"]


@each(
    ("text", "left"),
    [
        pytest.param("a <private>b</private> c", "a  c", id="one"),
        pytest.param("a <private>b", "a ", id="unclosed"),
        pytest.param("a <PRIVATE>b</Private>c", "a c", id="case"),
        pytest.param("<private>a<private>b</private>c</private>d", "d", id="nested"),
        pytest.param("a</private>b", "ab", id="stray end"),
        pytest.param("a <privateer> b", "a <privateer> b", id="another tag"),
        pytest.param("a < private >b</ private > c", "a  c", id="spaces"),
        pytest.param("a <pri\u200bvate>b</private> c", "a  c", id="an unseen character"),
        pytest.param("a ＜private＞b＜/private＞ c", "a  c", id="full width"),
        pytest.param("a [private]b[/private] c", "a  c", id="in brackets"),
        pytest.param("a [private] repository", "a [private] repository", id="no pair of brackets"),
        pytest.param("a <private-key> b", "a <private-key> b", id="a longer tag"),
        pytest.param('a <private reason="x">b</private>c', "a c", id="attributes"),
        pytest.param("nothing", "nothing", id="none"),
    ],
)
def test_private_parts_are_left_out(text, left):
    assert without_private(text) == left


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("İzmir: the password is hunter2", id="a capital that has two small letters"),
        pytest.param("the ſecret code for the door is 4711", id="a long s"),
        pytest.param("x" * 5_000 + " the password is hunter2 " + "y" * 5_000, id="far inside"),
    ],
)
def test_places_are_those_of_the_text(text):
    clean, count = redact(text)

    assert count == 1
    assert len(clean) - clean.count(REMOVED) * len(REMOVED) in (len(text) - 7, len(text) - 4)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://git.acme.io/web/auth/commit/9fceb02d0ae598e95dc970b74767f19372d61af8", 0),
        ("https://git.acme.io/web/hooks/-/blob/9fceb02d0ae598e95dc970b74767f19372d61af8/a.py", 0),
        ("https://acme.io/auth/9fceb02d0ae598e95dc970b74767f19372d61af8", 1),
        ("https://acme.io/invite/team/q8Zr7LmP2xVt9KdW", 1),
    ],
)
def test_the_address_of_a_commit_is_no_token_in_a_path(address, found):
    assert redact(f"It is in {address} since Monday.")[1] == found


def test_a_long_output_is_read_in_a_moment():
    line = (
        "2026-11-21T10:00:00Z INFO worker[17]: request id=5f1c9a7e path=/api/items/4711 in 12 ms\n"
    )

    assert redact(line * 12_000)[1] == 0
    assert_linear(lambda lines: redact(line * lines), 12_000)


@each(
    "unit",
    ["a", "-", "ab1+/", "eyJ", "sk-", "password ", "password is ", "token=", "1 ", "://a:", "\n"]
    + [
        "set my password ",
        "<private>",
        "[private]",
        "[/private][private]",
        "-----BEGIN PRIVATE KEY-----",
        "passphrase is ab cd ",
        "account number is 1 ",
        "cookie: a=b1c2d3e4; ",
        "my pin is one two ",
        "login is a / b ",
        "seed words: one two ",
        "hunter2 is my password ",
        "backup code 12-34 ",
        "recovery key: 123456 ",
        "seed seed words a ",
        "open get let auf with 4711 open with 44-33-22 ",
        "you get in with 4711. ",
        "the door unlock the door with 4711 ",
        "4711. ",
    ],
)
def test_time_grows_with_the_length_only(unit):
    for work in (redact, secret_kinds, without_private):
        assert_linear(lambda count, work=work: work(unit * count), 65536 // len(unit))


def test_an_unseen_character_does_not_hide_a_key():
    clean, count = redact("use sk-\u200bproj-a1B2c3D4e5F6g7H8i9J0k1L2m3 for it")

    assert (clean, count) == (f"use {REMOVED} for it", 1)


def test_a_password_on_the_next_line_is_taken_out():
    assert redact("password: |\n  hunter2hunter2\nport: 1") == (
        f"password: |\n  {REMOVED}\nport: 1",
        1,
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "Visa 4539 6112 7623 5815, ends 09/28, at the back 672, two seats",
            f"Visa {REMOVED}, ends 09/28, at the back {REMOVED}, two seats",
        ),
        (
            "カードは4539 6112 7623 5815、裏の三桁が127。",
            f"カードは{REMOVED}、裏の三桁が{REMOVED}。",
        ),
        (
            "Take 4539 6112 7623 5815 for the 250 € and 2027",
            f"Take {REMOVED} for the 250 € and 2027",
        ),
    ],
)
def test_the_code_of_a_card_goes_with_its_number(text, left):
    assert redact(text)[0] == left
