"""A socket beside the memory, by which a hook asks the server that has it open already.

One line of JSON in, one out, on $KINMEM_HOME/run/<kin>.sock; only the same user can reach it. Where
there are no Unix sockets nothing is served, and a hook opens the memory itself.
"""

import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

Request: TypeAlias = dict[str, Any]
Answer: TypeAlias = Callable[[Request], dict[str, Any]]

MOST_BYTES = 2 * 1024 * 1024
"""Of a line, in or out; what is longer goes the long way."""
PATH_BYTES = 100
"""Of an address; the kernel's limit is 108 on Linux and 104 on macOS, with the NUL."""
OPEN_FOLDERS = "/proc/self/fd"
"""Where Linux shows each open folder under a short name, by which its files have one as well."""


class Closeable(Protocol):
    """Something that is open until it is closed."""

    def close(self) -> None:
        """Close it; closing it again does nothing."""
        ...


def serve_local(home: "Path | str", kin: str, answer: Answer) -> Closeable:
    """Answer hooks of this Kin until closed; called from several threads at once.

    While another server answers for the same Kin this one waits, and takes over when that is gone.
    Never raises: a memory without this socket is only slower for hooks.
    """
    from kinmem.hooks.socket_server import SocketServer  # late: hooks only ask, and need no threads

    return SocketServer(socket_path(home, kin), answer)


def ask_local(
    home: "Path | str", kin: str, request: Request, timeout: float
) -> dict[str, Any] | None:
    """The answer of the server that serves this Kin; None if none does, or not within `timeout`."""
    path = socket_path(home, kin)
    line = json.dumps(request).encode("ascii") + b"\n"
    if path is None or len(line) > MOST_BYTES:
        return None
    latest = time.monotonic() + timeout
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(timeout)
            with address_of(path) as address:
                client.connect(address)
            if not is_same_user(client):
                return None
            client.sendall(line)
            told = line_from(client, latest)
            parsed = json.loads(told) if told else None
    except (OSError, ValueError):
        return None
    return parsed if isinstance(parsed, dict) else None


@contextmanager
def address_of(path: str) -> Iterator[str]:
    """What to bind or connect a socket at that path to: no longer than the kernel allows."""
    if len(os.fsencode(path)) <= PATH_BYTES:
        yield path
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # noqa: PTH120
    try:
        yield f"{OPEN_FOLDERS}/{folder}/{os.path.basename(path)}"  # noqa: PTH119
    finally:
        os.close(folder)


def socket_path(home: "Path | str", kin: str) -> str | None:
    """Where the socket of that Kin is; None if the system, or so long a path, allows none."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    folder = os.path.join(home, "run")  # noqa: PTH118  (pathlib would cost a hook 3 ms)
    path = os.path.join(folder, f"{kin}.sock")  # noqa: PTH118
    if len(os.fsencode(path)) > PATH_BYTES or not kin.replace("-", "").replace("_", "").isalnum():
        path = os.path.join(folder, f"{_short(kin)}.s")  # noqa: PTH118
    has_room = len(os.fsencode(path)) <= PATH_BYTES or os.path.isdir(OPEN_FOLDERS)  # noqa: PTH112
    return path if has_room else None


def _short(kin: str) -> str:
    from hashlib import blake2b  # late: names are rarely too long

    return blake2b(kin.encode("utf-8", "replace"), digest_size=5).hexdigest()


def is_same_user(peer: socket.socket) -> bool:
    """Whether our own user is at the other end; where none can ask, the folder is closed enough."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    told = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", told)
    return bool(uid == os.getuid())


def line_from(peer: socket.socket, latest: float) -> bytes | None:
    """What comes before the first line end; None if that is too long, too late or never comes."""
    parts: list[bytes] = []
    size = 0
    while size <= MOST_BYTES:
        left = latest - time.monotonic()
        if left <= 0:
            return None
        peer.settimeout(left)
        part = peer.recv(65536)
        if not part:
            return None
        head, end, _ = part.partition(b"\n")
        parts.append(head)
        size += len(head)
        if end:
            return b"".join(parts)
    return None
