"""What goes over HTTP line by line: GET /export and POST /import, for a person with an admin token,
and changes as they happen, one line of JSON for each, as long as the client listens.

An export is a JSONL file of any size. An import is answered line by line, in JSON: how far it is,
at last what came of it. No tool imports: storing thousands of memories is for a person to decide.
"""

import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any

import anyio
import anyio.from_thread
import anyio.to_thread
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from kinmem.backup.importing import Import
from kinmem.conversation.sanitize import inert_values
from kinmem.errors import KinmemError
from kinmem.http.lanes import PROGRESS_SECONDS, Lanes, ServiceFor
from kinmem.http.refusals import forbidden, refusal, refusal_of, told_of
from kinmem.http.tokens import KIN_KEY, SCOPE_KEY, STILL_KEY, Bearer
from kinmem.models import Progress
from kinmem.service.views import Changes
from kinmem.web.rest.declaration import Asked, Call, Endpoint
from kinmem.web.rest.shapes import Malformed, asked_for, written
from kinmem.wiring.open_home import clear_folder

EXPORT, IMPORT = "/export", "/import"
JSONL, LINES = "application/jsonl", "application/x-ndjson"
# Bytes of an import.
MOST_BYTES = 1 << 30
BLOCK = 1 << 20


def transfer_routes(service_for: ServiceFor) -> list[Route]:
    """Return the routes; each serves the Kin of the request's token."""

    async def export(request: Request) -> Response:
        if refused := _refused(request):
            return refused
        with ExitStack() as held:
            try:
                service = await anyio.to_thread.run_sync(service_for, request.scope[KIN_KEY])
                folder = clear_folder(service.settings)
                file = held.enter_context(tempfile.TemporaryFile(dir=folder))
                await anyio.to_thread.run_sync(service.export, file)
            except KinmemError as error:
                return refusal_of(error)
            size = {"Content-Length": str(file.tell())}
            blocks = _blocks(file, held.pop_all())
        return StreamingResponse(blocks, media_type=JSONL, headers=size)

    async def import_(request: Request) -> Response:
        if refused := _refused(request):
            return refused
        if request.headers.get("content-type", "").partition(";")[0].strip() not in (JSONL, LINES):
            return refusal(415, "invalid", f"the body has to be {JSONL}")
        try:
            service = await anyio.to_thread.run_sync(service_for, request.scope[KIN_KEY])
        except KinmemError as error:
            return refusal_of(error)
        with ExitStack() as held:
            parent = clear_folder(service.settings)
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="kinmem-", dir=parent))
            path = Path(folder) / "import.jsonl"
            if not await _is_saved(request, path):
                return refusal(413, "too_large", "a file of more than 1 GiB is not taken")
            kept = held.pop_all()
        dry_run = request.query_params.get("dry_run", "") in ("1", "true", "on")

        def work(progress: Progress) -> Import:
            with kept:
                return service.import_(path, dry_run=dry_run, progress=progress)

        return _Told(work)

    return [
        Route(EXPORT, export, methods=["GET"]),
        Route(IMPORT, import_, methods=["POST"]),
    ]


def _refused(request: Request) -> Response | None:
    bearer = Bearer(request.scope[KIN_KEY], request.scope[SCOPE_KEY])
    return None if bearer.may("admin") else forbidden(bearer, "admin")


async def _is_saved(request: Request, path: Path) -> bool:
    """Write the body to a file, and return whether all of it may be taken."""
    size = 0
    with path.open("wb") as file:
        async for block in request.stream():
            size += len(block)
            if size > MOST_BYTES:
                return False
            file.write(block)
    return True


def _blocks(file: IO[bytes], held: ExitStack) -> Iterator[bytes]:
    with held:
        file.seek(0)
        while block := file.read(BLOCK):
            yield block


class _Told(Response):
    """The answer of long work: a line for its progress now and then, at last one for its result.

    The work is finished even if the client has left.
    """

    def __init__(self, work: Callable[[Progress], Import]) -> None:
        super().__init__(media_type=LINES)
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        reported_at = 0.0

        async def tell(part: Message) -> None:
            await send(part)

        def report(done: int, total: int, what: str) -> None:
            nonlocal reported_at
            now = time.monotonic()
            if done >= total or now - reported_at >= PROGRESS_SECONDS:
                reported_at = now
                line = {"progress": done, "total": total, "what": what}
                anyio.from_thread.run(tell, _part(line))

        try:
            done = await anyio.to_thread.run_sync(self._work, report)
            last: dict[str, Any] = {"result": done.described()}
        except KinmemError as error:
            last = {"error": told_of(error)}
        await send(_part(last, more=False))


def _part(line: dict[str, Any], *, more: bool = True) -> Message:
    body = json.dumps(line, ensure_ascii=False).encode() + b"\n"
    return {"type": "http.response.body", "body": body, "more_body": more}


STREAM = "/changes/stream"
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
