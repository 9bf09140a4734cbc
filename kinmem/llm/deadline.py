"""Limits of a request to a model: deadlines, a circuit breaker, and what one exchange saw.

Deadlines hold whatever the work is doing, however deep in a library the request is made. At the
end, Attempts shares out one deadline among several models and leaves out those that fail.
"""

import atexit
import logging
import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Lock, Thread
from typing import Generic, TypeVar
from weakref import WeakSet

from kinmem.errors import ModelError

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

FAILURES = 3
# Seconds. FAILURES and PAUSE are goal R16 of the reference.
PAUSE = 30.0
# A caller with more than this many times the seconds that were waited in vain may still ask.
PATIENT = 2.0
# Seconds that a process waits at its end for models that are being loaded; each takes about one.
LOADED_BY_THE_END = 5.0


class Breaker:
    """A circuit breaker. Opens for PAUSE after FAILURES in a row; then one call at a time may try.

    A try that never reports back counts as failed after another PAUSE. If all failures were
    timeouts, callers that have more than PATIENT times as long are still let through.
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
        """Raise ModelError with the reason of the last failure if the breaker is open to callers
        that have this many seconds."""
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
        """Record a failure. `waited` is the number of seconds waited, if it was a timeout."""
        with self._lock:
            self._failures += 1
            self._waited = max(self._waited, waited)
            self._closes_at = self._now() + PAUSE
            self._reason = reason


# Most bytes of one answer. 64 vectors of 4,096 numbers, written out, take about 6 million.
LARGEST = 32 * 1024 * 1024


class Deadline:
    """A moment `seconds` from now; None means never."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._moment = time.monotonic() + (TIMEOUT_MAX if seconds is None else seconds)

    @property
    def left(self) -> float:
        """Seconds until then, never below 0."""
        return max(0.0, self._moment - time.monotonic())

    def check(self, what: str) -> None:
        """Raise ModelError, naming what was to be done, if the moment has passed."""
        if not self.left:
            raise self.missed(what)

    def missed(self, what: str) -> ModelError:
        return ModelError(f"{what} took longer than the {self.seconds:g} seconds it was given")


def within(deadline: Deadline, what: str, work: Callable[[], Result]) -> Result:
    """Return or raise what `work` returns or raises; raise ModelError if it is not done in time.

    Python cannot stop a thread, so late work goes on in the background until it notices the
    deadline itself.
    """
    return awaited(deadline, what, started(work))


class Once(Generic[Result]):
    """Something slow to make: the first caller starts it, all callers wait for it, and failure is
    final.

    `again` is the number of seconds after which making it is tried again if it failed; None: never.
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
        """Return what was made.

        Raises ModelError if making it failed or is not done in time; it may be done by the next
        call.
        """
        with self._lock:
            if self._future is None or (self._failed and not self._next.left):
                self._next = Deadline(self._again)
                self._future = _loading.start(self._what, self._make)
            future = self._future
        return awaited(deadline or Deadline(None), self._what, future)

    @property
    def _failed(self) -> bool:
        future = self._future
        return future is not None and future.done() and future.exception() is not None


def started(work: Callable[[], Result]) -> Future[Result]:
    """Start the work on a thread of its own. With `awaited`, this is `within` in two steps."""
    return _on_a_thread(work)[0]


def _on_a_thread(work: Callable[[], Result]) -> tuple[Future[Result], Thread]:
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    # A daemon thread, so that a process that wants to end does not wait for a provider.
    thread = Thread(target=run, name="kinmem-model", daemon=True)
    thread.start()
    return future, thread


class _Loading:
    """The threads that load models, which end before the interpreter does.

    It ends daemon threads by unwinding them, and C++ code of onnxruntime under them then aborts
    the process.
    """

    def __init__(self) -> None:
        self._threads: WeakSet[Thread] = WeakSet()
        self._lock = Lock()
        self._ending = False
        atexit.register(self._end)

    def start(self, what: str, make: Callable[[], Result]) -> Future[Result]:
        """Start making it. Raises ModelError if the process is ending."""
        with self._lock:
            if self._ending:
                raise ModelError(f"{what} is not begun: the process is ending")
            future, thread = _on_a_thread(make)
            self._threads.add(thread)
            return future

    def _end(self) -> None:
        with self._lock:
            self._ending = True
        time = Deadline(LOADED_BY_THE_END)
        for thread in list(self._threads):
            thread.join(time.left)


_loading = _Loading()


def awaited(deadline: Deadline, what: str, future: Future[Result]) -> Result:
    """Return or raise the work's result; raise ModelError if there is none in time."""
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
    """Most bytes of the answer to read."""
    key: str | None = None
    """The key that the settings name for the request; None: whatever the library takes."""
    of_numbers: bool = False
    """Whether lists in the answer may contain numbers only, or what contains numbers."""
    sent: bool = False
    status: int | None = None
    """HTTP status; None before there is an answer."""
    retry_after: float | None = None
    """Seconds that the provider asks to wait."""
    failure: str | None = None
    """Why no answer came: refused, reset, late, not to be trusted."""
    problem: str | None = None
    """Why the answer that came was rejected."""


# The exchange of this thread.
current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


# Seconds that a model leaves for embedding the texts it proposes.
FOR_VECTORS = 0.5
# Seconds reserved for each model asked later. If there is less time, all models and the embedding
# get equal shares.
FOR_A_MODEL = 2.5


class Attempts:
    """The deadline that several models share while they work on one answer, and which of them
    failed."""

    def __init__(self, seconds: float) -> None:
        self.time = Deadline(seconds)
        self._failed: dict[str, None] = {}

    @property
    def failed(self) -> tuple[str, ...]:
        """The stages that failed or were late, each once."""
        return tuple(self._failed)

    def share(self, later: int) -> float:
        """Return the seconds for the current model if `later` models are still to be asked."""
        left = self.time.left
        return max(left - FOR_VECTORS - FOR_A_MODEL * later, left / (later + 2))

    def tried(self, stage: str, work: Callable[[], Result]) -> Result | None:
        """Return what the work returns, or None if a model fails, which is noted."""
        try:
            return work()
        except ModelError as error:
            logger.info("%s is left out: %s", stage, error)
            self._failed[stage] = None
            return None

    def note(self, stages: Iterable[str]) -> None:
        """Note these stages as failed."""
        self._failed.update(dict.fromkeys(stages))
