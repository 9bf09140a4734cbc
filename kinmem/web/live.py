"""Server-sent events: a page learns that something has changed, whoever has changed it."""

import time
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from kinmem.http.lanes import ServiceFor
from kinmem.http.logins import SESSION_KEY, Session, Sessions

# Seconds between two looks, which cost two small statements.
LOOK_SECONDS = 1.0
# Looks after which a line is sent all the same, so that an end that nobody told of is noticed.
STILL = 15
# Seconds after which a stream ends; a page that is still open asks again.
LONGEST = 3600.0


class Events:
    """Streams of one server."""

    def __init__(self, service_for: ServiceFor, sessions: Sessions) -> None:
        self._service_for = service_for
        self._sessions = sessions

    async def answer(self, request: Request) -> Response:
        session: Session = request.scope[SESSION_KEY]
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self._lines(session)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _lines(self, session: Session) -> AsyncIterator[str]:
        service = await anyio.to_thread.run_sync(self._service_for, session.bearer.kin)
        known = (await anyio.to_thread.run_sync(service.changes)).cursor
        yield "retry: 2000\n\n"
        still, ends_at = 0, time.monotonic() + LONGEST
        while time.monotonic() < ends_at:
            await anyio.sleep(LOOK_SECONDS)
            if not await anyio.to_thread.run_sync(self._sessions.is_live, session):
                return
            seen = (await anyio.to_thread.run_sync(service.changes, known)).cursor
            still += 1
            if seen != known:
                known, still = seen, 0
                yield f"event: changed\ndata: {seen}\n\n"
            elif still >= STILL:
                still = 0
                yield ": still here\n\n"
