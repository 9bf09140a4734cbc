"""A step of upkeep: priorities are computed anew, and memories move between the tiers."""

from collections import Counter
from datetime import datetime

from kinmem.clock import Clock
from kinmem.models import Living, Place
from kinmem.rules.tiers import tier_of
from kinmem.store.base import Store
from kinmem.store.life import rank_of
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import TOGETHER, is_believed

NOTICED = 0.01
"""By how much a priority must change to be written: it sinks a little every day."""


def tier(store: Store, clock: Clock, allowance: Allowance, counts: Counter[str]) -> None:
    """Give own memories the tier that is due by the rules; counts hot, warm and archive, those that
    came there, and `priority`, those of which only priority or reason has changed.

    By a clock that cannot be right nothing is done.
    """
    if not allowance.dry_run:
        store.flush_use()
    now, living = clock(), store.life.living()
    if not is_believed(living, now):
        counts["clock"] += 1
        return
    places = [place for one in living if (place := place_of(one, now))]
    for start in range(0, len(places), TOGETHER):
        if allowance.is_over():
            return
        part = places[start : start + TOGETHER]
        moved = Counter("priority" if p.tier == p.memory.tier else p.tier for p in part)
        if not allowance.dry_run:
            store.life.to_tiers(part)
        counts.update(moved)


def place_of(memory: Living, now: datetime) -> Place | None:
    """Tier and priority that are due; None where they are the ones it has."""
    worth, standing = rank_of(memory, now)
    to, reason = tier_of(standing)
    known = memory.priority
    if known is not None and abs(worth - known) < NOTICED:
        if (to, reason) == (memory.tier, memory.tier_reason):
            return None
        worth = known
    return Place(memory, to, reason, worth)
