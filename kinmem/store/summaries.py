"""What kinmem asks of a database about summaries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kinmem.models import Memory

EXTRACTIVE = "extractive"
"""Who wrote a summary that rules have put together."""
SHORT = 300
"""Characters; what is not longer is hardly more than two sentences."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a memory, or one of its chunks, says in short."""

    text: str
    """Empty: it was looked at, and is short enough itself."""
    model: str = EXTRACTIVE
    chunk: int | None = None
    """Position of the chunk in its memory; None: of the whole."""


class Summaries(Protocol):
    """The summaries of what one Kin sees. Writing them is no change: no history, no new version."""

    def of(self, ids: Collection[str]) -> Mapping[str, str]:
        """By id: of each of these visible memories that has one."""
        ...

    def parts(self, id: str) -> list[Summary]:
        """Of the chunks of a visible memory, in order."""
        ...

    def due(self, limit: int) -> list[str]:
        """Ids of own live memories too long to need none that have no summary, or one that was made
        of another content or in another tier; the oldest first."""
        ...

    def put(self, memory: Memory, summaries: Sequence[Summary]) -> bool:
        """These in place of all that an own memory has, made of it as it was read; False, and they
        are not stored: it is gone, or has another content by now. One must be of the whole.
        """
        ...
