"""Everything that one Kin's two files hold of a name: found by asking every text of every table."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from kinmem.models import Memory
from kinmem.rules.mention import Mention
from kinmem.store.forgetting import Traces
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import COLUMNS, memory_of

if TYPE_CHECKING:
    from kinmem.store.sqlite.store import SqliteStore

OF_MEMORIES = frozenset({"memories", "chunks", "summaries", "tags", "memory_entities", "words"})
"""What goes with its memory."""
NAMES = frozenset({"session", "turn", "part", "place", "client", "speaker", "name", "holder"})
"""Columns that name something: they lose the name, not all they say."""
DROPPED = frozenset({"entities", "old_texts", "conflicts", "links", "relations"})
"""Tables whose rows go whole."""
OWN_LINES = {"history": "kin = :kin", "moves": "kin = :kin"}
"""Of shared.db: which rows of which tables are this Kin's beside its memories."""
WORD = re.compile(r"\w+")


class SqliteForgetting:
    """See Forgetting."""

    def __init__(self, store: "SqliteStore", own: Book, shared: Book) -> None:
        self._store = store
        self._own = own
        self._shared = shared
        self._books = (own, shared)

    def traces(self, mention: Mention) -> Traces:
        memories: list[Memory] = []
        others: list[str] = []
        for book in self._books:
            for memory in _naming(book.database, mention):
                if memory.kin == self._store.kin:
                    memories.append(memory)
                else:
                    others.append(memory.id)
        visible = self._store.memories(others).keys()
        counts: Counter[str] = Counter()
        for book, table, column, where in self._elsewhere():
            counts[table] += _count(book.database, mention, table, column, where, self._store.kin)
        return Traces(memories, sorted(visible), +counts, self._spills(mention, memories))

    def _spills(self, mention: Mention, memories: Sequence[Memory]) -> tuple[str, ...]:
        turns = [[m.session, turn] for m in memories if m.session for turn in m.turns]
        with _asking(self._own.database, mention) as db:
            rows: Any = db.execute(
                """
                SELECT DISTINCT spill FROM turns WHERE spill IS NOT NULL AND (
                    mentions(text, speaker, session, tool) OR (session, turn) IN (
                        SELECT value ->> 0, value ->> 1 FROM json_each(?)
                    )
                )
                """,
                (json.dumps(turns),),
            ).fetchall()
        return tuple(sorted(spill for (spill,) in rows))

    def erase(self, ids: Collection[str]) -> int:
        return self._store.erase_all(ids)

    def blank(self, mention: Mention) -> Mapping[str, int]:
        done: Counter[str] = Counter()
        for book, table, column, where in self._elsewhere():
            with book.changing() as db, _functions(db, mention):
                bound = {"kin": self._store.kin}
                condition = f"mentions({column}) AND {where}"
                if table in DROPPED:
                    db.execute(f"DELETE FROM {table} WHERE {condition}", bound)
                else:
                    how = "removed" if column in NAMES else "blanked"
                    set = f"SET {column} = {how}({column})"
                    db.execute(f"UPDATE OR IGNORE {table} {set} WHERE {condition}", bound)
                done[table] += db.changes()
        for book in self._books:
            book.database.truncate_wal()
        return +done

    def compact(self) -> None:
        for book in self._books:
            with book.database.alone() as db:
                db.execute("INSERT INTO words (words) VALUES ('optimize')")
                db.execute("VACUUM")
            book.database.truncate_wal()

    def left(self, mention: Mention) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for book in self._books:
            for table, column in _texts(book.database):
                rows = _count(book.database, mention, table, column, "1", self._store.kin)
                found[f"{book.database.path.name} {table}"] += rows
        return +found

    def holds(self, text: str) -> bool:
        return any(
            book.database.rows(f"SELECT 1 FROM {table} WHERE instr({column}, ?) LIMIT 1", (text,))
            for book in self._books
            for table, column in _texts(book.database)
        )

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        wanted = [part.lower() for part in parts]
        for book in self._books:
            for table, column in _texts(book.database):
                for (text,) in book.database.rows(f"SELECT {column} FROM {table}"):
                    if isinstance(text, str) and any(part in text.lower() for part in wanted):
                        for word in WORD.findall(text.lower()):
                            if any(part in word for part in wanted):
                                yield word

    def _elsewhere(self) -> Iterator[tuple[Book, str, str, str]]:
        """(file, table, column, which rows) of every text that is not a memory's."""
        for table, column in _texts(self._own.database):
            if table not in OF_MEMORIES and not (table == "jobs" and column == "name"):
                yield self._own, table, column, "1"
        for table, column in _texts(self._shared.database):
            if table in OWN_LINES and column != "kin":
                yield self._shared, table, column, OWN_LINES[table]


def _naming(database: Database, mention: Mention) -> list[Memory]:
    """The memories of a file that are about it."""
    texts = [column for table, column in _texts(database) if table == "memories"]
    said = ", ".join(f"m.{column}" for column in texts if column not in ("kin", "id"))
    with _asking(database, mention) as db:
        rows: Any = db.execute(
            f"""
            SELECT {COLUMNS} FROM memories m
            WHERE mentions({said})
                OR m.rowid IN (SELECT memory FROM chunks WHERE mentions(text, summary, metadata))
                OR m.rowid IN (SELECT memory FROM summaries WHERE mentions(text))
                OR m.rowid IN (
                    SELECT memory FROM memory_entities WHERE entity IN (
                        SELECT entity FROM memory_entities JOIN entities e ON e.id = entity
                        WHERE mentions(e.name, alias)
                    )
                )
            ORDER BY m.rowid
            """
        ).fetchall()
    return [memory_of(row) for row in rows]


def _texts(database: Database) -> list[tuple[str, str]]:
    """(table, column) of everything in a file that may hold text, shadow tables left out."""
    return database.rows(
        """
        SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
            AND c.type IN ('TEXT', '')
        ORDER BY t.name, c.cid
        """
    )


def _count(
    database: Database, mention: Mention, table: str, column: str, where: str, kin: str
) -> int:
    with _asking(database, mention) as db:
        sql = f"SELECT count(*) FROM {table} WHERE mentions({column}) AND {where}"
        found: Any = db.execute(sql, {"kin": kin} if ":kin" in where else {}).get
    return int(found)


@contextmanager
def _asking(database: Database, mention: Mention) -> Iterator[apsw.Connection]:
    with database.reading() as db, _functions(db, mention):
        yield db


@contextmanager
def _functions(db: apsw.Connection, mention: Mention) -> Iterator[None]:
    """Lets SQL ask: mentions(text, ...), removed(text), blanked(text)."""

    def mentions(*values: Any) -> bool:
        return any(mention.is_in(value) for value in values if isinstance(value, str))

    def removed(*values: Any) -> Any:
        return mention.removed(values[0])

    def blanked(*values: Any) -> Any:
        return mention.blanked(values[0])

    db.create_scalar_function("mentions", mentions)
    db.create_scalar_function("removed", removed, 1)
    db.create_scalar_function("blanked", blanked, 1)
    try:
        yield
    finally:
        for name, count in (("mentions", -1), ("removed", 1), ("blanked", 1)):
            db.create_scalar_function(name, None, count)
