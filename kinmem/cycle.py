"""After each turn: reduce, summarise if due, extract, consolidate, recalibrate, prune.

Each step may be cut short at any point and is taken up again; what it did is counted in a report.
"""

from collections.abc import Callable
from datetime import timedelta
from threading import Lock

from kinmem.clock import Clock
from kinmem.compact.pipeline import Compact
from kinmem.lease import Lease, leased
from kinmem.outbox import Outbox
from kinmem.report import Report
from kinmem.store.journal import Journal
from kinmem.turns import Run
from kinmem.upkeep.pipeline import Upkeep

JOB = "cycle"
PAUSE = timedelta(minutes=10)
"""From the opening, or the last look, until the memories are seen to although nothing is said.
A command is over by then. What the calendar asks for is done once a day, see upkeep/daily."""
SHOWN = timedelta(days=30)
"""After which nobody takes up a session any more, so that what it was shown may be forgotten."""
PATIENCE = 60.0
"""Seconds that sleep() waits for another process to end its own cycle."""
EVERY = 2**31
"""Sessions; all of them."""


class Cycle:
    """The work on one Kin's conversations and memories that nobody waits for."""

    def __init__(
        self, journal: Journal, outbox: Outbox, compact: Compact, upkeep: Upkeep, clock: Clock
    ) -> None:
        self._journal = journal
        self._outbox = outbox
        self._compact = compact
        self._upkeep = upkeep
        self._clock = clock
        self._alone = Lock()
        self._seen_to_at = clock()

    def __call__(self, *, hurried: bool = False, stopping: Callable[[], bool] = bool) -> Run | None:
        """Work on the turns that are whole, then on the memories; the report, None without any.

        `hurried` takes turns that are still waiting for their answer as well. Another process that
        is at it already leaves nothing to do here. From time to time the memories are
        seen to even where nothing is said.
        """
        if not self._is_idle and not self._outbox.due(hurried=hurried):
            return None
        with self._alone, leased(self._journal, JOB) as lease:
            if lease is None:
                return None
            report = Report(self._clock())
            is_idle = self._is_idle
            if self._turns(report, lease, hurried, stopping) or is_idle:
                self._improve(report)
            if is_idle and not stopping():
                self._tidy(report)
            return self._recorded(report, "cycle") if report.counts or report.problems else None

    def sleep(self, *, compress: bool | None = None) -> Run:
        """All of it now, for every session, whether due or not. Learns what is waiting first."""
        report = Report(self._clock())
        with self._alone, leased(self._journal, JOB, PATIENCE) as lease:
            if lease is None:
                report.problems.append("another process is at it; try again when it has ended")
                return report.run("sleep", self._clock())
            while self._turns(report, lease, hurried=True):
                pass
            for session in self._journal.sessions(EVERY):
                self._shorten(session.name, report)
            self._improve(report, compress=compress)
            self._tidy(report)
            return self._recorded(report, "sleep")

    @property
    def _is_idle(self) -> bool:
        """Whether the memories have been left alone for long."""
        return self._clock() - self._seen_to_at >= PAUSE

    def _turns(
        self,
        report: Report,
        lease: Lease,
        hurried: bool,
        stopping: Callable[[], bool] = bool,
    ) -> bool:
        """Shorten the sessions that were spoken in and learn from the turns; whether there were
        any, and it came to the end of them."""
        due = self._outbox.due(hurried=hurried)
        for session in dict.fromkeys(turn[0].session for turn in due):
            self._shorten(session, report)
        goes_on = self._outbox.learn(due, report, lambda: not stopping() and lease.renewed())
        return goes_on and bool(due)

    def _shorten(self, session: str, report: Report) -> None:
        with report.step("reduce") as counts:
            counts += self._compact.reduced(session)
        with report.step("summarise") as counts:
            self._compact.summarise(session, counts)

    def _improve(self, report: Report, *, compress: bool | None = None) -> None:
        with report.step("consolidate") as counts:
            self._upkeep.consolidate(compress, counts)

    def _tidy(self, report: Report) -> None:
        """What the calendar asks for; each step knows when it was done last, by whomever."""
        self._seen_to_at = self._clock()
        with report.step("recalibrate") as counts:
            counts += self._upkeep.recalibrate()
        with report.step("prune") as counts:
            counts += self._upkeep.prune()
        with report.step("sweep") as counts:
            counts["files"] += self._compact.sweep()
            self._journal.prune_shown(self._clock() - SHOWN)

    def _recorded(self, report: Report, kind: str) -> Run:
        run = report.run(kind, self._clock())
        self._journal.record(run)
        return run
