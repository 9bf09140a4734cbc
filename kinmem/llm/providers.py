"""The providers of KinBot's pages: names, keys, addresses, and how they are asked for vectors.

Models and widths are those the pages name, else those litellm lists. None was asked live:
tests/llm/test_providers.py sends each one's requests to a double on this machine.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kinmem.llm.base import Purpose

Use = Literal["embedding", "completion", "rerank"]
"""litellm's functions."""


@dataclass(frozen=True)
class NomicAnswer:
    """As litellm's answers are."""

    data: list[dict[str, Any]]


@dataclass(frozen=True)
class Width:
    """How many numbers a model's vectors have."""

    own: int
    offers: bool = False
    """Whether other widths can be asked for."""


@dataclass(frozen=True)
class Provider:
    """One provider. Of several variables the first that is set counts."""

    id: str
    """Before the colon of providerId:modelId."""
    title: str
    prefix: str
    """Before the slash of litellm's names."""
    keys: tuple[str, ...]
    addresses: tuple[str, ...]
    """Variables that name another address than the provider's own."""
    needs_key: bool = True
    has_route: bool = True
    """Whether there is a way to ask it for vectors; else it is asked as OpenAI is."""
    address: str | None = None
    """Where vectors are asked for; None: litellm knows."""
    guarded: str | None = None
    """Where one is that litellm asks for vectors without the key it is given: with a key it is
    asked as OpenAI is, there or at an address of one's own."""
    paths: Mapping[Use, str] = field(default_factory=dict)
    """What litellm wants behind an address of one's own, and does not add by itself."""
    models: Mapping[str, Width] = field(default_factory=dict)
    offers: bool = False
    """Whether models that are not listed may be asked for other widths."""
    fields: Mapping[Purpose, Mapping[str, Any]] = field(default_factory=dict)
    """What it is told of the texts."""
    untold: str = "-"
    """How the names of models begin that take no such fields."""


PROVIDERS = (
    Provider(
        "openai",
        "OpenAI",
        "openai",
        ("OPENAI_API_KEY",),
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        models={
            "text-embedding-3-small": Width(1536, offers=True),
            "text-embedding-3-large": Width(3072, offers=True),
            "text-embedding-ada-002": Width(1536),
        },
        offers=True,
    ),
    Provider(
        "voyage",
        "Voyage AI",
        "voyage",
        ("VOYAGE_API_KEY",),
        ("VOYAGE_API_BASE",),
        models={
            "voyage-4-large": Width(1024, offers=True),
            "voyage-4": Width(1024, offers=True),
            "voyage-4-lite": Width(1024, offers=True),
            "voyage-3.5": Width(1024, offers=True),
            "voyage-3.5-lite": Width(1024, offers=True),
            "voyage-3-large": Width(1024, offers=True),
            "voyage-3": Width(1024),
            "voyage-3-lite": Width(512),
            "voyage-multilingual-2": Width(1024),
        },
        offers=True,
        fields={"memory": {"input_type": "document"}, "question": {"input_type": "query"}},
    ),
    Provider(
        "jina",
        "Jina AI",
        "jina_ai",
        ("JINA_AI_API_KEY", "JINA_API_KEY"),
        ("JINA_AI_API_BASE",),
        models={
            "jina-embeddings-v4": Width(2048, offers=True),
            "jina-embeddings-v3": Width(1024, offers=True),
            "jina-embeddings-v2-base-en": Width(768),
        },
        offers=True,
        fields={"memory": {"task": "retrieval.passage"}, "question": {"task": "retrieval.query"}},
        untold="jina-embeddings-v2",
    ),
    Provider(
        "nomic",
        "Nomic",
        "nomic",
        ("NOMIC_API_KEY",),
        ("NOMIC_API_BASE",),
        address="https://api-atlas.nomic.ai/v1",  # llm/providers.py asks it
        models={
            "nomic-embed-text-v1.5": Width(768, offers=True),
            "nomic-embed-text-v1": Width(768),
        },
        fields={
            "memory": {"task_type": "search_document"},
            "question": {"task_type": "search_query"},
        },
    ),
    Provider(
        "mistral",
        "Mistral",
        "mistral",
        ("MISTRAL_API_KEY",),
        ("MISTRAL_API_BASE",),
        models={"mistral-embed": Width(1024), "codestral-embed": Width(1536)},
    ),
    Provider(
        "deepseek",
        "DeepSeek",
        "deepseek",
        ("DEEPSEEK_API_KEY",),
        ("DEEPSEEK_API_BASE",),
        has_route=False,
        address="https://api.deepseek.com/v1",
    ),
    Provider(
        "cohere",
        "Cohere",
        "cohere",
        ("COHERE_API_KEY", "CO_API_KEY"),
        ("COHERE_API_BASE",),
        paths={"embedding": "/v2/embed", "completion": "/v2/chat", "rerank": ""},
        models={
            "embed-english-v3.0": Width(1024),
            "embed-multilingual-v3.0": Width(1024),
            "embed-english-light-v3.0": Width(384),
            "embed-multilingual-light-v3.0": Width(384),
            "embed-v4.0": Width(1536, offers=True),
        },
        offers=True,
        fields={
            "memory": {"input_type": "search_document", "embedding_types": ["float"]},
            "question": {"input_type": "search_query", "embedding_types": ["float"]},
        },
    ),
    Provider(
        "together",
        "Together AI",
        "together_ai",
        ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
        ("TOGETHER_AI_API_BASE",),
        models={
            "BAAI/bge-base-en-v1.5": Width(768),
            "BAAI/bge-large-en-v1.5": Width(1024),
            "intfloat/multilingual-e5-large-instruct": Width(1024),
        },
    ),
    Provider(
        "fireworks",
        "Fireworks AI",
        "fireworks_ai",
        ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        ("FIREWORKS_API_BASE",),
        models={
            "nomic-ai/nomic-embed-text-v1.5": Width(768, offers=True),
            "WhereIsAI/UAE-Large-V1": Width(1024),
            "thenlper/gte-large": Width(1024),
        },
    ),
    Provider(
        "ollama",
        "Ollama",
        "ollama",
        ("OLLAMA_API_KEY",),
        ("OLLAMA_API_BASE",),
        needs_key=False,
        guarded="http://localhost:11434",
        models={
            "nomic-embed-text": Width(768),
            "mxbai-embed-large": Width(1024),
            "bge-m3": Width(1024),
            "all-minilm": Width(384),
        },
        offers=True,
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        "openrouter",
        ("OPENROUTER_API_KEY", "OR_API_KEY"),
        ("OPENROUTER_API_BASE",),
        models={
            "openai/text-embedding-3-small": Width(1536, offers=True),
            "openai/text-embedding-3-large": Width(3072, offers=True),
        },
        offers=True,
    ),
    Provider(
        "xai",
        "xAI",
        "xai",
        ("XAI_API_KEY",),
        ("XAI_API_BASE",),
        has_route=False,
        address="https://api.x.ai/v1",
    ),
)

