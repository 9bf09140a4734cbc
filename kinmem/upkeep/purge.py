"""Two steps of upkeep: unimportant memories go into the bin, and old content of the bin is
erased."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import LIVE, Filters, Living, Memory, State
from kinmem.settings.memory_settings import Prune
from kinmem.store.base import Jobs, Store
from kinmem.upkeep.daily import (
    SETTLED,
    TOGETHER,
    Calendar,
    WrongClock,
    change_all,
    check_clock,
    is_undone,
    once_a_day,
)
from kinmem.upkeep.lifecycle import BY_UPKEEP, from_person, was_told
from kinmem.upkeep.steps import Budget

# Memories whose times are compared with the clock, both of the latest and of the settled ones.
WITNESSES = 50
# Memories erased between two checks of the budget.
ERASED_TOGETHER = 20
# Messages deleted in one transaction.
TURNS = 200
ANY = tuple(State)
# Marks: when the bin was last examined, and when that was after a long break.
SEEN, LEAPT = "purge", "purge after a leap"
# Seconds.
LEAP, DAY = 30 * 86400, 86400

PRUNE = "prune"
# Highest importance, and the time without use that it requires (the seeds).
KEPT = ((1.0, timedelta(days=60)), (2.0, timedelta(days=90)))


def purge(
    store: Store,
    kept: timedelta,
    prune: Prune,
    clock: Clock,
    budget: Budget,
    counts: Counter[str],
) -> None:
    """Erase own memories that were forgotten longer than `kept` ago; counts purged.

    Erases only what a person has put into the bin or let expire, and what pruning has, if `prune`
    wanted that. It cannot be undone, so nothing is done if the clock cannot be right (counted as
    clock), nor for a day after a first examination of the bin or one that follows a break of 30
    days: time may have passed, or the clock may have jumped.
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
    """Return what upkeep has put into the bin although nobody wanted that, or a person stated
    it."""
    came_by = store.life.came_by(binned)
    by_upkeep = [id for id in binned if id in came_by and came_by[id][0] in BY_UPKEEP]
    known = store.memories(by_upkeep)
    return {id for id in by_upkeep if prune == "off" or id in known and was_told(store, known[id])}


def drop_turns(
    store: Store, kept: timedelta, clock: Clock, budget: Budget, counts: Counter[str]
) -> None:
    """Delete messages that were learned from and are older than `kept`; counts turns. Nothing is
    done by a clock that may be wrong, as in purge. If `kept` is 0, messages are never deleted."""
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
    """Record the time, and return whether it is less than a day since it jumped by more than 30
    days, or was recorded for the first time."""
    at, last, leapt = int(now.timestamp()), jobs.mark(SEEN), jobs.mark(LEAPT)
    if not last or at - last > LEAP:
        leapt = at
        if not dry_run:
            jobs.set_mark(LEAPT, leapt)
    if not dry_run and not 0 <= at - last < DAY:
        jobs.set_mark(SEEN, at)
    return 0 <= at - leapt < DAY


def _check_witnesses(store: Store, now: datetime) -> None:
    """Raise WrongClock if stored memories contradict the clock; see Calendar."""
    calendar = Calendar(now)
    for filters in (Filters(states=ANY), Filters(states=ANY, until=now - SETTLED)):
        for memory in store.page(filters, "newest", WITNESSES).memories:
            calendar.saw(memory)
    calendar.check()


def prune(store: Store, wanted: Prune, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Put own memories that hardly matter and were never used into the bin; counts pruned.

    Only if KinBot's rule is wanted: importance at most 1 after 60 days, at most 2 after 90. Exempt
    are memories that are pinned, shared or without importance, those that a person stated (or that
    were merged from one such), and for 30 days those that were brought back by undo. They can be
    restored for KINMEM_PURGE_DAYS. Runs at most once a day, and not if the clock cannot be right.
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
    memories = [memory for memory in store.life.living() if memory.state in LIVE]
    check_clock(memories, now)
    fields = {"state": State.DELETED, "deleted_at": now}
    idle = [memory for memory in memories if is_idle(memory, now)]
    for start in range(0, len(idle), TOGETHER):
        if budget.is_over():
            return
        part = idle[start : start + TOGETHER]
        came_by = store.life.came_by([memory.id for memory in part])
        gone = [
            (memory, fields, "of little importance and never used")
            for memory in part
            if not (is_undone(came_by.get(memory.id), now) or was_told(store, memory))
        ]
        counts["pruned"] += change_all(store, gone, "pruned", budget)


def is_idle(memory: Memory | Living, now: datetime) -> bool:
    """Return whether a memory may be pruned, judging by its own fields."""
    if memory.importance is None or memory.pinned or memory.scope == "shared":
        return False
    if from_person(memory) or memory.recalled_count or memory.recalled_at:
        return False
    idle = now - max(memory.created_at, memory.content_updated_at)
    return any(memory.importance <= most and idle > time for most, time in KEPT)
