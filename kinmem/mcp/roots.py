"""Where a client works, as it tells by its roots: the first of them that is in a git repository.

Asked of clients that offer roots, over a protocol by which a server may ask (before 2026-07-28,
which has deprecated them): at the first tool call, and again when they have changed. Of many
clients that one process serves over HTTP each works in a place of its own.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

from kinmem.places import place_of, working_in

logger = logging.getLogger(__name__)

SECONDS = 2.0
"""For a client to answer; the tool call waits. Then it has no roots, until it says they changed."""
CHANGED = "notifications/roots/list_changed"
CLIENT = "kinmem.client"


class _Client:
    """What one client has told."""

    def __init__(self) -> None:
        self.place: str | None = None
        self.is_known = False
        self.asking = anyio.Lock()


def follow_roots(told: Callable[[str | None], None] | None = None) -> ServerMiddleware[Any]:
    """Middleware: each call works in the place that its client names, if it names one.

    `told` gets that place as well, None if no root is in one: for a process of one client, whose
    hooks come another way.
    """

    async def watch(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        # the SDK offers no other way to what lasts as long as a client is connected
        client: _Client = ctx.session._connection.state.setdefault(CLIENT, _Client())
        if ctx.method == CHANGED:
            client.is_known = False
        elif ctx.method == "tools/call" and not client.is_known:
            async with client.asking:  # the next call waits for the answer as well
                if not client.is_known:
                    await _ask(ctx, client, told)
                    client.is_known = True  # not before: a call that is cancelled has not heard
        with working_in(client.place):
            return await call_next(ctx)

    return watch


async def _ask(
    ctx: ServerRequestContext[Any, Any],
    client: _Client,
    told: Callable[[str | None], None] | None,
) -> None:
    session = ctx.session
    offered = session.client_capabilities
    if offered is None or offered.roots is None or not session.can_send_request:
        return
    try:
        with anyio.fail_after(SECONDS):
            asked = ServerMessageMetadata(related_request_id=ctx.request_id)  # in the call's stream
            answer = await session.send_request(ListRootsRequest(), ListRootsResult, metadata=asked)
    except (MCPError, ValidationError, TimeoutError) as error:
        logger.info("the client offers roots, but does not tell them: %s", type(error).__name__)
        return
    uris = [str(root.uri) for root in answer.roots]
    client.place = await anyio.to_thread.run_sync(_first_place, uris)
    if told is not None:
        told(client.place)


def _first_place(uris: Iterable[str]) -> str | None:
    """The place of the first root that has one; roots that are no files are left out."""
    parts = map(urlsplit, uris)
    folders = (url2pathname(one.path) for one in parts if one.scheme == "file")
    return next((place for folder in folders if (place := place_of(folder))), None)
