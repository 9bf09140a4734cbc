"""Where a client works, as it tells by its roots: the first of them that is in a git repository.

Asked of clients that offer roots, over a protocol by which a server may ask (before 2026-07-28,
which has deprecated them): at the first tool call, and again when they have changed.
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
from mcp.types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

from kinmem.places import place_of

logger = logging.getLogger(__name__)

SECONDS = 2.0
"""For a client to answer; the tool call waits. Then it has no roots, until it says they changed."""
CHANGED = "notifications/roots/list_changed"


def follow_roots(told: Callable[[str | None], None]) -> ServerMiddleware[Any]:
    """Middleware for a server with one client: `told` gets the place, None if no root is in one."""
    known = False
    asking = anyio.Lock()

    async def watch(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        nonlocal known
        if ctx.method == CHANGED:
            known = False
        elif ctx.method == "tools/call" and not known:
            async with asking:  # the next call waits for the answer as well
                if not known:
                    await _ask(ctx, told)
                    known = True  # not before: a call that is cancelled has not heard
        return await call_next(ctx)

    return watch


async def _ask(ctx: ServerRequestContext[Any, Any], told: Callable[[str | None], None]) -> None:
    session = ctx.session
    offered = session.client_capabilities
    if offered is None or offered.roots is None or not session.can_send_request:
        return
    try:
        with anyio.fail_after(SECONDS):
            answer = await session.send_request(ListRootsRequest(), ListRootsResult)
    except (MCPError, ValidationError, TimeoutError) as error:
        logger.info("the client offers roots, but does not tell them: %s", type(error).__name__)
        return
    uris = [str(root.uri) for root in answer.roots]
    told(await anyio.to_thread.run_sync(_first_place, uris))


def _first_place(uris: Iterable[str]) -> str | None:
    """The place of the first root that has one; roots that are no files are left out."""
    parts = map(urlsplit, uris)
    folders = (url2pathname(one.path) for one in parts if one.scheme == "file")
    return next((place for folder in folders if (place := place_of(folder))), None)
