"""The driver: how a file is opened, and how long it waits for others.

apsw brings its own SQLite and can load extensions; the sqlite3 of many Python builds cannot.
"""

import importlib.util
import logging
import os
import random
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from kinmem.errors import StoreError
from kinmem.store.sql.damage import SUM_FUNCTIONS, Damage
from kinmem.store.sqlite.disk import COUNT
from kinmem.store.sqlite.encryption import keys_for
from kinmem.store.sqlite.owner_file import is_used
from kinmem.store.sqlite.transaction import PRAGMAS, SqliteTransaction

# Below 3.51.3 two connections that write and checkpoint at once can corrupt a WAL file
# (sqlite.org/wal.html, "WAL-reset bug").
LEAST_SQLITE = (3, 51, 3)
logger = logging.getLogger(__name__)
BUSY_SECONDS = 5.0


class Connection(apsw.Connection):
    """A connection that knows the key of its file."""

    key: str | None = None


def connect(
    path: Path,
    flags: int = apsw.SQLITE_OPEN_READWRITE,
    patience: "Patience | None" = None,
    address: str | None = None,
) -> Connection:
    """Open an existing file as kinmem uses it, with its key if its home is encrypted. `address` is
    its URI if it needs one."""
    *others, last = keys_for(path)
    vfs = _alone_vfs() if is_used(path) else None
    for key in others:
        with suppress(apsw.NotADBError):
            return _connect(address or str(path), flags, patience, key, vfs, is_sure=False)
    return _connect(address or str(path), flags, patience, last, vfs)


@contextmanager
def scratch() -> Iterator[SqliteTransaction]:
    """Open an empty database in memory."""
    with closing(apsw.Connection(":memory:")) as db:
        for name, function in FUNCTIONS.items():
            db.create_scalar_function(name, function, flags=apsw.SQLITE_INNOCUOUS)
        yield SqliteTransaction(db, Damage("memory"))


def set_key(db: apsw.Connection, key: str | None) -> None:
    """Give a connection that has read nothing yet the key of its file."""
    if key is not None:
        db.pragma("key", f"raw:{key}")
        db.execute("PRAGMA temp_store = MEMORY")  # temporary files are never encrypted


def _alone_vfs() -> str:
    """Return the way to open files that only this process has: the index of the log is in memory,
    since it cannot be shared on network file systems either."""
    return f"{'multipleciphers-' if can_encrypt() else ''}unix-excl"


def can_encrypt() -> bool:
    """Return whether the driver is apsw-sqlite3mc."""
    return hasattr(apsw, "mc_version")


def _connect(
    address: str,
    flags: int,
    patience: "Patience | None",
    key: str | None,
    vfs: str | None = None,
    *,
    is_sure: bool = True,
) -> Connection:
    db = Connection(address, flags=flags | apsw.SQLITE_OPEN_NOMUTEX, vfs=vfs)
    db.key = key
    try:
        set_key(db, key)
        db.set_busy_handler(patience or Patience())
        for name, function in FUNCTIONS.items():
            db.create_scalar_function(name, function, flags=apsw.SQLITE_INNOCUOUS)
        db.enable_load_extension(True)
        try:
            db.load_extension(_vec0())
        finally:
            db.enable_load_extension(False)
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        for pragma in PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
        if not is_sure:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        db.close()
        raise
    return db


def shut(db: apsw.Connection) -> None:
    """Close a connection. A log that cannot be emptied at that moment stays for the next one who
    opens the file, so nothing is lost."""
    try:
        db.close()
    except apsw.Error as error:
        logger.warning("closed without emptying the log: %s", error)


def counted(db: apsw.Connection) -> int:
    """Return how many transactions the file has had; 0 if its schema counts none."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'marks'").get:
        return 0
    count: Any = db.execute(COUNT).get
    return count or 0


@contextmanager
def untriggered(db: apsw.Connection) -> Iterator[None]:
    """Let rows be written as they are: without triggers, and in any order."""
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
        db.execute("PRAGMA foreign_keys = ON")


def check_engine() -> None:
    found = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    if found < LEAST_SQLITE:
        raise StoreError(
            f"apsw brings SQLite {apsw.sqlite_lib_version()}, which can corrupt files that several"
            " processes write; install apsw 3.51.3 or later",
            "storage_unsupported",
        )


@cache
def _vec0() -> str:
    """Return the extension's file without importing sqlite_vec, which would import numpy (110
    ms)."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise StoreError("sqlite-vec is not installed; reinstall kinmem", "storage_unsupported")
    return str(Path(spec.submodule_search_locations[0]) / "vec0")


def make_private(path: Path) -> None:
    """Make folder (0700) and file (0600) before SQLite does; -wal and -shm inherit the rights."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o600))
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise StoreError(
                f"{path} is not an ordinary file; kinmem does not follow links", "storage_foreign"
            ) from None


class Patience:
    """A busy handler that waits 0.3 to 8 ms at random, until `latest`, or five seconds in all if
    that is None. SQLite's own back-off is unfair."""

    def __init__(self) -> None:
        self.latest: float | None = None
        self._until = 0.0

    def __call__(self, tries: int) -> bool:
        now = time.monotonic()
        if tries == 0:
            self._until = now + BUSY_SECONDS if self.latest is None else self.latest
        if now > self._until:
            return False
        time.sleep(random.uniform(0.0003, 0.008))
        return True


def empty_wal(db: apsw.Connection) -> None:
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _alike(one: bytes | None, other: bytes | None) -> bool | None:
    """See ALIKE in store/sql/database.py. SQLite's NOCASE knows A to Z only."""
    if one is None or other is None:
        return None
    return one == other or _folded(one) == _folded(other)


def _folded(text: bytes) -> str:
    return text.decode(errors="replace").casefold()


FUNCTIONS: Mapping[str, Callable[..., Any]] = {**SUM_FUNCTIONS, "kinmem_alike": _alike}
"""What statements and triggers call, by name."""
