"""What kinmem asks of a database about entities, their relations, and links of memories.

Entities and relations are what visible memories say: what is counted here, who is called how
included, holds for the Kin that asks. What stood in another's memory and is not visible any more
is nobody's knowledge.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from kinmem.links import Asked, Link
from kinmem.models import EntityType, Knowledge, Memory

MOST_ALIASES = 10
Reach = Literal["now", "once", "ever"]
"""What memories say that are in use; with those that are superseded; with archived ones too."""
DAY = 86400.0


class Key(NamedTuple):
    """Which entity: its name, as text.folded gives it, and its type."""

    folded: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class Known:
    """An entity as far as live visible memories are about it."""

    key: Key
    name: str
    aliases: tuple[str, ...]
    """Other names it is called by, the frequent ones first; ten at most."""
    memories: int
    first: datetime
    last: datetime
    """When the memories about it happened or were said."""
    importance: float
    """Their mean, 1 to 10; what is not scored counts as 5."""

    def salience(self, now: datetime) -> float:
        """How much it matters, 0 to 1: .4 x how often it comes up (1 - 1 / (1 + memories)), .3 x
        how recently (see recency), .3 x importance / 10."""
        count = 1 - 1 / (1 + self.memories)
        return 0.4 * count + 0.3 * recency(self.last, now) + 0.03 * self.importance


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation as memories tell it."""

    source: Key
    relation: str
    target: Key
    names: Mapping[Key, str]
    """Of both ends."""
    memories: tuple[str, ...]
    """Ids of those that say so, the latest first."""
    confidence: float
    """How surely one of them says so, and is believed itself; the greatest."""
    verified_at: datetime
    """When the latest of them was read."""
    ended: datetime | None = None
    """Since when no memory in use says so; None: it holds."""

    def strength(self, now: datetime) -> float:
        """Keyoku's, 0 to 1: .4 x count + .3 x recency + .3 x confidence, where count is
        1 - 1 / (1 + memories)."""
        count = 1 - 1 / (1 + len(self.memories))
        return 0.4 * count + 0.3 * recency(self.verified_at, now) + 0.3 * self.confidence

    def other(self, key: Key) -> Key:
        """The end that is not this one."""
        return self.target if self.source == key else self.source


def recency(at: datetime, now: datetime) -> float:
    """1 for now; Keyoku's 1 / (1 + ln(1 + days))."""
    days = max(0.0, (now - at).total_seconds() / DAY)
    return 1 / (1 + math.log1p(days))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """By what two names can be told to mean one."""

    memories: frozenset[int] = frozenset()
    subjects: frozenset[str] = frozenset()
    """Of those memories, folded."""
    relations: frozenset[tuple[str, str, bool]] = frozenset()
    """(relation, the other end, whether that is the source)."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity of own memories, with what surrounds it."""

    key: Key
    name: str
    around: Surroundings = field(default_factory=Surroundings)


class Graph(Protocol):
    """As with Store: every method may be called from any thread, and may raise StoreError."""

    # writing

    def unread(self, limit: int) -> list[Memory]:
        """Own memories, the latest first, whose content is still to be read for entities."""
        ...

    def keep(self, read: Mapping[str, tuple[int, Knowledge]]) -> int:
        """Add what was read out of own memories, by id with the version that was read; how many
        were still at that version.

        One transaction. Not a change of the memories: no history line.
        """
        ...

    def merge(self, kept: Key, gone: Key) -> bool:
        """Let all that own memories say of `gone` be said of `kept`, with the other name as an
        alias. False if one of them is not there any more."""
        ...

    # reading

    def find(self, names: Collection[str], reach: Reach = "now") -> list[Known]:
        """Entities with one of these names or aliases (compared folded), the most told of first."""
        ...

    def known(self, keys: Collection[Key]) -> dict[Key, Known]:
        """These entities, as far as anything visible is about them."""
        ...

    def most_told(self, limit: int) -> list[Known]:
        """The entities that most memories are about."""
        ...

    def edges(self, keys: Collection[Key], reach: Reach = "now") -> list[Edge]:
        """Every relation from or to one of these."""
        ...

    def memories(self, keys: Collection[Key], limit: int, reach: Reach = "now") -> list[str]:
        """Ids of memories about one of these, the latest first."""
        ...

    def called(self, key: Key, reach: Reach = "now") -> dict[str, list[str]]:
        """By each alias the ids of memories that call it so, the latest first."""
        ...

    def names(self, limit: int) -> Sequence[Named]:
        """Entities of own live memories with what surrounds them; the latest first."""
        ...


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
        (links.MOST_HOLDERS)."""
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
