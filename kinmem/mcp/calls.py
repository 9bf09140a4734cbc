"""The current call: the Kin, its service, the client program, where it works, where progress goes,
and which scope of a token it takes.

The Kin is that of the process, or over HTTP the one that the bearer token names; a caller cannot
choose it. `identify` notes the caller of each message, and tools and resources ask `current_call`.
`follow_roots` learns where the client works: in the first of its roots that is in a git repository.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    INVALID_REQUEST,
    CallToolResult,
    ListRootsRequest,
    ListRootsResult,
    TextContent,
)
from pydantic import ValidationError

from kinmem.conversation.sanitize import inert
from kinmem.http.lanes import PROGRESS_SECONDS, Lanes, ServiceFor, note_progress
from kinmem.http.refusals import nearest
from kinmem.http.tokens import KIN_KEY, SCOPE_KEY, SCOPES, Bearer, Scope
from kinmem.models import Progress
from kinmem.models.draft import client_name
from kinmem.models.places import place_of, working_in
from kinmem.text import cut

if TYPE_CHECKING:
    from kinmem.service import Service


# Of an unknown tool's name, as an error repeats it.
NAME_CHARACTERS = 60
# In the _meta of a request, so that no model has to pay for it.
IDEMPOTENCY_KEY = "idempotencyKey"


@dataclass(frozen=True)
class Call:
    """One message of a client while it is being handled."""

    service_for: ServiceFor
    context: ServerRequestContext[Any, Any]
    lanes: Lanes

    @property
    def service(self) -> "Service":
        """The caller's memory. Blocks until it is open, so use it on a worker thread only."""
        request = self.context.request
        return self.service_for(request.scope[KIN_KEY] if request is not None else None)

    @property
    def client(self) -> str | None:
        """The program that calls, by its own name: "claude-code 2.1.329"."""
        params = self.context.session.client_params
        if params is None:
            return None
        return client_name(f"{params.client_info.name} {params.client_info.version}")

    @property
    def idempotency_key(self) -> str | None:
        """What the client says to tell a call that it repeats from another one."""
        key = (self.context.meta or {}).get(IDEMPOTENCY_KEY)
        return key if isinstance(key, str) and key else None

    @property
    def is_heard(self) -> bool:
        """Whether the client asked to hear of progress."""
        return (self.context.meta or {}).get("progress_token") is not None

    def progress(self) -> Progress:
        """Return a function that reports progress to the client from a worker thread.

        It raises once the call is cancelled.
        """
        reported_at = 0.0

        def report(done: int, total: int, what: str) -> None:
            nonlocal reported_at
            anyio.from_thread.check_cancelled()
            now = time.monotonic()
            is_awaited = note_progress(is_heard=self.is_heard)
            if is_awaited and (done >= total or now - reported_at >= PROGRESS_SECONDS):
                reported_at = now
                anyio.from_thread.run(self.context.session.report_progress, done, total, what)

        return report


_current: ContextVar[Call] = ContextVar("kinmem_call")


def current_call() -> Call:
    """Return the call being handled, on the worker threads that it started as well."""
    return _current.get()


