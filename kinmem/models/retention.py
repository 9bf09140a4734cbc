"""How long a memory is kept: what upkeep reads of it and what becomes of it; five named curves,
from 1 (fresh) to 0 (gone); and the tiers."""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from kinmem.models.record import Curve, Scope, State, Tier

DAY = 86400.0


class Living(NamedTuple):
    """What retention and tiers need to know of one of the Kin's own memories.

    Upkeep reads tens of thousands of them.
    """

    id: str
    scope: Scope
    version: int
    category: str
    importance: float | None
    trust: float
    channel: str
    pinned: bool
    is_tagged: bool
    """Whether a person has tagged it."""
    set_priority: float | None
    priority: float | None
    state: str
    state_at: datetime | None
    tier: Tier
    tier_reason: str | None
    recalled_count: int
    recalled_at: datetime | None
    created_at: datetime
    content_updated_at: datetime
    expires_at: datetime | None
    links: int = 0
    """Number of links with the Kin's own live memories and, for a private memory, with memories
    that others share."""
    recent_links: int = 0
    """Number of those links made in the last week."""
    scored_at: datetime | None = None
    speaker: str | None = None


class Fate(NamedTuple):
    """A new state for one of the Kin's own memories, applied if it is still at that version."""

    memory: Living
    state: State
    action: str
    """Name of the change in the history: faded, revived or expired."""
    reason: str
    since: datetime | None = None
    """When the state begins to hold; None: now."""


class Place(NamedTuple):
    """The new tier and priority for one of the Kin's own memories."""

    memory: Living
    tier: Tier
    reason: str | None
    priority: float


class TierChange(NamedTuple):
    """One move of a memory between tiers."""

    at: datetime
    before: Tier
    after: Tier
    reason: str


class Fading(NamedTuple):
    """What the curves need to know of a memory.

    A tuple, because upkeep makes tens of thousands of them.
    """

    category: str
    importance: float | None
    """From 1 to 10; None counts as 5."""
    uses: int
    idle_days: float
    """Days since it was last used, or since it was stored if it never was."""
    age_days: float = 0.0
    """Days since it was stored or its content was edited."""
    relations: int = 0
    """See relation_score."""


# Base stability in days by category: KinBot's four categories have values of our own, the others
# those of Keyoku's table.
STABILITY_DAYS: Mapping[str, float] = {
    "fact": 270,
    "preference": 270,
    "decision": 120,
    "knowledge": 270,
    "identity": 365,
    "relationship": 270,
    "event": 120,
    "activity": 90,
    "plan": 60,
    "context": 21,
    "ephemeral": 3,
}
# Kore's half-lives in days for its importance 1 to 5, which is half of our importance, rounded up.
HALF_LIFE_DAYS = (7, 14, 30, 90, 365)
GROWTH_PER_USE = 1.15
MOST_HALF_LIFE_DAYS = 3650
# KinBot's values: facts fade ten times more slowly than decisions.
SPEED_A_DAY, FLOOR = 0.01, 0.7
SPEEDS: Mapping[str, float] = {"fact": 0.1, "knowledge": 0.1, "preference": 0.3, "decision": 1.0}
# Kybernesis publishes no formula. This one meets every value it does publish: 0 for a new memory,
# 0.1 for an old one just used, and the thresholds 0.25, 0.6 and 0.8 after 9, 30 and 57 days without
# use.
FROM_IDLENESS, FROM_AGE, OLD_DAYS = 0.9, 0.1, 365
IDLE_DAYS, PER_RELATION, MOST_RELATIONS = 28, 0.1, 10


def retention(memory: Fading, curve: Curve) -> float:
    """Return how much of the memory is left by that curve, between 0 and 1."""
    return CURVES[curve](memory, max(0.0, memory.idle_days))


def fading(memory: Living, now: datetime) -> Fading:
    """Describe a stored memory for the curves.

    Bringing a memory back counts as using it: an active memory is idle since its last change of
    state if that is later than its last use.
    """
    last = last_used(memory)
    if memory.state == "active" and memory.state_at is not None:
        last = max(last, memory.state_at)
    return Fading(
        memory.category,
        memory.importance,
        memory.recalled_count,
        (now - last).total_seconds() / DAY,
        (now - memory.content_updated_at).total_seconds() / DAY,
        relation_score(memory.links, memory.recent_links),
    )


