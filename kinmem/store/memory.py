"""What kinmem asks of a database about memories, the texts of documents, and summaries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from kinmem.models import (
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
from kinmem.turns import Batch

Sort = Literal["newest", "oldest", "importance", "used", "said"]
"""said: by Memory.said_at, the earliest first."""

EXTRACTIVE = "extractive"
"""Who wrote a summary that rules have put together."""
SHORT = 300
"""Characters; what is not longer is hardly more than two sentences."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a memory, or one of its chunks, says in short."""

    text: str
    """Empty: it was looked at, and is short enough itself."""
    model: str = EXTRACTIVE
    chunk: int | None = None
    """Position of the chunk in its memory; None: of the whole."""


class Memories(Protocol):
    """One Kin's view: its private memories and everybody's shared ones, never others' private ones.

    Methods that change a memory raise MemoryNotFound unless `kin` is its author.
    """

    kin: str

    # writing

    def add(self, drafts: Sequence[Draft], *, batch: str | None = None) -> list[str]:
        """Store all drafts, in order, in one transaction; the ids under which they stand.

        A draft whose statement this Kin has live in the same scope is not stored again: its place
        holds the id of the one that is. Drafts of one call are compared with each other as well.
        Chunks without vectors are pending. What has one `batch` can be undone together; see Past.
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
        """Set fields of Memory and give back what it is now; `version` goes up by one.

        `chunks` must come with new content; `knowledge` is what was read out of it. Nothing to
        change is no write. What others see of a shared memory follows at once, or as soon as it
        can be written. Raises VersionConflict when `if_version` is not the present one. The history
        notes `reason`, `action`, `batch` and `reverts`, as those of Event, and a new `scope` in a
        line `moved` of its own.
        """
        ...

    def apply(self, batch: Batch) -> list[str] | None:
        """All of it in one transaction, or none; the ids under which the drafts stand, as add.

        None, and nothing is done, if something was learned from one of the messages already.
        Raises VersionConflict if a memory is not at the version its change names, MemoryNotFound
        if it is not this Kin's.
        """
        ...

    def erase(self, id: str) -> None:
        """Remove it for good: row, words, vectors, entities that nothing else is about, what the
        history and the sessions say of it, and what was said in the turns it was learned from.

        Of what was made from it, that it was, stays.
        """
        ...

    def in_bin(self, before: datetime) -> list[str]:
        """The own memories that were forgotten before that moment."""
        ...

    def purge(
        self, before: datetime, limit: int | None = None, spared: Collection[str] = ()
    ) -> int:
        """Erase own memories that were forgotten before that moment, at most so many and none that
        is spared; how many."""
        ...

    def count_use(self, ids: Iterable[str], at: datetime) -> None:
        """Note that these were recalled; may be kept in memory until flush_use.

        Not a change: no history, no new version or revision.
        """
        ...

    def flush_use(self) -> None:
        """Write what count_use has noted; what cannot be written now stays noted.

        Of own memories priority follows, and what was stale or put away comes back; see Life.renew.
        """
        ...

    # reading

    def get(self, id: str) -> Memory:
        """A visible memory in whatever state. Raises MemoryNotFound."""
        ...

    def memories(self, ids: Collection[str]) -> dict[str, Memory]:
        """The visible ones among these, by id, in whatever state."""
        ...

    def page(self, filters: Filters, sort: Sort, limit: int, cursor: str | None = None) -> Page:
        """One page in the given order, ties by id. Raises InvalidInput for a foreign cursor."""
        ...

    def same_statements(self, drafts: Sequence[Draft]) -> list[str | None]:
        """For each draft the id of a live memory of this Kin that states the same. What others
        share counts for nothing: they may change it, or take it back.

        The same: equal content_hash and occurred_at, and a subject and a speaker, each unless the
        draft has none, that agree without regard to case; and it holds where the draft holds.
        """
        ...

    def names(self) -> frozenset[str]:
        """Who is known by name: speakers of visible memories and authors of shared ones, as
        text.folded gives them; the roles user, assistant, tool and system are nobody's name.
        """
        ...

    def subjects(self, prefix: str, limit: int) -> list[str]:
        """Subjects of live visible memories that begin so (case ignored), most used first."""
        ...

    def places(self) -> list[str]:
        """Paths of the projects that visible memories belong to."""
        ...

    def said_in_places(self, least: int) -> list[list[Memory]]:
        """Own memories of any state that say the same of the same subject by the same speaker,
        without regard to case and punctuation, where that is live in at least so many places; the
        oldest of each first."""
        ...

    def unplaced(self) -> list[Memory]:
        """What an earlier version has learned, with the folder of its session behind a `?` as its
        place: whether it belongs to a project is still to be found out."""
        ...

    def set_places(self, places: Mapping[str, str | None]) -> None:
        """Say so, by id. It is no change of a memory, and has no line in its history."""
        ...

    def parents(self, id: str) -> list[str]:
        """Ids of what a memory was made from; they may be gone."""
        ...

    def entities(self, id: str) -> list[Entity]:
        """Who and what a visible memory is about, by name."""
        ...

    def history(self, id: str, limit: int = 100) -> list[Event]:
        """What happened to a visible memory, newest first; of what others share, nothing."""
        ...

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """How many visible memories there are, by state, scope, category, author (`kin`) and
        tier."""
        ...

    @property
    def revision(self) -> tuple[int, ...]:
        """Changes whenever anything that recall reads has changed, by whichever process."""
        ...


class Documents(Protocol):
    """The texts of one Kin's documents and of those that are shared with it."""

    def text(self, id: str, version: str | None = None) -> str:
        """The whole text of a document; of an earlier version that the history names by its
        content_hash. Of any other memory its content.

        Raises MemoryNotFound if it is not visible, or has no such version any more.
        """
        ...

    def readable(self, id: str) -> str:
        """The whole text of a visible document, with a note in place of what is held back."""
        ...

    def parts(self, id: str, first: int = 0, most: int = 100) -> list[tuple[Passage, str]]:
        """The chunks of a visible document from that position on, each with where it stands; with
        a negative `most` all of them.

        A chunk may repeat the end of the one before.
        """
        ...

    def by_source(self, source_ref: str) -> Memory | None:
        """The own document, in use, archived or quarantined, that came from there last."""
        ...


class Summaries(Protocol):
    """The summaries of what one Kin sees. Writing them is no change: no history, no new version."""

    def of(self, ids: Collection[str]) -> Mapping[str, str]:
        """By id: of each of these visible memories that has one."""
        ...

    def parts(self, id: str) -> list[Summary]:
        """Of the chunks of a visible memory, in order."""
        ...

    def due(self, limit: int | None) -> list[str]:
        """Ids of own live memories too long to need none that have no summary, or one that was made
        of another content or in another tier; the oldest first; with None all of them."""
        ...

    def put(self, memory: Memory, summaries: Sequence[Summary]) -> bool:
        """These in place of all that an own memory has, made of it as it was read; False, and they
        are not stored: it is gone, or has another content by now. One must be of the whole.
        """
        ...
