"""`kinmem serve` and `kinmem web`: serve MCP over the transport of the settings, or the page."""

import gc
import logging
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from kinmem.errors import StoreError
from kinmem.hooks.local_socket import answered
from kinmem.hooks.socket_server import SocketServer, serve_local
from kinmem.models.places import at_hand
from kinmem.recall.profiles import reads
from kinmem.settings import HOME_VARIABLE, Settings, load, unread
from kinmem.settings.trust import warnings

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

    from kinmem.http.logins import BearerOf, Sessions
    from kinmem.service import Service

# Seconds that a call waits for the embedder to load; after that words alone are searched.
PATIENCE = 0.5
# Seconds to wait, before the process ends, for a service that is just being opened.
OPENING = 10.0
# Seconds after which an answer is surely on its way, so that background work cannot delay it.
SENT = 0.05
# Seconds after a client's first message. A client that has not listed the tools by then is idle,
# and unfinished background work continues.
IDLE = 3.0


def serve(settings: Settings) -> NoReturn:
    """Serve until a signal, or over stdio the client, ends it; then end the process with code 0.

    Raises ConfigError if the settings do not allow it.
    """
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: os._exit(0))  # nothing is open yet that must be closed
    log_to_stderr(settings.general.log_level)
    warn_of_unread(settings)
    for told in warnings(settings.home):
        logging.getLogger(__name__).warning("%s", told)
    services = Services(settings)
    if settings.server.transport == "stdio":
        _serve_stdio(services)
    _serve_http(services)


def _serve_stdio(services: "Services") -> NoReturn:
    gc.disable()  # nothing imported here is garbage, and looking for it slows the start
    from kinmem.http.lanes import Lanes
    from kinmem.mcp.calls import follow_roots
    from kinmem.mcp.protocol import build  # late, like all that loads mcp: takes half a second
    from kinmem.mcp.stdio import serve_stdio

    services.here = at_hand()  # clients start the server in their project's folder
    server = build(
        services.get,
        lanes=Lanes(services.settings.server.call_seconds),
        sets=services.settings.server.tool_sets,
        strict=services.settings.server.strict_schemas,
        middleware=[_once_asked(services.open_soon), follow_roots(services.work_in)],
    )
    gc.freeze()
    gc.enable()
    serve_stdio(server, services.close)


def _serve_http(services: "Services") -> NoReturn:
    # Late, as above.
    from kinmem.http.lanes import Lanes
    from kinmem.http.server import serve_http
    from kinmem.mcp.calls import follow_roots
    from kinmem.mcp.http_app import build_app
    from kinmem.mcp.protocol import build
    from kinmem.rest.api_routes import routes

    settings, chosen = services.settings, services.settings.server
    lanes = Lanes(chosen.call_seconds)
    server = build(
        services.get,
        lanes=lanes,
        sets=chosen.tool_sets,
        strict=chosen.strict_schemas,
        middleware=[follow_roots()],
    )
    others = routes(services.get, lanes)
    pages = None
    if chosen.web:
        from kinmem.http.server import bearer_of
        from kinmem.http.server_tokens import tokens_of
        from kinmem.web.routes import web_routes

        pages = _sessions(settings, bearer_of(settings, tokens_of(settings)))
        others += web_routes(services.get, pages, lanes)
    app = build_app(server, chosen.session_minutes * 60, others)
    serve_http(app, settings, opened=services.open_soon, close=services.close, pages=pages)


def serve_page(settings: Settings, opened: Callable[[str], object]) -> NoReturn:
    """Serve the page, and REST for whoever has a token, on a loopback address, until a signal ends
    it.

    `opened` is called with the address once it is served.
    """
    # Late, as above.
    from starlette.applications import Starlette

    from kinmem.http.lanes import Lanes
    from kinmem.http.server import serve_pages
    from kinmem.http.server_tokens import tokens_of
    from kinmem.rest.api_routes import routes
    from kinmem.web.routes import web_routes

    log_to_stderr(settings.general.log_level)
    services = Services(settings)
    pages = _sessions(settings, lambda token: None)

    def invite(address: str) -> None:
        services.open_soon()
        opened(address)

    lanes = Lanes(settings.server.call_seconds)
    tokens = tokens_of(settings)
    served = [*routes(services.get, lanes), *web_routes(services.get, pages, lanes)]
    app, verify = Starlette(routes=served), lambda token: token and tokens.verify(token)
    serve_pages(app, settings, pages, verify, invite, services.close)


def _sessions(settings: Settings, bearer_of: "BearerOf") -> "Sessions":
    from kinmem.http.logins import Sessions
    from kinmem.web.routes import SEGMENTS

    # A free port is known only later; another number tells servers of one home apart as well.
    port = settings.server.port or secrets.randbits(32)
    return Sessions(settings.home, port, bearer_of, SEGMENTS)