def last_used(memory: Living) -> datetime:
    """Return when it was last recalled, edited or stored."""
    return max(memory.recalled_at or memory.created_at, memory.content_updated_at)


def relation_score(links: int, recent: int) -> int:
    """Return how well connected a memory is (Kybernesis): links of the last week count three
    times."""
    return links + 2 * recent


def _kin(memory: Fading, idle: float) -> float:
    """Keyoku's stability by category, scaled by importance as in Kore, and extended by use."""
    stability = STABILITY_DAYS[memory.category] * (0.5 + _importance(memory) / 10)
    return math.exp(-idle / (stability * _slowing(memory)))


def _keyoku(memory: Fading, idle: float) -> float:
    """Keyoku's stability by category, extended by use."""
    return math.exp(-idle / (STABILITY_DAYS[memory.category] * _slowing(memory)))


def _kore(memory: Fading, idle: float) -> float:
    """Kore's compound growth of the half-life with each use.

    The cap is ours: it keeps the power finite.
    """
    base = HALF_LIFE_DAYS[math.ceil(_importance(memory) / 2) - 1]
    half_life = min(base * GROWTH_PER_USE ** min(memory.uses, 100), MOST_HALF_LIFE_DAYS)
    return float(2 ** (-idle / half_life))


def _kinbot(memory: Fading, idle: float) -> float:
    """Fade by age whatever the use.

    The result never falls below the floor, so it changes no state.
    """
    return temporal_decay(memory.category, memory.importance, memory.age_days, SPEED_A_DAY, FLOOR)


def temporal_decay(
    category: str, importance: float | None, days: float, speed: float, floor: float
) -> float:
    """Return KinBot's factor for age: by category, slower for more important memories, never below
    the floor."""
    worth = 5.0 if importance is None else importance
    rate = speed * SPEEDS.get(category, 1.0) * (1.5 - worth / 10)
    return max(floor, math.exp(-rate * max(0.0, days)))


def _kybernesis(memory: Fading, idle: float) -> float:
    """Decay exponentially with idle time, which use and relations slow, and linearly with age."""
    slowed = IDLE_DAYS * (1 + PER_RELATION * min(memory.relations, MOST_RELATIONS))
    unused = 1 - 0.5 * memory.uses / (1 + memory.uses)
    idleness = FROM_IDLENESS * (1 - math.exp(-idle / slowed)) * unused
    decay = idleness + FROM_AGE * min(1.0, max(0.0, memory.age_days) / OLD_DAYS)
    return max(0.0, 1 - decay)


def _slowing(memory: Fading) -> float:
    return 1 + 0.5 * math.log1p(memory.uses)


def _importance(memory: Fading) -> float:
    return 5.0 if memory.importance is None else memory.importance


CURVES: Mapping[Curve, Callable[[Fading, float], float]] = {
    "kin": _kin,
    "keyoku": _keyoku,
    "kore": _kore,
    "kinbot": _kinbot,
    "kybernesis": _kybernesis,
}


HIGH_PRIORITY, MODERATE_PRIORITY = 0.65, 0.3
LOW_DECAY, SOFT_DECAY, HARD_DECAY = 0.25, 0.6, 0.8
# Days since the last use.
RECENT, LEAVING, KNOWN, UNUSED, COLD = 3, 4, 21, 30, 45
# Relation scores; ACTIVE_LINKS counts links of the last week.
DENSE, CONNECTED, LOOSE, ACTIVE_LINKS = 6, 3, 2, 4
# Weights of the five parts of a priority. Each part is between 0 and 1; the parts' scales are ours.
EXPLICIT, FREQUENCY, RELATIONS, RECENCY, SOURCE = 0.4, 0.2, 0.2, 0.1, 0.1
# Number of uses above which more uses gain nothing.
OFTEN = 50
# Relation score above which more links gain nothing, as in the decay of retention.py.
WELL_CONNECTED = 10


class Standing(NamedTuple):
    """What the tier rules look at."""

    tier: Tier
    """The current tier."""
    reason: str | None
    """Why it is in that tier."""
    priority: float
    decay: float
    """From 0 (fresh) to 1 (gone)."""
    idle_days: float
    relations: int
    recent_links: int
    pinned: bool
    is_tagged: bool
    """Whether a person has tagged it."""
    archived: bool = False
    """Whether its state is archived, which decides the tier."""


