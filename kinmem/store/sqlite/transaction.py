"""Statements on one connection, in SQLite's words; what the driver's errors mean.

Rows that cannot be decoded are left out.
"""

import errno
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import apsw

from kinmem.errors import StoreCode, StoreError
from kinmem.store.sql.damage import Damage, Row
from kinmem.store.sql.database import Bindings
from kinmem.store.sql.memory_rows import IS_LIVE
from kinmem.store.sqlite.mending import TABLE, look_at

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

PRAGMAS = (
    "fullfsync = ON",  # macOS only: else the drive may keep what was synced in its cache
    "checkpoint_fullfsync = ON",
    "synchronous = FULL",  # 0 of 300 simulated power cuts lost an answered write, NORMAL 138
    "foreign_keys = ON",
    "secure_delete = ON",  # forgotten text must not stay in free pages
    "cell_size_check = ON",
    "temp_store = MEMORY",
    # KiB, for each connection. The system keeps what was read as well: at 100,000 memories a
    # question takes 36 ms of processor time with 32 MiB, 32 with 4, and 100 MiB less are taken.
    "cache_size = -4096",
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


def begin(db: apsw.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
