"""What those are told who run the server: does it live, may it be sent requests, and for Prometheus
how many requests and calls, how long they took, how they ended; and traces.

Labels are from fixed lists: never a Kin, a token, an id or a text. Without the extra kinmem[otel]
nothing is counted but the calls that are being answered.

Traces are for OpenTelemetry: a span for each call, sent where OTEL_EXPORTER_OTLP_ENDPOINT says. The
SDK of MCP makes the spans. What they would say of contents, in messages of errors, is left out.
"""

import logging
import os
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib.util import find_spec
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinmem.errors import KinmemError
from kinmem.http.guard import HEALTH, HEALTHZ, METRICS, READYZ
from kinmem.http.refusals import refusal

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter


logger = logging.getLogger(__name__)

ROUTES = ("/mcp", "/sse", "/messages", "/api", "/healthz", "/readyz", "/health", "/metrics")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
OTHER = "other"
# Seconds: a recall takes 5 ms in a small memory, a call at most 45 s.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 45.0)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def can_count() -> bool:
    """Return whether the extra is installed."""
    return find_spec("prometheus_client") is not None


def count_together() -> Callable[[], None]:
    """Let the processes that are forked from now on count together, in files of a new folder.
    Return what deletes it at the end; a folder that the environment names stays."""
    if not can_count() or FOLDER in os.environ:
        return lambda: None
    os.environ[FOLDER] = folder = mkdtemp(prefix="kinmem-metrics-")
    return partial(rmtree, folder, ignore_errors=True)


def forget_worker(worker: int) -> None:
    """Leave out what a process that has ended was doing."""
    if can_count() and FOLDER in os.environ:
        from prometheus_client import multiprocess  # late: an extra

        multiprocess.mark_process_dead(worker)  # type: ignore[no-untyped-call]


class Meters:
    """The counters of this process."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Gauge, Histogram  # late: an extra

        self.requests = Counter(
            "kinmem_http_requests",
            "Requests, by their end.",
            ["route", "method", "status"],
        )
        self.seconds = Histogram(
            "kinmem_http_request_seconds", "Time to the answer's end.", ["route"], buckets=BUCKETS
        )
        self.in_flight = Gauge(
            "kinmem_http_requests_in_flight",
            "Requests being answered.",
            multiprocess_mode="livesum",
        )
        self.calls = Counter("kinmem_calls", "Calls of tools.", ["tool", "outcome"])
        self.call_seconds = Histogram(
            "kinmem_call_seconds", "Time that a call of a tool takes.", ["tool"], buckets=BUCKETS
        )

    def text(self) -> bytes:
        """Return the counters of all workers as Prometheus reads them."""
        from prometheus_client import CollectorRegistry, generate_latest, multiprocess
        from prometheus_client.registry import REGISTRY

        if FOLDER not in os.environ:
            return generate_latest(REGISTRY)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


class Observed:
    """The app, with its requests counted."""

    def __init__(self, app: ASGIApp, meters: Meters | None) -> None:
        self._app = app
        self._meters = meters
        self.calls = 0
        """Requests being answered that are no streams: what an orderly end waits for."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_call = scope["method"] != "GET"
        self.calls += is_call
        try:
            if self._meters is None:
                await self._app(scope, receive, send)
            else:
                await self._metered(self._meters, scope, receive, send)
        finally:
            self.calls -= is_call

    async def _metered(self, meters: Meters, scope: Scope, receive: Receive, send: Send) -> None:
        route = _route(scope["path"])
        method = scope["method"] if scope["method"] in METHODS else OTHER
        status, began = 500, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with meters.in_flight.track_inprogress():
            try:
                await self._app(scope, receive, noting)
            finally:
                meters.requests.labels(route, method, str(status)).inc()
                meters.seconds.labels(route).observe(time.perf_counter() - began)


def _route(path: str) -> str:
    return next((route for route in ROUTES if path == route or path.startswith(f"{route}/")), OTHER)


class CountedCalls:
    """Middleware of MCP: counts calls by tool and outcome."""

    def __init__(self, meters: Meters, tools: Collection[str]) -> None:
        self._meters = meters
        self._tools = frozenset(tools)

    async def __call__(
        self, ctx: "ServerRequestContext[Any, Any]", call_next: "CallNext"
    ) -> "HandlerResult":
        if ctx.method != "tools/call":
            return await call_next(ctx)
        name = (ctx.params or {}).get("name")
        tool = name if name in self._tools else OTHER
        outcome, began = "failed", time.perf_counter()
        try:
            result = await call_next(ctx)
            outcome = "refused" if _is_error(result) else "ok"
            return result
        finally:
            self._meters.calls.labels(tool, outcome).inc()
            self._meters.call_seconds.labels(tool).observe(time.perf_counter() - began)


def _is_error(result: object) -> bool:
    if isinstance(result, dict):
        return bool(result.get("isError") or result.get("is_error"))
    return bool(getattr(result, "is_error", False))


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


ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# What a span may tell; of tools, the names of our own.
ATTRIBUTES = (
    *("mcp.method.name", "mcp.protocol.version", "gen_ai.operation.name", "gen_ai.tool.name"),
    *("error.type", "rpc.response.status_code"),
)


def send_traces(version: str, tools: Collection[str]) -> None:
    """Send the spans of this process from now on, if the environment says where to; of tools, these
    are named. Call it after workers are forked, since a thread sends the spans."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return
    if find_spec("opentelemetry.exporter") is None or find_spec("opentelemetry.sdk") is None:
        logger.warning("no traces are sent: they need the extra, pip install 'kinmem[otel]'")
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about = {"service.name": "kinmem", "service.version": version}
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(without_contents(OTLPSpanExporter(), tools)))
    trace.set_tracer_provider(provider)


def without_contents(exporter: "SpanExporter", tools: Collection[str]) -> "SpanExporter":
    """Return the exporter behind one that leaves out what errors say."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.trace import Status

    def bare(span: "ReadableSpan") -> "ReadableSpan":
        tool = (span.attributes or {}).get("gen_ai.tool.name")
        is_known = tool is None or str(tool) in tools
        kept = {k: v for k, v in (span.attributes or {}).items() if k in ATTRIBUTES}
        if not is_known:
            kept.pop("gen_ai.tool.name", None)
        return ReadableSpan(
            name=span.name if is_known else str(kept.get("mcp.method.name", "call")),
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=kept,
            kind=span.kind,
            instrumentation_scope=span.instrumentation_scope,
            status=Status(span.status.status_code),
            start_time=span.start_time,
            end_time=span.end_time,
        )

    class WithoutContents(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            return exporter.export([bare(span) for span in spans])

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30000) -> bool:
            return exporter.force_flush(timeout_millis)

    return WithoutContents()
