"""Serving many clients over HTTP: streamable HTTP at /mcp, SSE at /sse and /messages, /health.

Every request, whatever its route, has to pass the guard: the right Host, no foreign page, a token,
whose Kin is served. The first start makes a token. With KINMEM_INSECURE_LOCAL, on a loopback
address only, a request without a token is served as the process' Kin.

A web page that somebody has open can send requests to their machine, and by DNS rebinding under a
name of its own, so only names known to be ours are served. There are no CORS headers.
"""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn
from urllib.parse import urlsplit

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.errors import ConfigError
from kinmem.mcp.calls import KIN_KEY, SCOPE_KEY
from kinmem.mcp.connection_limits import (
    HEADER_SECONDS,
    MOST_CONNECTIONS,
    MOST_SESSIONS,
    Fair,
    TimedProtocol,
    WithRoom,
)
from kinmem.mcp.tokens import Bearer, Tokens, is_loopback
from kinmem.settings import ServerSettings, Settings

logger = logging.getLogger(__name__)

HEALTH = "/health"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

# Returns whom a bearer token, or its absence, speaks for; None refuses. May raise ConfigError.
BearerOf = Callable[[str | None], Bearer | None]


class Guard:
    """Passes a request on to the app, or answers it with 421, 403, 401 or 503."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], bearer_of: BearerOf) -> None:
        """`hosts` are host names that requests may carry besides the loopback ones, with or without
        a port."""
        self._app = app
        self._hosts = LOOPBACK_NAMES | {host.lower() for host in hosts}
        self._bearer_of = bearer_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif refusal := self._refusal(scope):
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """Return the refusal of the request; None if it may pass, with its Kin noted in the
        scope."""
        headers = _Headers(scope)
        hosts = headers.all("host")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            return _error(421, "this server does not serve that host; see KINMEM_ALLOWED_HOSTS")
        if not all(self._ours(origin, origin=True) for origin in headers.all("origin")):
            return _error(403, "requests from that origin are refused")
        if "cross-site" in headers.all("sec-fetch-site"):
            return _error(403, "requests from other sites are refused")
        given = headers.all("authorization")
        if not given and scope["path"] == HEALTH and scope["method"] in ("GET", "HEAD"):
            return None  # the answer reveals only that the server runs
        return self._unauthorized(scope, given)

    def _ours(self, text: str, *, origin: bool = False) -> bool:
        """Compare the exact name, not a prefix: http://localhost:1@evil.example belongs to
        evil.example."""
        parts = _split(text if origin else f"//{text}")
        if parts is None or (origin and parts[0] not in ("http", "https")):
            return False
        _, name, port = parts
        return name in self._hosts or f"{_bracketed(name)}:{port}" in self._hosts

    def _unauthorized(self, scope: Scope, given: list[str]) -> JSONResponse | None:
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        bearer = token.strip() if scheme.lower() == "bearer" else None
        try:
            known = self._bearer_of(bearer) if given == [] or bearer else None
        except ConfigError as error:
            logger.error("%s", error)
            return _error(503, "the tokens of this server cannot be read")
        if known is None:
            challenge = 'Bearer realm="kinmem"' + (', error="invalid_token"' if given else "")
            refusal = _error(401, "a valid bearer token is needed; `kinmem token add` makes one")
            refusal.headers["WWW-Authenticate"] = challenge
            return refusal
        scope[KIN_KEY], scope[SCOPE_KEY] = known.kin, known.scope
        if bearer:  # the SDK binds each session to the user who opened it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=known.kin, scopes=[]))
        return None


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._pairs: list[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [value.decode("latin-1") for key, value in self._pairs if key.lower() == wanted]


def _split(url: str) -> tuple[str, str, int | None] | None:
    """Return scheme, name and port of a URL that has no other parts; None for anything else."""
    if not url.isascii() or any(c in "@\\?#% \t\r\n" or not c.isprintable() for c in url):
        return None
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    return None if not name or parts.path else (parts.scheme, name, port)


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)


# Most bytes of a request. A batch of 100 memories of 64 KiB each takes about 7 MB.
BODY_BYTES = 8 * 1024 * 1024
SHUTDOWN_SECONDS = 2
GRACE_SECONDS = 0.8


def serve_http(
    server: MCPServer[Any],
    settings: Settings,
    opened: Callable[[], None],
    close: Callable[[], None],
    others: Sequence[Route] = (),
) -> NoReturn:
    """Serve until a signal comes, then close and end the process with code 0.

    `opened` is called once the address is bound. `others` are routes besides those of MCP.
    """
    tokens = Tokens(settings.home)
    refuse_open_door(settings.server)
    listening = _listen(settings.server)
    made = None if settings.server.insecure_local else _first_token(tokens, settings)
    address = _url(listening)
    idle = settings.server.session_minutes * 60
    app = build_app(server, _names(settings.server), _bearer_of(settings, tokens), idle, others)
    opened()
    sys.stderr.write(f"kinmem serves {address}/mcp and {address}/sse\n")
    sys.stderr.write(_about_tokens(settings, made))
    _Uvicorn(_config(app)).run(sockets=[listening])
    close()
    os._exit(0)


def build_app(
    server: MCPServer[Any],
    hosts: Collection[str],
    bearer_of: BearerOf,
    idle_seconds: float,
    others: Sequence[Route],
    most_sessions: int = MOST_SESSIONS,
) -> Guard:
    """Return the ASGI application for one server, with all routes behind one guard."""
    # The SDK compares prefixes, and checks nothing on other addresses; the guard is stricter.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    streamable = server.streamable_http_app(
        max_request_body_size=BODY_BYTES,
        session_idle_timeout=idle_seconds,
        max_sessions=None,
        transport_security=unchecked,
    )
    sse = server.sse_app(max_request_body_size=BODY_BYTES, transport_security=unchecked)
    routes = [*streamable.routes, *sse.routes, Route(HEALTH, _health), *others]
    app = Starlette(routes=routes, lifespan=lambda _: server.session_manager.run())
    roomy = WithRoom(app, server.session_manager, most_sessions)
    return Guard(Fair(roomy), hosts, bearer_of)


def refuse_open_door(settings: ServerSettings) -> None:
    """Raise ConfigError if others would reach the address without a token."""
    if settings.insecure_local and not is_loopback(settings.host):
        raise ConfigError(
            f"KINMEM_HOST {settings.host} can be reached by others, and KINMEM_INSECURE_LOCAL asks"
            " nobody for a token; serve 127.0.0.1, or leave it out"
        )


def _first_token(tokens: Tokens, settings: Settings) -> str | None:
    """Make a token at the first start; None if there are tokens already.

    Raises ConfigError if all of them have expired or been revoked.
    """
    made = tokens.first(settings.general.kin, note="first start")
    if made is None and not tokens.usable():
        raise ConfigError(
            "every token has expired or been revoked, so nobody could use the server;"
            " add one with `kinmem token add`"
        )
    return made


def _about_tokens(settings: Settings, made: str | None) -> str:
    if settings.server.insecure_local:
        return "Without a token every program and account of this machine reads and changes it.\n"
    if made is None:
        return ""
    return (
        f"A token for {settings.general.kin} was made; it is shown only now:\n{made}\n"
        "Clients send it as: Authorization: Bearer TOKEN; `kinmem token` manages tokens.\n"
    )


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


def _bearer_of(settings: Settings, tokens: Tokens) -> BearerOf:
    open_to = Bearer(settings.general.kin, "admin") if settings.server.insecure_local else None

    def bearer_of(token: str | None) -> Bearer | None:
        return open_to if token is None else tokens.verify(token)

    return bearer_of


def _names(settings: ServerSettings) -> list[str]:
    """Return the host names of this server: the address it listens on, and those in the
    settings."""
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
        access_log=False,  # a URL may contain a session id
        server_header=False,
        proxy_headers=False,  # nobody may claim to be another host
        http=TimedProtocol,
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=HEADER_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


class _Uvicorn(uvicorn.Server):
    """Handles signals by an orderly end; uvicorn's own handlers end the process with the signal's
    number."""

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
