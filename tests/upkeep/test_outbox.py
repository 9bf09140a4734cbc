"""Which turns wait, and for how long, when a model fails."""

from collections.abc import Callable
from typing import Any

import pytest

from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import ChatModels
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.upkeep.background import LongCalls
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock
from tests.scripted import ScriptedModel

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


def broken(word: str = "broken") -> Asked:
    """A model that answers nothing that can be used where the word is said."""
    return failing_at(word, Unusable("garbage"))


def test_a_failed_turn_waits_half_a_minute_then_two_minutes_and_is_then_parked(
    learning: Any, clock: MovableClock
) -> None:
    service = learning(broken())
    tell(service, "broken")

    def tries_after(seconds: float) -> int:
        clock.advance(seconds=seconds)
        service.sleep(["learn"])
        return max(message.tries for message in service.turns("s"))

    assert tries_after(0) == 1
    assert tries_after(29) == 1
    assert tries_after(1) == 2
    assert tries_after(119) == 2
    assert service.parked() == []
    assert tries_after(1) == 3
    assert {message.turn for message in service.parked()} == {"broken"}
    assert tries_after(100_000) == 3


def test_what_is_parked_is_tried_again_when_somebody_asks_for_it(
    learning: Any, clock: MovableClock
) -> None:
    told: dict[str, Any] = {"error": Unusable("garbage")}

    def answer(prompt: str) -> Any:
        if told["error"]:
            raise told["error"]
        return {"items": []}

    service = learning(answer)
    tell(service, "broken")
    for _ in range(4):
        service.sleep(["learn"])
        clock.advance(minutes=10)
    told["error"] = None
    service.sleep(["learn"])
    assert learned(service) == set()

    assert service.retry() == 2
    service.sleep(["learn"])

    assert learned(service) == {"broken"}
    assert service.parked() == []


def test_two_in_a_row_that_find_the_model_away_spare_the_others_for_two_minutes(
    learning: Any, clock: MovableClock
) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> Any:
        asked.append(prompt)
        raise ModelError("HTTP 503")

    service = learning(answer)
    tell(service, "one", "two", "three", "four")
    service.sleep(["learn"])
    assert len(asked) == 2

    clock.advance(seconds=119)
    service.sleep(["learn"])
    assert len(asked) == 2
    clock.advance(seconds=1)
    service.sleep(["learn"])
    assert len(asked) == 4
    assert {message.tries for message in service.turns("s")} == {0}


def test_one_that_alone_finds_the_model_away_has_failed(learning: Any, clock: MovableClock) -> None:
    service = learning(failing_at("two", ModelError("HTTP 503")))
    tell(service, "one", "two", "three")
    report = service.sleep(["learn"])

    assert learned(service) == {"one", "three"}
    assert {message.tries for message in service.turns("s") if message.turn == "two"} == {1}
    assert report.counts["extract.turns"] == 2


def test_what_failed_before_comes_after_what_did_not(learning: Any, clock: MovableClock) -> None:
    asked: list[str] = []
    refuse = True

    def answer(prompt: str) -> Any:
        turn = prompt.rpartition("<turn")[2] or prompt
        asked.append("broken" if "broken" in turn else "fresh")
        if refuse and "broken" in turn:
            raise Unusable("garbage")
        return {"items": []}

    service = learning(answer)
    tell(service, "broken")
    service.sleep(["learn"])
    clock.advance(minutes=1)
    tell(service, "fresh")
    asked.clear()
    service.sleep(["learn"])

    assert asked == ["fresh", "broken"]


@pytest.mark.parametrize(
    ("seconds", "is_whole"), [(0, False), (30, False), (31, True), (-3600, True)]
)
def test_an_unanswered_prompt_waits_half_a_minute_for_its_answer(
    learning: Any, clock: MovableClock, seconds: float, is_whole: bool
) -> None:
    """And no longer where the clock was put back."""
    service = learning(lambda prompt: {"items": []})
    service.observe("prompt", "s", "1", "I moved to Lisbon in May.", tell=False)
    clock.advance(seconds=seconds)

    service.components.cycle()

    assert learned(service) == ({"1"} if is_whole else set())


def test_an_unanswered_prompt_that_another_follows_waits_for_nothing(
    learning: Any, clock: MovableClock
) -> None:
    service = learning(lambda prompt: {"items": []})
    for turn in ("1", "2"):
        service.observe("prompt", "s", turn, f"I moved to Lisbon in May {turn}.", tell=False)
    service.observe("prompt", "t", "1", "I sold the car.", tell=False)

    service.components.cycle()

    assert learned(service) == {"1"}
    assert [message.learned_at for message in service.turns("t")] == [None]


def test_a_named_sleep_waits_for_no_answer(learning: Any) -> None:
    service = learning(lambda prompt: {"items": []})
    service.observe("prompt", "s", "1", "I moved to Lisbon in May.", tell=False)

    service.sleep(["learn"])

    assert learned(service) == {"1"}


def test_a_model_is_shown_what_went_before(learning: Any) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> Any:
        asked.append(prompt)
        return {"items": []}

    service = learning(answer)
    for number in range(6):
        tell(service, f"prompt number {number}")
    asked.clear()
    tell(service, "the last one")
    service.sleep(["learn"])

    [last] = [prompt for prompt in asked if "the last one" in prompt.rpartition("<turn")[2]]
    assert [number for number in range(6) if f"prompt number {number}" in last] == [3, 4, 5]


def test_a_memory_is_busy_until_the_last_long_call_has_ended() -> None:
    calls = LongCalls()
    assert not calls

    with calls.one():
        with calls.one():
            assert calls
        assert calls

    assert not calls
