"""How memories fade: named curves from 1, fresh, to 0, gone. Pure arithmetic."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Curve = Literal["kin", "keyoku", "kore"]


@dataclass(frozen=True, slots=True)
class Fading:
    """What the curves know of a memory."""

    category: str
    importance: float | None
    """1-10; None counts as 5."""
    uses: int
    idle_days: float
    """Since it was last used, or stored if it never was; below 0 counts as 0."""


# Days of base stability by category: KinBot's four as our own, the others from Keyoku's table.
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
# Kore's half-lives in days for its importance 1 to 5, which is half of ours, rounded up.
HALF_LIFE_DAYS = (7, 14, 30, 90, 365)
GROWTH_PER_USE = 1.15
MOST_HALF_LIFE_DAYS = 3650


def retention(memory: Fading, curve: Curve) -> float:
    """How much of the memory is left by that curve, between 0 and 1."""
    return CURVES[curve](memory, max(0.0, memory.idle_days))


def _kin(memory: Fading, idle: float) -> float:
    """Keyoku's stability by category, scaled by importance as in Kore, slowed by use."""
    stability = STABILITY_DAYS[memory.category] * (0.5 + _importance(memory) / 10)
    return math.exp(-idle / (stability * _slowing(memory)))


def _keyoku(memory: Fading, idle: float) -> float:
    return math.exp(-idle / (STABILITY_DAYS[memory.category] * _slowing(memory)))


def _kore(memory: Fading, idle: float) -> float:
    """The seed's compound growth; the cap is ours, it keeps the power finite."""
    base = HALF_LIFE_DAYS[math.ceil(_importance(memory) / 2) - 1]
    half_life = min(base * GROWTH_PER_USE ** min(memory.uses, 100), MOST_HALF_LIFE_DAYS)
    return float(2 ** (-idle / half_life))


def _slowing(memory: Fading) -> float:
    return 1 + 0.5 * math.log1p(memory.uses)


def _importance(memory: Fading) -> float:
    return 5.0 if memory.importance is None else memory.importance


CURVES: Mapping[Curve, Callable[[Fading, float], float]] = {
    "kin": _kin,
    "keyoku": _keyoku,
    "kore": _kore,
}
