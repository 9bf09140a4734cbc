"""The ranking profiles as data: how relevance is told, and the weight of everything else.

The numbers of the default ranking are all in Formula, so that each can be left out and measured:
`python -m benchmarks ablation` does that for every one of them, and docs/benchmarks.md has the
table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kinmem.models import Curve

Fusion = Literal["score", "rrf"]
Weighing = Literal["bounded", "kinbot", "kore", "linear"]


@dataclass(frozen=True)
class Formula:
    """The weight of each part of a recall. 0, or False, switches a part off."""

    # question
    without_names: bool = True
    """Whether names that the store knows are left out of the embedded text."""
    without_phrases: bool = True
    """The same for phrases about the asking itself ("can you give me a summary of")."""
    without_asking_words: bool = True
    """Whether words about the asking itself are left out of the word search."""
    without_stop_words: bool = True

    # search
    nearest: int = 50
    """Candidates by meaning. More only cost time."""
    matching: int = 100
    """Candidates by words. Fewer lose recall."""
    listed: int = 200
    """How far down word ranks are reported, and so for how many candidates by meaning BM25 is
    known."""
    context: float = 0.3
    """Weight of a word in the source context; in content and subject it is 1."""

    # fuse
    words: float = 0.3
    """Weight of the best BM25, where a cosine has weight 1."""
    first_part: float = 0.7
    """Share of the first part, which says what a text is about, in a long text's cosine. The rest
    is the best part's."""
    per_ln_parts: float = 0.03
    """Deduction for further parts (times their natural logarithm): a long text has more chances to
    be near."""

    # expand
    expansion: float = 0.7
    """Weight of what another wording of the question finds, times the trust in the wording."""

    # neighbours
    neighbours: float = 0.2
    """Share of the better neighbour's score that is added."""
    answers: float = 0.15
    """Share of the score of the question right before it."""

    # weigh: bonuses, added only where a candidate is relevant
    gate: float = 0.3
    """Relevance below which bonuses fade."""
    named: float = 0.25
    """For what was said by or about the one person whom the question names."""
    by_user: float = 0.3
    """For what was not said by an assistant."""
    standing_wish: float = 0.15
    """For a standing instruction ("always ...") that applies to the question."""
    then: float = 0.2
    """For what was said at the time that the question names."""
    evidence: float = 1.0
    """Factor of the text's evidence (language/salience.py)."""
    worth: float = 0.25
    """Exponent of importance x use. Importance 1 to 10 alone spans 0.6 to 1.5; its fourth root
    spans a tenth either way, and no more may move."""
    age: float = 0.02
    """Exponent of the decay by age: less than a hundredth is lost, enough to order equals."""


@dataclass(frozen=True)
class Profile:
    """One way of ranking."""

    name: str
    weighing: Weighing
    fusion: Fusion = "score"
    shares: Mapping[str, float] = field(default_factory=dict)
    """For linear weighing: the share of each signal; they add up to 1."""
    curve: Curve = "kin"
    formula: Formula = field(default_factory=Formula)
    """The weights of everything for which no documented system has its own number."""
    all_words_first: bool = False
    """Whether memories with all of the question's words exclude the others."""
    reads: frozenset[str] = frozenset()
    """The environment variables for ranking that have an effect."""


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


# `relevance` is the default and was measured (docs/benchmarks.md). kinbot, kore and Keyoku's five
# modes have the numbers of their documentation.
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


def reads(name: str, fusion: Fusion | None) -> frozenset[str]:
    """Return the environment variables for ranking that have an effect with this profile."""
    profile = PROFILES[name]
    return profile.reads | (RRF if (fusion or profile.fusion) == "rrf" else frozenset())
