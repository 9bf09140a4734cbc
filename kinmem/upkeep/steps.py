"""The steps of the sleep cycle in their order: names, limits of time, which of them are left in a
night, and the report of a run."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

import uuid_utils

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, KinmemError
from kinmem.models.turns import Run, RunKind
from kinmem.store.base import Jobs, this_process

# How long a lease lasts unless it is renewed. A killed process loses its lease earlier: Jobs.lease.
SECONDS = 300.0
# Often enough that a model's slow answer in between does not cost the lease.
RENEWED_EVERY = 60.0
POLL_SECONDS = 0.25


class Lease:
    """The right to work that only one process does at a time. It must be renewed in time; see
    Jobs.lease."""

    def __init__(self, jobs: Jobs, job: str) -> None:
        self._jobs = jobs
        self._job = job
        self._holder = f"{this_process()}/{uuid_utils.uuid7()}"
        self._renewed_at = -RENEWED_EVERY
        self._is_held = False

    def renewed(self) -> bool:
        """Renew the lease for five minutes; returns whether it is still held."""
        self._renewed_at = time.monotonic()
        self._is_held = self._jobs.lease(self._job, self._holder, SECONDS)
        return self._is_held

    def kept(self) -> bool:
        """Return whether the lease is held. May be called often: it asks the store once a
        minute."""
        is_due = time.monotonic() - self._renewed_at >= RENEWED_EVERY
        return self.renewed() if is_due else self._is_held

    def give_back(self) -> None:
        self._jobs.release(self._job, self._holder)


class Budget:
    """How long work may go on. It is checked between memories; interrupted work continues in the
    next run."""

    def __init__(
        self,
        stop: Callable[[], bool] = bool,
        *,
        seconds: float | None = None,
        lease: Lease | None = None,
        dry_run: bool = False,
    ) -> None:
        """It is over once `stop` returns True, the seconds have passed or the lease is lost. None
        means no such limit. `dry_run`: count what would be done, and change nothing."""
        self._stop = stop
        self._until = None if seconds is None else time.monotonic() + seconds
        self._lease = lease
        self.dry_run = dry_run
        self.is_late = False
        """Whether the time was over at the last check."""
        self.is_stopped = False
        """Whether anything else had ended it at the last check."""

    def is_over(self) -> bool:
        """Return whether to stop now. Once True, it stays True."""
        is_late = self._until is not None and time.monotonic() >= self._until
        is_lost = self._lease is not None and not self._lease.kept()
        self.is_late = self.is_late or is_late
        self.is_stopped = self.is_stopped or is_lost or self._stop()
        return self.is_late or self.is_stopped

    def part(self, seconds: float) -> "Budget":
        """Return a budget of at most so many seconds for one step. It is stopped when the whole is
        over."""
        return Budget(self.is_over, seconds=seconds, dry_run=self.dry_run)


UNLIMITED = Budget()


@contextmanager
def leased(jobs: Jobs, job: str, patience: float = 0.0) -> Iterator[Lease | None]:
    """Hold the lease while the block runs; None if another process keeps it for `patience`
    seconds."""
    lease = Lease(jobs, job)
    until = time.monotonic() + patience
    while not (held := lease.renewed()) and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    try:
        yield lease if held else None
    finally:
        if held:
            lease.give_back()


def named(holder: str | None) -> str:
    """Describe the holder of a lease to people."""
    process, _, rest = (holder or "").partition("@")
    return f"process {process} on {rest.partition('/')[0]}" if rest else "another process"


StepName = Literal[
    "backup",
    "learn",
    "expire",
    "embed",
    "entities",
    "tag",
    "link",
    "consolidate",
    "recalibrate",
    "retain",
    "tier",
    "summaries",
    "prune",
    "purge",
    "sweep",
    "housekeeping",
]
NAMES: tuple[StepName, ...] = get_args(StepName)

Work = Callable[[Budget, Counter[str]], None]


logger = logging.getLogger(__name__)


class Report:
    """Counts by step, how long each step took, and a line for each that failed."""

    def __init__(self, started_at: datetime, kind: RunKind = "cycle") -> None:
        self.started_at = started_at
        self.kind: RunKind = kind
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.problems: list[str] = []

    def add(self, step: str, counts: Counter[str]) -> None:
        self.counts.update({f"{step}.{what}": count for what, count in counts.items() if count})

    @contextmanager
    def step(self, name: str) -> Iterator[Counter[str]]:
        """Collect what a step counts in the block. If it fails, that is reported, and the next step
        can begin."""
        counts: Counter[str] = Counter()
        try:
            yield counts
        except Exception as error:  # of any kind: the other steps are not to blame
            self.failed(name, error)
        self.add(name, counts)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to the step's total."""
        started = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - started
            self.seconds[name] = round(self.seconds.get(name, 0.0) + took, 4)

    def failed(self, step: str, error: Exception) -> str:
        """Record a failure, and return its description for people, which names a defect by its type
        only."""
        if isinstance(error, KinmemError):
            logger.warning("%s: %s", step, error)
            problem = str(error)
        else:
            logger.error("%s failed", step, exc_info=error)
            problem = f"internal: {type(error).__name__}"
        self.problems.append(f"{step}: {problem}")
        return problem

    def run(self, finished_at: datetime) -> Run:
        return Run(
            kind=self.kind,
            started_at=self.started_at,
            finished_at=finished_at,
            counts=dict(self.counts),
            seconds=dict(self.seconds),
            problems=tuple(self.problems),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the table. The step itself limits how many memories a run reads; every step can be
    repeated at any time."""

    name: StepName
    seconds: float
    """Time after which it is told to stop; the next run continues."""
    work: Work
    goes_on: bool = False
    """Whether the next run comes as soon as it disturbs nobody, to finish what an import has left:
    until then the night is not over. Not for steps that ask a model."""


def chosen(names: Iterable[str]) -> list[StepName]:
    """Return these steps in the order of the table; all of them if none is named. Raises
    InvalidInput."""
    wanted = set(names)
    if unknown := wanted.difference(NAMES):
        raise InvalidInput(f"no step is called {min(unknown)!r}; there are {', '.join(NAMES)}")
    return [name for name in NAMES if not wanted or name in wanted]


# The mark of when the night began; with a step behind it, of the night in which that was last done.
MARK = "sleep"


class Schedule:
    """Which steps of the current night are left.

    A night is named by the second it began. Each step records the night in which it was last done,
    so that after a process was killed the next one continues with what is left.
    """

    def __init__(self, jobs: Jobs, minutes: int, clock: Clock) -> None:
        """`minutes` from one night to the next; 0: no nights."""
        self._jobs = jobs
        self._length = timedelta(minutes=minutes)
        self._clock = clock

    def left(self) -> list[StepName]:
        """Return the steps to be done now; a new night begins when the last is over.

        A night that began in the future was begun by a wrong clock, and counts as over.
        """
        if not self._length:
            return []
        began = self._jobs.mark(MARK)
        if not 0 <= self._now - began < self._length.total_seconds():
            return list(NAMES)
        return [name for name in NAMES if self._jobs.mark(_mark(name)) != began]

    def begin(self) -> None:
        """Begin a night: all of its steps are left."""
        self._jobs.set_mark(MARK, self._now)

    def done(self, step: StepName) -> None:
        """Record that the step was done in the current night, successfully or not."""
        self._jobs.set_mark(_mark(step), self._jobs.mark(MARK))

    @property
    def _now(self) -> int:
        return int(self._clock().timestamp())


def _mark(step: StepName) -> str:
    return f"{MARK} {step}"
