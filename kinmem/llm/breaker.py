"""Keeps a dead provider from costing every caller a deadline."""

import math
import time
from collections.abc import Callable
from threading import Lock

from kinmem.errors import ModelError

FAILURES = 3
PAUSE = 30.0
"""Seconds. Both numbers are goal R16 of the reference."""
PATIENT = 2.0
"""Who has more than so many times as long as was waited in vain may still get an answer."""


class Breaker:
    """Opens after FAILURES in a row, for PAUSE; then one call at a time may try.

    A try that never reports back counts as failed after another PAUSE. Where all that failed was
    that nothing came in time, it stays open to those who have PATIENT times that time.
    """

    def __init__(self, model: str, now: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._now = now
        self._lock = Lock()
        self._failures = 0
        self._waited = 0.0
        self._closes_at = 0.0
        self._reason = ""

    def admit(self, seconds: float = 0.0) -> None:
        """Raises ModelError with the last failure's reason while it is open to those who have so
        many seconds."""
        with self._lock:
            if self._failures < FAILURES or seconds > PATIENT * self._waited:
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
            self._waited = 0.0

    def failed(self, reason: str, waited: float = math.inf) -> None:
        """`waited`: the seconds in which nothing came, if that is what failed."""
        with self._lock:
            self._failures += 1
            self._waited = max(self._waited, waited)
            self._closes_at = self._now() + PAUSE
            self._reason = reason
