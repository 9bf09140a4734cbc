"""The interface of the database. The contract test in tests/store/contract.py defines it.

It consists of small protocols, one for each purpose; ask for the narrowest. What backups ask of the
files of a home is in kinmem/backup/__init__.py.
"""

import os
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import lru_cache
from secrets import token_hex
from typing import Literal, Protocol, TypeVar

from kinmem.models import Damaged, Fate, Health, Living, Memory, Place, TierChange
from kinmem.models.turns import Conflict, Run
from kinmem.store.graph import Graph, Links
from kinmem.store.history import Changes, Forgetting, Past
from kinmem.store.memory import Documents, Memories, Summaries
from kinmem.store.records import Transfer
from kinmem.store.sessions import Index, ShownNotes, Snapshots, Transcript, Turns

T = TypeVar("T")


@lru_cache(maxsize=1)
def _number_of(process: int) -> str:
    return token_hex(6)


def this_process() -> str:
    """Return a name of this process, pid@host/number, that no other ever has."""
    process = os.getpid()  # another one after a fork
    return f"{process}@{socket.gethostname()}/{_number_of(process)}"


class Jobs(Protocol):
    """The jobs that run for a Kin, their progress, and reports of finished ones."""

    def mark(self, name: str) -> int:
        """Return the progress of a step; 0: none yet. See Index.changed_since."""
        ...

    def set_mark(self, name: str, value: int) -> None:
        """Store the progress of a step."""
        ...

    def lease(self, job: str, holder: str, seconds: float) -> bool:
        """Take or renew a lease; False while another holder's is valid.

        A holder is named after its process (this_process). If that has ended on this host, or was a
        server of a database and no longer says that it lives, its lease is not valid.
        """
        ...

    def holder(self, job: str) -> str | None:
        """Return the name of the holder of a valid lease."""
        ...

    def release(self, job: str, holder: str) -> None:
        """Release a lease; does nothing if another holder has it."""
        ...

    def spend(self, name: str, count: int, most: int, seconds: float) -> float:
        """Count so many uses of what there may be `most` of in so many seconds, and return 0; if
        that is too many, count none, and return the seconds after which another try is worth it.

        Processes that share a database server count together, others each for itself.
        """
        ...

    def record(self, run: Run) -> int:
        """Store a report; the oldest beyond 1,000 are deleted."""
        ...

    def runs(self, limit: int = 20, kind: str | None = None) -> list[Run]:
        """Return reports, the latest first."""
        ...


class Answers(Protocol):
    """What long calls have answered while nobody waited, until somebody asks again: any process
    that serves the Kin may give it."""

    def put(self, call: str, answer: str, seconds: float) -> None:
        """Keep an answer for so many seconds."""
        ...

    def take(self, call: str) -> str | None:
        """Return the answer and forget it; None if there is none."""
        ...


class Others(Protocol):
    """What a Kin thinks of what other Kins share: whom it does not listen to, and what it has
    confirmed."""

    def confirm(self, id: str) -> None:
        """Note that a person vouches for another Kin's memory."""
        ...

    def confirmed(self) -> frozenset[str]:
        """Return the ids of what was confirmed."""
        ...

    def mute(self, kin: str) -> None:
        """Let nothing be seen of what this Kin shares."""
        ...

    def unmute(self, kin: str) -> None:
        """Let it be seen again."""
        ...

    def muted(self) -> frozenset[str]:
        """Return the names of the Kins that are muted."""
        ...


REVIEW = "review"
"""The kind of step of which a person refuses the issues of a review."""


class Decisions(Protocol):
    """Which memories contradict each other, and which proposals were refused."""

    def conflicts(self, *, all: bool = False) -> list[Conflict]:
        """Return the open conflicts, or all, the latest first."""
        ...

    def close_conflict(self, id: int, status: str) -> None:
        """Record how a conflict was resolved; unknown ids are ignored."""
        ...

    def refuse(self, kind: str, ids: Collection[str]) -> None:
        """Record that a person or a model does not want this done to these memories."""
        ...

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        """Return every set of ids that was refused for this kind of step."""
        ...


# The field of Memory that holds the time at which the step last processed it.
Round = Literal["tagged_at", "linked_at"]


