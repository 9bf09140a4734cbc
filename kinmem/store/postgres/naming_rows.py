"""Everything that one Kin's memory holds of a name in PostgreSQL: all texts of all its tables are
read, and asked here. Then the tables are rewritten (schema.py)."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from kinmem.models import Memory
from kinmem.store.history import KEYED, Mention
from kinmem.store.postgres.owned_rows import PostgresDatabase, PostgresTransaction
from kinmem.store.postgres.postings import tokens
from kinmem.store.postgres.schema import SERVER_KEEPS, rewrite
from kinmem.store.sql.forgetting import (
    DROPPED,
    SAID,
    WITH_MEMORIES,
    WRITTEN,
    SqlForgetting,
    changes,
)
from kinmem.store.sql.memory_rows import COLUMNS, IN_NUMBERS, memories_of
from kinmem.text import INVISIBLE

WORD = re.compile(r"\w+")
INDEXES = ("postings", "turn_postings")
"""Tables with words of texts, which are made from them."""
TEXTS = f"""
    SELECT c.relname, a.attname FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = to_regnamespace(current_schema) AND c.relkind = 'r'
        AND a.atttypid = 'text'::regtype AND c.relname NOT IN {INDEXES}
        AND EXISTS (SELECT 1 FROM pg_policies p
            WHERE p.schemaname = current_schema AND p.tablename = c.relname
                AND p.policyname = 'owned')
    ORDER BY c.relname, a.attnum
"""
"""Every column of an owner's rows that may hold text."""
OWN_WORDS = {("tags", "tag"), ("chunks", "metadata")}
"""Some of which are kinmem's; what names somebody in them is found by its memory."""
MADE_FROM_TEXTS = (
    *sorted(one for one in WITH_MEMORIES - OWN_WORDS if one[0] != "memories"),
    ("turn_words", "context"),
)
"""Columns that are erased with what they are made from."""
OF_TURNS = "SELECT one, other FROM PAIRED(?)"
# What the index says that it has a term of. A chunk's number is below zero.
SAYING = """
    SELECT p.rowid, concat_ws(' ', m.content, m.subject, m.source_context, m.title, m.description),
        (SELECT concat_ws(' ', c.text, c.summary, c.metadata, o.content, o.title)
            FROM chunks c JOIN memories o ON o.rowid = c.memory WHERE c.id = -p.rowid)
    FROM postings p LEFT JOIN memories m ON m.rowid = p.rowid WHERE p.term = ?
"""
SAYING_OF_TURNS = """
    SELECT p.rowid, t.text, w.context FROM turn_postings p
    LEFT JOIN turns t ON t.id = p.rowid LEFT JOIN turn_words w ON w.rowid = p.rowid
    WHERE p.term = ?
"""
Change = Callable[[str], str]


class PostgresForgetting(SqlForgetting):
    """See Forgetting."""

    _own: PostgresDatabase
    keeps_versions = True

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        with self._own.snapshot() as db:
            turns = set(db.rows(OF_TURNS, (self._turns_of(memories),)))
            for table in _tables():
                found[table] = sum(1 for _ in _named(db, table, mention, turns))
        found["old_texts"] = self._versions_naming(mention)
        return +found

    def _naming(self, database: PostgresDatabase, mention: Mention) -> list[Memory]:
        with database.snapshot() as db:
            found = sorted({*_memories(db, mention), *_by_parts(db, mention)})
            sql = f"SELECT {COLUMNS} FROM memories m WHERE m.rowid {IN_NUMBERS} ORDER BY m.rowid"
            rows = [
                row
                for start in range(0, len(found), 1000)
                for row in db.rows(sql, {"ids": str(found[start : start + 1000])})
            ]
        return memories_of(rows, database.damage)

    def _spills(self, mention: Mention, memories: Sequence[Memory]) -> tuple[str, ...]:
        speaker = changes(mention)["speaker"]
        with self._own.snapshot() as db:
            turns = set(db.rows(OF_TURNS, (self._turns_of(memories),)))
            told = db.rows(
                "SELECT spill, text, session, turn, speaker FROM turns WHERE spill IS NOT NULL"
            )
        return tuple(
            sorted(
                {
                    spill
                    for spill, text, session, turn, said_by in told
                    if mention.is_in(text)
                    or mention.is_in(session)
                    or (session, turn) in turns
                    or (said_by and speaker(said_by) != said_by)
                }
            )
        )

    def _kept(self, mention: Mention) -> tuple[str, ...]:
        written = {(one.table, one.column) for one in WRITTEN}
        written |= {*WITH_MEMORIES, *MADE_FROM_TEXTS}
        found = set()
        for file in self._files:
            with file.database.snapshot() as db:
                for table, column in db.rows(TEXTS):
                    if (table, column) not in written:
                        texts = db.each(f"SELECT DISTINCT {column} FROM {table}")
                        if sum(mention.is_in(text) for (text,) in texts):
                            found.add(f"{table}.{column}")
        return tuple(sorted(found))

    def blank(self, mention: Mention) -> None:
        self._drop_versions(mention)
        with self._files.own.changing() as db:
            db.run("DELETE FROM answers")  # whoever asks again is answered anew
        for table in _tables():
            with self._files.own.changing() as db:
                for where, left in list(_named(db, table, mention, set())):
                    if table in DROPPED:
                        db.run(f"DELETE FROM {table} WHERE ctid = ?", (where,))
                    else:
                        _put(db, table, where, left)
        self._files.copies.publish()

    def blank_everywhere(self, mention: Mention) -> None:
        with self._own.reading() as db:
            texts = db.rows(TEXTS)
        for table, column in texts:
            with self._files.own.changing() as db:
                for where, text in list(db.each(f"SELECT ctid, {column} FROM {table}")):
                    if (table, column) == ("history", "batch") and (text or "").startswith(KEYED):
                        continue  # hashes, by which a key is known
                    if text and (left := mention.blanked(text)) != text:
                        _put(db, table, where, {column: left})
        self._files.copies.publish()

    def compact(self) -> Sequence[str]:
        return (*rewrite(self._own.server), SERVER_KEEPS)

    def remains(self, mention: Mention) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for file in self._files:
            name = file.database.name
            found[f"{name}: memories"] = len(self._naming(file.database, mention))
            with file.database.snapshot() as db:
                for table, column in MADE_FROM_TEXTS:
                    texts = db.each(f"SELECT {column} FROM {table}")
                    found[f"{name}: {table}"] += sum(mention.is_in(text) for (text,) in texts)
                found[f"{name}: words"] += _unfounded(db, mention)
        for table, count in self.counts(mention, ()).items():
            found[f"{self._own.name}: {table}"] += count
        return +found

    def holds(self, text: str) -> bool:
        for file in self._files:
            with file.database.reading() as db:
                for table, column in db.rows(TEXTS):
                    sql = f"SELECT 1 FROM {table} WHERE strpos({column}, ?) > 0 LIMIT 1"
                    if db.row(sql, (text,)):
                        return True
        return False

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        wanted = [part.lower() for part in parts]
        for file in self._files:
            with file.database.snapshot() as db:
                for table, column in db.rows(TEXTS):
                    for (text,) in db.each(f"SELECT {column} FROM {table}"):
                        text = INVISIBLE.sub("", text or "").lower()
                        if any(part in text for part in wanted):
                            for word in WORD.findall(text):
                                if any(part in word for part in wanted):
                                    yield word


