"""After each turn: reduce, summarise if due, extract, consolidate, recalibrate, prune.

Each step may be cut short at any point and is taken up again; what it did is counted in a report.
"""

import logging
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

import uuid_utils

from kinmem.clock import Clock
from kinmem.compact.pipeline import Compact
from kinmem.errors import KinmemError
from kinmem.learn.turns import Learn
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.turns import Batch, Message, Run
from kinmem.upkeep.pipeline import Upkeep

logger = logging.getLogger(__name__)

STEPS = ("reduce", "summarise", "extract", "consolidate", "recalibrate", "prune")
AT_ONCE = 50
"""Messages that one cycle learns from."""
BEFORE = 8
"""Messages ahead of a turn that help to understand it."""
QUIET = timedelta(seconds=30)
"""A turn without an answer counts as whole after this time."""
TRIES = 3
FIRST_PAUSE = timedelta(seconds=30)
"""Before the second try; four times as long before each further one."""
DAY = 86_400.0
LEASE = 300.0
"""Seconds for which a process has the turns to itself; renewed with each turn. One that was killed
loses it at once (Journal.lease), and nothing is learned twice even where two are at it."""


class Cycle:
    """The work on one Kin's conversations that nobody waits for."""

    def __init__(
        self,
        store: Store,
        learn: Learn,
        compact: Compact,
        upkeep: Upkeep,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._journal = store.journal
        self._learn = learn
        self._compact = compact
        self._upkeep = upkeep
        self._settings = settings
        self._clock = clock
        self._holder = f"{os.getpid()}@{socket.gethostname()}/{uuid_utils.uuid7()}"

    def __call__(self, *, hurried: bool = False, stopping: Callable[[], bool] = bool) -> Run | None:
        """Work on the turns that are whole, then on the memories; the report, None without any.

        `hurried` takes turns that are still waiting for their answer as well. Another process that
        is at it already leaves nothing to do here.
        """
        due = self._due(hurried)
        if not due or not self._journal.lease("cycle", self._holder, LEASE):
            return None
        try:
            report = Report(self._clock())
            due = self._due(hurried)  # somebody may have been at it until now
            sessions = list(dict.fromkeys(turn[0].session for turn in due))
            for session in sessions:
                self._shorten(session, report)
            for turn in due:
                if stopping():
                    break
                self._extract(turn, report)
            self._improve(report)
            return self._recorded(report, "cycle")
        finally:
            self._journal.release("cycle", self._holder)

    def sleep(self, *, compress: bool | None = None) -> Run:
        """All of it now, for every session, whether due or not. Learns what is waiting first."""
        report = Report(self._clock())
        while (run := self(hurried=True)) is not None:
            report.counts.update(run.counts)
            report.problems += run.problems
            if not run.counts.get("extract.turns"):  # only what fails is left
                break
        for session in self._journal.sessions():
            self._shorten(session.name, report)
        self._improve(report, compress=compress, now=True)
        return self._recorded(report, "sleep")

    def _due(self, hurried: bool) -> list[list[Message]]:
        """Turns that are whole, oldest first: answered, followed by another, or left alone."""
        now = self._clock()
        waiting = sorted(self._journal.learnable(now, AT_ONCE), key=attrgetter("session", "turn"))
        turns = [list(turn) for _, turn in groupby(waiting, attrgetter("session", "turn"))]
        whole = [turn for turn in turns if hurried or self._is_whole(turn, now)]
        return sorted(whole, key=lambda turn: turn[0].id)

    def _is_whole(self, turn: Sequence[Message], now: datetime) -> bool:
        last = turn[-1]
        return (
            any(message.role == "assistant" for message in turn)
            or not timedelta(0) <= now - last.said_at <= QUIET
            or any(later.turn != last.turn for later in self._journal.after(last, 1))
        )

    def _shorten(self, session: str, report: "Report") -> None:
        with report.step("reduce"):
            report.add("reduce", self._compact.reduced(session))
        with report.step("summarise"):
            report.add("summarise", self._compact.summarise(session))

    def _extract(self, turn: Sequence[Message], report: "Report") -> None:
        """A failure postpones this turn and no other."""
        self._journal.lease("cycle", self._holder, LEASE)
        with report.step("extract"):
            try:
                before = self._journal.before(turn[0], BEFORE)
                if self._settings.learn.learn:
                    report.add("extract", self._learn.turn(turn, before))
                else:
                    self._store.apply(Batch(learned=[message.id for message in turn]))
                report.counts["extract.turns"] += 1
            except Exception as error:
                tries = max(message.tries for message in turn) + 1
                until = self._clock() + FIRST_PAUSE * 4 ** (tries - 1) if tries < TRIES else None
                problem = str(error) if isinstance(error, KinmemError) else type(error).__name__
                self._journal.postpone([message.id for message in turn], until, problem)
                raise

    def _improve(
        self, report: "Report", *, compress: bool | None = None, now: bool = False
    ) -> None:
        with report.step("consolidate"):
            report.add("consolidate", self._upkeep.consolidate(compress))
        if now or self._journal.lease("daily", str(uuid_utils.uuid7()), DAY):
            with report.step("recalibrate"):
                report.add("recalibrate", self._upkeep.recalibrate())
            with report.step("prune"):
                report.add("prune", self._upkeep.prune())
                self._compact.sweep()

    def _recorded(self, report: "Report", kind: str) -> Run:
        run = Run(
            kind=kind,
            started_at=report.started_at,
            finished_at=self._clock(),
            counts=dict(report.counts),
            problems=tuple(report.problems),
        )
        self._journal.record(run)
        return run


class Report:
    """What the steps of one run did so far."""

    def __init__(self, started_at: datetime) -> None:
        self.started_at = started_at
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def add(self, step: str, counts: Counter[str]) -> None:
        self.counts.update({f"{step}.{what}": count for what, count in counts.items() if count})

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A step that fails is told, and the next one begins."""
        try:
            yield
        except KinmemError as error:
            logger.warning("%s: %s", name, error)
            self.problems.append(f"{name}: {error}")
        except Exception as error:  # whatever it is, the other steps are not to blame
            logger.exception("%s failed", name)
            self.problems.append(f"{name}: internal: {type(error).__name__}")
