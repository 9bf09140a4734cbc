"""Ranking profiles as data: how words and meaning are joined, and what else counts how much.

The numbers of the default ranking stand together in Formula, so that each can be left out and
measured: `python -m benchmarks ablation` does so for every one of them; docs/benchmarks.md has the
table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kinmem.errors import InvalidInput
from kinmem.models import Curve

Fusion = Literal["score", "rrf"]
Weighing = Literal["bounded", "kinbot", "kore", "linear"]


@dataclass(frozen=True)
class Formula:
    """How much each part of a recall counts. 0, or False, is without it."""

    # question
    without_names: bool = True
    """Whether names that the store knows are left out of what is embedded."""
    without_phrases: bool = True
    """The same for phrases about the asking ("can you give me a summary of")."""
    without_asking_words: bool = True
    """Whether words about the asking are left out of what is searched word by word."""
    without_stop_words: bool = True

    # search
    nearest: int = 50
    """Candidates by meaning. More only cost time."""
    matching: int = 100
    """Candidates by words. Fewer lose recall."""
    listed: int = 200
    """How far down the word ranks are told: it is also how candidates by meaning match."""
    context: float = 0.3
    """Weight of a word in the source context, beside 1 in content and subject."""

    # fuse
    words: float = 0.3
    """Of the best BM25, beside a cosine that counts whole."""
    first_part: float = 0.7
    """Of a long text's cosine its first part's, which says what it is about; else its best's."""
    per_ln_parts: float = 0.03
    """What further parts cost: a long text has more tries at being near."""

    # expand
    expansion: float = 0.7
    """Of what another wording of the question finds, as far as the wording is trusted."""

    # neighbours
    neighbours: float = 0.2
    """Of the score of the better one of the two that stood next to it."""
    answers: float = 0.15
    """Of the score of the question right before it."""

    # weigh: bonuses, added where a candidate is relevant at all
    gate: float = 0.3
    """Relevance below which bonuses fade."""
    named: float = 0.25
    """For what was said by or about the one person named."""
    by_user: float = 0.3
    """For what no assistant said."""
    standing_wish: float = 0.15
    """For an instruction ("always ...") that the question falls under."""
    then: float = 0.2
    """For what was said at the time named."""
    evidence: float = 1.0
    """Times the evidence of the text (language/weight.py)."""
    worth: float = 0.25
    """Power of importance x use. Importance 1 to 10 alone spans 0.6 to 1.5; its fourth root spans a
    tenth either way, which is all that may move."""
    age: float = 0.02
    """Power of what age leaves of a score: less than a hundredth goes, so that it orders equals."""


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


# relevance: the default, measured (docs/benchmarks.md). kinbot, kore and Keyoku's five modes have
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
