"""The names of the steps of the sleep cycle in their order, and the report of a run."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from kinmem.errors import InvalidInput, KinmemError
from kinmem.models.turns import Run, RunKind
from kinmem.upkeep.budget import Budget

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