class Life(Protocol):
    """The own memories of one Kin, private and shared, that are active, stale or archived.

    Each call is one durable transaction. Memories that are no longer at the given version are
    skipped: somebody has changed them, and they are processed later.
    """

    def living(
        self, ids: Collection[str] | None = None, *, expired_by: datetime | None = None
    ) -> list[Living]:
        """Return all of them, in no particular order; or those with these ids; or those that expire
        by that moment, including superseded and quarantined ones."""
        ...

    def binned_after(self, moment: datetime) -> list[Living]:
        """Return those that were put into the bin after that moment, in no particular order."""
        ...

    def came_by(self, ids: Collection[str]) -> dict[str, tuple[str, datetime]]:
        """Return the action of the history line that last set the state of each of these, and its
        time."""
        ...

    def to_states(self, fates: Sequence[Fate]) -> int:
        """Set states, each with a history line and a time; returns how many. Raises the version."""
        ...

    def to_tiers(self, places: Sequence[Place]) -> int:
        """Set tiers, also in their chunks, and priorities; returns how many.

        A change of tier is recorded. Bookkeeping: no history, no new version or revision.
        """
        ...

    def renew(self, ids: Collection[str], *, used: bool = False) -> None:
        """Compute priorities again, and do what cannot wait for the next sleep cycle: stale
        memories that were used become active and leave the tier archive, as do those that were
        tagged or brought back."""
        ...

    def tier_changes(self, id: str) -> list[TierChange]:
        """Return the tier changes of an own memory, the latest first."""
        ...


class Rounds(Protocol):
    """Which memories are due, and when they were processed. Bookkeeping: no history line and no new
    version, since all of it can be derived from the memories again.

    An edit of its content makes a memory due for every step.
    """

    def unseen(self, round: Round, limit: int) -> list[Memory]:
        """Return own live memories that were never processed, the newest first."""
        ...

    def due(self, round: Round, before: datetime, limit: int) -> list[Memory]:
        """Return own live memories last processed before that moment, the longest ago first."""
        ...

    def holding(self, words: Collection[str], most: int) -> dict[str, list[str]]:
        """Return for each word the live visible memories that have it: at most `most` by their
        title, then at most `most` by their text, there in any form of the word. The oldest first;
        own ones before those that others share."""
        ...

    def tagged(
        self, tags: Mapping[str, tuple[str, ...]], seen: Mapping[str, str], at: datetime
    ) -> int:
        """Set the automatic tags of own memories, by id; returns how many have changed. For `seen`,
        see linked."""
        ...

    def linked(self, seen: Mapping[str, str], at: datetime) -> None:
        """Record that the links of these own memories were processed.

        `seen` holds the content_hash that was read, by id; a memory with another one by now stays
        due.
        """
        ...


class Store(Memories, Protocol):
    """The memories of one Kin, and everything else that is stored for it.

    Every method, here and in the properties below, may be called from any thread. Each write is one
    durable transaction together with its history line: once it has returned, neither kill -9 nor
    power loss undoes it. Any method may raise StoreError, `storage_busy` after waiting five seconds
    for another process.
    """

    @property
    def index(self) -> Index:
        """Search of memories by words and by meaning."""
        ...

    @property
    def documents(self) -> Documents:
        """The texts of documents."""
        ...

    @property
    def summaries(self) -> Summaries:
        """Summaries of memories."""
        ...

    @property
    def life(self) -> Life:
        """The life cycle of this Kin's memories: retention, states, tiers."""
        ...

    @property
    def rounds(self) -> Rounds:
        """Which memories are due to be tagged and linked."""
        ...

    @property
    def links(self) -> Links:
        """Links between memories."""
        ...

    @property
    def graph(self) -> Graph:
        """Entities and their relations."""
        ...

    @property
    def turns(self) -> Turns:
        """What was said in sessions."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """Summaries that stand for turns."""
        ...

    @property
    def shown(self) -> ShownNotes:
        """What sessions were shown of the memory."""
        ...

    @property
    def transcript(self) -> Transcript:
        """Search of what was said."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Jobs that run or have run for this Kin."""
        ...

    @property
    def decisions(self) -> Decisions:
        """Conflicts between memories, and refused proposals."""
        ...

    @property
    def others(self) -> "Others":
        """What this Kin thinks of what others share."""
        ...

    @property
    def past(self) -> Past:
        """What this Kin has done to its memories."""
        ...

    @property
    def answers(self) -> Answers | None:
        """What long calls have answered; None where clients always come back to one process."""
        ...

    @property
    def changes(self) -> Changes:
        """What has changed since a position."""
        ...

    @property
    def forgetting(self) -> Forgetting:
        """Finds everything about a name, and removes it."""
        ...

    @property
    def transfer(self) -> Transfer:
        """Everything as records, for export and import."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """Group the reads of this thread: whether anything has changed is checked only once, unless
        the thread itself changes something."""
        ...

    @property
    def damage(self) -> list[Damaged]:
        """What was found to be damaged, and left out, since the store was opened."""
        ...

    def health(self, *, deep: bool = False) -> list[Health]:
        """Examine every file, `deep` also what is made from memories and the history's chain. Takes
        as long as reading them."""
        ...

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        """Keep the files in order until `is_over` returns True; returns what was done, by name.
        Changes no memory."""
        ...

    def making_room(self, work: Callable[[], T]) -> T:
        """Do something that gives room back, even if the disk is full."""
        ...

    def reserve_room(self, *, begin: bool = False) -> None:
        """Keep room on the disk for `making_room`, if this process has begun to do so and the disk
        has room to spare."""
        ...

    def close(self) -> None:
        """Write what is buffered and release the files. A second call does nothing."""
        ...
