"""How one memory stands: what is left of it, its tier and why, its priority, and its past tiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kinmem.models import Curve, Tier, TierChange
from kinmem.retention import fading, retention
from kinmem.settings.life import LifeSettings
from kinmem.store.base import Store
from kinmem.store.life import rank_of


@dataclass(frozen=True, slots=True)
class Vitals:
    """Of an own memory that is active, stale or archived, at one moment."""

    curve: Curve
    retention: float
    """By that curve, 1 fresh to 0 gone; 1 for what is pinned."""
    tier: Tier
    reason: str | None
    priority: float
    links: int
    tier_changes: Sequence[TierChange]
    """The latest first."""


def vitals(store: Store, id: str, settings: LifeSettings, now: datetime) -> Vitals | None:
    """None for others' memories, and for what no longer lives."""
    found = store.life.living([id])
    if not found:
        return None
    memory = found[0]
    left = 1.0 if memory.pinned else retention(fading(memory, now), settings.curve)
    rank = rank_of(memory, now)
    return Vitals(
        settings.curve,
        left,
        memory.tier,
        memory.tier_reason,
        rank.priority,
        memory.links,
        store.life.tier_changes(id),
    )
