"""How many connections, requests and sessions an HTTP server holds, and for how long; how slowly a
body may come.

Nobody locks others out. Where there is no room, whoever has most makes it: of their connections
without a request the oldest is closed, of their sessions the one that has been idle for longest.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import count
from random import randint
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kinmem.http.refusals import refusal
from kinmem.http.tokens import KIN_KEY

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

# Seconds for a client to send the whole header of a request, from its connection or the answer
# before it. uvicorn has no such limit before the first request.
HEADER_SECONDS = 10
# Connections on which no request is being answered.
MOST_WAITING = 128
# Requests being answered, open streams included; and how many of them for one Kin from one address.
MOST_REQUESTS = 256
MOST_REQUESTS_OF_ONE = 128
# uvicorn refuses further connections; these never get so many.
MOST_CONNECTIONS = MOST_WAITING + MOST_REQUESTS
# Bytes of a request. A batch of 100 memories of 64 KiB each takes about 7 MB.
BODY_BYTES = 8 * 1024 * 1024
RETRY_SECONDS = "5"
# Open sessions of MCP, 40 KB each.
MOST_SESSIONS = 250
# Where several workers answer, a connection is closed after a random number of answers between
# these, so that clients reach new workers and do not reconnect together. To connect takes less than
# a hundredth of the time of so many answers.
ANSWERS = (32, 64)
CLOSE = (b"connection", b"close")

T = TypeVar("T")


def first_of_most(owned: Iterable[tuple[T, Hashable]]) -> T:
    """Return the first thing of the owner who has most of them."""
    pairs = list(owned)
    ((most, _),) = Counter(owner for _, owner in pairs).most_common(1)
    return next(thing for thing, owner in pairs if owner == most)


class TimedProtocol(H11Protocol):
    """A connection that is closed if it waits too long for a request, or if too many wait."""

    number = 0
    """Its place in the order in which connections were opened."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.number = next(_numbers)
        self._note()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        super().connection_lost(exc)

    def _note(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering or self.transport.is_closing():
            self._end_wait()
        elif self not in _waiting:
            _waiting.add(self)
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)
            if len(_waiting) > MOST_WAITING:
                oldest = sorted(_waiting, key=lambda one: one.number)
                first_of_most((one, (one.client or ("",))[0]) for one in oldest).make_room()

    def _end_wait(self) -> None:
        _waiting.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def make_room(self) -> None:
        """Close the connection for another one."""
        self._end_wait()
        self.transport.abort()


class SpreadProtocol(TimedProtocol):
    """A connection of one worker among several, which is closed with one of its next answers: the
    client's next one leads to any of them, also to one that was started meanwhile."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._answers = randint(*ANSWERS)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._answers -= 1
            if self._answers <= 0:  # its app has not begun yet
                self.cycle.default_headers = [*self.cycle.default_headers, CLOSE]


# Connections without a request.
_waiting: set[TimedProtocol] = set()
_numbers = count()


class Fair:
    """The app, with a limit to the requests that are answered at once for one Kin from one
    address."""

    def __init__(self, app: ASGIApp, most: int = MOST_REQUESTS_OF_ONE) -> None:
        self._app = app
        self._most = most
        self._answering: Counter[tuple[str, str]] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = (scope.get(KIN_KEY, ""), (scope.get("client") or ("",))[0])
        if self._answering[peer] >= self._most:
            told = f"{self._most} requests are being answered already; try again later"
            full = refusal(
                503, "overloaded", told, retry=True, headers={"Retry-After": RETRY_SECONDS}
            )
            await full(scope, receive, send)
            return
        self._answering[peer] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._answering[peer] -= 1
            if not self._answering[peer]:
                del self._answering[peer]


# Seconds for a body, and a second more for each so many bytes of it: half a minute for what a call
# sends, five hours for an import of 1 GiB over a line of 64 KiB a second.
BODY_SECONDS = 30.0
LEAST_BYTES_A_SECOND = 64 * 1024


class Steady:
    """The app, for requests whose body comes in time; the others are answered with 408."""

    def __init__(self, app: ASGIApp, seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, send, self._seconds)
        try:
            await self._app(scope, body.receive, body.send)
        except Exception:
            if not body.is_late:
                raise
        if body.is_late and not body.is_answered:
            told = "the body of the request came too slowly; send it again"
            late = refusal(408, "timeout", told, retry=True, headers={"Connection": "close"})
            await late(scope, receive, send)


class _Body:
    """Watches one body. To the app, one that is late is that of a client that has left."""

    def __init__(self, receive: Receive, send: Send, seconds: float) -> None:
        self._receive = receive
        self._send = send
        self._until = time.monotonic() + seconds
        self._is_whole = False
        self.is_late = False
        self.is_answered = False

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()
        with anyio.move_on_after(max(0.0, self._until - time.monotonic())):
            message = await self._receive()
            self._until += len(message.get("body", b"")) / LEAST_BYTES_A_SECOND
            self._is_whole = not message.get("more_body", False)
            return message
        self.is_late = True
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Pass on the answer, unless it is one to a body that is late."""
        if self.is_answered or not self.is_late:
            self.is_answered = True
            await self._send(message)


class WithRoom:
    """The app, with room for a client that opens a session: the SDK would refuse it if too many are
    open, though most of them may have been abandoned."""

    def __init__(self, app: ASGIApp, manager: "StreamableHTTPSessionManager", most: int) -> None:
        self._app = app
        self._manager = manager
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The SDK has no public access to its sessions and their owners.
        sessions, owners = self._manager._server_instances, self._manager._session_owners
        if _may_open_session(scope) and len(sessions) >= self._most:
            idle = [
                (session.idle_scope, owners[id]["client_id"] if id in owners else "")
                for id, session in sessions.items()
                if session.idle_scope is not None
                and session.idle_scope.deadline < math.inf
                and not session.idle_scope.cancel_called
            ]
            if idle:
                idle.sort(key=lambda pair: pair[0].deadline)
                first_of_most(idle).cancel()
        await self._app(scope, receive, send)


def _may_open_session(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "POST"
        and scope["path"] == "/mcp"
        and all(name != b"mcp-session-id" for name, _ in scope["headers"])
    )
