"""One database file: opens, protects and migrates it. The only module that knows the driver.

apsw brings its own SQLite and can load extensions; the sqlite3 of many Python builds cannot.
"""

import errno
import importlib.util
import logging
import os
import random
import re
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import apsw

from kinmem.errors import StoreCode, StoreError
from kinmem.store.sql import sums
from kinmem.store.sql.damage import Damage, Row
from kinmem.store.sql.database import Bindings, waiting
from kinmem.store.sqlite.checks import TABLE, look_at
from kinmem.store.sqlite.dialect import PRAGMAS, STATE, TABLES, WORD, WORDS
from kinmem.store.sqlite.disk import is_read_only, read_only_address, stamp
from kinmem.store.sqlite.encryption import keys_for
from kinmem.store.sqlite.high_water import (
    COUNT,
    RAISE,
    HighWater,
    Identity,
    check_is_current,
    check_is_there,
)
from kinmem.store.sqlite.mending import mended
from kinmem.store.sqlite.migrating import MIGRATIONS, BeforeUpgrade, Migrations, without_backup

logger = logging.getLogger(__name__)
# Below 3.51.3 two connections that write and checkpoint at once can corrupt a WAL file
# (sqlite.org/wal.html, "WAL-reset bug").
LEAST_SQLITE = (3, 51, 3)
BUSY_SECONDS = 5.0
BYTES = re.compile(r"\b(?:BLOB|embedding|delta|sum|seal|link)\b")
MOST_IDLE = 8  # connections kept for the next reader; a burst of threads may open more


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
    def functions(self, functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
        """Let statements call these functions, by name, during the block."""
        for name, function in functions.items():
            self._connection.create_scalar_function(name, function)
        try:
            yield
        finally:
            for name in functions:
                self._connection.create_scalar_function(name, None)


class SqliteDatabase:
    """One SQLite file with one connection for writing and as many as needed for reading.

    Threads read concurrently; writes of one process are serialised. Nothing else in this process
    may open the file: closing any other handle on it would drop SQLite's locks.
    """

    def __init__(
        self,
        path: Path,
        migrations: Path = MIGRATIONS,
        before_upgrade: BeforeUpgrade = without_backup,
        note: Path | None = None,
    ) -> None:
        """Open or create the file, and migrate its schema. `note` is where the number of its
        transactions is noted; see high_water.py.

        Raises StoreError: storage_newer for a file of a later kinmem, storage_foreign for a file of
        another program, storage_lost for a file that is not as it was, storage_damaged,
        storage_busy, storage_read_only, storage_unsupported.
        """
        self.path = path
        self._pid = os.getpid()
        self._migrations = Migrations(migrations, scratch)
        self.version = self._migrations.latest
        """The schema version this kinmem writes."""
        self._before_upgrade = before_upgrade
        self._write_lock = threading.RLock()
        self._patience = Patience()
        self._idle: list[apsw.Connection] = []
        self._closed = False
        self.damage = Damage(path.name)
        self._mending = False
        self.writes = 0
        """Number of transactions that this process has ended, committed or not."""
        self._high_water = HighWater(note) if note else None
        self.is_read_only = is_read_only(path)
        """Whether the file can only be read, and its folder or disk allows no writing either."""
        _check_engine()
        with translated(path):
            noted = self._high_water.read() if self._high_water else 0  # before the file
            check_is_there(path, noted)
            if self.is_read_only:
                self._open_read_only(noted)
                return
            make_private(path)
            self._writer = connect(path, patience=self._patience)
            try:
                if noted:
                    check_is_current(path, counted(self._writer), noted)
                self._migrate()
                self._write_ahead()
                self._identity = self._identify()
            except BaseException:
                self._writer.close()
                raise

    @property
    def state_query(self) -> str:
        return STATE

    @contextmanager
    def reading(self) -> Iterator[SqliteTransaction]:
        """Lend a connection for reading to this thread alone."""
        self._check_alive()
        with translated(self.path):
            if self.is_read_only:
                self._notice_others()
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
                connection.execute("PRAGMA query_only = 1")
            try:
                self._identity.check()
                yield SqliteTransaction(connection, self.damage)
            finally:
                if self._closed or len(self._idle) >= MOST_IDLE:
                    connection.close()
                else:
                    self._idle.append(connection)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteTransaction]:
        """Do the same as `reading`, but all statements see the file as it is at the first of
        them."""
        with self.reading() as db:
            db.run("BEGIN")
            try:
                yield db
            finally:
                if db.is_open:
                    db.run("COMMIT")

    @contextmanager
    def afresh(self) -> Iterator[SqliteTransaction]:
        """Open a connection that has read nothing yet: an older one may see damage if another
        process has erased something since."""
        self._check_alive()
        with translated(self.path):
            connection = self._connect()
            try:
                yield SqliteTransaction(connection, self.damage)
            finally:
                connection.close()

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Return all rows of one reading statement."""
        with self.reading() as db:
            return db.rows(sql, bindings)

    @contextmanager
    def writing(self) -> Iterator[SqliteTransaction]:
        """Run a transaction: committed durably when the block ends, rolled back when it raises.

        Raises storage_newer if another process has migrated the file since it was opened,
        storage_replaced if it is no longer the file at its path.
        """
        self._check_alive()
        with translated(self.path), self._turn(_begin) as db:
            try:
                self._identity.check()
                if db.execute("PRAGMA user_version").get != self.version:
                    raise StoreError(
                        f"{self.path.name} was upgraded by a newer kinmem; restart this one",
                        "storage_newer",
                    )
                before = db.total_changes()
                yield SqliteTransaction(db, self.damage)
                counts = self._high_water is not None and db.total_changes() != before
                count: Any = db.execute(RAISE).get if counts else None
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if is_damage(error) and self._mend():
                    raise StoreError(f"{self.path.name}: {MENDED}", "storage_mended") from error
                raise
            finally:
                self.writes += 1
            self._identity.check()  # else what was committed may be in a file that nobody will read
            if count is not None and self._high_water is not None:
                self._high_water.note(count)

    def _mend(self) -> bool:
        """Make anew what is made from memories and is damaged; returns whether anything was."""
        if self._mending:
            return False
        self._mending = True
        try:
            return bool(mended(self))
        finally:
            self._mending = False

    @contextmanager
    def alone(self) -> Iterator[SqliteTransaction]:
        """Lend the connection for writing, outside of a transaction, to code that makes its own."""
        self._check_alive()
        with translated(self.path), self._turn() as db:
            yield SqliteTransaction(db, self.damage)

    def empty_log(self) -> None:
        """Move everything into the main file and empty the log, so that no copy of erased text
        remains."""
        with translated(self.path), self._turn(_empty):
            pass

    @contextmanager
    def _turn(self, first: Callable[[apsw.Connection], object] = id) -> Iterator[apsw.Connection]:
        """Lend the connection for writing to this thread alone, after `first`, which may have to
        wait for other processes. Raises storage_busy after five seconds, for whomever it waits."""
        if self.is_read_only:
            raise StoreError(f"{self.path.name}: {READ_ONLY}", "storage_read_only")
        with waiting(BUSY_SECONDS) as seconds:
            latest = time.monotonic() + seconds
            if not self._write_lock.acquire(timeout=seconds):
                raise StoreError(
                    f"{self.path.name}: other calls are writing; try again in a moment",
                    "storage_busy",
                )
            try:
                self._patience.latest = latest
                first(self._writer)
            except BaseException:
                self._write_lock.release()
                raise
        try:
            yield self._writer
        finally:
            self._write_lock.release()

    def close(self) -> None:
        """Close all connections. A second call does nothing, nor does a call in a forked child."""
        if self._pid != os.getpid():  # the connections are the parent's, and maybe the lock's too
            return
        with self._write_lock:
            if self._closed:
                return
            self._closed = True
            while self._idle:
                shut(self._idle.pop())
            shut(self._writer)
            if self._high_water is not None:
                self._high_water.close()

    def _check_alive(self) -> None:
        if self._pid != os.getpid():
            raise StoreError("a forked process must open its own store; SQLite cannot be shared")
        if self._closed:
            raise StoreError("the store is closed; open it again")

    def _connect(self) -> apsw.Connection:
        if not self.is_read_only:
            return connect(self.path)
        self._stamp = stamp(self.path)
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return connect(self.path, flags, address=read_only_address(self.path))

    def _open_read_only(self, noted: int) -> None:
        """Open a file that must be as it is already."""
        self._writer = self._connect()
        try:
            found = self._migrations.checked_version(
                SqliteTransaction(self._writer, self.damage), self.path
            )
            if found != self.version:
                raise StoreError(
                    f"{self.path.name} can only be read, and is of an older version; copy the home"
                    " to a place where it can be written, to upgrade it",
                    "storage_read_only",
                )
            check_is_current(self.path, counted(self._writer), noted)
            self._identity = self._identify()
        except BaseException:
            self._writer.close()
            raise

    def _notice_others(self) -> None:
        """Read anew what somebody who may write has changed: an immutable file is not expected to
        change."""
        if self._stamp != stamp(self.path):
            while self._idle:
                self._idle.pop().close()
            self._identity = Identity(self.path)

    def _identify(self) -> Identity:
        """Return which files are open, once there is a log."""
        self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        return Identity(self.path)

    def _migrate(self) -> None:
        """Apply the missing migrations, those of an existing file after a backup; several processes
        may try."""
        found = self._migrations.checked_version(
            SqliteTransaction(self._writer, self.damage), self.path
        )
        if found == self.version:
            return
        # Allows a new file to shrink in pieces later; a file that has tables is not affected.
        self._writer.execute("PRAGMA auto_vacuum = INCREMENTAL").fetchall()
        if not found:
            self._apply(lambda: None)
            return
        with self._before_upgrade(self.path) as back_up:
            self._apply(back_up)
        logger.info("upgraded %s from schema %d", self.path.name, found)

    def _apply(self, back_up: Callable[[], None]) -> None:
        """Run the scripts that are missing in one transaction. Nobody can write between the backup
        and them."""
        db = self._writer
        db.execute("BEGIN IMMEDIATE")
        try:
            self._migrations.apply(SqliteTransaction(db, self.damage), self.path, back_up)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def _write_ahead(self) -> None:
        """Switch a new file to WAL. No other connection may use it at that moment, and SQLite does
        not call the busy handler here."""
        latest = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._writer.execute("PRAGMA journal_mode = WAL")
                return
            except apsw.BusyError:
                if time.monotonic() > latest:
                    raise
                time.sleep(random.uniform(0.001, 0.02))


def connect(
    path: Path,
    flags: int = apsw.SQLITE_OPEN_READWRITE,
    patience: "Patience | None" = None,
    address: str | None = None,
) -> apsw.Connection:
    """Open an existing file as kinmem uses it, with its key if its home is encrypted. `address` is
    its URI if it needs one."""
    *others, last = keys_for(path)
    for key in others:
        with suppress(apsw.NotADBError):
            return _connect(address or str(path), flags, patience, key, is_sure=False)
    return _connect(address or str(path), flags, patience, last)


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


def can_encrypt() -> bool:
    """Return whether the driver is apsw-sqlite3mc."""
    return hasattr(apsw, "mc_version")


def _connect(
    address: str,
    flags: int,
    patience: "Patience | None",
    key: str | None,
    *,
    is_sure: bool = True,
) -> apsw.Connection:
    db = apsw.Connection(address, flags=flags | apsw.SQLITE_OPEN_NOMUTEX)
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
NO_ROOM = (apsw.SQLITE_IOERR_SHMSIZE,)
"""What SQLite reports if a disk has no room for the index of a log."""
FULL = "the disk is full; nothing was changed, make room and try again"
READ_ONLY = (
    "it can only be read, so nothing is stored; recall and list go on. Check the folder's rights"
)
WHERE = "KINMEM_HOME, or --home, names the folder that holds everything"


def _meaning(error: apsw.Error) -> tuple[StoreCode, str]:
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return "storage_busy", "another process is writing; try again in a moment"
    if isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) in NO_ROOM:
        return "storage_full", FULL
    if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
        return "storage_read_only", READ_ONLY
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return "storage_damaged", DAMAGED
    if is_damage(error):
        return "storage_damaged", DAMAGED
    return "storage_failed", f"{type(error).__name__}: {error}; run kinmem doctor"


def _check_engine() -> None:
    found = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    if found < LEAST_SQLITE:
        raise StoreError(
            f"apsw brings SQLite {apsw.sqlite_lib_version()}, which can corrupt files that several"
            " processes write; install apsw 3.51.3 or later",
            "storage_unsupported",
        )


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


def _begin(db: apsw.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")


def _empty(db: apsw.Connection) -> None:
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _alike(one: bytes | None, other: bytes | None) -> bool | None:
    """See ALIKE in store/sql/database.py. SQLite's NOCASE knows A to Z only."""
    if one is None or other is None:
        return None
    return one == other or _folded(one) == _folded(other)


def _folded(text: bytes) -> str:
    return text.decode(errors="replace").casefold()


FUNCTIONS: Mapping[str, Callable[..., Any]] = {**sums.FUNCTIONS, "kinmem_alike": _alike}
"""What statements and triggers call, by name."""
