"""MCP over HTTP: streamable HTTP at /mcp, SSE at /sse and /messages.

Without sessions any process answers any request; SSE needs the one that has its stream.

Whoever has most of the sessions makes room for a new one: of theirs the one that has been idle for
longest is closed.
"""

import math
from collections.abc import Sequence
from typing import Any

from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.http.connection_limits import BODY_BYTES, first_of_most
from kinmem.http.refusals import refusal

# Open sessions, 40 KB each.
MOST_SESSIONS = 250


def build_app(
    server: MCPServer[Any],
    idle_seconds: float,
    others: Sequence[BaseRoute],
    missing: ASGIApp | None = None,
    most_sessions: int = MOST_SESSIONS,
    *,
    stateless: bool = False,
    sse: bool = True,
) -> ASGIApp:
    """Return the application for one server; `others` are routes besides those of MCP, `missing`
    answers where nothing is. `stateless`: streamable HTTP has no sessions."""
    # The SDK compares prefixes, and checks nothing on other addresses; the guard is stricter.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    streamable = server.streamable_http_app(
        max_request_body_size=BODY_BYTES,
        stateless_http=stateless,
        session_idle_timeout=None if stateless else idle_seconds,
        max_sessions=None,
        transport_security=unchecked,
    )
    routes = [*streamable.routes, *others]
    if sse:
        of_sse = server.sse_app(max_request_body_size=BODY_BYTES, transport_security=unchecked)
        routes += of_sse.routes
    else:
        routes.append(Route("/sse", _no_sse))
    app = Starlette(routes=routes, lifespan=lambda _: server.session_manager.run())
    app.router.default = missing or app.router.default
    if stateless:
        return WithoutSessions(app)
    return WithRoom(app, server.session_manager, most_sessions)


async def _no_sse(request: Request) -> JSONResponse:
    return refusal(
        501,
        "config",
        "SSE keeps a session in one process, and several answer here; use /mcp, or serve with one"
        " worker",
    )


class WithoutSessions:
    """The app, where nothing is there that a GET of /mcp could wait for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp" and scope["method"] != "POST":
            refused = refusal(
                405, "invalid_input", "there are no sessions; POST", headers={"Allow": "POST"}
            )
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


class WithRoom:
    """The app, with room for a client that opens a session: the SDK would refuse it if too many are
    open, though most of them may have been abandoned."""

    def __init__(self, app: ASGIApp, manager: StreamableHTTPSessionManager, most: int) -> None:
        self._app = app
        self._manager = manager
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The SDK has no public access to its sessions and their owners.
        sessions, owners = self._manager._server_instances, self._manager._session_owners
        if _may_open_session(scope) and len(sessions) >= self._most:
            idle = [
                (session.idle_scope, owners[id]["client_id"] if id in owners else "")
                for id, session in sessions.items()
                if session.idle_scope is not None
                and session.idle_scope.deadline < math.inf
                and not session.idle_scope.cancel_called
            ]
            if idle:
                idle.sort(key=lambda pair: pair[0].deadline)
                first_of_most(idle).cancel()
        await self._app(scope, receive, send)


def _may_open_session(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "POST"
        and scope["path"] == "/mcp"
        and all(name != b"mcp-session-id" for name, _ in scope["headers"])
    )
