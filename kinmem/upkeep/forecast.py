"""What becomes of a memory that nobody uses or changes from now on: its curve, and what changes on
which day. The rules are those of upkeep itself."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from kinmem.models import Living
from kinmem.models.retention import Fading, fading, rank_of, retention, tier_of
from kinmem.settings.memory_settings import LifeSettings
from kinmem.store.base import Store
from kinmem.upkeep.lifecycle import fate_of, was_told

DAYS = 730
# Days that are looked at if hardly anything is left earlier.
LEAST_DAYS = 60
HARDLY = 0.05


class Turn(NamedTuple):
    """A day on which something changes."""

    day: int
    """Days from now."""
    what: Literal["state", "tier", "expired"]
    to: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is to come, within two years."""

    left: Sequence[tuple[int, float]]
    """By day from now: its retention. Not every day need be there, but the first and the last."""
    turns: Sequence[Turn]
    """In order."""
    is_kept: bool
    """Whether no age puts it away: a person stated it, or it is pinned."""


def forecast(store: Store, id: str, settings: LifeSettings, now: datetime) -> Forecast | None:
    """Return what becomes of an own memory; None if it is none, or no longer alive."""
    living = store.life.living([id])
    if not living:
        return None
    return foreseen(living[0], settings, now, told=was_told(store, living[0]))


def foreseen(
    memory: Living,
    settings: LifeSettings,
    now: datetime,
    *,
    told: bool,
    points: int | None = None,
) -> Forecast:
    """Return the same for a memory as upkeep knows it. `told`: a person stated what it was merged
    from. `points`: about how many days of the curve to tell between one change and the next; None
    for all."""
    day, left = 0, list[tuple[int, float]]()
    turns: list[Turn] = []
    expires = _expiry(memory, now)
    while day < expires:
        changes = _next_change(memory, settings, now, range(day, expires), told=told)
        left += _curve(memory, settings, now, range(day, min(changes + 1, expires)), points)
        day = left[-1][0] + 1
        if day > changes:
            memory, found = _next(memory, settings, now + timedelta(days=changes), told=told)
            turns += [Turn(changes, *one) for one in found]
        if _is_hardly_left(*left[-1]):
            break
    if day == expires <= DAYS:
        turns.append(Turn(day, "expired", "deleted", None))
    return Forecast(left, turns, told or memory.pinned)


def _expiry(memory: Living, now: datetime) -> int:
    """Return the first day on which it has expired, the day after the last one at most."""
    if memory.expires_at is None:
        return DAYS + 1
    return min(DAYS + 1, max(0, -((now - memory.expires_at) // timedelta(days=1))))


def _next_change(
    memory: Living, settings: LifeSettings, now: datetime, days: range, *, told: bool
) -> int:
    """Return the first of the days on which upkeep changes something, or the one behind them all.

    What is true on one day stays true while nothing changes: curves, priorities and tiers only
    fall. So a dozen days are looked at, not each.
    """

    def changes(day: int) -> bool:
        return bool(_next(memory, settings, now + timedelta(days=day), told=told)[1])

    if changes(days.start):
        return days.start
    return days.start + bisect_left(days, True, key=changes)


def _curve(
    memory: Living, settings: LifeSettings, now: datetime, days: range, points: int | None
) -> list[tuple[int, float]]:
    """Return how much is left on so many of the days, until hardly anything is; on the first and
    the last of them always."""
    category, importance, uses, idle, age, relations = fading(
        memory, now + timedelta(days=days.start)
    )

    def left(day: int) -> float:
        if memory.pinned:
            return 1.0
        later = day - days.start
        known = Fading(category, importance, uses, idle + later, age + later, relations)
        return retention(known, settings.curve)

    def is_over(day: int) -> bool:
        return _is_hardly_left(day, left(day))

    until = days[: bisect_left(days, True, key=is_over) + 1]  # curves only fall
    step = 1 if points is None else max(1, len(until) // points)
    return [(day, left(day)) for day in (*until[:-1:step], until[-1])]


def _is_hardly_left(day: int, rest: float) -> bool:
    return day >= LEAST_DAYS and rest < HARDLY


def _next(
    memory: Living, settings: LifeSettings, at: datetime, *, told: bool
) -> tuple[Living, list[tuple[Literal["state", "tier"], str, str | None]]]:
    """Return the memory as upkeep leaves it on that day, and what it changes."""
    found: list[tuple[Literal["state", "tier"], str, str | None]] = []
    fate = fate_of(memory, settings, at, told=told)
    if fate is not None:
        memory = memory._replace(state=fate.state, state_at=at)
        found.append(("state", fate.state, fate.reason))
    to, reason = tier_of(rank_of(memory, at).standing)
    if to != memory.tier:
        found.append(("tier", to, reason))
    return memory._replace(tier=to, tier_reason=reason), found
