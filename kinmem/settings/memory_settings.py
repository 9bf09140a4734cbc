"""What is learned, how memories are found and ranked, how they are kept up, and how they fade."""

from dataclasses import dataclass
from typing import Literal

from kinmem.models import ConflictMode, Curve, Mode
from kinmem.settings.declare import setting


@dataclass(frozen=True)
class LearnSettings:
    """What is learned from turns, and what becomes of doubles, contradictions and secrets."""

    learn: bool = setting(
        "KINMEM_LEARN",
        True,
        "Whether memories are learned from turns; those observed meanwhile are only stored.",
    )
    conflict_mode: ConflictMode = setting(
        "KINMEM_CONFLICT_MODE",
        "temporal",
        "What becomes of statements that cannot both be so: temporal (the later one holds), use_new, keep_existing, merge, ask.",
    )
    secrets: Literal["refuse", "redact", "allow"] = setting(
        "KINMEM_SECRETS",
        "refuse",
        "What memorize and update_memory do with keys and tokens; in observed turns they are always redacted.",
    )
    duplicate_similarity: float | None = setting(
        "KINMEM_DUPLICATE_SIMILARITY",
        None,
        "Cosine from which two texts may be the same statement; unset: calibrated for the embedder (0.9 for the built-in).",
        ge=0.5,
        le=1,
    )


@dataclass(frozen=True)
class RecallSettings:
    """How memories are found and ranked."""

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


@dataclass(frozen=True)
class UpkeepSettings:
    """How often the sleep cycle runs, and how similar memories become one."""

    sleep_every: int = setting(
        "KINMEM_SLEEP_EVERY",
        60,
        "Minutes from one sleep cycle to the next while a server runs; 0: only kinmem sleep runs it.",
        ge=0,
        le=10080,
    )
    consolidation_similarity: float | None = setting(
        "MEMORY_CONSOLIDATION_SIMILARITY",
        None,
        "Cosine from which MEMORY_CONSOLIDATION_MODEL is asked whether to merge; unset: calibrated for the embedder (0.6 for the built-in, 0.85 for others).",
        ge=0,
        le=1,
    )
    consolidation_max: int = setting(
        "MEMORY_CONSOLIDATION_MAX_GEN",
        5,
        "Memories that consolidation makes in one run; 0 switches it off.",
        ge=0,
        le=1000,
    )
    turns_days: int = setting(
        "KINMEM_TURNS_DAYS",
        0,
        "Days for which what was said in conversations is kept, once it was learned from; 0: for good.",
        ge=0,
        le=36500,
    )
    compress: bool = setting(
        "KINMEM_COMPRESS",
        False,
        "Whether similar memories are merged without a model, by their unique sentences.",
    )
    compress_similarity: float = setting(
        "KINMEM_COMPRESS_SIMILARITY", 0.88, "Cosine from which KINMEM_COMPRESS merges.", ge=0, le=1
    )


Prune = Literal["off", "kinbot", "kybernesis"]
"""What goes into the bin by itself of what nobody told."""


@dataclass(frozen=True)
class LifeSettings:
    """How memories fade, and when that changes their state."""

    curve: Curve = setting(
        "KINMEM_RETENTION_CURVE", "kin", "How memories fade; docs/life.md shows each curve."
    )
    stale_below: float = setting(
        "KINMEM_STALE_BELOW",
        0.3,
        "Retention below which a memory is stale and ranks lower; 0: none becomes so.",
        ge=0,
        le=1,
    )
    archive_below: float = setting(
        "KINMEM_ARCHIVE_BELOW",
        0.1,
        "Retention below which it is archived; 0: none is for its retention.",
        ge=0,
        le=1,
    )
    archive_stale_days: int = setting(
        "KINMEM_ARCHIVE_STALE_DAYS",
        30,
        "Days after which what is stale is archived; 0: it stays stale.",
        ge=0,
        le=36500,
    )
    delete_below: float = setting(
        "KINMEM_DELETE_BELOW",
        0.01,
        "Retention below which KINMEM_PRUNE=kybernesis empties the archive into the bin; 0: never.",
        ge=0,
        le=1,
    )
    prune: Prune = setting(
        "KINMEM_PRUNE",
        "off",
        "What upkeep erases of what no person told: nothing, or as a seed does; docs/life.md.",
    )
