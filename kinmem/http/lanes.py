"""Worker threads for calls: those that read and those that write have threads of their own, so that
nobody who only reads waits behind writers.

Work that takes longer than a client waits goes on, and its result is kept for a moment.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.from_thread
import anyio.to_thread
import uuid_utils
from pydantic import TypeAdapter

from kinmem.errors import Overloaded, StillWorking, StoreError, Unreached
from kinmem.models import Progress
from kinmem.store.base import Answers, Jobs, this_process
from kinmem.store.sql.database import Served, served, serving

if TYPE_CHECKING:
    from kinmem.service import Service

# Returns the service of the named Kin; None is the process' own Kin. May block until it is open.
ServiceFor = Callable[[str | None], "Service"]

# Seconds between two reports of progress.
PROGRESS_SECONDS = 0.1

logger = logging.getLogger(__name__)
T = TypeVar("T")
# Calls of one kind that may wait for a thread. Another one is refused.
MOST_WAITING = 500
# Seconds that a call may wait for a thread; clients give up after 60.
WAITING_SECONDS = 20.0
# Seconds that a call may wait in all before it may write: for its thread, and for who writes.
PATIENCE_SECONDS = 5.0
READERS, WRITERS = 16, 32
# Seconds after which a call is answered even if it is not done, or after its last progress. The
# longest that is usual is 20 for a thread, 5 for the lock and 15 for models; clients give up after
# 60.
CALL_SECONDS = 45.0
# Seconds after which a call that is not done may be repeated, at least.
AGAIN_SECONDS = 5


class _Limit:
    """When a call is to be answered at the latest."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self.scope = anyio.CancelScope(deadline=self._loop.time() + seconds)

    def put_off(self) -> None:
        """Begin anew to wait. For the thread that does the work."""
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._move)

    def _move(self) -> None:
        self.scope.deadline = self._loop.time() + self._seconds


_limit: ContextVar[_Limit | None] = ContextVar("kinmem_limit", default=None)


def note_progress(*, is_heard: bool) -> bool:
    """Let the present call go on for as long again if its client hears that it does. Return whether
    the client waits for it still: after its limit it works on unseen."""
    limit = _limit.get()
    if limit is None:
        return True
    if is_heard:
        limit.put_off()
    return not limit.scope.cancel_called


# Between two tries of a call whose database server cannot be reached; the part of a call's time in
# which it is tried, so that it can be told.
UNREACHED_SECONDS, PART_FOR_TRIES = 0.5, 0.9


def _once_reached(work: Callable[[], T], call: Served) -> T:
    """Do the work, and begin it anew if the database server is lost before it has written."""
    with serving(call):
        while True:
            try:
                return work()
            except Unreached as error:
                if call.has_written:
                    told = f"{error}; part of it is done: look what, before you repeat it"
                    raise StoreError(told, "storage_busy") from error
                if time.monotonic() + UNREACHED_SECONDS > call.until:
                    raise
            anyio.from_thread.check_cancelled()
            time.sleep(UNREACHED_SECONDS)


class Lane:
    """The worker threads for calls of one kind, and who waits for one."""

    def __init__(self, threads: int, seconds: float) -> None:
        self._threads = threads
        self._seconds = seconds
        self._limiter = anyio.CapacityLimiter(threads)
        self._waiting = 0
        self._usual = 0.1
        """Seconds that a call takes, averaged."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work on a thread, as soon as there is one. Raises Overloaded if too many wait
        already, or it takes too long to get one: nothing is done then. Raises StillWorking if it is
        not done in time; it keeps its thread until it is."""
        place, arrived, limit = object(), time.monotonic(), _Limit(self._seconds)
        await self._wait_for(place)
        began = time.monotonic()

        def end() -> None:
            self._limiter.release_on_behalf_of(place)
            self._usual += 0.1 * (time.monotonic() - began - self._usual)

        until = arrived + PART_FOR_TRIES * self._seconds
        patience = PATIENCE_SECONDS - began + arrived
        whole = partial(_once_reached, work, Served(arrived, until, patience))
        with limit.scope:
            return await _Threaded(whole, limit, end).run()
        raise StillWorking(self._seconds, max(AGAIN_SECONDS, round(self._usual)))

    @property
    def is_free(self) -> bool:
        """Whether a call gets a thread without waiting."""
        return not self._waiting and self._limiter.available_tokens > 0

    async def _wait_for(self, place: object) -> None:
        with suppress(anyio.WouldBlock):  # mostly there is one, and no turn of the loop is needed
            self._limiter.acquire_on_behalf_of_nowait(place)
            return
        if self._waiting >= MOST_WAITING:
            raise self._overloaded()
        self._waiting += 1
        try:
            with anyio.fail_after(min(WAITING_SECONDS, self._seconds)):
                await self._limiter.acquire_on_behalf_of(place)
        except TimeoutError:
            raise self._overloaded() from None
        finally:
            self._waiting -= 1

    def _overloaded(self) -> Overloaded:
        return Overloaded(self._waiting, 1 + int(self._waiting * self._usual / self._threads))


