"""When the background work is done, by whom, and what is written down of it.

After each turn: reduce, summarise if due, extract, consolidate; when the memories have been left
alone for a while, also recalibrate, prune, sweep. And the whole sleep cycle, upkeep/pipeline, once
in KINMEM_SLEEP_EVERY minutes and when somebody asks for it. Each step may be cut short at any point
and is taken up again; what it did is counted in a report.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Event, Lock

from kinmem.clock import Clock
from kinmem.conversation.compact import Compact
from kinmem.models import Progress
from kinmem.store.base import Store
from kinmem.turns import Run
from kinmem.upkeep.budget import Budget, Lease, leased, named
from kinmem.upkeep.outbox import Outbox
from kinmem.upkeep.pipeline import Upkeep
from kinmem.upkeep.schedule import Schedule
from kinmem.upkeep.steps import NAMES, Report, Step, StepName, Work

JOB = "cycle"
PAUSE = timedelta(minutes=10)
"""From the opening, or the last look, until the memories are seen to although nothing is said.
A command is over by then. What the calendar asks for is done once a day, see upkeep/schedule."""
SHOWN = timedelta(days=30)
"""After which nobody takes up a session any more, so that what it was shown may be forgotten."""
PATIENCE = 60.0
"""Seconds that sleep() waits for another process to end its own cycle."""
AFTER_TURNS: Sequence[StepName] = ("consolidate",)
IN_A_PAUSE: Sequence[StepName] = ("consolidate", "recalibrate", "prune", "sweep")


class Cycle:
    """The work on one Kin's conversations and memories that nobody waits for."""

    def __init__(
        self,
        store: Store,
        outbox: Outbox,
        compact: Compact,
        upkeep: Upkeep,
        embed: Work,
        schedule: Schedule,
        clock: Clock,
    ) -> None:
        """`embed` is the step that makes vectors."""
        self._store = store
        self._jobs = store.jobs
        self._outbox = outbox
        self._compact = compact
        self._upkeep = upkeep
        self._embed = embed
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
        """Work on the turns that are whole, then on the memories; the report, None without any.

        `hurried` takes turns that are still waiting for their answer as well. Another process that
        is at it already leaves nothing to do here. From time to time the memories are seen to even
        where nothing is said, as long as nobody is `disturbed` by it.
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
        """These steps now, whether due or not; `learn` is for every session. Not recorded if it is
        a dry run, or somebody else is at it."""
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
        """Learn from every session now, and what is left of the present night."""
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
        """The lease, once who holds it has ended; else None, and the report says who does."""
        self._asked.set()  # our own background gives way
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
        """What is left of the present night, or a new one; None if there was no time for any."""
        report.kind = "sleep"
        left = self._schedule.left()
        if len(left) == len(NAMES):
            self._schedule.begin()
        if self._do(left, report, budget) and not self._schedule.left():
            self._seen_to_at = self._clock()
        return self._recorded(report) if report.seconds else None

    @property
    def _is_idle(self) -> bool:
        """Whether the memories have been left alone for long; by a clock that was put back nobody
        knows for how long."""
        return not timedelta(0) <= self._clock() - self._seen_to_at < PAUSE

    def _do(
        self,
        names: Sequence[StepName],
        report: Report,
        budget: Budget,
        compress: bool | None = None,
        progress: Progress | None = None,
    ) -> bool:
        """These steps in the order of the table; whether it came to the end of them."""
        learn = partial(self._learn, report)
        table = self._upkeep.table(learn, self._embed, self._sweep, compress)
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
        """Do one step; whether it was done, if only as far as its time went."""
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
        """A step: what was said is learned, and shortened where it has grown too long. It counts
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
        """Shorten the sessions that were spoken in and learn from the turns; whether there were
        any, and it came to the end of them."""
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
        """A step: outputs that were put aside, and what sessions were shown, when both are old."""
        if not budget.dry_run:
            counts["files"] += self._compact.sweep()
            self._store.shown.prune(self._clock() - SHOWN)

    def _recorded(self, report: Report) -> Run:
        run = report.run(self._clock())
        self._jobs.record(run)
        return run
