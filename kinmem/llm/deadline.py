"""What one request may take: time limits, a breaker for a provider that is down, and an exchange;
of models that are asked for one answer, those that fail are left out.

Limits hold whatever the work is doing meanwhile, however deep in a library the request is made.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Lock, Thread
from typing import Generic, TypeVar

from kinmem.errors import ModelError

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

FAILURES = 3
PAUSE = 30.0
"""Seconds. Both numbers are goal R16 of the reference."""
PATIENT = 2.0
"""Who has more than so many times as long as was waited in vain may still get an answer."""


class Breaker:
    """Opens after FAILURES in a row, for PAUSE; then one call at a time may try.

    A try that never reports back counts as failed after another PAUSE. Where all that failed was
    that nothing came in time, it stays open to those who have PATIENT times that time.
    """

    def __init__(self, model: str, now: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._now = now
        self._lock = Lock()
        self._failures = 0
        self._waited = 0.0
        self._closes_at = 0.0
        self._reason = ""

    def admit(self, seconds: float = 0.0) -> None:
        """Raises ModelError with the last failure's reason while it is open to those who have so
        many seconds."""
        with self._lock:
            if self._failures < FAILURES or seconds > PATIENT * self._waited:
                return
            wait = self._closes_at - self._now()
            if wait > 0:
                raise ModelError(
                    f"{self._model} failed {self._failures} times in a row and is not asked again"
                    f" for {wait:.0f} seconds; the last time: {self._reason}"
                )
            self._closes_at = self._now() + PAUSE

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0
            self._waited = 0.0

    def failed(self, reason: str, waited: float = math.inf) -> None:
        """`waited`: the seconds in which nothing came, if that is what failed."""
        with self._lock:
            self._failures += 1
            self._waited = max(self._waited, waited)
            self._closes_at = self._now() + PAUSE
            self._reason = reason


LARGEST = 32 * 1024 * 1024
"""Bytes of one answer; 64 vectors of 4,096 numbers, written out, are about 6 million."""


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


@dataclass
class Exchange:
    """One request: its limits, and what the connection saw of it."""

    deadline: Deadline
    largest: int = LARGEST
    """Bytes of the answer that are read."""
    key: str | None = None
    """The key the settings name for it; None: whatever the library takes."""
    of_numbers: bool = False
    """Whether lists in the answer have to be of numbers, or of what holds them."""
    sent: bool = False
    status: int | None = None
    """HTTP status; None before there was an answer."""
    retry_after: float | None = None
    """Seconds the provider asks to wait."""
    failure: str | None = None
    """Why no answer came: refused, reset, late, not to be trusted."""
    problem: str | None = None
    """Why the answer that came was not let through."""


current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The exchange of this thread."""


FOR_VECTORS = 0.5
"""Seconds that whoever thinks leaves of the time for the vectors of what was thought of."""
FOR_A_MODEL = 2.5
"""Seconds that are left for each model which is asked later. Where there are not so many, all have
an equal share, and so have the vectors."""


class Attempts:
    """The one time within which models are asked for an answer, and those of them that failed."""

    def __init__(self, seconds: float) -> None:
        self.time = Deadline(seconds)
        self._failed: dict[str, None] = {}

    @property
    def failed(self) -> tuple[str, ...]:
        """The stages that failed or were late, each once."""
        return tuple(self._failed)

    def share(self, later: int) -> float:
        """Seconds for whoever thinks now, with so many models to be asked `later`."""
        left = self.time.left
        return max(left - FOR_VECTORS - FOR_A_MODEL * later, left / (later + 2))

    def tried(self, stage: str, work: Callable[[], Result]) -> Result | None:
        """What the work returns; None, and noted, where a model fails."""
        try:
            return work()
        except ModelError as error:
            logger.info("%s is left out: %s", stage, error)
            self._failed[stage] = None
            return None

    def note(self, stages: Iterable[str]) -> None:
        """That nothing came of these."""
        self._failed.update(dict.fromkeys(stages))
