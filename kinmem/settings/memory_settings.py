"""Settings of a Kin's memory: what is learned, how it is found and ranked, how it is kept up, how
it fades; the notes that a prompt is given, and how long conversations shrink. And how a setting is
declared: its variable, default, one sentence and bounds, in one place.

Sections are dataclasses rather than pydantic models, because pydantic takes longer to load than
everything else that a hook without a server needs. Defaults need no check.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from kinmem.models import ConflictMode, Curve, Mode


def setting(
    variable: str,
    default: Any,
    description: str,
    *,
    check: Callable[[str], object] | None = None,
    **bounds: float,
) -> Any:
    """Declare a field of a section: the environment variable that sets it, and what it is for.

    `bounds` are pydantic's: ge, gt, le. `check` raises InvalidInput for a text that is not valid.
    """
    declared = {"variable": variable, "description": description, "check": check, "bounds": bounds}
    return field(default=default, metadata=declared)


@dataclass(frozen=True)
class LearnSettings:
    """What is learned from turns, and how duplicates, contradictions and secrets are treated."""

    learn: bool = setting(
        "KINMEM_LEARN",
        True,
        "Whether memories are learned from turns; while off, turns are only stored.",
    )
    conflict_mode: ConflictMode = setting(
        "KINMEM_CONFLICT_MODE",
        "temporal",
        "What happens to statements that cannot both hold: temporal (the later one holds), use_new, keep_existing, merge, ask.",
    )
    secrets: Literal["refuse", "redact", "keep"] = setting(
        "KINMEM_SECRETS",
        "refuse",
        "What happens to a key, password, card or id number in anything that is to be stored: refuse, redact (take it out) or keep. Of what is only observed (turns, hooks) refuse takes it out.",
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
        "Most memories that recall returns if the caller gives no limit.",
        ge=1,
        le=20,
    )
    profile: Mode = setting(
        "MEMORY_RANKING_PROFILE", "relevance", "How hits are ranked; recall's `mode` overrides it."
    )
    fusion: Literal["score", "rrf"] | None = setting(
        "MEMORY_FUSION",
        None,
        "How the results by words and by meaning are fused: score or rrf; unset: as the profile says.",
    )
    similarity_threshold: float | None = setting(
        "MEMORY_SIMILARITY_THRESHOLD",
        None,
        "Cosine below which meaning alone finds only weak hits, on the scale of the built-in embedder, to which others are converted; unset: its noise level, 0.2.",
        ge=0,
        le=1,
    )
    rrf_k: int = setting(
        "MEMORY_RRF_K",
        60,
        "Smoothing of rank fusion; the higher, the more low ranks count.",
        ge=1,
        le=10000,
    )
    fts_boost: float = setting(
        "MEMORY_FTS_BOOST", 1.2, "Weight of words relative to meaning in rank fusion.", ge=0, le=100
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
        "How fast scores fall with age, per day; 0 switches it off.",
        ge=0,
        le=100,
    )
    decay_floor: float = setting(
        "MEMORY_TEMPORAL_DECAY_FLOOR",
        0.7,
        "Smallest factor that age can apply to a score.",
        ge=0,
        le=1,
    )
    recency_boost: bool = setting(
        "MEMORY_RECENCY_BOOST",
        True,
        "Whether scores of memories from the last day, week and month are multiplied by 1.5, 1.25 and 1.1.",
    )
    adaptive_k: bool = setting(
        "MEMORY_ADAPTIVE_K", True, "Whether results that score far below the best are left out."
    )
    adaptive_k_min_score_ratio: float = setting(
        "MEMORY_ADAPTIVE_K_MIN_SCORE_RATIO",
        0.3,
        "Share of the best score that a result needs to be kept.",
        ge=0,
        le=1,
    )
    rewrite_threshold: int = setting(
        "MEMORY_CONTEXTUAL_REWRITE_THRESHOLD",
        80,
        "Longest question, in characters, that may be treated as a follow-up to the conversation; 0: none is.",
        ge=0,
        le=8192,
    )
    deadline: float = setting(
        "KINMEM_RECALL_DEADLINE",
        8.0,
        "Seconds that all models together may add to one recall; a model that is late is left out.",
        gt=0,
        le=600,
    )
    abstain: bool = setting(
        "KINMEM_ABSTAIN",
        True,
        "Whether recall says that it does not know when nothing it found is likely to answer.",
    )
    abstain_below: float = setting(
        "KINMEM_ABSTAIN_BELOW",
        0.04,
        "Confidence below which recall abstains; for messages of a conversation twice as much, and a fifth of it when words alone are searched.",
        ge=0,
        le=1,
    )
    turns: bool = setting(
        "KINMEM_RECALL_TURNS",
        True,
        "Whether recall also finds what was said in conversations, ranked after the memories; false: turns are not indexed either.",
    )
    tokens: int = setting(
        "KINMEM_RECALL_TOKENS",
        6000,
        "Most estimated tokens in one answer of recall; long memories are excerpted.",
        ge=200,
        le=200000,
    )


@dataclass(frozen=True)
class UpkeepSettings:
    """How often the sleep cycle runs, and how similar memories are merged."""

    sleep_every: int = setting(
        "KINMEM_SLEEP_EVERY",
        60,
        "Minutes between sleep cycles while a server runs; 0: only `kinmem sleep` runs one.",
        ge=0,
        le=10080,
    )
    consolidation_similarity: float | None = setting(
        "MEMORY_CONSOLIDATION_SIMILARITY",
        None,
        "Cosine from which MEMORY_CONSOLIDATION_MODEL is asked whether to merge memories; unset: calibrated for the embedder (0.6 for the built-in, 0.85 for others).",
        ge=0,
        le=1,
    )
    consolidation_max: int = setting(
        "MEMORY_CONSOLIDATION_MAX_GEN",
        5,
        "Most memories that consolidation creates in one run; 0 switches it off.",
        ge=0,
        le=1000,
    )
    turns_days: int = setting(
        "KINMEM_TURNS_DAYS",
        0,
        "Days for which turns are kept after memories were learned from them; 0: for good.",
        ge=0,
        le=36500,
    )
    compress: bool = setting(
        "KINMEM_COMPRESS",
        False,
        "Whether similar memories are merged without a model, keeping each distinct sentence once.",
    )
    compress_similarity: float = setting(
        "KINMEM_COMPRESS_SIMILARITY",
        0.88,
        "Cosine from which KINMEM_COMPRESS merges memories.",
        ge=0,
        le=1,
    )


# Rules by which memories that no person stated are moved to the bin.
Prune = Literal["off", "kinbot", "kybernesis"]


@dataclass(frozen=True)
class BackupSettings:
    """Backups that a server makes by itself, and how many of them are kept."""

    daily: Literal["on", "off"] = setting(
        "KINMEM_BACKUP_DAILY",
        "on",
        "Whether a server makes a backup of the whole home once a day; those before an upgrade, a restore or an import are always made.",
    )
    days: int = setting(
        "KINMEM_BACKUP_DAYS", 7, "Daily backups that are kept, one for each day.", ge=1, le=3660
    )
    weeks: int = setting(
        "KINMEM_BACKUP_WEEKS",
        4,
        "Daily backups that are kept beyond that, one for each week.",
        ge=0,
        le=520,
    )


@dataclass(frozen=True)
class LifeSettings:
    """How memories fade, and when fading changes their state."""

    curve: Curve = setting(
        "KINMEM_RETENTION_CURVE", "kin", "How memories fade; docs/life.md shows each curve."
    )
    stale_below: float = setting(
        "KINMEM_STALE_BELOW",
        0.3,
        "Retention below which a memory becomes stale and ranks lower; 0: none does.",
        ge=0,
        le=1,
    )
    archive_below: float = setting(
        "KINMEM_ARCHIVE_BELOW",
        0.1,
        "Retention below which a memory is archived; 0: low retention archives none.",
        ge=0,
        le=1,
    )
    archive_stale_days: int = setting(
        "KINMEM_ARCHIVE_STALE_DAYS",
        30,
        "Days after which a stale memory is archived; 0: it stays stale.",
        ge=0,
        le=36500,
    )
    delete_below: float = setting(
        "KINMEM_DELETE_BELOW",
        0.01,
        "Retention below which KINMEM_PRUNE=kybernesis moves archived memories to the bin; 0: never.",
        ge=0,
        le=1,
    )
    prune: Prune = setting(
        "KINMEM_PRUNE",
        "off",
        "Which memories that no person stated upkeep deletes: none, or those that KinBot or Kybernesis would; see docs/life.md.",
    )


@dataclass(frozen=True)
class InjectSettings:
    """What hooks add to prompts and sessions."""

    inject: bool = setting(
        "KINMEM_INJECT", True, "Whether hooks add the memories that fit a prompt to it."
    )
    token_budget: int = setting(
        "MEMORY_TOKEN_BUDGET",
        0,
        "Most estimated tokens of memories added to one prompt; 0: only MEMORY_MAX_RELEVANT limits them.",
        ge=0,
        le=1000000,
    )
    linger_minutes: float = setting(
        "KINMEM_LINGER_MINUTES",
        10,
        "Without a server, a hook starts a worker; minutes without a hook after which that worker ends.",
        ge=0,
        le=1440,
    )
    opening_tokens: int = setting(
        "KINMEM_OPENING_TOKENS",
        1500,
        "Most estimated tokens of memories given to a session at its start; 0: none are given.",
        ge=0,
        le=1000000,
    )


@dataclass(frozen=True)
class CompactSettings:
    """When a long conversation is compacted, and how much of it is left."""

    batch_turns: int = setting(
        "COMPACTING_BATCH_TURNS",
        10,
        "How many of the oldest turns one summary replaces.",
        ge=1,
        le=1000,
    )
    min_keep_turns: int = setting(
        "COMPACTING_MIN_KEEP_TURNS",
        15,
        "Latest turns that stay as they were said; once there is a batch more than this, the batch is summarised.",
        ge=1,
        le=10000,
    )
    turn_threshold: int | None = setting(
        "KINMEM_TURN_THRESHOLD",
        None,
        "Number of turns above which the oldest are summarised, in the proportion of the two settings before; unset: their sum.",
        ge=2,
        le=11000,
    )
    max_snapshots: int = setting(
        "COMPACTING_MAX_SNAPSHOTS",
        10,
        "Most summaries of one conversation; beyond that the two oldest become one.",
        ge=1,
        le=1000,
    )
    threshold_percent: int = setting(
        "COMPACTING_THRESHOLD_PERCENT",
        75,
        "Percentage of KINMEM_CONTEXT_WINDOW above which turns are summarised however few there are; 0 switches it off.",
        ge=0,
        le=100,
    )
    context_window: int = setting(
        "KINMEM_CONTEXT_WINDOW",
        200000,
        "Tokens in the context window of the conversation's model.",
        ge=1000,
        le=100000000,
    )
    keep_last: int = setting(
        "TOOL_RESULT_MASK_KEEP_LAST",
        2,
        "How many of the latest groups of tool calls keep their whole results in the context.",
        ge=0,
        le=1000,
    )
    window: int = setting(
        "OBSERVATION_COMPACTION_WINDOW",
        10,
        "How many groups of tool calls before those have their results cut; results of older ones become one line. 0 switches both off.",
        ge=0,
        le=1000,
    )
    max_chars: int = setting(
        "OBSERVATION_MAX_CHARS",
        200,
        "Characters left of a result that is cut.",
        ge=0,
        le=100000,
    )
    history_tokens: int = setting(
        "HISTORY_TOKEN_BUDGET",
        0,
        "Most tokens of a context; the oldest messages are dropped first. 0: no limit.",
        ge=0,
        le=100000000,
    )
    spill_threshold: int = setting(
        "TOOL_OUTPUT_SPILL_THRESHOLD",
        10000,
        "Bytes from which a tool's output is moved to a file and replaced by a preview; 0 switches it off.",
        ge=0,
        le=1000000000,
    )
    preview_lines: int = setting(
        "TOOL_OUTPUT_PREVIEW_LINES",
        200,
        "Lines in the preview, which never exceeds 4,000 characters.",
        ge=0,
        le=100000,
    )
    ttl_hours: float = setting(
        "TOOL_OUTPUT_TTL_HOURS",
        24,
        "Hours after which such a file is deleted; 0: never.",
        ge=0,
        le=1000000,
    )
