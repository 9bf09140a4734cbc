"""What those ask who run the server: does it live, may it be sent requests, what has it done."""

from collections.abc import Callable

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kinmem.errors import KinmemError
from kinmem.http.guard import HEALTH, HEALTHZ, METRICS, READYZ
from kinmem.http.metrics import Meters
from kinmem.http.refusals import refusal

# Seconds for the store to answer; probes wait for one to ten.
READY_SECONDS = 3.0
TEXT = "text/plain; version=0.0.4; charset=utf-8"


def probes(check: Callable[[], None], meters: Meters | None) -> list[Route]:
    """Return the routes. `check` raises KinmemError if the store cannot be used."""

    async def ready(request: Request) -> JSONResponse:
        problem = "storage_busy"
        with anyio.move_on_after(READY_SECONDS):
            try:
                await anyio.to_thread.run_sync(check, abandon_on_cancel=True)
                return JSONResponse({"status": "ok"})
            except KinmemError as error:
                problem = error.code
        return refusal(503, problem, "the store cannot be used now; the log says why", retry=True)

    async def metrics(request: Request) -> Response:
        if meters is None:
            return refusal(501, "config", "metrics need the extra: pip install 'kinmem[otel]'")
        text = await anyio.to_thread.run_sync(meters.text)
        return Response(text, media_type=TEXT)

    return [
        Route(HEALTH, _alive),
        Route(HEALTHZ, _alive),
        Route(READYZ, ready),
        Route(METRICS, metrics),
    ]


async def _alive(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})
