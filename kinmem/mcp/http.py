"""Serving many clients over HTTP: streamable HTTP at /mcp, SSE at /sse and /messages, /health.

Who is served: without tokens, on a loopback address, anybody on this machine as the process' Kin;
once tokens exist, whoever has one as the token's Kin. Other addresses need a token from the start.
"""

import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import uvicorn
from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.errors import ConfigError
from kinmem.mcp.guard import HEALTH, Guard, KinOf, is_loopback
from kinmem.mcp.tokens import Tokens
from kinmem.settings import ServerSettings, Settings

MOST_SESSIONS = 250
"""Open at once, 40 KB each; one more takes the place of the one that has been idle for longest."""
BODY_BYTES = 8 * 1024 * 1024
"""A batch of 100 memories of 64 KiB each is about 7 MB."""
SHUTDOWN_SECONDS = 2
GRACE_SECONDS = 0.8


def serve_http(
    server: MCPServer[Any],
    settings: Settings,
    opened: Callable[[], None],
    close: Callable[[], None],
) -> NoReturn:
    """Serve until a signal comes, then close and end the process with code 0.

    `opened` is called once the address is ours.
    """
    tokens = Tokens(settings.home)
    refuse_open_door(settings.server.host, tokens)
    listening = _listen(settings.server)
    address = _url(listening)
    idle = settings.server.session_minutes * 60
    app = build_app(server, _names(settings.server), _kin_of(settings, tokens), idle)
    opened()
    sys.stderr.write(f"kinmem serves {address}/mcp and {address}/sse\n")
    _Uvicorn(_config(app)).run(sockets=[listening])
    close()
    os._exit(0)


def build_app(
    server: MCPServer[Any],
    hosts: Collection[str],
    kin_of: KinOf,
    idle_seconds: float,
    most_sessions: int = MOST_SESSIONS,
) -> Guard:
    """The ASGI application for one server: all routes behind one guard."""
    # The SDK compares prefixes, and nothing at all on other addresses; the guard is stricter.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    streamable = server.streamable_http_app(
        max_request_body_size=BODY_BYTES,
        session_idle_timeout=idle_seconds,
        max_sessions=None,
        transport_security=unchecked,
    )
    sse = server.sse_app(max_request_body_size=BODY_BYTES, transport_security=unchecked)
    routes = [*streamable.routes, *sse.routes, Route(HEALTH, _health)]
    app = Starlette(routes=routes, lifespan=lambda _: server.session_manager.run())
    return Guard(_WithRoom(app, server.session_manager, most_sessions), hosts, kin_of)


class _WithRoom:
    """The app, with room for a client that opens a session: the SDK refuses it where too many are
    open, though most of them may have been abandoned."""

    def __init__(self, app: ASGIApp, manager: StreamableHTTPSessionManager, most: int) -> None:
        self._app = app
        self._manager = manager
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sessions = self._manager._server_instances  # the SDK offers no other way to them
        if _may_open_session(scope) and len(sessions) >= self._most:
            open_scopes = [one.idle_scope for one in sessions.values() if one.idle_scope]
            idle = [one for one in open_scopes if one.deadline < math.inf and not one.cancel_called]
            if idle:
                min(idle, key=lambda one: one.deadline).cancel()
        await self._app(scope, receive, send)


def _may_open_session(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "POST"
        and all(name != b"mcp-session-id" for name, _ in scope["headers"])
    )


def refuse_open_door(host: str, tokens: Tokens) -> None:
    """Raises ConfigError for an address that others reach while there is no token to ask for."""
    if not is_loopback(host) and not tokens.usable():
        raise ConfigError(
            f"KINMEM_HOST {host} can be reached by others, and nobody has a token;"
            " add one with `kinmem token add`, or serve 127.0.0.1"
        )


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


def _kin_of(settings: Settings, tokens: Tokens) -> KinOf:
    own, loopback = settings.general.kin, is_loopback(settings.server.host)

    def kin_of(token: str | None) -> str | None:
        if token is not None:
            return tokens.verify(token)
        return own if loopback and not tokens.tokens() else None

    return kin_of


def _names(settings: ServerSettings) -> list[str]:
    """What requests may call us: the address we listen on, and what the settings add."""
    added = [name.strip() for name in settings.allowed_hosts.split(",") if name.strip()]
    wildcards = ("", "0.0.0.0", "::")
    return added if settings.host in wildcards else [settings.host, *added]


def _listen(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=128)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror};"
            " set KINMEM_HOST and KINMEM_PORT to what is free"
        ) from error


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # an address may hold a session id
        server_header=False,
        proxy_headers=False,  # nobody may claim to be another host
        ws="none",
        limit_concurrency=256,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


class _Uvicorn(uvicorn.Server):
    """With signals that end it in good order: uvicorn's own end the process with their number."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._on_signal)
        yield

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.should_exit:
            os._exit(128 + number)
        self.should_exit = True
        last = threading.Timer(SHUTDOWN_SECONDS + GRACE_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()
