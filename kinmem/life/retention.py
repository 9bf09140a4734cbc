"""Five named forgetting curves, from 1 (fresh) to 0 (gone). Pure arithmetic.

docs/life.md shows what each curve leaves of a memory. A negative number of days counts as 0, so
that a wrong clock cannot make a memory fresher than new.
"""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from kinmem.models import Curve, Living

DAY = 86400.0


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
