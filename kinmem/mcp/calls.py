"""Who calls: the Kin, its service, the client program and where it works, and where progress goes.

The Kin is the process' own, or over HTTP the one that the bearer token names; a caller cannot
choose it. `identify` notes the caller of each message, tools and resources ask `current_call`;
`follow_roots` learns where the client works: in the first of its roots that is in a git repository.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, wait
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

from kinmem.models import Progress
from kinmem.places import place_of, working_in

if TYPE_CHECKING:
    from kinmem.service import Service

ServiceFor = Callable[[str | None], "Service"]
"""The service of the named Kin, of the process' own for None. May block until it is open."""

KIN_KEY = "kinmem.kin"
"""Where the HTTP guard leaves the Kin's name in the ASGI scope."""

CLIENT_CHARACTERS = 120
PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class Call:
    """One message of a client, as long as it is worked on."""

    service_for: ServiceFor
    context: ServerRequestContext[Any, Any]

    @property
    def service(self) -> "Service":
        """The caller's memory. Blocks until it is open: ask on a worker thread only."""
        request = self.context.request
        return self.service_for(request.scope[KIN_KEY] if request is not None else None)

    @property
    def client(self) -> str | None:
        """The program that asks, as it names itself: "claude-code 2.1.329"."""
        params = self.context.session.client_params
        if params is None:
            return None
        text = f"{params.client_info.name} {params.client_info.version}"
        return " ".join(text.split())[:CLIENT_CHARACTERS] or None

    def progress(self) -> Callable[[int, int, str], None]:
        """Tells the client, from a worker thread, how far its call is; raises once cancelled."""
        told = 0.0

        def report(done: int, total: int, what: str) -> None:
            nonlocal told
            anyio.from_thread.check_cancelled()
            now = time.monotonic()
            if done >= total or now - told >= PROGRESS_SECONDS:
                told = now
                anyio.from_thread.run(self.context.session.report_progress, done, total, what)

        return report


T = TypeVar("T")
LOOK_SECONDS = 0.1


class Unhurried(Generic[T]):
    """Work that goes on in the background where it takes longer than a client waits for."""

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self._work = work
        self._told: deque[tuple[int, int, str]] = deque(maxlen=1)
        self._cancelled = threading.Event()
        self._done: Future[T] = Future()
        threading.Thread(target=self._run, name="kinmem-unhurried", daemon=True).start()

    def within(self, seconds: float, progress: Progress) -> T | None:
        """What it gave, or raises what it raised; None if it goes on after that time. Its progress
        is told meanwhile; if that raises, for the call was cancelled, it ends."""
        latest = time.monotonic() + seconds
        while True:
            left = max(0.0, latest - time.monotonic())
            is_done = bool(wait([self._done], min(LOOK_SECONDS, left)).done)
            try:
                while self._told:
                    progress(*self._told.popleft())
            except BaseException:
                self._cancelled.set()
                raise
            if is_done or not left:
                return self._done.result() if is_done else None

    def _run(self) -> None:
        try:
            self._done.set_result(self._work(self._report))
        except BaseException as error:
            self._done.set_exception(error)

    def _report(self, done: int, total: int, what: str) -> None:
        if self._cancelled.is_set():
            raise CancelledError
        self._told.append((done, total, what))


_current: ContextVar[Call] = ContextVar("kinmem_call")


def current_call() -> Call:
    """The call being worked on, also on the worker threads it started."""
    return _current.get()


def identify(service_for: ServiceFor) -> ServerMiddleware[Any]:
    """Middleware that notes who sent each message."""

    async def note(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        token = _current.set(Call(service_for, ctx))
        try:
            return await call_next(ctx)
        finally:
            _current.reset(token)

    return note


logger = logging.getLogger(__name__)

# Roots are asked of clients that offer them, over a protocol by which a server may ask (before
# 2026-07-28, which has deprecated them): at the first tool call, and again when they have changed.
# Of many clients that one process serves over HTTP each works in a place of its own.
ROOTS_SECONDS = 2.0
"""For a client to answer; the tool call waits. Then it has no roots, until it says they changed."""
ROOTS_CHANGED = "notifications/roots/list_changed"
ROOTS_KEY = "kinmem.client"


class _Roots:
    """What one client has told."""

    def __init__(self) -> None:
        self.place: str | None = None
        self.is_known = False
        self.asking = anyio.Lock()


def follow_roots(told: Callable[[str | None], None] | None = None) -> ServerMiddleware[Any]:
    """Middleware: each call works in the place that its client names, if it names one.

    `told` gets that place as well, None if no root is in one: for a process of one client, whose
    hooks come another way.
    """

    async def watch(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        # the SDK offers no other way to what lasts as long as a client is connected
        client: _Roots = ctx.session._connection.state.setdefault(ROOTS_KEY, _Roots())
        if ctx.method == ROOTS_CHANGED:
            client.is_known = False
        elif ctx.method == "tools/call" and not client.is_known:
            async with client.asking:  # the next call waits for the answer as well
                if not client.is_known:
                    client.is_known = True  # before: they may change while they are asked for
                    try:
                        await _ask_for_roots(ctx, client, told)
                    except BaseException:  # a call that is cancelled has not heard
                        client.is_known = False
                        raise
        with working_in(client.place):
            return await call_next(ctx)

    return watch


async def _ask_for_roots(
    ctx: ServerRequestContext[Any, Any],
    client: _Roots,
    told: Callable[[str | None], None] | None,
) -> None:
    session = ctx.session
    offered = session.client_capabilities
    if offered is None or offered.roots is None or not session.can_send_request:
        return
    client.place = None
    try:
        with anyio.fail_after(ROOTS_SECONDS):
            asked = ServerMessageMetadata(related_request_id=ctx.request_id)  # in the call's stream
            answer = await session.send_request(ListRootsRequest(), ListRootsResult, metadata=asked)
    except (MCPError, ValidationError, TimeoutError) as error:
        logger.info("the client offers roots, but does not tell them: %s", type(error).__name__)
        return
    uris = [str(root.uri) for root in answer.roots]
    client.place = await anyio.to_thread.run_sync(_first_place, uris)
    if told is not None:
        told(client.place)


def _first_place(uris: Iterable[str]) -> str | None:
    """The place of the first root that has one; roots that are no files are left out."""
    parts = map(urlsplit, uris)
    folders = (url2pathname(one.path) for one in parts if one.scheme == "file")
    return next((place for folder in folders if (place := place_of(folder))), None)
