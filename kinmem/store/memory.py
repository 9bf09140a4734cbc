"""The interface of the database for memories, the texts of documents, and summaries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from kinmem.models import (
    LIVE,
    Chunks,
    Draft,
    Entity,
    Event,
    Filters,
    Knowledge,
    Memory,
    Page,
    Passage,
)
from kinmem.models.turns import Batch, Conflict

# said: by Memory.said_at, the earliest first.
Sort = Literal["newest", "oldest", "importance", "used", "said"]

# The "model" of a summary that was made by rules.
EXTRACTIVE = "extractive"
# Characters; a text up to that length hardly has more than two sentences.
SHORT = 300


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a memory, or of one of its chunks."""

    text: str
    """Empty if the text is short enough without a summary."""
    model: str = EXTRACTIVE
    chunk: int | None = None
    """Position of the chunk in its memory; None: the whole memory."""


class Memories(Protocol):
    """What one Kin sees: its private memories and everybody's shared ones, never others' private
    ones.

    Methods that change a memory raise MemoryNotFound unless `kin` is its author.
    """

    kin: str

    # writing

    def add(self, drafts: Sequence[Draft], *, batch: str | None = None) -> list[str]:
        """Store all drafts, in order, in one transaction; returns the ids under which they are
        stored.

        If this Kin has a live memory in the same scope with the same statement, the draft is not
        stored again, and that memory's id is returned in its place. Drafts of one call are also
        compared with each other. Chunks without vectors are pending. Writes with the same `batch`
        can be undone together; see Past.
        """
        ...

    def update(
        self,
        id: str,
        changes: Mapping[str, Any],
        *,
        chunks: Chunks | None = None,
        if_version: int | None = None,
        reason: str | None = None,
        action: str = "updated",
        batch: str | None = None,
        reverts: Sequence[int] = (),
        knowledge: Knowledge | None = None,
    ) -> Memory:
        """Set fields of Memory and return the updated memory; `version` goes up by one.

        `chunks` must come with new content; `knowledge` is what was extracted from it. Writes
        nothing if nothing changes. The published copy of a shared memory follows at once, or as
        soon as it can be written. Raises VersionConflict if `if_version` is not the current one.
        The history records `reason`, `action`, `batch` and `reverts` as in Event, and a new `scope`
        in a line `moved` of its own.
        """
        ...

    def apply(self, batch: Batch) -> list[str] | None:
        """Apply everything in one transaction, or nothing; returns the ids of the drafts as add
        does.

        Does nothing and returns None if one of the messages was learned from already. Raises
        VersionConflict if a memory is not at the version that its change names, MemoryNotFound if
        it is not this Kin's.
        """
        ...

    def erase(self, id: str) -> None:
        """Remove a memory for good: its row, words, vectors, entities that nothing else is about,
        what the history and the sessions say of it, and what was said in the turns it was learned
        from.

        Memories made from it keep a record that there was a source.
        """
        ...

    def in_bin(self, before: datetime) -> list[str]:
        """Return the own memories that were forgotten before that moment."""
        ...

    def purge(
        self, before: datetime, limit: int | None = None, spared: Collection[str] = ()
    ) -> int:
        """Erase own memories that were forgotten before that moment, at most `limit` and none of
        `spared`; returns how many."""
        ...

    def count_use(self, ids: Iterable[str], at: datetime) -> None:
        """Record that these were recalled; may be buffered until flush_use.

        Not a change: no history, no new version or revision.
        """
        ...

    def flush_use(self) -> None:
        """Write what count_use has buffered; what cannot be written now stays buffered.

        Own memories get new priorities, and stale or archived ones come back; see Life.renew.
        """
        ...

    # reading

    def get(self, id: str) -> Memory:
        """Return a visible memory in any state. Raises MemoryNotFound."""
        ...

    def memories(self, ids: Collection[str]) -> dict[str, Memory]:
        """Return those of these memories that are visible, by id, in any state."""
        ...

    def with_present_contexts(self, memories: Sequence[Memory]) -> list[Memory]:
        """Return the memories, in their order, as they are to be told today.

        A sentence of a source context that this Kin's memories state, and none that still holds, is
        marked if one of them was superseded, otherwise left out. What others share stays as it is.
        """
        ...

    def page(self, filters: Filters, sort: Sort, limit: int, cursor: str | None = None) -> Page:
        """Return one page in the given order, ties by id. Raises InvalidInput for a foreign
        cursor."""
        ...

    def same_statements(self, drafts: Sequence[Draft]) -> list[str | None]:
        """Return for each draft the id of a live memory of this Kin with the same statement.
        Memories shared by others do not count, since their owners may change or withdraw them.

        Two statements are the same if content_hash and occurred_at are equal, the draft's relative
        times mean the same days as the memory's (unless it tells none), subject and speaker
        agree regardless of case (each unless the draft has none), and the memory holds where the
        draft holds.
        """
        ...

    def names(self) -> frozenset[str]:
        """Return who is known by name: speakers of visible memories and authors of shared ones,
        normalised by text.folded. The roles user, assistant, tool and system are not names."""
        ...

    def subjects(self, prefix: str, limit: int) -> list[str]:
        """Return subjects of live visible memories with this prefix (ignoring case), most used
        first."""
        ...

    def places(self) -> list[str]:
        """Return the paths of the projects that visible memories belong to."""
        ...

    def said_in_places(self, least: int) -> list[list[Memory]]:
        """Return groups of own memories in any state with the same text (ignoring case and
        punctuation), subject and speaker, if they are live in at least `least` places; the oldest
        of each group first."""
        ...

    def unplaced(self) -> list[Memory]:
        """Return memories learned by an earlier version whose place is `?` and the folder of their
        session: whether they belong to a project is not known yet."""
        ...

    def set_places(self, places: Mapping[str, str | None]) -> None:
        """Set places, by id. Not a change of a memory: no line in its history."""
        ...

    def parents(self, id: str) -> list[str]:
        """Return ids of what a memory was made from; they may be gone."""
        ...

    def entities(self, id: str) -> list[Entity]:
        """Return the entities that a visible memory is about, by name."""
        ...

    def history(self, id: str, limit: int = 100, *, before: int | None = None) -> list[Event]:
        """Return what happened to a visible memory, newest first; nothing for memories that others
        share. `before`: only lines with lower numbers."""
        ...

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Count visible memories by state, scope, category, author (`kin`) and tier."""
        ...

    def growth(self) -> Mapping[str, int]:
        """Return how many visible memories were stored on each day (2026-11-24, in UTC), the
        earliest first; days without any are left out."""
        ...

    def by_hour(self) -> Mapping[str, int]:
        """Count what may be on a timeline by the hour in which it happened or was said
        (2026-11-24T08, in UTC), the earliest first."""
        ...

    @property
    def revision(self) -> tuple[int, ...]:
        """Changes whenever any process has changed something that recall reads."""
        ...


class Documents(Protocol):
    """The texts of one Kin's documents and of those that are shared with it."""

    def listed(self, limit: int) -> list[str]:
        """Return the ids of visible documents that are not in the bin, the latest first."""
        ...

    def text(self, id: str, version: str | None = None) -> str:
        """Return the whole text of a document, or that of an earlier version, which the history
        names by its content_hash; for any other memory its content.

        Raises MemoryNotFound if it is not visible, or if that version is no longer stored.
        """
        ...

    def readable(self, id: str) -> str:
        """Return the whole text of a visible document, with a note in place of what is held
        back."""
        ...

    def parts(self, id: str, first: int = 0, most: int | None = 100) -> list[tuple[Passage, str]]:
        """Return chunks of a visible document from position `first` on, each with its place; `most`
        of them, or all.

        A chunk may repeat the end of the one before.
        """
        ...

    def by_source(self, source_ref: str) -> Memory | None:
        """Return the own document last imported from there that is in use, archived or
        quarantined."""
        ...