class _Threaded(Generic[T]):
    """Work on a thread that goes on after the limit of its call has passed."""

    def __init__(self, work: Callable[[], T], limit: _Limit, end: Callable[[], None]) -> None:
        self._work = work
        self._limit = limit
        self._end = end
        self._cancelled = anyio.CancelScope()
        """What the thread sees of the call: its limit does not reach it."""

    async def run(self) -> T:
        """Return or raise the result. If the call is cancelled, its work is cancelled and waited
        for, unless the limit did it."""
        working = asyncio.create_task(self._go())
        working.add_done_callback(self._note)
        try:
            await asyncio.wait([working])
        except anyio.get_cancelled_exc_class():
            if not self._limit.scope.cancel_called:
                self._cancelled.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([working])
            raise
        return working.result()

    def _note(self, ended: "asyncio.Task[T]") -> None:
        """Log what fails after the limit has passed: nobody is told of it otherwise."""
        error = None if ended.cancelled() else ended.exception()
        if error is not None and self._limit.scope.cancel_called:
            told = getattr(error, "code", type(error).__name__)
            logger.warning("a call that went on after its deadline has failed: %s", told)

    async def _go(self) -> T:
        _limit.set(self._limit)
        try:
            with self._cancelled:
                return await anyio.to_thread.run_sync(
                    self._on_thread, limiter=anyio.CapacityLimiter(1)
                )
            raise asyncio.CancelledError
        finally:
            self._end()

    def _on_thread(self) -> T:
        anyio.from_thread.check_cancelled()
        return self._work()


class Lanes:
    """Of one server: one lane for the calls that only read, one for the others."""

    def __init__(self, seconds: float = CALL_SECONDS) -> None:
        self.reading, self.writing = Lane(READERS, seconds), Lane(WRITERS, seconds)


LOOK_SECONDS = 0.1


class Unhurried(Generic[T]):
    """Work that continues in the background if it takes longer than a client waits."""

    def __init__(self, work: Callable[[Progress], T]) -> None:
        call = served()
        self._call = None if call is None else replace(call, patience=None)
        self._work = work
        self._progress: tuple[int, int, str] | None = None
        self._awaiting = 0
        self._cancelled = threading.Event()
        self._done: Future[T] = Future()
        run = partial(copy_context().run, self._run)
        threading.Thread(target=run, name="kinmem-unhurried", daemon=True).start()

    def within(self, seconds: float, progress: Progress | None) -> T | None:
        """Return or raise the result; return None if the work continues after that time.

        Progress is reported meanwhile. If reporting raises because the call was cancelled, the work
        is cancelled too, unless another call waits for it.
        """
        latest, told = time.monotonic() + seconds, None
        self._awaiting += 1
        try:
            while True:
                left = max(0.0, latest - time.monotonic())
                is_done = bool(wait([self._done], min(LOOK_SECONDS, left)).done)
                if progress and (now := self._progress) and now is not told:
                    progress(*now)
                    told = now
                if is_done or not left:
                    return self._result() if is_done else None
        except BaseException:
            if self._awaiting == 1:
                self._cancelled.set()
            raise
        finally:
            self._awaiting -= 1

    @property
    def is_over(self) -> bool:
        """Whether it is done, or cancelled since nobody waits for it any more."""
        return self._done.done() or self._cancelled.is_set()

    def _result(self) -> T:
        call = served()
        if self._call and call:
            call.has_written |= self._call.has_written
        return self._done.result()

    def _run(self) -> None:
        try:
            with serving(self._call):
                self._done.set_result(self._work(self._report))
        except BaseException as error:
            self._done.set_exception(error)

    def _report(self, done: int, total: int, what: str) -> None:
        if self._cancelled.is_set():
            raise CancelledError
        self._progress = (done, total, what)


# Seconds after which long work is answered, while it goes on; clients give up after 60.
PATIENCE = 40.0
# Seconds for which its result is kept for whoever asks again.
KEPT_SECONDS = 60.0


# Seconds between two looks whether another process has done it.
LOOK_ELSEWHERE_SECONDS = 0.3
# Seconds for which one process does it, unless it is killed before.
ALONE_SECONDS = 3600.0


