"""Everything that one Kin's memory holds of a name: found by asking every text of every table.

It is taken out of the Kin's own file; the copies of what it shares follow (publishing.py).
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from kinmem.errors import MemoryNotFound
from kinmem.models import Memory
from kinmem.store.history import KEYED, Mention, Traces
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.document_rows import delta
from kinmem.store.sql.document_texts import SqlDocuments
from kinmem.store.sql.erasing import IN_TURNS, turns_of
from kinmem.store.sql.memory_rows import COLUMNS, memories_of
from kinmem.store.sql.named_columns import DROPPED, SAID, WITH_MEMORIES, WRITTEN, changes
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.kin_files import SqliteFiles
from kinmem.store.sqlite.transaction import SqliteTransaction
from kinmem.text import INVISIBLE

WORD = re.compile(r"\w+")


class Version(NamedTuple):
    """What a document said before, as it can be told from old_texts."""

    memory: str
    version: str
    at: str
    text: str
    is_whole: bool
    """Else it can be told no more, and `text` is the words of it that are stored."""


class SqliteForgetting:
    """See Forgetting."""

    def __init__(
        self,
        files: SqliteFiles,
        documents: SqlDocuments,
        erase: Callable[[Collection[str]], int],
    ) -> None:
        """`erase`: see Forgetting."""
        self._files = files
        self._own = files.own.database
        self._documents = documents
        self.erase = erase

    def traces(self, mention: Mention) -> Traces:
        memories = _naming(self._own, mention)
        shared = _naming(self._files.shared.database, mention)
        others = [copy.id for copy in shared if copy.kin != self._files.kin]
        visible = self._files.memories(others).keys()
        return Traces(
            memories,
            sorted(visible),
            self.counts(mention, memories),
            self._spills(mention, memories),
            self._kept(mention),
        )

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        wanted = {"turns": self._turns_of(memories)}
        with _asking(self._own, mention) as db:
            for table in dict.fromkeys(one.table for one in WRITTEN):
                sql = f"SELECT count(*) FROM {table} WHERE {_touched(table)}"
                count = db.value(sql, wanted)
                found[table] = count
        found["old_texts"] = sum(mention.is_in(version.text) for version in self._versions())
        return +found

    def _kept(self, mention: Mention) -> tuple[str, ...]:
        """Return table.column of those columns in kinmem's own words in which the name occurs,
        sorted."""
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

    def _turns_of(self, memories: Sequence[Memory]) -> str:
        """Return the turns that are blanked with these memories, as the binding of IN_TURNS."""
        learned = [(m.session, turn) for m in memories if m.session for turn in m.turns]
        repeating = turns_of(self._own, [m.id for m in memories])
        return json.dumps([*learned, *repeating])

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

    def former(self, mention: Mention) -> Mapping[Path, int]:
        return Counter(self._own.path for one in self._versions() if mention.is_in(one.text))

    def _versions(self) -> Iterator[Version]:
        rows = self._own.rows("SELECT memory_id, content_hash, at, delta FROM old_texts")
        for id, version, at, change in rows:
            try:
                text, is_whole = self._documents.text(id, version), True
            except MemoryNotFound:  # the version that it is told by is gone
                text, is_whole = "\n".join(_words_of(change)), False
            yield Version(id, version, at, text, is_whole)

    def _drop_versions(self, mention: Mention) -> None:
        """Drop earlier versions of own documents that name it."""
        naming = {(one.memory, one.version) for one in self._versions() if mention.is_in(one.text)}
        for id in {id for id, _ in naming}:
            self._tell_anew(id, {version for memory, version in naming if memory == id})

    def _tell_anew(self, id: str, dropped: Collection[str]) -> None:
        """Drop these versions of a document. Others that were stored as a difference from them
        become differences from the present text."""
        versions = [one for one in self._versions() if one.memory == id]
        try:
            base = self._files.get(id).content_hash
            text = self._documents.text(id, base)
            kept = [
                (one, delta(text, one.text))
                for one in versions
                if one.is_whole and one.version not in dropped
            ]
        except MemoryNotFound:
            kept = []
        with self._files.own.changing() as db:
            db.run_each(
                "DELETE FROM old_texts WHERE memory_id = ? AND content_hash = ?",
                [(id, one.version) for one in versions],
            )
            db.run_each(
                "INSERT INTO old_texts (memory_id, content_hash, base, delta, at)"
                " VALUES (?, ?, ?, ?, ?)",
                [(id, one.version, base, how, one.at) for one, how in kept],
            )

    def compact(self) -> None:
        for file in self._files:
            with file.database.alone() as db:
                db.run("INSERT INTO words (words) VALUES ('optimize')")
                db.run("INSERT INTO turn_words (turn_words) VALUES ('optimize')")
                db.run("VACUUM")
            file.database.empty_log()

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


def _words_of(change: bytes) -> list[str]:
    """Return the texts that a stored difference contains."""
    return [step for step in json.loads(zlib.decompress(change)) if isinstance(step, str)]


def _naming(database: SqliteDatabase, mention: Mention) -> list[Memory]:
    """Return the memories of a file that mention the name anywhere, the oldest first."""
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
