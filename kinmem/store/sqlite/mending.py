"""Finds which rows of a file are damaged, and makes anew what is made from memories and messages:
the word indexes and the vectors.

Each function runs inside the caller's transaction. It raises the driver's error if a table cannot
even be dropped; then only a new file helps.
"""

import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from kinmem.errors import StoreError
from kinmem.store.sql import document_rows
from kinmem.store.sql.damage import DERIVED, LINE, SUMMED, broken_links, row_sum
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.document_rows import passage_of
from kinmem.store.sql.memory_rows import COLUMNS, IN_NUMBERS, indexed, sound, spread
from kinmem.store.sql.turn_queue import settled

logger = logging.getLogger(__name__)
AT_ONCE = 500
VECTORS = re.compile(r"vectors_(\d+)")
PARTS = """
    SELECT c.id, c.metadata, coalesce(c.text, m.content), PARSED(m.ingest_metadata) ->> 'held'
    FROM chunks c JOIN memories m ON m.rowid = c.memory
    WHERE c.metadata NOT NULL AND c.memory IN NUMBERED(:ids)
"""


class Mendable(Database, Protocol):
    """A database whose tables may be damaged."""

    def afresh(self) -> AbstractContextManager[Transaction]:
        """Read over a new connection, which has nothing in its cache."""
        ...


def mended(database: Mendable) -> list[str]:
    """Make anew whatever is damaged, each in a transaction; returns which tables that were."""
    broken = [
        *database.damage.derived,
        *(name for name in tables(database) if is_broken(database, name)),
    ]
    for table in dict.fromkeys(broken):
        with database.writing() as db:
            anew(db, table)
        database.damage.mended(table)
        logger.warning("%s was damaged and is made anew", table)
    return broken


def tables(database: Mendable) -> list[str]:
    """Return all tables that can be made anew."""
    numbers = database.rows("SELECT id FROM embedders")
    return ["words", "turn_words", *(f"vectors_{number:d}" for (number,) in numbers)]


def is_broken(database: Mendable, table: str) -> bool:
    """Return whether a table cannot be read as a whole."""
    try:
        with database.afresh() as db:
            if table.startswith("vectors"):
                db.rows(f"SELECT chunk, embedding FROM {table}")
                return False
            return db.rows(f"PRAGMA quick_check({table})") != [("ok",)]
    except StoreError as error:
        return error.code == "storage_damaged"


def anew(db: Transaction, table: str) -> None:
    """Make one of DERIVED, or the vectors of one embedder, anew."""
    if table == "words":
        _words(db)
    elif table == "turn_words":
        _turn_words(db)
    else:
        found = VECTORS.fullmatch(table)
        numbers = [(int(found[1]),)] if found else db.rows("SELECT id FROM embedders")
        for (number,) in numbers:
            _vectors(db, number)
    db.run("UPDATE revision SET number = number + 1")


def _words(db: Transaction) -> None:
    """Index the words of all memories and of the chunks of documents again."""
    _empty(db, "words")
    rows = [row for (row,) in db.rows("SELECT rowid FROM memories ORDER BY rowid")]
    for start in range(0, len(rows), AT_ONCE):
        some = {"ids": json.dumps(rows[start : start + AT_ONCE])}
        found = db.rows(
            f"SELECT m.rowid, {COLUMNS} FROM memories m WHERE m.rowid {IN_NUMBERS}", some
        )
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, ?)",
            [(row, *indexed(memory)) for (row,), memory in sound(found, db.damage)],
        )
        parts = [
            (-id, text, document_rows.passage_of(metadata, held))
            for id, metadata, text, held in db.rows(PARTS, some)
        ]
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, '')",
            [
                (row, spread(text), spread(place.heading))
                for row, text, place in parts
                if not place.held
            ],
        )


def _turn_words(db: Transaction) -> None:
    """Let all messages wait for being indexed, which upkeep does."""
    _empty(db, "turn_words")
    db.run(
        "INSERT INTO turns_to_index SELECT id FROM turns WHERE role IN ('user', 'assistant')"
        " ON CONFLICT DO NOTHING"
    )


