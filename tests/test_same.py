"""Two wordings of one statement: recognised when stored, or asked about by a review."""

from collections.abc import Callable

import pytest

from benchmarks.paraphrases import counted
from kinmem.service import Service
from tests.sweeps import rounds

Open = Callable[..., Service]


def test_paraphrases_are_recognised_and_what_differs_hardly_ever_is() -> None:
    found = counted(every=rounds(1, 5))

    same, different, longer = (found[label] for label in ("same", "different", "contains"))
    assert different["write"] <= 0.03 * different["all"]
    assert different["review"] <= 0.1 * different["all"]
    assert same["write"] >= 0.35 * same["all"]
    assert same["write"] + same["review"] >= 0.6 * same["all"]
    assert longer["write"] + longer["review"] >= 0.5 * longer["all"]


@pytest.mark.usefixtures("judge_off")
def test_without_the_judge_only_what_is_sure_is_one() -> None:
    found = counted(every=rounds(1, 5))

    assert found["different"]["write"] == 0
    assert found["different"]["review"] <= 0.06 * found["different"]["all"]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Anna manages Ben", "Ben manages Anna"),
        ("Anna manages Ben", "Anna is managed by Ben"),
        ("Ben reviewed all changes", "All changes are reviewed by Ben"),
        ("Nils got the drill from Henrik", "Henrik got the drill from Nils"),
        ("Anna's boss is Ben", "Ben's boss is Anna"),
        ("In Rome he cooks, in Paris he sings", "In Paris he cooks, in Rome he sings"),
        ("The build failed because the disk broke", "The disk broke because the build failed"),
        ("I eat before I swim", "I swim before I eat"),
        ("Only Anna may enter the lab", "Anna may enter only the lab"),
        ("On Mondays the shop is open", "The shop is not open on Mondays"),
        ("Jana hat Timo angerufen", "Timo hat Jana angerufen"),
    ],
)
def test_whoever_does_it_to_another_is_another_statement(
    service_of: Open, known: str, new: str
) -> None:
    service = service_of("ana")
    service.memorize(known)

    assert service.memorize(new).status not in ("duplicate_of", "merged_into")


def test_a_name_is_new_even_where_it_is_a_word_of_another_language(service_of: Open) -> None:
    ana = service_of("ana")
    ana.memorize("My son Nils is allergic to penicillin.")

    told = ana.memorize("Family: Mia (wife), Nils (son, allergic to penicillin)")

    assert told.status == "created"


def test_records_of_different_days_are_never_one(service_of: Open) -> None:
    service = service_of("ana")
    service.memorize("On the ward the patient ate", occurred_at="2026-03-01")

    again = service.memorize("The patient ate on the ward", occurred_at="2026-03-02")

    assert again.status == "created"
    assert service.review_memories().issues == []


def test_the_longer_one_stands(service_of: Open) -> None:
    service = service_of("ana")
    shorter = service.memorize("The user owns a bicycle")
    longer = service.memorize("The user owns a bicycle with a carbon frame")
    (issue,) = service.review_memories().issues

    service.review_memories(apply=[issue.id])

    assert service.get(shorter.id).superseded_by == longer.id


def test_mode_merge_puts_near_wordings_into_one(service_of: Open) -> None:
    known, new = "Freya's thesis is about lichens.", "Freya's thesis is about rare lichens in bogs."
    service = service_of("ana", KINMEM_CONFLICT_MODE="merge")
    first = service.memorize(known)

    assert service.memorize(new).status == "merged_into"

    assert service.get(first.id).content == f"{known} {new}"
