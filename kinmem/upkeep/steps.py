"""What the steps of the sleep cycle share: their names in order, limits of time, once a day by a
clock that can be right, which of them are left in a night, and the report of a run."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import uuid_utils

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, KinmemError, MemoryNotFound, VersionConflict
from kinmem.models import LIVE, Living, Memory
from kinmem.models.turns import Batch, Change, Run, RunKind
from kinmem.store.base import Jobs, Store, this_process

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


DAY_SECONDS = 86400
BEHIND = timedelta(days=1)
AHEAD = timedelta(days=400)
# Anything younger may have been stored by the same wrong clock, and proves nothing.
SETTLED = timedelta(days=30)
# Time for which something that was undone is not done again.
UNDONE = timedelta(days=30)
# Changes in one transaction.
TOGETHER = 200
Daily = Callable[[Store, datetime, Budget, Counter[str], Sequence[Living]], None]


def once_a_day(
    store: Store,
    step: str,
    now: datetime,
    budget: Budget,
    counts: Counter[str],
    work: Daily,
) -> None:
    """Do the work with the own memories in use, unless this step was done within the last day.

    A step that fails, is interrupted or killed does not count as done. A clock that cannot be right
    is counted as `clock`; the step is not marked, since the clock may be corrected at any time.
    """
    mark, at = f"daily {step}", int(now.timestamp())
    if 0 <= at - store.jobs.mark(mark) < DAY_SECONDS:
        return
    memories = [memory for memory in store.life.living() if memory.state in LIVE]
    if not is_believed(memories, now):
        counts["clock"] += 1
        return
    work(store, now, budget, counts, memories)
    if not budget.dry_run and not budget.is_over():
        store.jobs.set_mark(mark, at)


def known_living(
    store: Store, now: datetime, budget: Budget, counts: Counter[str]
) -> Sequence[Living] | None:
    """Return own memories once their use is written; None, counted as `clock`, if `now` cannot be
    right."""
    if not budget.dry_run:
        store.flush_use()
    memories = store.life.living()
    if is_believed(memories, now):
        return memories
    counts["clock"] += 1
    return None


class Calendar:
    """Collects the times of memories, and checks whether `now` agrees with them."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._settled: datetime | None = None
        self._all = self._early = 0

    def saw(self, memory: Memory | Living) -> None:
        """Take note of when it was stored, rewritten and used."""
        self._all += 1
        self._early += memory.created_at > self._now + BEHIND
        for at in (memory.created_at, memory.content_updated_at, memory.recalled_at):
            if at is not None and at <= self._now - SETTLED:
                self._settled = max(self._settled or at, at)

    @property
    def agrees(self) -> bool:
        """Whether `now` can be right: not if half of the memories were stored more than a day after
        it, nor if the latest event that is over a month old is over 400 days old. Then the clock
        has jumped, or nobody was here for a year.

        If the clock was ahead for a while, what it stored or used is less than half and blocks
        nothing. If the clock is behind, little is old, so little can be done wrongly. If no memory
        is older than a month, nothing contradicts the clock.
        """
        is_behind = self._early > 0 and 2 * self._early >= self._all
        is_ahead = self._settled is not None and self._now - self._settled > AHEAD
        return not (is_behind or is_ahead)


def is_believed(memories: Iterable[Memory | Living], now: datetime) -> bool:
    """Return whether a calendar of these memories agrees with `now`."""
    calendar = Calendar(now)
    for memory in memories:
        calendar.saw(memory)
    return calendar.agrees


def is_undone(came_by: tuple[str, datetime] | None, now: datetime) -> bool:
    """Return whether a memory has its state from an undo that upkeep must still respect."""
    return came_by is not None and came_by[0] == "undone" and now - came_by[1] < UNDONE


def change_all(
    store: Store,
    changes: Sequence[tuple[Memory | Living, dict[str, Any], str]],
    action: str,
    budget: Budget,
) -> int:
    """Set fields of own memories, each given as (memory, fields, reason); returns how many were
    changed, or would be in a dry run.

    Uses transactions of 200. What was changed by others in the meantime is left alone.
    """
    if budget.dry_run:
        return len(changes)
    done = 0
    wanted = [
        Change(memory.id, fields, action, reason, memory.version)
        for memory, fields, reason in changes
    ]
    for start in range(0, len(wanted), TOGETHER):
        if budget.is_over():
            return done
        part = wanted[start : start + TOGETHER]
        done += len(part) if _done(store, part) else _one_by_one(store, part)
    return done


def _one_by_one(store: Store, changes: Iterable[Change]) -> int:
    return sum(_done(store, [change]) for change in changes)


def _done(store: Store, changes: Sequence[Change]) -> bool:
    try:
        store.apply(Batch(changes=changes))
    except (VersionConflict, MemoryNotFound):
        return False
    return True


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