def identify(service_for: ServiceFor, lanes: Lanes) -> ServerMiddleware[Any]:
    """Return middleware that notes who sent each message."""

    async def note(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        token = _current.set(Call(service_for, ctx, lanes))
        try:
            return await call_next(ctx)
        finally:
            _current.reset(token)

    return note


async def keep_to_scope(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Refuse what the token of an HTTP request may not do: a tool's answer that a model can read,
    else an error of the protocol."""
    if ctx.request is not None:
        asked = ctx.request.scope
        bearer = Bearer(asked[KIN_KEY], asked[SCOPE_KEY])
        wanted = needed(ctx.method, ctx.params or {})
        if not bearer.may(wanted):
            told = (
                f"forbidden: this takes a token of scope {wanted}, this one has {bearer.scope}; a"
                f" person can run kinmem token add {bearer.kin} --scope {wanted}"
            )
            if ctx.method == "tools/call":
                return _refusal(told)
            raise MCPError(INVALID_REQUEST, told)
    return await call_next(ctx)


def suggest_tools(known: Collection[str], listed: Collection[str]) -> ServerMiddleware[Any]:
    """Return middleware that answers a call of an unknown tool with the name that was meant, or
    with all that are listed."""

    async def suggest(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        name = (ctx.params or {}).get("name")
        if ctx.method != "tools/call" or not isinstance(name, str) or name in known:
            return await call_next(ctx)
        meant = nearest(name, listed)
        hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(listed)}"
        return _refusal(f"invalid: there is no tool {inert(cut(name, NAME_CHARACTERS))!r}; {hint}")

    return suggest


def _refusal(told: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=told)], is_error=True)


logger = logging.getLogger(__name__)

# Roots are requested from clients that offer them, over a protocol in which a server may ask
# (before 2026-07-28, which has deprecated it): at the first tool call, and again when they have
# changed. Of the clients that one process serves over HTTP, each works in a place of its own.
# Seconds for a client to answer, during which the tool call waits. After that the client counts as
# having no roots until it reports a change.
ROOTS_SECONDS = 2.0
ROOTS_CHANGED = "notifications/roots/list_changed"
ROOTS_KEY = "kinmem.client"


class _Roots:
    """What one client has reported about its roots."""

    def __init__(self) -> None:
        self.place: str | None = None
        self.is_known = False
        self.asking = anyio.Lock()


def follow_roots(on_place: Callable[[str | None], None] | None = None) -> ServerMiddleware[Any]:
    """Return middleware that runs each call in the place that its client names, if it names one.

    `on_place` is called with that place as well, or None if no root is in one. It is for a process
    of a single client, whose hooks arrive by another way.
    """

    async def watch(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        # The SDK has no public state that lasts as long as a client is connected.
        client: _Roots = ctx.session._connection.state.setdefault(ROOTS_KEY, _Roots())
        if ctx.method == ROOTS_CHANGED:
            client.is_known = False
        elif ctx.method == "tools/call" and not client.is_known:
            async with client.asking:  # a second call waits for the same answer
                if not client.is_known:
                    client.is_known = True  # set first: roots may change during the request
                    try:
                        await _ask_for_roots(ctx, client, on_place)
                    except BaseException:  # a cancelled call has received no answer
                        client.is_known = False
                        raise
        with working_in(client.place):
            return await call_next(ctx)

    return watch


async def _ask_for_roots(
    ctx: ServerRequestContext[Any, Any],
    client: _Roots,
    on_place: Callable[[str | None], None] | None,
) -> None:
    session = ctx.session
    offered = session.client_capabilities
    if offered is None or offered.roots is None or not session.can_send_request:
        return
    client.place = None
    try:
        with anyio.fail_after(ROOTS_SECONDS):
            # Sends the request in the call's own stream.
            asked = ServerMessageMetadata(related_request_id=ctx.request_id)
            answer = await session.send_request(ListRootsRequest(), ListRootsResult, metadata=asked)
    except (MCPError, ValidationError, TimeoutError) as error:
        logger.info("the client offers roots, but does not tell them: %s", type(error).__name__)
        return
    uris = [str(root.uri) for root in answer.roots]
    client.place = await anyio.to_thread.run_sync(_first_place, uris)
    if on_place is not None:
        on_place(client.place)


def _first_place(uris: Iterable[str]) -> str | None:
    """Return the place of the first root that has one. Roots that are not files are skipped."""
    parts = map(urlsplit, uris)
    folders = (url2pathname(part.path) for part in parts if part.scheme == "file")
    return next((place for folder in folders if (place := place_of(folder))), None)


TOOL_SCOPES: Mapping[str, Scope] = {
    "recall": "read",
    "list_memories": "read",
    "review_memories": "read",
    "explore": "read",
    "timeline": "read",
    "memorize": "write",
    "update_memory": "write",
    "forget": "write",
    "record_turn": "write",
    "observe": "write",
    "sleep": "admin",
}
# Arguments that take more than their tool does. `erase` cannot be taken back.
ARGUMENT_SCOPES: Mapping[tuple[str, str], Scope] = {
    ("review_memories", "apply"): "write",
    ("review_memories", "refuse"): "write",
    ("forget", "erase"): "admin",
}
# Resources that take read, by how their address begins; others take admin, as kinmem://export.
READABLE = frozenset({"memories", "stats", "entities", "graph", "timeline", "context"})


def needed(method: str, params: Mapping[str, Any]) -> Scope:
    """Return the scope that a message of the protocol takes; admin for an unknown tool."""
    if method == "tools/call":
        name, given = params.get("name"), params.get("arguments")
        wanted = [TOOL_SCOPES.get(str(name), "admin")]
        for (tool, argument), scope in ARGUMENT_SCOPES.items():
            if tool == name and isinstance(given, Mapping) and given.get(argument):
                wanted.append(scope)
        return max(wanted, key=SCOPES.index)
    if method == "resources/read":
        begins = str(params.get("uri")).removeprefix("kinmem://").partition("/")[0]
        return "read" if begins in READABLE else "admin"
    return "read"
