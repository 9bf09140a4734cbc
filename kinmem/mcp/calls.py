"""Who calls: the Kin, its service, the client program, and where progress goes.

The Kin is the process' own, or over HTTP the one that the bearer token names; a caller cannot
choose it. `identify` notes the caller of each message, tools and resources ask `current_call`.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio.from_thread
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from kinmem.models import Progress

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
        while not self._done.done() and time.monotonic() < latest:
            wait([self._done], min(LOOK_SECONDS, max(0.0, latest - time.monotonic())))
            try:
                while self._told:
                    progress(*self._told.popleft())
            except BaseException:
                self._cancelled.set()
                raise
        return self._done.result() if self._done.done() else None

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
