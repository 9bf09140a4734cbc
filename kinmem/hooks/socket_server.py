"""The server's side of the local socket, and the worker that listens there without a server.

See kinmem.hooks.local_socket.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from kinmem.hooks.local_socket import (
    ENDING,
    MOST_BYTES,
    Listener,
    Request,
    address_of,
    answered,
    ask_at,
    inherited_lock,
    is_same_user,
    line_from,
    lock_socket,
    locked,
    socket_path,
)

Answer: TypeAlias = Callable[[Request], dict[str, Any]]

# Seconds a client has to send its line, and to receive the answer.
PATIENCE_SECONDS = 5.0
# Seconds between a waiting server's checks whether the first is gone.
TAKEOVER_SECONDS = 1.0
MOST_CLIENTS = 16
# Seconds until a closing server notices that, if connecting to it fails.
ACCEPT_SECONDS = 2.0


class SocketServer:
    """The socket of one Kin in one process, which waits for it or answers on it."""

    def __init__(self, path: str | None, answer: Answer, lock: int | None = None) -> None:
        """`lock` is the socket's lock if the caller has it already; it is released at the end."""
        self._path = path
        self._answer = answer
        self._closing = threading.Event()
        self._places = threading.Semaphore(MOST_CLIENTS)
        self._answering = False
        self._thread: threading.Thread | None = None
        if path is None:
            return
        try:
            first = self._open(path, lock)
        except OSError:  # a file system without sockets or locks
            return
        self._thread = threading.Thread(
            target=self._run, args=(path, first), name="kinmem-local", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop answering. Closing again does nothing."""
        self._closing.set()
        if self._path is None or self._thread is None or not self._thread.is_alive():
            return
        if self._answering:
            _connect_once(self._path)  # wakes the thread, which waits for a client
        self._thread.join(timeout=ACCEPT_SECONDS)

    def _run(self, path: str, opened: "_Opened | None") -> None:
        """Wait for the lock if another server has it, then answer until closed."""
        with suppress(OSError):
            while opened is None:
                if self._closing.wait(TAKEOVER_SECONDS):
                    return
                opened = self._open(path)
            try:
                self._answering = True
                self._accept(opened.listener)
            finally:
                opened.close()

    def _open(self, path: str, lock: int | None = None) -> "_Opened | None":
        """Open the listening socket if no other process holds the lock."""
        lock = locked(path) if lock is None else lock
        if lock is None:
            return None
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108  left by a killed server, whose lock is ours now
            with address_of(path) as address:
                listener.bind(address)
            os.chmod(path, 0o600)  # noqa: PTH101
            listener.listen(128)  # clients beyond that are refused at once
            listener.settimeout(ACCEPT_SECONDS)
        except BaseException:
            listener.close()
            os.close(lock)
            raise
        return _Opened(path, listener, lock)

    def _accept(self, listener: socket.socket) -> None:
        while not self._closing.is_set():
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:  # too many open files; wait until some are closed
                self._closing.wait(ACCEPT_SECONDS)
                continue
            if not self._places.acquire(blocking=False):
                client.close()  # opening the memory itself is faster than waiting here
                continue
            try:
                self._start(client)
            except RuntimeError:  # no more threads
                client.close()
                self._places.release()

    def _start(self, client: socket.socket) -> None:
        threading.Thread(
            target=self._serve, args=(client,), name="kinmem-hook", daemon=True
        ).start()

    def _serve(self, client: socket.socket) -> None:
        """Answer one line. Any error of a client only ends its connection."""
        try:
            with client, suppress(OSError):
                if not is_same_user(client):
                    return
                line = line_from(client, time.monotonic() + PATIENCE_SECONDS)
                answer = self._answer_line(line) if line else None
                if answer is not None:
                    client.settimeout(PATIENCE_SECONDS)
                    client.sendall(answer)
        finally:
            self._places.release()

    def _answer_line(self, line: bytes) -> bytes | None:
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                return None
            answer = json.dumps(self._answer(request)).encode("ascii") + b"\n"
        except Exception:  # the client opens the memory itself, and meets the error there
            return None
        return answer if len(answer) <= MOST_BYTES else None


def serve_local(
    home: Path | str, kin: str, answer: Answer, lock: int | None = None
) -> SocketServer:
    """Answer hooks of this Kin until closed. `answer` is called from several threads at once.

    While another server answers for the same Kin, this one waits and takes over when the other is
    gone. Never raises: without this socket hooks are only slower. For `lock`, see SocketServer.
    """
    return SocketServer(socket_path(home, kin), answer, lock)


class _Opened:
    """A listening socket and the lock that goes with it."""

    def __init__(self, path: str, listener: socket.socket, lock: int) -> None:
        self._path = path
        self.listener = listener
        self._lock = lock

    def close(self) -> None:
        """Remove the socket, then release the lock: the next server may come at once."""
        with suppress(OSError):
            os.unlink(self._path)  # noqa: PTH108
        self.listener.close()
        os.close(self._lock)


def _connect_once(path: str) -> None:
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(ACCEPT_SECONDS)
        with address_of(path) as address:
            client.connect(address)


# Seconds between two checks whether the memory still exists.
LOOK = 30.0
# The request that sends a worker away. A server does not understand it, and gives no answer.
GO: Request = {"go": True}
# Seconds that a worker has to end: it may be waiting for a model.
GONE_SECONDS = 20.0


class Worker(Listener, Protocol):
    """The part of Service that a worker needs."""

    def stop(self) -> None:
        """End background work after the part that it is at."""
        ...


class StayingWorker:
    """Answers hooks of one Kin until none has come for a while. One process at a time does."""

    def __init__(self, home: str | os.PathLike[str], kin: str) -> None:
        """Take the lock of the Kin's socket, which costs nothing, before a model is loaded."""
        self._home = os.fspath(home)
        self._kin = kin
        self._lock: int | None = None
        self._server: SocketServer | None = None
        self._closed = threading.Event()
        self._asked_at = time.monotonic()
        self._sent_away = False
        self.is_first = True
        with suppress(OSError):  # no sockets or locks here: nothing is answered
            self._lock = inherited_lock(self._home, kin) or lock_socket(self._home, kin)
            self.is_first = self._lock is not None

    def answer(self, service: Worker) -> None:
        """Begin to answer, if this process is the first."""
        lock, self._lock = self._lock, None
        if lock is not None:
            ask = partial(self._answer, service)
            self._server = serve_local(self._home, self._kin, ask, lock)

    def wait(self, minutes: float) -> None:
        """Wait until no hook has come for so many minutes, or the memory is gone.

        Return at once if no hook can reach the socket.
        """
        while (left := self._asked_at + 60 * minutes - time.monotonic()) > 0:
            if self._server is None or not os.path.isdir(self._home):  # noqa: PTH112
                return
            if self._closed.wait(min(left, LOOK)):
                return

    @property
    def is_sent_away(self) -> bool:
        """Whether another process needs the files for itself."""
        return self._sent_away

    def close(self) -> None:
        """Stop answering, and let another process be the first. Closing again does nothing."""
        self._closed.set()
        if self._server is not None:
            self._server.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _answer(self, service: Worker, request: dict[str, Any]) -> dict[str, Any]:
        if request == GO:
            self._sent_away = True
            service.stop()
            self._closed.set()
            return {}
        self._asked_at = time.monotonic()
        return answered(service, request)


@contextmanager
def without_workers(home: str | os.PathLike[str]) -> Iterator[None]:
    """Ask all workers that hooks have started for Kins of the home to end, at the same time, and
    begin the block when they have. During it none starts for a Kin that has had one before.

    A worker that has not ended after GONE_SECONDS stays. Who does not answer within
    PATIENCE_SECONDS counts as a server: it stays as well, and is not waited for.
    """
    latest = time.monotonic() + GONE_SECONDS
    paths = [os.fspath(file.with_suffix("")) for file in Path(home, "run").glob("*.lock")]
    with ExitStack() as held:
        with ThreadPoolExecutor(max(1, len(paths)), "kinmem-leaving") as asking:
            for lock in asking.map(partial(_lock_of_worker, latest=latest), paths):
                if lock is not None:
                    held.callback(os.close, lock)
        yield


def _lock_of_worker(path: str, latest: float) -> int | None:
    """Return the lock beside that socket, once its worker is gone; None if it does not go."""
    is_asked = path.endswith(ENDING)  # that one only learns, and ends by itself
    with suppress(OSError, ImportError):
        while (lock := locked(path)) is None and time.monotonic() < latest:
            if not is_asked and os.path.exists(path):  # noqa: PTH110
                is_asked = ask_at(path, GO, PATIENCE_SECONDS) is not None
                if not is_asked:  # a server
                    return None
            time.sleep(0.05)
        return lock
    return None