def _empty(db: Transaction, table: str) -> None:
    made = db.value("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
    db.run(f"DROP TABLE {table}")
    db.run(made)
    db.run(f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)")


def _vectors(db: Transaction, number: int) -> None:
    """Let all chunks wait for a vector of this embedder, which upkeep makes."""
    table = f"vectors_{number:d}"
    made = db.value("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
    db.run(f"DROP TABLE {table}")
    db.run(made)
    db.run("DELETE FROM vector_sums WHERE embedder = ?", (number,))
    db.run("INSERT INTO pending SELECT ?, id FROM chunks ON CONFLICT DO NOTHING", (number,))
    db.run("INSERT INTO vector_log (chunk) SELECT id FROM chunks")


def unnamed_embedders(db: Transaction) -> list[int]:
    """Return the embedders whose names are damaged."""
    rows = db.rows("SELECT id, typeof(name), CAST(name AS BLOB) FROM embedders")
    return [id for id, type, name in rows if type != "text" or not is_text(name)]


def forget_embedder(db: Transaction, number: int) -> None:
    """Let it be enrolled anew, and make all its vectors again."""
    db.run(f"DROP TABLE vectors_{number:d}")
    db.run("DELETE FROM embedders WHERE id = ?", (number,))


TABLE = re.compile(r"\b(?:FROM|JOIN) (\w+)")
TABLES = """
    SELECT name FROM pragma_table_list
    WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%' ORDER BY name
"""
TABLE_COLUMNS = "SELECT name, type FROM pragma_table_info(?)"
CHUNKLESS = "WHERE rowid NOT IN (SELECT memory FROM chunks)"
"""Which rows of `memories` no search by meaning can find."""
KEYS: Mapping[str, str] = {"memories": "id"}
"""By table the column that names a row to people, where that is not its number."""


def look_at(db: Transaction, tables: Collection[str]) -> None:
    """Note which rows of these tables hold text that cannot be decoded."""
    for table in sorted(set(tables)):
        if table in DERIVED:
            db.damage.note(table, None, "some of its text is none")
        for key, column in undecodable(db, table):
            db.damage.note(table, key, f"its {column} is no text")


def undecodable(db: Transaction, table: str) -> Iterator[tuple[str, str]]:
    """Yield (key of a row, column) for every text that is no UTF-8."""
    columns = [name for name, type in db.rows(TABLE_COLUMNS, (table,)) if type == "TEXT"]
    if not columns:
        return
    read = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) WHEN 'blob' THEN x'ff' END"
        for name in columns
    )
    for named, *texts in db.rows(f"SELECT {_named(db, table)}, {read} FROM {table}"):
        for column, text in zip(columns, texts, strict=True):
            if text is not None and not is_text(text):
                yield bytes(named or b"?").decode(errors="replace"), column
                break


def _named(db: Transaction, table: str) -> str:
    """Return the expression for what names a row, as bytes."""
    keys = [KEYS[table]] if table in KEYS else key_of(db, table)
    key = " || ' ' || ".join(f"CAST({name} AS BLOB)" for name in keys)
    return f"CAST({key} AS BLOB)"


def key_of(db: Transaction, table: str) -> list[str]:
    """Return the columns of the primary key."""
    sql = "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk"
    return [name for (name,) in db.rows(sql, (table,))] or ["rowid"]


def damaged_rows(db: Transaction) -> Iterator[tuple[str, str, str]]:
    """Yield (table, key, problem) of every row that is not as it was written, or no text."""
    for (table,) in db.rows(TABLES):
        found = dict(undecodable(db, table))
        yield from ((table, key, f"its {column} is no text") for key, column in found.items())
        if table in SUMMED:
            wrong = f"sum IS NOT {sum_of(db, table)}"
            sql = f"SELECT {_named(db, table)} FROM {table} WHERE {wrong}"
            for (stored,) in db.rows(sql):
                told = bytes(stored or b"?").decode(errors="replace")
                if told not in found:
                    yield table, told, "it is not as it was written"


def sum_of(db: Transaction, table: str) -> str:
    """Return the expression for the sum that a row should have."""
    columns: dict[str, str] = dict(db.rows(TABLE_COLUMNS, (table,)))
    values = (
        f"CAST({name} AS BLOB)" if columns[name] == "TEXT" else name for name in SUMMED[table]
    )
    return f"kinmem_sum({', '.join(values)})"


def broken_history(db: Transaction) -> Iterator[tuple[str, str, str]]:
    """Yield (table, key, problem) where the chain of the history does not hold."""
    values = ", ".join(name if name == "write" else f"CAST({name} AS BLOB)" for name in LINE)
    rows = db.rows(f"SELECT seq, seal, {values} FROM history ORDER BY seq")
    erased = {last: link for last, link in db.rows("SELECT last, link FROM erased_lines")}
    for number, problem in broken_links(((row[0], row[1], row[2:]) for row in rows), erased):
        yield "history", str(number), problem


