"""Tokens as a person handles them: added, used, revoked, expired, and hidden from others."""

import json
import os
from pathlib import Path
from threading import Thread

import pytest

from kinmem.errors import ConfigError, InvalidInput
from kinmem.http.tokens import Bearer, Tokens
from kinmem.mcp.calls import needed
from tests.conftest import MovableClock
from tests.tables import each


@pytest.fixture
def tokens(tmp_path: Path, clock: MovableClock) -> Tokens:
    return Tokens(tmp_path, clock)


def test_a_token_speaks_for_the_kin_it_was_made_for(tokens: Tokens) -> None:
    ana, bob = tokens.add("ana"), tokens.add("bob", note="laptop", days=7)

    assert (tokens.verify(ana), tokens.verify(bob)) == (
        Bearer("ana", "write"),
        Bearer("bob", "write"),
    )
    assert [(token.kin, token.note) for token in tokens.tokens()] == [
        ("ana", None),
        ("bob", "laptop"),
    ]


@pytest.mark.parametrize(
    "text", ["", "kmk", "kmk_", "kmk__", "kmk_00000000_x", "é_\ud800_", "a" * 9000]
)
def test_what_was_never_a_token_opens_nothing(tokens: Tokens, text: str) -> None:
    tokens.add("ana")

    assert tokens.verify(text) is None


def test_a_changed_letter_or_a_foreign_id_opens_nothing(tokens: Tokens) -> None:
    ana, bob = tokens.add("ana"), tokens.add("bob")

    assert tokens.verify(ana[:-1] + ("A" if ana[-1] != "A" else "B")) is None
    assert tokens.verify("_".join([*bob.split("_", 2)[:2], ana.split("_", 2)[2]])) is None


def test_a_revoked_token_opens_nothing_and_is_still_listed(tokens: Tokens) -> None:
    ana = tokens.add("ana")

    tokens.revoke(ana.split("_")[1])

    assert tokens.verify(ana) is None
    assert tokens.tokens()[0].revoked_at is not None
    assert not tokens.usable()
    with pytest.raises(InvalidInput, match="kinmem token list"):
        tokens.revoke("nobody")


def test_a_token_ends_when_its_days_are_over(tokens: Tokens, clock: MovableClock) -> None:
    ana = tokens.add("ana", days=7)

    clock.advance(days=6.9)
    assert tokens.verify(ana) is not None
    clock.advance(days=0.2)
    assert tokens.verify(ana) is None
    with pytest.raises(InvalidInput):
        tokens.add("ana", days=0)


def test_a_running_server_notices_what_another_process_adds_and_revokes(
    tokens: Tokens, tmp_path: Path
) -> None:
    other = Tokens(tmp_path)

    ana = other.add("ana")
    assert tokens.verify(ana) is not None
    other.revoke(ana.split("_")[1])
    assert tokens.verify(ana) is None


def test_only_digests_are_kept_and_only_the_owner_can_read_them(
    tokens: Tokens, tmp_path: Path
) -> None:
    ana = tokens.add("ana")
    file = tmp_path / "tokens.json"

    assert ana.split("_", 2)[2] not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(ana.split("_", 2)[2]) >= 43  # 32 bytes


def test_a_file_that_others_may_write_or_that_is_broken_lets_nobody_in(
    tokens: Tokens, tmp_path: Path
) -> None:
    ana = tokens.add("ana")
    file = tmp_path / "tokens.json"

    file.chmod(0o666)
    os.utime(file, ns=(1, 1))
    with pytest.raises(ConfigError, match="chmod 600"):
        tokens.verify(ana)

    file.chmod(0o600)
    file.write_text(json.dumps({"tokens": [{"id": 1}]}))
    with pytest.raises(ConfigError, match=r"tokens\.json"):
        tokens.verify(ana)


def test_no_token_is_lost_when_many_are_added_at_once(tokens: Tokens, tmp_path: Path) -> None:
    threads = [Thread(target=Tokens(tmp_path).add, args=(f"kin{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(token.kin for token in tokens.tokens()) == [f"kin{n}" for n in range(8)]


@pytest.mark.parametrize("kin", ["", "../x", "Ana", "con"])
def test_a_token_is_for_a_name_that_a_kin_can_have(tokens: Tokens, kin: str) -> None:
    with pytest.raises(InvalidInput):
        tokens.add(kin)


def test_a_token_may_do_what_its_scope_and_those_before_it_allow(tokens: Tokens) -> None:
    reader, admin = tokens.verify(tokens.add("ana", scope="read")), Bearer("ana", "admin")

    assert reader is not None
    assert [reader.may(scope) for scope in ("read", "write", "admin")] == [True, False, False]
    assert admin.may("read") and admin.may("write") and admin.may("admin")


def test_a_token_of_an_earlier_release_may_still_do_everything(
    tokens: Tokens, tmp_path: Path
) -> None:
    ana = tokens.add("ana", scope="read")
    file = tmp_path / "tokens.json"
    document = json.loads(file.read_text())
    for entry in document["tokens"]:
        del entry["scope"]
    file.write_text(json.dumps({**document, "version": 1}))

    assert tokens.verify(ana) == Bearer("ana", "admin")
    tokens.add("bob")
    assert json.loads(file.read_text())["tokens"][0]["scope"] == "admin"


def test_only_the_very_first_start_makes_a_token(tokens: Tokens) -> None:
    made = tokens.first("ana", "first start")

    assert made is not None
    assert tokens.verify(made) == Bearer("ana", "write")
    tokens.revoke(made.split("_")[1])
    assert tokens.first("ana", "first start") is None


@each(
    ("method", "params", "scope"),
    [
        ("tools/call", {"name": "unknown"}, "admin"),
        ("tools/call", {}, "admin"),
        ("tools/call", {"name": "forget", "arguments": {"erase": False}}, "write"),
        ("tools/call", {"name": "forget", "arguments": {"erase": "false"}}, "admin"),
        ("tools/call", {"name": "review_memories", "arguments": {"apply": []}}, "read"),
        ("resources/read", {"uri": "kinmem://export"}, "admin"),
        ("resources/read", {"uri": "KINMEM://memories/x"}, "admin"),
        ("resources/read", {"uri": "kinmem://unknown"}, "admin"),
        ("ping", {}, "read"),
    ],
)
def test_what_is_not_in_the_table_takes_most(
    method: str, params: dict[str, object], scope: str
) -> None:
    assert needed(method, params) == scope
