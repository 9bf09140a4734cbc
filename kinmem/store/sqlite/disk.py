"""What a disk does to a home: it may be full, it may be read only, its locks may do nothing, and a
file may no longer be what it was.

**Full.** A home holds a reserve, a file of zeros. To forget or erase on a full disk, the reserve is
given up, the logs are emptied into their files, and the reserve is taken again. So there is always
room to make room.

**Read only.** A database without a log is opened as immutable: SQLite then makes no file beside it.
One with a log is opened through it, which needs the log's index to be there already. A copy would
need room elsewhere, and would not show what its owner writes meanwhile.

**Gone, replaced, or behind what was answered.** SQLite opens whatever lies at a path. Without its
log, or as an older copy, a file is sound and lacks the latest writes; deleted or moved while it is
open, it takes writes that nobody will read. So each transaction counts in the file, and the count
is noted outside of it, in `marks/` of the home. A note is written after its transaction and never
before: cut short in between, it is behind, which means nothing. A file that is behind its note has
lost writes. The note survives the end of the process, not every power cut: it is synced once a
minute and at the end, so that writes cost no second sync. An older note misses some losses and
never invents one.
"""

import errno
import os
import shutil
import struct
import threading
import time
import zlib
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
        self._given_up = 0
        self._lock = threading.Lock()

    def hold(self) -> None:
        """Take it, unless it is there or the disk has no room for it."""
        self._is_held = True
        self.take()

    def take(self) -> None:
        """Do the same, if this process holds it. What was given up is taken whole, as far as it is
        free: a part of it each time would soon leave nothing."""
        if not self._is_held or self._path.exists():
            return
        with self._lock, suppress(OSError):
            free = shutil.disk_usage(self._path.parent).free
            size = min(RESERVED, max(free // SHARE, min(free, self._given_up)))
            while size >= LEAST_RESERVED and not self._path.exists():
                with suppress(OSError):  # a file of all that is free may need more than that
                    self._make(size)
                size //= 2

    def give_up(self) -> None:
        """Let others have the room until it is taken again."""
        self._is_held = True
        with suppress(FileNotFoundError):
            size = self._path.stat().st_size
            self._path.unlink()
            self._given_up = size

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


FOLDER, SUFFIX = "marks", ".mark"
COUNTED = "commits"
"""Name of the count among the marks inside the file."""
RAISE = (
    f"INSERT INTO marks (name, value) VALUES ('{COUNTED}', 1)"
    " ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value"
)
COUNT = f"SELECT value FROM marks WHERE name = '{COUNTED}'"
SLOT = struct.Struct("<QI")
"""A count and its checksum. There are two, written in turn: torn, the other one holds."""
SYNC_SECONDS = 60.0
PARTS = ("", "-wal", "-shm")
WHAT_TO_DO = (
    "nothing was changed. Bring back a backup with `kinmem backup restore`, or go on with what is"
    " there with `kinmem backup accept`"
)


def note_of(home: Path, name: str) -> Path:
    """Return where the count of a file of the home is noted; its name is as `kins/ana.db`."""
    return home / FOLDER / f"{name.removesuffix('.db').replace('/', '.')}{SUFFIX}"


def noted_files(home: Path) -> list[tuple[str, int]]:
    """Return the name of each file of which something is noted, and the count."""
    return [
        (f"{note.name.removesuffix(SUFFIX).replace('.', '/')}.db", HighWater(note).read())
        for note in sorted((home / FOLDER).glob(f"*{SUFFIX}"))
    ]


class HighWater:
    """The note of how many transactions a file has had."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._synced_at = time.monotonic()

    def read(self) -> int:
        """Return the count; 0 if there is none that can be read."""
        try:
            data = self._path.read_bytes()
        except OSError:
            return 0
        slots = [data[start : start + SLOT.size] for start in (0, SLOT.size)]
        found = [SLOT.unpack(slot) for slot in slots if len(slot) == SLOT.size]
        return max((count for count, sum in found if sum == _checksum(count)), default=0)

    def note(self, count: int) -> None:
        """Note the count of a transaction that is durable. What cannot be written is not noted."""
        try:
            file = self._opened()
            os.lseek(file, count % 2 * SLOT.size, os.SEEK_SET)
            os.write(file, SLOT.pack(count, _checksum(count)))
            if (now := time.monotonic()) - self._synced_at > SYNC_SECONDS:
                self._synced_at = now
                os.fsync(file)
        except OSError:
            self.close()

    def close(self) -> None:
        """Sync and close the note. It is opened again when needed."""
        file, self._file = self._file, None
        if file is not None:
            try:
                os.fsync(file)
            except OSError:  # an older note does no harm
                pass
            finally:
                os.close(file)

    def _opened(self) -> int:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)  # the home must be there
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            flags |= getattr(os, "O_BINARY", 0)
            self._file = os.open(self._path, flags, 0o600)
        return self._file


def _checksum(count: int) -> int:
    return zlib.crc32(count.to_bytes(8, "little"))


def check_is_there(path: Path, noted: int) -> None:
    """Raise storage_lost if a file is gone or empty that had something; to be called before SQLite
    opens it, which would make it anew and delete its log."""
    size = path.stat().st_size if path.exists() else None
    log = path.with_name(f"{path.name}-wal")
    if size or not (noted or (size == 0 and log.exists() and log.stat().st_size)):
        return
    what = "is gone" if size is None else "is empty"
    had = f"which had {noted:,} writes, " if noted else ""
    raise StoreError(f"{path.name}, {had}{what}; {WHAT_TO_DO}", "storage_lost")


def check_is_current(path: Path, found: int, noted: int) -> None:
    """Raise storage_lost if the file has had fewer transactions than were answered."""
    if found < noted:
        raise StoreError(
            f"{path.name} lacks the last {noted - found:,} writes that were answered: its log was"
            f" deleted or cut, or an older copy has taken its place; {WHAT_TO_DO}",
            "storage_lost",
        )


def accept(note: Path) -> None:
    """Take the file as it is now, whatever it lacks."""
    note.unlink(missing_ok=True)
