"""Which chat model is asked for what."""

from dataclasses import dataclass
from typing import Literal

from kinmem.settings.declare import setting

Use = Literal[
    "extraction",
    "compacting",
    "consolidation",
    "review",
    "summary",
    "rewrite",
    "multi_query",
    "hyde",
    "rerank",
]
FALL_BACK = frozenset({"extraction", "compacting", "review"})
"""Those that nobody waits for; the others are off unless they are set, as in the seeds."""
SWITCHED_OFF = ("off", "0", "false", "none", "rules")


@dataclass(frozen=True)
class ModelSettings:
    """Which chat model is asked for what. Unset ones are never asked."""

    default: str | None = setting(
        "KINMEM_MODEL",
        None,
        "Chat model for extraction, summaries and review where they name none, e.g. gpt-4.1-mini, ollama/llama3.1 or providerId:modelId; unset: rules do without.",
    )
    extraction: str | None = setting(
        "MEMORY_EXTRACTION_MODEL",
        None,
        "Model that reads memories out of each turn; unset: KINMEM_MODEL, off: rules.",
    )
    compacting: str | None = setting(
        "COMPACTING_MODEL",
        None,
        "Model that summarises old turns; unset: KINMEM_MODEL, off: the telling sentences are kept.",
    )
    consolidation: str | None = setting(
        "MEMORY_CONSOLIDATION_MODEL",
        None,
        "Model that merges similar memories; unset: they are not merged by a model.",
    )
    review: str | None = setting(
        "KINMEM_REVIEW_MODEL",
        None,
        "Model that review_memories asks as well; unset: KINMEM_MODEL, off: rules.",
    )
    summary: str | None = setting(
        "KINMEM_SUMMARY_MODEL",
        None,
        "Model that summarises long memories and documents; unset: their most telling sentences are taken.",
    )
    rewrite: str | None = setting(
        "MEMORY_CONTEXTUAL_REWRITE_MODEL",
        None,
        "Model that makes follow-up questions stand alone; unset: what they leave out is carried over by rules.",
    )
    multi_query: str | None = setting(
        "MEMORY_MULTI_QUERY_MODEL",
        None,
        "Model that words a question in three other ways; unset: it is searched for as it is.",
    )
    hyde: str | None = setting(
        "MEMORY_HYDE_MODEL",
        None,
        "Model that makes up an answer, whose meaning is searched for as well; unset: none is.",
    )
    rerank: str | None = setting(
        "MEMORY_RERANK_MODEL",
        None,
        "Model that reads the best hits once more: a cross-encoder such as cohere/rerank-v3.5 or local:<folder>, or a chat model; unset: none does.",
    )
    judge: Literal["on", "off"] = setting(
        "KINMEM_JUDGE",
        "on",
        "The judge of language that comes with kinmem (docs/judge.md): what repeats or changes what, what is worth learning, what answers, what wants to command. off: exact rules alone decide, which notice less; it saves 80 MB of memory and some 5 ms for each pair of texts.",
    )
    deadline: float = setting(
        "KINMEM_MODEL_DEADLINE",
        60.0,
        "Seconds in which a chat model must have answered, retries included.",
        gt=0,
        le=3600,
    )

    @property
    def fallback(self) -> str | None:
        """KINMEM_MODEL, unless it is switched off."""
        return _switched_on(self.default)

    def named(self, use: Use) -> str | None:
        """The model for that use; None: rules. Only some fall back on KINMEM_MODEL."""
        name: str | None = getattr(self, use)
        return self.fallback if name is None and use in FALL_BACK else _switched_on(name)


def _switched_on(name: str | None) -> str | None:
    return None if name is None or name.casefold() in SWITCHED_OFF else name
