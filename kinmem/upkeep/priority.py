"""Two steps of upkeep: importance follows use, and priority and tier follow from it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kinmem.clock import Clock
from kinmem.models import LIVE, Curve, Living, Memory, Place, Tier, TierChange
from kinmem.models.retention import fading, rank_of, retention, tier_of
from kinmem.settings.memory_settings import LifeSettings
from kinmem.store.base import Store
from kinmem.upkeep.daily import TOGETHER, change_all, check_clock, is_believed, once_a_day
from kinmem.upkeep.steps import Budget

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
    if not budget.dry_run:
        store.flush_use()
    now, living = clock(), store.life.living()
    if not is_believed(living, now):
        counts["clock"] += 1
        return
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
    now = clock()
    once_a_day(
        store.jobs,
        RECALIBRATE,
        now,
        budget,
        counts,
        lambda: _recalibrate(store, now, budget, counts),
    )


def _recalibrate(store: Store, now: datetime, budget: Budget, counts: Counter[str]) -> None:
    memories = [memory for memory in store.life.living() if memory.state in LIVE]
    check_clock(memories, now)
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
