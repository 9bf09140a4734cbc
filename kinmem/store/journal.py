"""What kinmem asks of a database about conversations. Everything in it is one Kin's own."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from kinmem.turns import Conflict, Message, Role, Run, Session, Shown, Snapshot


class Journal(Protocol):
    """The durable outbox of turns, and what was made of them.

    As with Store: every method may be called from any thread, each write is one durable
    transaction, and any method may raise StoreError.
    """

    # what was said

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

    def sessions(self, limit: int = 50) -> list[Session]:
        """The sessions spoken in most recently, the latest first."""
        ...

    def counts(self) -> Mapping[str, int]:
        """sessions, turns, messages, waiting (nothing learned yet, parked ones left out), parked,
        snapshots and open conflicts."""
        ...

    # what stands for it

    def compact(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        """Let a new snapshot stand for these messages; its id.

        None, and nothing is done, unless all of them are there and no snapshot stands for any.
        """
        ...

    def fold(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        """Let a new snapshot replace older ones of its session; None if it cannot, as compact."""
        ...

    def snapshots(self, session: str | None = None) -> list[Snapshot]:
        """The summaries of a session, or of all, oldest first by the messages they stand for."""
        ...

    def last_summary(self, place: str | None) -> Snapshot | None:
        """The latest one of the session spoken in last that has any; of `place`, if that is given,
        and of sessions whose place is unknown."""
        ...

    # what was shown of the memory

    def show(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        """Note that this text was shown with these memories at these versions."""
        ...

    def shown(self, session: str, turn: str | None = None, *, latest: int = -1) -> Shown:
        """What a session, or one turn of it, has been shown since forget_shown, in order; `latest`:
        only so many of the last blocks."""
        ...

    def versions_shown(self, session: str, *, latest: int = -1) -> Mapping[str, int]:
        """The memories of `shown` without the texts, which may be megabytes."""
        ...

    def shown_with(self, session: str, ids: Collection[str]) -> tuple[str, ...]:
        """Those texts of `shown` in which any of these memories was told, in order."""
        ...

    def forget_shown(self, session: str) -> None:
        """The session's context was compacted: what it was shown is no longer there."""
        ...

    def was_shown(self, session: str, latest: int = 500) -> frozenset[str]:
        """Ids of the memories the session was shown last, whatever was forgotten since; at most so
        many, of as many blocks."""
        ...

    def prune_shown(self, before: datetime) -> int:
        """Forget for good what was shown in sessions that have been silent since; how many."""
        ...

    # what is open, refused, running and done

    def conflicts(self, *, all: bool = False) -> list[Conflict]:
        """The open ones, or all, the latest first."""
        ...

    def close_conflict(self, id: int, status: str) -> None:
        """Note how it was resolved; unknown ids are ignored."""
        ...

    def refuse(self, kind: str, ids: Collection[str]) -> None:
        """Remember that somebody, or a model, does not want this done to these memories."""
        ...

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        """Every set of ids that was refused for this kind of step."""
        ...

    def mark(self, name: str) -> int:
        """How far a step has come; 0: nowhere yet. See Store.changed_since."""
        ...

    def set_mark(self, name: str, value: int) -> None:
        """Note how far it has come."""
        ...

    def lease(self, job: str, holder: str, seconds: float) -> bool:
        """Take or renew a lease; False while another holder's has not run out.

        A holder named pid@host/... whose process has ended on this host counts as run out.
        """
        ...

    def holder(self, job: str) -> str | None:
        """Who holds a lease that has not run out, as it was named."""
        ...

    def release(self, job: str, holder: str) -> None:
        """Give it back; nothing if it is somebody else's."""
        ...

    def record(self, run: Run) -> int:
        """Keep a report; the oldest beyond 1,000 go."""
        ...

    def runs(self, limit: int = 20, kind: str | None = None) -> list[Run]:
        """Reports, the latest first."""
        ...
