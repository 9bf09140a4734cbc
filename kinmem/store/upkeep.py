"""The interface of the database for upkeep: jobs, decisions, the life cycle of memories, what is
due."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from kinmem.life.retention import fading, retention
from kinmem.life.tiers import Standing, priority
from kinmem.models import LIVE, Fate, Living, Memory, Place, TierChange
from kinmem.models.turns import Conflict, Run

if TYPE_CHECKING:
    from kinmem.store.base import Store


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


def newer_of(store: "Store", ids: Collection[str]) -> dict[str, Memory]:
    """Return by id of a memory the latest live one that may have superseded it, in an open
    conflict.

    No entry if the user keeps what exists (KINMEM_CONFLICT_MODE), or if the conflict was settled.
    """
    open_ones = [
        one
        for one in store.decisions.conflicts()
        if one.older in ids and one.mode != "keep_existing"
    ]
    found = store.memories({one.newer for one in open_ones}) if open_ones else {}
    newer: dict[str, Memory] = {}
    for one in open_ones:
        memory = found.get(one.newer)
        if memory is None or memory.state not in LIVE:
            continue
        known = newer.get(one.older)
        if known is None or (known.said_at, known.id) < (memory.said_at, memory.id):
            newer[one.older] = memory
    return newer


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


class Rank(NamedTuple):
    """A priority, and what follows from it."""

    priority: float
    standing: Standing


def rank_of(memory: Living, now: datetime) -> Rank:
    """Return the rank of a memory by the rules of tiers. Their decay is Kybernesis', whatever the
    curve."""
    known = fading(memory, now)
    worth = priority(
        importance=memory.importance,
        set_priority=memory.set_priority,
        uses=memory.recalled_count,
        relations=known.relations,
        idle_days=known.idle_days,
        trust=memory.trust,
    )
    standing = Standing(
        tier=memory.tier,
        reason=memory.tier_reason,
        priority=worth,
        decay=1 - retention(known, "kybernesis"),
        idle_days=known.idle_days,
        relations=known.relations,
        recent_links=memory.recent_links,
        pinned=memory.pinned,
        is_tagged=memory.is_tagged,
        archived=memory.state == "archived",
    )
    return Rank(worth, standing)