def unlike_memories(db: Transaction) -> Iterator[tuple[str, None, str]]:
    """Yield (table, None, problem) where words or vectors are not those of the memories."""
    memories = db.rows(f"SELECT m.rowid, {COLUMNS} FROM memories m ORDER BY m.rowid")
    expected = {row: indexed(memory) for (row,), memory in sound(memories, db.damage)}
    stored = {
        row: tuple(texts)
        for row, *texts in db.rows("SELECT id, c0, c1, c2 FROM words_content WHERE id > 0")
    }
    if any(stored.get(row) != texts for row, texts in expected.items()) or _unlike_parts(db):
        yield "words", None, "they are not those of the memories"
    if count := db.value(f"SELECT count(*) FROM memories {CHUNKLESS}"):
        yield "chunks", None, f"memories without a chunk: {count}"
    for number, name, dimension in db.rows("SELECT id, name, dimension FROM embedders"):
        if problem := _of_vectors(db, number, dimension):
            yield "vectors", None, f"of {name}: {problem}"
    said = settled(db)
    rows = db.rows("SELECT id, c0, c1 FROM turn_words_content")
    if any(said.get(id, (words, near)) != (words, near) for id, words, near in rows):
        yield "turn_words", None, "they are not those of the messages"


def _unlike_parts(db: Transaction) -> bool:
    """Return whether the words of a part of a document are not those of its text."""
    rows = db.rows(
        """
        SELECT w.c0, w.c1, coalesce(c.text, m.content), c.metadata
        FROM words_content w JOIN chunks c ON c.id = -w.id JOIN memories m ON m.rowid = c.memory
        WHERE w.id < 0
        """
    )
    return any(
        (text, heading) != (spread(said), spread(passage_of(metadata).heading))
        for text, heading, said, metadata in rows
    )


def _has_leftovers(db: Transaction, number: int, dimension: int) -> bool:
    """Return whether there is anything in slots for vectors that are not in use."""
    import numpy as np

    rows = db.rows(
        f"SELECT validity, vectors FROM vectors_{number:d}_chunks c"
        f" JOIN vectors_{number:d}_vector_chunks00 v ON v.rowid = c.chunk_id"
    )
    for validity, vectors in rows:
        used = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
        slots = np.frombuffer(vectors, np.uint8).reshape(-1, 4 * dimension)
        if slots[~used[: len(slots)]].any():
            return True
    return False


def _of_vectors(db: Transaction, number: int, dimension: int) -> str | None:
    """Return what is wrong with the vectors of an embedder: each must be of length 1."""
    sums = sums_of(db, number)
    done = set()
    for chunk, vector in db.rows(f"SELECT chunk, embedding FROM vectors_{number:d}"):
        done.add(chunk)
        if not is_vector(vector, dimension, sums.pop(chunk, None)):
            return f"that of chunk {chunk} is not as it was made"
    if sums:
        return "some that have a sum are missing"
    waiting = {id for (id,) in db.rows("SELECT chunk FROM pending WHERE embedder = ?", (number,))}
    if done | waiting != {id for (id,) in db.rows("SELECT id FROM chunks")} or done & waiting:
        return "they are not those of the chunks"
    return "some are where none should be" if _has_leftovers(db, number, dimension) else None


def sums_of(db: Transaction, number: int) -> dict[int, bytes]:
    """Return the sums of an embedder's vectors, by chunk; those made before there were any have
    none."""
    return dict(db.rows("SELECT chunk, sum FROM vector_sums WHERE embedder = ?", (number,)))


def is_vector(stored: object, dimension: int, sum: bytes | None) -> bool:
    """Return whether this is a vector, and the one that has this sum."""
    import numpy as np

    if not isinstance(stored, bytes) or len(stored) != 4 * dimension:
        return False
    length = float(np.linalg.norm(np.frombuffer(stored, np.float32).astype(np.float64)))
    return abs(length - 1) < FAR and sum in (None, row_sum(stored))


FAR = 1e-5
"""Of a vector's length from 1: what rounding never does."""


def is_text(stored: bytes) -> bool:
    try:
        stored.decode()
    except UnicodeDecodeError:
        return False
    return True
