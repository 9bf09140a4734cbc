"""When the cycle runs, and who runs it."""

from collections.abc import Callable
from pathlib import Path

from kinmem.errors import ModelError
from kinmem.llm.base import ChatModels
from kinmem.models import State
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock
from tests.scripted import ScriptedModel

NEAR = {"KINMEM_COMPRESS": "on", "KINMEM_COMPRESS_SIMILARITY": 0.5}


def test_memories_are_seen_to_even_where_nothing_is_said(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    service = service_of("ana", **NEAR)
    service.memorize("Clara grows roses in her garden. She sells them.", importance=6)
    part = service.memorize("Clara grows 12 kinds of roses in her garden.", importance=2).id
    assert service.settle(30)
    assert service.runs() == []

    clock.advance(minutes=11)
    assert service.settle(30)

    (run,) = service.runs()
    assert run.counts["consolidate.merged"] == 1
    assert service.get(part).state == State.SUPERSEDED


def test_a_clock_that_is_put_back_keeps_nobody_awake(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    clock.advance(days=200)
    service = service_of("ana", **NEAR)
    assert service.settle(30)
    clock.advance(days=-200)
    service.memorize("Clara grows roses in her garden. She sells them.", importance=6)
    part = service.memorize("Clara grows 12 kinds of roses in her garden.", importance=2).id

    assert service.settle(30)

    assert service.get(part).state == State.SUPERSEDED


def test_two_that_sleep_at_once_tell_what_each_did(service_of: Callable[..., Service]) -> None:
    one, other = service_of("ana", resident=False), service_of("ana", resident=False)
    for number in range(5):
        one.observe("prompt", "s", str(number), f"I have {number + 2} bicycles, says Ana.")
        one.observe("answer", "s", str(number), "Good.")

    counts = [service.sleep().counts.get("extract.turns", 0) for service in (one, other)]

    assert counts == [5, 0]
    assert [run.kind for run in one.runs()] == ["sleep", "sleep"]


def test_what_a_step_did_before_its_model_failed_is_reported(
    home: Path, clock: MovableClock
) -> None:
    settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": home, "KINMEM_LEARN": "off"})
    models = ChatModels(compacting=ScriptedModel([{"summary": "Ten."}, ModelError("away")]))
    store = SqliteStore(home, "ana", clock)
    with Service(
        store, embedders(settings), settings, models=models, clock=clock, resident=False
    ) as service:
        for number in range(40):
            service.record_turn("s", f"I ran {number} km.", "Well done.", turn=str(number))

        run = service.sleep()

    assert "summarise: away" in run.problems
    assert (run.counts["summarise.snapshots"], run.counts["summarise.turns"]) == (1, 10)
