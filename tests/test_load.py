"""A server that is asked for more than it can do: who waits, how long, and what is refused."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from kinmem.errors import Overloaded, StillWorking, StoreError
from kinmem.http.lanes import Lane, Lanes, note_progress
from kinmem.store.sqlite.store import SqliteStore
from tests.store.soundness import problems
from tests.sweeps import WHOLE
from tests.test_stdio import Process, start

__all__ = ["start"]

pytestmark = pytest.mark.usefixtures("judge_off")

HOLD = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.set_busy_timeout(30_000)  # the server may be making a vector of what it was told
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process writes, and does not come to an end."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin and holder.stdout
    try:
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.communicate("", timeout=30)


def said(answer: dict[str, Any]) -> str:
    """The first word of an error; "answered" if there is none."""
    if "error" in answer:
        return "cancelled"
    result = answer["result"]
    return str(result["content"][0]["text"]).split(":")[0] if result.get("isError") else "answered"


def send(server: Process, ids: range, tool: str, **arguments: Any) -> None:
    for id in ids:
        given = {name: str(value).replace("#", str(id)) for name, value in arguments.items()}
        call = {"name": tool, "arguments": given}
        server.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})


def test_sixty_writers_that_cannot_write_are_told_together_and_no_reader_waits_for_them(
    home: Path, start: Callable[..., Process]
) -> None:
    server = start()
    server.shake_hands()
    server.call("first", "memorize", content="Bob plays chess")
    server.call("second", "recall", query="who plays chess?")  # the first one loads what it needs
    with held(home / "kins" / "ana.db"):
        send(server, range(60), "memorize", content="note #")
        send(server, range(100, 101), "recall", query="what does Bob play?")
        answers = [server.next() for _ in range(61)]

        assert answers[0]["id"] == 100 and said(answers[0]) == "answered"
        assert Counter(map(said, answers)) == {"answered": 1, "storage_busy": 60}
    assert not server.call("last", "memorize", content="free again").get("isError")


FEWER = """
from kinmem.http import lanes
lanes.MOST_WAITING //= 10
import server
server.main()
"""


def test_calls_beyond_what_can_wait_are_refused_with_a_time_to_repeat_them(
    home: Path, start: Callable[..., Process]
) -> None:
    """A tenth of what can wait, and of the calls, but under `make sweeps`."""
    share = 1 if WHOLE else 10
    server = start() if WHOLE else start(sys.executable, "-c", FEWER)
    server.shake_hands()
    server.call("first", "memorize", content="Bob plays chess")
    calls = range(1000 // share)
    with held(home / "kins" / "ana.db"):
        send(server, calls, "memorize", content="note #")
        answers = [server.next() for _ in calls]

    assert sorted(answer["id"] for answer in answers) == list(calls)
    told = Counter(map(said, answers))
    assert told.keys() == {"storage_busy", "overloaded"}
    assert told["storage_busy"] >= 500 // share
    refused = next(answer for answer in answers if said(answer) == "overloaded")
    text = refused["result"]["content"][0]["text"]
    assert "calls are waiting, and nothing was done; repeat this one in" in text
    assert not server.call("last", "memorize", content="free again").get("isError")


def memorized(server: Process, content: str) -> dict[str, Any]:
    """The answer to a call that has a key, which is the same each time."""
    call = {"name": "memorize", "arguments": {"content": content}}
    return server.ask(content, "tools/call", **call, _meta={"idempotencyKey": content})


def repeated(server: Process, content: str) -> dict[str, Any]:
    """The same, as often as its client is told that it goes on: how long it takes is the machine's
    affair."""
    while said(answer := memorized(server, content)) == "deadline":
        pass
    return answer


def test_a_call_that_takes_too_long_is_answered_and_done_once(
    home: Path, start: Callable[..., Process]
) -> None:
    # Less than the five after which it is told that another writes, and enough for the rest.
    server = start(KINMEM_CALL_SECONDS="3")
    server.shake_hands()
    assert said(repeated(server, "Bob plays chess")) == "answered"
    with held(home / "kins" / "ana.db"):
        told = memorized(server, "Dora keeps bees")
        assert said(told) == "deadline"
        assert "it goes on; repeat it in 5 seconds" in str(told)

    assert said(repeated(server, "Dora keeps bees")) == "answered"
    found = server.call("list", "list_memories")["structuredContent"]["memories"]
    assert [one["content"] for one in found].count("Dora keeps bees") == 1


@pytest.mark.anyio
async def test_what_fails_after_its_deadline_is_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = threading.Event()

    def fails() -> None:
        late.wait(30)
        raise StoreError("no room for The ferry leaves at noon", "storage_full")

    with pytest.raises(StillWorking):
        await Lanes(0.05).writing.run(fails)
    late.set()
    with anyio.fail_after(30):
        while "after its deadline" not in caplog.text:
            await anyio.sleep(0.01)

    assert "after its deadline has failed: storage_full" in caplog.text
    assert "ferry" not in caplog.text


@pytest.mark.anyio
async def test_a_cancelled_call_is_waited_for_and_progress_puts_its_deadline_off() -> None:
    free, begun, done = threading.Event(), threading.Event(), list[str]()

    def steady() -> str:
        for _ in range(5):
            free.wait(0.5)
            note_progress(is_heard=True)
        return "done"

    def slow(name: str) -> None:
        begun.set()
        free.wait(30)
        done.append(name)

    assert await Lanes(2).writing.run(steady) == "done"
    with pytest.raises(StillWorking):
        await Lanes(0.05).writing.run(partial(slow, "late"))
    begun.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(Lanes().writing.run, partial(slow, "cancelled"))
        await anyio.to_thread.run_sync(begun.wait, 30)
        group.cancel_scope.cancel()
        threading.Timer(0.05, free.set).start()
    assert "cancelled" in done


@pytest.mark.anyio
async def test_progress_that_nobody_hears_puts_no_deadline_off() -> None:
    free = threading.Event()

    def work() -> None:
        while not free.wait(0.01):
            note_progress(is_heard=False)

    with anyio.fail_after(30), pytest.raises(StillWorking):
        await Lane(1, 0.2).run(work)
    free.set()


@pytest.mark.anyio
async def test_work_that_reports_after_its_deadline_comes_to_its_end() -> None:
    lane = Lane(1, 0.05)
    free, done = threading.Event(), threading.Event()

    def work() -> None:
        free.wait(30)
        anyio.from_thread.check_cancelled()
        if not note_progress(is_heard=True):
            done.set()

    with pytest.raises(StillWorking):
        await lane.run(work)
    free.set()
    assert await anyio.to_thread.run_sync(done.wait, 10)


@pytest.mark.anyio
async def test_a_cancelled_call_ends_at_its_next_report() -> None:
    begun, ended = threading.Event(), list[str]()

    def work() -> None:
        begun.set()
        latest = time.monotonic() + 30
        try:
            while time.monotonic() < latest:
                anyio.from_thread.check_cancelled()
                time.sleep(0.01)
        except BaseException:
            ended.append("half way")
            raise

    async with anyio.create_task_group() as group:
        group.start_soon(Lane(1, 30).run, work)
        await anyio.to_thread.run_sync(begun.wait, 30)
        group.cancel_scope.cancel()
    assert ended == ["half way"]


@pytest.mark.anyio
async def test_a_call_that_gets_no_thread_before_its_deadline_is_refused_undone() -> None:
    lane = Lane(1, 0.2)
    free, ran = threading.Event(), list[int]()

    with pytest.raises(StillWorking):
        await lane.run(partial(free.wait, 30))
    with pytest.raises(Overloaded, match="nothing was done") as refused:
        await lane.run(partial(ran.append, 1))
    assert refused.value.code == "overloaded"
    free.set()
    with anyio.fail_after(10):
        while lane._limiter.borrowed_tokens:
            await anyio.sleep(0.01)
    assert ran == []


@pytest.mark.anyio
async def test_a_lane_keeps_its_places_when_no_thread_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    lane = Lane(1, 5)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="can't start new thread"):
                await lane.run(lambda: 1)
    assert await lane.run(lambda: 1) == 1


def test_a_client_that_leaves_many_calls_behind_does_not_keep_the_server(
    home: Path, start: Callable[..., Process]
) -> None:
    server = start()
    server.shake_hands()
    first = server.call("first", "memorize", content="Bob plays chess")["structuredContent"]["id"]
    send(server, range(1500), "memorize", content="note # of a client that goes away")
    assert server.process.stdin
    server.process.stdin.close()
    code, _ = server.end(timeout=8)

    assert code == 0
    answered = {first}
    while (line := server._lines.get(timeout=5)) is not None:
        if said(line) == "answered":
            answered.add(line["result"]["structuredContent"]["id"])
    store = SqliteStore(home, "ana")
    assert answered <= set(store.memories(answered))
    assert problems(store) == []
    store.close()
