"""How much a memory matters in its Kin's daily work: Kybernesis' five parts, between 0 and 1.

Not its importance, which says how much the statement itself matters and is a part of it. Each part
is between 0 and 1; the documentation names their weights, the parts' scales are ours.
"""

import math

EXPLICIT, FREQUENCY, RELATIONS, RECENCY, SOURCE = 0.4, 0.2, 0.2, 0.1, 0.1
OFTEN = 50
"""Uses from which nothing more is gained."""
CONNECTED = 10
"""Relation score from which nothing more is gained, as in the decay of retention.py."""


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
        RELATIONS * min(1.0, relations / CONNECTED),
        RECENCY / (1 + math.log1p(max(0.0, idle_days))),
        SOURCE * trust,
    )
    return min(1.0, max(0.0, sum(parts)))
