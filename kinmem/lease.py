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
RENEWED_EVERY = 60.0
"""Seconds: often enough that a slow answer of a model in between does not lose it."""
POLL_SECONDS = 0.25


class Lease:
    """The right to do a job, as long as it is renewed in time; see Journal.lease."""

    def __init__(self, journal: Journal, job: str) -> None:
        self._journal = journal
        self._job = job
        self._holder = f"{os.getpid()}@{socket.gethostname()}/{uuid_utils.uuid7()}"
        self._renewed_at = -RENEWED_EVERY

    def renewed(self) -> bool:
        """Whether it is still held, now for another five minutes."""
        self._renewed_at = time.monotonic()
        return self._journal.lease(self._job, self._holder, SECONDS)

    def kept(self) -> bool:
        """The same, for who asks all the time: the store is asked once a minute."""
        return time.monotonic() - self._renewed_at < RENEWED_EVERY or self.renewed()

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


def named(holder: str | None) -> str:
    """Who holds a lease, for people."""
    process, _, rest = (holder or "").partition("@")
    return f"process {process} on {rest.partition('/')[0]}" if rest else "another process"
