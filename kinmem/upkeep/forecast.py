"""What becomes of a memory that nobody uses or changes from now on: its curve, and what changes on
which day. The rules are those of upkeep itself, asked for each day to come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from kinmem.models import Living
from kinmem.models.retention import fading, rank_of, retention, tier_of
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
    """By day from now: its retention."""
    turns: Sequence[Turn]
    """In order."""
    is_kept: bool
    """Whether no age puts it away: a person stated it, or it is pinned."""


def forecast(store: Store, id: str, settings: LifeSettings, now: datetime) -> Forecast | None:
    """Return what becomes of an own memory; None if it is none, or no longer alive."""
    living = store.life.living([id])
    if not living:
        return None
    told = was_told(store, living[0])
    left: list[tuple[int, float]] = []
    turns: list[Turn] = []
    memory = living[0]
    for day in range(DAYS + 1):
        at = now + timedelta(days=day)
        if memory.expires_at is not None and memory.expires_at <= at:
            turns.append(Turn(day, "expired", "deleted", None))
            break
        rest = 1.0 if memory.pinned else retention(fading(memory, at), settings.curve)
        left.append((day, rest))
        memory, found = _next(memory, settings, at, told=told)
        turns += [Turn(day, *one) for one in found]
        if day >= LEAST_DAYS and rest < HARDLY:
            break
    return Forecast(left, turns, told or memory.pinned)


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
