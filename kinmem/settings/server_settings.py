"""Settings of the process: whose memory it serves, how clients reach it, which models it asks."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kinmem.errors import InvalidInput
from kinmem.settings.memory_settings import setting

KIN_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
# Windows opens a device instead of a file under these names, whatever the extension.
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}
)


def kin_name(name: str) -> str:
    """Return the name if a Kin may have it; a Kin's name is also a file name.

    Raises InvalidInput.
    """
    if not KIN_NAME.fullmatch(name) or name in DEVICES:
        raise InvalidInput(
            f"{name!r} cannot name a Kin: use 1-64 of a-z, 0-9, - and _, a letter or digit at both ends"
        )
    return name


def check_store(url: str) -> None:
    """Raise InvalidInput for an address that is none of a PostgreSQL database, or has a password in
    it."""
    if not url:
        return
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise InvalidInput(
            "not the address of a database, postgresql://…; empty means files in the home"
        )
    if parts.password or "password=" in parts.query:
        raise InvalidInput(
            "the password of KINMEM_STORE does not belong into its address, which logs and `kinmem"
            " config` show; set PGPASSWORD, or write it into ~/.pgpass"
        )


def check_zone(name: str) -> None:
    """Raise InvalidInput for a text that names no time zone.

    An empty text means the system's zone.
    """
    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"no time zone is called {name!r}; use a name such as Europe/Berlin"
        ) from error


def system_zone() -> tzinfo:
    """Return the system's zone, by name if it can be found, so that summer time follows the date;
    else UTC."""
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
    """Whose memory the process serves, its time zone, its log, and how long forgotten memories are
    kept."""

    kin: str = setting("KINMEM_KIN", "default", "Whose memory this process serves.", check=kin_name)
    store: str = setting(
        "KINMEM_STORE",
        "",
        "Experimental: postgresql://… keeps memories in PostgreSQL with pgvector, for all Kins together (docs/postgres.md); empty: in files in the home.",
        check=check_store,
    )
    tz: str = setting(
        "KINMEM_TZ",
        "",
        "Time zone in which times are shown, and read if they name none, e.g. Europe/Berlin; empty: the system's.",
        check=check_zone,
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting(
        "KINMEM_LOG_LEVEL",
        "WARNING",
        "How much is logged to stderr; no level logs what memories say, tokens or session ids.",
    )
    key: str | None = setting(
        "KINMEM_KEY",
        None,
        "Where the key of an encrypted home is: keyring, or the path of a file; unset: where `kinmem key set` has put it. A new home is encrypted if this is set.",
    )
    locking: Literal["system", "lockfile"] = setting(
        "KINMEM_LOCKING",
        "system",
        "How processes keep out of each other's way: by locks of the file system, or, where those do nothing, by a file `owner` in the home; then one process at a time has it.",
    )
    local_only: bool = setting(
        "KINMEM_LOCAL_ONLY",
        False,
        "Refuse every model that would be asked or downloaded over the network; models of this machine, at a loopback address too, stay allowed.",
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
        """The zone that `tz` names; if it is empty the system's, or UTC if the system has none."""
        if self.tz:
            return ZoneInfo(self.tz)
        return system_zone()


TOOL_SETS = ("turns", "knowledge", "upkeep")


def listed(names: str) -> list[str]:
    """Split a list at its commas, dropping empty names."""
    return list(filter(None, map(str.strip, names.split(","))))


