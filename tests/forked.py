"""Servers that begin where the imports of server.py, and of its first calls, have ended.

A process imports all that once for each process of pytest, and forks a server when one is wanted.
The imports take a second and a half, and more than a hundred tests start a server. Nothing of a
home, a setting or a model is loaded before the fork. Tests of starting itself start Python
(test_docs, test_packaging, install/).

Run as `python -m tests.forked <number of a socket>`.
"""

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
IS_POSSIBLE = sys.platform == "linux"
"""Elsewhere the libraries that are imported may not be used after a fork."""
MOST_BYTES = 1 << 20
LATE = (
    "kinmem.http.server",
    "kinmem.mcp.stdio",
    "kinmem.store.sqlite.snapshot",
    "kinmem.web.rest.api_routes",
    "kinmem.web.routes",
    "kinmem.wiring.open_memory",
    "rich.logging",
    "tokenizers",
)
"""What a server imports when somebody asks for it: its transport, and what opens a memory. Not
onnxruntime, which starts a thread: whoever is forked from it waits for that thread on ending."""


class Forked:
    """What tests use of a subprocess.Popen."""

    def __init__(
        self, environment: Mapping[str, str], code: str = "", *, is_spoken_to: bool = True
    ) -> None:
        """Start a server, or run this code, which starts it. Unless it `is_spoken_to`, only its
        errors are read."""
        theirs, ours = ([], []) if not is_spoken_to else _pipes()
        reading, writing = os.pipe()
        self.pid = _Importer.of_this_process().fork(environment, code, [*theirs, writing])
        for descriptor in (*theirs, writing):
            os.close(descriptor)
        self.stdin: IO[bytes] | None = os.fdopen(ours[0], "wb") if ours else None
        self.stdout: IO[bytes] | None = os.fdopen(ours[1], "rb") if ours else None
        self.stderr: IO[bytes] | None = os.fdopen(reading, "rb")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _Importer.of_this_process().ended(self.pid, 0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.returncode = _Importer.of_this_process().ended(self.pid, timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("server.py", timeout or 0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[None, bytes]:
        """The errors of a server that is not spoken to, once it has ended."""
        assert self.stderr and not self.stdin
        self.wait(timeout)
        with self.stderr:
            return None, self.stderr.read()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _pipes() -> tuple[list[int], list[int]]:
    """Standard input and output of a server, and our ends."""
    (read, write), (read_out, write_out) = os.pipe(), os.pipe()
    return [read, write_out], [write, read_out]


class _Importer:
    """The process that has imported server.py, as the one that starts servers sees it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._codes: dict[int, int] = {}
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self._close)

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()

    @staticmethod
    @cache
    def of_this_process() -> "_Importer":
        return _Importer()

    def fork(self, environment: Mapping[str, str], code: str, descriptors: list[int]) -> int:
        """The id of a new server."""
        with self._lock:
            said = json.dumps([dict(environment), code]).encode()
            assert len(said) < MOST_BYTES
            socket.send_fds(self._socket, [said], descriptors)
            while "begun" not in (told := self._next()):
                self._codes[told["pid"]] = told["code"]
            return int(told["begun"])

    def ended(self, pid: int, seconds: float | None) -> int | None:
        """The exit code, once it is known; None if it is not within that time."""
        ends = None if seconds is None else time.monotonic() + seconds
        while True:
            with self._lock:
                if pid in self._codes:
                    return self._codes.pop(pid)
                left = 0.05 if ends is None else min(0.05, max(0.0, ends - time.monotonic()))
                if select.select([self._socket], [], [], left)[0]:
                    told = self._next()
                    self._codes[told["pid"]] = told["code"]
                    continue
            if ends is not None and time.monotonic() >= ends:
                return None

    def _next(self) -> Any:
        said = self._socket.recv(MOST_BYTES)
        assert said, "the process that forks servers has ended"
        return json.loads(said)


def main(number: int) -> None:
    import server

    for name in LATE:
        import_module(name)
    # Else each server looks through all that on its first full collection, and copies its pages.
    gc.collect()
    gc.freeze()
    asked = socket.socket(fileno=number)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    while True:
        ready, _, _ = select.select([asked, woken], [], [])
        if woken in ready:
            os.read(woken, 1000)
            _report_ended(asked)
        if asked in ready:
            said, descriptors, _, _ = socket.recv_fds(asked, MOST_BYTES, 3)
            if not said:
                return
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for descriptor in (number, woken, waker):
                    os.close(descriptor)
                environment, code = json.loads(said)
                _become(environment, descriptors)
                if code:
                    exec(code, {"__name__": "__main__"})
                else:
                    server.main()
                sys.exit()
            for descriptor in descriptors:
                os.close(descriptor)
            asked.send(json.dumps({"begun": pid}).encode())


def _report_ended(asked: socket.socket) -> None:
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            told = {"pid": found[0], "code": os.waitstatus_to_exitcode(found[1])}
            asked.send(json.dumps(told).encode())


def _become(environment: Mapping[str, str], descriptors: list[int]) -> None:
    """Be as a process that was started with this environment and these standard streams."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    streams = [0, 1, 2] if len(descriptors) == 3 else [2]
    for descriptor, stream in zip(descriptors, streams, strict=True):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    sys.argv = ["server.py"]


if __name__ == "__main__":
    main(int(sys.argv[1]))
