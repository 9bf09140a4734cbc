"""Sees to Kins that nobody calls for: a process that was killed may have left something to learn.

Each process looks for itself; the database gives a Kin to one of them (FOR UPDATE SKIP LOCKED), and
the lease of its background work keeps the others out of it.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Protocol

# Seconds between two looks for Kins whose work waits.
EVERY_SECONDS = 10.0
logger = logging.getLogger(__name__)


class WaitingKins(Protocol):
    """Where the Kins of all processes are."""

    def say_alive(self) -> None:
        """Say that this process lives, more often than once in 45 seconds."""
        ...

    def take(self) -> str | None:
        """Return a Kin whose work waits, which no other process is given for some time."""
        ...


def attend(
    connect: Callable[[], WaitingKins],
    open_kin: Callable[[str], object],
    tidy: Callable[[], None],
    ending: threading.Event,
) -> None:
    """Begin to look, on a thread of its own, until `ending`: each Kin found is opened, whereby its
    background work goes on. `tidy` is called after each look."""
    look = partial(_look, connect, open_kin, tidy, ending)
    threading.Thread(target=look, name="kinmem-attending", daemon=True).start()


def _look(
    connect: Callable[[], WaitingKins],
    open_kin: Callable[[str], object],
    tidy: Callable[[], None],
    ending: threading.Event,
) -> None:
    server, pause = None, 0.0
    while not ending.wait(pause):
        pause = EVERY_SECONDS
        try:
            server = server or connect()
            server.say_alive()
            while not ending.is_set() and (kin := server.take()) is not None:
                open_kin(kin)
            tidy()
        except Exception as error:  # of any kind: the next look may succeed
            logger.info("nobody attends to other Kins now: %s", error)
