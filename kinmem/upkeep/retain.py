"""A step of upkeep: what nobody used fades, from active to stale, the archive, and the bin."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import Fate, Living, State
from kinmem.retention import fading, last_used, retention
from kinmem.settings.life import LifeSettings
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import TOGETHER, is_believed, is_undone
from kinmem.upkeep.prune import was_told
from kinmem.upkeep.recalibrate import TOLD

AHEAD = timedelta(days=1)
"""By which a state is of a clock that was wrong: clocks differ by less."""
RESTS = timedelta(days=1)
"""In the archive, before the bin: a clock that jumps takes nothing from recall into it."""


def retain(
    store: Store, settings: LifeSettings, clock: Clock, allowance: Allowance, counts: Counter[str]
) -> None:
    """Give own memories the state that is due by their retention; counts those of each new state.

    Below KINMEM_STALE_BELOW stale, below KINMEM_ARCHIVE_BELOW or after KINMEM_ARCHIVE_STALE_DAYS
    archived; what has faded into the archive below KINMEM_DELETE_BELOW goes into the bin. Above
    them what is stale is active again, and what had faded into the archive by a clock that was
    ahead. Pinned ones never fade, those tagged by hand are not archived, told and shared ones never
    binned. By a clock that cannot be right nothing is done.
    """
    if not allowance.dry_run:
        store.flush_use()
    now, living = clock(), store.life.living()
    if not is_believed(living, now):
        counts["clock"] += 1
        return
    fates = [fate for one in living if (fate := fate_of(one, settings, now))]
    give(store, fates, now, allowance, counts)


def give(
    store: Store,
    fates: Sequence[Fate],
    now: datetime,
    allowance: Allowance,
    counts: Counter[str],
) -> None:
    """Set the states, some hundred in one transaction; counts them by the new state."""
    for start in range(0, len(fates), TOGETHER):
        if allowance.is_over():
            return
        part = _meant(store, fates[start : start + TOGETHER], now)
        for state in dict.fromkeys(fate.state for fate in part):
            same = [fate for fate in part if fate.state == state]
            counts[state] += len(same) if allowance.dry_run else store.life.to_states(same)


def _meant(store: Store, fates: Sequence[Fate], now: datetime) -> list[Fate]:
    """Without what somebody has just undone, and those that stay in the archive: a person has put
    them there, or, before the bin, told what they are made of."""
    came_by = store.life.came_by([fate.memory.id for fate in fates])
    meant = []
    for fate in fates:
        last = came_by.get(fate.memory.id)
        is_kept = fate.state != State.ACTIVE and is_undone(last, now)
        if not (is_kept or _stays_archived(store, fate, last[0] if last else "created")):
            meant.append(fate)
    return meant


def _stays_archived(store: Store, fate: Fate, came_by: str) -> bool:
    if fate.memory.state != State.ARCHIVED or fate.action == "expired":
        return False
    return came_by != "faded" or (fate.action == "faded" and was_told(store, fate.memory.id))


def fate_of(memory: Living, settings: LifeSettings, now: datetime) -> Fate | None:
    """The state that is due by its retention; None where that is the one it has."""
    left = 1.0 if memory.pinned else retention(fading(memory, now), settings.curve)
    state = _state(memory, left, settings, now)
    if state == memory.state:
        return None
    reason = f"retention {left:.3f} by the curve {settings.curve}"
    if state == State.ACTIVE:
        return Fate(memory, state, "revived", reason, last_used(memory))
    is_back = memory.state == State.ARCHIVED and state == State.STALE
    return Fate(memory, state, "revived" if is_back else "faded", reason)


def _state(memory: Living, left: float, settings: LifeSettings, now: datetime) -> State:
    since = memory.state_at or memory.created_at
    if memory.state == State.ARCHIVED and since <= now + AHEAD:
        goes = left < settings.delete_below and now - since >= RESTS and not _is_kept(memory)
        return State.DELETED if goes else State.ARCHIVED
    if left >= settings.stale_below and left >= settings.archive_below:
        return State.ACTIVE
    days = settings.archive_stale_days
    long = memory.state == State.STALE and 0 < days <= (now - since) / timedelta(days=1)
    if (long or left < settings.archive_below) and not memory.is_tagged:
        return State.ARCHIVED
    return State.STALE if left < settings.stale_below else State.ACTIVE


def _is_kept(memory: Living) -> bool:
    """Whether it stays in the archive for good."""
    return memory.is_tagged or memory.scope == "shared" or memory.channel in TOLD
