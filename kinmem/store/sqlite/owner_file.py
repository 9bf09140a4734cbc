"""A lock that is a file, for file systems whose own locks do nothing (KINMEM_LOCKING=lockfile).

The file `owner` of a home is made by who uses it, and by nobody else while it is there: a link lets
one process win on network file systems too. It says which process that is. Only what is proven
dead is broken: a process of this machine that has ended, or of an earlier start of this machine. A
process of another machine, or of another pid namespace, cannot be seen from here and is never
broken.

Who breaks it makes a second file first, named for the dead owner, which again one process wins: so
nobody removes the file of a successor.
"""

import json
import os
import platform
import secrets
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from kinmem.errors import StoreError

OWNER = "owner"
OUTERMOST = "pid:[4026531836]"
"""The namespace of Linux itself: what is in another may be a container, and move."""
PATIENCE = 1.0
"""Seconds in which whoever has made the file writes into it, or breaks a dead one."""
WORKER = ["sleep", "--due"]
"""The command that a hook starts."""
Locking = Literal["system", "lockfile"]
State = Literal["live", "dead", "unseen"]


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that a lock file names."""

    name: str
    """Random, so that no two are alike."""
    host: str
    machine: str | None
    boot: str | None
    """Changes at each start of the machine; None where that is not told."""
    namespace: str | None
    """In which pids are counted."""
    pid: int
    started: str | None
    """When the process began, since pids are used again."""
    since: str
    is_worker: bool = False
    """Whether a hook has started it, to learn in the background."""

    def state(self) -> State:
        """Return whether that process still runs, as far as this one can see."""
        here = _here()
        if self.machine is None or (self.machine, self.host) != (here.machine, here.host):
            return "unseen"
        if self.boot != here.boot:  # of a container, boots of several machines are seen
            return "dead" if self.namespace in (None, OUTERMOST) else "unseen"
        if self.namespace != here.namespace:
            return "unseen"
        return "live" if _is_running(self.pid, self.started) else "dead"

    @property
    def told(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


class _Homes:
    """What this process holds, and which homes use such a file."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.locking: dict[Path, Locking] = {}
        self.has_lockfile = False
        """Whether one of them does; few do, and to find out in which home a path is takes long."""
        self.held: dict[Path, tuple[Owner, int]] = {}
        """Who this process is, and how often it has taken the home."""


_homes = _Homes()


def choose(home: Path, locking: Locking) -> None:
    """Let this process use that way of locking for the home. Raises storage_unsupported where
    SQLite cannot."""
    if locking == "lockfile" and os.name != "posix":
        raise StoreError(
            "KINMEM_LOCKING=lockfile is for Linux and macOS; leave it out", "storage_unsupported"
        )
    _homes.locking[home.resolve()] = locking
    _homes.has_lockfile |= locking == "lockfile"


def is_used(path: Path) -> bool:
    """Return whether the home that this path is in uses a lock file."""
    if not _homes.has_lockfile:
        return False
    return _homes.locking.get(_home_of(path)) == "lockfile"


def _home_of(path: Path) -> Path:
    """Return the home that a path is in, copies in its backups too; itself if that is unknown."""
    path = path.resolve()
    return next((one for one in (path, *path.parents) if one in _homes.locking), path)


def owner_of(home: Path) -> Owner | None:
    """Return whom the lock file of a home names; None if there is none. Raises StoreError."""
    return _read(home / OWNER)


def take(home: Path) -> None:
    """Keep every other process out of the home until `give_back`; a second call counts. A home
    that uses no lock file is only looked at: whoever has one must not be joined.

    Raises StoreError, storage_busy, which names the process that has it.
    """
    home = _home_of(home)
    with _homes.lock:
        if not is_used(home):
            _look(home)
            return
        owner, count = _homes.held.get(home, (None, 0))
        if owner is None or owner.pid != os.getpid():
            owner, count = _here(), 0
            _make(home / OWNER, owner)
        _homes.held[home] = owner, count + 1


def give_back(home: Path) -> None:
    """Let others have the home, once it was given back as often as it was taken."""
    home = _home_of(home)
    with _homes.lock:
        owner, count = _homes.held.get(home, (None, 0))
        if owner is None or owner.pid != os.getpid():
            return
        if count > 1:
            _homes.held[home] = owner, count - 1
            return
        del _homes.held[home]
        with suppress(StoreError):
            if _read(home / OWNER) == owner:
                (home / OWNER).unlink()


