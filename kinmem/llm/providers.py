"""The providers that KinBot documents: names, keys, addresses, and how to ask them for vectors; and
how a model's name in the settings becomes the address, key and name with which to ask it.

Models and widths are those that KinBot's pages name, else those that litellm lists. None was tried
against the real service: tests/llm/test_providers.py sends requests to a double on this machine.

A key is sent to no provider but the one it is named for: a key that is needed and missing is an
error, and a user's own address gets no key but the one named beside it.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from kinmem.errors import ConfigError
from kinmem.llm.base import Purpose
from kinmem.settings.loading import Provider as Table

# litellm's functions.
Use = Literal["embedding", "completion", "rerank"]


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


# For a user's own address without a key. litellm requires a key, and would otherwise send the one
# in OPENAI_API_KEY.
NO_KEY = "none"
VERSIONS = ("/v1", "/v2")
# Paths that are appended to addresses. An address copied from a provider's page may end with one.
ENDS = re.compile(
    r"(/embeddings|/embedding/text|/rerank|/chat/completions|/api/(embed|embeddings|chat|generate)"
    r"|(?<=/v[12])/(embed|chat))$"
)


@dataclass(frozen=True)
class Endpoint:
    """A model as litellm addresses it."""

    name: str
    """Stored beside what the model made; the same however the settings spell it."""
    model: str
    api_base: str | None
    api_key: str | None
    provider: Provider | None
    """None for a provider that only litellm knows."""
    own: str
    """The provider's name for the model."""

    @property
    def host(self) -> str:
        """Where it is asked, as far as that is known; empty for litellm's own addresses."""
        base = self.api_base or (self.provider.guarded if self.provider else None)
        return (urlsplit(base).hostname or "") if base else ""


def is_here(host: str) -> bool:
    """Return whether it is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def endpoint_of(
    name: str, use: Use, tables: Mapping[str, Table], environment: Mapping[str, str]
) -> Endpoint:
    """Find the model of that name: providerId:modelId with a provider of `tables` or of
    providers.py, else litellm's name.

    Raises ConfigError if its key is not set.
    """
    prefix, colon, model = name.partition(":")
    if colon and prefix in tables:
        return _of_table(prefix, tables[prefix], model, use, environment)
    found = provider_of(name)
    if found is None:
        return Endpoint(name, name, None, None, None, name)
    provider, model = found
    base = _first(provider.addresses, environment)
    key = _key(provider, name, environment)
    return _of(provider, f"{provider.prefix}/{model}", model, use, base, key)


def _of_table(
    id: str, table: Table, model: str, use: Use, environment: Mapping[str, str]
) -> Endpoint:
    provider = NAMED.get(table.type)
    key = environment.get(table.api_key_env) if table.api_key_env else None
    if table.api_key_env and not key:
        raise ConfigError(
            f"[providers.{id}] takes its key from {table.api_key_env},"
            " which is not set; set it where kinmem is started"
        )
    model = model.removeprefix(f"{provider.prefix if provider else table.type}/")
    name = f"{id}:{model}"
    if key is None and table.base_url:
        key = NO_KEY  # or litellm would send the provider's key to this address
    if provider is None:
        return Endpoint(name, f"{table.type}/{model}", table.base_url, key, None, model)
    if key is None and not table.base_url:
        key = _key(provider, name, environment)
    if key is None and provider.needs_key:
        key = NO_KEY
    return _of(provider, name, model, use, table.base_url, key)


def _of(
    provider: Provider, name: str, model: str, use: Use, base: str | None, key: str | None
) -> Endpoint:
    """Build the endpoint.

    Without an address of the user's own, litellm's is used where it has one.
    """
    base = ENDS.sub("", base.rstrip("/")) if base else None
    if base and use in provider.paths:
        base = next((base.removesuffix(end) for end in VERSIONS if base.endswith(end)), base)
        base += provider.paths[use]
    if base and provider.guarded:
        base = base.removesuffix("/v1")  # added again below if it is asked like OpenAI
    prefix = provider.prefix
    if use == "embedding":
        base = base or provider.address
        prefix = prefix if provider.has_route else "openai"
        if provider.guarded and key not in (None, NO_KEY):
            base = f"{base or provider.guarded}/v1"
            prefix = "openai"
    return Endpoint(name, f"{prefix}/{model}", base, key, provider, model)


def _key(provider: Provider, name: str, environment: Mapping[str, str]) -> str | None:
    key = _first(provider.keys, environment)
    if key is None and provider.needs_key:
        raise ConfigError(
            f"{name} is a model of {provider.title}, and {provider.keys[0]} is not set;"
            " set it where kinmem is started, or name another model"
        )
    return key


def _first(names: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    return next((environment[name] for name in names if environment.get(name)), None)


def widths(endpoint: Endpoint, dimension: int | None) -> tuple[int | None, int | None]:
    """Return the width to request (None: request none) and the width to expect (None: any).

    Raises ConfigError for a width that the model is known not to offer.
    """
    if endpoint.provider is None:
        return dimension, dimension
    own, tag = endpoint.own, ""
    if endpoint.provider.id == "ollama":
        own, _, tag = endpoint.own.partition(":")
    known = endpoint.provider.models.get(own)
    if known is None:
        return dimension if endpoint.provider.offers else None, dimension
    if dimension is None or dimension == known.own:
        return None, None if tag not in ("", "latest") else known.own
    if not known.offers:
        raise ConfigError(
            f"MEMORY_EMBEDDING_DIMENSION is {dimension}, but vectors of {endpoint.name} have"
            f" {known.own} numbers; set {known.own}, or nothing"
        )
    return dimension, dimension
