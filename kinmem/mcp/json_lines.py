"""One line of standard input becomes a message, or the error that answers it.

mcp 2.3 drops what it cannot parse without an answer, takes a request with an odd id for a
notification, and hangs on SIGINT; so we read the lines ourselves.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

LINE_BYTES = 32 * 1024 * 1024
"""A longer line is skipped; a batch of 100 memories of 64 KiB each is about 7 MB."""

LONE_SURROGATES = re.compile("[\ud800-\udfff]")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Refused(Exception):
    """A line that no message can be made of; the errors to answer it with."""

    def __init__(self, code: int, message: str, *ids: RequestId | None) -> None:
        super().__init__(message)
        error = ErrorData(code=code, message=message)
        self.answers = [JSONRPCError(jsonrpc="2.0", id=id, error=error) for id in ids or (None,)]


def messages(descriptor: int) -> Iterator[JSONRPCMessage | Refused]:
    """Every line of the input as its message, or as what answers a line that is none."""
    for line in _lines(descriptor):
        try:
            yield line if isinstance(line, Refused) else message(line)
        except Refused as refused:
            yield refused


def _lines(descriptor: int) -> Iterator[bytes | Refused]:
    """Every line that is not blank, without its end; one that is too long comes as its refusal."""
    pending, skipping, at_end = bytearray(), False, False
    while not at_end:
        chunk = os.read(descriptor, 1 << 16)
        at_end = not chunk
        for part in chunk.splitlines(keepends=True) or [b"\n"]:
            if not skipping:
                pending += part
            if len(pending) > LINE_BYTES:
                yield Refused(INVALID_REQUEST, f"a message has at most {LINE_BYTES:,} bytes")
                pending.clear()
                skipping = True
            if part.endswith(b"\n"):
                if line := bytes(pending).strip():
                    yield line
                pending.clear()
                skipping = False


def message(line: bytes) -> JSONRPCMessage:
    """The message on the line. Lone surrogates in it become U+FFFD, as they do in memories.

    Raises Refused with one answer for each id that can be read, or one without an id.
    """
    try:
        given = json.loads(line.removeprefix(BYTE_ORDER_MARK).decode(), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise Refused(PARSE_ERROR, "the line is not UTF-8", *_ids_despite_bytes(line)) from None
    except (ValueError, RecursionError):
        raise Refused(PARSE_ERROR, "the line is not JSON") from None
    if b"\\u" in line:
        given = _without_surrogates(given)
    if not isinstance(given, dict):
        raise Refused(INVALID_REQUEST, "send one message object per line, no batch", *_ids(given))
    try:
        return _kind(given).model_validate(given, by_name=False)
    except ValidationError:
        text = "not a JSON-RPC 2.0 message with a string or integer id"
        raise Refused(INVALID_REQUEST, text, *_ids(given)) from None


def _kind(
    given: dict[str, Any],
) -> type[JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError]:
    """By its members: what has an id and a method wants an answer, however odd the id is."""
    if "method" in given:
        return JSONRPCRequest if "id" in given else JSONRPCNotification
    if "result" in given:
        return JSONRPCResponse
    return JSONRPCError if "error" in given else JSONRPCRequest


def _ids(given: Any) -> list[RequestId]:
    """Usable ids of the requests in it; the id of a response would name a request of our own."""
    parts = [
        part for part in (given if isinstance(given, list) else [given]) if isinstance(part, dict)
    ]
    ids = [part.get("id") for part in parts if "result" not in part and "error" not in part]
    return [id for id in ids if isinstance(id, str | int) and not isinstance(id, bool)]


def _ids_despite_bytes(line: bytes) -> list[RequestId]:
    try:
        return _ids(json.loads(line.decode(errors="replace")))
    except (ValueError, RecursionError):
        return []


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return LONE_SURROGATES.sub("\ufffd", value)
        case list():
            return [_without_surrogates(part) for part in value]
        case dict():
            return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
        case _:
            return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
