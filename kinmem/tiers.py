"""How much a memory matters in daily work, and which tier it belongs to and why: Kybernesis' rules,
and ours where they contradict.

Hot if any rule of its table holds, archive if all of its table do, else warm. Two rules keep that
from swinging: what is new or was just used has decayed little, so little decay alone makes nothing
hot that was not used for four days; and what is hot stays so until then.
"""

import math
from typing import NamedTuple

from kinmem.models import Tier

HIGH_PRIORITY, MODERATE_PRIORITY = 0.65, 0.3
LOW_DECAY, SOFT_DECAY, HARD_DECAY = 0.25, 0.6, 0.8
# Days since the last use.
RECENT, LEAVING, KNOWN, UNUSED, COLD = 3, 4, 21, 30, 45
# Relation scores, and links of the last week.
DENSE, CONNECTED, LOOSE, ACTIVE_LINKS = 6, 3, 2, 4
# The five parts of a priority, each between 0 and 1; the scales of the parts are ours.
EXPLICIT, FREQUENCY, RELATIONS, RECENCY, SOURCE = 0.4, 0.2, 0.2, 0.1, 0.1
OFTEN = 50
"""Uses from which nothing more is gained."""
WELL_CONNECTED = 10
"""Relation score from which nothing more is gained, as in the decay of retention.py."""


class Standing(NamedTuple):
    """What the rules look at."""

    tier: Tier
    """The present one."""
    reason: str | None
    """Why it is in it."""
    priority: float
    decay: float
    """0 fresh to 1 stale."""
    idle_days: float
    relations: int
    recent_links: int
    pinned: bool
    is_tagged: bool
    """By hand."""
    archived: bool = False
    """Whether its state is: then there is nothing to decide."""


def tier_of(one: Standing) -> tuple[Tier, str | None]:
    """Tier and reason. Asked again about the same with the tier it gave, it gives the same."""
    if one.archived:
        return "archive", "archived"
    if reason := _hot(one):
        return "hot", reason
    if one.tier == "hot" and one.idle_days < LEAVING:
        return "hot", one.reason
    if reason := _archived(one):
        return "archive", reason
    return "warm", _warm(one)


def at_once(one: Standing, *, used: bool) -> tuple[Tier, str | None]:
    """What does not wait for the next sleep: into the archive with the state, and out of it with
    the state, by use, or by a tag that somebody gives it."""
    if one.archived:
        return "archive", "archived"
    if one.tier == "archive" and (used or one.is_tagged or one.reason == "archived"):
        return "warm", _warm(one)
    return one.tier, one.reason


def _hot(one: Standing) -> str | None:
    if one.pinned:
        return "manual_pin"
    if one.priority >= HIGH_PRIORITY:
        return "high_priority"
    if one.idle_days <= RECENT:
        return "recent_access"
    if one.recent_links >= ACTIVE_LINKS:  # told first: four new links are a dense graph anyway
        return "active_connections"
    if one.relations >= DENSE:
        return "dense_graph"
    return "low_decay" if one.decay <= LOW_DECAY and one.idle_days < LEAVING else None


def _warm(one: Standing) -> str:
    """Warm is also what no rule names: too good for the archive, not good enough for more."""
    if one.priority >= MODERATE_PRIORITY:
        return "moderate_priority"
    if one.idle_days <= KNOWN:
        return "recently_accessed"
    if one.relations >= CONNECTED:
        return "connected_graph"
    return "manual_tags_present" if one.is_tagged else "between_the_rules"


def _archived(one: Standing) -> str | None:
    alone = one.relations <= LOOSE and not one.recent_links and not one.is_tagged
    if one.priority >= MODERATE_PRIORITY or not alone or one.idle_days < UNUSED:
        return None
    if one.idle_days >= COLD and one.decay >= HARD_DECAY and not one.relations:
        return "cold_and_disconnected"
    return "stale_and_low_priority" if one.decay >= SOFT_DECAY else None


def priority(
    *,
    importance: float | None,
    set_priority: float | None,
    uses: int,
    relations: float,
    idle_days: float,
    trust: float,
) -> float:
    """What a person has set, else importance / 10, counts most; then use, relations, recency, and
    how far the way it came in is trusted. Importance None counts as 5.
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
