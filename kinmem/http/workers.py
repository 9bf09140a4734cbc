"""Several processes that answer the requests of one listening socket, the parent that starts them
again, and what a process that was killed has left to learn.

The parent answers nothing, opens no store and has one thread, so that it can fork at any time.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import NoReturn, Protocol

from kinmem.errors import ConfigError
from kinmem.settings import Settings

# Seconds for a worker to end by itself after its calls have ended.
END_SECONDS = 8
# A worker that has ended within so many seconds is started again only after a pause, which doubles.
SHORT_LIFE, FIRST_PAUSE, LONGEST_PAUSE = 5.0, 0.5, 30.0
logger = logging.getLogger(__name__)

# What a worker does until it ends; it calls its argument once it answers requests.
Serve = Callable[[Callable[[], None]], NoReturn]


def refuse_workers(settings: Settings) -> None:
    """Raise ConfigError if these settings do not allow the workers that they ask for."""
    if settings.server.workers == 1:
        return
    if not settings.general.store:
        raise ConfigError(
            "KINMEM_WORKERS above 1 needs KINMEM_STORE=postgresql://…: with files in the home,"
            " tokens, sessions and limits are those of one process; serve with one worker"
        )
    if settings.server.web:
        raise ConfigError(
            "KINMEM_WEB keeps who is logged in in one process; serve the page with one worker, or"
            " with `kinmem web`"
        )
    if not hasattr(os, "fork"):
        raise ConfigError("KINMEM_WORKERS above 1 needs a system that can fork; serve with one")


class Workers:
    """The workers of one server, seen from their parent."""

    def __init__(self, count: int, serve: Serve, drain_seconds: float) -> None:
        self._count = count
        self._serve = serve
        self._patience = drain_seconds + END_SECONDS
        self._started: dict[int, float] = {}
        """When each worker was started, by its process id."""
        self._is_ending = False
        self._pause = FIRST_PAUSE
        self._at_end: Callable[[], None] = lambda: None
        self._life, self._parent_lives = os.pipe()
        """Workers read from the one until the parent, which has the other, is gone."""

    def run(
        self,
        opened: Callable[[], None],
        ended: Callable[[int], None],
        at_end: Callable[[], None] = lambda: None,
    ) -> NoReturn:
        """Start the workers, call `opened` once all answer, and start each again that ends, until a
        signal comes; then let them end. `ended` is called with each process id that is no more,
        `at_end` once none is left.

        If one cannot begin to answer at first, the process ends with that worker's code.
        """
        self._at_end = at_end
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._on_signal)
        signal.signal(signal.SIGALRM, self._on_late)
        for ready in [self._start() for _ in range(self._count)]:
            self._await(ready)
        if not self._is_ending:
            opened()
        while True:
            worker, status = os.wait()
            code, began = os.waitstatus_to_exitcode(status), self._started.pop(worker)
            ended(worker)
            if not self._is_ending:
                logger.warning("worker %d has ended with %d; another one is started", worker, code)
                self._start_again(time.monotonic() - began)
            elif not self._started:
                self._end(0)

    def _start(self) -> int:
        """Start a worker; returns what can be read once it answers, or has ended."""
        ready, told = os.pipe()
        worker = os.fork()
        if worker:
            os.close(told)
            self._started[worker] = time.monotonic()
            return ready
        try:
            os.close(ready)
            os.close(self._parent_lives)
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: os._exit(0))
            threading.Thread(target=self._end_with_parent, daemon=True).start()
            self._serve(partial(_tell, told))
        except ConfigError as error:
            sys.stderr.write(f"{error}\n")
        except BaseException:
            logger.exception("a worker cannot serve")
        os._exit(1)

    def _await(self, ready: int) -> None:
        """Wait until a worker answers; if it ends instead, end all, and this process."""
        is_ready = os.read(ready, 1)
        os.close(ready)
        if not is_ready and not self._is_ending:
            self._on_signal(signal.SIGTERM, None)
            self._end(1)

    def _start_again(self, lived: float) -> None:
        if lived < SHORT_LIFE:
            time.sleep(self._pause)
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
        else:
            self._pause = FIRST_PAUSE
        if not self._is_ending:
            os.close(self._start())

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Let the workers end; at a second signal they end at once."""
        self._is_ending = True
        signal.alarm(int(self._patience) + 1)
        self._send(signal.SIGTERM)
        if not self._started:
            self._end(0)

    def _end(self, code: int) -> NoReturn:
        self._at_end()
        os._exit(code)

    def _on_late(self, number: int, frame: FrameType | None) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        for worker in self._started:
            with suppress(ProcessLookupError):
                os.kill(worker, number)

    def _end_with_parent(self) -> None:
        os.read(self._life, 1)
        os.kill(os.getpid(), signal.SIGTERM)


def _tell(told: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for one that was started again
        os.write(told, b"1")
    os.close(told)


# Seconds between two looks for Kins whose work waits.
EVERY_SECONDS = 10.0


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
