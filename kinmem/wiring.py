"""The only file that names concrete stores and models."""

import os
from functools import lru_cache
from pathlib import Path

from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError
from kinmem.llm.base import Embedder
from kinmem.service import Service
from kinmem.settings import Settings, load


def open_service(
    settings: Settings, *, clock: Clock = utc_now, patience: float | None = None
) -> Service:
    """The memory of settings.general.kin. `patience`: see Service.

    The built-in embedder is loaded once per process, however many Kins are open.
    """
    from kinmem.store.sqlite.store import SqliteStore

    store = SqliteStore(settings.home, settings.general.kin, clock)
    return Service(store, embedders(settings), settings, clock=clock, patience=patience)


def open_kin(kin: str, home: str | Path | None = None) -> Service:
    """The memory of one Kin; `home` defaults to KINMEM_HOME, all else comes from the settings."""
    return open_service(load({"KINMEM_KIN": kin, "KINMEM_HOME": home}))


def embedders(settings: Settings) -> list[Embedder]:
    """The configured embedder, then the built-in one, which may know more for a while."""
    if settings.embedding.model is None:
        return [_builtin()]
    return [_configured(settings), _builtin()]


@lru_cache(maxsize=1)
def _builtin() -> Embedder:
    from kinmem.llm.builtin import BuiltinEmbedder

    return BuiltinEmbedder()


def _configured(settings: Settings) -> Embedder:
    """MEMORY_EMBEDDING_MODEL: litellm's name, or providerId:modelId of a [providers.<id>] table.

    Only a prefix that names a table is a provider, so that ollama's llama3:8b stays one name.
    """
    from kinmem.llm.via_litellm import LitellmEmbedder

    model = settings.embedding.model or ""
    base_url, key = None, None
    prefix, colon, rest = model.partition(":")
    if colon and prefix in settings.providers:
        provider = settings.providers[prefix]
        model = rest if rest.startswith(f"{provider.type}/") else f"{provider.type}/{rest}"
        base_url = provider.base_url
        if provider.api_key_env:
            key = os.environ.get(provider.api_key_env)
            if not key:
                raise ConfigError(
                    f"[providers.{prefix}] takes its key from {provider.api_key_env},"
                    " which is not set; set it where kinmem is started"
                )
    return LitellmEmbedder(
        model,
        dimension=settings.embedding.dimension,
        api_base=base_url,
        api_key=key,
        deadline_seconds=settings.embedding.deadline,
    )
