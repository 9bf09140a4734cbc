"""What the steps of one run did, as it grows; see turns.Run for what is kept of it."""

import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from kinmem.errors import KinmemError
from kinmem.turns import Run, RunKind

logger = logging.getLogger(__name__)


class Report:
    """Counts by step and what is counted, how long each took, and a line for each that failed."""

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
        """What a step counts in here, also before it fails: that is told, and the next begins."""
        counts: Counter[str] = Counter()
        try:
            yield counts
        except Exception as error:  # whatever it is, the other steps are not to blame
            self.failed(name, error)
        self.add(name, counts)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to what the step has taken before."""
        started = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - started
            self.seconds[name] = round(self.seconds.get(name, 0.0) + took, 4)

    def failed(self, step: str, error: Exception) -> str:
        """Take in why; the same for people, who are told no more of a defect than its name."""
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
