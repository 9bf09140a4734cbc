"""How memories are found and ranked."""

from dataclasses import dataclass
from typing import Literal

from kinmem.models import Mode
from kinmem.settings.declare import setting


@dataclass(frozen=True)
class RecallSettings:
    max_relevant: int = setting(
        "MEMORY_MAX_RELEVANT",
        10,
        "Memories that recall returns at most when it is not told a limit.",
        ge=1,
        le=20,
    )
    profile: Mode = setting(
        "MEMORY_RANKING_PROFILE", "relevance", "How hits are ranked; recall's `mode` overrides it."
    )
    fusion: Literal["score", "rrf"] | None = setting(
        "MEMORY_FUSION",
        None,
        "How words and meaning are joined: score or rrf; unset: as the profile says.",
    )
    similarity_threshold: float | None = setting(
        "MEMORY_SIMILARITY_THRESHOLD",
        None,
        "Cosine below which meaning alone finds nothing but weak hits, on the built-in model's scale, which all share; unset: its noise, 0.2.",
        ge=0,
        le=1,
    )
    rrf_k: int = setting(
        "MEMORY_RRF_K",
        60,
        "Smoothing of rank fusion; higher lets low ranks count for more.",
        ge=1,
        le=10000,
    )
    fts_boost: float = setting(
        "MEMORY_FTS_BOOST", 1.2, "Weight of words against meaning in rank fusion.", ge=0, le=100
    )
    subject_boost: float = setting(
        "MEMORY_SUBJECT_BOOST",
        1.3,
        "Factor for memories whose subject the question names; 1 switches it off.",
        ge=0,
        le=100,
    )
    category_boost: float = setting(
        "MEMORY_CATEGORY_BOOST",
        1.25,
        "Factor for memories of a category that the question asks for; 1 switches it off.",
        ge=0,
        le=100,
    )
    decay_lambda: float = setting(
        "MEMORY_TEMPORAL_DECAY_LAMBDA",
        0.01,
        "How fast scores fall with age, a day; 0 switches it off.",
        ge=0,
        le=100,
    )
    decay_floor: float = setting(
        "MEMORY_TEMPORAL_DECAY_FLOOR", 0.7, "What age leaves of a score at least.", ge=0, le=1
    )
    recency_boost: bool = setting(
        "MEMORY_RECENCY_BOOST",
        True,
        "Whether memories of the last day, week and month score 1.5, 1.25 and 1.1 times as much.",
    )
    adaptive_k: bool = setting(
        "MEMORY_ADAPTIVE_K", True, "Whether results that fall far behind the best are left out."
    )
    adaptive_k_min_score_ratio: float = setting(
        "MEMORY_ADAPTIVE_K_MIN_SCORE_RATIO",
        0.3,
        "Share of the best score that a result needs.",
        ge=0,
        le=1,
    )
    rewrite_threshold: int = setting(
        "MEMORY_CONTEXTUAL_REWRITE_THRESHOLD",
        80,
        "Characters up to which a question may be taken for a follow-up to the conversation; 0: none is.",
        ge=0,
        le=8192,
    )
    deadline: float = setting(
        "KINMEM_RECALL_DEADLINE",
        8.0,
        "Seconds that all models together may add to one recall; what is late is left out.",
        gt=0,
        le=600,
    )
    entity_boost: float = setting(
        "KINMEM_ENTITY_BOOST",
        0.0,
        "Most that an entity in the question adds to the score of a memory about it; 0: nothing.",
        ge=0,
        le=1,
    )
    abstain: bool = setting(
        "KINMEM_ABSTAIN",
        True,
        "Whether recall says that it does not know where nothing found is likely to answer.",
    )
    abstain_below: float = setting(
        "KINMEM_ABSTAIN_BELOW",
        0.04,
        "Confidence that the best hit needs; a fifth of it among turns of talk or by words alone.",
        ge=0,
        le=1,
    )
    turns: bool = setting(
        "KINMEM_RECALL_TURNS",
        True,
        "Whether recall finds, behind the memories, what was said in conversations; false: turns are not indexed either.",
    )
    tokens: int = setting(
        "KINMEM_RECALL_TOKENS",
        6000,
        "Estimated tokens that one answer of recall holds at most; long memories are excerpted.",
        ge=200,
        le=200000,
    )