class Summaries(Protocol):
    """The summaries of what one Kin sees. Writing them is not a change: no history, no new
    version."""

    def of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return the summaries of those of these visible memories that have one, by id."""
        ...

    def parts(self, id: str) -> list[Summary]:
        """Return the summaries of the chunks of a visible memory, in order."""
        ...

    def due(self, limit: int | None) -> list[str]:
        """Return ids of own live memories that are long and have no summary, or one of another
        content or tier; the oldest first. With None all of them."""
        ...

    def put(self, memory: Memory, summaries: Sequence[Summary]) -> bool:
        """Replace all summaries of an own memory with these, made from it as it was read. One must
        be of the whole. Returns False and stores nothing if the memory is gone or its content has
        changed."""
        ...


# As how likely a conflict counts that the form of the texts tells.
BY_FORM = 0.8


def newer_of(
    store: Memories, conflicts: Iterable[Conflict], ids: Collection[str]
) -> dict[str, Memory]:
    """Return by id of a memory the live one that most likely has superseded it, in one of the open
    conflicts; of several as likely ones the latest.

    No entry if the user keeps what exists (KINMEM_CONFLICT_MODE), or if the conflict was settled.
    """
    open_ones = [one for one in conflicts if one.older in ids and one.mode != "keep_existing"]
    found = store.memories({one.newer for one in open_ones}) if open_ones else {}
    newer: dict[str, tuple[tuple[float, datetime, str], Memory]] = {}
    for one in open_ones:
        memory = found.get(one.newer)
        if memory is None or memory.state not in LIVE:
            continue
        likely = BY_FORM if one.chance is None else one.chance
        rank = likely, memory.holds_since, memory.id
        if one.older not in newer or newer[one.older][0] < rank:
            newer[one.older] = rank, memory
    return {id: memory for id, (_, memory) in newer.items()}


def fitting_ids(store: Memories, filters: Filters, ids: Collection[str]) -> set[str]:
    """Return the ids of the memories that fit the filters."""
    if not ids:
        return set()
    asked = replace(filters, ids=tuple(ids))
    return {memory.id for memory in store.page(asked, "newest", len(ids)).memories}
