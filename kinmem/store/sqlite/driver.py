"""The driver: how a file is opened, how long it waits for others, statements on one connection in
SQLite's words, and what errors mean.

apsw brings its own SQLite and can load extensions; the sqlite3 of many Python builds cannot.
Rows that cannot be decoded are left out.
"""

import errno
import importlib.util
import logging
import os
import random
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import apsw

from kinmem.errors import StoreCode, StoreError
from kinmem.store.sql.damage import SUM_FUNCTIONS, Damage, Row
from kinmem.store.sql.database import Bindings
from kinmem.store.sqlite.disk import COUNT
from kinmem.store.sqlite.encryption import keys_for
from kinmem.store.sqlite.mending import TABLE, look_at
from kinmem.store.sqlite.owner_file import is_used

TABLES = {
    "LISTED": "(SELECT value FROM json_each({}))",
    "NUMBERED": "(SELECT value FROM json_each({}))",
    "PAIRED": "(SELECT value ->> 0 AS one, value ->> 1 AS other FROM json_each({}))",
    "PARSED": "iif(json_valid({0}), {0}, NULL)",
    # For partial indexes that it is not null; bytes, since a damaged text is no UTF-8.
    "ALIKE": "({0} IS NOT NULL AND kinmem_alike(CAST({0} AS BLOB), CAST({1} AS BLOB)))",
}
"""By word, with its arguments in place of {}."""
WORDS = {"ORDERED JOIN": "CROSS JOIN", "BY INDEX": "INDEXED BY"}
"""By word, what has no argument."""
WORD = re.compile(rf"\b({'|'.join(TABLES)})\(([\w:.?]+)(?:, ([\w:.?]+))?\)|{'|'.join(WORDS)}")
"""Matches a word; group 1 is one of TABLES, groups 2 and 3 are its arguments."""
PRAGMAS = (
    "fullfsync = ON",  # macOS only: else the drive may keep what was synced in its cache
    "checkpoint_fullfsync = ON",
    "synchronous = FULL",  # 0 of 300 simulated power cuts lost an answered write, NORMAL 138
    "foreign_keys = ON",
    "secure_delete = ON",  # forgotten text must not stay in free pages
    "cell_size_check = ON",
    "temp_store = MEMORY",
    # KiB, for each connection. The system keeps what was read as well: at 100,000 memories a
    # question takes 36 ms of processor time with 32 MiB, 32 with 4 (and 100 MiB less); later 25 to
    # 32 with 4, 26 to 33 with 1.
    "cache_size = -2048",
    "journal_size_limit = 67108864",
    "wal_autocheckpoint = 1000",
    "recursive_triggers = ON",
)
BYTES = re.compile(r"\b(?:BLOB|embedding|delta|sum|seal|link)\b")


@lru_cache(maxsize=1024)
def spoken(statement: str) -> str:
    """Return a shared statement with SQLite's words."""
    return WORD.sub(_spoken_word, statement)


@lru_cache(maxsize=1024)
def _has_bytes(sql: str) -> bool:
    """Return whether a statement may rightly give bytes."""
    return BYTES.search(sql) is not None


def _spoken_word(word: re.Match[str]) -> str:
    return TABLES[word[1]].format(word[2], word[3]) if word[1] else WORDS[word[0]]


