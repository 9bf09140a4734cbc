"""The worker, which learns from what hooks have stored, answers the next hooks meanwhile.

A hook that opens the memory itself loads settings and store each time. Asking a worker at the
socket costs a tenth of that, and searches by meaning as well as by words. So if no server runs, the
worker stays for a while.
"""

import os
import threading
import time
from functools import partial
from typing import Any

from kinmem.hooks.local_socket import socket_path
from kinmem.hooks.requests import Listener, answered
from kinmem.hooks.socket_server import serve_local

# Seconds between two checks whether the memory still exists.
LOOK = 30.0


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
