"""Server-sent events: a page learns that something has changed, whoever has changed it."""

from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from kinmem.http.lanes import ServiceFor
from kinmem.http.logins import SESSION_KEY, Session

LIVE = "/events"
# Seconds between two looks, which cost two small statements.
LOOK_SECONDS = 1.0
# Looks after which a line is sent all the same, so that an end that nobody told of is noticed.
STILL = 15


class Events:
    """Streams of one server."""

    def __init__(self, service_for: ServiceFor) -> None:
        self._service_for = service_for

    async def answer(self, request: Request) -> Response:
        session: Session = request.scope[SESSION_KEY]
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self._lines(session.bearer.kin)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _lines(self, kin: str) -> AsyncIterator[str]:
        service = await anyio.to_thread.run_sync(self._service_for, kin)
        known = (await anyio.to_thread.run_sync(service.changes)).cursor
        yield "retry: 2000\n\n"
        still = 0
        while True:
            await anyio.sleep(LOOK_SECONDS)
            seen = (await anyio.to_thread.run_sync(service.changes, known)).cursor
            still += 1
            if seen != known:
                known, still = seen, 0
                yield f"event: changed\ndata: {seen}\n\n"
            elif still >= STILL:
                still = 0
                yield ": still here\n\n"
