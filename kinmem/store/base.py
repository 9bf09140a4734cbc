"""What kinmem asks of a database. The contract test in tests/store/contract.py defines it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from kinmem.models import (
    Asked,
    Chunks,
    Coverage,
    Draft,
    Entity,
    Event,
    Filters,
    Found,
    Health,
    Knowledge,
    Memory,
    Page,
    Pending,
    Scope,
    Vector,
    Vectors,
)
from kinmem.store.documents import Documents
from kinmem.store.forgetting import Forgetting
from kinmem.store.graph import Graph
from kinmem.store.journal import Journal
from kinmem.store.life import Life
from kinmem.store.links import Links
from kinmem.store.rounds import Rounds
from kinmem.store.summaries import Summaries
from kinmem.store.transcript import Transcript
from kinmem.store.undo import Past
from kinmem.turns import Batch

Sort = Literal["newest", "oldest", "importance", "used", "said"]
"""said: by Memory.said_at, the earliest first."""


class Store(Protocol):
    """One Kin's view: its private memories and everybody's shared ones, never others' private ones.

    Every method may be called from any thread. Each write is one durable transaction together with
    its history line; when it returns, kill -9 and power loss do not undo it. Any method may raise
    StoreError, `storage_busy` after five seconds of waiting for another process.
    Methods that change a memory raise MemoryNotFound unless `kin` is its author.
    """

    kin: str

    @property
    def journal(self) -> Journal:
        """This Kin's conversations."""
        ...

    @property
    def transcript(self) -> Transcript:
        """The same, searched."""
        ...

    @property
    def documents(self) -> Documents:
        """The texts of documents."""
        ...

    @property
    def summaries(self) -> Summaries:
        """What memories say in short."""
        ...

    @property
    def life(self) -> Life:
        """How this Kin's memories stand: retention, states, tiers."""
        ...

    @property
    def links(self) -> Links:
        """How memories hang together."""
        ...

    @property
    def graph(self) -> Graph:
        """Entities and how they stand to each other."""
        ...

    @property
    def rounds(self) -> Rounds:
        """Which memories are due to be tagged and linked."""
        ...

    @property
    def past(self) -> Past:
        """What this Kin has done to its memories."""
        ...

    @property
    def forgetting(self) -> Forgetting:
        """What is held of a name, and how it goes."""
        ...

    # writing

    def add(self, drafts: Sequence[Draft], *, batch: str | None = None) -> list[str]:
        """Store all drafts, in order, in one transaction per scope; the ids under which they stand.

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
        change is no write. A new `scope` moves the memory under the same id: it is in the target
        before it leaves the source. Raises VersionConflict when `if_version` is not the present
        one. The history notes `reason`, `action`, `batch` and `reverts`, as those of Event.
        """
        ...

    def apply(self, batch: Batch) -> list[str] | None:
        """All of it in one transaction, or none; the ids under which the drafts stand, as add.

        None, and nothing is done, if something was learned from one of the messages already.
        Raises VersionConflict if a memory is not at the version its change names, MemoryNotFound
        if it is not this Kin's in that scope. Messages and conflicts need the private scope.
        """
        ...

    def erase(self, id: str) -> None:
        """Remove it for good: row, words, vectors, entities that nothing else is about, what the
        history and the journal say of it, and what was said in the turns it was learned from.

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

    def search(self, asked: Asked, filters: Filters) -> Found:
        """Candidates by meaning and by words, among what the filters allow.

        By meaning as nearest. By words those with the best BM25, and among equals those first that
        contain all of them. Without words, or without a vector, the other arm answers alone.
        """
        ...

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        """(id, cosine of its nearest chunk), nearest first, at most `limit` per scope.

        Exact in small stores; above some thousand chunks recall@limit is at least 0.98.
        """
        ...

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        """As `nearest`, for each of the vectors; for many of them in a fraction of the time."""
        ...

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        """Cosine of every chunk of these memories, in the order of the text; no vectors, no key."""
        ...

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        """The vector of the first chunk of each of these memories that has one."""
        ...

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        """(mark, id) of the memories whose vectors, or whether they are live, have changed since,
        in that order, at most `limit`: go on from the last mark. 0: from the beginning.

        Some may be here twice, and some put away again. Only the latest 200,000 changes are known.
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
        """What happened to a visible memory, newest first."""
        ...

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """How many visible memories there are, by state, scope, category, author (`kin`) and
        tier."""
        ...

    @property
    def revision(self) -> tuple[int, ...]:
        """Changes whenever anything that recall reads has changed, by whichever process."""
        ...

    # vectors

    def enroll(self, embedder: str, dimension: int) -> None:
        """Keep vectors of this embedder from now on; every chunk without one becomes pending.

        Raises StoreError if the name is known with another dimension.
        """
        ...

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        """Chunks that wait for a vector of this embedder, oldest first; own and shared ones."""
        ...

    def is_filled(self, embedder: str) -> bool:
        """Whether every chunk has a vector of this embedder."""
        ...

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        """Store the vectors of these chunks; fresh memories stay so until they are settled.

        Chunks that are gone or were filled meanwhile are passed over.
        """
        ...

    def unsettled(self, embedder: str, limit: int) -> list[Pending]:
        """Chunks of own fresh memories that have their vector of this embedder, oldest first."""
        ...

    def settled(self, ids: Collection[str]) -> None:
        """These own memories were compared by meaning: they are fresh no longer.

        Not a change: no history, no new version or revision. Others' are passed over.
        """
        ...

    def coverage(self) -> list[Coverage]:
        """Every enrolled embedder, the best covered first."""
        ...

    def retire(self, embedder: str) -> None:
        """Drop an embedder's vectors. Unknown names are ignored."""
        ...

    def health(self) -> list[Health]:
        """Every file, examined. Takes as long as reading them."""
        ...

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        """Keep the files in order until `is_over`; what was done, by name. Changes no memory."""
        ...

    def close(self) -> None:
        """Write what is buffered and let go of the files. A second call does nothing."""
        ...