def tier_of(memory: Standing) -> tuple[Tier, str | None]:
    """Return the tier and the reason. Asking again with the returned tier gives the same answer."""
    if memory.archived:
        return "archive", "archived"
    if reason := _hot(memory):
        return "hot", reason
    if memory.tier == "hot" and memory.idle_days < LEAVING:
        return "hot", memory.reason
    if reason := _cold(memory):
        return "archive", reason
    return "warm", _warm(memory)


def at_once(memory: Standing, *, used: bool) -> tuple[Tier, str | None]:
    """Return the tier changes that do not wait for the next sleep cycle.

    A memory enters the archive tier with its state, and leaves it with its state, by being used, or
    when somebody tags it.
    """
    if memory.archived:
        return "archive", "archived"
    if memory.tier == "archive" and (used or memory.is_tagged or memory.reason == "archived"):
        return "warm", _warm(memory)
    return memory.tier, memory.reason


def _hot(memory: Standing) -> str | None:
    if memory.pinned:
        return "manual_pin"
    if memory.priority >= HIGH_PRIORITY:
        return "high_priority"
    if memory.idle_days <= RECENT:
        return "recent_access"
    # Checked before dense_graph, since four new links always make a dense graph as well.
    if memory.recent_links >= ACTIVE_LINKS:
        return "active_connections"
    if memory.relations >= DENSE:
        return "dense_graph"
    return "low_decay" if memory.decay <= LOW_DECAY and memory.idle_days < LEAVING else None


def _warm(memory: Standing) -> str:
    """Return why the memory is warm.

    Warm is also where no rule applies: too good for the archive tier, not good enough for hot.
    """
    if memory.priority >= MODERATE_PRIORITY:
        return "moderate_priority"
    if memory.idle_days <= KNOWN:
        return "recently_accessed"
    if memory.relations >= CONNECTED:
        return "connected_graph"
    return "manual_tags_present" if memory.is_tagged else "between_the_rules"


def _cold(memory: Standing) -> str | None:
    alone = memory.relations <= LOOSE and not memory.recent_links and not memory.is_tagged
    if memory.priority >= MODERATE_PRIORITY or not alone or memory.idle_days < UNUSED:
        return None
    if memory.idle_days >= COLD and memory.decay >= HARD_DECAY and not memory.relations:
        return "cold_and_disconnected"
    return "stale_and_low_priority" if memory.decay >= SOFT_DECAY else None


def priority(
    *,
    importance: float | None,
    set_priority: float | None,
    uses: int,
    relations: float,
    idle_days: float,
    trust: float,
) -> float:
    """Return the priority of a memory, between 0 and 1.

    The explicit part counts most: the priority a person has set, else importance / 10 (None counts
    as 5). Then come use, relations, recency, and trust in the channel it came from.
    """
    explicit = (5.0 if importance is None else importance) / 10
    if set_priority is not None:
        explicit = set_priority
    parts = (
        EXPLICIT * explicit,
        FREQUENCY * min(1.0, math.log1p(uses) / math.log1p(OFTEN)),
        RELATIONS * min(1.0, relations / WELL_CONNECTED),
        RECENCY / (1 + math.log1p(max(0.0, idle_days))),
        SOURCE * trust,
    )
    return min(1.0, max(0.0, sum(parts)))


class Rank(NamedTuple):
    """A priority, and what follows from it."""

    priority: float
    standing: Standing


def rank_of(memory: Living, now: datetime) -> Rank:
    """Return the rank of a memory by the rules of tiers. Their decay is Kybernesis', whatever the
    curve."""
    known = fading(memory, now)
    worth = priority(
        importance=memory.importance,
        set_priority=memory.set_priority,
        uses=memory.recalled_count,
        relations=known.relations,
        idle_days=known.idle_days,
        trust=memory.trust,
    )
    standing = Standing(
        tier=memory.tier,
        reason=memory.tier_reason,
        priority=worth,
        decay=1 - retention(known, "kybernesis"),
        idle_days=known.idle_days,
        relations=known.relations,
        recent_links=memory.recent_links,
        pinned=memory.pinned,
        is_tagged=memory.is_tagged,
        archived=memory.state == "archived",
    )
    return Rank(worth, standing)
