"""Everything that one Kin's memory holds of a name: found by asking every text of every table.

It is taken out of the Kin's own file; the copies of what it shares follow (publishing.py).
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from kinmem.models import Memory
from kinmem.store.history import KEYED, Mention
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.forgetting import (
    DROPPED,
    IN_TURNS,
    SAID,
    WITH_MEMORIES,
    WRITTEN,
    SqlForgetting,
    changes,
)
from kinmem.store.sql.memory_rows import COLUMNS, memories_of
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.driver import SqliteTransaction
from kinmem.text import INVISIBLE

if TYPE_CHECKING:
    from kinmem.store.sqlite.store import SqliteFiles

WORD = re.compile(r"\w+")


class SqliteForgetting(SqlForgetting):
    """See Forgetting."""

    _files: "SqliteFiles"
    _own: SqliteDatabase
    keeps_versions = False  # deleted bytes are overwritten with zeros: see connection.py

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        wanted = {"turns": self._turns_of(memories)}
        with _asking(self._own, mention) as db:
            for table in dict.fromkeys(one.table for one in WRITTEN):
                sql = f"SELECT count(*) FROM {table} WHERE {_touched(table)}"
                count = db.value(sql, wanted)
                found[table] = count
        found["old_texts"] = self._versions_naming(mention)
        return +found

    def _naming(self, database: SqliteDatabase, mention: Mention) -> list[Memory]:
        said = ", ".join(f"m.{column}" for column in SAID if column != "metadata")
        with _asking(database, mention) as db:
            rows = db.rows(
                f"""
                SELECT {COLUMNS} FROM memories m
                WHERE mentions({said})
                    OR m.speaker IS NOT speaker(m.speaker)
                    OR mentions((
                        SELECT json_group_array(value) FROM json_each(m.auto_tags)
                        WHERE value IS NOT m.source -- which is a tag of everything that came so
                    ))
                    OR m.metadata IS NOT metadata(m.metadata)
                    OR m.rowid IN (
                        SELECT memory FROM chunks
                        WHERE mentions(text, summary, metadata ->> 'heading')
                    )
                    OR m.rowid IN (SELECT memory FROM summaries WHERE mentions(text))
                    OR m.rowid IN (
                        SELECT memory FROM memory_entities WHERE entity IN (
                            SELECT entity FROM memory_entities JOIN entities e ON e.id = entity
                            WHERE mentions(e.name, alias)
                        )
                    )
                ORDER BY m.rowid
                """
            )
        return memories_of(rows, database.damage)

    def _kept(self, mention: Mention) -> tuple[str, ...]:
        written = {(one.table, one.column) for one in WRITTEN} | WITH_MEMORIES
        found = set()
        for file in self._files:
            with _asking(file.database, mention) as db:
                for table, column in _texts(file.database):
                    asked = f"SELECT 1 FROM {table} WHERE mentions({column}) LIMIT 1"
                    if (table, column) not in written and db.value(asked):
                        found.add(f"{table}.{column}")
        return tuple(sorted(found))

    def _spills(self, mention: Mention, memories: Sequence[Memory]) -> tuple[str, ...]:
        with _asking(self._own, mention) as db:
            rows = db.rows(
                f"""
                SELECT DISTINCT spill FROM turns WHERE spill IS NOT NULL AND (
                    mentions(text, session) OR speaker IS NOT speaker(speaker)
                    OR {IN_TURNS}
                )
                """,
                {"turns": self._turns_of(memories)},
            )
        return tuple(sorted(spill for (spill,) in rows))

    def blank(self, mention: Mention) -> None:
        self._drop_versions(mention)
        for text in WRITTEN:
            table, column, change = text
            with self._files.own.changing() as db, _functions(db, mention):
                if table in DROPPED:
                    sql = f"DELETE FROM {table}"
                else:
                    sql = f"UPDATE OR IGNORE {table} SET {column} = {change}({column})"
                db.run(f"{sql} WHERE {text.names_it}")
        self._files.copies.publish()
        for file in self._files:
            file.database.empty_log()

    def blank_everywhere(self, mention: Mention) -> None:
        for table, column in _texts(self._own):
            with self._files.own.changing() as db, _functions(db, mention):
                left = f"blanked({column})"
                changes = f"{column} IS NOT {left}"
                if (table, column) == ("history", "batch"):
                    changes += f" AND batch NOT LIKE '{KEYED}%'"  # hashes, by which a key is known
                db.run(f"UPDATE OR IGNORE {table} SET {column} = {left} WHERE {changes}")
        self._files.copies.publish()

    def remains(self, mention: Mention) -> Mapping[str, int]:
        count = self._versions_naming(mention)
        return {f"kins/{self._files.kin}.db": count} if count else {}

    def compact(self) -> Sequence[str]:
        for file in self._files:
            with file.database.alone() as db:
                db.run("INSERT INTO words (words) VALUES ('optimize')")
                db.run("INSERT INTO turn_words (turn_words) VALUES ('optimize')")
                db.run("VACUUM")
            file.database.empty_log()
        return ()

    def holds(self, text: str) -> bool:
        return any(
            file.database.rows(f"SELECT 1 FROM {table} WHERE instr({column}, ?) LIMIT 1", (text,))
            for file in self._files
            for table, column in _texts(file.database)
        )

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        wanted = [part.lower() for part in parts]
        for file in self._files:
            for table, column in _texts(file.database):
                for (text,) in file.database.rows(f"SELECT {column} FROM {table}"):
                    text = INVISIBLE.sub("", text).lower() if isinstance(text, str) else ""
                    if any(part in text for part in wanted):
                        for word in WORD.findall(text):
                            if any(part in word for part in wanted):
                                yield word


def _texts(database: SqliteDatabase) -> list[tuple[str, str]]:
    """Return (table, column) of everything in a file that may hold text, without shadow tables."""
    return database.rows(
        """
        SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
            AND c.type IN ('TEXT', '')
        ORDER BY t.name, c.cid
        """
    )


def _touched(table: str) -> str:
    """Return the condition for rows of a table that would change, each counted once."""
    names_it = [one.names_it for one in WRITTEN if one.table == table]
    if table == "turns":
        names_it.append(IN_TURNS)
    return " OR ".join(names_it)


@contextmanager
def _asking(database: SqliteDatabase, mention: Mention) -> Iterator[Transaction]:
    with database.reading() as db, _functions(db, mention):
        yield db


def _functions(db: Transaction, mention: Mention) -> AbstractContextManager[None]:
    """Let SQL ask mentions(text, ...), and change texts as WRITTEN says."""

    def mentions(*values: Any) -> bool:
        return any(mention.is_in(value) for value in values if isinstance(value, str))

    of_one = {name: partial(_of_text, change) for name, change in changes(mention).items()}
    assert isinstance(db, SqliteTransaction)
    return db.functions({"mentions": mentions, **of_one})


def _of_text(change: Callable[[str], str], value: Any) -> Any:
    return change(value) if isinstance(value, str) else value
