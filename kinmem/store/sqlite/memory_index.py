"""What is searched of the memories in one file: words of memories and of chunks of documents, in an
FTS5 table; vectors of chunks in vec0 tables, one per embedder."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kinmem.models import Memory, Passage, Vector, Vectors
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.damage import row_sum
from kinmem.store.sql.database import Database, Transaction, embedder_of
from kinmem.store.sql.hybrid_search import Listing, Sought, Term, all_of
from kinmem.store.sql.memory_rows import IS_LIVE, VISIBLE, View, indexed, spread
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.nearest_chunks import VectorCopies


def match(terms: Iterable[Term], join: str) -> str:
    """Return an FTS5 expression. Each term is quoted as a phrase of its tokens, so that nothing in
    it is read as query syntax."""
    return join.join(
        '"' + " ".join(term.tokens) + '"' + (" *" if term.begins else "") for term in terms
    )


def expression(sought: Sought) -> str:
    return match(sought.terms, " AND " if sought.needs_all else " OR ")


# Weights of the columns content, subject, context. bm25 as a function and not as the hidden column
# `rank`, which sorts all rows in a statement of its own: half as long again.
WORSE = "bm25(words, 1.0, 1.0, :context)"
ANY_ROW = f"""
    SELECT number, better, {{}} AS has_all FROM (
        SELECT rowid AS number, -{WORSE} AS better FROM words
        WHERE words MATCH :words AND rowid BETWEEN {{}}
        ORDER BY better DESC LIMIT {{}}
    )"""
ALLOWED_ROW = f"""
    SELECT number, better, {{}} AS has_all FROM (
        SELECT words.rowid AS number, -{WORSE} AS better
        FROM words CROSS JOIN memories m ON m.rowid = iif(
            words.rowid > 0, words.rowid, (SELECT memory FROM chunks WHERE id = -words.rowid)
        )
        WHERE words MATCH :words AND words.rowid BETWEEN {{}} AND ({{}})
        ORDER BY better DESC LIMIT {{}}
    )"""
LAST = 2**62
"""No row of `words` has a greater number."""
MEMORIES, PARTS = f"1 AND {LAST}", f"-{LAST} AND -1"
"""Row numbers of `words`: those of memories, those of the chunks of documents."""
HAS_ALL = "number IN (SELECT rowid FROM words WHERE words MATCH :all_words)"

SECURE = "INSERT INTO words (words, rank) VALUES ('secure-delete', ?)"
FEW = 50
"""Chunks that are taken out of the index one by one, 2.6 ms each. More are marked as deleted, and
the index is written anew: 0.2 s for 1,600 chunks, and 0.1 s where there are 100,000 memories."""

HOLDING = f"""
    SELECT m.id FROM words CROSS JOIN memories m ON m.rowid = words.rowid
    WHERE words MATCH 'content : (' || :words || ')' AND {VISIBLE} AND {IS_LIVE}
    ORDER BY words.rowid LIMIT :most
"""


class WordIndex:
    """See Words. A memory's row has its number; that of a chunk has the chunk's number below
    zero."""

    def put(self, db: Transaction, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, ?)",
            [(row, *indexed(memory)) for row, memory in zip(rows, memories, strict=True)],
        )

    def replace(self, db: Transaction, row: int, memory: Memory) -> None:
        self.remove(db, row)
        self.put(db, [row], [memory])

    def remove(self, db: Transaction, row: int) -> None:
        db.run("DELETE FROM words WHERE rowid = ?", (row,))

    def put_parts(self, db: Transaction, chunks: Iterable[tuple[int, str, Passage]]) -> None:
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, '')",
            [
                (-id, spread(text), spread(place.heading))
                for id, text, place in chunks
                if not place.held
            ],
        )

    def remove_parts(self, db: Transaction, chunks: Sequence[int]) -> None:
        rows = [(-chunk,) for chunk in chunks]
        if len(rows) > FEW:
            db.run(SECURE, (False,))
        db.run_each("DELETE FROM words WHERE rowid = ?", rows)
        if len(rows) > FEW:
            db.run(SECURE, (True,))
            # Otherwise they would stay, marked as deleted.
            db.run("INSERT INTO words (words) VALUES ('optimize')")

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        terms = listing.sought.terms
        has_all = HAS_ALL if len(terms) > 1 else "1"
        spans = [(MEMORIES, listing.limit)]
        if listing.parts:
            spans.append((PARTS, listing.parts))
        rows = [
            ANY_ROW.format(has_all, span, limit)
            if listing.allowed is None
            else ALLOWED_ROW.format(has_all, span, listing.allowed, limit)
            for span, limit in spans
        ]
        return " UNION ALL ".join(rows), {
            "words": expression(listing.sought),
            "all_words": match(terms, " AND "),
            "context": listing.context,
        }

    def holding(self, database: Database, word: str, view: View, most: int) -> list[str]:
        words = expression(all_of([word]))
        if not words:
            return []
        rows = database.rows(HOLDING, {"words": words, "most": most, **view})
        return [id for (id,) in rows]


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
        db.run_each(
            "INSERT OR REPLACE INTO vector_sums (chunk, embedder, sum) VALUES (?, ?, ?)",
            [(chunk, number, row_sum(one)) for chunk, one in zip(chunks, vectors, strict=True)],
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
        db.run_each("DELETE FROM vector_sums WHERE chunk = ?", [(chunk,) for chunk in chunks])

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
