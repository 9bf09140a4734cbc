"""What several pages in a row would work out alike: kept until something in the memory changes."""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from kinmem.service import Service

# Seconds after which it is worked out again all the same: links, vectors and reports of upkeep move
# no position.
LONGEST = 30.0
T = TypeVar("T")


class Kept:
    """Values by service and name. May be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: WeakKeyDictionary[Service, dict[str, tuple[object, float, Any]]] = (
            WeakKeyDictionary()
        )
        self._makers: WeakKeyDictionary[Service, dict[str, threading.Lock]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, service: Service, name: str, make: Callable[[], T]) -> T:
        """Return the value of that name; made anew if anything has changed since."""
        at, now = (service.store.revision, service.store.changes.position()), self._clock()
        with self._making(service, name):
            with self._lock:
                made_at, until, value = self._known.get(service, {}).get(name, (None, 0.0, None))
            if made_at != at or now > until:
                value = make()
                with self._lock:
                    self._known.setdefault(service, {})[name] = at, now + LONGEST, value
        found: T = value
        return found

    def _making(self, service: Service, name: str) -> threading.Lock:
        """Return the lock of that value: what two ask for at once is made once."""
        with self._lock:
            return self._makers.setdefault(service, {}).setdefault(name, threading.Lock())


KEPT = Kept()
