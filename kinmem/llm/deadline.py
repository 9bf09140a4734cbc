"""Time limits that hold whatever the work is doing meanwhile."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import TIMEOUT_MAX, Lock, Thread
from typing import Generic, TypeVar

from kinmem.errors import ModelError

Result = TypeVar("Result")


class Deadline:
    """A moment, `seconds` from now; None is never."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._moment = time.monotonic() + (TIMEOUT_MAX if seconds is None else seconds)

    @property
    def left(self) -> float:
        """Seconds until then, not below 0."""
        return max(0.0, self._moment - time.monotonic())

    def check(self, what: str) -> None:
        """Raises ModelError, naming what was to be done, once the moment has passed."""
        if not self.left:
            raise self.missed(what)

    def missed(self, what: str) -> ModelError:
        return ModelError(f"{what} took longer than the {self.seconds:g} seconds it was given")


def within(deadline: Deadline, what: str, work: Callable[[], Result]) -> Result:
    """What `work` returns or raises; ModelError if it is not ready in time.

    Python cannot stop a thread: late work goes on unseen until it notices by itself.
    """
    return awaited(deadline, what, started(work))


class Once(Generic[Result]):
    """Something slow to make: whoever asks first starts it, all wait for it, failing is final.

    `again`: seconds from its beginning until one that failed is tried once more, None for never.
    """

    def __init__(self, what: str, make: Callable[[], Result], again: float | None = None) -> None:
        self._what = what
        self._make = make
        self._again = again
        self._next = Deadline(again)
        self._lock = Lock()
        self._future: Future[Result] | None = None

    @property
    def made(self) -> bool:
        future = self._future
        return future is not None and future.done() and future.exception() is None

    def get(self, deadline: Deadline | None = None) -> Result:
        """Raises ModelError if it could not be made, or not in time (it may be the next time)."""
        with self._lock:
            if self._future is None or (self._failed and not self._next.left):
                self._next = Deadline(self._again)
                self._future = started(self._make)
            future = self._future
        return awaited(deadline or Deadline(None), self._what, future)

    @property
    def _failed(self) -> bool:
        future = self._future
        return future is not None and future.done() and future.exception() is not None


def started(work: Callable[[], Result]) -> Future[Result]:
    """The same as `within`, in two steps: begun here, on a thread of its own."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    # Daemon: a process that wants to end does not wait for a provider.
    Thread(target=run, name="kinmem-model", daemon=True).start()
    return future


def awaited(deadline: Deadline, what: str, future: Future[Result]) -> Result:
    """What came of it, or raises it; ModelError if it is not there in time."""
    try:
        failure = future.exception(deadline.left)
    except TimeoutError:
        raise deadline.missed(what) from None
    if isinstance(failure, ModelError):
        raise failure.with_traceback(None)
    if failure is not None:
        raise failure
    return future.result()
