"""What kinmem asks of a database about what was done before, and taking it back."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from kinmem.models import Event, Memory

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
    """What this Kin has done to its own memories, in lines. A write is what was done at once.

    As with Store: every method may be called from any thread and may raise StoreError.
    """

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
