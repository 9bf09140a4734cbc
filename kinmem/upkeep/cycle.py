"""When the background work is done, by which process, and how it is reported.

After each turn: reduce, summarise if due, extract, consolidate; once the memories have been left
alone for a while, also recalibrate, prune, sweep. The whole sleep cycle (upkeep/pipeline) runs once
every KINMEM_SLEEP_EVERY minutes and on request. Each step may be interrupted at any point and is
resumed later; a report counts what it did.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from threading import Event, Lock

from kinmem.clock import Clock
from kinmem.conversation.compact import Compact
from kinmem.conversation.context import Turn
from kinmem.errors import KinmemError
from kinmem.learn.pipeline import Learn
from kinmem.models import Progress
from kinmem.models.turns import Batch, Run
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.pipeline import Schedule, Upkeep
from kinmem.upkeep.steps import (
    NAMES,
    Budget,
    Lease,
    Report,
    Step,
    StepName,
    Work,
    leased,
    named,
)

# Turns loaded at once.
AT_ONCE = 50
# Messages before a turn that help to understand it.
BEFORE = 8
# Time after which a turn without an answer counts as complete.
QUIET = timedelta(seconds=30)
TRIES = 3
# Pause before the second try; four times as long before each further one.
FIRST_PAUSE = timedelta(seconds=30)
# Pause until an unavailable model is asked again, with two turns at most.
OUTAGE_PAUSE = timedelta(minutes=2)


class Outbox:
    """What one Kin has heard and not learned yet."""

    def __init__(self, store: Store, learn: Learn, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._turns = store.turns
        self._learn = learn
        self._settings = settings
        self._clock = clock

    def due(self, *, hurried: bool) -> list[Turn]:
        """Return the turns that are complete: answered, followed by another, or left alone. Oldest
        first, but turns that failed come after those that did not, so that none blocks the others.

        `hurried` includes turns that still wait for their answer.
        """
        now = self._clock()
        waiting = sorted(self._turns.learnable(now, AT_ONCE), key=attrgetter("session", "turn"))
        turns = [list(turn) for _, turn in groupby(waiting, attrgetter("session", "turn"))]
        whole = [turn for turn in turns if hurried or self._is_whole(turn, now)]
        return sorted(whole, key=lambda turn: (_tries(turn), turn[0].id))

    def learn(self, turns: Sequence[Turn], report: Report, budget: Budget) -> bool:
        """Learn from each turn until the budget is over; returns whether it lasted to the end.

        A turn that fails is postponed alone, and parked at the third try. If two in a row find the
        model or the disk unavailable, no text is to blame: they and all that are left wait, without
        a try being counted.
        """
        away: list[Turn] = []
        was_there = False
        for number, turn in enumerate(turns):
            if budget.is_over():
                return False
            try:
                self._learned(turn, report)
                was_there = True
            except Exception as error:  # of any kind: the other turns are not to blame
                problem = report.failed("extract", error)
                if not isinstance(error, KinmemError) or not error.retry:
                    self._failed(turn, problem)
                    continue
                away.append(turn)
                self._wait([turn], problem)
                if turns[number - 1] in away[:-1]:
                    self._wait(turns[number + 1 :], problem)
                    return True
        for turn in away if was_there else []:
            self._failed(turn, "the model was there for others, and not for this one")
        return True

    def _learned(self, turn: Turn, report: Report) -> None:
        if self._settings.learn.learn:
            before = self._turns.before(turn[0], BEFORE)
            report.add("extract", self._learn.turn(turn, before))
        else:
            self._store.apply(Batch(learned=[message.id for message in turn]))
        report.counts["extract.turns"] += 1

    def _failed(self, turn: Turn, problem: str) -> None:
        tries = _tries(turn) + 1
        until = self._clock() + FIRST_PAUSE * 4 ** (tries - 1) if tries < TRIES else None
        self._turns.postpone([message.id for message in turn], until, problem)

    def _wait(self, turns: Sequence[Turn], problem: str) -> None:
        ids = [message.id for turn in turns for message in turn]
        self._turns.postpone(ids, self._clock() + OUTAGE_PAUSE, problem, failed=False)

    def _is_whole(self, turn: Turn, now: datetime) -> bool:
        last = turn[-1]
        return (
            any(message.role == "assistant" for message in turn)
            or not timedelta(0) <= now - last.said_at <= QUIET
            or any(later.turn != last.turn for later in self._turns.after(last, 1))
        )


def _tries(turn: Turn) -> int:
    return max(message.tries for message in turn)


JOB = "cycle"
# Time since the start, or since the last upkeep, after which the memories are tended even if
# nothing is said. A command has ended by then. Daily work is done once a day, see once_a_day.
PAUSE = timedelta(minutes=10)
# Age at which no session is resumed any more, so the record of what it was shown may be deleted.
SHOWN = timedelta(days=30)
# Seconds that sleep() waits for another process to finish its cycle.
PATIENCE = 60.0
AFTER_TURNS: Sequence[StepName] = ("consolidate",)
IN_A_PAUSE: Sequence[StepName] = ("consolidate", "recalibrate", "prune", "sweep")


class Cycle:
    """The background work on one Kin's conversations and memories."""

    def __init__(
        self,
        store: Store,
        outbox: Outbox,
        compact: Compact,
        upkeep: Upkeep,
        embed: Work,
        back_up: Work,
        schedule: Schedule,
        clock: Clock,
    ) -> None:
        """`embed` is the step that makes vectors, `back_up` the one that makes the daily backup."""
        self._store = store
        self._jobs = store.jobs
        self._outbox = outbox
        self._compact = compact
        self._upkeep = upkeep
        self._embed = embed
        self._back_up = back_up
        self._schedule = schedule
        self._clock = clock
        self._alone = Lock()
        self._asked = Event()
        self._seen_to_at = clock()

    def __call__(
        self,
        *,
        hurried: bool = False,
        stopping: Callable[[], bool] = bool,
        disturbed: Callable[[], bool] = bool,
    ) -> Run | None:
        """Work on complete turns, then on the memories. Returns the report, or None if there was
        nothing to do.

        `hurried` includes turns that still wait for their answer. If another process is at work,
        nothing is done here. From time to time the memories are tended even if nothing is said,
        until `disturbed` returns True.
        """
        if not self._is_idle and not self._outbox.due(hurried=hurried):
            return None
        with self._alone, leased(self._jobs, JOB) as lease:
            if lease is None:
                return None
            report = Report(self._clock())
            until_closed = Budget(stopping, lease=lease)
            with report.timed("learn"):
                learned = self._turns(report, until_closed, hurried)
            undisturbed = Budget(
                lambda: stopping() or disturbed() or self._asked.is_set(), lease=lease
            )
            if not self._is_idle:
                self._do(AFTER_TURNS if learned else (), report, until_closed)
            elif self._schedule.left():
                return self._night(report, undisturbed)
            elif self._do(IN_A_PAUSE, report, undisturbed):
                self._seen_to_at = self._clock()
            return self._recorded(report) if report.counts or report.problems else None

    def sleep(
        self,
        steps: Sequence[StepName] = NAMES,
        *,
        dry_run: bool = False,
        compress: bool | None = None,
        stopping: Callable[[], bool] = bool,
        progress: Progress | None = None,
    ) -> Run:
        """Run these steps now, whether due or not; `learn` covers every session. A dry run is not
        recorded, nor is a run that found another process at work."""
        report = Report(self._clock(), "dry" if dry_run else "sleep")
        with self._mine(report) as lease:
            if lease is None:
                return report.run(self._clock())
            if not dry_run and len(steps) == len(NAMES):
                self._schedule.begin()
            budget = Budget(stopping, lease=lease, dry_run=dry_run)
            self._do(steps, report, budget, compress, progress)
            return report.run(self._clock()) if dry_run else self._recorded(report)

    def sleep_if_due(self, stopping: Callable[[], bool]) -> Run | None:
        """Learn from every session now, then run what is left of the current night."""
        report = Report(self._clock())
        with self._mine(report) as lease:
            if lease is None:
                return report.run(self._clock())
            budget = Budget(stopping, lease=lease)
            if self._schedule.left():
                return self._night(report, budget)
            self._do(("learn", "embed", *AFTER_TURNS), report, budget)
            return self._recorded(report)

    @contextmanager
    def _mine(self, report: Report) -> Iterator[Lease | None]:
        """Wait for the lease and yield it; if its holder does not finish, yield None and name the
        holder in the report."""
        self._asked.set()  # interrupts our own background work
        is_free = self._alone.acquire(timeout=PATIENCE)
        self._asked.clear()
        try:
            if is_free:
                with leased(self._jobs, JOB, PATIENCE) as lease:
                    if lease is not None:
                        yield lease
                        return
            holder = named(self._jobs.holder(JOB))
            report.problems.append(f"{holder} is at it; try again when it has ended")
            yield None
        finally:
            if is_free:
                self._alone.release()

    def _night(self, report: Report, budget: Budget) -> Run | None:
        """Run what is left of the current night, or a new one; None if there was no time for any
        step."""
        report.kind = "sleep"
        left = self._schedule.left()
        if len(left) == len(NAMES):
            self._schedule.begin()
        if self._do(left, report, budget) and not self._schedule.left():
            self._seen_to_at = self._clock()
        return self._recorded(report) if report.seconds else None

    @property
    def _is_idle(self) -> bool:
        """Whether the memories have been left alone for PAUSE. True as well if the clock was set
        back, since then the time is unknown."""
        return not timedelta(0) <= self._clock() - self._seen_to_at < PAUSE

    def _do(
        self,
        names: Sequence[StepName],
        report: Report,
        budget: Budget,
        compress: bool | None = None,
        progress: Progress | None = None,
    ) -> bool:
        """Run these steps in the order of the table; returns whether all were run."""
        learn = partial(self._learn, report)
        table = self._upkeep.table(self._back_up, learn, self._embed, self._sweep, compress)
        steps = [step for step in table if step.name in names]
        for at, step in enumerate(steps):
            if progress:
                progress(at, len(steps), step.name)
            if budget.is_over() or not self._done(step, report, budget.part(step.seconds)):
                return False
        if progress:
            progress(len(steps), len(steps), "done")
        return True

    def _done(self, step: Step, report: Report, budget: Budget) -> bool:
        """Run one step; returns whether it counts as done, even if only as far as its time
        allowed."""
        with report.timed(step.name), report.step(step.name) as counts:
            step.work(budget, counts)
        if budget.is_stopped:
            return False
        if budget.is_late:
            report.counts[f"{step.name}.unfinished"] += 1
        if report.kind == "sleep" and not (budget.is_late and step.goes_on):
            self._schedule.done(step.name)
        return True

    def _learn(self, report: Report, budget: Budget, _: Counter[str]) -> None:
        """A step: learn from what was said, and shorten sessions that have grown too long. Counts
        under the names of its parts."""
        if budget.dry_run:
            report.counts["extract.waiting"] += self._store.turns.counts()["waiting"]
            return
        while self._turns(report, budget, hurried=True):
            pass
        for session in self._store.turns.sessions(None):
            if budget.is_over():
                return
            self._shorten(session.name, report)

    def _turns(self, report: Report, budget: Budget, hurried: bool) -> bool:
        """Shorten the sessions with new turns and learn from the turns; returns whether there were
        any and all were processed."""
        due = self._outbox.due(hurried=hurried)
        for session in dict.fromkeys(turn[0].session for turn in due):
            self._shorten(session, report)
        goes_on = self._outbox.learn(due, report, budget)
        return goes_on and bool(due)

    def _shorten(self, session: str, report: Report) -> None:
        with report.step("reduce") as counts:
            counts += self._compact.reduced(session)
        with report.step("summarise") as counts:
            self._compact.summarise(session, counts)

    def _sweep(self, budget: Budget, counts: Counter[str]) -> None:
        """A step: delete old tool outputs, and old records of what sessions were shown."""
        if not budget.dry_run:
            counts["files"] += self._compact.sweep()
            self._store.shown.prune(self._clock() - SHOWN)

    def _recorded(self, report: Report) -> Run:
        run = report.run(self._clock())
        self._jobs.record(run)
        return run
