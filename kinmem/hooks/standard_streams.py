"""Standard input and output of a hook: one object in, one out, in time."""

import _thread
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

COMPLAINT_CHARACTERS = 300
LOOK_SECONDS = 0.25
WORKED_SECONDS = 0.01
"""Of processor time in between: less is waiting, for a file or a disk, unless it is the processor
that is waited for."""


class StandardStreams:
    """Puts one answer on stdout, and only that: whatever else is printed goes to stderr."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._unanswered = _thread.allocate_lock()  # free until the answer is put
        self._asks = False
        self._heard: bytes | None = None
        try:
            self._out = os.dup(1)
            os.dup2(2, 1)
        except OSError:  # started without a stdout or a stderr
            self._out = os.open(os.devnull, os.O_WRONLY)

    def hear(self, limit: int) -> bytes:
        """All of stdin. More than `limit` is read to its end, so that nobody gets stuck writing it,
        and refused with ValueError."""
        given = sys.stdin.buffer.read(limit + 1)
        if len(given) <= limit:
            self._heard = given
            return given
        while sys.stdin.buffer.read(1024 * 1024):
            pass
        raise ValueError(f"the input is longer than {limit} bytes")

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While a server is asked, which has a time limit of its own: this is no standstill."""
        self._asks = True
        try:
            yield
        finally:
            self._asks = False

    def put(self, answer: dict[str, Any]) -> None:
        """The answer, the first time; nobody waits for a second."""
        if not self._unanswered.acquire(blocking=False):
            return
        left = json.dumps(answer).encode("ascii") + b"\n"
        with suppress(OSError):  # who hung up needs no answer
            while left:
                left = left[os.write(self._out, left) :]
        with suppress(OSError):
            os.close(self._out)

    def complain(self, what: str) -> None:
        """One line on stderr."""
        line = " ".join(what.split())[:COMPLAINT_CHARACTERS]
        with suppress(OSError):
            os.write(2, f"kinmem hook: {line}\n".encode("utf-8", "backslashreplace"))

    def watch(self, seconds: float, most: float) -> None:
        """End the process after that time, or as soon as it waits, but after `most` even if it does
        not: a busy machine is no locked file. If it has not answered by then, hand over."""
        _thread.start_new_thread(self._end_after, (seconds, most))  # threading takes 3 ms to load

    def hand_over(self) -> None:
        """Let another process do what this one could not, and answer {}."""
        if self._heard is not None:
            from kinmem.hooks.worker import start_late

            with suppress(OSError):  # no room for another process: nothing more can be done
                start_late(self._words, self._heard)
        self.put({})

    def _has_worked(self) -> bool:
        """Look for a moment whether the process computes or asks, or would if a processor were
        free, for itself or for whoever has the file locked that it waits for."""
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
    """Whether the main thread has waited for a processor longer than it had one, as far as Linux
    tells. Then a server that is just starting keeps its locks for long as well."""
    try:
        with open("/proc/self/schedstat", "rb") as file:  # noqa: PTH123
            had, waited, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return False
    return waited > had


def _is_runnable() -> bool:
    """Whether the main thread waits for nothing but a processor, as far as Linux tells."""
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False
