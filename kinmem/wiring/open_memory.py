"""Opens the memory of a Kin: its store, the models that the settings name, and the service over
both."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError
from kinmem.llm.base import ChatModel, ChatModels, Embedder, Judge, Reranker, warm
from kinmem.llm.builtin import BuiltinEmbedder, BuiltinJudge
from kinmem.llm.deadline import started
from kinmem.llm.litellm_models import LitellmChat, LitellmEmbedder, Manner
from kinmem.llm.model_files import PREFIX, is_local, needs_download
from kinmem.llm.onnx import STORED, LocalEmbedder
from kinmem.llm.providers import Endpoint, Use, endpoint_of, fields_of, is_here, opening, widths
from kinmem.llm.rerankers import ChatReranker, CrossEncoder, FirstThatCan, LocalReranker
from kinmem.models import Coverage
from kinmem.service import Service
from kinmem.settings import Settings, load
from kinmem.store.base import Store
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_home import for_this_home, open_backups, open_store

# Embedders that run in this process, by name and requested width.
LOCAL: dict[tuple[str, int | None], Embedder] = {}
# Recognises cross-encoders (models that read a question and a text together) by the names that
# providers give them.
CROSS_ENCODER = re.compile(r"re-?rank|llama-rank", re.IGNORECASE)


def embedder_named(name: str, settings: Settings) -> Embedder:
    """Return the embedder of that name: `builtin`, or one that MEMORY_EMBEDDING_MODEL accepts.

    Raises ConfigError.
    """
    if name == "builtin":
        return _builtin()
    own = name == settings.embedding.model
    return _by_name(name, settings.embedding.dimension if own else None, settings, ())


def embedders(settings: Settings, known: Sequence[Coverage] = ()) -> list[Embedder]:
    """Return the configured embedder, then those that made the vectors in `known`, then the
    built-in one.

    Earlier embedders answer until the configured one has made its own vectors. An earlier one that
    the settings no longer say how to reach is left out. Raises ConfigError if the configured
    embedder cannot be used.
    """
    configured = settings.embedding.model
    first: Embedder = _builtin()
    if configured is not None:
        first = _by_name(configured, settings.embedding.dimension, settings, known)
    found = {first.name: first}
    earlier = (_earlier_embedder(coverage, settings) for coverage in known if coverage.done)
    for other in (*earlier, _builtin()):
        if other is not None:
            found.setdefault(other.name, other)
    return list(found.values())


@lru_cache(maxsize=1)
def _builtin() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def _earlier_embedder(coverage: Coverage, settings: Settings) -> Embedder | None:
    """Return the embedder that made these vectors, or None if the settings lack its provider or
    key."""
    name = coverage.embedder.removesuffix(f":{coverage.dimension}")
    dimension = None if name == coverage.embedder else coverage.dimension
    if coverage.embedder == _builtin().name:
        return _builtin()
    if coverage.embedder == _builtin().english.name:
        return _builtin().english
    try:
        found = _by_name(name, dimension, settings, [coverage])
    except ConfigError:
        return None
    return found if found.name == coverage.embedder else None


def _by_name(
    name: str, dimension: int | None, settings: Settings, known: Sequence[Coverage]
) -> Embedder:
    """Return the embedder of that name.

    It keeps the width of the vectors it is known to have made, even if its provider changes the
    default.
    """
    stored = {coverage.embedder: coverage.dimension for coverage in known}
    if _is_local(name, settings):
        _check_download(name, settings)
        return _local_embedder(name, dimension, stored)
    endpoint = _endpoint(name, "embedding", settings)
    asked, expected = widths(endpoint, dimension)
    return LitellmEmbedder(
        endpoint.model,
        name=endpoint.name,
        dimension=asked,
        width=stored.get(endpoint.name, expected),
        manner=Manner(
            fields_of(endpoint.provider, endpoint.own), opening(endpoint.provider, endpoint.own)
        ),
        api_base=endpoint.api_base,
        api_key=endpoint.api_key,
        deadline_seconds=settings.embedding.deadline,
    )


def asks_network(name: str | None, settings: Settings) -> bool:
    """Return whether trying the model of that name would use the network; True if no model is
    named."""
    return name is None or not _is_local(name, settings) or needs_download(name)


def _is_local(name: str, settings: Settings) -> bool:
    """Return whether the model runs in this process.

    A provider that the settings call `local` wins.
    """
    return is_local(name) and (name == PREFIX or PREFIX not in settings.providers)


def _local_embedder(name: str, width: int | None, stored: Mapping[str, int]) -> Embedder:
    """Load a local embedder, once per process however many Kins are open.

    The stored widths matter only to a model whose name does not identify its files.
    """
    new = LocalEmbedder(name, width=width)
    if width is None and new.name in stored and not STORED.search(new.name):
        return _local_embedder(name, stored[new.name], stored)
    return LOCAL.setdefault((new.name, width), new)


def chat_models(settings: Settings, clock: Clock = utc_now) -> ChatModels:
    """Return the models by purpose.

    A model with several purposes is created once. Asks no provider.
    """
    known: dict[str, ChatModel] = {}

    def named(name: str | None) -> ChatModel | None:
        if name is not None and name not in known:
            known[name] = chat_model(name, settings)
        return None if name is None else known[name]

    return ChatModels(
        extraction=named(settings.model.named("extraction")),
        compacting=named(settings.model.named("compacting")),
        consolidation=named(settings.model.named("consolidation")),
        review=named(settings.model.named("review")),
        summary=named(settings.model.named("summary")),
        rewrite=named(settings.model.named("rewrite")),
        multi_query=named(settings.model.named("multi_query")),
        hyde=named(settings.model.named("hyde")),
        rerank=_reranker(settings, named, lambda: clock().astimezone(settings.general.zone)),
        judge=_judge() if settings.model.judge == "on" else None,
    )


@lru_cache(maxsize=1)
def _judge() -> Judge:
    """Return the built-in judge, loaded once per process however many Kins are open."""
    return BuiltinJudge()


def _reranker(
    settings: Settings, named: Callable[[str | None], ChatModel | None], now: Clock
) -> Reranker | None:
    """Return a cross-encoder with a chat model to fall back on, or a chat model alone."""
    name = settings.model.named("rerank")
    if name is None:
        return None
    seconds = settings.recall.deadline
    models: list[Reranker] = []
    if name == PREFIX:
        raise ConfigError("MEMORY_RERANK_MODEL is local; say which: local:/the/folder")
    if _is_local(name, settings):
        _check_download(name, settings)
        models.append(LocalReranker(name))
    elif CROSS_ENCODER.search(name):
        address = _address(name, "rerank", settings)
        models.append(CrossEncoder(**address, name=name, deadline_seconds=seconds))
    else:
        chat = named(name)
        return None if chat is None else ChatReranker(chat, now)
    if (chat := named(settings.model.fallback)) is not None:
        models.append(ChatReranker(chat, now))
    return FirstThatCan(models)


def chat_model(name: str, settings: Settings) -> ChatModel:
    """Return the chat model of that name. Asks no provider. Raises ConfigError."""
    return LitellmChat(
        **_address(name, "completion", settings),
        name=name,
        deadline_seconds=settings.model.deadline,
    )


class Address(TypedDict):
    """The arguments that tell litellm where to reach a model."""

    model: str
    api_base: str | None
    api_key: str | None


def _address(name: str, use: Use, settings: Settings) -> Address:
    """Return the address of the model of that name. Raises ConfigError."""
    endpoint = _endpoint(name, use, settings)
    return {"model": endpoint.model, "api_base": endpoint.api_base, "api_key": endpoint.api_key}


def _endpoint(name: str, use: Use, settings: Settings) -> Endpoint:
    """Return where the model of that name is asked. Raises ConfigError, also if KINMEM_LOCAL_ONLY
    does not let it be asked there."""
    endpoint = endpoint_of(name, use, settings.providers, os.environ)
    if settings.general.local_only and not is_here(endpoint.host):
        place = endpoint.host or "its provider's address"
        raise ConfigError(
            f"KINMEM_LOCAL_ONLY is on, and {name} would be asked at {place}; name a model of this"
            " machine (local:/the/folder, or a provider with a loopback base_url), or unset it"
        )
    return endpoint


def _check_download(name: str, settings: Settings) -> None:
    """Raise ConfigError if the model would have to be downloaded and KINMEM_LOCAL_ONLY is on."""
    if settings.general.local_only and needs_download(name):
        raise ConfigError(
            f"KINMEM_LOCAL_ONLY is on, and {name} is not on this machine yet; use it once without,"
            " or name a folder that has it (local:/the/folder)"
        )


def open_service(
    settings: Settings,
    *,
    clock: Clock = utc_now,
    patience: float | None = None,
    resident: bool = True,
    is_brief: bool = False,
) -> Service:
    """Open the memory of settings.general.kin. For `patience` and `resident`, see Service; for
    `is_brief`, see open_store.

    The built-in embedder is loaded once per process, however many Kins are open.
    """
    store = open_store(settings, clock, is_brief=is_brief)
    settings = for_this_home(settings)
    try:
        models = chat_models(settings, clock)
        if resident:
            _warm(models)
        return Service(
            store,
            embedders(settings, store.index.coverage()),
            settings,
            models=models,
            clock=clock,
            patience=patience,
            resident=resident,
            backups=None if settings.general.store else open_backups(settings, clock=clock),
        )
    except BaseException:
        store.close()
        raise


def _warm(models: ChatModels) -> None:
    """Start loading what the models need, so that the first question does not wait for it."""
    named = [getattr(models, field.name) for field in fields(models)]
    for model in {id(model): model for model in named if model is not None}.values():
        started(partial(warm, model))


def open_kin(kin: str, home: str | Path | None = None) -> Service:
    """Open the memory of one Kin.

    `home` defaults to KINMEM_HOME; all else comes from the settings.
    """
    return open_service(load({"KINMEM_KIN": kin, "KINMEM_HOME": home}))


@contextmanager
def scratch_store(kin: str) -> Iterator[Store]:
    """Open an empty store that is deleted on leaving the block."""
    with (
        TemporaryDirectory(prefix="kinmem-") as folder,
        closing(SqliteStore(Path(folder), kin)) as store,
    ):
        yield store
