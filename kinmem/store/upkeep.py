"""The interface of the database for upkeep: jobs, decisions, the life cycle of memories, what is
due."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from kinmem.models import Fate, Living, Memory, Place, TierChange
from kinmem.models.turns import Conflict, Run


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

        If a holder is named pid@host/... and its process has ended on this host, its lease is not
        valid.
        """
        ...

    def holder(self, job: str) -> str | None:
        """Return the name of the holder of a valid lease."""
        ...

    def release(self, job: str, holder: str) -> None:
        """Release a lease; does nothing if another holder has it."""
        ...

    def record(self, run: Run) -> int:
        """Store a report; the oldest beyond 1,000 are deleted."""
        ...

    def runs(self, limit: int = 20, kind: str | None = None) -> list[Run]:
        """Return reports, the latest first."""
        ...


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
