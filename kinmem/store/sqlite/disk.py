"""What a disk does to a home: it may be full, it may be read only, and its locks may do nothing.

**Full.** A home holds a reserve, a file of zeros. To forget or erase on a full disk, the reserve is
given up, the logs are emptied into their files, and the reserve is taken again. So there is always
room to make room.

**Read only.** A database without a log is opened as immutable: SQLite then makes no file beside it.
One with a log is opened through it, which needs the log's index to be there already. A copy would
need room elsewhere, and would not show what its owner writes meanwhile.
"""

import errno
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from kinmem.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows, where SQLite takes other locks
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
RESERVE = "reserve"
RESERVED = 4 << 20
"""Bytes: what it takes to empty a log of a thousand pages into its file, and then some."""
LEAST_RESERVED = 64 << 10
SHARE = 4
"""On a small disk the reserve takes this part of what is free."""
LOCKED_BYTE = 0x40000000
"""Where SQLite locks its files."""


class Reserve:
    """Room on the disk that is kept for making room."""

    def __init__(self, home: Path) -> None:
        self._path = home / RESERVE
        self._is_held = False
        self._lock = threading.Lock()

    def hold(self) -> None:
        """Take it, unless it is there or the disk has no room for it."""
        self._is_held = True
        self.take()

    def take(self) -> None:
        """Do the same, if this process holds it."""
        if not self._is_held or self._path.exists():
            return
        with self._lock, suppress(OSError):
            free = shutil.disk_usage(self._path.parent).free
            size = min(RESERVED, free // SHARE)
            if size >= LEAST_RESERVED and not self._path.exists():
                self._make(size)

    def give_up(self) -> None:
        """Let others have the room until it is taken again."""
        self._is_held = True
        self._path.unlink(missing_ok=True)

    def _make(self, size: int) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file, 0, size)
            else:
                os.write(file, bytes(size))
        except OSError:
            self._path.unlink(missing_ok=True)
            raise
        finally:
            os.close(file)


def with_reserve(reserve: Reserve, empty_logs: Callable[[], None], work: Callable[[], T]) -> T:
    """Do something that makes room; on a full disk, do it with the help of the reserve."""
    try:
        return work()
    except StoreError as error:
        if error.code != "storage_full":
            raise
    reserve.give_up()
    try:
        empty_logs()
        return work()
    finally:
        empty_logs()
        reserve.take()


def is_read_only(path: Path) -> bool:
    """Return whether a file is there and can be read, but not written as SQLite writes: it makes
    other files beside it."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def read_only_address(path: Path) -> str:
    """Return the URI by which SQLite opens a file that is read only. Raises StoreError if it has a
    log that cannot be read without writing."""
    log, index = (path.with_name(path.name + part) for part in ("-wal", "-shm"))
    address = f"file:{quote(str(path))}?mode=ro"
    if not log.exists() or not log.stat().st_size:
        return f"{address}&immutable=1"
    if not index.exists():
        raise StoreError(
            f"{path.name} can only be read, and its log has not been merged into it yet; copy the"
            " home to a place where it can be written",
            "storage_read_only",
        )
    return address


def stamp(path: Path) -> tuple[object, ...]:
    """Return what changes when somebody else writes a file that is read only here."""
    found: list[object] = []
    for part in ("", "-wal"):
        try:
            status = os.stat(f"{path}{part}")  # noqa: PTH116  before each read
            found += status.st_ino, status.st_size, status.st_mtime_ns
        except OSError:
            found.append(None)
    return tuple(found)


def check_locks(folder: Path) -> None:
    """Raise storage_unsupported if locks do nothing here: two processes would damage the files.

    A lock as SQLite takes it must be in the way of another one, of a kind that the kernel compares
    with it even within a process. Only Linux has that kind.
    """
    if fcntl is None or not hasattr(fcntl, "F_OFD_SETLK"):
        return
    probe = folder / f".locks-{os.getpid()}-{threading.get_ident()}"
    files: list[int] = []
    try:
        for _ in range(2):
            files.append(os.open(probe, os.O_RDWR | os.O_CREAT, 0o600))
        fcntl.lockf(files[0], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, LOCKED_BYTE)
        if _can_be_locked_again(files[1]):
            raise _without_locks(folder, "a lock keeps nobody out")
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise _without_locks(folder, error.strerror or str(error)) from error
    finally:
        probe.unlink(missing_ok=True)
        for file in files:
            os.close(file)


def _can_be_locked_again(file: int) -> bool:
    import struct

    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, LOCKED_BYTE, 1, 0)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
    except OSError:  # it is locked; or this kernel does not know the kind, which proves nothing
        return False
    return True


def _without_locks(folder: Path, why: str) -> StoreError:
    return StoreError(
        f"the file system of {folder} has no locks that work ({why}), so two processes would damage"
        " each other's writes; set KINMEM_HOME to a folder on a local disk",
        "storage_unsupported",
    )