def _once_asked(then: Callable[[float], None]) -> "ServerMiddleware[Any]":
    """Return middleware that calls `then` once the client has its list of tools, which it waits for
    when it starts."""
    begun = False

    async def watch(
        ctx: "ServerRequestContext[Any, Any]", call_next: "CallNext"
    ) -> "HandlerResult":
        nonlocal begun
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            then(SENT)
        elif not begun:
            then(IDLE)
        begun = True
        return result

    return watch


class Services:
    """The services of this process: one for each Kin that has called, opened when needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.here: str | None = None
        self._root: str | None = None
        self._opened: dict[str, Future[Service]] = {}
        self._sockets: list[SocketServer] = []
        self._closed = False
        self._lock = threading.Lock()

    def get(self, kin: str | None = None) -> "Service":
        """Return the Kin's service; None is the process' own Kin.

        Blocks until it is open, or raises why it cannot be.
        """
        name = kin or self.settings.general.kin
        with self._lock:
            if self._closed:
                raise StoreError("kinmem is shutting down; ask again when it is back")
            opened = self._opened.get(name)
            if mine := opened is None:
                opened = self._opened[name] = Future()
        if mine:
            self._open(name, opened)
        return opened.result()

    def work_in(self, root: str | None) -> None:
        """Note where the only client of this process works; None: in no repository."""
        self._root = root
        with self._lock:
            opened = list(self._opened.values())
        for service in opened:
            if service.done() and service.exception() is None:
                self._place(service.result())

    def _place(self, service: "Service") -> None:
        service.root, service.here = self._root, self._root or self.here

    def open_soon(self, seconds: float = SENT) -> None:
        """Open the process' own Kin in the background, load its embedder, and continue unfinished
        work."""
        later = threading.Timer(seconds, self._open_quietly)
        later.daemon = True
        later.start()

    def close(self) -> None:
        """Close all services. Later calls are refused."""
        with self._lock:
            self._closed = True
            opened = list(self._opened.values())
        for local_socket in self._sockets:
            local_socket.close()
        for service in opened:
            with suppress(Exception):  # a service that could not be opened needs no closing
                service.result(timeout=OPENING).close()

    def _open(self, name: str, opened: "Future[Service]") -> None:
        try:
            # Late: takes 0.4 s, and the first answers to a client need no memory.
            from kinmem.wiring.open_memory import open_service

            service = open_service(self._settings_of(name), patience=PATIENCE)
            service.store.reserve_room(begin=True)
            self._place(service)
            self._sockets.append(serve_local(self.settings.home, name, partial(answered, service)))
            opened.set_result(service)
            self._place(service)  # the roots may have arrived since
        except BaseException as error:
            with self._lock:
                del self._opened[name]  # the next call tries again
            opened.set_exception(error)

    def _open_quietly(self) -> None:
        try:
            self.get()
        except Exception as error:  # to be expected if the client has left already
            level = logging.DEBUG if self._closed else logging.WARNING
            logging.getLogger(__name__).log(level, "the memory could not be opened: %s", error)

    def _settings_of(self, name: str) -> Settings:
        """Return a Kin's settings: another Kin may have its own table in config.toml."""
        if name == self.settings.general.kin:
            return self.settings
        return load({"KINMEM_KIN": name, HOME_VARIABLE: self.settings.home})


def warn_of_unread(settings: Settings) -> None:
    """Log once which variables are set without effect."""
    recall = settings.recall
    if names := unread(settings, reads(recall.profile, recall.fusion)):
        logging.getLogger(__name__).warning("set, but without effect: %s", ", ".join(names))


def log_to_stderr(level: str) -> None:
    """Log ids and counts of kinmem, and warnings of others: their messages below that repeat what
    was sent, at DEBUG all of it."""
    form = "%(levelname)s %(name)s: %(message)s"
    others = level if level == "ERROR" else "WARNING"
    logging.basicConfig(level=others, stream=sys.stderr, format=form, force=True)
    logging.getLogger("kinmem").setLevel(level)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_values)
        handler.addFilter(_without_credentials)


# Session ids of MCP, which are random UUIDs (a memory's is ordered by time, version 7), and tokens.
CREDENTIAL = re.compile(
    r"\b[0-9a-f]{12}4[0-9a-f]{19}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}\b|\bkmk_\S+"
)


def _without_credentials(record: logging.LogRecord) -> bool:
    """Take what opens a session or a memory out of a log record."""
    told = record.getMessage()
    if (hidden := CREDENTIAL.sub("[hidden]", told)) != told:
        record.msg, record.args = hidden, ()
    return True


def _without_values(record: logging.LogRecord) -> bool:
    """Strip a pydantic error from a log record: it shows the refused value, which may be a
    memory."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and type(error).__name__ == "ValidationError":
        record.exc_info = None
        record.msg = f"{record.msg} ({type(error).__name__})"
    return True
