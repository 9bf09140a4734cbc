"""Turns a model's name in the settings into the address, key and name with which to ask it.

A key is sent to no provider but the one it is named for: a key that is needed and missing is an
error, and a user's own address gets no key but the one named beside it.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from kinmem.errors import ConfigError
from kinmem.llm.providers import NAMED, Provider, Use, provider_of
from kinmem.settings.loading import Provider as Table

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
