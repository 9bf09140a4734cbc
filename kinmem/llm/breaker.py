"""Keeps a dead provider from costing every caller a deadline."""

import time
from collections.abc import Callable
from threading import Lock

from kinmem.errors import ModelError

FAILURES = 3
PAUSE = 30.0
"""Seconds. Both numbers are goal R16 of the reference."""


class Breaker:
    """Opens after FAILURES in a row, for PAUSE; then one call at a time may try.

    A try that never reports back counts as failed after another PAUSE.
    """

    def __init__(self, model: str, now: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._now = now
        self._lock = Lock()
        self._failures = 0
        self._closes_at = 0.0
        self._reason = ""

    def admit(self) -> None:
        """Raises ModelError with the last failure's reason while it is open."""
        with self._lock:
            if self._failures < FAILURES:
                return
            wait = self._closes_at - self._now()
            if wait > 0:
                raise ModelError(
                    f"{self._model} failed {self._failures} times in a row and is not asked again"
                    f" for {wait:.0f} seconds; the last time: {self._reason}"
                )
            self._closes_at = self._now() + PAUSE

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0

    def failed(self, reason: str) -> None:
        with self._lock:
            self._failures += 1
            self._closes_at = self._now() + PAUSE
            self._reason = reason
