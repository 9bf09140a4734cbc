"""What a turn is told unasked."""

from dataclasses import dataclass

from kinmem.settings.declare import setting


@dataclass(frozen=True)
class InjectSettings:
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
