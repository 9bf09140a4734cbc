"""A step of upkeep: what hardly matters and was never used goes into the bin."""

from collections import Counter
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import LIVE, Living, Memory, State
from kinmem.settings.life import Prune
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import TOGETHER, change_all, check_clock, is_undone, once_a_day
from kinmem.upkeep.told import from_person, was_told

STEP = "prune"
KEPT = ((1.0, timedelta(days=60)), (2.0, timedelta(days=90)))
"""Importance up to which, and for how long unused (the seeds)."""


def prune(
    store: Store, wanted: Prune, clock: Clock, allowance: Allowance, counts: Counter[str]
) -> None:
    """Put own memories into the bin that hardly matter and were never used; counts pruned.

    Only if it is wanted as KinBot does it: importance at most 1 after 60 days, at most 2 after 90.
    Never what is pinned, shared, has no importance, or was told by a person, itself or a memory it
    was merged from; not for 30 days what somebody brought back by undo. They can be restored for
    KINMEM_PURGE_DAYS. At most once a day, and not by a clock that cannot be right.
    """
    if wanted != "kinbot":
        return
    now = clock()
    once_a_day(
        store.journal,
        STEP,
        now,
        allowance,
        counts,
        lambda: _prune(store, now, allowance, counts),
    )


def _prune(store: Store, now: datetime, allowance: Allowance, counts: Counter[str]) -> None:
    memories = [one for one in store.life.living() if one.state in LIVE]
    check_clock(memories, now)
    fields = {"state": State.DELETED, "deleted_at": now}
    idle = [one for one in memories if is_idle(one, now)]
    for start in range(0, len(idle), TOGETHER):
        if allowance.is_over():
            return
        part = idle[start : start + TOGETHER]
        came_by = store.life.came_by([one.id for one in part])
        gone = [
            (one, fields, "of little importance and never used")
            for one in part
            if not (is_undone(came_by.get(one.id), now) or was_told(store, one))
        ]
        counts["pruned"] += change_all(store, gone, "pruned", allowance)


def is_idle(memory: Memory | Living, now: datetime) -> bool:
    """Whether a memory may be pruned, by what it says of itself."""
    if memory.importance is None or memory.pinned or memory.scope == "shared":
        return False
    if from_person(memory) or memory.recalled_count or memory.recalled_at:
        return False
    idle = now - max(memory.created_at, memory.content_updated_at)
    return any(memory.importance <= most and idle > time for most, time in KEPT)
