"""The interface of the database for entities, their relations, and links between memories.

Entities and relations come from visible memories, so all counts and names are those of the Kin that
asks. What only an invisible memory of another Kin says is not included.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from kinmem.models import EntityType, Knowledge, Memory
from kinmem.models.record import Link, LinkChange

MOST_ALIASES = 10
# Which memories are read: now, those in use; once, superseded ones as well; ever, archived ones
# too.
Reach = Literal["now", "once", "ever"]
DAY = 86400.0


class Key(NamedTuple):
    """Identifies an entity by its name, normalised by text.folded, and its type."""

    folded: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class Known:
    """What live visible memories say about an entity."""

    key: Key
    name: str
    aliases: tuple[str, ...]
    """Other names for it, the frequent ones first; ten at most."""
    memories: int
    first: datetime
    last: datetime
    """When the first and the last event or statement about it took place."""
    importance: float
    """Mean importance of the memories, 1 to 10; one without importance counts as 5."""

    def salience(self, now: datetime) -> float:
        """Return how much it matters, 0 to 1: .4 x frequency (1 - 1 / (1 + memories)) + .3 x
        recency (see there) + .3 x importance / 10."""
        count = 1 - 1 / (1 + self.memories)
        return 0.4 * count + 0.3 * recency(self.last, now) + 0.03 * self.importance


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation, as stated by memories."""

    source: Key
    relation: str
    target: Key
    names: Mapping[Key, str]
    """The names of both ends."""
    memories: tuple[str, ...]
    """Ids of the memories that state it, the latest first."""
    confidence: float
    """The highest confidence of any of them: that it states the relation, and that it is true."""
    verified_at: datetime
    """When the latest of them was read."""
    ended: datetime | None = None
    """The time since when no memory in use states it; None: it holds."""

    def strength(self, now: datetime) -> float:
        """Return Keyoku's strength, 0 to 1: .4 x count + .3 x recency + .3 x confidence, where
        count is 1 - 1 / (1 + memories)."""
        count = 1 - 1 / (1 + len(self.memories))
        return 0.4 * count + 0.3 * recency(self.verified_at, now) + 0.3 * self.confidence

    def other(self, key: Key) -> Key:
        """Return the end that is not this one."""
        return self.target if self.source == key else self.source


def recency(at: datetime, now: datetime) -> float:
    """Return Keyoku's recency, 1 / (1 + ln(1 + days)): 1 for now."""
    days = max(0.0, (now - at).total_seconds() / DAY)
    return 1 / (1 + math.log1p(days))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Evidence by which two names can be recognised as one entity."""

    memories: frozenset[int] = frozenset()
    subjects: frozenset[str] = frozenset()
    """Subjects of those memories, folded."""
    relations: frozenset[tuple[str, str, bool]] = frozenset()
    """(relation, the other end, whether that is the source)."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity of own memories, with its surroundings."""

    key: Key
    name: str
    around: Surroundings = field(default_factory=Surroundings)


class Graph(Protocol):
    """The entities and relations. As in Store, every method may be called from any thread, and may
    raise StoreError."""

    # writing

    def unread(self, limit: int) -> list[Memory]:
        """Return own memories, the latest first, from whose content no entities were extracted
        yet."""
        ...

    def keep(self, read: Mapping[str, tuple[int, Knowledge]]) -> int:
        """Store what was extracted from own memories, by id with the version that was read; returns
        how many were still at that version.

        One transaction. Not a change of the memories: no history line.
        """
        ...

    def merge(self, kept: Key, gone: Key) -> bool:
        """Transfer everything that own memories say about `gone` to `kept`, which gets the other
        name as an alias. False if one of them no longer exists."""
        ...

    # reading

    def find(self, names: Collection[str], reach: Reach = "now") -> list[Known]:
        """Return entities with one of these names or aliases (compared folded), those with most
        memories first."""
        ...

    def known(self, keys: Collection[Key]) -> dict[Key, Known]:
        """Return those of these entities that any visible memory is about."""
        ...

    def most_told(self, limit: int) -> list[Known]:
        """Return the entities that most memories are about."""
        ...

    def edges(self, keys: Collection[Key], reach: Reach = "now") -> list[Edge]:
        """Return every relation from or to one of these."""
        ...

    def memories(self, keys: Collection[Key], limit: int, reach: Reach = "now") -> list[str]:
        """Return ids of memories about one of these, the latest first."""
        ...

    def called(self, key: Key, reach: Reach = "now") -> dict[str, list[str]]:
        """Return by alias the ids of the memories that use it, the latest first."""
        ...

    def names(self, limit: int) -> Sequence[Named]:
        """Return entities of own live memories with their surroundings, the latest first."""
        ...


