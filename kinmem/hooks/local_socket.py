"""The local socket on which a hook asks the server that already has the memory open.

One line of JSON in, one out, on $KINMEM_HOME/run/<kin>.sock, which only the same user can reach. On
systems without Unix sockets nothing is served, and a hook opens the memory itself.
"""

import json
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

Request: TypeAlias = dict[str, Any]

# Most bytes of a line, in or out. A hook that needs more opens the memory itself.
MOST_BYTES = 2 * 1024 * 1024
# Most bytes of an address. The kernel's limit is 108 on Linux and 104 on macOS, NUL included.
PATH_BYTES = 100
# Where Linux lists open folders under short names, through which their files have short names as
# well.
OPEN_FOLDERS = "/proc/self/fd"


def ask_local(
    home: "Path | str", kin: str, request: Request, timeout: float
) -> dict[str, Any] | None:
    """Return the answer of the server for this Kin; None if there is none, or it takes over
    `timeout` seconds."""
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
            answer = line_from(client, latest)
            parsed = json.loads(answer) if answer else None
    except (OSError, ValueError):
        return None
    return parsed if isinstance(parsed, dict) else None


@contextmanager
def address_of(path: str) -> Iterator[str]:
    """Yield an address for the socket at that path, no longer than the kernel allows."""
    if len(os.fsencode(path)) <= PATH_BYTES:
        yield path
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # noqa: PTH120
    try:
        yield f"{OPEN_FOLDERS}/{folder}/{os.path.basename(path)}"  # noqa: PTH119
    finally:
        os.close(folder)


def socket_path(home: "Path | str", kin: str) -> str | None:
    """Return the path of the Kin's socket; None if the system has no sockets, or the path is too
    long."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    folder = os.path.join(home, "run")  # noqa: PTH118  (pathlib would cost a hook 3 ms)
    path = os.path.join(folder, f"{kin}.sock")  # noqa: PTH118
    if len(os.fsencode(path)) > PATH_BYTES or not kin.replace("-", "").replace("_", "").isalnum():
        path = os.path.join(folder, f"{_short(kin)}.s")  # noqa: PTH118
    has_room = len(os.fsencode(path)) <= PATH_BYTES or os.path.isdir(OPEN_FOLDERS)  # noqa: PTH112
    return path if has_room else None


def _short(kin: str) -> str:
    from hashlib import blake2b  # late: it loads OpenSSL, and few names are too long

    return blake2b(kin.encode("utf-8", "replace"), digest_size=5).hexdigest()


def is_same_user(peer: socket.socket) -> bool:
    """Return whether our own user is at the other end.

    If the system cannot say, the folder's permissions suffice.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    return bool(uid == os.getuid())


def line_from(peer: socket.socket, latest: float) -> bytes | None:
    """Return what comes before the first line end; None if it is too long, late, or never comes."""
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
