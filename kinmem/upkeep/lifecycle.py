"""Two steps of upkeep: what nobody used fades, and what was to be known until a time goes after it.

What a person told is never put away by them, however old it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import Event, Fate, Living, Memory, State
from kinmem.retention import fading, last_used, retention
from kinmem.settings.memory_settings import LifeSettings
from kinmem.store.base import Store
from kinmem.upkeep.budget import Budget
from kinmem.upkeep.schedule import TOGETHER, is_believed, is_undone

EVER = datetime(1, 1, 2, tzinfo=UTC)
"""Before everything."""
AHEAD = timedelta(days=1)
"""By which a state is of a clock that was wrong: clocks differ by less."""
RESTS = timedelta(days=1)
"""In the archive, before the bin: a clock that jumps takes nothing from recall into it."""

BY_A_PERSON = frozenset({"user", "explicit", "import"})
"""Channels by which a person tells something; a model that memorizes does so for its user."""
MACHINES = frozenset({"assistant", "tool", "system"})
BY_UPKEEP = frozenset({"faded", "pruned"})
"""Actions by which upkeep puts a memory away because of its age and use."""


def retain(
    store: Store, settings: LifeSettings, clock: Clock, budget: Budget, counts: Counter[str]
) -> None:
    """Give own memories the state that is due by their retention; counts those of each new state.

    Below KINMEM_STALE_BELOW stale, below KINMEM_ARCHIVE_BELOW or after KINMEM_ARCHIVE_STALE_DAYS
    archived; with KINMEM_PRUNE=kybernesis what has faded into the archive goes into the bin below
    KINMEM_DELETE_BELOW. Above them what is stale is active again, and what had faded into the
    archive by a clock that was ahead. What a person told stays active, or is so again; pinned ones
    never fade, those tagged by hand are not archived, shared ones never binned. By a clock that
    cannot be right nothing is done.
    """
    if not budget.dry_run:
        store.flush_use()
    now, living = clock(), store.life.living()
    if not is_believed(living, now):
        counts["clock"] += 1
        return
    fates = [*_due(store, living, settings, now), *_wrongly_binned(store)]
    give(store, fates, now, budget, counts)


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
    budget: Budget,
    counts: Counter[str],
) -> None:
    """Set the states, some hundred in one transaction; counts them by the new state."""
    for start in range(0, len(fates), TOGETHER):
        if budget.is_over():
            return
        part = _meant(store, fates[start : start + TOGETHER], now)
        for state in dict.fromkeys(fate.state for fate in part):
            same = [fate for fate in part if fate.state == state]
            counts[state] += len(same) if budget.dry_run else store.life.to_states(same)


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


def expire(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Put own memories into the bin whose `expires_at` has come, in whatever state they are and
    whatever else protects them. What a clock that was ahead has put there comes back.

    Recall has left them out since that moment. They can be restored for KINMEM_PURGE_DAYS. By a
    clock that cannot be right nothing is done. Counts expired, and what is back by its state.
    """
    now = clock()
    expired, back = store.life.living(expired_by=now), list(_too_early(store, now))
    if not (expired or back):
        return
    if not is_believed(store.life.living(), now):
        counts["clock"] += 1
        return
    over = [Fate(one, State.DELETED, "expired", "its time was over") for one in expired]
    found = Counter[str]()
    give(store, over, now, budget, found)
    if found[State.DELETED]:
        counts["expired"] += found[State.DELETED]
    give(store, back, now, budget, counts)


def _too_early(store: Store, now: datetime) -> Iterator[Fate]:
    """What has expired at a time that is still to come, and was not touched since: back to the
    state it had."""
    binned = {one.id: one for one in store.life.binned_after(now + AHEAD) if _lasts(one, now)}
    lines: dict[str, list[Event]] = defaultdict(list)
    for line in store.past.about(binned) if binned else ():
        if "state" in line.after:
            lines[line.memory_id].append(line)
    for id, memory in binned.items():
        if id in lines and (last := lines[id][-1]).action == "expired":
            was = State(last.before["state"])
            yield Fate(memory, was, "revived", "its time is not over", last_used(memory))


def _lasts(memory: Living, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at > now


def from_person(memory: Memory | Living) -> bool:
    """Whether a person told it.

    The first release wrote the channel `extraction` whoever spoke in a turn: there the speaker
    decides, and whose words are not known to be a machine's are taken for a person's.
    """
    if memory.channel == "extraction":
        return memory.speaker not in MACHINES
    return memory.channel in BY_A_PERSON


def was_told(store: Store, memory: Memory | Living) -> bool:
    """Whether a person told it, or one of those it was merged from; what is gone may have been."""
    if from_person(memory):
        return True
    waiting, seen = store.parents(memory.id), set[str]()
    while waiting:
        seen.update(waiting)
        known = store.memories(waiting)
        if any(id not in known or from_person(known[id]) for id in waiting):
            return True
        waiting = [parent for id in waiting for parent in store.parents(id) if parent not in seen]
    return False
