"""`kinmem serve`: settings -> service -> MCP over the transport that the settings name."""

import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from kinmem.errors import StoreError
from kinmem.places import at_hand
from kinmem.recall.profiles import reads
from kinmem.settings import HOME_VARIABLE, Settings, load, unread

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

    from kinmem.hooks.local_socket import Closeable
    from kinmem.service import Service

PATIENCE = 0.5
"""Seconds that a call waits for the embedder to load; then words alone have to do."""
OPENING = 10.0
"""Seconds that a service which is just being opened is waited for before the process ends."""
SENT = 0.05
"""Seconds after which an answer is surely on its way, so that background work cannot delay it."""
IDLE = 3.0
"""Seconds after a client's first message in which it might list the tools; one that does not is
idle by then, and what was left undone the last time goes on."""


def serve(settings: Settings) -> NoReturn:
    """Serve until a signal, or over stdio the client, ends it; then end the process with code 0.

    Raises ConfigError if the settings do not allow it.
    """
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: os._exit(0))  # until something is open that wants closing
    log_to_stderr(settings.general.log_level)
    warn_of_unread(settings)
    services = Services(settings)
    if settings.server.transport == "stdio":
        _serve_stdio(services)
    _serve_http(services)


def _serve_stdio(services: "Services") -> NoReturn:
    gc.disable()  # what is imported now stays; looking for garbage in it slows the start
    from kinmem.mcp.calls import follow_roots
    from kinmem.mcp.protocol import build  # late, as all that loads mcp: half a second
    from kinmem.mcp.stdio import serve_stdio

    services.here = at_hand()  # clients start a server in their project's folder
    server = build(
        services.get,
        sets=services.settings.server.tool_sets,
        strict=services.settings.server.strict_schemas,
        middleware=[_once_asked(services.open_soon), follow_roots(services.work_in)],
    )
    gc.freeze()
    gc.enable()
    serve_stdio(server, services.close)


def _serve_http(services: "Services") -> NoReturn:
    from kinmem.mcp.calls import follow_roots
    from kinmem.mcp.http import serve_http
    from kinmem.mcp.protocol import build

    chosen = services.settings.server
    server = build(
        services.get,
        sets=chosen.tool_sets,
        strict=chosen.strict_schemas,
        middleware=[follow_roots()],
    )
    serve_http(server, services.settings, opened=services.open_soon, close=services.close)


def _once_asked(then: Callable[[float], None]) -> "ServerMiddleware[Any]":
    """A client that starts waits for the list of tools; all else can follow it."""
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
    """The services of this process: one for each Kin that has called, opened when it is needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.here: str | None = None
        self._root: str | None = None
        self._opened: dict[str, Future[Service]] = {}
        self._doors: list[Closeable] = []
        self._closed = False
        self._lock = threading.Lock()

    def get(self, kin: str | None = None) -> "Service":
        """The Kin's service; None is the process' own. Blocks until it is open or raises why."""
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
        """The one client of this process has told where it works; None: in no repository."""
        self._root = root
        with self._lock:
            opened = list(self._opened.values())
        for service in opened:
            if service.done() and service.exception() is None:
                self._place(service.result())

    def _place(self, service: "Service") -> None:
        service.root, service.here = self._root, self._root or self.here

    def open_soon(self, seconds: float = SENT) -> None:
        """Open the process' own Kin in the background, and with it begin to load the embedder and
        to work on what was left undone."""
        later = threading.Timer(seconds, self._open_quietly)
        later.daemon = True
        later.start()

    def close(self) -> None:
        """Close all; whoever asks later is refused."""
        with self._lock:
            self._closed = True
            opened = list(self._opened.values())
        for door in self._doors:
            door.close()
        for service in opened:
            with suppress(Exception):  # one that could not be opened needs no closing
                service.result(timeout=OPENING).close()

    def _open(self, name: str, opened: "Future[Service]") -> None:
        try:
            from kinmem.hooks.deliver import answered
            from kinmem.hooks.local_socket import serve_local
            from kinmem.wiring import open_service

            service = open_service(self._settings_of(name), patience=PATIENCE)
            self._place(service)
            self._doors.append(serve_local(self.settings.home, name, partial(answered, service)))
            opened.set_result(service)
            self._place(service)  # the roots may have been told since
        except BaseException as error:
            with self._lock:
                del self._opened[name]  # the next call may have more luck
            opened.set_exception(error)

    def _open_quietly(self) -> None:
        try:
            self.get()
        except Exception as error:  # no wonder, where the client has gone before it was open
            level = logging.DEBUG if self._closed else logging.WARNING
            logging.getLogger(__name__).log(level, "the memory could not be opened: %s", error)

    def _settings_of(self, name: str) -> Settings:
        """Another Kin may have its own table in config.toml."""
        if name == self.settings.general.kin:
            return self.settings
        return load({"KINMEM_KIN": name, HOME_VARIABLE: self.settings.home})


def warn_of_unread(settings: Settings) -> None:
    """Say once which variables are set in vain."""
    recall = settings.recall
    if names := unread(settings, reads(recall.profile, recall.fusion)):
        logging.getLogger(__name__).warning("set, but without effect: %s", ", ".join(names))


def log_to_stderr(level: str) -> None:
    """Ids and counts, no contents: the SDK's own messages below WARNING repeat what was sent."""
    logging.basicConfig(
        level=level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    if level == "INFO":
        logging.getLogger("mcp").setLevel(logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_values)


def _without_values(record: logging.LogRecord) -> bool:
    """A pydantic error shows the value it refuses, which may be a memory."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and type(error).__name__ == "ValidationError":
        record.exc_info = None
        record.msg = f"{record.msg} ({type(error).__name__})"
    return True
