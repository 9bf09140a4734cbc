"""Worker threads for calls: those that read and those that write have threads of their own, so that
nobody who only reads waits behind writers."""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio
import anyio.to_thread

from kinmem.errors import Overloaded
from kinmem.models import Progress
from kinmem.store.sql.database import patient_for

if TYPE_CHECKING:
    from kinmem.service import Service

# Returns the service of the named Kin; None is the process' own Kin. May block until it is open.
ServiceFor = Callable[[str | None], "Service"]

# Seconds between two reports of progress.
PROGRESS_SECONDS = 0.1

T = TypeVar("T")
# Calls of one kind that may wait for a thread. Another one is refused.
MOST_WAITING = 500
# Seconds that a call may wait for a thread; clients give up after 60.
WAITING_SECONDS = 20.0
# Seconds that a call may wait in all before it may write: for its thread, and for who writes.
PATIENCE_SECONDS = 5.0
READERS, WRITERS = 16, 32


class Lane:
    """The worker threads for calls of one kind, and who waits for one."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._limiter = anyio.CapacityLimiter(threads)
        self._waiting = 0
        self._usual = 0.1
        """Seconds that a call takes, averaged."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work on a thread, as soon as there is one. Raises Overloaded if too many wait
        already, or it takes too long: nothing is done then."""
        place, arrived = object(), time.monotonic()
        await self._wait_for(place)
        began = time.monotonic()
        try:
            patience = PATIENCE_SECONDS - (began - arrived)
            return await anyio.to_thread.run_sync(
                partial(_patiently, patience, work), limiter=anyio.CapacityLimiter(1)
            )
        finally:
            self._limiter.release_on_behalf_of(place)
            self._usual += 0.1 * (time.monotonic() - began - self._usual)

    async def _wait_for(self, place: object) -> None:
        if self._waiting >= MOST_WAITING:
            raise self._overloaded()
        self._waiting += 1
        try:
            with anyio.fail_after(WAITING_SECONDS):
                await self._limiter.acquire_on_behalf_of(place)
        except TimeoutError:
            raise self._overloaded() from None
        finally:
            self._waiting -= 1

    def _overloaded(self) -> Overloaded:
        return Overloaded(self._waiting, 1 + int(self._waiting * self._usual / self._threads))


def _patiently(seconds: float, work: Callable[[], T]) -> T:
    with patient_for(seconds):
        return work()


class Lanes:
    """Of one server: one lane for the calls that only read, one for the others."""

    def __init__(self) -> None:
        self.reading, self.writing = Lane(READERS), Lane(WRITERS)


LOOK_SECONDS = 0.1


class Unhurried(Generic[T]):
    """Work that continues in the background if it takes longer than a client waits."""

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self._work = work
        self._progress: deque[tuple[int, int, str]] = deque(maxlen=1)
        self._cancelled = threading.Event()
        self._done: Future[T] = Future()
        threading.Thread(target=self._run, name="kinmem-unhurried", daemon=True).start()

    def within(self, seconds: float, progress: Progress) -> T | None:
        """Return or raise the result; return None if the work continues after that time.

        Progress is reported meanwhile. If reporting raises because the call was cancelled, the work
        is cancelled too.
        """
        latest = time.monotonic() + seconds
        while True:
            left = max(0.0, latest - time.monotonic())
            is_done = bool(wait([self._done], min(LOOK_SECONDS, left)).done)
            try:
                while self._progress:
                    progress(*self._progress.popleft())
            except BaseException:
                self._cancelled.set()
                raise
            if is_done or not left:
                return self._done.result() if is_done else None

    def _run(self) -> None:
        try:
            self._done.set_result(self._work(self._report))
        except BaseException as error:
            self._done.set_exception(error)

    def _report(self, done: int, total: int, what: str) -> None:
        if self._cancelled.is_set():
            raise CancelledError
        self._progress.append((done, total, what))