def _tables() -> Mapping[str, None]:
    return dict.fromkeys(one.table for one in WRITTEN)


def _named(
    db: PostgresTransaction, table: str, mention: Mention, turns: set[Any]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield where a row is and what its columns become, of each that names it or is what was said
    in one of these turns."""
    known = changes(mention)
    written = [one for one in WRITTEN if one.table == table]
    columns = ", ".join(one.column for one in written)
    for where, *values in db.each(f"SELECT ctid, {columns} FROM {table}"):
        row = dict(zip((one.column for one in written), values, strict=True))
        left = {
            one.column: new
            for one in written
            if isinstance(value := row[one.column], str)
            and (new := known[one.change](value)) != value
        }
        if left or (table == "turns" and (row["session"], row["turn"]) in turns):
            yield where, left


def _put(db: PostgresTransaction, table: str, where: str, left: Mapping[str, str]) -> None:
    """Change the columns one by one, but for what another row of that key has."""
    for column, text in left.items():
        sql = f"UPDATE {table} SET {column} = ? WHERE ctid = ? RETURNING ctid"
        moved = db.run_unless_taken(sql, (text, where))
        where = where if moved is None else moved[0]


def _memories(db: PostgresTransaction, mention: Mention) -> Iterator[int]:
    """Yield the numbers of memories that name it in what somebody wrote."""
    known = changes(mention)
    said = [column for column in SAID if column != "metadata"]
    sql = f"""
        SELECT m.rowid, m.speaker, m.metadata,
            (SELECT json_agg(value) FROM jsonb_array_elements_text(PARSED(m.auto_tags)) AS t (value)
                WHERE value <> m.source)::text, -- which is a tag of everything that came so
            {", ".join(f"m.{column}" for column in said)} FROM memories m
    """
    for row, speaker, metadata, *texts in db.each(sql):
        is_named = any(map(mention.is_in, texts))
        is_named |= speaker is not None and known["speaker"](speaker) != speaker
        is_named |= metadata is not None and known["metadata"](metadata) != metadata
        if is_named:
            yield row


def _by_parts(db: PostgresTransaction, mention: Mention) -> Iterator[int]:
    """Yield the numbers of memories that name it in their parts, or are about an entity of that
    name."""
    for row, *texts in db.each(
        "SELECT memory, text, summary, PARSED(metadata) ->> 'heading' FROM chunks"
    ):
        if any(map(mention.is_in, texts)):
            yield row
    for row, text in db.each("SELECT memory, text FROM summaries"):
        if mention.is_in(text):
            yield row
    about: dict[int, list[int]] = {}
    named = set()
    sql = "SELECT a.memory, a.entity, e.name, a.alias FROM memory_entities a"
    for row, entity, name, alias in db.each(f"{sql} JOIN entities e ON e.id = a.entity"):
        about.setdefault(entity, []).append(row)
        if mention.is_in(name) or mention.is_in(alias):
            named.add(entity)
    for entity in named:
        yield from about[entity]


def _unfounded(db: PostgresTransaction, mention: Mention) -> int:
    """Count the rows of the word indexes that have a word of the name, though the text that they
    are for has not."""
    count = 0
    for token in set(tokens(mention.name)):
        for sql in (SAYING, SAYING_OF_TURNS):
            for _, *texts in db.rows(sql, (token,)):
                count += not any(token in tokens(text) for text in texts if text)
    return count
