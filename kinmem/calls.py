"""Who calls: the Kin, its service, the client program, and where progress goes.

The Kin is the process' own, or over HTTP the one that the bearer token names; a caller cannot
choose it. `identify` notes the caller of each message, tools and resources ask `current_call`.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio.from_thread
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

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