class UnderWay:
    """Work that has not been answered yet. Whoever asks for the same again waits for it, in this
    process or in another one that serves the same Kin."""

    def __init__(self) -> None:
        self._works: WeakKeyDictionary[Service, dict[Hashable, Work]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def result(
        self,
        service: "Service",
        what: Hashable,
        shape: type[T],
        work: Callable[[Progress], T],
        progress: Progress | None = None,
        is_heard: bool = False,
    ) -> T | None:
        """Return or raise the result, which is of this `shape`; None if the work continues after
        PATIENCE. Who hears of its progress waits until it is done."""
        with self._lock:
            self._sweep()
            works = self._works.setdefault(service, {})
            if what not in works:
                store = service.store
                answers = store.answers
                several = None if answers is None else Elsewhere(answers, store.jobs, what, shape)
                works[what] = Work(work, several)
            going = works[what]
        try:
            found: T | None = going.within(inf if is_heard else PATIENCE, progress)
        except BaseException:
            if going.is_over:
                self._end(works, what, going)
            raise
        if found is not None:
            going.withdraw()
            self._end(works, what, going)
        return found

    def _sweep(self) -> None:
        """Drop what nobody has asked for in time. Work holds its service, which would never be
        freed."""
        for service, works in list(self._works.items()):
            for what in [what for what, work in works.items() if work.is_stale]:
                del works[what]
            if not works:
                del self._works[service]

    def _end(self, works: dict[Hashable, "Work"], what: Hashable, work: "Work") -> None:
        with self._lock:
            if works.get(what) is work:
                del works[what]


def answered(result: T | None) -> T:
    """Return the result of work that is under way. Raises StillWorking if it continues: the same
    request again waits for its end."""
    if result is None:
        raise StillWorking(PATIENCE, AGAIN_SECONDS)
    return result


class Elsewhere:
    """The same work in the other processes that serve a Kin: one of them does it, and leaves its
    answer in the database if nobody waits for it there."""

    def __init__(self, answers: Answers, jobs: Jobs, what: Hashable, shape: Any) -> None:
        self._answers = answers
        self._jobs = jobs
        self._call = f"call {blake2b(repr(what).encode(), digest_size=16).hexdigest()}"
        self._holder = f"{this_process()}/{uuid_utils.uuid7()}"
        self._shape: TypeAdapter[Any] = TypeAdapter(shape)

    def answer(self) -> str | None:
        """Return what another process has answered, which is then forgotten; None as well while it
        is at it, and when this one is to do the work: `is_ours`."""
        return self._answers.take(self._call)

    def is_ours(self) -> bool:
        """Return whether no other process does the work; then none begins it before `leave`."""
        if self._jobs.holder(self._call) is not None:  # asking takes no lock
            return False
        try:
            return self._jobs.lease(self._call, self._holder, ALONE_SECONDS)
        except StoreError as error:
            if not error.retry:
                raise
            return False

    def leave(self) -> None:
        """Let others do it."""
        self._jobs.release(self._call, self._holder)

    def keep(self, result: Any) -> None:
        """Leave the answer to whoever asks again."""
        told = self._shape.dump_json(result).decode()
        self._answers.put(self._call, told, KEPT_SECONDS)

    def result(self, answer: str) -> Any:
        """Return what `keep` was given."""
        return self._shape.validate_json(answer)


class Work(Unhurried[Any]):
    """Work that remembers when it was done, and is done by one process of several."""

    def __init__(self, work: Callable[[Progress], Any], elsewhere: Elsewhere | None = None) -> None:
        self._done_at: float | None = None
        self._elsewhere = elsewhere
        self._is_kept_elsewhere = False
        super().__init__(partial(self._timed, work))

    @property
    def is_stale(self) -> bool:
        """Whether nobody has asked for the result in time, or any process may give it now."""
        if self._is_kept_elsewhere:
            return True
        return self._done_at is not None and time.monotonic() - self._done_at > KEPT_SECONDS

    def withdraw(self) -> None:
        """Let no process give the answer again, since it was given here: the same call later is
        another one, which has work of its own."""
        if self._elsewhere and self._is_kept_elsewhere:
            self._elsewhere.answer()

    def _timed(self, work: Callable[[Progress], Any], progress: Progress) -> Any:
        try:
            if self._elsewhere is None:
                return work(progress)
            return self._once_of_all(self._elsewhere, work, progress)
        finally:
            self._done_at = time.monotonic()

    def _once_of_all(
        self, elsewhere: Elsewhere, work: Callable[[Progress], Any], progress: Progress
    ) -> Any:
        """Do the work, or wait for the process that does."""
        while (answer := elsewhere.answer()) is None and not elsewhere.is_ours():
            if self._cancelled.wait(LOOK_ELSEWHERE_SECONDS):
                raise CancelledError
        if answer is not None:
            return self._left(elsewhere, elsewhere.result(answer))
        try:
            # It may have been done between the two questions.
            answer = elsewhere.answer()
            result = work(progress) if answer is None else elsewhere.result(answer)
            return self._left(elsewhere, result)
        finally:
            elsewhere.leave()

    def _left(self, elsewhere: Elsewhere, result: Any) -> Any:
        """Return the result; if nobody waits here, leave it to all processes."""
        if not self._awaiting:
            elsewhere.keep(result)
            self._is_kept_elsewhere = True
        return result
