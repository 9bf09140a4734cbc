"""How often the sleep cycle runs, and how similar memories become one."""

from dataclasses import dataclass

from kinmem.settings.declare import setting


@dataclass(frozen=True)
class UpkeepSettings:
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
