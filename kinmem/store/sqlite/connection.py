"""One database file: opened, protected, migrated, and given to readers and one writer."""

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from kinmem.errors import StoreError
from kinmem.store.sql.damage import Damage, Row
from kinmem.store.sql.database import Bindings, StateRow, waiting
from kinmem.store.sql.memory_rows import IS_LIVE
from kinmem.store.sqlite import driver
from kinmem.store.sqlite.disk import (
    PARTS,
    RAISE,
    HighWater,
    check_is_current,
    check_is_there,
    is_read_only,
    read_only_address,
    stamp,
)
from kinmem.store.sqlite.driver import (
    MENDED,
    READ_ONLY,
    Patience,
    SqliteTransaction,
    begin,
    can_be_alone,
    check_engine,
    connect,
    counted,
    empty_wal,
    is_damage,
    lacks_index,
    make_private,
    scratch,
    shut,
    translated,
)
from kinmem.store.sqlite.mending import mended
from kinmem.store.sqlite.migrating import MIGRATIONS, BeforeUpgrade, Migrations, without_backup

logger = logging.getLogger(__name__)
MOST_IDLE = 8  # connections kept for the next reader; a burst of threads may open more
MOST_WARM = 2  # of them keep the pages that they have read


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
        *,
        is_brief: bool = False,
    ) -> None:
        """Open or create the file, and migrate its schema. `note` is where the number of its
        transactions is noted; see disk.py. If it `is_brief`, it keeps other processes out where
        the disk has no room for what they would share.

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
        self._is_alone = False
        check_engine()
        with translated(path):
            noted = self._high_water.read() if self._high_water else 0  # before the file
            check_is_there(path, noted)
            if self.is_read_only:
                self._open_read_only(noted)
                return
            make_private(path)
            try:
                self._open(noted)
            except apsw.Error as error:
                if not (is_brief and lacks_index(error) and can_be_alone()):
                    raise
                self._is_alone = True  # nobody has the file open: their index would be there
                self._open(noted)

    def states(self) -> list[StateRow]:
        writes = self.writes
        return [StateRow(self, writes, next(iter(self.rows(STATE)), None))]

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
                    if len(self._idle) >= MOST_WARM:
                        connection.release_memory()
                    self._idle.append(connection)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteTransaction]:
        """Do the same as `reading`, but all statements see the file as it is at the first of
        them."""
        with self.reading() as db, db.at_one_moment():
            yield db

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
        with translated(self.path), self._turn(begin) as db:
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
        """Lend the connection for writing, outside of a transaction, to code that makes its own.
        Each of its statements waits for other processes for five seconds."""
        self._check_alive()
        with translated(self.path), self._turn() as db:
            self._patience.latest = None
            yield SqliteTransaction(db, self.damage)

    def empty_log(self) -> None:
        """Move everything into the main file and empty the log, so that no copy of erased text
        remains."""
        with translated(self.path), self._turn(empty_wal):
            pass

    @contextmanager
    def _turn(self, first: Callable[[apsw.Connection], object] = id) -> Iterator[apsw.Connection]:
        """Lend the connection for writing to this thread alone, after `first`, which may have to
        wait for other processes. Raises storage_busy after five seconds, for whomever it waits."""
        if self.is_read_only:
            raise StoreError(f"{self.path.name}: {READ_ONLY}", "storage_read_only")
        with waiting(driver.BUSY_SECONDS) as seconds:
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

    def _open(self, noted: int) -> None:
        self._writer = connect(self.path, patience=self._patience, alone=self._is_alone)
        try:
            if noted:
                check_is_current(self.path, counted(self._writer), noted)
            self._migrate()
            self._write_ahead()
            self._identity = self._identify()
        except BaseException:
            self._writer.close()
            raise

    def _connect(self) -> driver.Connection:
        if not self.is_read_only:
            return connect(self.path, alone=self._is_alone)
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
        latest = time.monotonic() + driver.BUSY_SECONDS
        while True:
            try:
                self._writer.execute("PRAGMA journal_mode = WAL")
                return
            except apsw.BusyError:
                if time.monotonic() > latest:
                    raise
                time.sleep(random.uniform(0.001, 0.02))


# All of it is read from one end of an index.
STATE = f"""
    SELECT revision.number,
        (SELECT min(seq) FROM vector_log),
        (SELECT max(seq) FROM vector_log),
        (SELECT max(rowid) FROM memories),
        (SELECT max(id) FROM chunks),
        (SELECT min(id) FROM words_docsize) < 0,
        (SELECT max(id) FROM turn_vectors),
        (SELECT number FROM turn_vectors_lost),
        EXISTS (SELECT 1 FROM turn_words_docsize),
        EXISTS (SELECT 1 FROM conflicts WHERE status = 'open'),
        (SELECT m.expires_at FROM memories m WHERE m.expires_at IS NOT NULL AND {IS_LIVE}
            ORDER BY m.expires_at LIMIT 1),
        (SELECT m.valid_to FROM memories m WHERE m.valid_to IS NOT NULL AND {IS_LIVE}
            ORDER BY m.valid_to LIMIT 1),
        (SELECT json_group_array(json_array(CAST(name AS TEXT), id, dimension,
            NOT EXISTS (SELECT 1 FROM pending WHERE embedder = id),
            NOT EXISTS (SELECT 1 FROM turn_pending WHERE embedder = id))) FROM embedders)
    FROM revision
    """
