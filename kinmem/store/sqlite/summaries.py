"""Summaries of memories and of their chunks, in the file that holds the memory."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import apsw

from kinmem.clock import Clock
from kinmem.models import Memory
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import IS_LIVE, VISIBLE, View
from kinmem.store.sqlite.rows import time_text
from kinmem.store.summaries import SHORT, Summary
from kinmem.text import estimated_tokens

# A summary that is made of the memory as it is; those of a former text went with it (Book.change).
# Of each memory one tells about all of them.
CURRENT = """
    EXISTS (
        SELECT 1 FROM summaries s WHERE s.memory = m.rowid AND s.scope = 'memory'
        AND s.tier = m.tier
    )
"""


class Books(Protocol):
    """The files of a Kin, and what it sees in each."""

    kin: str

    def files(self) -> Sequence[tuple[Database, View]]: ...


class SqliteSummaries:
    """See Summaries."""

    def __init__(self, books: Books, clock: Clock) -> None:
        self._books = books
        self._clock = clock

    def of(self, ids: Collection[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for database, view in self._books.files() if ids else ():
            found |= database.rows(
                f"""
                SELECT m.id, s.text FROM memories m JOIN summaries s ON s.memory = m.rowid
                WHERE s.scope = 'memory' AND s.text <> '' AND {VISIBLE}
                    AND m.id IN (SELECT value FROM json_each(:ids))
                """,
                {**view, "ids": json.dumps(list(ids))},
            )
        return found

    def parts(self, id: str) -> list[Summary]:
        for database, view in self._books.files():
            rows = database.rows(
                f"""
                SELECT s.text, s.model, c.position FROM memories m
                JOIN summaries s ON s.memory = m.rowid AND s.scope = 'chunk'
                JOIN chunks c ON c.id = s.chunk
                WHERE m.id = :id AND {VISIBLE} ORDER BY c.position
                """,
                {**view, "id": id},
            )
            if rows:
                return [Summary(*row) for row in rows]
        return []

    def due(self, limit: int) -> list[str]:
        found: list[tuple[str, str]] = []
        for database, view in self._books.files():
            found += database.rows(
                f"""
                SELECT m.content_updated_at, m.id FROM memories m
                WHERE (length(m.content) > {SHORT} OR m.metadata LIKE '%"parts"%')
                    AND {IS_LIVE} AND m.kin = :kin AND {VISIBLE} AND NOT {CURRENT}
                ORDER BY m.content_updated_at, m.id LIMIT :limit
                """,
                {**view, "limit": limit},
            )
        return [id for _, id in sorted(found)[:limit]]

    def put(self, memory: Memory, summaries: Sequence[Summary]) -> bool:
        for database, view in self._books.files():
            mine = {"id": memory.id, "kin": view["kin"], "hash": memory.content_hash}
            which = "SELECT rowid FROM memories WHERE id = :id AND kin = :kin"
            if not database.rows(which, mine):
                continue
            with database.writing() as db:  # a model may have taken minutes: it may be edited
                row = db.execute(f"{which} AND content_hash = :hash", mine).get
                if row is None:
                    return False
                self._replace(db, row, memory.tier, summaries)
                return True
        return False

    def _replace(
        self, db: apsw.Connection, row: int, tier: str, summaries: Sequence[Summary]
    ) -> None:
        chunks: dict[int, int] = dict(
            db.execute("SELECT position, id FROM chunks WHERE memory = ?", (row,))
        )
        db.execute("DELETE FROM summaries WHERE memory = ?", (row,))
        now = time_text(self._clock())
        db.executemany(
            "INSERT INTO summaries (memory, chunk, scope, text, model, tokens, created_at, tier)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    row,
                    None if one.chunk is None else chunks[one.chunk],
                    "memory" if one.chunk is None else "chunk",
                    one.text,
                    one.model,
                    estimated_tokens(one.text),
                    now,
                    tier,
                )
                for one in summaries
                if one.chunk is None or one.chunk in chunks
            ],
        )


def copy(from_db: apsw.Connection, from_row: int, db: apsw.Connection, row: int) -> None:
    """Take over the summaries of a memory from another file, where it has another number."""
    rows: list[Any] = from_db.execute(
        """
        SELECT c.position, s.scope, s.text, s.model, s.tokens, s.created_at, s.tier
        FROM summaries s LEFT JOIN chunks c ON c.id = s.chunk WHERE s.memory = ?
        """,
        (from_row,),
    ).fetchall()
    db.executemany(
        "INSERT INTO summaries (memory, chunk, scope, text, model, tokens, created_at, tier)"
        " SELECT ?, (SELECT id FROM chunks WHERE memory = ? AND position = ?), ?, ?, ?, ?, ?, ?",
        [(row, row, *one) for one in rows],
    )
