"""The sleep cycle, which improves a Kin's memories: its steps as a table, what they work with; and
when they are done, by which process, and how that is reported.

After each turn: reduce, summarise if due, extract, consolidate; once the memories have been left
alone for a while, also recalibrate, prune, sweep. The whole table is gone through once every
KINMEM_SLEEP_EVERY minutes and on request. Each step may be interrupted at any point and is resumed
later; a report counts what it did.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING

from kinmem.clock import Clock
from kinmem.conversation.compact import Compact
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.naming import Naming
from kinmem.llm.relating import Relating
from kinmem.models import Progress
from kinmem.models.turns import Run
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.ageing import drop_turns, prune, purge, recalibrate, tier
from kinmem.upkeep.consolidate import consolidate, everywhere, join
from kinmem.upkeep.entities_and_tags import entities, tag
from kinmem.upkeep.lifecycle import expire, retain
from kinmem.upkeep.link import link
from kinmem.upkeep.merge import compress
from kinmem.upkeep.steps import (
    NAMES,
    Budget,
    Lease,
    Report,
    Schedule,
    Step,
    StepName,
    Work,
    leased,
    named,
)
from kinmem.upkeep.summarize_memories import summarize

if TYPE_CHECKING:
    from kinmem.upkeep.background import Outbox


class Upkeep:
    """The steps of upkeep. Each may be repeated at any time."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        models: ChatModels,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._models = models
        self._naming = Naming(models.judge)
        self._settings = settings
        self._clock = clock

    def table(
        self, back_up: Work, learn: Work, embed: Work, sweep: Work, without_model: bool | None
    ) -> list[Step]:
        """Return all steps in order, each with the seconds that a run may spend on it.

        The backup of the day comes first, then new material, then what is made of it, then what
        follows from time and use; erasing comes last. Steps that read all memories run once a day
        (steps.once_a_day). For `without_model`, see _consolidate.
        """
        store, clock, naming = self._store, self._clock, self._naming
        return [
            Step("backup", 600, back_up),
            Step("learn", 300, learn),
            Step("expire", 60, partial(expire, store, clock)),
            Step("embed", 300, embed),
            Step("entities", 60, partial(entities, store, naming), goes_on=True),
            Step("tag", 60, partial(tag, store, clock), goes_on=True),
            Step("link", 60, partial(link, store, self._embedder, clock), goes_on=True),
            Step("consolidate", 300, partial(self._consolidate, without_model)),
            Step("recalibrate", 60, partial(recalibrate, store, clock)),
            Step("retain", 60, partial(retain, store, self._settings.life, clock)),
            Step("tier", 60, partial(tier, store, clock)),
            Step("summaries", 300, partial(summarize, store, self._models.summary)),
            Step("prune", 60, partial(prune, store, self._settings.life.prune, clock)),
            Step("purge", 60, self._purge),
            Step("sweep", 60, sweep),
            Step("housekeeping", 60, self._keep_house),
        ]

    def _purge(self, budget: Budget, counts: Counter[str]) -> None:
        """Erase forgotten memories, and delete what was said, each when it is old enough."""
        days = self._settings.general.purge_days, self._settings.upkeep.turns_days
        in_bin, turns = (timedelta(days=one) for one in days)
        prune = self._settings.life.prune
        purge(self._store, in_bin, prune, self._clock, budget, counts)
        drop_turns(self._store, turns, self._clock, budget, counts)

    def _keep_house(self, budget: Budget, counts: Counter[str]) -> None:
        """Keep the files in order, whatever they contain: fill half-empty blocks of vectors, free
        unused space, empty the logs. Counts blocks and freed_kib."""
        counts.update(self._store.keep_house(budget.is_over, budget.dry_run))

    def _consolidate(
        self, without_model: bool | None, budget: Budget, counts: Counter[str]
    ) -> None:
        """Let what several projects have in common hold everywhere. Then merge similar memories:
        those that the judge finds equal, those that a chat model merges (if there is one), and
        those that rules merge, if KINMEM_COMPRESS or `without_model` says so."""
        everywhere(self._store, budget, counts)
        with_all = self._store, self._embedder
        settings, clock = self._settings, self._clock
        if relating := Relating(self._models.judge):
            join(*with_all, relating, settings, clock, counts, budget, self._naming)
        if self._models.consolidation is not None:
            model = self._models.consolidation
            consolidate(*with_all, model, settings, clock, counts, budget, self._naming)
        if settings.upkeep.compress if without_model is None else without_model:
            compress(*with_all, settings, clock, counts, budget, self._naming)


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
        outbox: "Outbox",
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
