"""How good a ranking is, given what should have been found."""

import math
from collections.abc import Collection, Sequence


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Share of the gold among the first k."""
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / the place of the first gold one, counted from 1; 0 where there is none."""
    return next((1 / place for place, id in enumerate(ranked, 1) if id in gold), 0.0)


def ndcg_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Discounted gain of the first k, as a share of what the best order would gain."""
    gain = sum(_discount(place) for place, id in enumerate(ranked[:k], 1) if id in gold)
    return gain / sum(_discount(place) for place in range(1, min(k, len(gold)) + 1))


def _discount(place: int) -> float:
    return 1 / math.log2(place + 1)
