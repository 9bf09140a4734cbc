"""Changes as they happen: one line of JSON for each, as long as the client listens."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Annotated

import anyio
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from kinmem.conversation.sanitize import inert_values
from kinmem.errors import KinmemError
from kinmem.http.lanes import Lanes, ServiceFor
from kinmem.http.refusals import refusal, refusal_of, told_of
from kinmem.http.tokens import KIN_KEY, STILL_KEY
from kinmem.service.views import Changes
from kinmem.web.rest.declaration import Asked, Call, Endpoint
from kinmem.web.rest.requests import Malformed, asked_for
from kinmem.web.rest.shapes import written

STREAM = "/changes/stream"
LINES = "application/x-ndjson"
# Seconds between two looks, and after which an empty line shows that the stream is alive.
LOOK_SECONDS = 0.5
ALIVE_SECONDS = 15.0
LONGEST_SECONDS = 3600.0


class Ended(KinmemError):
    """The token was revoked, or has expired, while its stream was open."""

    code = "unauthorized"


class Listening(Asked):
    since: Annotated[str | None, Field(description="a cursor; left out: from now on")] = None
    seconds: Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] = LONGEST_SECONDS


def stream_changes(call: Call, asked: Listening) -> Changes:
    """Return what changes while the client listens: a line of JSON for each change. The cursor of
    any line continues behind it; empty lines show that the stream is alive."""
    return call.service.changes(asked.since)


ENDPOINT = Endpoint("GET", STREAM, "read", "Past", stream_changes)


def change_stream(
    service_for: ServiceFor, lanes: Lanes
) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers the stream. The first look is made before it begins, so that an error is
    one with a status."""

    async def answer(request: Request) -> Response:
        kin, still = request.scope[KIN_KEY], request.scope[STILL_KEY]

        def look(since: str | None) -> Changes:
            bearer = still()
            if bearer is None or bearer.kin != kin:
                raise Ended("the token is no longer valid")
            return service_for(kin).changes(since)

        try:
            asked = asked_for(request, ENDPOINT, b"")
            assert isinstance(asked, Listening)
            first = await lanes.reading.run(partial(look, asked.since))
        except Malformed as error:
            return refusal(400, error.code, str(error))
        except KinmemError as error:
            return refusal_of(error)
        if request.method == "HEAD":
            return Response(media_type=LINES)
        lines = _told(first, asked.seconds, lambda since: lanes.reading.run(partial(look, since)))
        return StreamingResponse(lines, media_type=LINES)

    return answer


async def _told(
    found: Changes, seconds: float, look: Callable[[str], Awaitable[Changes]]
) -> AsyncIterator[bytes]:
    """Yield the first look whatever it has found: its cursor is where the listener stands."""
    until, told_at = time.monotonic() + seconds, time.monotonic()
    yield _lines_of(found)
    while found.is_more or time.monotonic() < until:
        if not found.is_more:
            await anyio.sleep(min(LOOK_SECONDS, max(0.0, until - time.monotonic())))
        try:
            found = await look(found.cursor)
        except KinmemError as error:
            if error.retry:  # another process has the file for a moment
                await anyio.sleep(LOOK_SECONDS)
                continue
            yield json.dumps({"error": told_of(error)}).encode() + b"\n"
            return
        if found.parts or found.is_reset:
            yield _lines_of(found)
            told_at = time.monotonic()
        elif time.monotonic() - told_at >= ALIVE_SECONDS:
            yield b"\n"
            told_at = time.monotonic()


def _lines_of(found: Changes) -> bytes:
    """Return a line for each change, with the cursor behind it; all parts are in the last."""
    earlier = [
        Changes(frozenset({"shared" if one.write is None else "memories"}), (one,), one.cursor)
        for one in found.changed[:-1]
    ]
    return b"".join(map(_line, [*earlier, replace(found, changed=found.changed[-1:])]))


def _line(found: Changes) -> bytes:
    return json.dumps(inert_values(written(found)), ensure_ascii=False).encode() + b"\n"
