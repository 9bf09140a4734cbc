"""The interface of the database for finding by words and meaning, memories and what was said."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from kinmem.models import Asked, Coverage, Filters, Found, Pending, Scope, Vector, Vectors
from kinmem.models.turns import Message, Role, Session, Shown, Snapshot


class Vectored(Protocol):
    """Texts that get vectors: those of memories, and what was said."""

    def enroll(self, embedder: str, dimension: int) -> None:
        """Store vectors of this embedder from now on; every chunk without one becomes pending.

        Raises StoreError if the name is known with another dimension.
        """
        ...

    def coverage(self) -> list[Coverage]:
        """Return every enrolled embedder, the one with the best coverage first."""
        ...

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        """Return chunks that wait for a vector of this embedder, oldest first; own ones, then those
        that others share."""
        ...

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        """Store the vectors of these chunks; fresh memories stay fresh until they are settled.

        Chunks that are gone or were filled in the meantime are skipped.
        """
        ...

    def is_filled(self, embedder: str) -> bool:
        """Return whether every chunk has a vector of this embedder."""
        ...

    def vectors_of(self, embedder: str, ids: Collection[str]) -> dict[str, dict[str, Vector]]:
        """Return the vectors of own memories, or of messages, by id, then by the text of the
        chunk."""
        ...


class Index(Vectored, Protocol):
    """The words and vectors of the memories that one Kin sees."""

    def search(self, asked: Asked, filters: Filters) -> Found:
        """Return candidates by meaning and by words among those that the filters allow.

        By meaning: as in nearest. By words: those with the best BM25, and on a tie those with all
        the words first. Without words or without a vector, the other search is used alone.
        """
        ...

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        """Return (id, cosine of its nearest chunk), nearest first, at most `limit` own memories and
        at most `limit` that others share.

        Exact in small stores; above some thousand chunks recall@limit is at least 0.98.
        """
        ...

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        """Do the same as `nearest` for each of the vectors; for many of them in a fraction of the
        time."""
        ...

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        """Return the cosines of all chunks of these memories, in text order; no key if there are no
        vectors."""
        ...

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        """Return the vector of each memory's first chunk, if it has one."""
        ...

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        """Return (mark, id) of own memories whose vectors, or whose being live, changed after
        `mark`, in that order, at most `limit`. Continue from the last mark; 0 is the beginning.

        Some may occur twice, and some may be put away again. Only the latest 200,000 changes are
        known.
        """
        ...

    def unsettled(self, embedder: str, limit: int) -> list[Pending]:
        """Return the chunks of own fresh memories that have a vector of this embedder, oldest
        first."""
        ...

    def settled(self, ids: Collection[str]) -> None:
        """Record that these own memories were compared by meaning and are no longer fresh.

        Not a change: no history, no new version or revision. Others' memories are skipped.
        """
        ...

    def retire(self, embedder: str) -> None:
        """Drop an embedder's vectors. Unknown names are ignored."""
        ...


# Cuts a text into the parts that get a vector each.
Cut = Callable[[str], Sequence[str]]


class Learned(NamedTuple):
    """The present state of something that was learned from a turn."""

    state: str
    speaker: str | None


class Turns(Protocol):
    """What was said in sessions, and the durable outbox of turns to learn from."""

    def add(self, messages: Sequence[Message]) -> list[bool]:
        """Store messages that are new by (session, turn, role, part); returns which ones were."""
        ...

    def stored(self, message: Message) -> Message | None:
        """Return the message stored under the (session, turn, role, part) of this one."""
        ...

    def learnable(self, now: datetime, limit: int) -> list[Message]:
        """Return due messages that were not learned from yet, oldest first: at most `limit`
        turns, each whole, and only if all of it is due. Parked messages and the role system are
        left out."""
        ...

    def parked(self, *, after: int = 0, limit: int | None = None) -> list[Message]:
        """Return the messages for which learning has given up for now, oldest first; `after`: only
        those with greater numbers."""
        ...

    def postpone(
        self, ids: Collection[int], until: datetime | None, problem: str, *, failed: bool = True
    ) -> None:
        """Make the messages due again at `until`, or park them if that is None; counts a try if it
        `failed`."""
        ...

    def retry(self) -> int:
        """Make everything parked or postponed due now, with no tries; returns how many messages."""
        ...

    def before(self, message: Message, limit: int) -> list[Message]:
        """Return the last `limit` messages of its session that were stored before it, in order."""
        ...

    def after(self, message: Message, limit: int) -> list[Message]:
        """Return the first `limit` messages of its session that were stored after it, in order."""
        ...

    def latest(self, session: str, role: Role) -> Message | None:
        """Return the last message of that role in a session."""
        ...

    def messages(
        self,
        session: str,
        *,
        uncompacted: bool = False,
        but: int | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Message]:
        """Return what was said in a session, in order. `uncompacted`: only messages that no
        snapshot stands for, except snapshot `but`. `after`: only messages with greater numbers."""
        ...

    def became(
        self, session: str, *, after: str = "", limit: int | None = None
    ) -> Mapping[str, Sequence[str]]:
        """Return by turn the ids of the own memories that were learned from it, in any state, in
        the order of the ids; `after`: only greater ids."""
        ...

    def sessions(self, limit: int | None = 50) -> list[Session]:
        """Return the latest sessions, the one last spoken in first; with None all of them."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Count sessions, turns, messages, waiting (not learned from yet, without parked ones),
        parked, snapshots and open conflicts."""
        ...