@contextmanager
def taken(home: Path) -> Iterator[None]:
    """Do both, around the block."""
    take(home)
    try:
        yield
    finally:
        give_back(home)


def _look(home: Path) -> None:
    """Refuse a home that a process with a lock file uses."""
    if not (home / OWNER).exists():
        return
    owner = _read(home / OWNER)
    if owner is not None and owner.state() != "dead":
        raise _refusal(home / OWNER, owner)


def _make(path: Path, owner: Owner) -> None:
    while not _won(path, owner):
        found = _read(path)
        if found is None:
            continue
        if found.state() != "dead":
            raise _refusal(path, found)
        _break(path, found)


def _won(path: Path, owner: Owner) -> bool:
    """Make the file with this owner in it, unless it is there. It is written under another name
    first, so that whoever is killed leaves no file that names nobody."""
    draft = path.with_name(f".{OWNER}-new-{owner.name}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, json.dumps(asdict(owner)).encode())
        os.fsync(file)
        _give_name(draft, path)
    except FileExistsError:
        return False
    finally:
        os.close(file)
        draft.unlink(missing_ok=True)
    return True


def _give_name(draft: Path, path: Path) -> None:
    """Raises FileExistsError. Some file systems, such as exFAT, have no links."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:
        with path.open("xb") as file:
            path.chmod(0o600)
            file.write(draft.read_bytes())


def _break(path: Path, dead: Owner) -> None:
    """Remove the file of an owner that is dead. Only one process at a time may, and while it may,
    nobody else removes that file."""
    claim = path.with_name(f".{OWNER}-{dead.name}")
    _make(claim, _here())
    try:
        if _read(path) == dead:
            path.unlink()
    finally:
        claim.unlink()


def _read(path: Path) -> Owner | None:
    """Return whom a file names; None if it is gone. One that was made a moment ago may be empty
    still."""
    latest = time.monotonic() + PATIENCE
    while True:
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            owner = Owner(**told)
            if not isinstance(owner.pid, int) or owner.pid < 1:
                raise ValueError(owner.pid)
            return owner
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            if time.monotonic() > latest:
                raise StoreError(
                    f"{path} does not say who uses this home; if no kinmem runs on it, on any"
                    f" machine, delete that file",
                    "storage_busy",
                ) from None
            time.sleep(0.05)


def _refusal(path: Path, owner: Owner) -> StoreError:
    if owner.state() == "live" and owner.is_worker:
        remedy = (
            "a hook has started it to learn from what was said, and it ends when that is done; try"
            " again in a minute"
        )
    elif owner.state() == "live":
        remedy = (
            "end it first: with KINMEM_LOCKING=lockfile one process at a time has a home; if that"
            f" is no kinmem, and none runs, delete {path}"
        )
    else:
        remedy = (
            "it cannot be seen from here whether that still runs; end it there, and if it is gone"
            f" for good, delete {path}"
        )
    return StoreError(f"{path.parent} is in use by {owner.told}; {remedy}", "storage_busy")


def _here() -> Owner:
    """Return this process as an owner, with a new name."""
    pid = os.getpid()
    return Owner(
        name=secrets.token_hex(8),
        host=platform.node(),
        machine=_machine(),
        boot=_first_line(Path("/proc/sys/kernel/random/boot_id")),
        namespace=_namespace(),
        pid=pid,
        started=_status(pid).get("started"),
        since=time.strftime("%Y-%m-%d %H:%M %Z"),
        is_worker=sys.argv[1 : 1 + len(WORKER)] == WORKER,
    )


@cache
def _machine() -> str | None:
    """Return what this machine is called by its system, or else by its network card; None if it
    has neither."""
    for file in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        if name := _first_line(Path(file)):
            return name
    card = uuid.getnode()
    return None if card >> 40 & 1 else f"{card:012x}"  # made up at random, as this bit says


def _namespace() -> str | None:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return None


def _is_running(pid: int, started: str | None) -> bool:
    """Return whether a process of this pid runs, and is not known to have begun at another time."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    status = _status(pid)
    if status.get("state") in ("Z", "X"):  # ended, and nobody has asked how
        return False
    return started is None or status.get("started", started) == started


def _status(pid: int) -> Mapping[str, str]:
    """Return what /proc says of a process, where there is one (man 5 proc)."""
    line = _first_line(Path(f"/proc/{pid}/stat"))
    if line is None:
        return {}
    fields = line.rpartition(")")[2].split()
    return {"state": fields[0], "started": fields[19]}


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None
