"""MCP over HTTP: streamable HTTP at /mcp, SSE at /sse and /messages.

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
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.http.connection_limits import BODY_BYTES, first_of_most
from kinmem.http.guard import HEALTH
from kinmem.http.server import health

# Open sessions, 40 KB each.
MOST_SESSIONS = 250


def build_app(
    server: MCPServer[Any],
    idle_seconds: float,
    others: Sequence[BaseRoute],
    most_sessions: int = MOST_SESSIONS,
) -> ASGIApp:
    """Return the application for one server; `others` are routes besides those of MCP."""
    # The SDK compares prefixes, and checks nothing on other addresses; the guard is stricter.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    streamable = server.streamable_http_app(
        max_request_body_size=BODY_BYTES,
        session_idle_timeout=idle_seconds,
        max_sessions=None,
        transport_security=unchecked,
    )
    sse = server.sse_app(max_request_body_size=BODY_BYTES, transport_security=unchecked)
    routes = [*streamable.routes, *sse.routes, Route(HEALTH, health), *others]
    app = Starlette(routes=routes, lifespan=lambda _: server.session_manager.run())
    return WithRoom(app, server.session_manager, most_sessions)


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
