"""Two wordings of one statement: recognised when stored, or asked about by a review."""

from collections.abc import Callable

import pytest

from benchmarks.paraphrases import counted
from kinmem.models import State
from kinmem.service import Service

Open = Callable[..., Service]


def test_paraphrases_are_recognised_and_what_differs_never_is() -> None:
    found = counted()

    same, different, longer = (found[label] for label in ("same", "different", "contains"))
    assert different["write"] == 0
    assert different["review"] <= 0.03 * different["all"]
    assert same["write"] >= 0.18 * same["all"]
    assert same["write"] + same["review"] >= 0.7 * same["all"]
    assert longer["write"] + longer["review"] >= 0.7 * longer["all"]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("The user's name is Nora", "Nora is the user's name"),
        ("The office closes at six on Fridays", "On Fridays the office closes at six"),
        ("Jonas reviews all auth changes", "All auth changes are reviewed by Jonas"),
        (
            "Das Paket kommt am Freitag um 15 Uhr",
            "Am Freitag um drei Uhr nachmittags kommt das Paket",
        ),
    ],
)
def test_another_order_of_the_same_words_is_known(service_of: Open, known: str, new: str) -> None:
    service = service_of("ana")
    first = service.memorize(known)

    again = service.memorize(new)

    assert (again.status, again.id) == ("duplicate_of", first.id)


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


def test_records_of_different_days_are_never_one(service_of: Open) -> None:
    service = service_of("ana")
    service.memorize("On the ward the patient ate", occurred_at="2026-03-01")

    again = service.memorize("The patient ate on the ward", occurred_at="2026-03-02")

    assert again.status == "created"
    assert service.review_memories().issues == []


def test_one_answer_settles_a_paraphrase(service_of: Open) -> None:
    service = service_of("ana")
    first = service.memorize("Freya's thesis is about lichens")
    second = service.memorize("Lichens are the subject of Freya's thesis")
    (issue,) = service.review_memories().issues
    assert (issue.type, set(issue.memory_ids)) == ("duplicate", {first.id, second.id})

    assert service.review_memories(apply=[issue.id]).issues == []

    gone = service.get(first.id)
    assert (gone.state, gone.superseded_by) == (State.SUPERSEDED, second.id)


def test_the_longer_one_stands(service_of: Open) -> None:
    service = service_of("ana")
    shorter = service.memorize("The user owns a bicycle")
    longer = service.memorize("The user owns a bicycle with a carbon frame")
    (issue,) = service.review_memories().issues

    service.review_memories(apply=[issue.id])

    assert service.get(shorter.id).superseded_by == longer.id


PORK = ("I don't eat pork", "Pork is something I do not eat")  # cosine 0.91


@pytest.mark.parametrize(("similarity", "status"), [(0.95, "created"), (0.8, "duplicate_of")])
def test_the_similarity_of_duplicates_is_the_users(
    service_of: Open, similarity: float, status: str
) -> None:
    service = service_of("ana", KINMEM_DUPLICATE_SIMILARITY=similarity)
    service.memorize(PORK[0])

    assert service.memorize(PORK[1]).status == status


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Freya's thesis is about lichens.", "Lichens are the subject of Freya's thesis."),
        ("The lease ends on 31 August 2026.", "The lease runs out on August 31, 2026."),
    ],
)
def test_mode_merge_puts_near_wordings_into_one(service_of: Open, known: str, new: str) -> None:
    service = service_of("ana", KINMEM_CONFLICT_MODE="merge")
    first = service.memorize(known)

    assert service.memorize(new).status == "merged_into"

    assert service.get(first.id).content == f"{known} {new}"
