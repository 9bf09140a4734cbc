"""The server's side of the local socket, and the worker that listens there without a server.

See kinmem.hooks.local_socket.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from kinmem.hooks.local_socket import (
    MOST_BYTES,
    Listener,
    Request,
    address_of,
    answered,
    is_same_user,
    line_from,
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

    def __init__(self, path: str | None, answer: Answer) -> None:
        self._path = path
        self._answer = answer
        self._closing = threading.Event()
        self._places = threading.Semaphore(MOST_CLIENTS)
        self._answering = False
        self._thread: threading.Thread | None = None
        self.is_first = True
        if path is None:
            return
        try:
            first = self._open(path)
        except OSError:  # a file system without sockets or locks
            return
        self.is_first = first is not None
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

    def _open(self, path: str) -> "_Opened | None":
        """Open the listening socket if no other process holds the lock."""
        lock = _locked(path)
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


def serve_local(home: Path | str, kin: str, answer: Answer) -> SocketServer:
    """Answer hooks of this Kin until closed. `answer` is called from several threads at once.

    While another server answers for the same Kin, this one waits and takes over when the other is
    gone. Never raises: without this socket hooks are only slower.
    """
    return SocketServer(socket_path(home, kin), answer)


def is_served(home: Path | str, kin: str) -> bool:
    """Return whether a process answers the hooks of this Kin, or is about to."""
    path = socket_path(home, kin)
    if path is None:
        return False
    try:
        lock = _locked(path)
    except OSError:
        return False
    if lock is not None:
        os.close(lock)
    return lock is None


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


def _locked(path: str) -> int | None:
    """Lock the file beside the socket, for as long as the descriptor is open; None if another
    process has the lock."""
    import fcntl  # late: does not exist on Windows, where nothing is served

    folder = Path(path).parent
    for made in (folder.parent, folder):
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except BaseException:
        os.close(lock)
        raise
    return lock


# Seconds between two checks whether the memory still exists.
LOOK = 30.0


class StayingWorker:
    """Answers hooks of one Kin until none has come for a while."""

    def __init__(self, service: Listener, home: str | os.PathLike[str], kin: str) -> None:
        self._asked_at = time.monotonic()
        self._closed = threading.Event()
        self._server = serve_local(os.fspath(home), kin, partial(self._answer, service))
        self._home = os.fspath(home)
        self._reachable = socket_path(self._home, kin) is not None

    @property
    def is_first(self) -> bool:
        """Whether no other process answered when it began."""
        return self._server.is_first

    def wait(self, minutes: float) -> None:
        """Wait until no hook has come for so many minutes, or the memory is gone.

        Return at once if no hook can reach the socket.
        """
        while (left := self._asked_at + 60 * minutes - time.monotonic()) > 0:
            if not self._reachable or not os.path.isdir(self._home):  # noqa: PTH112
                return
            if self._closed.wait(min(left, LOOK)):
                return

    def close(self) -> None:
        self._closed.set()
        self._server.close()

    def _answer(self, service: Listener, request: dict[str, Any]) -> dict[str, Any]:
        self._asked_at = time.monotonic()
        return answered(service, request)
