"""Statements on one connection, in SQLite's words; rows that cannot be decoded are left out."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kinmem.store.sql.damage import Damage, Row
from kinmem.store.sql.database import Bindings
from kinmem.store.sqlite.checks import TABLE, look_at
from kinmem.store.sqlite.dialect import TABLES, WORD, WORDS

if TYPE_CHECKING:
    import apsw

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

    def __init__(self, connection: "apsw.Connection", damage: Damage) -> None:
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
