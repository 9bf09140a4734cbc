"""How far work may go: until its time is over, somebody wants it to end, or its lease is lost."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uuid_utils

from kinmem.store.upkeep import Jobs

SECONDS = 300.0
"""How long a lease lasts unless it is renewed. A killed process loses its at once."""
RENEWED_EVERY = 60.0
"""Seconds: often enough that a slow answer of a model in between does not lose it."""
POLL_SECONDS = 0.25


class Lease:
    """The right to do work that one process at a time does, as long as it is renewed in time; see
    Jobs.lease."""

    def __init__(self, jobs: Jobs, job: str) -> None:
        self._jobs = jobs
        self._job = job
        self._holder = f"{os.getpid()}@{socket.gethostname()}/{uuid_utils.uuid7()}"
        self._renewed_at = -RENEWED_EVERY
        self._is_held = False

    def renewed(self) -> bool:
        """Whether it is still held, now for another five minutes."""
        self._renewed_at = time.monotonic()
        self._is_held = self._jobs.lease(self._job, self._holder, SECONDS)
        return self._is_held

    def kept(self) -> bool:
        """The same, for who asks all the time: the store is asked once a minute."""
        is_due = time.monotonic() - self._renewed_at >= RENEWED_EVERY
        return self.renewed() if is_due else self._is_held

    def give_back(self) -> None:
        self._jobs.release(self._job, self._holder)


class Budget:
    """Asked between one memory and the next; work that is cut short goes on in the next run."""

    def __init__(
        self,
        stop: Callable[[], bool] = bool,
        *,
        seconds: float | None = None,
        lease: Lease | None = None,
        dry_run: bool = False,
    ) -> None:
        """Over once `stop` says so, the seconds have passed or the lease is lost; None of either:
        without that limit. `dry_run`: count what would be done, and change nothing."""
        self._stop = stop
        self._until = None if seconds is None else time.monotonic() + seconds
        self._lease = lease
        self.dry_run = dry_run
        self.is_late = False
        """Whether the time was over when somebody asked last."""
        self.is_stopped = False
        """The same of everything else that ends it."""

    def is_over(self) -> bool:
        """Whether to stop here, and from now on."""
        is_late = self._until is not None and time.monotonic() >= self._until
        is_lost = self._lease is not None and not self._lease.kept()
        self.is_late = self.is_late or is_late
        self.is_stopped = self.is_stopped or is_lost or self._stop()
        return self.is_late or self.is_stopped

    def part(self, seconds: float) -> "Budget":
        """At most so many seconds of it, for one step. It is stopped when the whole is over."""
        return Budget(self.is_over, seconds=seconds, dry_run=self.dry_run)


UNLIMITED = Budget()


@contextmanager
def leased(jobs: Jobs, job: str, patience: float = 0.0) -> Iterator[Lease | None]:
    """The lease while the block runs; None if somebody else holds it for `patience` seconds."""
    lease = Lease(jobs, job)
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