@dataclass
class Shared:
    """What two memories have in common."""

    tags: set[str] = field(default_factory=set)
    chosen: set[str] = field(default_factory=set)
    """The tags that a person has given to both."""
    entities: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Origin:
    """Live visible memories from which another one comes; None: there is none, or several."""

    first: str | None = None
    """The first memory of the document that it comes from."""
    previous: str | None = None
    """The previous memory of its conversation about its subject."""
    author: str | None = None
    """The memory that describes its document's author: an identity whose subject is its speaker."""


class Links(Protocol):
    """Links between the memories that a Kin sees; at least one end is its own.

    A link between shared memories is visible to every Kin, any other link only to its own. A link
    is hidden if its other end is erased, forgotten, held back or invisible.
    """

    def of(self, ids: Collection[str]) -> dict[str, list[Link]]:
        """Return the links of each of these, the strongest first; no key for a memory without
        links."""
        ...

    def change(
        self,
        id: str,
        asked: Sequence[LinkChange],
        if_version: int | None = None,
        *,
        batch: str | None = None,
    ) -> Memory:
        """Add and remove links of an own memory at a person's request: a new version, with a
        history line `linked`. Writes nothing if nothing changes.

        What a person has removed is never proposed again. Raises VersionConflict, and
        MemoryNotFound if an end is not visible.
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
        """Give an own memory exactly these manual links, taken from `links` in the `before` or
        `after` of a history line `linked`. Writes a line `undone` with `batch` and `reverts`."""
        ...

    def add(self, links: Sequence[Link]) -> int:
        """Store automatic links, or new evidence for them; returns how many were new. Skips pairs
        that a person has linked or unlinked, and those without an own end."""
        ...

    def doubt(self, links: Sequence[Link]) -> None:
        """Halve the confidence of these automatic links."""
        ...

    def drop_stale(self, before: datetime, *, dry_run: bool = False) -> int:
        """Drop automatic links of low confidence that were last verified before then; returns how
        many."""
        ...

    def taken_apart(self, ids: Collection[str]) -> set[frozenset[str]]:
        """Return the pairs with one of these memories that a person has linked or unlinked."""
        ...

    def sharing(self, tags: Mapping[str, Mapping[str, bool]]) -> dict[str, dict[str, Shared]]:
        """Return for each of these own memories the live visible ones with a tag or an entity in
        common, if that is rare (links.MOST_HOLDERS). `tags` says for each tag whether a person gave
        it."""
        ...

    def degrees(self, ids: Collection[str], since: datetime) -> dict[str, tuple[int, int]]:
        """Return how many links each has, and how many of them were made since; no key if there are
        none."""
        ...

    def about(self, ids: Collection[str]) -> dict[Key, list[str]]:
        """Return by entity which of these visible memories are about it."""
        ...

    def densest(self, limit: int) -> list[str]:
        """Return live visible memories, those with most links first, then those with the highest
        priority."""
        ...

    def origins(self, memories: Sequence[Memory]) -> dict[str, Origin]:
        """Return the origins of each of these own memories, according to its record."""
        ...
