"""The vectors of one file's chunks: vec0 tables, one per embedder."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from kinmem.models import Vector, Vectors
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.database import Transaction, embedder_of
from kinmem.store.sql.memory_rows import VISIBLE, View
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.nearest_chunks import VectorCopies

# vec0 reserves space block by block: with its default of 1024 an empty file of 384 dimensions takes
# 1.5 MB. It does not reuse blocks that deletions leave half empty; housekeeping fills them.
VEC0_CHUNK = 128


class ChunkVectors(ChunkQueue):
    """Stores the vectors of one file's chunks."""

    def __init__(self, database: SqliteDatabase, copies: VectorCopies) -> None:
        super().__init__(database)
        self._copies = copies

    def make_room(self, db: Transaction, number: int, dimension: int) -> None:
        db.run(
            f"CREATE VIRTUAL TABLE vectors_{number:d} USING vec0 (chunk INTEGER PRIMARY"
            f" KEY, embedding float[{dimension:d}] distance_metric=cosine,"
            f" chunk_size={VEC0_CHUNK})"
        )

    def drop_all(self, db: Transaction, number: int) -> None:
        db.run(f"DROP TABLE vectors_{number:d}")
        self._copies.forget(number)

    def as_stored(self, vectors: Vectors) -> list[Any]:
        return [vector.tobytes() for vector in vectors]

    def store(
        self, db: Transaction, number: int, chunks: Sequence[int], vectors: Sequence[Any]
    ) -> None:
        db.run_each(
            f"INSERT INTO vectors_{number:d} (chunk, embedding) VALUES (?, ?)",
            list(zip(chunks, vectors, strict=True)),
        )

    def stored(
        self, db: Transaction, number: int, row: int, positions: Collection[int]
    ) -> list[tuple[int, Any]]:
        return db.rows(
            f"""
            SELECT c.position, v.embedding
            FROM chunks c CROSS JOIN vectors_{number:d} v ON v.chunk = c.id
            WHERE c.memory = ? AND c.position IN NUMBERED(?)
            """,
            (row, json.dumps(list(positions))),
        )

    def remove_stored(self, db: Transaction, chunks: Sequence[int]) -> None:
        for (number,) in db.rows("SELECT id FROM embedders"):
            db.run_each(
                f"DELETE FROM vectors_{number:d} WHERE chunk = ?", [(chunk,) for chunk in chunks]
            )

    def first(self, embedder: str, ids: Collection[str], view: View) -> list[tuple[str, Vector]]:
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            f"""
            SELECT m.id, v.embedding
            FROM memories m JOIN chunks c ON c.memory = m.rowid AND c.position = 0
            JOIN vectors_{known[0]} v ON v.chunk = c.id
            WHERE m.id IN LISTED(:ids) AND {VISIBLE}
            """,
            {"ids": json.dumps(list(ids)), **view},
        )
        return [(id, _vector_of(vector)) for id, vector in rows]

    def texts(self, embedder: str, ids: Collection[str]) -> list[tuple[str, str, Vector]]:
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            f"""
            SELECT m.id, coalesce(c.text, m.content), v.embedding
            FROM memories m JOIN chunks c ON c.memory = m.rowid
            JOIN vectors_{known[0]} v ON v.chunk = c.id
            WHERE m.id IN LISTED(?)
            """,
            (json.dumps(list(ids)),),
        )
        return [(id, text, _vector_of(vector)) for id, text, vector in rows]


def _vector_of(stored: bytes) -> Vector:
    import numpy as np

    return np.frombuffer(stored, np.float32)
