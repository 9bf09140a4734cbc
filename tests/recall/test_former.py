"""What took the place of something is found by it, if it fits what was asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from kinmem.models import Answer, State, Stored
from kinmem.service import Service
from tests.conftest import MovableClock

ASKED = "am I single?"
HEIR = "We got married in June"


@pytest.fixture
def married(service: Service, clock: MovableClock) -> Service:
    """One who was single on 15 June 2026, and is married since the 16th."""
    service.memorize("I am single and live alone", tags=["love"], category="fact")
    clock.advance(days=1)
    stored = service.memorize(HEIR, category="event", tags=["party"], expires="30d")
    settled(service, stored)
    assert service.settle()
    return service


def settled(service: Service, stored: Stored) -> None:
    """Somebody answers that the new one holds."""
    issues = service.review_memories().issues
    issue = next(one for one in issues if stored.id in one.memory_ids)
    service.review_memories(apply=[issue.id], keep=stored.id)


def found(service: Service, **filters: Any) -> list[str]:
    return [hit.memory.content for hit in service.recall(ASKED, **filters).hits]


def test_what_is_so_now_answers_for_what_gave_way_to_it(married: Service) -> None:
    assert found(married) == [HEIR]
    assert found(married, scope="private", since="2026-06-01") == [HEIR]


@pytest.mark.parametrize(
    "filters",
    [
        pytest.param({"category": "fact"}, id="category"),
        pytest.param({"tags": ["love"]}, id="tags"),
        pytest.param({"until": "2026-06-15"}, id="until"),
    ],
)
def test_what_does_not_fit_the_filters_does_not_answer(
    married: Service, filters: dict[str, Any]
) -> None:
    assert HEIR not in found(married, **filters)


def test_what_has_expired_does_not_answer(married: Service, clock: MovableClock) -> None:
    clock.advance(days=40)

    assert found(married) == []


OFFICE = "The office of Nordwind is in the Lindenstrasse"
SINGLE, MARRIED = "Clara is single and lives alone", "Clara got married in June"


def contents(answer: Answer) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


def test_what_several_have_shared_is_told_once_by_what_gave_way(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    kins = [service_of("ana"), service_of("bob")]
    for service in kins:
        service.memorize(SINGLE, scope="shared", subject="Clara", category="fact")
    clock.advance(days=1)
    for service in kins:
        stored = service.memorize(MARRIED, scope="shared", subject="Clara")
        settled(service, stored)
        assert service.settle()

    for service in kins:
        answer = service.recall("Who is single?")
        assert contents(answer) == [MARRIED]
        assert answer.hits[0].memory.kin == service.kin


@pytest.mark.parametrize("first", ["ana", "bob"])
def test_what_several_have_shared_and_has_faded_is_told_once(
    service_of: Callable[..., Service], first: str
) -> None:
    kins = [service_of(first), service_of("bob" if first == "ana" else "ana")]
    for service in kins:
        id = service.memorize(OFFICE, scope="shared", category="fact").id
        service.store.update(id, {"state": State.ARCHIVED}, action="faded")

    for service in kins:
        answer = service.recall("Where is the office of Nordwind?")
        assert contents(answer) == [OFFICE]
        assert answer.hits[0].memory.kin == service.kin