class Snapshots(Protocol):
    """Summaries that stand for turns."""

    def compact(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        """Let a new snapshot stand for these messages; returns its id.

        Does nothing and returns None unless all of them exist and no snapshot stands for any of
        them.
        """
        ...

    def fold(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        """Let a new snapshot replace older ones of its session; None if it cannot, as in
        compact."""
        ...

    def of(self, session: str | None = None) -> list[Snapshot]:
        """Return the snapshots of a session, or of all, oldest first by the messages they stand
        for."""
        ...

    def last(self, place: str | None) -> Snapshot | None:
        """Return the latest snapshot of the session last spoken in that has one; if `place` is
        given, only of sessions of that place or of an unknown one."""
        ...


class ShownNotes(Protocol):
    """What sessions were shown of the memory."""

    def note(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        """Record that this text was shown with these memories at these versions."""
        ...

    def of(self, session: str, turn: str | None = None, *, latest: int | None = None) -> Shown:
        """Return what a session, or one turn of it, was shown since forget, in order. `latest`:
        only that many of the last blocks."""
        ...

    def versions(self, session: str, *, latest: int | None = None) -> Mapping[str, int]:
        """Return the memories of `of` without the texts, which may be megabytes."""
        ...

    def texts_with(self, session: str, ids: Collection[str]) -> tuple[str, ...]:
        """Return those texts of `of` that contain any of these memories, in order."""
        ...

    def forget(self, session: str) -> None:
        """Record that the session's context was compacted, so what it was shown is no longer in
        it."""
        ...

    def ids(self, session: str, latest: int = 500) -> frozenset[str]:
        """Return the ids of the memories that the session was shown last, whatever was forgotten
        since; at most `latest`, from as many blocks."""
        ...

    def prune(self, before: datetime) -> int:
        """Delete for good what was shown in sessions without activity since `before`; returns how
        many."""
        ...


class Transcript(Vectored, Protocol):
    """The messages of people and assistants, searched like memories; tool outputs are left out.

    Nothing here is changed directly: a change to a message of Turns takes effect here in the same
    transaction, and new or changed messages wait to be indexed.
    """

    def waiting(self) -> int:
        """Return how many messages wait to be indexed."""
        ...

    def index(self, limit: int, cut: Cut) -> int:
        """Index up to `limit` waiting messages, the latest first; returns how many were processed.
        Erased ones are left out."""
        ...

    def search(self, asked: Asked, filters: Filters, session: str | None = None) -> Found:
        """Return candidates by meaning and by words, as Index.search does. Only the filters' times
        apply.

        A candidate that may read as an order to a model has trust 0. The ids are those of
        `messages`. A prompt of the last hour without an answer is left out: the question itself is
        not the answer.
        """
        ...

    def messages(self, ids: Collection[str]) -> dict[str, Message]:
        """Return messages by id, which is "turn:" and the number of the message."""
        ...

    def replies(
        self, ids: Collection[str], filters: Filters, session: str | None = None
    ) -> dict[str, Message]:
        """Return what somebody else said next in the same session, by the id of what came before.
        Limits and what is left out are as in `search`."""
        ...

    def learned(self, messages: Collection[Message]) -> Mapping[int, Sequence[Learned]]:
        """Return, by number of a message, the own memories learned from its turn or repeated in it,
        in any state, and those in the bin that it states word for word."""
        ...

    def drop(self, before: datetime, limit: int | None = None) -> int:
        """Delete messages of all roles that are older than `before` and were learned from; returns
        how many."""
        ...

    def old(self, before: datetime) -> int:
        """Return how many messages `drop` would delete."""
        ...
