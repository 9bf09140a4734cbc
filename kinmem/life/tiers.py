"""Tiers and priority: how much a memory matters in daily work, which tier it belongs to, and why.

The rules are Kybernesis'; where those contradict each other, they are ours. A memory is hot if any
rule of the hot table holds, archived if all rules of the archive table hold, and warm otherwise.
Two further rules keep it from swinging between tiers: a new or just used memory has decayed little,
so low decay makes it hot only if it was used in the last four days; and a hot memory stays hot
until then.
"""

import math
from datetime import datetime
from typing import NamedTuple

from kinmem.life.retention import fading, retention
from kinmem.models import Living, Tier

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
