"""Ranking profiles as data: how words and meaning are joined, and what else counts how much."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kinmem.errors import InvalidInput
from kinmem.models import Curve
from kinmem.recall.formula import Formula

Fusion = Literal["score", "rrf"]
Weighing = Literal["bounded", "kinbot", "kore", "linear"]


@dataclass(frozen=True)
class Profile:
    """One way of ranking."""

    name: str
    weighing: Weighing
    fusion: Fusion = "score"
    shares: Mapping[str, float] = field(default_factory=dict)
    """For linear weighing: the share of each signal, summing to 1."""
    curve: Curve = "kin"
    formula: Formula = field(default_factory=Formula)
    """What counts how much where no documented system has its own number."""
    all_words_first: bool = False
    """Whether memories that have all the question's words leave the others out."""
    reads: frozenset[str] = frozenset()
    """The ranking variables that have an effect."""


RRF = frozenset({"MEMORY_RRF_K", "MEMORY_FTS_BOOST"})
DECAY = frozenset({"MEMORY_TEMPORAL_DECAY_LAMBDA", "MEMORY_TEMPORAL_DECAY_FLOOR"})
BOOSTS = frozenset({"MEMORY_SUBJECT_BOOST", "MEMORY_CATEGORY_BOOST", "MEMORY_RECENCY_BOOST"})


def _linear(
    name: str,
    semantic: float,
    recency: float,
    retention: float,
    importance: float,
    confidence: float,
) -> Profile:
    shares = {
        "semantic": semantic,
        "recency": recency,
        "retention": retention,
        "importance": importance,
        "confidence": confidence,
    }
    return Profile(name, "linear", shares=shares, curve="keyoku")


# relevance: the default, measured (docs/recall.md). kinbot, kore and Keyoku's five modes have
# the numbers of their documentation.
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("relevance", "bounded", reads=DECAY),
        Profile("kinbot", "kinbot", fusion="rrf", all_words_first=True, reads=RRF | DECAY | BOOSTS),
        Profile("kore", "kore", curve="kore"),
        _linear("recent", 0.30, 0.50, 0.10, 0.07, 0.03),
        _linear("important", 0.40, 0.10, 0.10, 0.35, 0.05),
        _linear("historical", 0.50, 0.05, 0.25, 0.15, 0.05),
        _linear("comprehensive", 0.45, 0.15, 0.15, 0.20, 0.05),
        _linear("balanced", 0.35, 0.20, 0.20, 0.20, 0.05),
    )
}


def profile_named(name: str, profiles: Mapping[str, Profile] = PROFILES) -> Profile:
    """Raises InvalidInput for a name that is none of the profiles."""
    if name not in profiles:
        raise InvalidInput(f"mode {name!r} is none of {', '.join(profiles)}")
    return profiles[name]


def reads(name: str, fusion: Fusion | None) -> frozenset[str]:
    """The ranking variables that have an effect when this profile is in force."""
    profile = PROFILES[name]
    return profile.reads | (RRF if (fusion or profile.fusion) == "rrf" else frozenset())
