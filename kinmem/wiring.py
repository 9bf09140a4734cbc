"""The only file that names concrete stores and models."""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError
from kinmem.llm.base import ChatModel, ChatModels, Embedder, Reranker
from kinmem.models import Filters
from kinmem.settings import Settings, load

if TYPE_CHECKING:  # a hook needs a conversation only, and every prompt waits for it
    from kinmem.conversation import Conversation
    from kinmem.service import Service


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
    return Service(
        store,
        embedders(settings),
        settings,
        models=chat_models(settings),
        clock=clock,
        patience=patience,
        resident=resident,
    )


@contextmanager
def open_conversation(settings: Settings, *, clock: Clock = utc_now) -> "Iterator[Conversation]":
    """A Kin's conversations without the rest of its memory, for hooks without a server.

    Nothing is loaded: words find what fits, and somebody else has to learn from what is said.
    """
    from kinmem.compact.pipeline import Compact
    from kinmem.conversation import Conversation
    from kinmem.inject.pipeline import Inject
    from kinmem.llm.absent import NoEmbedder
    from kinmem.recall.pipeline import Recall
    from kinmem.store.sqlite.store import SqliteStore

    with closing(SqliteStore(settings.home, settings.general.kin, clock)) as store:
        recall = Recall(store, [NoEmbedder()], settings, clock)
        limit = settings.recall.max_relevant
        yield Conversation(
            store,
            Inject(store.journal, settings, clock),
            Compact(store.journal, None, settings, clock),
            lambda prompt, recent, seconds: recall(
                prompt, limit, Filters(), recent=recent, seconds=seconds
            ),
            settings,
            clock,
        )


def open_kin(kin: str, home: str | Path | None = None) -> "Service":
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
    from kinmem.llm.via_litellm import LitellmEmbedder

    return LitellmEmbedder(
        **_reached(settings.embedding.model or "", settings),
        dimension=settings.embedding.dimension,
        deadline_seconds=settings.embedding.deadline,
    )


def chat_models(settings: Settings) -> ChatModels:
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
        rewrite=named(settings.model.named("rewrite")),
        multi_query=named(settings.model.named("multi_query")),
        hyde=named(settings.model.named("hyde")),
        rerank=reranker(settings),
    )


def reranker(settings: Settings) -> Reranker | None:
    """A cross-encoder, then a chat model where that one fails; or a chat model alone."""
    from kinmem.llm.rerank_chat import ChatReranker
    from kinmem.llm.rerank_either import FirstThatCan
    from kinmem.llm.rerank_litellm import CrossEncoder

    name = settings.model.named("rerank")
    if name is None:
        return None
    if not CROSS_ENCODER.search(name):
        return ChatReranker(chat_model(name, settings))
    seconds = settings.recall.deadline
    models: list[Reranker] = [
        CrossEncoder(**_reached(name, settings), name=name, deadline_seconds=seconds)
    ]
    if settings.model.default is not None:
        models.append(ChatReranker(chat_model(settings.model.default, settings)))
    return FirstThatCan(models)


def chat_model(name: str, settings: Settings) -> ChatModel:
    """The chat model of that name. Raises ConfigError; asks nobody."""
    from kinmem.llm.chat_litellm import LitellmChat

    return LitellmChat(
        **_reached(name, settings), name=name, deadline_seconds=settings.model.deadline
    )


class Reached(TypedDict):
    """A model as litellm is told of it."""

    model: str
    api_base: str | None
    api_key: str | None


NO_KEY = "none"
"""For servers of OpenAI's kind at an address of one's own: litellm insists on a key, and would
send them the one in OPENAI_API_KEY, which is none of their business."""


def _reached(name: str, settings: Settings) -> Reached:
    """litellm's name of a model, or providerId:modelId of a [providers.<id>] table.

    Only a prefix that names a table is a provider, so that ollama's llama3:8b stays one name.
    Raises ConfigError if the table's key is not set.
    """
    prefix, colon, rest = name.partition(":")
    if not colon or prefix not in settings.providers:
        return {"model": name, "api_base": None, "api_key": None}
    provider = settings.providers[prefix]
    key = os.environ.get(provider.api_key_env) if provider.api_key_env else None
    if provider.api_key_env and not key:
        raise ConfigError(
            f"[providers.{prefix}] takes its key from {provider.api_key_env},"
            " which is not set; set it where kinmem is started"
        )
    if key is None and provider.base_url and provider.type == "openai":
        key = NO_KEY
    model = rest if rest.startswith(f"{provider.type}/") else f"{provider.type}/{rest}"
    return {"model": model, "api_base": provider.base_url, "api_key": key}
