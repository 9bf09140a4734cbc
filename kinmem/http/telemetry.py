"""What a server tells of its work: a log, never of what memories say nor of what opens them; and
traces.

Traces are for OpenTelemetry: a span for each call, sent where OTEL_EXPORTER_OTLP_ENDPOINT says. The
SDK of MCP makes the spans. What they would say of contents, in messages of errors, is left out.
"""

import logging
import os
import re
import sys
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# What a span may tell; of tools, the names of our own.
ATTRIBUTES = (
    *("mcp.method.name", "mcp.protocol.version", "gen_ai.operation.name", "gen_ai.tool.name"),
    *("error.type", "rpc.response.status_code"),
)
logger = logging.getLogger(__name__)


def send_traces(version: str, tools: Collection[str]) -> None:
    """Send the spans of this process from now on, if the environment says where to; of tools, these
    are named. Not before a
    worker is forked: spans are sent by a thread."""
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


def log_to_stderr(level: str) -> None:
    """Log ids and counts of kinmem, and warnings of others: their messages below that repeat what
    was sent, at DEBUG all of it."""
    form = "%(levelname)s %(name)s: %(message)s"
    others = level if level == "ERROR" else "WARNING"
    logging.basicConfig(level=others, stream=sys.stderr, format=form, force=True)
    logging.getLogger("kinmem").setLevel(level)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_values)
        handler.addFilter(_without_credentials)


# Session ids of MCP, which are random UUIDs (a memory's is ordered by time, version 7), and tokens.
CREDENTIAL = re.compile(
    r"\b[0-9a-f]{12}4[0-9a-f]{19}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}\b|\bkmk_\S+"
)


def _without_credentials(record: logging.LogRecord) -> bool:
    """Take what opens a session or a memory out of a log record."""
    told = record.getMessage()
    if (hidden := CREDENTIAL.sub("[hidden]", told)) != told:
        record.msg, record.args = hidden, ()
    return True


def _without_values(record: logging.LogRecord) -> bool:
    """Strip a pydantic error from a log record: it shows the refused value, which may be a
    memory."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and type(error).__name__ == "ValidationError":
        record.exc_info = None
        record.msg = f"{record.msg} ({type(error).__name__})"
    return True
