"""A step of upkeep: what nobody used fades, from active to stale, the archive, and the bin."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import Fate, Living, State
from kinmem.retention import fading, last_used, retention
from kinmem.settings.life import LifeSettings
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import TOGETHER, is_believed, is_undone
from kinmem.upkeep.told import BY_UPKEEP, from_person, was_told

EVER = datetime(1, 1, 2, tzinfo=UTC)
"""Before everything."""
AHEAD = timedelta(days=1)
"""By which a state is of a clock that was wrong: clocks differ by less."""
RESTS = timedelta(days=1)
"""In the archive, before the bin: a clock that jumps takes nothing from recall into it."""


def retain(
    store: Store, settings: LifeSettings, clock: Clock, allowance: Allowance, counts: Counter[str]
) -> None:
    """Give own memories the state that is due by their retention; counts those of each new state.

    Below KINMEM_STALE_BELOW stale, below KINMEM_ARCHIVE_BELOW or after KINMEM_ARCHIVE_STALE_DAYS
    archived; with KINMEM_PRUNE=kybernesis what has faded into the archive goes into the bin below
    KINMEM_DELETE_BELOW. Above them what is stale is active again, and what had faded into the
    archive by a clock that was ahead. What a person told stays active, or is so again; pinned ones
    never fade, those tagged by hand are not archived, shared ones never binned. By a clock that
    cannot be right nothing is done.
    """
    if not allowance.dry_run:
        store.flush_use()
    now, living = clock(), store.life.living()
    if not is_believed(living, now):
        counts["clock"] += 1
        return
    fates = [*_due(store, living, settings, now), *_wrongly_binned(store)]
    give(store, fates, now, allowance, counts)


def _due(
    store: Store, living: Sequence[Living], settings: LifeSettings, now: datetime
) -> Iterator[Fate]:
    for memory in living:
        fate = fate_of(memory, settings, now)
        if fate is None or from_person(memory):
            yield from filter(None, [fate])
        elif was_told(store, memory):  # asked last: it looks at what the memory was made from
            yield from filter(None, [fate_of(memory, settings, now, told=True)])
        else:
            yield fate


def _wrongly_binned(store: Store) -> Iterator[Fate]:
    """What an earlier release has put into the bin by itself, though a person told it."""
    binned = {one.id: one for one in store.life.binned_after(EVER)}
    for id, (action, _) in store.life.came_by(binned).items() if binned else ():
        if action in BY_UPKEEP and was_told(store, binned[id]):
            memory = binned[id]
            yield Fate(memory, State.ACTIVE, "revived", "a person told it", last_used(memory))


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
    """Without what somebody has just undone, and what a person has put into the archive."""
    came_by = store.life.came_by([fate.memory.id for fate in fates])
    meant = []
    for fate in fates:
        last = came_by.get(fate.memory.id)
        is_kept = fate.state != State.ACTIVE and is_undone(last, now)
        if not (is_kept or _stays_archived(fate, last[0] if last else "created")):
            meant.append(fate)
    return meant


def _stays_archived(fate: Fate, came_by: str) -> bool:
    is_archived = fate.memory.state == State.ARCHIVED and fate.action != "expired"
    return is_archived and came_by != "faded"


def fate_of(
    memory: Living, settings: LifeSettings, now: datetime, *, told: bool = False
) -> Fate | None:
    """The state that is due by its retention; None where that is the one it has. `told`: a person
    told what it was merged from."""
    left = 1.0 if memory.pinned else retention(fading(memory, now), settings.curve)
    told = told or from_person(memory)
    state = State.ACTIVE if told else _state(memory, left, settings, now)
    if state == memory.state:
        return None
    reason = "a person told it" if told else f"retention {left:.3f} by the curve {settings.curve}"
    if state == State.ACTIVE:
        return Fate(memory, state, "revived", reason, last_used(memory))
    is_back = memory.state == State.ARCHIVED and state == State.STALE
    return Fate(memory, state, "revived" if is_back else "faded", reason)


def _state(memory: Living, left: float, settings: LifeSettings, now: datetime) -> State:
    since = memory.state_at or memory.created_at
    if memory.state == State.ARCHIVED and since <= now + AHEAD:
        goes = settings.prune == "kybernesis" and left < settings.delete_below
        goes = goes and now - since >= RESTS and not _is_kept(memory)
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
    return memory.is_tagged or memory.scope == "shared"
