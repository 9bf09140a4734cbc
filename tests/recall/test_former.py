"""What took the place of something is found by it, if it fits what was asked for."""

from typing import Any

import pytest

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
    assert stored.supersedes
    assert service.settle()
    return service


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
