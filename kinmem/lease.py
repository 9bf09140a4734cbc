"""Work that one process at a time does."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uuid_utils

from kinmem.store.journal import Journal

SECONDS = 300.0
"""How long a lease lasts unless it is renewed. A killed process loses its at once."""
POLL_SECONDS = 0.25


class Lease:
    """The right to do a job, as long as it is renewed in time; see Journal.lease."""

    def __init__(self, journal: Journal, job: str) -> None:
        self._journal = journal
        self._job = job
        self._holder = f"{os.getpid()}@{socket.gethostname()}/{uuid_utils.uuid7()}"

    def renewed(self) -> bool:
        """Whether it is still held, now for another five minutes."""
        return self._journal.lease(self._job, self._holder, SECONDS)

    def give_back(self) -> None:
        self._journal.release(self._job, self._holder)


@contextmanager
def leased(journal: Journal, job: str, patience: float = 0.0) -> Iterator[Lease | None]:
    """The lease while the block runs; None if somebody else holds it for `patience` seconds."""
    lease = Lease(journal, job)
    until = time.monotonic() + patience
    while not (held := lease.renewed()) and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    try:
        yield lease if held else None
    finally:
        if held:
            lease.give_back()
