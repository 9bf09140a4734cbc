"""What a session was shown and says again is not learned again; what it changes is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.language.same.echo import Echoes
from kinmem.service import Service
from tests.tables import each

CORPORA = Path(__file__).parent / "language" / "corpora"
FACTS = {
    "en": ("I live in Bremen.", "Where do I live?"),
    "de": ("Ich wohne in Bremen.", "Wo wohne ich, in Bremen?"),
    "fr": ("J'habite à Brême.", "Est-ce que j'habite à Brême ?"),
    "es": ("Vivo en Bremen.", "¿Vivo en Bremen?"),
    "it": ("Abito a Brema.", "Abito a Brema?"),
    "pt": ("Moro em Bremen.", "Eu moro em Bremen?"),
}


def rows(name: str) -> list[list[str]]:
    lines = (CORPORA / name).read_text(encoding="utf-8").splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


def turn(service: Service, name: str, prompt: str) -> str:
    notes = service.observe("prompt", "s", name, prompt).notes
    service.observe("answer", "s", name, "ok")
    return notes


def contents(service: Service) -> list[str]:
    return [memory.content for memory in service.list_memories(limit=200).memories]


@pytest.mark.parametrize("language", FACTS)
def test_fifty_ways_to_say_it_again_add_nothing(service: Service, language: str) -> None:
    fact, question = FACTS[language]
    service.memorize(fact)
    assert fact[:-1] in turn(service, "asked", question)

    for number, (spoken, lead_in) in enumerate(rows("lead_ins.txt")):
        if spoken == language:
            turn(service, f"t{number}", lead_in.replace("{}", fact))
    service.settle()

    assert contents(service) == [fact]


@each(("fact", "changed"), rows("changed_repeats.txt"))
def test_a_changed_repeat_is_no_echo(fact: str, changed: str) -> None:
    assert not Echoes([fact]).repeats(changed)


@pytest.mark.parametrize(
    "changed", ["I live in Hamburg now.", "As mentioned, I do not live in Bremen."]
)
def test_a_changed_repeat_is_learned(service: Service, changed: str) -> None:
    service.memorize("I live in Bremen.")
    turn(service, "asked", "I live in Bremen?")

    turn(service, "t", changed)
    service.settle()

    assert contents(service) != ["I live in Bremen."]


@pytest.mark.parametrize(
    "altered",
    [
        pytest.param(lambda line: line.replace("●", "").replace("◎", ""), id="no signs"),
        pytest.param(lambda line: line.replace("—", "-"), id="another dash"),
        pytest.param(lambda line: line.replace("●", "*").replace("—", "--"), id="plain text"),
        pytest.param(lambda line: "> " + line.replace("- ", "• ", 1), id="quoted, with a bullet"),
        pytest.param(lambda line: "1. " + line.removeprefix("- "), id="numbered"),
        pytest.param(lambda line: line.partition(" —")[0], id="without its end"),
        pytest.param(lambda line: f"| {line} |", id="in a table"),
    ],
)
def test_a_pasted_line_of_notes_adds_nothing(
    service: Service, altered: Callable[[str], str]
) -> None:
    for fact in ("I live in Bremen.", "My dog is called Bello."):
        service.memorize(fact)
    notes = turn(service, "asked", "Where do I live and how is my dog called?")
    lines = [line for line in notes.splitlines() if line.startswith("- ")]
    assert len(lines) == 2

    turn(service, "pasted", "\n".join(map(altered, lines)))
    service.settle()

    assert len(contents(service)) == 2


def test_a_tagged_line_of_the_user_is_no_note(service: Service) -> None:
    turn(service, "t", "[decision] We use PostgreSQL for the shop.")
    service.settle()

    assert any("PostgreSQL" in text for text in contents(service))
