"""A memory as it is stored, the words for its fields, its history, and filters by its fields; links
between memories, and the changes to them that people ask for."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """Shape (dimension,), float32, unit length."""
    Vectors: TypeAlias = NDArray[np.float32]
    """Shape (count, dimension), float32, each row of unit length."""
else:  # importing numpy takes 110 ms, and the server answers tools/list without it
    Vector = Vectors = Any

# A callback for long work, called with the count done, the total, and what is being done.
Progress: TypeAlias = Callable[[int, int, str], None]

Scope = Literal["private", "shared"]
Category = Literal[
    "fact",
    "preference",
    "decision",
    "knowledge",
    "identity",
    "relationship",
    "event",
    "activity",
    "plan",
    "context",
    "ephemeral",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
OF_ITS_TIME: frozenset[Category] = frozenset({"event", "ephemeral"})
"""What is so each time anew; all else is so until something else is said."""
Channel = Literal["user", "explicit", "extraction", "consolidation", "import"]
Tier = Literal["hot", "warm", "archive"]
# The forgetting curves. models/retention.py has their formulas.
Curve = Literal["kin", "keyoku", "kore", "kinbot", "kybernesis"]
# The ranking profiles by the names that settings and recall's `mode` use; see recall/profiles.py.
Mode = Literal[
    "relevance", "kinbot", "kore", "recent", "important", "historical", "comprehensive", "balanced"
]

# Roles that stand in for a speaker's name.
ROLES = frozenset({"user", "assistant", "tool", "system"})
# The entity that "I" refers to when the speaker's name is not known.
THE_USER = "the user"


class State(StrEnum):
    """Where a memory stands in its life.

    Unless asked otherwise, recall finds active and stale ones only.
    """

    ACTIVE = "active"
    STALE = "stale"
    ARCHIVED = "archived"
    DELETED = "deleted"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"


LIVE = (State.ACTIVE, State.STALE)


# Key in metadata: when an event was told, if its words place it on an earlier day.
TOLD_AT = "told_at"
# Key in metadata: that somebody gave the date, whatever the text says.
DATE_GIVEN = "date_given"
# Source of a hit that is a turn of a conversation rather than a memory; its id is a turn's.
CONVERSATION = "conversation"
# Prefix of a turn's id; the number of the message follows.
TURN = "turn:"
# Key in metadata: why it is held back, until a person releases it.
QUARANTINE = "quarantine"
# Key in ingest_metadata: how many chunks of a document are held back. Absent if none is.
HELD_BACK = "held"


# A part of a source context that learn/drafting.py writes: "tomorrow: 2026-03-05".
MEANT = re.compile(r"(?P<phrase>.+): (?P<day>\d{4}[-\d/]*)")


def days_meant(content: str, source_context: str | None) -> frozenset[str]:
    """Return which days the relative times of a text mean, as its source context tells them."""
    parts = map(MEANT.fullmatch, (source_context or "").split(" | "))
    return frozenset(part["day"] for part in parts if part and part["phrase"] in content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory. Times are aware and in UTC.

    docs/life.md explains state, tier, importance and priority, docs/conversations.md explains
    place, and docs/documents.md explains parts.
    """

    id: str
    kin: str
    """The owner and author."""
    scope: Scope
    content: str
    category: Category
    subject: str | None = None
    source_context: str | None = None
    """One or two sentences that say where it was learned."""
    content_hash: str
    language: str | None = None

    importance: float | None = None
    """1 to 10; None until scored, which is read as 5."""
    confidence: float = 1.0
    evidence: float = 0.0
    """How much of an answer its text can hold, whatever the question (language/salience.py)."""
    pinned: bool = False
    priority: float | None = None
    """0 to 1; None until computed."""
    set_priority: float | None = None
    """The explicit part of the priority as a person has set it; None stands for importance / 10."""

    speaker: str | None = None
    """Who said it: a name, or the role user, assistant or tool."""
    channel: Channel = "explicit"
    trust: float = 0.8
    client: str | None = None
    session: str | None = None
    turn_id: str | None = None
    model: str | None = None
    place: str | None = None
    """The project in which it holds (see models/places.py); None: everywhere."""

    occurred_at: datetime | None = None
    state: State = State.ACTIVE
    state_at: datetime | None = None
    """Since when it has been in this state; None: since it was created."""
    tier: Tier = "warm"
    tier_reason: str | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None

    recalled_count: int = 0
    recalled_at: datetime | None = None

    created_at: datetime
    content_updated_at: datetime
    scored_at: datetime | None = None
    deleted_at: datetime | None = None

    generation: int = 0
    manual_tags: tuple[str, ...] = ()
    auto_tags: tuple[str, ...] = ()

    title: str | None = None
    description: str | None = None
    source: str = "tool"
    source_ref: str | None = None
    status: Literal["pending", "ingested", "failed"] = "ingested"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    ingest_metadata: Mapping[str, Any] = field(default_factory=dict)
    tagged_at: datetime | None = None
    linked_at: datetime | None = None

    version: int = 1

    @property
    def tags(self) -> tuple[str, ...]:
        """Manual tags, then automatic ones that do not repeat them."""
        return self.manual_tags + tuple(
            tag for tag in self.auto_tags if tag not in self.manual_tags
        )

    @property
    def wording(self) -> str:
        """What stands for this text of this memory: neither scoring nor use changes it, a new text
        does."""
        return f"{self.id}@{self.content_updated_at.isoformat()}"

    @property
    def days_meant(self) -> frozenset[str]:
        """Which days its relative times mean, as its source context tells them."""
        return days_meant(self.content, self.source_context)

    @property
    def is_document(self) -> bool:
        """Whether `content` is only the beginning of a longer text that is stored in parts."""
        return "parts" in self.metadata

    @property
    def is_held(self) -> bool:
        """Whether it waits for a person to release it, even if it was put away since."""
        return self.state == State.QUARANTINED or (
            self.state not in LIVE and QUARANTINE in self.metadata
        )

    @property
    def holds_back(self) -> bool:
        """Whether it is a document with parts that may not be recalled before they are released."""
        return HELD_BACK in self.ingest_metadata

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns it was learned from, the main one first; empty for a memory stored directly."""
        return tuple(self.metadata.get("turns", ())) or ((self.turn_id,) if self.turn_id else ())

    @property
    def said_at(self) -> datetime:
        """When it happened or was said; if that is unknown, when it was stored."""
        return self.occurred_at or self.created_at

    @property
    def told_at(self) -> datetime:
        """When it was said.

        Differs from said_at only if its words name an earlier day (learn/drafting.py).
        """
        told = self.metadata.get(TOLD_AT)
        return datetime.fromisoformat(told) if told else self.said_at

    @property
    def holds_since(self) -> datetime:
        """Since when it holds, as far as that is known. What is said later is newer, even if it is
        about an earlier day."""
        return self.valid_from or self.told_at


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a memory's history."""

    seq: int
    at: datetime
    kin: str
    memory_id: str
    action: str
    """created, updated, moved, forgotten, restored, erased, superseded, merged, consolidated,
    compressed, recalibrated, pruned, purged, released, faded, revived, expired, undone, linked,
    imported, scrubbed.
    """
    before: Mapping[str, Any]
    """The old values of the fields that changed; empty for created."""
    after: Mapping[str, Any]
    reason: str | None = None
    batch: str | None = None
    """Name of a group of writes that are undone together: an import, a turn, a merge."""
    write: int = 0
    """Number of the write it belongs to. A Kin's writes are numbered in their order."""
    reverts: tuple[int, ...] = ()
    """For undone: the writes whose lines about this memory it takes back."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories may be found.

    None does not restrict; Filters() finds all active and stale ones.
    """

    category: Category | None = None
    subject: str | None = None
    """Compared case-insensitively."""
    about: tuple[str, ...] = ()
    """Names of entities, folded by text.folded. Finds memories about one of them in addition to
    those of the subject."""
    scope: Scope | None = None
    """private: the Kin's own private memories; shared: everybody's shared ones."""
    tier: Tier | None = None
    speaker: str | None = None
    """Compared case-insensitively."""
    tags: tuple[str, ...] = ()
    """A memory needs all of them."""
    since: datetime | None = None
    until: datetime | None = None
    """`since` and `until` compare said_at: since <= said_at < until."""
    as_of: datetime | None = None
    """Find what was valid at that moment, superseded memories included."""
    was: tuple[datetime | None, datetime | None] | None = None
    """Also find what is no longer valid but was at some time in this stretch. A bound of None is
    open."""
    include_archived: bool = False
    pinned: bool = False
    """Find pinned memories only."""
    states: tuple[State, ...] | None = None
    """Find exactly these states, whatever the other fields say."""
    ids: tuple[str, ...] | None = None
    """Find only these memories."""
    places: tuple[str, ...] | None = None
    """Find only what belongs to one of these projects."""
    here: tuple[str, ...] | None = None
    """The current project under all its paths: memories of other projects rank lower ..."""
    only_here: bool = False
    """... or, unless they only tell what happened, are left out."""


