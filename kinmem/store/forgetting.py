"""What kinmem asks of a database about everything that it holds of one name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kinmem.models import Memory
from kinmem.rules.names.mention import Mention


@dataclass(frozen=True)
class Traces:
    """Where a name stands."""

    memories: list[Memory]
    """Own ones that are about it: by their text, tags, parts, or an entity."""
    others: list[str]
    """Ids of other Kins' shared memories that name it; theirs to change."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many rows of what else name it, by table."""
    spills: tuple[str, ...] = ()
    """Files below the home folder with what tools gave in turns that will be blanked."""
    kept: tuple[str, ...] = ()
    """table.column where the name is a word of kinmem's own, or the Kin's name; these stay."""


class Forgetting(Protocol):
    """Finds and removes what one Kin's memory holds of a name; others' memories stay."""

    def traces(self, mention: Mention) -> Traces:
        """Where it stands now."""
        ...

    def erase(self, ids: Collection[str]) -> int:
        """Store.erase for many; how many were there."""
        ...

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        """How many rows of what else name it, or go with these memories of it, by table."""
        ...

    def blank(self, mention: Mention) -> None:
        """Remove what still names it from everything but memories."""
        ...

    def compact(self) -> None:
        """Write both files anew, so that no page holds what it held before."""
        ...

    def former(self, mention: Mention) -> Mapping[Path, int]:
        """How many earlier versions of documents name it, by file: bytes do not show it."""
        ...

    def holds(self, text: str) -> bool:
        """Whether a text of either file has this in it."""
        ...

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        """The words of both files' texts in which one of these parts stands, lower case."""
        ...
