"""What kinmem asks of a database about upkeep: jobs, decisions, memories' life, what is due."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from kinmem.models import LIVE, Fate, Living, Memory, Place, TierChange
from kinmem.retention import fading, retention
from kinmem.tiers import Standing, priority
from kinmem.turns import Conflict, Run

if TYPE_CHECKING:
    from kinmem.store.base import Store


class Jobs(Protocol):
    """Which jobs run for a Kin, how far they have come, and reports of those done."""

    def mark(self, name: str) -> int:
        """How far a step has come; 0: nowhere yet. See Index.changed_since."""
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


class Decisions(Protocol):
    """Which memories contradict each other, and which proposals were refused."""

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


def newer_of(store: "Store", ids: Collection[str]) -> dict[str, Memory]:
    """By id of a memory the latest live one that may have taken its place, in an open conflict.

    None where the user keeps what exists (KINMEM_CONFLICT_MODE), or the conflict was settled.
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


Round = Literal["tagged_at", "linked_at"]
"""The field of Memory that says when the step saw to it last."""


class Life(Protocol):
    """The own memories of one Kin, private and shared, that are active, stale or archived.

    What is changed is one durable transaction per call. Memories that are not at the
    version given any more are passed over: somebody has changed them, and they are seen to later.
    """

    def living(
        self, ids: Collection[str] | None = None, *, expired_by: datetime | None = None
    ) -> list[Living]:
        """All of them, in no order; those with these ids; those that expire by that moment, and
        with them what is superseded or quarantined."""
        ...

    def binned_after(self, moment: datetime) -> list[Living]:
        """Those in the bin since a moment later than that, in no order."""
        ...

    def came_by(self, ids: Collection[str]) -> dict[str, tuple[str, datetime]]:
        """What gave each of these its state last, and when: the action of a history line."""
        ...

    def to_states(self, fates: Sequence[Fate]) -> int:
        """Set states, each with a history line and its moment; how many. Raises the version."""
        ...

    def to_tiers(self, places: Sequence[Place]) -> int:
        """Set tiers, in their chunks as well, and priorities; how many.

        A change of tier is recorded. Bookkeeping: no history, no new version or revision.
        """
        ...

    def renew(self, ids: Collection[str], *, used: bool = False) -> None:
        """Compute priorities anew, and do what does not wait for the next sleep: used ones that are
        stale become active, and leave the tier archive, as does what was tagged or brought back.
        """
        ...

    def tier_changes(self, id: str) -> list[TierChange]:
        """Of an own memory, the latest first."""
        ...


class Rounds(Protocol):
    """Which memories are due, and that they have been seen to. Bookkeeping: nothing here leaves a
    history line or raises a version, since all of it can be worked out again from the memories.

    An edit of the content makes a memory due for all of them.
    """

    def unseen(self, round: Round, limit: int) -> list[Memory]:
        """Own live memories that were never seen to, the newest first."""
        ...

    def due(self, round: Round, before: datetime, limit: int) -> list[Memory]:
        """Own live memories that were last seen to before that moment, the longest ago first."""
        ...

    def holding(self, words: Collection[str], most: int) -> dict[str, list[str]]:
        """For each word the live visible memories that have it: at most so many by their title,
        then at most so many by their text, there in any of its forms. The oldest first; own
        ones before what others share."""
        ...

    def tagged(
        self, tags: Mapping[str, tuple[str, ...]], seen: Mapping[str, str], at: datetime
    ) -> int:
        """Set the automatic tags of own memories, by id; how many have changed. As linked."""
        ...

    def linked(self, seen: Mapping[str, str], at: datetime) -> None:
        """Note that the links of these own memories were seen to.

        `seen`: by id the content_hash that was; what has another by now stays due.
        """
        ...


class Rank(NamedTuple):
    """A priority, and what follows from it."""

    priority: float
    standing: Standing


def rank_of(memory: Living, now: datetime) -> Rank:
    """How a memory stands by the rules of tiers, whose decay is Kybernesis', whatever the curve."""
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
