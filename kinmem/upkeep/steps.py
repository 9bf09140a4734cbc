"""The steps of the sleep cycle by name, in their order, and how long each may take in one run."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from kinmem.errors import InvalidInput
from kinmem.upkeep.allowance import Allowance

StepName = Literal[
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

Work = Callable[[Allowance, Counter[str]], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the table. How many memories a run takes at most is the step's own business; that
    it can be repeated at any time is a promise of all of them."""

    name: StepName
    seconds: float
    """After which it is told to stop. What is left is done in the next run."""
    work: Work
    goes_on: bool = False
    """Whether that run comes as soon as nobody is disturbed by it, for what an import has left: the
    night is not over before. Not for what a model has to be asked for."""


def chosen(names: Iterable[str]) -> list[StepName]:
    """These steps in the order of the table; all of them if none is named. Raises InvalidInput."""
    wanted = set(names)
    if unknown := wanted.difference(NAMES):
        raise InvalidInput(f"no step is called {min(unknown)!r}; there are {', '.join(NAMES)}")
    return [name for name in NAMES if not wanted or name in wanted]
