"""Serves MCP, pages and REST over HTTP: with tokens, limits, and an orderly end.

MCP is at /mcp (streamable HTTP), and at /sse and /messages. Without sessions any process answers
any request; SSE needs the one that has its stream.

The first start makes a token. With KINMEM_INSECURE_LOCAL, on a loopback address only, a request
without a token is served as the process' Kin.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kinmem.errors import ConfigError
from kinmem.http.connection_limits import (
    BODY_BYTES,
    HEADER_SECONDS,
    MOST_CONNECTIONS,
    MOST_SESSIONS,
    Fair,
    SpreadProtocol,
    Steady,
    TimedProtocol,
    WithRoom,
)
from kinmem.http.guard import BearerOf, Guard, Sessions
from kinmem.http.metrics import Meters, Observed, can_count, count_together, forget_worker
from kinmem.http.open_page import announce
from kinmem.http.refusals import refusal
from kinmem.http.tokens import Bearer, Tokens, is_loopback, tokens_of
from kinmem.http.workers import Workers, refuse_workers
from kinmem.settings import ServerSettings, Settings

if TYPE_CHECKING:
    from mcp.server import MCPServer

SHUTDOWN_SECONDS = 2
GRACE_SECONDS = 0.8
BACKLOG = 128


class Served(NamedTuple):
    """What one process serves."""

    app: ASGIApp
    pages: Sessions | None = None
    """The sessions of the page, if it is served as well."""


def build_app(
    server: "MCPServer[Any]",
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
    # Late: it takes half a second, and pages do without.
    from mcp.server.transport_security import TransportSecuritySettings

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


def serve_http(
    build: Callable[[Tokens, Meters | None], Served],
    settings: Settings,
    opened: Callable[[], None],
    close: Callable[[], None],
) -> NoReturn:
    """Serve until a signal comes, then close and end the process with code 0.

    With KINMEM_WORKERS above 1 that many processes do, each with what `build` gives it, and their
    parent starts them again. `opened` is called in each once its address is bound.
    """
    refuse_open_door(settings.server)
    refuse_workers(settings)
    listening = _listen(settings.server)

    def tell() -> None:
        sys.stderr.write(_served(settings, _url(listening)))

    def serve(ready: Callable[[], object]) -> NoReturn:
        tokens = tokens_of(settings)
        made = None if settings.server.insecure_local else _first_token(tokens, settings)
        tokens.follow()
        meters = Meters() if can_count() else None
        served = build(tokens, meters)
        bearers = bearer_of(settings, tokens)
        app = Fair(Steady(served.app))
        guarded = Guard(app, _names(settings.server), bearers, served.pages)
        opened()
        if served.pages and is_loopback(settings.server.host):
            announce(settings.home, _url(listening))
        ready()
        sys.stderr.write(_about_tokens(settings, made))
        _run(Observed(guarded, meters), listening, close, settings.server)

    if settings.server.workers == 1:
        serve(tell)
    delete_counts = count_together()
    workers = Workers(settings.server.workers, serve, settings.server.drain_seconds)
    workers.run(tell, forget_worker, delete_counts)


def _served(settings: Settings, address: str) -> str:
    sse = f" and {address}/sse" if settings.server.workers == 1 else ""
    page = f", and its page at {address}/" if settings.server.web else ""
    by = f", by {settings.server.workers} workers" if settings.server.workers > 1 else ""
    return f"kinmem serves {address}/mcp{sse}{page}{by}\n"


def serve_pages(
    app: ASGIApp,
    settings: Settings,
    pages: Sessions,
    bearer_of: BearerOf,
    opened: Callable[[str], None],
    close: Callable[[], None],
) -> NoReturn:
    """Serve pages to whoever has a session, and anything else to whoever has a token, until a
    signal comes; then end as serve_http does.

    `opened` is called with the address once it is bound.
    """
    listening = _listen(settings.server)
    guarded = Guard(Fair(Steady(app)), _names(settings.server), bearer_of, pages)
    announce(settings.home, _url(listening))
    opened(_url(listening))
    _run(Observed(guarded, None), listening, close, settings.server)


def _run(
    app: Observed, listening: socket.socket, close: Callable[[], None], settings: ServerSettings
) -> NoReturn:
    _Uvicorn(app, listening, settings).run(sockets=[listening])
    close()
    os._exit(0)


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


def bearer_of(settings: Settings, tokens: Tokens) -> BearerOf:
    """Return what says for whom a token speaks."""
    open_to = Bearer(settings.general.kin, "admin") if settings.server.insecure_local else None
    return lambda token: open_to if token is None else tokens.verify(token)


def _names(settings: ServerSettings) -> list[str]:
    """Return the host names of this server: the address it listens on, and those in the
    settings."""
    added = [name.strip() for name in settings.allowed_hosts.split(",") if name.strip()]
    wildcards = ("", "0.0.0.0", "::")
    return added if settings.host in wildcards else [settings.host, *added]


def _listen(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    address = (settings.host, settings.port)
    try:
        listening = socket.create_server(address, family=family, backlog=BACKLOG)
        # For its connections: asyncio leaves it out where the protocol of a socket is not named,
        # and each answer waits 40 ms for an acknowledgement of its header.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror};"
            " set KINMEM_HOST and KINMEM_PORT to what is free"
        ) from error


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(app: Observed, workers: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # a URL may contain a session id
        server_header=False,
        proxy_headers=False,  # nobody may claim to be another host
        http=TimedProtocol if workers == 1 else SpreadProtocol,
        ws="none",
        # asyncio takes as many connections at once as may wait: one worker would take them all.
        backlog=BACKLOG if workers == 1 else 1,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=HEADER_SECONDS,
    )


class _Uvicorn(uvicorn.Server):
    """Handles signals by an orderly end; uvicorn's own handlers end the process with the signal's
    number."""

    def __init__(self, app: Observed, listening: socket.socket, settings: ServerSettings) -> None:
        super().__init__(_config(app, settings.workers))
        self._observed = app
        self._listening = listening
        self._drain_seconds = settings.drain_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.listen(BACKLOG)

    async def _wait_tasks_to_complete(self) -> None:
        """Wait until all calls are answered, then a little for streams, which have no end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._drain_seconds):
                while self._observed.calls:
                    await asyncio.sleep(0.02)
        await asyncio.wait_for(super()._wait_tasks_to_complete(), SHUTDOWN_SECONDS)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Not the method itself: sse_starlette finds a server behind that, and cuts answers short.
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda number, _: self._on_signal(number))
        yield

    def _on_signal(self, number: int) -> None:
        if self.should_exit:
            os._exit(128 + number)
        self.should_exit = True
        longest = self._drain_seconds + SHUTDOWN_SECONDS + GRACE_SECONDS
        last = threading.Timer(longest, os._exit, (0,))
        last.daemon = True
        last.start()
