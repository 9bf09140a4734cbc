"""What is searched in one file: the words of memories, of chunks of documents and of what was said,
in FTS5 tables; and their vectors.

Vectors of chunks are in vec0 tables, one per embedder. Those of what was said are rows, with copies
of them in memory. A small file is scanned when it is asked first. Past IN_MEMORY_FROM vectors, or
when it is asked again and again, a VectorIndex takes over, loaded in the background and kept up to
date by the rows' numbers; where any were deleted, those leave it.
"""

import json
import logging
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinmem.errors import KinmemError
from kinmem.models import Memory, Passage, Vector, Vectors
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.damage import row_sum
from kinmem.store.sql.database import Database, Transaction, embedder_of, state_of
from kinmem.store.sql.hybrid_search import Listing, Sought, Term, all_of
from kinmem.store.sql.memory_rows import IS_LIVE, VISIBLE, View, indexed, spread
from kinmem.store.sql.turn_queue import Entry, TurnQueue, TurnWords
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.nearest_chunks import MOST_SCANS, VectorCopies

if TYPE_CHECKING:
    from kinmem.store.vector_index import Ids, VectorIndex


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


logger = logging.getLogger(__name__)
IN_MEMORY_FROM = 1000
LOADED_AT_ONCE = 5000


@dataclass
class _Copy:
    index: "VectorIndex"
    lost: int
    """Deletions that it has followed; all that came after loading began are to be looked for."""
    last: int = 0
    """Number of the last row in it."""
    loaded: bool = False


