"""What kinmem asks of a database about sessions: what was said, what stands for it in short, what
was shown of the memory, and searching it all. Everything in it is one Kin's own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from kinmem.models import Asked, Filters, Found
from kinmem.store.index import Vectored
from kinmem.turns import Message, Role, Session, Shown, Snapshot

Cut = Callable[[str], Sequence[str]]
"""The parts of a text that get a vector each."""


class Learned(NamedTuple):
    """What became of something learned from a turn."""

    state: str
    speaker: str | None


class Turns(Protocol):
    """What was said in sessions, and the durable outbox of what nothing was learned from yet."""

    def add(self, messages: Sequence[Message]) -> list[bool]:
        """Store what is not there yet by (session, turn, role, part); which ones were new."""
        ...

    def stored(self, message: Message) -> Message | None:
        """What is stored by the (session, turn, role, part) of this one."""
        ...

    def learnable(self, now: datetime, limit: int) -> list[Message]:
        """What nothing was learned from yet and is due, oldest first: `limit` turns at most, each
        whole, as long as all of it is due. Parked messages are left out, and the role system."""
        ...

    def parked(self) -> list[Message]:
        """What learning has given up for now, oldest first."""
        ...

    def postpone(
        self, ids: Collection[int], until: datetime | None, problem: str, *, failed: bool = True
    ) -> None:
        """Due again at `until`, parked if that is None; a try is counted if it `failed`."""
        ...

    def retry(self) -> int:
        """Let everything parked or postponed be due now, with its tries forgotten; how many."""
        ...

    def before(self, message: Message, limit: int) -> list[Message]:
        """The last messages of its session that were stored before it, in order."""
        ...

    def after(self, message: Message, limit: int) -> list[Message]:
        """The first messages of its session that were stored after it, in order."""
        ...

    def latest(self, session: str, role: Role) -> Message | None:
        """The last message of that role in a session."""
        ...

    def messages(
        self, session: str, *, uncompacted: bool = False, but: int | None = None
    ) -> list[Message]:
        """What was said in a session, in order; `uncompacted`: what no snapshot stands for, `but`
        that one."""
        ...

    def sessions(self, limit: int | None = 50) -> list[Session]:
        """The sessions spoken in most recently, the latest first; with None all of them."""
        ...

    def counts(self) -> Mapping[str, int]:
        """sessions, turns, messages, waiting (nothing learned yet, parked ones left out), parked,
        snapshots and open conflicts."""
        ...


class Snapshots(Protocol):
    """Summaries that stand for turns."""

    def compact(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        """Let a new snapshot stand for these messages; its id.

        None, and nothing is done, unless all of them are there and no snapshot stands for any.
        """
        ...

    def fold(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        """Let a new snapshot replace older ones of its session; None if it cannot, as compact."""
        ...

    def of(self, session: str | None = None) -> list[Snapshot]:
        """The summaries of a session, or of all, oldest first by the messages they stand for."""
        ...

    def last(self, place: str | None) -> Snapshot | None:
        """The latest one of the session spoken in last that has any; of `place`, if that is given,
        and of sessions whose place is unknown."""
        ...


class ShownNotes(Protocol):
    """What sessions were shown of the memory."""

    def note(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        """Note that this text was shown with these memories at these versions."""
        ...

    def of(self, session: str, turn: str | None = None, *, latest: int | None = None) -> Shown:
        """What a session, or one turn of it, has been shown since forget, in order; `latest`:
        only so many of the last blocks."""
        ...

    def versions(self, session: str, *, latest: int | None = None) -> Mapping[str, int]:
        """The memories of `of` without the texts, which may be megabytes."""
        ...

    def texts_with(self, session: str, ids: Collection[str]) -> tuple[str, ...]:
        """Those texts of `of` in which any of these memories was told, in order."""
        ...

    def forget(self, session: str) -> None:
        """The session's context was compacted: what it was shown is no longer there."""
        ...

    def ids(self, session: str, latest: int = 500) -> frozenset[str]:
        """Ids of the memories the session was shown last, whatever was forgotten since; at most so
        many, of as many blocks."""
        ...

    def prune(self, before: datetime) -> int:
        """Forget for good what was shown in sessions that have been silent since; how many."""
        ...


class Transcript(Vectored, Protocol):
    """The messages of people and assistants, searched as memories are; tools' outputs are not.

    Nothing of it is changed by hand: what becomes of a message of Turns becomes of it here
    in the same transaction, and what is new or has changed waits to be indexed.
    """

    def waiting(self) -> int:
        """How many messages are to be indexed."""
        ...

    def index(self, limit: int, cut: Cut) -> int:
        """Index up to `limit` waiting messages, the latest first; how many were seen to. What was
        erased is left out."""
        ...

    def search(self, asked: Asked, filters: Filters, session: str | None = None) -> Found:
        """Candidates by meaning and by words, as Index.search. Of the filters times apply only.

        Of trust 0 is what may read as an order to a model.

        Their ids are those of `messages`. A prompt of the last hour to which nothing was said yet
        is not among them: who asks now is not the answer.
        """
        ...

    def messages(self, ids: Collection[str]) -> dict[str, Message]:
        """By id, which is "turn:" and the number of the message."""
        ...

    def learned(self, messages: Collection[Message]) -> Mapping[int, Sequence[Learned]]:
        """By number of a message the own memories learned from its turn or repeated in it, in
        whatever state, and those in the bin whose statement it says word for word."""
        ...

    def drop(self, before: datetime, limit: int | None = None) -> int:
        """Delete what was said before, in all roles, and was learned from; how many messages."""
        ...

    def old(self, before: datetime) -> int:
        """How many messages `drop` would delete."""
        ...