def check_tool_sets(names: str) -> None:
    """Raise InvalidInput if a name is not a set of tools."""
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
        "KINMEM_HOST", "127.0.0.1", "Address for HTTP; requests need a token on every address."
    )
    port: int = setting("KINMEM_PORT", 8765, "Port for HTTP; 0 takes a free one.", ge=0, le=65535)
    insecure_local: bool = setting(
        "KINMEM_INSECURE_LOCAL",
        False,
        "Serve HTTP requests without a token; on a loopback address only, where every account and program of the machine can then read and change the memory.",
    )
    session_minutes: float = setting(
        "KINMEM_SESSION_MINUTES",
        30,
        "Minutes after which an unused HTTP session is closed; its client then opens another.",
        ge=0.01,
        le=10_080,
    )
    call_seconds: float = setting(
        "KINMEM_CALL_SECONDS",
        45,
        "Seconds, from its arrival or the last progress that its client asked to hear of, after which a call is answered with the error deadline if it is not done; it goes on.",
        ge=0.1,
        le=86_400,
    )
    workers: int = setting(
        "KINMEM_WORKERS",
        1,
        "Processes that answer HTTP together, any of them any request; more than one needs KINMEM_STORE=postgresql://… (docs/workers.md).",
        ge=1,
        le=64,
    )
    drain_seconds: float = setting(
        "KINMEM_DRAIN_SECONDS",
        20,
        "Seconds that calls over HTTP may still take when the server is told to end; new ones are refused, and streams end after two.",
        ge=0,
        le=3600,
    )
    allowed_hosts: str = setting(
        "KINMEM_ALLOWED_HOSTS",
        "",
        "Additional host names, separated by commas, that HTTP requests may have in Host and Origin.",
    )
    web: bool = setting(
        "KINMEM_WEB",
        False,
        "Serve the page for people at / of the HTTP server as well; a person logs in with a token (docs/web.md).",
    )
    tools: str = setting(
        "KINMEM_TOOLS",
        "",
        "Sets of tools to list besides the six, separated by commas: turns (record_turn), knowledge (explore, timeline), upkeep (sleep).",
        check=check_tool_sets,
    )

    tool_schemas: Literal["plain", "strict"] = setting(
        "KINMEM_TOOL_SCHEMAS",
        "plain",
        "How tools describe their arguments; strict marks each as required and nullable, as OpenAI's strict mode expects.",
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
        "Embedding model, e.g. text-embedding-3-small, ollama/nomic-embed-text, providerId:modelId or local:<folder>; unset: the built-in embedder.",
    )
    dimension: int | None = setting(
        "MEMORY_EMBEDDING_DIMENSION",
        None,
        "Vector width to request from models that offer several; unset: the model's default.",
        ge=8,
        le=4096,
    )
    deadline: float = setting(
        "KINMEM_EMBEDDING_DEADLINE",
        10.0,
        "Seconds that one embedding call may take, retries included.",
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
# Purposes that fall back on KINMEM_MODEL, because nobody waits for the answer. The others are off
# unless they are set, as in the seeds.
FALL_BACK = frozenset({"extraction", "compacting", "review"})
SWITCHED_OFF = ("off", "0", "false", "none", "rules")


@dataclass(frozen=True)
class ModelSettings:
    """Which chat model is asked for which purpose.

    Purposes without a model are never asked about.
    """

    default: str | None = setting(
        "KINMEM_MODEL",
        None,
        "Chat model for extraction, compacting and review unless their own settings name one, e.g. gpt-4.1-mini, ollama/llama3.1 or providerId:modelId; unset: rules do the work.",
    )
    extraction: str | None = setting(
        "MEMORY_EXTRACTION_MODEL",
        None,
        "Model that extracts memories from each turn; unset: KINMEM_MODEL, off: rules.",
    )
    compacting: str | None = setting(
        "COMPACTING_MODEL",
        None,
        "Model that summarises old turns; unset: KINMEM_MODEL, off: their most informative sentences are kept.",
    )
    consolidation: str | None = setting(
        "MEMORY_CONSOLIDATION_MODEL",
        None,
        "Model that merges similar memories; unset: no model merges them.",
    )
    review: str | None = setting(
        "KINMEM_REVIEW_MODEL",
        None,
        "Model that review_memories asks in addition to its rules; unset: KINMEM_MODEL, off: rules alone.",
    )
    summary: str | None = setting(
        "KINMEM_SUMMARY_MODEL",
        None,
        "Model that summarises long memories and documents; unset: their most informative sentences are taken.",
    )
    rewrite: str | None = setting(
        "MEMORY_CONTEXTUAL_REWRITE_MODEL",
        None,
        "Model that rewrites follow-up questions to stand alone; unset: rules carry over what they leave out.",
    )
    multi_query: str | None = setting(
        "MEMORY_MULTI_QUERY_MODEL",
        None,
        "Model that rewords a question in three ways; unset: only the question itself is searched for.",
    )
    hyde: str | None = setting(
        "MEMORY_HYDE_MODEL",
        None,
        "Model that makes up an answer, whose meaning is searched for as well (HyDE); unset: none is made up.",
    )
    rerank: str | None = setting(
        "MEMORY_RERANK_MODEL",
        None,
        "Model that re-ranks the best hits: a cross-encoder such as cohere/rerank-v3.5 or local:<folder>, or a chat model; unset: none does.",
    )
    judge: Literal["on", "off"] = setting(
        "KINMEM_JUDGE",
        "on",
        "The language model in the package (docs/judge.md), which judges what repeats, changes, answers, is worth learning, or tries to give commands; off: exact rules alone decide, and notice less.",
    )
    deadline: float = setting(
        "KINMEM_MODEL_DEADLINE",
        60.0,
        "Seconds that a chat model may take to answer, retries included.",
        gt=0,
        le=3600,
    )

    @property
    def fallback(self) -> str | None:
        """The model in KINMEM_MODEL, unless it is switched off."""
        return _switched_on(self.default)

    def named(self, use: Use) -> str | None:
        """Return the model for that purpose, or None for rules.

        Only some purposes fall back on KINMEM_MODEL.
        """
        name: str | None = getattr(self, use)
        return self.fallback if name is None and use in FALL_BACK else _switched_on(name)


def _switched_on(name: str | None) -> str | None:
    return None if name is None or name.casefold() in SWITCHED_OFF else name
