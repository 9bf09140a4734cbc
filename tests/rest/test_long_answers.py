"""Answers that go on: a stream of changes, and work that is asked for again."""

import gc
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from kinmem.errors import KinmemError, StoreError
from kinmem.http import lanes
from kinmem.http.lanes import UnderWay
from kinmem.service.views import Changes
from kinmem.web.rest import streams

FOUND = Changes(frozenset({"memories"}), (), "1.1.1.1.1")


def streamed(monkeypatch: pytest.MonkeyPatch, answers: list[Changes | KinmemError]) -> list[bytes]:
    """The lines of a stream whose looks are answered so."""
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.0)

    async def look(since: str) -> Changes:
        answer = answers.pop(0)
        if isinstance(answer, KinmemError):
            raise answer
        return answer

    async def lines(look: Callable[[str], Awaitable[Changes]]) -> list[bytes]:
        return [line async for line in streams._told(FOUND, 3600.0, look)]

    return anyio.run(lines, look)


def test_a_store_that_is_busy_for_a_moment_ends_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = StoreError("another process is writing", "storage_busy")
    damaged = StoreError("it is no database", "storage_damaged")
    assert busy.retry and not damaged.retry

    told = streamed(monkeypatch, [busy, busy, FOUND, damaged])

    assert [b"error" in line for line in told] == [False, False, True]
    assert b"storage_damaged" in told[-1]


class Held:
    """What work is done for."""

    def __init__(self) -> None:
        self.store = SimpleNamespace(answers=None)


def test_a_result_that_nobody_fetches_is_dropped_with_its_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes, "PATIENCE", 0.0)
    monkeypatch.setattr(lanes, "KEPT_SECONDS", -1.0)
    works: Any = UnderWay()
    service, other = Held(), Held()
    go_on = threading.Event()
    assert (
        works.result(service, "sleep", str, lambda progress, held=service: go_on.wait(10)) is None
    )
    [work] = works._works[service].values()
    go_on.set()
    work._done.result(10)
    gone = weakref.ref(service)
    del service, work

    works.result(other, "sleep", str, lambda progress: "done")

    latest = time.monotonic() + 60
    while gone() is not None:  # the thread that has done the work holds it until it has ended
        assert time.monotonic() < latest
        gc.collect()


def test_who_is_cancelled_takes_no_work_from_another_who_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes, "PATIENCE", 0.5)
    works, service, go_on, starts = UnderWay(), cast("Any", Held()), threading.Event(), list[int]()

    def work(progress: Any) -> str:
        starts.append(1)
        progress(1, 2, "half")
        go_on.wait(30)
        return "done"

    def cancelled(*_: object) -> None:
        while works._works[service]["sleep"]._awaiting < 2:
            time.sleep(0.01)
        raise CancelledError

    with ThreadPoolExecutor(2) as calls:
        first = calls.submit(works.result, service, "sleep", str, work, cancelled)
        second = calls.submit(works.result, service, "sleep", str, work)
        with pytest.raises(CancelledError):
            first.result(30)
        assert second.result(30) is None  # it goes on
        go_on.set()
        assert works.result(service, "sleep", str, work) == "done"

    assert starts == [1]
