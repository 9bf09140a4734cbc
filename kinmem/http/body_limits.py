"""How slowly the body of a request may come: whoever sends a byte now and then holds no place."""

import time

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinmem.http.refusals import refusal

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
