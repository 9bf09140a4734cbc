"""Where no server runs, the worker that a hook has started stays for a while and answers the next.

A hook that opens the memory itself loads settings and store each time; asked at the socket it costs
a tenth of that, and meaning answers as well as words.
"""

import os
import threading
import time
from functools import partial
from typing import Any

from kinmem.hooks.attend import Listener, answered
from kinmem.hooks.local import serve_local, socket_path

LOOK = 30.0
"""Seconds between two looks whether the memory is still there."""


class Lingering:
    """Answers hooks of one Kin until nobody has asked for a while."""

    def __init__(self, service: Listener, home: str | os.PathLike[str], kin: str) -> None:
        self._asked_at = time.monotonic()
        self._closed = threading.Event()
        self._door = serve_local(os.fspath(home), kin, partial(self._answer, service))
        self._home = os.fspath(home)
        self._reachable = socket_path(self._home, kin) is not None

    def wait(self, minutes: float) -> None:
        """Until nobody has asked for so long, or the memory is gone; at once if nobody can ask."""
        while (left := self._asked_at + 60 * minutes - time.monotonic()) > 0:
            if not self._reachable or not os.path.isdir(self._home):  # noqa: PTH112
                return
            if self._closed.wait(min(left, LOOK)):
                return

    def close(self) -> None:
        self._closed.set()
        self._door.close()

    def _answer(self, service: Listener, request: dict[str, Any]) -> dict[str, Any]:
        self._asked_at = time.monotonic()
        return answered(service, request)