class SqliteTransaction:
    """See Transaction. Uses one connection."""

    def __init__(self, connection: apsw.Connection, damage: Damage) -> None:
        self._connection = connection
        self.damage = damage

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        cursor = self._connection.execute(spoken(sql), bindings)
        try:
            found = cursor.fetchall()
        except UnicodeDecodeError:
            if not cursor.is_readonly:
                raise
            return self._decodable(spoken(sql), bindings)
        if found and str in map(type, found[0]) and not _has_bytes(sql):
            whole = [row for row in found if bytes not in map(type, row)]  # what should be text
            if len(whole) < len(found):
                look_at(self, TABLE.findall(sql))
            return whole
        return found

    def _decodable(self, sql: str, bindings: Bindings) -> list[Row]:
        """Return the rows of a statement that can be decoded, and note those that cannot."""
        cursor = self._connection.execute(sql, bindings)
        found: list[Row] = []
        undecodable = 0
        while True:
            try:
                found.append(next(cursor))
            except StopIteration:
                break
            except UnicodeDecodeError:
                undecodable += 1
        if undecodable:
            look_at(self, TABLE.findall(sql))
        return found

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        return self._connection.execute(spoken(sql), bindings).fetchone()

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        return self._connection.execute(spoken(sql), bindings).get

    def run(self, sql: str, bindings: Bindings = ()) -> int:
        self._connection.execute(spoken(sql), bindings).fetchall()  # a script goes on only then
        return self._connection.changes()

    def run_each(self, sql: str, bindings: Sequence[Bindings]) -> None:
        self._connection.executemany(spoken(sql), bindings)

    def numbers(self, table: str, count: int) -> range:
        # The greatest that the table ever held; nobody else writes now.
        last = self.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)) or 0
        return range(last + 1, last + 1 + count)

    def reserve(self, table: str, number: int) -> None:
        bound = {"table": table, "number": number}
        if not self.run(
            "UPDATE sqlite_sequence SET seq = max(seq, :number) WHERE name = :table", bound
        ):
            self.run("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :number)", bound)

    @property
    def changes(self) -> int:
        return self._connection.total_changes()

    @property
    def is_open(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self._connection.in_transaction

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Let all statements of the block see the file as it is at the first of them."""
        self.run("BEGIN")
        try:
            yield
        finally:
            if self.is_open:
                self.run("COMMIT")

    @contextmanager
    def functions(self, functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
        """Let statements call these functions, by name, during the block."""
        for name, function in functions.items():
            self._connection.create_scalar_function(name, function)
        try:
            yield
        finally:
            for name in functions:
                self._connection.create_scalar_function(name, None)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn driver errors into StoreError; kinmem's own errors pass through."""
    try:
        yield
    except apsw.Error as error:
        code, said = _meaning(error)
        raise StoreError(f"{path.name}: {said}", code) from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{path.name}: {DAMAGED}", "storage_damaged") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreError(f"{path.name}: {FULL}", "storage_full") from error
        said = f"{path} cannot be made or used ({error.strerror or error}); {WHERE}"
        raise StoreError(said, "storage_failed") from error


def is_damage(error: BaseException) -> bool:
    """Return whether the driver says that something stored is damaged."""
    if isinstance(error, apsw.SQLError):  # how the extensions for words and vectors say so
        return bool(BY_EXTENSION.search(str(error)))
    return isinstance(error, apsw.CorruptError | UnicodeDecodeError)


BY_EXTENSION = re.compile(r"fts5|vtable|vec0|sqlite-vec|malformed")
MENDED = "words or vectors were damaged and are made anew; nothing was changed, do it again"
DAMAGED = "the file is damaged; kinmem doctor names what, and kinmem doctor --repair mends it"
FULL = "the disk is full; nothing was changed, make room and try again"
READ_ONLY = (
    "it can only be read, so nothing is stored; recall and list go on. Check the folder's rights"
)
WHERE = "KINMEM_HOME, or --home, names the folder that holds everything"


def _meaning(error: apsw.Error) -> tuple[StoreCode, str]:
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return "storage_busy", "another process is writing; try again in a moment"
    if isinstance(error, apsw.FullError) or lacks_index(error):
        return "storage_full", FULL
    if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
        return "storage_read_only", READ_ONLY
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return "storage_damaged", DAMAGED
    if is_damage(error):
        return "storage_damaged", DAMAGED
    return "storage_failed", f"{type(error).__name__}: {error}; run kinmem doctor"


def lacks_index(error: BaseException | None) -> bool:
    """Return whether the disk had no room for the index of a log, which SQLite makes before it
    reads anything."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def begin(db: apsw.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")


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
    *,
    alone: bool = False,
) -> Connection:
    """Open an existing file as kinmem uses it, with its key if its home is encrypted. `address` is
    its URI if it needs one; `alone` keeps other processes out, see _alone_vfs."""
    *others, last = keys_for(path)
    vfs = _alone_vfs() if alone or is_used(path) else None
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
    since it cannot be shared on network file systems either, and a full disk has no room for it."""
    return f"{'multipleciphers-' if can_encrypt() else ''}unix-excl"


def can_be_alone() -> bool:
    """Return whether SQLite can do that on this system; on Windows it cannot."""
    return os.name == "posix"


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
