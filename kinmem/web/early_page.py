"""A page of which the head is sent before the rest is known.

The head of a page is sent as soon as it is known that there will be one: styles, scripts and
navigation reach the browser while a thread still asks the store for what the view shows. That is
known before a thread begins if the view is certain, its memory is open and a thread is free; else
the view says so with Asked.begin. A view that may not find what it is asked for says it after it
has looked, so that the answer is 404 or 400; one that has something to show in every memory says it
at once. What fails later, also a store that cannot be read, is told within a page of status 200.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kinmem.errors import KinmemError
from kinmem.web.render import HEADERS
from kinmem.web.view import Head

logger = logging.getLogger(__name__)

# Seconds that a thread waits until the head is sent. Without waiting it would keep the interpreter
# to itself, and the head would leave with the rest; a browser that reads nothing holds no thread.
PATIENCE = 0.05
FIELDS = [
    (name.lower().encode(), value.encode())
    for name, value in {**HEADERS, "Content-Type": "text/html; charset=utf-8"}.items()
]


class EarlyHead(Head):
    """The head of one answer."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._sending: Future[None] | None = None
        self._is_over = False
        # A call may end at its deadline just while its thread begins the page.
        self._lock = threading.Lock()
        self.write: Callable[[], str] | None = None
        """Makes the head. Without it none is sent early."""
        self.tell: Callable[[Exception], Response] | None = None
        """Makes what follows the head when the rest cannot be shown."""

    async def send_at_once(self) -> None:
        """Send it before any thread works."""
        if self.write is not None:
            self.is_sent = True
            await self._start(self.write().encode())

    def begin(self, title: str | None) -> None:
        """Send it, if it was not. For the thread that works."""
        super().begin(title)
        if self.write is None or self.is_sent:
            return
        head = self.write().encode()
        with self._lock:
            if self._is_over:  # answered without waiting for the thread any longer
                return
            self._sending = asyncio.run_coroutine_threadsafe(self._start(head), self._loop)
            self.is_sent = True
        wait([self._sending], PATIENCE)  # that it fails is no failure of the view: `end` raises it

    def close(self) -> bool:
        """Return whether it was sent, or is on its way. From now on it is not sent."""
        with self._lock:
            self._is_over = True
            return self.is_sent

    async def end(self) -> bool:
        """Do what `close` does, and wait until it is no longer on its way."""
        is_sent = self.close()
        if self._sending is not None:
            await asyncio.wrap_future(self._sending)
        return is_sent

    async def _start(self, head: bytes) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": FIELDS})
        await self._send({"type": "http.response.body", "body": head, "more_body": True})


class EarlyPage(Response):
    """The answer of some work, which may send the head of it early."""

    def __init__(self, work: Callable[[EarlyHead], Awaitable[Response]]) -> None:
        self._work = work
        super().__init__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = EarlyHead(send)
        try:
            answer = await self._work(head)
        except Exception as error:
            if not head.close() or head.tell is None:
                raise
            # Before anything else, which may fail too: nobody would hear of this one.
            if not isinstance(error, KinmemError):
                logger.error("a page could not be shown", exc_info=error)
            answer = head.tell(error)
        if await head.end():
            await send({"type": "http.response.body", "body": answer.body})
        else:
            await answer(scope, receive, send)
