"""Serving one client over standard input and output.

Ends with code 0 when the input ends or on a signal, after finishing the calls in hand.

Each line of input becomes a message, or the error that answers it. mcp 2.3 silently drops what it
cannot parse, takes a request with an odd id for a notification, and hangs on SIGINT; so the lines
are read here.
"""

import asyncio
import json
import logging
import math
import os
import re
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.shared.message import ServerMessageMetadata, SessionMessage
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

# A longer line is skipped. A batch of 100 memories of 64 KiB each takes about 7 MB.
LINE_BYTES = 32 * 1024 * 1024
# Bytes that are read ahead of the calls that are being handled.
AHEAD_BYTES = 8 * 1024 * 1024

LONE_SURROGATES = re.compile("[\ud800-\udfff]")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Refused(Exception):
    """A line that is not a message, with the errors to answer it with."""

    def __init__(self, code: int, message: str, *ids: RequestId | None) -> None:
        super().__init__(message)
        error = ErrorData(code=code, message=message)
        self.answers = [JSONRPCError(jsonrpc="2.0", id=id, error=error) for id in ids or (None,)]


class ReadAhead:
    """The lines of the input, read as they come, so that its end is noticed although calls wait."""

    def __init__(self, descriptor: int, ended: Callable[[], None]) -> None:
        """`ended` is called once the input has ended, whatever is still to be taken of it."""
        self._descriptor = descriptor
        self._ended = ended
        self._lines: deque[bytes | Refused] = deque()
        self._bytes = 0
        self._is_over = False
        self._changed = threading.Condition()

    def read(self) -> None:
        """Read until the end; wait while too much is there."""
        try:
            for line in _lines(self._descriptor):
                with self._changed:
                    self._changed.wait_for(lambda: self._bytes < AHEAD_BYTES)
                    self._lines.append(line)
                    self._bytes += _size(line)
                    self._changed.notify_all()
        except OSError as error:
            logger.debug("standard input is no longer read: %r", error)
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._ended()

    @property
    def is_empty(self) -> bool:
        """Whether all that was read has been taken."""
        return not self._lines

    def messages(self) -> Iterator[JSONRPCMessage | Refused]:
        """Yield each line as a message, or as the refusal to answer it with. A line is taken once
        the next one is asked for."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._is_over)
                if not self._lines:
                    return
                line = self._lines[0]
            try:
                yield line if isinstance(line, Refused) else message(line)
            except Refused as refused:
                yield refused
            with self._changed:
                self._bytes -= _size(self._lines.popleft())
                self._changed.notify_all()


def _size(line: bytes | Refused) -> int:
    return 0 if isinstance(line, Refused) else len(line)


def _lines(descriptor: int) -> Iterator[bytes | Refused]:
    """Yield each line that is not blank, without its end; for a line that is too long, its
    refusal."""
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
    """Parse the message on the line. Lone surrogates become U+FFFD, as they do in memories.

    Raises Refused with one answer for each id that can be read, or one answer without an id.
    """
    try:
        given = json.loads(line.removeprefix(BYTE_ORDER_MARK).decode(), parse_constant=_refuse)
        if b"\\u" in line:
            given = _without_surrogates(given)
    except UnicodeDecodeError:
        raise Refused(PARSE_ERROR, "the line is not UTF-8", *_ids_despite_bytes(line)) from None
    except (ValueError, RecursionError):
        raise Refused(PARSE_ERROR, "the line is not JSON") from None
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
    """Return the kind of message by its members: with an id and a method it is a request, however
    odd the id is."""
    if "method" in given:
        return JSONRPCRequest if "id" in given else JSONRPCNotification
    if "result" in given:
        return JSONRPCResponse
    return JSONRPCError if "error" in given else JSONRPCRequest


def _ids(given: Any) -> list[RequestId]:
    """Return the usable ids of the requests.

    The id of a response would name a request of our own.
    """
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


logger = logging.getLogger(__name__)

# Seconds for calls in hand after the input has ended: with GRACE_SECONDS less than five.
FINISH_SECONDS = 4.0
# Seconds for calls in hand after a signal.
SIGNAL_SECONDS = 2.0
# Seconds that are then left for closing the files before the process ends regardless.
GRACE_SECONDS = 0.8

Stream = MemoryObjectSendStream[SessionMessage]


def serve_stdio(server: MCPServer[Any], close: Callable[[], None]) -> NoReturn:
    """Serve until the client or a signal ends it, then close and exit.

    The exit does not wait for threads, since one may be in a read that never returns. What was
    answered is stored, and an unfinished transaction leaves no trace.
    """
    code = 0
    try:
        anyio.run(Pipe(server).serve)
        close()
    except Exception:
        logger.exception("serving over stdio failed")
        code = 1
    os._exit(code)


class Pipe:
    """The connection to the one client of this process."""

    def __init__(self, server: MCPServer[Any]) -> None:
        self._server = server
        self._in_hand: Counter[RequestId | None] = Counter()
        self._deadline = math.inf
        self._signalled = False
        # Nothing else that writes to standard output, here or in a child process, may reach the
        # client.
        self._input, self._output = os.dup(0), os.dup(1)
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    async def serve(self) -> None:
        """Serve until the input ends, the output breaks, or a signal comes."""
        self._loop = asyncio.get_running_loop()
        self._over = anyio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._on_signal)
        to_server, from_client = anyio.create_memory_object_stream[Any]()
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage]()
        core = self._server._lowlevel_server  # the public entry uses the SDK's own stdio
        greeting = core.create_initialization_options()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, from_server)
            tasks.start_soon(core.run, from_client, to_client.clone(), greeting)
            self._start_reading(to_server, to_client)
            await self._over.wait()
            await self._finish()
            to_server.close()  # the server cancels what is left and answers it with an error
            to_client.close()

    def _start_reading(self, to_server: Stream, to_client: Stream) -> None:
        """Read and deliver on threads of their own: a read cannot be cancelled, and must not keep
        the process alive."""
        self._ahead = ReadAhead(self._input, self._on_end)

        def deliver() -> None:
            try:
                deliver_all()
            except Exception:  # of any kind: else all later calls would wait for ever
                logger.exception("a message could not be read; the server ends")
                self._on_end()

        def deliver_all() -> None:
            for received in self._ahead.messages():
                delivery = self._deliver(received, to_server, to_client)
                try:
                    delivered = asyncio.run_coroutine_threadsafe(delivery, self._loop)
                except RuntimeError:  # the loop has ended
                    delivery.close()
                    return
                try:
                    delivered.result()
                except Exception as error:  # the streams were closed meanwhile
                    logger.debug("what was read is no longer delivered: %r", error)
                    return

        for name, work in (("stdin", self._ahead.read), ("delivery", deliver)):
            threading.Thread(target=work, name=name, daemon=True).start()

    def _on_end(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._end_within, FINISH_SECONDS)

    async def _deliver(
        self, received: JSONRPCMessage | Refused, to_server: Stream, to_client: Stream
    ) -> None:
        if isinstance(received, Refused):
            for answer in received.answers:
                self._in_hand[answer.id] += 1
                await to_client.send(SessionMessage(answer))
        elif isinstance(received, JSONRPCRequest):
            self._in_hand[received.id] += 1
            # A cancelled call gets no answer, but it is done.
            metadata = ServerMessageMetadata(on_request_unanswered=partial(self._done, received.id))
            await to_server.send(SessionMessage(received, metadata))
        else:
            await to_server.send(SessionMessage(received))

    async def _done(self, id: RequestId | None) -> None:
        self._in_hand[id] -= 1

    async def _write(self, from_server: AsyncIterable[SessionMessage]) -> None:
        one_at_a_time = anyio.CapacityLimiter(1)  # not the limiter of the calls, which may be slow
        async for sent in from_server:
            text = sent.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            write = partial(self._put, text.encode())
            try:
                await anyio.to_thread.run_sync(write, limiter=one_at_a_time, abandon_on_cancel=True)
            except OSError:
                logger.info("the client no longer reads")
                self._end_within(0)
                continue
            if isinstance(sent.message, JSONRPCResponse | JSONRPCError):
                await self._done(sent.message.id)

    def _put(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._output, left) :]

    def _end_within(self, seconds: float) -> None:
        """Stop.

        Calls in hand have that many seconds; soon after that the process ends in any case.
        """
        self._deadline = min(self._deadline, time.monotonic() + seconds)
        last = threading.Timer(seconds + GRACE_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()
        self._over.set()

    async def _finish(self) -> None:
        while time.monotonic() < self._deadline and (
            any(self._in_hand.values()) or not self._ahead.is_empty
        ):
            await anyio.sleep(0.01)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """End in good order on the first signal, and at once on the second."""
        if self._signalled:
            os._exit(128 + number)
        self._signalled = True
        with suppress(RuntimeError):  # the loop has ended, and files are being closed
            self._loop.call_soon_threadsafe(self._end_within, SIGNAL_SECONDS)
