"""Whose memory it is and where its times are, how clients reach the server, which models it asks."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kinmem.errors import InvalidInput
from kinmem.settings.declare import setting

KIN_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
# Windows opens a device instead of a file under these names, whatever the extension.
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}
)


def kin_name(name: str) -> str:
    """The name, if a Kin may be called so. Raises InvalidInput; a name is also a file's name."""
    if not KIN_NAME.fullmatch(name) or name in DEVICES:
        raise InvalidInput(
            f"{name!r} cannot name a Kin: use 1-64 of a-z, 0-9, - and _, a letter or digit at both ends"
        )
    return name


def check_zone(name: str) -> None:
    """Raises InvalidInput for what names no time zone; an empty name is the system's."""
    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"no time zone is called {name!r}; use a name such as Europe/Berlin"
        ) from error


def system_zone() -> tzinfo:
    """The system's zone by name where it can be learned, so that summer time follows the date."""
    name = os.environ.get("TZ", "").removeprefix(":")
    try:
        if name:
            return ZoneInfo(name)
        target = os.path.realpath("/etc/localtime")
        return ZoneInfo(target.split("zoneinfo/", 1)[1])
    except (ZoneInfoNotFoundError, ValueError, OSError, IndexError):
        return UTC


@dataclass(frozen=True)
class GeneralSettings:
    """Whose memory it is, where its times are, what is logged, how long the forgotten is kept."""

    kin: str = setting("KINMEM_KIN", "default", "Whose memory this process serves.", check=kin_name)
    tz: str = setting(
        "KINMEM_TZ",
        "",
        "Zone in which times without one are read and shown, e.g. Europe/Berlin; empty: the system's.",
        check=check_zone,
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting(
        "KINMEM_LOG_LEVEL",
        "WARNING",
        "How much is logged to stderr; INFO and above never hold contents.",
    )
    purge_days: int = setting(
        "KINMEM_PURGE_DAYS",
        90,
        "Days for which a forgotten memory can be restored.",
        ge=0,
        le=36500,
    )

    @cached_property
    def zone(self) -> tzinfo:
        """The zone of `tz`; the system's if none is named, UTC if the system has none."""
        if self.tz:
            return ZoneInfo(self.tz)
        return system_zone()


TOOL_SETS = ("turns", "knowledge", "upkeep")


def listed(names: str) -> list[str]:
    """The names of a list with commas."""
    return list(filter(None, map(str.strip, names.split(","))))


def check_tool_sets(names: str) -> None:
    """Raises InvalidInput for a name that is no set's."""
    for name in listed(names):
        if name not in TOOL_SETS:
            raise InvalidInput(
                f"no set of tools is called {name!r}; there are: {', '.join(TOOL_SETS)}"
            )


@dataclass(frozen=True)
class ServerSettings:
    """How clients reach the server."""

    transport: Literal["stdio", "http", "sse", "streamable-http"] = setting(
        "KINMEM_TRANSPORT",
        "stdio",
        "How clients reach the server; http, sse and streamable-http start the same server for both HTTP transports.",
    )
    host: str = setting(
        "KINMEM_HOST", "127.0.0.1", "Address for HTTP; any but a loopback one needs a token."
    )
    port: int = setting("KINMEM_PORT", 8765, "Port for HTTP; 0 takes a free one.", ge=0, le=65535)
    session_minutes: float = setting(
        "KINMEM_SESSION_MINUTES",
        30,
        "An HTTP session that nobody has used for so long is closed; its client opens another.",
        ge=0.01,
        le=10_080,
    )
    allowed_hosts: str = setting(
        "KINMEM_ALLOWED_HOSTS",
        "",
        "More host names that HTTP requests may carry in Host and Origin, separated by commas.",
    )
    tools: str = setting(
        "KINMEM_TOOLS",
        "",
        "Sets of tools that are listed besides the six, separated by commas: turns (record_turn), knowledge (explore, timeline), upkeep (sleep).",
        check=check_tool_sets,
    )

    tool_schemas: Literal["plain", "strict"] = setting(
        "KINMEM_TOOL_SCHEMAS",
        "plain",
        "How tools describe their arguments; strict names each as required, null for none, as agents of OpenAI's kind want it.",
    )

    @property
    def strict_schemas(self) -> bool:
        return self.tool_schemas == "strict"

    @property
    def tool_sets(self) -> frozenset[str]:
        """The names in `tools`."""
        return frozenset(listed(self.tools))


@dataclass(frozen=True)
class EmbeddingSettings:
    """Which model turns texts into vectors."""

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
        "The judge of language that comes with kinmem (docs/judge.md): what repeats or changes what, is worth learning, answers, or wants to command; off: exact rules alone decide, which notice less.",
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
