"""What is learned from turns, and what becomes of doubles, contradictions and secrets."""

from dataclasses import dataclass
from typing import Literal

from kinmem.models import ConflictMode
from kinmem.settings.declare import setting


@dataclass(frozen=True)
class LearnSettings:
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
