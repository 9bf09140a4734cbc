"""Processes that outlive a hook: the worker, which learns and answers later hooks, and the late
hook.

A hook that opens the memory itself loads settings and store each time. Asking a worker at the
socket costs a tenth of that, and searches by meaning as well as by words. So if no server runs, the
worker stays for a while.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import kinmem
from kinmem.hooks.deliver import Listener, Place, answered
from kinmem.hooks.local_socket import serve_local, socket_path

# The working directory of the processes: `python -m` would import modules from the current folder.
ROOT = Path(kinmem.__file__).parent.parent
# Seconds between two checks whether the memory still exists.
LOOK = 30.0


def start_worker(place: Place, *, stays: bool) -> None:
    """Start a process that learns from what was heard, and with `stays` answers the next hooks.

    Several at once do no harm: only the first has the lease and the socket.
    """
    settings = {"KINMEM_HOME": place.home, "KINMEM_KIN": place.kin}
    _start(["sleep", "--due", "--quiet", *["--linger"] * stays], settings, subprocess.DEVNULL)


def start_late(words: Sequence[str], heard: bytes) -> None:
    """Run the same hook again in another process, with all the time it needs."""
    import tempfile  # late: takes 5 ms, which other hooks do not need

    with tempfile.TemporaryFile() as file:
        file.write(heard)
        file.seek(0)
        _start(["hook", *words, "--late"], {}, file)


def _start(words: Sequence[str], settings: Mapping[str, str], stdin: int | IO[bytes]) -> None:
    subprocess.Popen(
        [sys.executable, "-m", "kinmem", *words],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **settings},
        start_new_session=True,
    )


class StayingWorker:
    """Answers hooks of one Kin until none has come for a while."""

    def __init__(self, service: Listener, home: str | os.PathLike[str], kin: str) -> None:
        self._asked_at = time.monotonic()
        self._closed = threading.Event()
        self._server = serve_local(os.fspath(home), kin, partial(self._answer, service))
        self._home = os.fspath(home)
        self._reachable = socket_path(self._home, kin) is not None

    def wait(self, minutes: float) -> None:
        """Wait until no hook has come for so many minutes, or the memory is gone.

        Return at once if no hook can reach the socket.
        """
        while (left := self._asked_at + 60 * minutes - time.monotonic()) > 0:
            if not self._reachable or not os.path.isdir(self._home):  # noqa: PTH112
                return
            if self._closed.wait(min(left, LOOK)):
                return

    def close(self) -> None:
        self._closed.set()
        self._server.close()

    def _answer(self, service: Listener, request: dict[str, Any]) -> dict[str, Any]:
        self._asked_at = time.monotonic()
        return answered(service, request)
