"""The resources: what a client may read by its address, and what it is told of a wrong one.

By SEP-2164, and mcp 2.3 in either era, what does not exist is -32602, as an argument that cannot be
meant is; -32603 is left for what kinmem cannot do now.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from kinmem.clock import moment
from kinmem.errors import EntityNotFound, InvalidInput, KinmemError, MemoryNotFound
from kinmem.mcp.calls import current_call
from kinmem.mcp.knowledge_answers import Explored, Graph, Timeline
from kinmem.mcp.tool_answers import Memory, Wire, as_json

JSON = "application/json"
MARKDOWN = "text/markdown"
MOST_MOMENTS = 200
"""That a timeline tells at once; the tool has pages."""


def add_resources(server: MCPServer[Any]) -> None:
    """Offer all of them."""

    def offer(address: str, title: str, type: str, read: Callable[..., str]) -> None:
        server.resource(f"kinmem://{address}", title=title, mime_type=type)(_told(read))

    offer("memories/{id}", "One memory", JSON, memory)
    offer("memories/{id}/chunks/{number}", "Part of a document", "text/plain", chunk)
    offer("stats", "Statistics", JSON, stats)
    offer("entities/{name}", "An entity", JSON, entity)
    offer("graph", "Memory graph", JSON, graph)
    offer("timeline/{day}", "Timeline", JSON, timeline)
    offer("context", "Latest conversation", MARKDOWN, latest_context)
    offer("context/{session}", "One conversation", MARKDOWN, context)


def memory(id: str) -> str:
    """A memory with its whole content, tags and version."""
    service = current_call().service
    return _sent(Memory.full(service.get(id), service))


def chunk(id: str, number: str) -> str:
    """One chunk of a document, by its number from 1."""
    if not (number.isascii() and number.isdigit()):
        raise InvalidInput(
            f"a chunk has a whole number from 1 on, as recall names it: {id}/chunks/1"
        )
    return current_call().service.chunk(id, int(number))


def stats() -> str:
    """How many memories there are, and how far their vectors reach."""
    service = current_call().service
    zone = service.settings.general.zone
    known = {name: part for name, part in asdict(service.stats()).items() if part is not None}
    return _compact(known, default=lambda when: moment(when, zone))


def entity(name: str) -> str:
    """Somebody or something: aliases, relations both ways, the latest memories about it."""
    service = current_call().service
    return _sent(Explored.of(*service.explore(name), service))


def graph() -> str:
    """The best connected memories, whom they are about and what joins them, to be drawn."""
    service = current_call().service
    return _sent(Graph.of(service.graph(), service.clock()))


def timeline(day: str) -> str:
    """What happened on a day (2026-05-08), in a month (2026-05) or a year, in order."""
    service = current_call().service
    return _sent(Timeline.of(service.timeline(day=day, limit=MOST_MOMENTS), service))


def latest_context() -> str:
    """The conversation spoken in last: summaries of old turns, then the latest ones."""
    return current_call().service.context(exact=False)


def context(session: str) -> str:
    """A conversation, compacted: it only grows until old turns are summarised again."""
    return current_call().service.context(session, exact=False)


def _sent(answer: Wire) -> str:
    return _compact(as_json(answer))


def _compact(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=default)


def _told(read: Callable[..., str]) -> Callable[..., str]:
    """The same, with errors as the protocol has them."""

    @wraps(read)
    def reading(**given: str) -> str:
        with _as_protocol_errors():
            return read(**given)

    return reading


@contextmanager
def _as_protocol_errors() -> Iterator[None]:
    try:
        yield
    except (MemoryNotFound, EntityNotFound, InvalidInput) as error:
        raise ResourceNotFoundError(f"{error.code}: {error}") from error
    except KinmemError as error:
        raise ResourceError(f"{error.code}: {error}") from error
