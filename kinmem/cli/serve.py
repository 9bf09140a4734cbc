"""`kinmem serve` and `kinmem web`: serve MCP over the transport of the settings, or the page."""

import gc
import logging
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from kinmem import __version__
from kinmem.errors import StoreError
from kinmem.hooks.local_socket import answered
from kinmem.hooks.socket_server import SocketServer, serve_local
from kinmem.http.workers import attend
from kinmem.models.places import at_hand
from kinmem.recall.profiles import reads
from kinmem.settings import HOME_VARIABLE, Settings, load, unread
from kinmem.settings.process import log_to_stderr, share_arenas
from kinmem.settings.trust import warnings

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

    from kinmem.http.guard import BearerOf, Sessions
    from kinmem.http.metrics import Meters
    from kinmem.http.server import Served
    from kinmem.http.tokens import Tokens
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
# Seconds after which a Kin that does not call is closed, where there may be thousands of them.
IDLE_KIN = 900.0


def serve(settings: Settings) -> NoReturn:
    """Serve until a signal, or over stdio the client, ends it; then end the process with code 0.

    Raises ConfigError if the settings do not allow it.
    """
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: os._exit(0))  # nothing is open yet that must be closed
    share_arenas()
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
    # Late, as above; before workers are forked, so that they share it.
    from kinmem.http.server import serve_http

    def opened() -> None:
        services.open_soon()
        services.attend()

    build = partial(_http_app, services)
    serve_http(build, services.settings, opened=opened, close=services.close)


def _http_app(services: "Services", tokens: "Tokens", meters: "Meters | None") -> "Served":
    from kinmem.http.lanes import Lanes
    from kinmem.http.metrics import CountedCalls, probes, send_traces
    from kinmem.http.server import Served, bearer_of, build_app
    from kinmem.mcp.calls import follow_roots
    from kinmem.mcp.protocol import build
    from kinmem.mcp.tools import tools
    from kinmem.web.rest.api_routes import routes

    settings, chosen = services.settings, services.settings.server
    lanes = Lanes(chosen.call_seconds)
    names = [one.name for one in tools(chosen.tool_sets)]
    send_traces(__version__, names)
    server = build(
        services.get,
        lanes=lanes,
        sets=chosen.tool_sets,
        strict=chosen.strict_schemas,
        middleware=[follow_roots(), *([CountedCalls(meters, names)] if meters else [])],
    )
    others = [*probes(services.check, meters), *routes(services.get, lanes)]
    pages, missing = None, None
    if chosen.web:
        from kinmem.web import routes as of_page

        pages = _sessions(settings, bearer_of(settings, tokens))
        others += of_page.web_routes(services.get, pages, lanes)
        missing = of_page.missing
    app = build_app(
        server,
        chosen.session_minutes * 60,
        others,
        missing,
        stateless=bool(settings.general.store),
        sse=chosen.workers == 1,
    )
    return Served(app, pages)


def serve_page(settings: Settings, opened: Callable[[str], object]) -> NoReturn:
    """Serve the page, and REST for whoever has a token, on a loopback address, until a signal ends
    it.

    `opened` is called with the address once it is served.
    """
    # Late, as above.
    from starlette.applications import Starlette

    from kinmem.http.lanes import Lanes
    from kinmem.http.server import serve_pages
    from kinmem.http.tokens import tokens_of
    from kinmem.web.rest.api_routes import routes
    from kinmem.web.routes import missing, web_routes

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
    app.router.default = missing
    serve_pages(app, settings, pages, verify, invite, services.close)


def _sessions(settings: Settings, bearer_of: "BearerOf") -> "Sessions":
    from kinmem.http.guard import Sessions
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
        self._sockets: dict[str, SocketServer] = {}
        self._closed = False
        self._lock = threading.Lock()
        self._used: dict[str, float] = {}
        """When each Kin has called last."""
        self._ending = threading.Event()

    def get(self, kin: str | None = None) -> "Service":
        """Return the Kin's service; None is the process' own Kin.

        Blocks until it is open, or raises why it cannot be.
        """
        name = kin or self.settings.general.kin
        with self._lock:
            if self._closed:
                raise StoreError("kinmem is shutting down; ask again when it is back")
            self._used[name] = time.monotonic()
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

    def check(self) -> None:
        """Raise KinmemError if the store cannot be used."""
        from kinmem.wiring.open_home import check_store

        check_store(self.settings)

    def attend(self) -> None:
        """With a database server, see to Kins that nobody calls for: do what others have left to
        do, and close what is not used."""
        if self.settings.general.store:
            from kinmem.wiring.open_home import open_server

            connect = partial(open_server, self.settings)
            attend(connect, self.get, self._close_idle, self._ending)

    def _close_idle(self) -> None:
        before = time.monotonic() - IDLE_KIN
        with self._lock:
            idle = [
                (self._opened.pop(name), self._sockets.pop(name, None))
                for name, at in self._used.items()
                if at < before and (known := self._opened.get(name)) and _rests(known)
            ]
            self._used = {name: at for name, at in self._used.items() if name in self._opened}
        for service, local_socket in idle:
            if local_socket is not None:
                local_socket.close()
            service.result().close()

    def close(self) -> None:
        """Close all services. Later calls are refused."""
        self._ending.set()
        with self._lock:
            self._closed = True
            opened = list(self._opened.values())
        for local_socket in list(self._sockets.values()):
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
            if self.settings.server.workers == 1:
                answer = partial(answered, service)
                self._sockets[name] = serve_local(self.settings.home, name, answer)
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


def _rests(opened: "Future[Service]") -> bool:
    """Return whether a service is open, and has nothing to do."""
    return opened.done() and opened.exception() is None and opened.result().is_at_rest


def warn_of_unread(settings: Settings) -> None:
    """Log once which variables are set without effect."""
    recall = settings.recall
    if names := unread(settings, reads(recall.profile, recall.fusion)):
        logging.getLogger(__name__).warning("set, but without effect: %s", ", ".join(names))
