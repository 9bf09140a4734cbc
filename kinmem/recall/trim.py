"""Stage 6: as many hits as are worth it."""

from collections.abc import Sequence
from itertools import takewhile

from kinmem.models import Scored
from kinmem.settings import RecallSettings

# A hit that scores less than half of the one before it stands at the foot of a cliff.
CLIFF = 0.5


def trim(scored: Sequence[Scored], limit: int, settings: RecallSettings) -> list[Scored]:
    """The leading hits, best first, `limit` at most.

    With adaptive_k those end where a score falls below adaptive_k_min_score_ratio of the best, or
    to less than half of the one before it. Evenly spaced scores above that all stay. A best score
    of 0 or less leaves nothing.
    """
    leading = list(scored[:limit])
    if not leading or leading[0].score <= 0:
        return []
    if not settings.adaptive_k:
        return leading
    floor = leading[0].score * settings.adaptive_k_min_score_ratio
    kept = list(takewhile(lambda one: one.score >= floor, leading))
    for at in range(1, len(kept)):
        if kept[at].score < CLIFF * kept[at - 1].score:
            return kept[:at]
    return kept
