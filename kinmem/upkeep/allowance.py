"""How far a step of upkeep may go: until its time is over, and whether it may change anything."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """Asked between one memory and the next; a step that is cut short goes on in the next run."""

    is_over: Callable[[], bool] = bool
    """Whether to stop here: the time is up, the process ends, or the lease is lost."""
    dry_run: bool = False
    """Count what would be done, and change nothing."""


WITHOUT_LIMIT = Allowance()
