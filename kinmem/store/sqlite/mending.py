"""Makes anew what is made from memories and messages: the word indexes and the vectors.

Each function runs inside the caller's transaction. It raises the driver's error if a table cannot
even be dropped; then only a new file helps.
"""

import json
import logging
import re
from contextlib import AbstractContextManager
from typing import Protocol

from kinmem.errors import StoreError
from kinmem.store.sql import document_rows
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import COLUMNS, IN_NUMBERS, indexed, sound, spread
from kinmem.store.sqlite.checks import is_text

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
