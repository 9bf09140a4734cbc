"""The interface of the database for export and import: whole rows, as they are stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

from kinmem.models import EntityType, Memory, Passage
from kinmem.models.record import Link
from kinmem.models.turns import Conflict, Message, Role, Snapshot

# Action of the history line that an import writes about each memory it adds. Exports leave it out:
# it is about this home, not about the memory.
IMPORTED = "imported"
FORMAT: Literal["kinmem"] = "kinmem"
# Version of the format. Raise it if an older kinmem would misread what this one writes.
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first record: whose memory it is, and how much follows."""

    type: Literal["header"] = "header"
    format: Literal["kinmem"] = FORMAT
    version: int = VERSION
    kin: str
    counts: Mapping[str, int]
    """How many records of each type follow."""
    last: Mapping[str, int]
    """The greatest number of a write, message, snapshot and shown note; 0 for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """A part of a memory that is searched on its own."""

    text: str
    place: Passage | None = None
    """For a document, where it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRecord:
    """An entity that the memory is about."""

    name: str
    type: EntityType
    alias: str | None = None
    """What the memory calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRecord:
    """What the memory says of two of its entities, given as name and type."""

    source: tuple[str, EntityType]
    relation: str
    target: tuple[str, EntityType]
    chunk: int
    origin: str
    confidence: float
    verified_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRecord:
    """A summary of the memory, or of one of its chunks."""

    text: str
    model: str
    tokens: int
    created_at: datetime
    tier: str
    chunk: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierText:
    """What an earlier version of a document said."""

    content_hash: str
    base: str
    """content_hash of the version that followed it."""
    at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRecord:
    """One move between tiers."""

    at: datetime
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedIn:
    """A turn that repeats the memory without it having been learned from there."""

    session: str
    turn: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the memory's history; see Event."""

    at: datetime
    action: str
    write: int
    before: Mapping[str, Any] | None = None
    """Fields in the form in which the history stores them; None: none, or erased."""
    after: Mapping[str, Any] | None = None
    reason: str | None = None
    batch: str | None = None
    reverts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """A memory, with everything that is stored for it alone."""

    type: Literal["memory"] = "memory"
    memory: Memory
    chunks: tuple[ChunkRecord, ...] | None = None
    """None: the content is its only chunk."""
    entities: tuple[EntityRecord, ...] = ()
    relations: tuple[RelationRecord, ...] = ()
    is_read: bool = True
    """Whether entities were looked for in its content."""
    summaries: tuple[SummaryRecord, ...] = ()
    parents: tuple[str, ...] = ()
    """Ids of the memories that it was made from."""
    earlier_texts: tuple[EarlierText, ...] = ()
    tiers: tuple[TierRecord, ...] = ()
    repeated_in: tuple[RepeatedIn, ...] = ()
    history: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedRecord:
    """A memory that is gone, of which the history still says what was done to it."""

    type: Literal["erased"] = "erased"
    id: str
    history: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRecord:
    """A link between two memories."""

    type: Literal["link"] = "link"
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRecord:
    """Two memories that cannot both hold, and what was decided."""

    type: Literal["conflict"] = "conflict"
    conflict: Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRecord:
    """A proposal about memories that was turned down."""

    type: Literal["refusal"] = "refusal"
    kind: str
    ids: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """A message of a conversation."""

    type: Literal["message"] = "message"
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRecord:
    """A summary that replaces turns of a session."""

    type: Literal["snapshot"] = "snapshot"
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    """What a session was shown of the memory."""

    type: Literal["shown"] = "shown"
    id: int
    session: str
    turn: str
    text: str | None
    memories: Mapping[str, int]
    at: datetime


Record: TypeAlias = (
    MemoryRecord
    | ErasedRecord
    | LinkRecord
    | ConflictRecord
    | RefusalRecord
    | MessageRecord
    | SnapshotRecord
    | ShownRecord
)
# In the order in which they follow the header.
TYPES = ("memory", "erased", "link", "conflict", "refusal", "message", "snapshot", "shown")


@dataclass(slots=True)
class Loading:
    """An import that goes on: what its later records need to know of the earlier ones."""

    batch: str
    last: Mapping[str, int]
    """See Header."""
    known_messages: dict[int, int] = field(default_factory=dict)
    """Numbers in the file -> here, of messages that were here before."""
    summarised: dict[int, list[int]] = field(default_factory=dict)
    """Number of a snapshot in the file -> numbers here of the messages that it replaces."""


class Transfer(Protocol):
    """Reads and writes all that a Kin's own file holds, except what is made from it again: vectors,
    indexes, reports of background work."""

    def records(self) -> Iterator[Header | Record]:
        """Yield everything as it was at one moment, in an order that depends on the data alone."""
        ...

    def load(self, records: Sequence[Record], loading: Loading) -> int:
        """Store these records in one transaction, and return how many were new.

        Whatever is here already stays as it is, so a repeated call changes nothing. Into an empty
        home everything comes with its numbers; otherwise numbers follow those that are used here.
        A link, conflict or refusal is new only if a memory of it is. What is loaded belongs to this
        Kin, and each new memory gets a history line `imported` with the batch's name.
        """
        ...

    def withdraw(self, batch: str, *, dry_run: bool = False) -> int:
        """Delete the messages, snapshots and shown notes that came with an import; returns how
        many. With `dry_run` only count them."""
        ...
