"""What kinmem asks of a database about what was done before: taking it back, and
erasing all that is held of a name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kinmem.models import Event, Memory
from kinmem.store.mention import Mention

COMPUTED = frozenset(
    {
        "recalled_count",
        "recalled_at",
        "priority",
        "tier",
        "tier_reason",
        "status",
        "auto_tags",
        "tagged_at",
        "linked_at",
    }
)
"""Fields of Memory that follow from use and upkeep: they change without a line in the history."""


class Past(Protocol):
    """What this Kin has done to its own memories, in lines. A write is what was done at once."""

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        """The lines of so many latest writes, each whole, the latest first; of those numbered below
        `before`, and of those that did something to `memory`, which may be gone."""
        ...

    def write(self, number: int) -> list[Event]:
        """The lines of one write, in order; none if there is no such write."""
        ...

    def batch(self, name: str) -> list[Event]:
        """The lines of all writes of a batch, in order."""
        ...

    def about(self, ids: Collection[str]) -> list[Event]:
        """All lines about these memories, in order."""
        ...

    def superseded_by(self, ids: Collection[str]) -> list[str]:
        """Own memories that have given way to these."""
        ...

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """What `before` or `after` of a line says, as values of Memory's fields."""
        ...

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        """These fields of a memory as a line would tell them."""
        ...

    def as_of(self, write: int) -> dict[str, Memory]:
        """Every own memory as it stood after that write, by id, told from the lines alone.

        Fields in COMPUTED are as they were at first. Erased memories never were.
        """
        ...


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
        """Memories.erase for many; how many were there."""
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


def batch_name(what: str) -> str:
    """A new name for writes that belong together, short enough to type."""
    import uuid_utils  # late: 5 ms that a hook does without

    return f"{what}-{str(uuid_utils.uuid7())[-8:]}"


def components(lines: Sequence[Event], ids: Collection[str]) -> list[Event]:
    """Those of the lines of a write that belong with these memories: what one is superseded by
    belongs with it."""
    reached = set(ids)
    while True:
        more = {
            id
            for line in lines
            if reached.intersection(about := {line.memory_id, *heirs(line)})
            for id in about
        }
        if more <= reached:
            return [line for line in lines if line.memory_id in reached]
        reached |= more


def heirs(line: Event) -> list[str]:
    """What took the memory's place, if the line says so."""
    id = line.after.get("superseded_by")
    return [id] if id else []
