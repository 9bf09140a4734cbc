"""What kinmem asks of a database about entities and their relations.

Both are what visible memories say: what is counted here, who is called how included, holds for the
Kin that asks. What stood in another's memory and is not visible any more is nobody's knowledge.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from kinmem.models import EntityType, Knowledge, Memory, Scope

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


class Spoken(NamedTuple):
    """What a name in a question leads to."""

    key: Key
    mentions: int
    """How many memories are about it, whatever became of them."""
    memories: Sequence[str]
    """Ids of the latest live ones, by their time."""
    edges: Sequence[Edge]
    """Its relations, as far as the latest memories tell them."""


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
    """An entity of one file, with what surrounds it."""

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

        One transaction for each scope, at most. Not a change of the memories: no history line.
        """
        ...

    def merge(self, scope: Scope, kept: Key, gone: Key) -> bool:
        """In the file of that scope, let all that is said of `gone` be said of `kept`, with the
        other name as an alias. False if one of them is not there any more."""
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

    def spoken_of(self, names: Collection[str], most: int, limit: int) -> list[Spoken]:
        """At most so many entities with one of these names or aliases, the most told of first, each
        with at most `limit` memories. Quick however much is known of them: only the latest mentions
        are looked at."""
        ...

    def latest(self, keys: Collection[Key], limit: int) -> dict[Key, list[str]]:
        """Ids of live memories about each of these, of the latest `limit` mentions; as quick."""
        ...

    def names_in(self, scope: Scope, limit: int) -> Sequence[Named]:
        """Entities of live memories in one file with what surrounds them; the latest first."""
        ...
