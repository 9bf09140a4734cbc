"""What is searched of what was said: its words in an FTS5 table, and its vectors.

The vectors are rows, with copies of them in memory. A small file is scanned when
it is asked first. Past IN_MEMORY_FROM vectors, or when it is asked again and again, a VectorIndex
takes over, loaded in the background and kept up to date by the rows' numbers; where any were
deleted, those leave it.
"""

import json
import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinmem.errors import KinmemError
from kinmem.models import Vector
from kinmem.store.sql.damage import row_sum
from kinmem.store.sql.database import Transaction, embedder_of, state_of
from kinmem.store.sql.hybrid_search import Listing
from kinmem.store.sql.turn_queue import Entry, TurnQueue, TurnWords
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.memory_index import expression
from kinmem.store.sqlite.nearest_chunks import MOST_SCANS

if TYPE_CHECKING:
    from kinmem.store.vector_index import Ids, VectorIndex


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


ANY = """
    SELECT rowid AS number, -bm25(turn_words, 1.0, :context) AS better, 0 AS has_all
    FROM turn_words WHERE turn_words MATCH :words ORDER BY better DESC LIMIT :listed
    """
ALLOWED = """
    SELECT m.id AS number, -bm25(turn_words, 1.0, :context) AS better, 0 AS has_all
    FROM turn_words CROSS JOIN turns m ON m.id = turn_words.rowid
    WHERE turn_words MATCH :words AND {} ORDER BY better DESC LIMIT :listed
    """


class SaidWords(TurnWords):
    """The words of what was said, by the numbers of the messages."""

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        sql = ANY if listing.allowed is None else ALLOWED.format(listing.allowed)
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
