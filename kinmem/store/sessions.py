"""The interface of the database for sessions: what was said, its summaries, what was shown of the
memory, and search. All of it belongs to one Kin."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from kinmem.models import Asked, Filters, Found
from kinmem.models.turns import Message, Role, Session, Shown, Snapshot
from kinmem.store.index import Vectored

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

    def parked(self) -> list[Message]:
        """Return the messages for which learning has given up for now, oldest first."""
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
        self, session: str, *, uncompacted: bool = False, but: int | None = None
    ) -> list[Message]:
        """Return what was said in a session, in order. `uncompacted`: only messages that no
        snapshot stands for, except snapshot `but`."""
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
