"""Serves an application over HTTP: with tokens, limits, and an orderly end.

The first start makes a token. With KINMEM_INSECURE_LOCAL, on a loopback address only, a request
without a token is served as the process' Kin.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

from kinmem.errors import ConfigError
from kinmem.http.connection_limits import (
    HEADER_SECONDS,
    MOST_CONNECTIONS,
    Fair,
    TimedProtocol,
)
from kinmem.http.guard import Guard
from kinmem.http.logins import BearerOf, Sessions
from kinmem.http.open_page import announce
from kinmem.http.server_tokens import tokens_of
from kinmem.http.tokens import Bearer, Tokens, is_loopback
from kinmem.settings import ServerSettings, Settings

SHUTDOWN_SECONDS = 2
GRACE_SECONDS = 0.8


def serve_http(
    app: ASGIApp,
    settings: Settings,
    opened: Callable[[], None],
    close: Callable[[], None],
    pages: Sessions | None = None,
) -> NoReturn:
    """Serve until a signal comes, then close and end the process with code 0.

    `opened` is called once the address is bound. `pages` are the sessions of the page, if it is
    served as well.
    """
    tokens = tokens_of(settings)
    refuse_open_door(settings.server)
    listening = _listen(settings.server)
    made = None if settings.server.insecure_local else _first_token(tokens, settings)
    address = _url(listening)
    guarded = Guard(Fair(app), _names(settings.server), bearer_of(settings, tokens), pages)
    opened()
    if pages and is_loopback(settings.server.host):
        announce(settings.home, address)
    page = f", and its page at {address}/" if pages else ""
    sys.stderr.write(f"kinmem serves {address}/mcp and {address}/sse{page}\n")
    sys.stderr.write(_about_tokens(settings, made))
    _run(guarded, listening, close)


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
    guarded = Guard(Fair(app), _names(settings.server), bearer_of, pages)
    announce(settings.home, _url(listening))
    opened(_url(listening))
    _run(guarded, listening, close)


def _run(app: Guard, listening: socket.socket, close: Callable[[], None]) -> NoReturn:
    _Uvicorn(_config(app)).run(sockets=[listening])
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


async def health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


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
        listening = socket.create_server(address, family=family, backlog=128)
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
