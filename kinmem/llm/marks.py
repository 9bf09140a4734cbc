"""What re-rankers give, brought to 0 to 1 without a change of order."""

from collections.abc import Mapping
from math import exp

STEEPEST = 30.0
"""Logit whose sigmoid can still be told from 1: whatever is beyond makes all of them smaller."""
SCALES = (10.0, 100.0)
"""Best marks: what a chat model is asked for, and what some give nevertheless."""


def likely(scores: Mapping[int, float]) -> dict[int, float]:
    """A cross-encoder's scores: as they are if all are within 0 to 1, else they are logits, of
    which this is the sigmoid."""
    if all(0 <= score <= 1 for score in scores.values()):
        return dict(scores)
    shrunk = STEEPEST / max(STEEPEST, *map(abs, scores.values()))
    return {at: 1 / (1 + exp(-shrunk * score)) for at, score in scores.items()}


def shared_out(marks: Mapping[int, float]) -> dict[int, float] | None:
    """Marks of 0 to 10 as shares of the best, of 0 to 100 if any is over 10; None: of neither.

    Some mark with -1 what is of no use: what lies below 0 moves the worst mark there.
    """
    worst, most = min([0.0, *marks.values()]), max([0.0, *marks.values()])
    best = next((scale for scale in SCALES if most <= scale), None)
    if best is None or worst < -best:
        return None
    return {at: (mark - worst) / (best - worst) for at, mark in marks.items()}
