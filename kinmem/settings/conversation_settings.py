"""What a turn is told unasked, and when a long conversation is made shorter."""

from dataclasses import dataclass

from kinmem.settings.declare import setting


@dataclass(frozen=True)
class InjectSettings:
    """What a turn is told unasked."""

    inject: bool = setting(
        "KINMEM_INJECT", True, "Whether hooks answer a prompt with the memories that fit it."
    )
    token_budget: int = setting(
        "MEMORY_TOKEN_BUDGET",
        0,
        "Estimated tokens of the memories that one turn is given; 0: no limit but MEMORY_MAX_RELEVANT.",
        ge=0,
        le=1000000,
    )
    linger_minutes: float = setting(
        "KINMEM_LINGER_MINUTES",
        10,
        "Minutes without a hook after which the worker ends that a hook starts where no server runs.",
        ge=0,
        le=1440,
    )
    opening_tokens: int = setting(
        "KINMEM_OPENING_TOKENS",
        1500,
        "Estimated tokens of what a session is given at its start; 0 gives nothing.",
        ge=0,
        le=1000000,
    )


@dataclass(frozen=True)
class CompactSettings:
    """When a long conversation is made shorter, and how much is left."""

    batch_turns: int = setting(
        "COMPACTING_BATCH_TURNS", 10, "Oldest turns that one summary stands for.", ge=1, le=1000
    )
    min_keep_turns: int = setting(
        "COMPACTING_MIN_KEEP_TURNS",
        15,
        "Turns that stay as they were said; more than this and a batch, and the batch is summarised.",
        ge=1,
        le=10000,
    )
    turn_threshold: int | None = setting(
        "KINMEM_TURN_THRESHOLD",
        None,
        "Turns above which the oldest are summarised, split as the two settings before; unset: their sum.",
        ge=2,
        le=11000,
    )
    max_snapshots: int = setting(
        "COMPACTING_MAX_SNAPSHOTS",
        10,
        "Summaries of one conversation; beyond them the two oldest become one.",
        ge=1,
        le=1000,
    )
    threshold_percent: int = setting(
        "COMPACTING_THRESHOLD_PERCENT",
        75,
        "Share of KINMEM_CONTEXT_WINDOW above which turns are summarised however few they are; 0 switches it off.",
        ge=0,
        le=100,
    )
    context_window: int = setting(
        "KINMEM_CONTEXT_WINDOW",
        200000,
        "Tokens that the conversation's model reads.",
        ge=1000,
        le=100000000,
    )
    keep_last: int = setting(
        "TOOL_RESULT_MASK_KEEP_LAST",
        2,
        "Latest groups of tool calls whose results stay whole in the context.",
        ge=0,
        le=1000,
    )
    window: int = setting(
        "OBSERVATION_COMPACTION_WINDOW",
        10,
        "Groups of tool calls before those whose results are cut; still older ones become one line. 0 switches both off.",
        ge=0,
        le=1000,
    )
    max_chars: int = setting(
        "OBSERVATION_MAX_CHARS",
        200,
        "Characters that are left of a result that is cut.",
        ge=0,
        le=100000,
    )
    history_tokens: int = setting(
        "HISTORY_TOKEN_BUDGET",
        0,
        "Tokens of a context at most; the oldest messages go first. 0: no limit.",
        ge=0,
        le=100000000,
    )
    spill_threshold: int = setting(
        "TOOL_OUTPUT_SPILL_THRESHOLD",
        10000,
        "Bytes from which a tool's output goes to a file and a preview stays; 0 switches it off.",
        ge=0,
        le=1000000000,
    )
    preview_lines: int = setting(
        "TOOL_OUTPUT_PREVIEW_LINES",
        200,
        "Lines of the preview, 4,000 characters at most.",
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
