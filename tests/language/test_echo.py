"""What comes back from the memory is told from news."""

from pathlib import Path

import pytest

from kinmem.language.same.echo import Echoes
from tests.growth import assert_linear
from tests.tables import each

CORPORA = Path(__file__).parent / "corpora"


def rows(name: str) -> list[list[str]]:
    lines = (CORPORA / name).read_text(encoding="utf-8").splitlines()
    return [row.split(" | ") for row in lines if not row.startswith("#")]


ROWS = rows("echoes.txt")
OTHERS = ["The bridge has forty arches", "Paul likes jazz", "I paid 12 dollars for the ticket"]


@each(("shown", "echo"), [row[:2] for row in ROWS])
def test_a_repetition_is_an_echo_in_any_person_and_wording(shown, echo):
    assert Echoes([*OTHERS, shown]).repeats(echo)


@each(("shown", "changed"), [row[::2] for row in ROWS])
def test_a_changed_repetition_is_news(shown, changed):
    assert not Echoes([*OTHERS, shown]).repeats(changed)


@each(("shown", "echo"), rows("framed.txt"))
def test_a_frame_adds_nothing_to_what_was_told(shown, echo):
    assert Echoes([*OTHERS, shown]).repeats(echo)


@each(("shown", "changed"), rows("framed_changes.txt"))
def test_what_is_changed_within_a_frame_is_news(shown, changed):
    assert not Echoes([*OTHERS, shown]).repeats(changed)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Where do I live?", id="question"),
        pytest.param("Please find a hotel in Lyon.", id="request"),
        pytest.param("Thanks!", id="thanks"),
        pytest.param("I know Lyon.", id="something else about it"),
        pytest.param("You live in Lyon. Please note that I moved to Nice.", id="news in a request"),
    ],
)
def test_what_tells_nothing_known_is_no_echo(text):
    assert not Echoes(["I live in Lyon"]).repeats(text)


def test_nothing_shown_is_never_repeated():
    assert not Echoes([]).repeats("I live in Lyon")


def test_a_repetition_with_news_in_it_is_news():
    echoes = Echoes(["I live in Lyon"])

    assert not echoes.repeats("As you told me, you live in Lyon, and you have a cat.")
    assert not echoes.repeats("You live in Lyon. Your cat is called Miso.")


def test_two_things_shown_may_come_back_in_one_sentence():
    assert Echoes(["I live in Lyon", "My cat is called Miso"]).repeats(
        "You live in Lyon, and your cat is called Miso."
    )


def test_the_user_is_known_by_name():
    assert Echoes(["I live in Lyon"], names=["Ana"]).repeats("Ana lives in Lyon.")
    assert Echoes(["Ana lives in Lyon"], names=["Ana"]).repeats("You live in Lyon.")
    assert not Echoes(["I live in Lyon"]).repeats("Ana lives in Lyon.")
    assert not Echoes(["Ben lives in Lyon"], names=["Ana"]).repeats("I live in Lyon.")


def test_a_long_turn_is_compared_with_many_memories_at_once():
    shown = [f"I bought {n} apples for friend number {n} at the market in May" for n in range(100)]
    turn = " ".join(f"You bought {n} apples and a book in spring." for n in range(60))[:2000]

    assert not Echoes(shown).repeats(turn)
    assert_linear(lambda count: Echoes(shown[:count]).repeats(turn), len(shown))


@pytest.mark.parametrize("unit", ["a", ", ", "i ", "- ", "as you told me ", "you "])
def test_time_grows_with_the_length_only(unit):
    echoes = Echoes(["I live in Lyon"])

    assert_linear(lambda count: echoes.repeats(unit * count), 65536 // len(unit))