class TurnVectors(TurnQueue):
    """Stores and searches the vectors of parts of messages."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(database)
        self._copies: dict[int, _Copy] = {}
        self._lock = threading.Lock()
        self._closing = False
        self._scans = 0

    def store(self, db: Transaction, number: int, chunk: int, vector: Vector) -> None:
        stored = vector.tobytes()
        db.run(
            "INSERT INTO turn_vectors (embedder, chunk, embedding, sum) VALUES (?, ?, ?, ?)",
            (number, chunk, stored, row_sum(number, chunk, stored)),
        )

    def texts(self, embedder: str, turns: Collection[int]) -> list[tuple[int, str, Vector]]:
        import numpy as np

        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            """
            SELECT c.turn, coalesce(c.text, t.text), v.embedding
            FROM turn_chunks c JOIN turns t ON t.id = c.turn
            JOIN turn_vectors v ON v.chunk = c.id AND v.embedder = ?
            WHERE c.turn IN NUMBERED(?)
            """,
            (known[0], json.dumps(list(turns))),
        )
        return [(turn, text, np.frombuffer(vector, np.float32)) for turn, text, vector in rows]

    # searching

    def nearest_parts(
        self,
        known: tuple[int, int],
        vector: Vector,
        limit: int,
        allowed: str | None,
        bound: Mapping[str, Any],
    ) -> list[int]:
        copy = self._fresh_copy(*known)
        if copy is None:
            return self._scanned(known[0], vector, limit, allowed, bound)
        rows = None if allowed is None else self._rows(allowed, bound)
        _, turns, _ = copy.index.search(vector, limit, allowed=rows)
        nearest: list[int] = turns.tolist()
        return nearest

    def part_cosines(
        self, known: tuple[int, int], vector: Vector, turns: Collection[int]
    ) -> list[tuple[int, float]]:
        copy = self._fresh_copy(*known)
        if copy is not None:
            import numpy as np

            chunks, owners, near = copy.index.cosines(vector, np.array(sorted(turns), np.int64))
            order = np.argsort(chunks, kind="stable").tolist()
            return [(int(owners[at]), float(near[at])) for at in order]
        return self._database.rows(
            """
            SELECT c.turn, 1 - vec_distance_cosine(v.embedding, :vector)
            FROM json_each(:turns) CROSS JOIN turn_chunks c ON c.turn = value
            CROSS JOIN turn_vectors v ON v.chunk = c.id AND v.embedder = :embedder
            ORDER BY c.turn, c.position
            """,
            {"vector": vector.tobytes(), "turns": json.dumps(list(turns)), "embedder": known[0]},
        )

    def close(self) -> None:
        """Let a copy that is loading stop."""
        self._closing = True

    def _scanned(
        self, number: int, vector: Vector, limit: int, allowed: str | None, bound: Mapping[str, Any]
    ) -> list[int]:
        self._scans += 1
        join = "" if allowed is None else f"JOIN turns m ON m.id = c.turn AND {allowed}"
        rows = self._database.rows(
            f"""
            SELECT c.turn FROM turn_vectors v JOIN turn_chunks c ON c.id = v.chunk {join}
            WHERE v.embedder = :embedder
            ORDER BY vec_distance_cosine(v.embedding, :vector), c.id LIMIT :limit
            """,
            {**bound, "embedder": number, "vector": vector.tobytes(), "limit": limit},
        )
        return [turn for (turn,) in rows]

    def _rows(self, allowed: str, bound: Mapping[str, Any]) -> "Ids":
        import numpy as np

        rows = self._database.rows(f"SELECT m.id FROM turns m WHERE {allowed} ORDER BY m.id", bound)
        return np.fromiter((row[0] for row in rows), np.int64, len(rows))

    # the copy in memory

    def _fresh_copy(self, number: int, dimension: int) -> _Copy | None:
        """Return the up-to-date copy; None while the file is small or the copy is loading."""
        state = state_of(self._database)
        last, lost = state.last_turn_vector, state.turn_vectors_lost
        if not last or (last < IN_MEMORY_FROM and self._scans <= MOST_SCANS):
            return None
        with self._lock:
            copy = self._copies.get(number)
            if copy is None:
                from kinmem.store.vector_index import VectorIndex

                copy = self._copies[number] = _Copy(VectorIndex(dimension), lost)
                threading.Thread(
                    target=self._load, args=(number, copy), name="kinmem-turns", daemon=True
                ).start()
            if not copy.loaded:
                return None
            if copy.lost != lost:
                copy.index.keep(self._chunks(number))
                copy.lost = lost
            if copy.last < last:
                self._catch_up(number, copy)
        return copy

    def _chunks(self, number: int) -> "Ids":
        import numpy as np

        rows = self._database.rows("SELECT chunk FROM turn_vectors WHERE embedder = ?", (number,))
        return np.fromiter((row[0] for row in rows), np.int64, len(rows))

    def _load(self, number: int, copy: _Copy) -> None:
        try:
            while not self._closing and self._catch_up(number, copy):
                pass
            copy.loaded = not self._closing
        except KinmemError:
            if not self._closing:
                logger.warning("vectors of turns could not be loaded", exc_info=True)

    def _catch_up(self, number: int, copy: _Copy) -> bool:
        """Add a block of vectors that the copy lacks; returns whether there were any."""
        import numpy as np

        rows = self._database.rows(
            """
            SELECT v.id, v.chunk, c.turn, v.embedding
            FROM turn_vectors v CROSS JOIN turn_chunks c ON c.id = v.chunk
            WHERE v.id > ? AND v.embedder = ? ORDER BY v.id LIMIT ?
            """,
            (copy.last, number, LOADED_AT_ONCE),
        )
        if rows:
            ids = np.array([row[:3] for row in rows], np.int64)
            vectors = np.frombuffer(b"".join(row[3] for row in rows), np.float32)
            copy.index.put(ids[:, 1], ids[:, 2], vectors.reshape(len(rows), -1))
            copy.last = rows[-1][0]
        return bool(rows)


ANY_SAID = """
    SELECT rowid AS number, -bm25(turn_words, 1.0, :context) AS better, 0 AS has_all
    FROM turn_words WHERE turn_words MATCH :words ORDER BY better DESC LIMIT :listed
    """
ALLOWED_SAID = """
    SELECT m.id AS number, -bm25(turn_words, 1.0, :context) AS better, 0 AS has_all
    FROM turn_words CROSS JOIN turns m ON m.id = turn_words.rowid
    WHERE turn_words MATCH :words AND {} ORDER BY better DESC LIMIT :listed
    """


class SaidWords(TurnWords):
    """The words of what was said, by the numbers of the messages."""

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        sql = ANY_SAID if listing.allowed is None else ALLOWED_SAID.format(listing.allowed)
        return sql, {
            "words": expression(listing.sought),
            "context": listing.context,
            "listed": listing.limit,
        }

    def remove(self, db: Transaction, turn: int) -> None:
        db.run("DELETE FROM turn_words WHERE rowid = ?", (turn,))

    def put(self, db: Transaction, entry: Entry) -> None:
        db.run(
            "INSERT INTO turn_words (rowid, content, context, evidence, doubtful)"
            " VALUES (?, ?, ?, ?, ?)",
            (entry.message.id, entry.content, entry.context, entry.evidence, entry.doubtful),
        )
