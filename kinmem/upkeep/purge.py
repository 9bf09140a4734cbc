"""Two steps of upkeep: what hardly matters goes into the bin, what lay there for long is erased."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import LIVE, Filters, Living, Memory, State
from kinmem.settings.memory_settings import Prune
from kinmem.store.base import Store
from kinmem.store.upkeep import Jobs
from kinmem.upkeep.budget import Budget
from kinmem.upkeep.lifecycle import BY_UPKEEP, from_person, was_told
from kinmem.upkeep.schedule import (
    SETTLED,
    TOGETHER,
    Calendar,
    WrongClock,
    change_all,
    check_clock,
    is_undone,
    once_a_day,
)

WITNESSES = 50
"""Memories whose times are held against the clock, of the latest and of the settled ones."""
ERASED_TOGETHER = 20
"""Erased between two looks at the budget."""
TURNS = 200
"""Messages deleted in one transaction."""
ANY = tuple(State)
SEEN, LEAPT = "purge", "purge after a leap"
"""Marks: when the bin was looked into last, and when that was the first time for long."""
LEAP, DAY = 30 * 86400, 86400
"""Seconds."""

PRUNE = "prune"
KEPT = ((1.0, timedelta(days=60)), (2.0, timedelta(days=90)))
"""Importance up to which, and for how long unused (the seeds)."""


def purge(
    store: Store,
    kept: timedelta,
    prune: Prune,
    clock: Clock,
    budget: Budget,
    counts: Counter[str],
) -> None:
    """Erase own memories that were forgotten longer than `kept` ago; counts purged.

    Only what a person has put into the bin, or let expire, and what `prune` has as it was wanted.
    It cannot be undone: nothing is done by a clock that cannot be right (counted as clock), nor for
    a day where nobody has looked into the bin for 30, or ever: time may have passed, or the clock
    has leapt.
    """
    now = clock()
    has_leapt = _has_leapt(store.jobs, now, budget.dry_run)
    binned = store.in_bin(now - kept)
    spared = _spared(store, binned, prune)
    if len(spared) == len(binned):
        return
    if has_leapt:
        counts["clock"] += 1
        return
    try:
        _check_witnesses(store, now)
    except WrongClock:
        counts["clock"] += 1
        return
    if budget.dry_run:
        counts["purged"] += len(binned) - len(spared)
        return
    while not budget.is_over() and (erased := store.purge(now - kept, ERASED_TOGETHER, spared)):
        counts["purged"] += erased


def _spared(store: Store, binned: Collection[str], prune: Prune) -> set[str]:
    """What upkeep has put into the bin although nobody wanted it, or a person had told it."""
    came_by = store.life.came_by(binned)
    by_upkeep = [id for id in binned if id in came_by and came_by[id][0] in BY_UPKEEP]
    known = store.memories(by_upkeep)
    return {id for id in by_upkeep if prune == "off" or id in known and was_told(store, known[id])}


def drop_turns(
    store: Store, kept: timedelta, clock: Clock, budget: Budget, counts: Counter[str]
) -> None:
    """Delete what was said longer than `kept` ago and was learned from; counts turns. Nothing by a
    clock that may be wrong, as purge. No time: what was said is kept."""
    now = clock()
    if not kept or not (old := store.transcript.old(now - kept)):
        return
    try:
        if _has_leapt(store.jobs, now, budget.dry_run):
            raise WrongClock
        _check_witnesses(store, now)
    except WrongClock:
        counts["clock"] += 1
        return
    if budget.dry_run:
        counts["turns"] += old
        return
    while not budget.is_over() and (dropped := store.transcript.drop(now - kept, TURNS)):
        counts["turns"] += dropped


def _has_leapt(jobs: Jobs, now: datetime, dry_run: bool) -> bool:
    """Whether it is less than a day that the time went on by more than 30 at once, or was noted for
    the first time; notes the time."""
    at, last, leapt = int(now.timestamp()), jobs.mark(SEEN), jobs.mark(LEAPT)
    if not last or at - last > LEAP:
        leapt = at
        if not dry_run:
            jobs.set_mark(LEAPT, leapt)
    if not dry_run and not 0 <= at - last < DAY:
        jobs.set_mark(SEEN, at)
    return 0 <= at - leapt < DAY


def _check_witnesses(store: Store, now: datetime) -> None:
    """Raises WrongClock; see Calendar."""
    calendar = Calendar(now)
    for filters in (Filters(states=ANY), Filters(states=ANY, until=now - SETTLED)):
        for memory in store.page(filters, "newest", WITNESSES).memories:
            calendar.saw(memory)
    calendar.check()


def prune(store: Store, wanted: Prune, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
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
        store.jobs,
        PRUNE,
        now,
        budget,
        counts,
        lambda: _prune(store, now, budget, counts),
    )


def _prune(store: Store, now: datetime, budget: Budget, counts: Counter[str]) -> None:
    memories = [one for one in store.life.living() if one.state in LIVE]
    check_clock(memories, now)
    fields = {"state": State.DELETED, "deleted_at": now}
    idle = [one for one in memories if is_idle(one, now)]
    for start in range(0, len(idle), TOGETHER):
        if budget.is_over():
            return
        part = idle[start : start + TOGETHER]
        came_by = store.life.came_by([one.id for one in part])
        gone = [
            (one, fields, "of little importance and never used")
            for one in part
            if not (is_undone(came_by.get(one.id), now) or was_told(store, one))
        ]
        counts["pruned"] += change_all(store, gone, "pruned", budget)


def is_idle(memory: Memory | Living, now: datetime) -> bool:
    """Whether a memory may be pruned, by what it says of itself."""
    if memory.importance is None or memory.pinned or memory.scope == "shared":
        return False
    if from_person(memory) or memory.recalled_count or memory.recalled_at:
        return False
    idle = now - max(memory.created_at, memory.content_updated_at)
    return any(memory.importance <= most and idle > time for most, time in KEPT)