Relation = Literal[
    "related_to",
    "references",
    "part_of",
    "similar_to",
    "precedes",
    "follows",
    "authored_by",
    "supersedes",
    "contradicts",
]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
# Each relation as it is called when seen from the target.
INVERSE: Mapping[str, str] = {
    "related_to": "related_to",
    "similar_to": "similar_to",
    "contradicts": "contradicts",
    "precedes": "follows",
    "follows": "precedes",
    "references": "referenced_by",
    "part_of": "has_part",
    "authored_by": "author_of",
    "supersedes": "superseded_by",
}
# What a link comes from.
MANUAL, AUTO, REFUSED = "manual", "auto", "refused"
# A tag or entity that more memories than this share proposes no links: it is too common to mean
# anything.
MOST_HOLDERS = 50
# Links need more confidence than this to be proposed. A stored link at or below it is dropped a
# week after it was last verified.
STALE_CONFIDENCE = 0.35


@dataclass(frozen=True, slots=True)
class Link:
    """One stored edge: `source` stands in `relation` to `target`."""

    source: str
    target: str
    relation: str
    weight: float = 1.0
    confidence: float = 1.0
    origin: str = MANUAL
    evidence: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    verified_at: datetime | None = None

    @property
    def ends(self) -> frozenset[str]:
        return frozenset((self.source, self.target))

    def other(self, id: str) -> str:
        """Return the end that is not `id`."""
        return self.target if self.source == id else self.source

    def seen_from(self, id: str) -> str:
        """Return what the relation is called when seen from `id`."""
        return self.relation if self.source == id else INVERSE[self.relation]


def linked(source: str, target: str, relation: str, **fields: Any) -> Link:
    """Build a link in its stored form: `follows` is turned into `precedes`, and a relation that
    reads the same from both ends runs from the lesser id to the greater."""
    if relation == "follows":
        source, target, relation = target, source, "precedes"
    elif INVERSE.get(relation) == relation and source > target:
        source, target = target, source
    return Link(source, target, relation, **fields)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A change of links that a person requests.

    With `relation` None, all links with `id` are removed.
    """

    id: str
    relation: str | None
