"""Settings of conversations: the notes that a prompt is given, and how long conversations
shrink."""

from dataclasses import dataclass

from kinmem.settings.declare import setting


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
