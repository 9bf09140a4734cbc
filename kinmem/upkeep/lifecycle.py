"""Two steps of upkeep: unused memories fade, and those with an expiry date expire; and a forecast.

Neither puts away what a person stated because of its age.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from kinmem.clock import Clock
from kinmem.models import Event, Fate, Living, Memory, State
from kinmem.models.retention import Fading, fading, last_used, rank_of, retention, tier_of
from kinmem.settings.memory_settings import LifeSettings
from kinmem.store.base import Store
from kinmem.upkeep.steps import TOGETHER, Budget, is_believed, is_undone, known_living

# Before everything.
EVER = datetime(1, 1, 2, tzinfo=UTC)
# A state that lies further ahead was set by a wrong clock: correct clocks differ by less.
AHEAD = timedelta(days=1)
# Least time in the archive before the bin, so that a clock that jumps cannot move a memory from
# recall into the bin.
RESTS = timedelta(days=1)

# Channels through which a person states something; a model that memorizes does so for its user.
BY_A_PERSON = frozenset({"user", "explicit", "import"})
MACHINES = frozenset({"assistant", "tool", "system"})
# Actions with which upkeep puts a memory away because of its age and use.
BY_UPKEEP = frozenset({"faded", "pruned"})


def retain(
    store: Store, settings: LifeSettings, clock: Clock, budget: Budget, counts: Counter[str]
) -> None:
    """Give own memories the state that is due by their retention; counts them by their new state.

    Below KINMEM_STALE_BELOW a memory is stale, below KINMEM_ARCHIVE_BELOW or after
    KINMEM_ARCHIVE_STALE_DAYS archived; with KINMEM_PRUNE=kybernesis, what has faded into the
    archive goes into the bin below KINMEM_DELETE_BELOW. Above these limits stale memories become
    active again, and so do those archived by a clock that was ahead. What a person stated stays or
    becomes active; pinned memories never fade, those tagged by hand are not archived, and shared
    ones are never binned. If the clock cannot be right, nothing is done.
    """
    now = clock()
    living = known_living(store, now, budget, counts)
    if living is not None:
        fates = [*_due(store, living, settings, now), *_wrongly_binned(store)]
        give(store, fates, now, budget, counts)


def _due(
    store: Store, living: Sequence[Living], settings: LifeSettings, now: datetime
) -> Iterator[Fate]:
    for memory in living:
        fate = fate_of(memory, settings, now)
        if fate is None or from_person(memory):
            yield from filter(None, [fate])
        elif was_told(store, memory):  # checked last, since it reads what the memory was made from
            yield from filter(None, [fate_of(memory, settings, now, told=True)])
        else:
            yield fate


def _wrongly_binned(store: Store) -> Iterator[Fate]:
    """Yield what an earlier release has put into the bin by itself, although a person stated it."""
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
    """Set the states, TOGETHER in one transaction; counts memories by their new state."""
    for start in range(0, len(fates), TOGETHER):
        if budget.is_over():
            return
        part = _meant(store, fates[start : start + TOGETHER], now)
        for state in dict.fromkeys(fate.state for fate in part):
            same = [fate for fate in part if fate.state == state]
            counts[state] += len(same) if budget.dry_run else store.life.to_states(same)


def _meant(store: Store, fates: Sequence[Fate], now: datetime) -> list[Fate]:
    """Leave out what somebody has just undone, and what a person has archived."""
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
    """Return the state that is due by retention; None if the memory has it already. `told`: a
    person stated what it was merged from."""
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
    """Return whether it stays in the archive for good."""
    return memory.is_tagged or memory.scope == "shared"


def expire(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Put own memories whose `expires_at` has come into the bin, whatever their state and whatever
    else protects them. What was put there by a clock that was ahead comes back.

    Recall has left them out since that moment. They can be restored for KINMEM_PURGE_DAYS. If the
    clock cannot be right, nothing is done. Counts `expired`, and memories that came back by their
    state.
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
    """Return to its former state what has expired at a time that is still ahead, if it was not
    touched since."""
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
    """Return whether a person stated it.

    The first release used the channel `extraction` whoever spoke in a turn. There the speaker
    decides, and words that are not known to be a machine's count as a person's.
    """
    if memory.channel == "extraction":
        return memory.speaker not in MACHINES
    return memory.channel in BY_A_PERSON


def was_told(store: Store, memory: Memory | Living) -> bool:
    """Return whether a person stated it, or one of the memories that it was merged from; an erased
    one may have been."""
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
