"""A step of upkeep: what hardly matters and was never used goes into the bin."""

from collections import Counter
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import Memory, State
from kinmem.store.base import Store
from kinmem.upkeep.daily import Calendar, change_all, once_a_day
from kinmem.upkeep.reading import ANY_LIVE, read_live
from kinmem.upkeep.recalibrate import TOLD

STEP = "prune"
KEPT = ((1.0, timedelta(days=60)), (2.0, timedelta(days=90)))
"""Importance up to which, and for how long unused (the seeds)."""


def prune(store: Store, clock: Clock) -> Counter[str]:
    """Put own memories into the bin that hardly matter and were never used; counts pruned.

    Importance at most 1 after 60 days, at most 2 after 90. Never what is pinned, shared, has no
    importance, or was told by a person, itself or a memory it was merged from. They can be restored
    for KINMEM_PURGE_DAYS. At most once a day, and not by a clock that cannot be right.
    """
    return once_a_day(store, STEP, lambda: _pruned(store, clock()))


def _pruned(store: Store, now: datetime) -> Counter[str]:
    calendar, idle = Calendar(now), list[Memory]()
    for memory in read_live(store, filters=ANY_LIVE):
        calendar.saw(memory)
        if memory.kin == store.kin and is_idle(memory, now):
            idle.append(memory)
    calendar.check()
    fields = {"state": State.DELETED, "deleted_at": now}
    why = "of little importance and never used"
    gone = [(memory, fields, why) for memory in idle if not _was_told(store, memory)]
    return Counter(pruned=change_all(store, gone, "pruned"))


def is_idle(memory: Memory, now: datetime) -> bool:
    """Whether a memory may be pruned, by what it says of itself."""
    if memory.importance is None or memory.pinned or memory.scope == "shared":
        return False
    if memory.channel in TOLD or memory.recalled_count or memory.recalled_at:
        return False
    idle = now - max(memory.created_at, memory.content_updated_at)
    return any(memory.importance <= most and idle > time for most, time in KEPT)


def _was_told(store: Store, memory: Memory) -> bool:
    """Whether a person told one of those it was made from; what is gone may have been told."""
    waiting, seen = store.parents(memory.id), set[str]()
    while waiting:
        seen.update(waiting)
        known = store.memories(waiting)
        if any(id not in known or known[id].channel in TOLD for id in waiting):
            return True
        waiting = [parent for id in waiting for parent in store.parents(id) if parent not in seen]
    return False
