"""A step of upkeep: importance follows use. What is used often rises a little, the rest sinks."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from kinmem.clock import Clock
from kinmem.models import LIVE, Living, Memory
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import change_all, check_clock, once_a_day

STEP = "recalibrate"
USES_A_DAY = 0.1
"""What is expected of a memory (KinBot)."""
YOUNGEST = timedelta(days=7)
REST = timedelta(days=10)
"""Between two moves of one memory: the largest is 0.3, so it moves by 0.9 in 30 days at most."""
UNUSED_DAYS = 30
"""Up to which nothing sinks (DESIGN 9)."""
RATED = ("explicit", "import")
"""Channels by which a person says what a memory is worth; of a turn its words say it."""


def recalibrate(store: Store, clock: Clock, allowance: Allowance, counts: Counter[str]) -> None:
    """Move the importance of own memories by their use, at most once a day; counts up and down.

    Uses are measured against one in ten days (KinBot's later table): from twice as many +0.2; in
    over 30 days none -0.3, under a third -0.2. Never below 1 or above 10, never
    twice within ten days. Pinned ones stay, those without importance, and what a person has rated.
    `scored_at` alone tells when it was done; nothing is done by a clock that cannot be right.
    """
    now = clock()
    once_a_day(
        store.journal,
        STEP,
        now,
        allowance,
        counts,
        lambda: _recalibrate(store, now, allowance, counts),
    )


def _recalibrate(store: Store, now: datetime, allowance: Allowance, counts: Counter[str]) -> None:
    memories = [one for one in store.life.living() if one.state in LIVE]
    check_clock(memories, now)
    moved = [(one, new) for one in memories if (new := expected(one, now)) != one.importance]
    for name, up in (("up", True), ("down", False)):
        part: list[tuple[Living, dict[str, Any], str]] = [
            (one, {"importance": new, "scored_at": now}, _reason(one))
            for one, new in moved
            if new is not None and (new > (one.importance or 0)) == up
        ]
        counts[name] += change_all(store, part, "recalibrated", allowance)


def _reason(memory: Living) -> str:
    return f"used {memory.recalled_count} times since {memory.created_at.date()}"


def expected(memory: Memory | Living, now: datetime) -> float | None:
    """The importance that a memory's use speaks for; None where it is not to be moved."""
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
