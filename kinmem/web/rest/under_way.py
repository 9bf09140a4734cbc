"""Work that takes longer than a client waits: it goes on, and its result is kept for a moment."""

import threading
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from kinmem.errors import StillWorking
from kinmem.http.lanes import AGAIN_SECONDS, Unhurried
from kinmem.models import Progress
from kinmem.service import Service

# Seconds after which long work is answered, while it goes on; clients give up after 60.
PATIENCE = 40.0
# Seconds for which its result is kept for whoever asks again.
KEPT_SECONDS = 60.0

T = TypeVar("T")


class UnderWay:
    """Work that has not been answered yet. Whoever asks for the same again waits for it."""

    def __init__(self) -> None:
        self._works: WeakKeyDictionary[Service, dict[Hashable, Work]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def result(self, service: Service, what: Hashable, work: Callable[[Progress], T]) -> T | None:
        """Return or raise the result; None if the work continues after PATIENCE."""
        with self._lock:
            self._sweep()
            works = self._works.setdefault(service, {})
            if what not in works:
                works[what] = Work(work)
            going = works[what]
        try:
            found: T | None = going.within(PATIENCE, lambda done, total, what: None)
        except BaseException:
            self._end(works, what, going)
            raise
        if found is not None:
            self._end(works, what, going)
        return found

    def answer(self, service: Service, what: Hashable, work: Callable[[], T]) -> T:
        """Return or raise the result. Raises StillWorking if the work continues: the same request
        again waits for its end."""
        found = self.result(service, what, lambda progress: work())
        if found is None:
            raise StillWorking(PATIENCE, AGAIN_SECONDS)
        return found

    def _sweep(self) -> None:
        """Drop what nobody has asked for in time. Work holds its service, which would never be
        freed."""
        for service, works in list(self._works.items()):
            for what in [what for what, work in works.items() if work.is_stale]:
                del works[what]
            if not works:
                del self._works[service]

    def _end(self, works: dict[Hashable, "Work"], what: Hashable, work: "Work") -> None:
        with self._lock:
            if works.get(what) is work:
                del works[what]


class Work(Unhurried[Any]):
    """Work that remembers when it was done."""

    def __init__(self, work: Callable[[Progress], Any]) -> None:
        self._done_at: float | None = None
        super().__init__(partial(self._timed, work))

    @property
    def is_stale(self) -> bool:
        """Whether nobody has asked for the result in time."""
        return self._done_at is not None and time.monotonic() - self._done_at > KEPT_SECONDS

    def _timed(self, work: Callable[[Progress], Any], progress: Progress) -> Any:
        try:
            return work(progress)
        finally:
            self._done_at = time.monotonic()
