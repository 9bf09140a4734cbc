"""The local socket on which a hook asks the server that already has the memory open, and the start
of a process that will answer there.

One line of JSON in, one out, on $KINMEM_HOME/run/<kin>.sock, which only the same user can reach. On
systems without Unix sockets nothing is served, and a hook opens the memory itself.
"""

import json
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias, Unpack

from kinmem.errors import KinmemError
from kinmem.hooks.events import Compacted, Ended, Heard, Hook, Opened, Said

if TYPE_CHECKING:
    from pathlib import Path

    from kinmem.models.turns import Circumstances, Happening, Observed

Request: TypeAlias = dict[str, Any]

# Most bytes of a line, in or out. A hook that needs more opens the memory itself.
MOST_BYTES = 2 * 1024 * 1024
# Most bytes of an address. The kernel's limit is 108 on Linux and 104 on macOS, NUL included.
PATH_BYTES = 100
# In the name of the lock under which a process learns at the end of a session.
ENDING = ".end"
# Where Linux lists open folders under short names, through which their files have short names as
# well.
OPEN_FOLDERS = "/proc/self/fd"


def ask_local(
    home: "Path | str", kin: str, request: Request, timeout: float
) -> dict[str, Any] | None:
    """Return the answer of the server for this Kin; None if there is none, or it takes over
    `timeout` seconds."""
    path = socket_path(home, kin)
    return None if path is None else ask_at(path, request, timeout)


def ask_at(path: str, request: Request, timeout: float) -> dict[str, Any] | None:
    """Return what is answered at the socket of that path, as ask_local does."""
    line = json.dumps(request).encode("ascii") + b"\n"
    if len(line) > MOST_BYTES:
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


def lock_socket(home: "Path | str", kin: str) -> int | None:
    """Lock the Kin's socket for whoever is to answer there; None if another process does, or is
    about to.

    Raises OSError where there are no sockets or no locks.
    """
    return locked(_lockable(home, kin))


def lock_ending(home: "Path | str", kin: str) -> int | None:
    """Lock the learning at the end of a session, as lock_socket does the answering."""
    return locked(_lockable(home, kin) + ENDING)


def _lockable(home: "Path | str", kin: str) -> str:
    path = socket_path(home, kin)
    if path is None:
        raise OSError("no local sockets here")
    return path


def locked(path: str) -> int | None:
    """Lock the file beside the socket, for as long as the descriptor, or a copy of it in another
    process, is open; None if another process has the lock."""
    import fcntl  # late: does not exist on Windows, where nothing is served

    folder = os.path.dirname(path)  # noqa: PTH120
    for made in (os.path.dirname(folder), folder):  # noqa: PTH120
        os.makedirs(made, mode=0o700, exist_ok=True)  # noqa: PTH103
    status = os.stat(folder)  # noqa: PTH116
    if status.st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    if status.st_mode & 0o077:
        os.chmod(folder, 0o700)  # noqa: PTH101
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


def inherited_lock(home: "Path | str", kin: str, suffix: str = "") -> int | None:
    """Return the lock that the hook which started this process passed on as its stdin; None if
    stdin is something else. With the suffix ENDING, it is that of lock_ending.

    So between the hook and its worker the lock is never free, and no other hook starts a worker.
    """
    path = socket_path(home, kin)
    try:
        given, file = os.fstat(0), os.stat(f"{path}{suffix}.lock")  # noqa: PTH116
    except OSError:
        return None
    if not os.path.samestat(given, file):
        return None
    lock = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # or other processes started here would keep it
    os.close(nothing)
    return lock


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


# Version of the requests. A server that was started before an update may use another.
PROTOCOL = 2
KINDS: Mapping[str, type[Heard]] = {
    kind.__name__: kind for kind in (Said, Opened, Compacted, Ended)
}


class Listener(Protocol):
    """The part of Service that hooks need."""

    def observe(
        self,
        event: "Happening",
        session: str,
        turn: str | None,
        text: str,
        *,
        tell: bool = True,
        again: bool = False,
        **known: Unpack["Circumstances"],
    ) -> "Observed":
        """Store one message; for a prompt also return notes."""
        ...

    def opening(self, session: str, *, place: str | None = None) -> str:
        """Return what a session is shown at its start."""
        ...

    def compacted(self, session: str) -> None:
        """Note that the session has lost what it was shown."""
        ...


def attend(service: Listener, hook: Hook) -> str:
    """Pass what the hook reports to the memory, in order, and return its notes.

    Raises KinmemError.
    """
    notes = [_attend(service, heard, hook) for heard in hook.heard]
    return "\n".join(filter(None, notes))


def _attend(service: Listener, heard: Heard, hook: Hook) -> str:
    match heard:
        case Said():
            seen = service.observe(
                heard.event,
                heard.session,
                heard.turn,
                heard.text,
                tool=heard.tool,
                part=heard.part,
                client=hook.client,
                place=hook.place,
                tell=heard.tell,
                again=heard.again,
            )
            return seen.notes
        case Opened():
            return service.opening(heard.session, place=hook.place)
        case Compacted():
            service.compacted(heard.session)
    return ""


def request_of(hook: Hook) -> dict[str, Any]:
    """Return the hook as a request to a server; see answered."""
    heard = [[type(event).__name__, event._asdict()] for event in hook.heard]
    return {"protocol": PROTOCOL, "client": hook.client, "place": hook.place, "heard": heard}


def answered(service: Listener, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request at the server's socket: {"notes": text} or {"error": sentence}.

    Raises ValueError for a request of another release; its sender then opens the memory itself.
    """
    if request.get("protocol") != PROTOCOL:
        raise ValueError("another protocol")
    heard = tuple(KINDS[kind](**fields) for kind, fields in request["heard"])
    hook = Hook("", request["client"], "", request["place"], heard)
    try:
        return {"notes": attend(service, hook)}
    except KinmemError as error:
        return {"error": str(error)}


# The working directory of the processes: `python -m` would import modules from the current folder.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120


def start_worker(home: str, kin: str, *, stays: bool) -> None:
    """Start a process that learns from what was heard, and with `stays` answers the next hooks.

    None is started while another one does the same, or is about to: this process takes the lock
    for it and passes it on.
    """
    words, settings = ["sleep", "--due", "--quiet"], {"KINMEM_HOME": home, "KINMEM_KIN": kin}
    try:
        lock = lock_socket(home, kin) if stays else lock_ending(home, kin)
    except (OSError, ImportError):  # no sockets or locks here: it only learns
        _start(words, settings, None)
        return
    if lock is not None:
        try:
            _start([*words, *["--linger"] * stays], settings, lock)
        finally:
            os.close(lock)


def start_late(words: Sequence[str], heard: bytes) -> None:
    """Run the same hook again in another process, with all the time it needs."""
    import tempfile  # late: takes 5 ms, which other hooks do not need

    with tempfile.TemporaryFile() as file:
        file.write(heard)
        file.seek(0)
        _start(["hook", *words, "--late"], {}, file)


def _start(
    words: Sequence[str], settings: Mapping[str, str], stdin: IO[bytes] | int | None
) -> None:
    import subprocess  # late: takes 10 ms, and most hooks start nothing

    subprocess.Popen(
        [sys.executable, "-m", "kinmem", *words],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **settings},
        start_new_session=True,
    )