NAMED: Mapping[str, Provider] = {
    name: provider for provider in PROVIDERS for name in (provider.prefix, provider.id)
}
"""By both of its names."""

BARE = {
    "openai": re.compile(r"text-embedding-|gpt-|chatgpt-|o\d(-|$)"),
    "cohere": re.compile(r"embed-(english|multilingual|v\d)|rerank-(english|multilingual|v\d)"),
    "voyage": re.compile(r"voyage-|rerank-(lite-)?\d"),
    "jina": re.compile(r"jina-"),
    "nomic": re.compile(r"nomic-embed-text-v\d"),
    "mistral": re.compile(r"mistral-|codestral-|ministral-"),
    "deepseek": re.compile(r"deepseek-"),
    "xai": re.compile(r"grok-"),
}
"""How names begin that say by themselves whose they are."""

OPENINGS: Mapping[str, Mapping[Purpose, str]] = {
    "nomic-embed-text": {"memory": "search_document: ", "question": "search_query: "},
}
"""What a text of each purpose has to begin with, by a part of the model's name; Nomic's own service
is told in a field instead."""


def provider_of(name: str) -> tuple[Provider, str] | None:
    """Whose model it is and what they call it: openai:m, openai/m, or m where it says so itself.

    None: whoever litellm finds. A colon in a model's own name, as in llama3:8b, means nothing.
    """
    for mark in ":/":
        prefix, found, model = name.partition(mark)
        if found and prefix in NAMED:
            again = f"{NAMED[prefix].prefix}/" if mark == ":" else ""
            return NAMED[prefix], model.removeprefix(again)
    return next(((NAMED[id], name) for id, own in BARE.items() if own.match(name)), None)


def opening(provider: Provider | None, model: str) -> Mapping[Purpose, str]:
    """What texts for that model begin with; nothing for most."""
    if provider is not None and provider.id == "nomic":
        return {}
    return next((words for part, words in OPENINGS.items() if part in model), {})


def fields_of(provider: Provider | None, model: str) -> Mapping[Purpose, Mapping[str, Any]]:
    """What that model is told of texts, by purpose."""
    if provider is None or model.startswith(provider.untold):
        return {}
    return provider.fields


def table() -> str:
    """The table of docs/providers.md."""
    lines = ["| provider | a model, and its width | key | another address |", "| --- " * 4 + "|"]
    for one in PROVIDERS:
        model, width = next(iter(one.models.items()), ("...", None))
        example = f"`{one.id}:{model}`" + (f", {_told(width)}" if width else "")
        key = f"`{one.keys[0]}`" + ("" if one.needs_key else ", if it asks for one")
        lines.append(f"| {one.title} | {example} | {key} | `{one.addresses[0]}` |")
    return "\n".join(lines)


def _told(width: Width) -> str:
    return f"{width.own} or other" if width.offers else str(width.own)


def nomic_embedding(
    client: Any,
    *,
    model: str,
    input: Sequence[str],
    api_base: str,
    api_key: str,
    task_type: str,
    dimensions: int | None = None,
) -> NomicAnswer:
    """Asked as litellm's function of that name is; `client` is one of httpx, and keeps the limits.

    Raises whatever httpx raises, and KeyError or ValueError for an answer that is none.
    """
    name = model.removeprefix("nomic/")
    body: dict[str, Any] = {"model": name, "texts": list(input), "task_type": task_type}
    if dimensions is not None:
        body["dimensionality"] = dimensions
    answer = client.post(
        f"{api_base}/embedding/text", json=body, headers={"Authorization": f"Bearer {api_key}"}
    )
    if answer.status_code >= 400:
        raise ValueError(answer.text)
    rows = answer.json()["embeddings"]
    return NomicAnswer([{"index": place, "embedding": row} for place, row in enumerate(rows)])
