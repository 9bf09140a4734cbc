"""What becomes of memories that nobody uses: importance follows use, priority and tier follow from
it, what is unimportant goes into the bin, and old content of the bin is erased."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kinmem.clock import Clock
from kinmem.models import Curve, Filters, Living, Memory, Place, State, Tier, TierChange
from kinmem.models.retention import fading, rank_of, retention, tier_of
from kinmem.settings.memory_settings import LifeSettings, Prune
from kinmem.store.base import Jobs, Store
from kinmem.upkeep.lifecycle import BY_UPKEEP, from_person, was_told
from kinmem.upkeep.steps import (
    SETTLED,
    TOGETHER,
    Budget,
    Calendar,
    change_all,
    is_undone,
    known_living,
    once_a_day,
)

# Least change of a priority that is written: it sinks a little every day.
NOTICED = 0.01

RECALIBRATE = "recalibrate"
# The expected use of a memory (KinBot).
USES_A_DAY = 0.1
YOUNGEST = timedelta(days=7)
# Time between two changes of one memory; the largest is 0.3, so it changes by at most 0.9 in 30
# days.
REST = timedelta(days=10)
# Days without use before anything sinks (docs/life.md).
UNUSED_DAYS = 30
# Channels through which a person sets the importance; in a turn the words decide.
RATED = ("explicit", "import")


@dataclass(frozen=True, slots=True)
class Vitals:
    """The current values of an own memory that is active, stale or archived."""

    curve: Curve
    retention: float
    """By that curve, from 1 (fresh) to 0 (gone); 1 for a pinned memory."""
    tier: Tier
    reason: str | None
    priority: float
    links: int
    tier_changes: Sequence[TierChange]
    """The latest first."""


def tier(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Give own memories the tier that is due by the rules. Counts those that moved to hot, warm and
    archive, and as `priority` those with only a new priority or reason.

    If the clock cannot be right, nothing is done.
    """
    now = clock()
    living = known_living(store, now, budget, counts) or ()
    places = [place for memory in living if (place := place_of(memory, now))]
    for start in range(0, len(places), TOGETHER):
        if budget.is_over():
            return
        part = places[start : start + TOGETHER]
        moved = Counter("priority" if p.tier == p.memory.tier else p.tier for p in part)
        if not budget.dry_run:
            store.life.to_tiers(part)
        counts.update(moved)


def place_of(memory: Living, now: datetime) -> Place | None:
    """Return the tier and priority that are due; None if the memory has them already."""
    worth, standing = rank_of(memory, now)
    to, reason = tier_of(standing)
    known = memory.priority
    if known is not None and abs(worth - known) < NOTICED:
        if (to, reason) == (memory.tier, memory.tier_reason):
            return None
        worth = known
    return Place(memory, to, reason, worth)


def recalibrate(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Change the importance of own memories by their use, at most once a day; counts up and down.

    Use is compared with one in ten days (KinBot's later table): from twice as much +0.2; in over 30
    days none -0.3, under a third -0.2. Never below 1 or above 10, and never twice within ten days.
    Pinned memories, those without importance, and those that a person has rated do not change. Only
    `scored_at` records when it was done. If the clock cannot be right, nothing is done.
    """
    once_a_day(store, RECALIBRATE, clock(), budget, counts, _recalibrate)


def _recalibrate(
    store: Store,
    now: datetime,
    budget: Budget,
    counts: Counter[str],
    memories: Sequence[Living],
) -> None:
    moved = [
        (memory, new) for memory in memories if (new := expected(memory, now)) != memory.importance
    ]
    for name, up in (("up", True), ("down", False)):
        part: list[tuple[Living, dict[str, Any], str]] = [
            (memory, {"importance": new, "scored_at": now}, _reason(memory))
            for memory, new in moved
            if new is not None and (new > (memory.importance or 0)) == up
        ]
        counts[name] += change_all(store, part, "recalibrated", budget)


def _reason(memory: Living) -> str:
    return f"used {memory.recalled_count} times since {memory.created_at.date()}"


def expected(memory: Memory | Living, now: datetime) -> float | None:
    """Return the importance that follows from a memory's use; None if it must not change."""
    age = now - memory.created_at
    rated = memory.channel in RATED
    if memory.importance is None or memory.pinned or rated or age < YOUNGEST:
        return None
    if memory.scored_at is not None and now - memory.scored_at < REST:
        return None
    moved = memory.importance + _step(memory.recalled_count, age.total_seconds() / 86400)
    return min(10.0, max(1.0, round(moved, 1)))


def _step(uses: int, days: float) -> float:
    ratio = uses / (USES_A_DAY * days)
    if ratio >= 2:
        return 0.2
    if ratio >= 0.3 or days <= UNUSED_DAYS:
        return 0.0
    return -0.2 if uses else -0.3


def vitals(store: Store, id: str, settings: LifeSettings, now: datetime) -> Vitals | None:
    """Return the memory's current values; None for memories of others, and for those that are no
    longer alive."""
    living = store.life.living([id])
    return vitals_of(store, living[0], settings, now) if living else None


def vitals_of(store: Store, memory: Living, settings: LifeSettings, now: datetime) -> Vitals:
    """Return the same for a memory as upkeep knows it."""
    left = 1.0 if memory.pinned else retention(fading(memory, now), settings.curve)
    rank = rank_of(memory, now)
    return Vitals(
        settings.curve,
        left,
        memory.tier,
        memory.tier_reason,
        rank.priority,
        memory.links,
        store.life.tier_changes(memory.id),
    )


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
    if has_leapt or not _witnesses_agree(store, now):
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
    if _has_leapt(store.jobs, now, budget.dry_run) or not _witnesses_agree(store, now):
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


def _witnesses_agree(store: Store, now: datetime) -> bool:
    """Return whether stored memories agree with the clock; see Calendar."""
    calendar = Calendar(now)
    for filters in (Filters(states=ANY), Filters(states=ANY, until=now - SETTLED)):
        for memory in store.page(filters, "newest", WITNESSES).memories:
            calendar.saw(memory)
    return calendar.agrees


def prune(store: Store, wanted: Prune, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Put own memories that hardly matter and were never used into the bin; counts pruned.

    Only if KinBot's rule is wanted: importance at most 1 after 60 days, at most 2 after 90. Exempt
    are memories that are pinned, shared or without importance, those that a person stated (or that
    were merged from one such), and for 30 days those that were brought back by undo. They can be
    restored for KINMEM_PURGE_DAYS. Runs at most once a day, and not if the clock cannot be right.
    """
    if wanted != "kinbot":
        return
    once_a_day(store, PRUNE, clock(), budget, counts, _prune)


def _prune(
    store: Store,
    now: datetime,
    budget: Budget,
    counts: Counter[str],
    memories: Sequence[Living],
) -> None:
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
