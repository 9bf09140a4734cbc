"""The providers that KinBot documents: names, keys, addresses, and how to ask them for vectors.

Models and widths are those that KinBot's pages name, else those that litellm lists. None was tried
against the real service: tests/llm/test_providers.py sends requests to a double on this machine.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kinmem.llm.base import Purpose

# litellm's functions.
Use = Literal["embedding", "completion", "rerank"]


@dataclass(frozen=True)
class NomicAnswer:
    """An answer in the form of litellm's."""

    data: list[dict[str, Any]]


@dataclass(frozen=True)
class Width:
    """The width of a model's vectors."""

    own: int
    offers: bool = False
    """Whether other widths can be requested."""


@dataclass(frozen=True)
class Provider:
    """One provider. Of several variables the first one set counts."""

    id: str
    """The part before the colon in providerId:modelId."""
    title: str
    prefix: str
    """The part before the slash in litellm's names."""
    keys: tuple[str, ...]
    addresses: tuple[str, ...]
    """Variables that replace the provider's address."""
    needs_key: bool = True
    has_route: bool = True
    """Whether litellm can ask it for vectors; if not, it is asked like OpenAI."""
    address: str | None = None
    """Where to ask for vectors; None: litellm knows."""
    guarded: str | None = None
    """The address of a provider that litellm asks for vectors without the key. If there is a key,
    it is asked like OpenAI, at this address or the user's own."""
    paths: Mapping[Use, str] = field(default_factory=dict)
    """What litellm expects at the end of a user's own address and does not append itself."""
    models: Mapping[str, Width] = field(default_factory=dict)
    offers: bool = False
    """Whether other widths may be requested from models that are not listed."""
    fields: Mapping[Purpose, Mapping[str, Any]] = field(default_factory=dict)
    """Additional fields of a request, by purpose of the texts."""
    untold: str = "-"
    """Prefix of the names of models that take no such fields."""


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
        address="https://api-atlas.nomic.ai/v1",  # nomic_embedding asks it
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

# The providers by both of their names.
NAMED: Mapping[str, Provider] = {
    name: provider for provider in PROVIDERS for name in (provider.prefix, provider.id)
}

# Prefixes of model names that identify their provider.
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

# What texts of each purpose begin with, by a part of the model's name. Nomic's own service takes a
# field instead.
OPENINGS: Mapping[str, Mapping[Purpose, str]] = {
    "nomic-embed-text": {"memory": "search_document: ", "question": "search_query: "},
}


def provider_of(name: str) -> tuple[Provider, str] | None:
    """Return the provider of a model and the provider's name for it: from openai:m, openai/m, or m
    if that identifies the provider.

    None means that litellm decides. A colon in a model's own name, as in llama3:8b, is left alone.
    """
    for mark in ":/":
        prefix, found, model = name.partition(mark)
        if found and prefix in NAMED:
            again = f"{NAMED[prefix].prefix}/" if mark == ":" else ""
            return NAMED[prefix], model.removeprefix(again)
    return next(((NAMED[id], name) for id, own in BARE.items() if own.match(name)), None)


def opening(provider: Provider | None, model: str) -> Mapping[Purpose, str]:
    """Return what texts for that model begin with; nothing for most models."""
    if provider is not None and provider.id == "nomic":
        return {}
    return next((words for part, words in OPENINGS.items() if part in model), {})


def fields_of(provider: Provider | None, model: str) -> Mapping[Purpose, Mapping[str, Any]]:
    """Return the additional fields of a request to that model, by purpose."""
    if provider is None or model.startswith(provider.untold):
        return {}
    return provider.fields


def table() -> str:
    """Return the table in docs/providers.md."""
    lines = ["| provider | a model, and its width | key | another address |", "| --- " * 4 + "|"]
    for one in PROVIDERS:
        model, width = next(iter(one.models.items()), ("...", None))
        example = f"`{one.id}:{model}`" + (f", {_width_text(width)}" if width else "")
        key = f"`{one.keys[0]}`" + ("" if one.needs_key else ", if it asks for one")
        lines.append(f"| {one.title} | {example} | {key} | `{one.addresses[0]}` |")
    return "\n".join(lines)


def _width_text(width: Width) -> str:
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
    """Ask Nomic for vectors in the manner of litellm's function. `client` is an httpx client that
    keeps the limits.

    Raises whatever httpx raises, and KeyError or ValueError for an answer that is not one.
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
