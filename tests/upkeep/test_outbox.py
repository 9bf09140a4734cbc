"""Which turns wait, and for how long, when a model fails."""

from collections.abc import Callable
from typing import Any

import pytest

from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import ChatModels
from kinmem.llm.scripted import ScriptedModel
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring import embedders
from tests.conftest import MovableClock

Asked = Callable[[str], Any]


@pytest.fixture
def learning(home: Any, clock: MovableClock) -> Any:
    """Opens ana's memory, learned by a model that does as it is told, when it sleeps."""
    opened: list[Service] = []

    def open_with(answer: Asked) -> Service:
        settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": home})
        model = ScriptedModel(answer)
        opened.append(
            Service(
                SqliteStore(home, "ana", clock),
                embedders(settings),
                settings,
                models=ChatModels(extraction=model),
                clock=clock,
                resident=False,
            )
        )
        return opened[-1]

    yield open_with
    for service in opened:
        service.close()


def tell(service: Service, *texts: str) -> None:
    for text in texts:
        service.record_turn("s", text, "I see.", turn=text)


def learned(service: Service) -> set[str]:
    return {message.turn for message in service.turns("s") if message.learned_at}


def failing_at(word: str, error: Exception) -> Asked:
    def answer(prompt: str) -> Any:
        turn = prompt.rpartition("<turn")[2] or prompt
        if word in turn:
            raise error
        return {"items": []}

    return answer


def test_a_turn_that_always_takes_too_long_holds_up_no_other(
    learning: Any, clock: MovableClock
) -> None:
    service = learning(failing_at("poison", ModelError("took longer than 60 seconds")))
    tell(service, "poison", "one", "two", "three")

    for _ in range(8):
        service.sleep()
        clock.advance(minutes=10)
    assert learned(service) == {"one", "two", "three"}

    for number in range(3):
        tell(service, f"later {number}")
        service.sleep()
        clock.advance(minutes=10)
    assert {message.turn for message in service.parked()} == {"poison"}


def test_an_outage_is_no_failure_of_the_turns(learning: Any, clock: MovableClock) -> None:
    away = True

    def answer(prompt: str) -> Any:
        if away:
            raise ModelError("HTTP 503")
        raise Unusable("garbage")

    service = learning(answer)
    tell(service, "one", "two", "three")
    for _ in range(20):
        service.sleep()
        clock.advance(minutes=3)
    assert {message.tries for message in service.turns("s")} == {0}

    away = False
    service.sleep()

    assert service.parked() == []  # the first failure of three
