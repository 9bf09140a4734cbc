"""The only file that names concrete stores and models."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError
from kinmem.llm.base import ChatModel, ChatModels, Embedder, Judge, Reranker, warm
from kinmem.models import Coverage
from kinmem.settings import Settings, load

if TYPE_CHECKING:  # a hook needs a conversation only, and every prompt waits for it
    from kinmem.conversation.observe import Conversation
    from kinmem.llm.builtin import BuiltinEmbedder
    from kinmem.llm.providers import Use
    from kinmem.service import Service
    from kinmem.store.base import Store

LOCAL: dict[tuple[str, int | None], Embedder] = {}
"""Embedders that run here, by their name and the width they were asked for."""
CROSS_ENCODER = re.compile(r"re-?rank|llama-rank", re.IGNORECASE)
"""What providers call the models that read a question and a text together."""


def open_service(
    settings: Settings,
    *,
    clock: Clock = utc_now,
    patience: float | None = None,
    resident: bool = True,
) -> "Service":
    """The memory of settings.general.kin. `patience` and `resident`: see Service.

    The built-in embedder is loaded once per process, however many Kins are open.
    """
    from kinmem.service import Service
    from kinmem.store.sqlite.store import SqliteStore

    store = SqliteStore(settings.home, settings.general.kin, clock)
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
        )
    except BaseException:
        store.close()
        raise


def _warm(models: ChatModels) -> None:
    """Begin to load what they need, so that the first question does not wait for it."""
    from dataclasses import fields

    from kinmem.llm.deadline import started

    named = [getattr(models, field.name) for field in fields(models)]
    for model in {id(one): one for one in named if one is not None}.values():
        started(partial(warm, model))


@contextmanager
def open_conversation(settings: Settings, *, clock: Clock = utc_now) -> "Iterator[Conversation]":
    """A Kin's conversations without the rest of its memory, for hooks without a server.

    Nothing is loaded: words find what fits, and somebody else has to learn from what is said.
    """
    from kinmem.conversation.notes import Inject
    from kinmem.conversation.observe import Conversation
    from kinmem.conversation.tool_results import Spill
    from kinmem.llm.base import NoEmbedder
    from kinmem.recall.pipeline import Recall
    from kinmem.recall.question import Request
    from kinmem.store.sqlite.store import SqliteStore

    with closing(SqliteStore(settings.home, settings.general.kin, clock)) as store:
        recall = Recall(store, [NoEmbedder()], settings, clock)
        limit = settings.recall.max_relevant
        spill = Spill(settings.home, settings.general.kin, settings.compact)
        yield Conversation(
            store,
            Inject(store.shown, settings, clock),
            lambda message: spill(message, clock()),
            lambda prompt, recent, seconds, allowed: recall.beside(
                prompt,
                recall(Request(prompt, limit, allowed, seconds=seconds), recent),
                allowed,
                seconds,
            ),
            settings,
            clock,
        )


def open_kin(kin: str, home: str | Path | None = None) -> "Service":
    """The memory of one Kin; `home` defaults to KINMEM_HOME, all else comes from the settings."""
    return open_service(load({"KINMEM_KIN": kin, "KINMEM_HOME": home}))


def embedder_named(name: str, settings: Settings) -> Embedder:
    """By a name such as MEMORY_EMBEDDING_MODEL takes, or `builtin`. Raises ConfigError."""
    if name == "builtin":
        return _builtin()
    own = name == settings.embedding.model
    return _by_name(name, settings.embedding.dimension if own else None, settings, ())


@contextmanager
def scratch_store(kin: str) -> "Iterator[Store]":
    """An empty store that is gone afterwards."""
    from tempfile import TemporaryDirectory

    from kinmem.store.sqlite.store import SqliteStore

    with (
        TemporaryDirectory(prefix="kinmem-") as folder,
        closing(SqliteStore(Path(folder), kin)) as store,
    ):
        yield store


def embedders(settings: Settings, known: Sequence[Coverage] = ()) -> list[Embedder]:
    """The configured embedder, then who made the vectors that are known, then the built-in one.

    Those that made them before answer until the configured one has made its own. One that the
    settings no longer say how to reach is left out. Raises ConfigError for the configured one.
    """
    configured = settings.embedding.model
    first: Embedder = _builtin()
    if configured is not None:
        first = _by_name(configured, settings.embedding.dimension, settings, known)
    found = {first.name: first}
    for other in (*(_former(one, settings) for one in known if one.done), _builtin()):
        if other is not None:
            found.setdefault(other.name, other)
    return list(found.values())


@lru_cache(maxsize=1)
def _builtin() -> "BuiltinEmbedder":
    from kinmem.llm.builtin import BuiltinEmbedder

    return BuiltinEmbedder()


def _former(one: Coverage, settings: Settings) -> Embedder | None:
    """Who made these vectors, as long as the settings have its provider and its key."""
    name = one.embedder.removesuffix(f":{one.dimension}")
    dimension = None if name == one.embedder else one.dimension
    if one.embedder == _builtin().name:
        return _builtin()
    if one.embedder == _builtin().english.name:
        return _builtin().english
    try:
        found = _by_name(name, dimension, settings, [one])
    except ConfigError:
        return None
    return found if found.name == one.embedder else None


def _by_name(
    name: str, dimension: int | None, settings: Settings, known: Sequence[Coverage]
) -> Embedder:
    """Vectors as wide as those it is known to have made, whatever the provider does one day."""
    from kinmem.llm.embed_litellm import LitellmEmbedder, Manner
    from kinmem.llm.endpoint import endpoint_of, widths
    from kinmem.llm.providers import fields_of, opening

    stored = {one.embedder: one.dimension for one in known}
    if _is_local(name, settings):
        return _local_embedder(name, dimension, stored)
    endpoint = endpoint_of(name, "embedding", settings.providers, os.environ)
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
    """Whether trying the model of that name asks anybody; also where none is named."""
    from kinmem.llm.local_models import needs_download

    return name is None or not _is_local(name, settings) or needs_download(name)


def _is_local(name: str, settings: Settings) -> bool:
    """Whether it is run in this process; a provider that the settings call local wins."""
    from kinmem.llm.local_models import PREFIX, is_local

    return is_local(name) and (name == PREFIX or PREFIX not in settings.providers)


def _local_embedder(name: str, width: int | None, stored: Mapping[str, int]) -> Embedder:
    """Loaded once per process, however many Kins are open.

    What is stored matters only to one whose name does not tell its files from others.
    """
    from kinmem.llm.local_models import STORED, LocalEmbedder

    new = LocalEmbedder(name, width=width)
    if width is None and new.name in stored and not STORED.search(new.name):
        return _local_embedder(name, stored[new.name], stored)
    return LOCAL.setdefault((new.name, width), new)


def chat_models(settings: Settings, clock: Clock = utc_now) -> ChatModels:
    """Who is asked for what; a model that is asked for several things is one. Asks nobody."""
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
    """Loaded once per process, however many Kins are open."""
    from kinmem.llm.judge import BuiltinJudge

    return BuiltinJudge()


def _reranker(
    settings: Settings, named: Callable[[str | None], ChatModel | None], now: Clock
) -> Reranker | None:
    """A cross-encoder, then a chat model where that one fails; or a chat model alone."""
    from kinmem.llm.local_models import PREFIX, LocalReranker
    from kinmem.llm.rerankers import ChatReranker, CrossEncoder, FirstThatCan

    name = settings.model.named("rerank")
    if name is None:
        return None
    seconds = settings.recall.deadline
    models: list[Reranker] = []
    if name == PREFIX:
        raise ConfigError("MEMORY_RERANK_MODEL is local; say which: local:/the/folder")
    if _is_local(name, settings):
        models.append(LocalReranker(name))
    elif CROSS_ENCODER.search(name):
        way = _told(name, "rerank", settings)
        models.append(CrossEncoder(**way, name=name, deadline_seconds=seconds))
    else:
        chat = named(name)
        return None if chat is None else ChatReranker(chat, now)
    if (chat := named(settings.model.fallback)) is not None:
        models.append(ChatReranker(chat, now))
    return FirstThatCan(models)


def chat_model(name: str, settings: Settings) -> ChatModel:
    """The chat model of that name. Raises ConfigError; asks nobody."""
    from kinmem.llm.chat_litellm import LitellmChat

    return LitellmChat(
        **_told(name, "completion", settings), name=name, deadline_seconds=settings.model.deadline
    )


class Told(TypedDict):
    """What litellm is told of a model whose answers need no more."""

    model: str
    api_base: str | None
    api_key: str | None


def _told(name: str, use: "Use", settings: Settings) -> Told:
    """Raises ConfigError."""
    from kinmem.llm.endpoint import endpoint_of

    endpoint = endpoint_of(name, use, settings.providers, os.environ)
    return {"model": endpoint.model, "api_base": endpoint.api_base, "api_key": endpoint.api_key}
