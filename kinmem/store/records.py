"""The interface of the database for export, import and backups: whole rows, as they are stored, and
all files of a home at one moment, whoever's they are.

Only backups look at a home as a whole. They copy, count and compare; they show nobody what another
Kin's memories say.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from kinmem.models import EntityType, Memory, Passage
from kinmem.models.record import Link
from kinmem.models.turns import Conflict, Message, Role, Snapshot

if TYPE_CHECKING:
    from kinmem.store.base import Store

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


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of one database file."""

    schema: int
    memories: int
    turns: int
    problems: tuple[str, ...]
    """Damage that was found, in a few words each; empty if the file is sound."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One memory as a file of the home has it now, and as a backup has it."""

    now: str | None
    """The beginning of its text; None: it is not there."""
    then: str | None
    fields: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Other fields that differ, each as it is now and as it was then."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """What a restore would do to one file: ids of memories, and numbers of messages."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    turns_added: int = 0
    turns_removed: int = 0
    differences: Mapping[str, Difference] = field(default_factory=dict)
    """Of all these memories, by id."""

    @property
    def is_empty(self) -> bool:
        counts = self.turns_added + self.turns_removed
        return not (self.added or self.removed or self.changed or counts)


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of a damaged file."""

    before: int
    """Memories in it."""
    after: int
    brought: tuple[str, ...]
    """What was brought back, and from where, in a few words each."""
    lost: tuple[str, ...]
    """What nothing else holds."""


Earlier = Callable[[], Iterator[tuple[str, Path]]]
"""Yields copies of a file from backups, each with the backup's name, the latest first."""


class HomeFiles(Protocol):
    """The database files of a home. Names are paths below it, as `kins/ana.db`."""

    @property
    def schema(self) -> int:
        """The version that this kinmem writes."""
        ...

    def names(self, home: Path) -> list[str]:
        """Return the names of the files that a home, or a folder of copies, has."""
        ...

    def taken(self, home: Path) -> AbstractContextManager[bool]:
        """Keep other processes out of the home during the block if a lock file does so, and return
        whether it does. Raises StoreError, storage_busy."""
        ...

    def copy(
        self,
        home: Path,
        folder: Path,
        *,
        locked: Path | None = None,
        stopping: Callable[[], bool] = bool,
    ) -> Mapping[str, str]:
        """Copy all files into an empty folder, as they are together at one moment, while others go
        on writing. `locked` is a file that the caller has locked for writing.

        Returns the files that are so damaged that they cannot be copied, each with the reason.
        Raises StoreError; storage_busy also if `stopping` returns True.
        """
        ...

    def facts(self, path: Path, *, thorough: bool = True) -> FileFacts:
        """Count what is in a file that nobody has open; if `thorough`, also look for damage."""
        ...

    def changes(self, present: Path | None, copy: Path) -> FileChanges:
        """Compare a file of the home, if there is one, with the copy that would replace it."""
        ...

    def alone(self, home: Path) -> AbstractContextManager["Replaceable"]:
        """Lock out everybody from all files of a home. Raises StoreError, storage_busy while a
        process has one of them open."""
        ...

    def damage(self, path: Path) -> list[str]:
        """Look at everything in a copy that nobody has open; returns what is wrong, in a few words
        each. An older copy is upgraded by this."""
        ...

    def salvage(
        self, copy: Path, target: Path, backups: Earlier, gone: Collection[str] = ()
    ) -> Mended:
        """Write into a new file what is sound in a copy, and what the history or one of the
        `backups` knows of what is not. Nothing about the memories in `gone` comes from backups."""
        ...

    def claim(self, home: Path, names: Collection[str]) -> None:
        """Let all copies of what is shared be published again, since files of different moments
        have come together."""
        ...

    def opened(self, folder: Path, kin: str) -> AbstractContextManager["Store"]:
        """Open the memory of a Kin in a folder of copies, upgrading it if needed; on leaving, all
        is in the files themselves, and nothing erased is left in them."""
        ...

    def missing(self, home: Path) -> Mapping[str, int | None]:
        """Return how many of the writes that were answered each file lacks; None if all of it is
        gone. Files that lack nothing are left out."""
        ...

    def accept(self, home: Path, name: str) -> None:
        """Take a file as it is, whatever it lacks."""
        ...

    def erased(self, home: Path, kin: str) -> set[str]:
        """Return the ids of the memories that the history of a Kin says are erased for good."""
        ...

    def erased_turns(self, home: Path, kin: str) -> Sequence[tuple[int, str]]:
        """Return number and session of the messages whose text was erased."""
        ...

    def erase_turns(self, folder: Path, kin: str, turns: Sequence[tuple[int, str]]) -> int:
        """Erase the text of those of these messages that a copy still has; returns how many."""
        ...

    def ids(self, path: Path, among: Collection[str]) -> set[str]:
        """Return those of these memories that a file of any schema has."""
        ...


class Replaceable(Protocol):
    """The files of a home, nobody else having them open."""

    def copy(self, folder: Path) -> Mapping[str, str]:
        """Copy all of them into an empty folder; see HomeFiles.copy."""
        ...

    def replace(self, name: str, copy: Path) -> None:
        """Let a file hold what a copy holds, as a whole or not at all."""
        ...
