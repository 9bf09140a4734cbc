"""The interface of the database for undoing writes, and for erasing everything about a name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kinmem.models import Event, Memory
from kinmem.store.mention import Mention

# Fields of Memory that follow from use and upkeep: they change without a line in the history.
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


class Past(Protocol):
    """What this Kin has done to its own memories, as history lines. A write is one transaction's
    lines."""

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        """Return the lines of the latest `limit` writes, each whole, the latest first. `before`:
        only writes with lower numbers; `memory`: only writes that changed this memory, which may be
        gone."""
        ...

    def write(self, number: int) -> list[Event]:
        """Return the lines of one write, in order; none if there is no such write."""
        ...

    def batch(self, name: str) -> list[Event]:
        """Return the lines of all writes of a batch, in order."""
        ...

    def about(self, ids: Collection[str]) -> list[Event]:
        """Return all lines about these memories, in order."""
        ...

    def superseded_by(self, ids: Collection[str]) -> list[str]:
        """Return own memories that were superseded by these."""
        ...

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the `before` or `after` of a line to values of Memory's fields."""
        ...

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        """Return these fields of a memory in the form in which a line stores them."""
        ...

    def as_of(self, write: int) -> dict[str, Memory]:
        """Return every own memory by id as it was after that write, reconstructed from the lines
        alone.

        Fields in COMPUTED have their initial values. Erased memories are missing.
        """
        ...


@dataclass(frozen=True)
class Traces:
    """Where a name occurs."""

    memories: list[Memory]
    """Own memories about the name: by their text, tags, parts, or an entity."""
    others: list[str]
    """Ids of other Kins' shared memories that mention it; only those Kins may change them."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """By table, how many other rows mention it."""
    spills: tuple[str, ...] = ()
    """Files below the home folder with tool outputs of turns that will be blanked."""
    kept: tuple[str, ...] = ()
    """table.column where the name is one of kinmem's own words, or the Kin's name; these stay."""


class Forgetting(Protocol):
    """Finds and removes what one Kin's memory holds about a name; others' memories stay."""

    def traces(self, mention: Mention) -> Traces:
        """Return where it occurs now."""
        ...

    def erase(self, ids: Collection[str]) -> int:
        """Do Memories.erase for many memories; returns how many there were."""
        ...

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        """Return by table how many other rows mention it, or are erased with these memories."""
        ...

    def blank(self, mention: Mention) -> None:
        """Remove the name from everything but memories."""
        ...

    def compact(self) -> None:
        """Rewrite both files, so that no page holds erased content."""
        ...

    def former(self, mention: Mention) -> Mapping[Path, int]:
        """Return by file how many earlier versions of documents mention it; a byte scan cannot see
        them."""
        ...

    def holds(self, text: str) -> bool:
        """Return whether any text in either file contains this one."""
        ...

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        """Yield the words in both files' texts that contain one of these parts, in lower case."""
        ...


def batch_name(what: str) -> str:
    """Return a new name for writes that belong together, short enough to type."""
    import uuid_utils  # imported late: 5 ms that a hook need not spend

    return f"{what}-{str(uuid_utils.uuid7())[-8:]}"


def components(lines: Sequence[Event], ids: Collection[str]) -> list[Event]:
    """Return those lines of a write that are about these memories or related ones. A memory is
    related to the one that superseded it."""
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
    """Return what superseded the memory, if the line says so."""
    id = line.after.get("superseded_by")
    return [id] if id else []
