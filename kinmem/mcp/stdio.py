"""Serving one client over standard input and output.

Ends with code 0 when the input ends or a signal asks for it: calls in hand are finished first.
"""

import asyncio
import logging
import math
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterable, Callable
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
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, RequestId

from kinmem.mcp.json_lines import Refused, messages

logger = logging.getLogger(__name__)

FINISH_SECONDS = 5.0
"""How long calls in hand may take once the input has ended."""
SIGNAL_SECONDS = 2.0
"""How long they may take after a signal."""
GRACE_SECONDS = 0.8
"""What is then left for closing the files before the process ends regardless."""

Stream = MemoryObjectSendStream[SessionMessage]


def serve_stdio(server: MCPServer[Any], close: Callable[[], None]) -> NoReturn:
    """Serve until the client or a signal ends it, then close and exit.

    The exit does not wait for threads: one may sit in a read that never returns. What was
    answered is stored, and a transaction that did not end is as if it had never begun.
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
        # Whatever else writes to standard output, here or in a child process, must miss the wire.
        self._input, self._output = os.dup(0), os.dup(1)
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    async def serve(self) -> None:
        """Until the input ends, the output breaks, or a signal comes."""
        self._loop = asyncio.get_running_loop()
        self._over = anyio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._on_signal)
        to_server, from_client = anyio.create_memory_object_stream[Any]()
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage]()
        core = self._server._lowlevel_server  # the public entry brings its own deaf stdio
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
        """On a thread of its own: a read cannot be cancelled, and must not keep us alive."""

        def read() -> None:
            try:
                for received in messages(self._input):
                    deliver = self._deliver(received, to_server, to_client)
                    asyncio.run_coroutine_threadsafe(deliver, self._loop).result()
            except Exception as error:  # the streams or the loop were closed meanwhile
                logger.debug("standard input is no longer read: %r", error)
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end_within, FINISH_SECONDS)

        threading.Thread(target=read, name="stdin", daemon=True).start()

    async def _deliver(
        self, received: JSONRPCMessage | Refused, to_server: Stream, to_client: Stream
    ) -> None:
        if isinstance(received, Refused):
            for answer in received.answers:
                self._in_hand[answer.id] += 1
                await to_client.send(SessionMessage(answer))
        elif isinstance(received, JSONRPCRequest):
            self._in_hand[received.id] += 1
            # A call that its client has cancelled gets no answer.
            metadata = ServerMessageMetadata(on_request_unanswered=partial(self._done, received.id))
            await to_server.send(SessionMessage(received, metadata))
        else:
            await to_server.send(SessionMessage(received))

    async def _done(self, id: RequestId | None) -> None:
        self._in_hand[id] -= 1

    async def _write(self, from_server: AsyncIterable[SessionMessage]) -> None:
        one_at_a_time = anyio.CapacityLimiter(1)  # not the calls' own: they may be slow
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
        """Stop; calls in hand may take so long. Soon after that the process is gone in any case."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)
        last = threading.Timer(seconds + GRACE_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()
        self._over.set()

    async def _finish(self) -> None:
        while time.monotonic() < self._deadline and any(self._in_hand.values()):
            await anyio.sleep(0.01)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """The first one asks for an orderly end, the second gets an immediate one."""
        if self._signalled:
            os._exit(128 + number)
        self._signalled = True
        with suppress(RuntimeError):  # the loop has ended: what is left is being closed
            self._loop.call_soon_threadsafe(self._end_within, SIGNAL_SECONDS)
