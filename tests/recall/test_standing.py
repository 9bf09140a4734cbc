"""Standing instructions come with the questions they apply to, however those are worded."""

import numpy as np
import pytest

from benchmarks import standing
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder
from kinmem.llm.vectors import ORDERS, STATEMENTS, Axis
from kinmem.service import Service

INSTRUCTIONS = [
    "Give prices in Swiss francs",
    "When I ask for a film, say which of my services has it",
    "Warn me before suggesting any command that deletes something",
    "Always format dates as day, month, year when I ask for a timeline",
]
STATEMENTS_OF_MINE = [
    "The kids go to judo on Friday",
    "I watch the birds at the pond every morning",
    "My home is in Tartu",
    "The home partition has 200 GB",
    "The festival takes place at the harbour",
]


@pytest.mark.parametrize(
    ("question", "instruction"),
    [
        ("What could I watch on Friday with the kids?", INSTRUCTIONS[1]),
        ("How do I free up space on the home partition?", INSTRUCTIONS[2]),
        ("When was the festival?", INSTRUCTIONS[3]),
    ],
)
def test_an_instruction_is_found_by_what_it_is(
    service: Service, question: str, instruction: str
) -> None:
    for text in (*INSTRUCTIONS, *STATEMENTS_OF_MINE):
        service.memorize(text)

    hits = service.recall(question).hits

    assert instruction in [hit.memory.content for hit in hits]


def test_instructions_do_not_push_a_fact_from_its_place(service: Service) -> None:
    for text in (*INSTRUCTIONS, *STATEMENTS_OF_MINE):
        service.memorize(text)

    assert service.recall("Where is my home?").hits[0].memory.content == "My home is in Tartu"


def test_what_an_assistant_says_is_no_instruction(service: Service) -> None:
    service.memorize("Always format dates as day, month, year.", speaker="assistant")

    hits = service.recall("When was the festival?").hits

    assert not any("+standing wish" in hit.why for hit in hits)


def test_the_axis_in_the_package_is_the_embedders_own() -> None:
    embedder = BuiltinEmbedder().english

    made = Axis.between(embedder.embed(ORDERS), embedder.embed(STATEMENTS))
    kept = Axis.read(FOLDER / "orders.npy")

    assert float(made.direction @ kept.direction) == pytest.approx(1.0, abs=1e-3)
    assert np.allclose([made.low, made.high], [kept.low, kept.high], atol=1e-2)


def test_of_many_instructions_most_are_found_and_none_goes_to_make_room_for_another() -> None:
    """Thirty in one Kin; 16 were found while what was found already could be cut."""
    places = standing.measured(standing.FILE)

    assert sum(place > 0 for place in places) >= 19
    assert all(place <= standing.LIMIT for place in places)


FACTS = [
    "Acme now pays 1,350 euros per month.",
    "Customer Bellini pays 1,200 euros per month.",
    "Netflix coûte maintenant 14,99 € par mois.",
    "Und Elio kommt im September in die dritte Klasse.",
    "Mein Mann heißt Luca, er ist Italiener und allergisch auf Haselnüsse.",
]


def test_a_plain_fact_is_no_instruction(service: Service) -> None:
    """The vectors alone took about a third of them for orders."""
    for text in (*FACTS, "I run every morning before work."):
        service.memorize(text)

    hits = service.recall("do I run in the morning?").hits

    assert not any("+standing wish" in hit.why for hit in hits)


def test_what_is_about_the_question_is_not_replaced_by_instructions(service: Service) -> None:
    for text in (*INSTRUCTIONS, "I run every morning before work."):
        service.memorize(text)
    service.memorize("I stopped running because of my knee.")

    hits = service.recall("do I run in the morning?", limit=3).hits

    assert "I stopped running because of my knee." in [hit.memory.content for hit in hits]
