"""What is known of a request to a provider while it runs, however deep in a library it is made."""

from contextvars import ContextVar
from dataclasses import dataclass

from kinmem.llm.deadline import Deadline

LARGEST = 32 * 1024 * 1024
"""Bytes of one answer; 64 vectors of 4,096 numbers, written out, are about 6 million."""


@dataclass
class Exchange:
    """One request: its limits, and what the connection saw of it."""

    deadline: Deadline
    largest: int = LARGEST
    """Bytes of the answer that are read."""
    key: str | None = None
    """The key the settings name for it; None: whatever the library takes."""
    of_numbers: bool = False
    """Whether lists in the answer have to be of numbers, or of what holds them."""
    sent: bool = False
    status: int | None = None
    """HTTP status; None before there was an answer."""
    retry_after: float | None = None
    """Seconds the provider asks to wait."""
    failure: str | None = None
    """Why no answer came: refused, reset, late, not to be trusted."""
    problem: str | None = None
    """Why the answer that came was not let through."""


current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The exchange of this thread."""
