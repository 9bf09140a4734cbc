"""What kinmem asks of a database about links between memories."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from kinmem.models import Memory
from kinmem.rules.links import Asked, Link
from kinmem.store.graph import Key


@dataclass
class Shared:
    """What two memories have in common."""

    tags: set[str] = field(default_factory=set)
    chosen: set[str] = field(default_factory=set)
    """Those of the tags that a person has given to both."""
    entities: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Origin:
    """Live visible memories that another one comes from; None: there is none, or several."""

    first: str | None = None
    """The first memory of the document it is from."""
    previous: str | None = None
    """What was said before it in its conversation about its subject."""
    author: str | None = None
    """What says who the author of its document is: an identity of whom it names as speaker."""


class Links(Protocol):
    """The edges between the memories that a Kin sees; each has an end of its own among them.

    A link between shared memories is seen by everybody, any other one by its Kin alone. One whose
    other end is erased, forgotten, held back or invisible is as if it were not there.
    """

    def of(self, ids: Collection[str]) -> dict[str, list[Link]]:
        """The links that each of these has, the weightiest first; no key for what has none."""
        ...

    def change(
        self,
        id: str,
        asked: Sequence[Asked],
        if_version: int | None = None,
        *,
        batch: str | None = None,
    ) -> Memory:
        """Add and take back links of an own memory, as a person wants it: a new version, with a
        history line `linked`. Nothing to change is no write.

        What a person has taken back is never proposed again. Raises MemoryNotFound for an end that
        is not visible, and VersionConflict.
        """
        ...

    def restore(
        self,
        id: str,
        links: Sequence[Mapping[str, Any]],
        *,
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> None:
        """Let an own memory have exactly these manual links: what `before` or `after` of a history
        line `linked` holds under `links`. The line is `undone`, with `batch` and `reverts`."""
        ...

    def add(self, links: Sequence[Link]) -> int:
        """Store automatic links, or what is newly known of them; how many were new. Passed over
        are pairs that a person has linked or taken apart, and those without an own end."""
        ...

    def doubt(self, links: Sequence[Link]) -> None:
        """Halve the confidence of these automatic links."""
        ...

    def drop_stale(self, before: datetime, *, dry_run: bool = False) -> int:
        """Drop automatic links of little confidence that were last verified before; how many."""
        ...

    def taken_apart(self, ids: Collection[str]) -> set[frozenset[str]]:
        """The pairs among which these are that a person has linked or taken apart."""
        ...

    def sharing(self, tags: Mapping[str, Mapping[str, bool]]) -> dict[str, dict[str, Shared]]:
        """For each of these own memories, with its tags and whether a person gave it: live visible
        ones that have a tag or an entity in common with it, as far as that is rare
        (rules/links.MOST_HOLDERS)."""
        ...

    def degrees(self, ids: Collection[str], since: datetime) -> dict[str, tuple[int, int]]:
        """How many links each has, and how many of them were made since; no key for none."""
        ...

    def about(self, ids: Collection[str]) -> dict[Key, list[str]]:
        """Which of these visible memories are about each entity."""
        ...

    def densest(self, limit: int) -> list[str]:
        """Live visible memories with the most links, then with the highest priority."""
        ...

    def origins(self, memories: Sequence[Memory]) -> dict[str, Origin]:
        """What each of these own memories comes after, out of and from, by its record."""
        ...
