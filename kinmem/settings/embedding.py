"""Which model turns texts into vectors."""

from dataclasses import dataclass

from kinmem.settings.declare import setting


@dataclass(frozen=True)
class EmbeddingSettings:
    model: str | None = setting(
        "MEMORY_EMBEDDING_MODEL",
        None,
        "Embedding model, e.g. text-embedding-3-small, ollama/nomic-embed-text, providerId:modelId or local:<folder>; unset: the built-in one.",
    )
    dimension: int | None = setting(
        "MEMORY_EMBEDDING_DIMENSION",
        None,
        "Width to ask of models that offer several; unset: the model's own.",
        ge=8,
        le=4096,
    )
    deadline: float = setting(
        "KINMEM_EMBEDDING_DEADLINE",
        10.0,
        "Seconds in which an embedding call must be done, retries included.",
        gt=0,
        le=600,
    )
