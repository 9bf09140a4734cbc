"""Standard input and output of a hook: one object in, one out, in time."""

import _thread
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from kinmem.hooks.processes import start_late

COMPLAINT_CHARACTERS = 300
LOOK_SECONDS = 0.25
# Processor seconds during a look. Less means that the process waits for a file or a disk, unless it
# waits for the processor.
WORKED_SECONDS = 0.01


class StandardStreams:
    """Writes a single answer to stdout; everything else that is printed goes to stderr."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._unanswered = _thread.allocate_lock()  # free until an answer is put
        self._asks = False
        self._heard: bytes | None = None
        try:
            self._out = os.dup(1)
            os.dup2(2, 1)
        except OSError:  # started without a stdout or a stderr
            self._out = os.open(os.devnull, os.O_WRONLY)

    def hear(self, limit: int) -> bytes:
        """Return all of stdin.

        Raises ValueError if there are more than `limit` bytes, after reading all of them so that
        the client does not get stuck writing.
        """
        given = sys.stdin.buffer.read(limit + 1)
        if len(given) <= limit:
            self._heard = given
            return given
        while sys.stdin.buffer.read(1024 * 1024):
            pass
        raise ValueError(f"the input is longer than {limit} bytes")

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Mark the time in which a server is asked, which has its own limit and does not count as a
        standstill."""
        self._asks = True
        try:
            yield
        finally:
            self._asks = False

    def put(self, answer: dict[str, Any]) -> None:
        """Write the answer. Only the first call writes anything."""
        if not self._unanswered.acquire(blocking=False):
            return
        left = json.dumps(answer).encode("ascii") + b"\n"
        with suppress(OSError):  # the client has hung up
            while left:
                left = left[os.write(self._out, left) :]
        with suppress(OSError):
            os.close(self._out)

    def complain(self, what: str) -> None:
        """Write one line to stderr."""
        line = " ".join(what.split())[:COMPLAINT_CHARACTERS]
        with suppress(OSError):
            os.write(2, f"kinmem hook: {line}\n".encode("utf-8", "backslashreplace"))

    def watch(self, seconds: float, most: float) -> None:
        """End the process after `seconds`, or as soon as it waits after that, and after `most` in
        any case: a busy machine is not a locked file. If there was no answer by then, hand over."""
        # Not the threading module, which takes 3 ms to load.
        _thread.start_new_thread(self._end_after, (seconds, most))

    def hand_over(self) -> None:
        """Let another process do what this one could not, and answer {}."""
        if self._heard is not None:
            with suppress(OSError):  # another process cannot be started
                start_late(self._words, self._heard)
        self.put({})

    def _has_worked(self) -> bool:
        """Watch for a moment whether the process computes or asks, or would compute if it, or
        whoever holds the file it waits for, got a processor."""
        before = time.process_time()
        time.sleep(LOOK_SECONDS)
        worked = time.process_time() - before > WORKED_SECONDS
        waits = self._asks or self._heard is not None and _is_crowded()
        return worked or waits or _is_runnable()

    def _end_after(self, seconds: float, most: float) -> None:
        began = time.monotonic()
        time.sleep(seconds - LOOK_SECONDS)
        while self._has_worked() and time.monotonic() - began < most:
            pass
        try:
            if not self._unanswered.locked():
                took = time.monotonic() - began
                self.complain(f"took longer than {took:.0f} s; goes on without the client")
                self.hand_over()
        finally:
            os._exit(0)


def _is_crowded() -> bool:
    """Return whether the main thread has waited for a processor longer than it had one, if Linux
    says so. A server that is just starting then holds its locks for long as well."""
    try:
        with open("/proc/self/schedstat", "rb") as file:  # noqa: PTH123
            had, waited, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return False
    return waited > had


def _is_runnable() -> bool:
    """Return whether the main thread waits for nothing but a processor, if Linux says so."""
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False
