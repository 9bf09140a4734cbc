"""Notices that a database file is not what it was: gone, replaced, or behind what was answered.

SQLite opens whatever lies at a path. Without its log, or as an older copy, a file is sound and
lacks the latest writes; deleted or moved while it is open, it takes writes that nobody will read.
So each transaction counts in the file, and the count is noted outside of it, in `marks/` of the
home. A note is written after its transaction and never before: cut short in between, it is behind,
which means nothing. A file that is behind its note has lost writes.

The note survives the end of the process, not every power cut: it is synced once a minute and at the
end, so that writes cost no second sync. An older note misses some losses and never invents one.
"""

import os
import struct
import time
import zlib
from pathlib import Path

from kinmem.errors import StoreError

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


class Identity:
    """Which files SQLite has open for a database: they stay the same as long as it is open.

    It is checked before each read and around each write, so it uses os.stat, which costs 2 µs.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._known: list[tuple[str, tuple[int, int]]] = []
        for part in PARTS:
            try:
                status = os.stat(f"{path}{part}")  # noqa: PTH116
            except FileNotFoundError:
                continue
            self._known.append((f"{path}{part}", (status.st_dev, status.st_ino)))

    def check(self) -> None:
        """Raise storage_replaced unless those files are still where they were."""
        for path, known in self._known:
            try:
                status = os.stat(path)  # noqa: PTH116
            except OSError:
                raise self._replaced(path, "is no longer there") from None
            if (status.st_dev, status.st_ino) != known:
                raise self._replaced(path, "is another file now")
            if not status.st_size and path.endswith(".db"):
                raise self._replaced(path, "was emptied")

    def _replaced(self, path: str, what: str) -> StoreError:
        return StoreError(
            f"{path} {what}: it was deleted, moved or restored while kinmem had it open. Nothing is"
            " read or stored until this server is restarted; if the folder was moved by mistake,"
            " move it back",
            "storage_replaced",
        )


def accept(note: Path) -> None:
    """Take the file as it is now, whatever it lacks."""
    note.unlink(missing_ok=True)
