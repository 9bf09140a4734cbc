"""The vectors of one file: vec0 tables, one per embedder, and copies of them in memory.

vec0 scans exactly, about 1 ms per 1,000 vectors of 384. In a small file it answers alone; past
IN_MEMORY_FROM chunks a VectorIndex takes over, loaded in the background and then kept fresh by
vector_log. The index is a cache: what it says about a memory is checked when the row is read.
"""

import json
import logging
import threading
from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import apsw

from kinmem.errors import KinmemError, StoreError
from kinmem.models import Coverage, Vector, Vectors
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import IS_LIVE, VISIBLE, Allowed, View

if TYPE_CHECKING:
    from kinmem.store.vector_index import Ids, VectorIndex

# numpy is loaded where vectors are touched: a hook that asks by words does without, 60 ms sooner.

logger = logging.getLogger(__name__)

IN_MEMORY_FROM = 2000
LOADED_AT_ONCE = 5000
MANY = 16  # scans of a small file cost as much as reading its vectors once
# vec0 reserves space chunk by chunk: at its default of 1024 an empty file of 384 dimensions takes
# 1.5 MB, and what churn leaves half empty is never reused (performance, section 2).
VEC0_CHUNK = 128
MOST_NEAREST = 4096  # vec0's own limit for k
MOST_EXPECTED = 8  # chunks of a memory that are asked for at once; a document may have thousands
LOG_KEPT = 200_000


Near = list[tuple[int, float, int]]
"""(row of a memory, cosine of one of its chunks, that chunk), nearest first."""
_Search = Callable[[Sequence[Vector], int], list[Near]]


@dataclass
class _Copy:
    index: "VectorIndex"
    seq: int
    """Entry of vector_log up to which the index is right."""
    loaded: bool = False


class ChunkVectors:
    """Stores and searches the vectors of one file's chunks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._copies: dict[int, _Copy] = {}
        self._lock = threading.Lock()
        self._closing = False

    # embedders

    def enroll(self, embedder: str, dimension: int) -> None:
        """See Store.enroll."""
        known = self._find(embedder)
        if known is None:
            with self._database.writing() as db:
                db.execute(
                    "INSERT OR IGNORE INTO embedders (name, dimension) VALUES (?, ?)",
                    (embedder, dimension),
                )
                number = db.execute("SELECT id FROM embedders WHERE name = ?", (embedder,)).get
                if not _has_table(db, number):
                    db.execute(
                        f"CREATE VIRTUAL TABLE vectors_{number} USING vec0 (chunk INTEGER PRIMARY"
                        f" KEY, embedding float[{dimension:d}] distance_metric=cosine,"
                        f" chunk_size={VEC0_CHUNK})"
                    )
                    db.execute("INSERT INTO pending SELECT ?, id FROM chunks", (number,))
            known = self._find(embedder)
        if known is None or known[1] != dimension:
            raise StoreError(
                f"{embedder} once gave vectors of another width than {dimension};"
                " run kinmem reembed --drop with its name, then reembed"
            )

    def retire(self, embedder: str) -> None:
        """See Store.retire."""
        with self._database.writing() as db:
            number = db.execute("SELECT id FROM embedders WHERE name = ?", (embedder,)).get
            if number is not None:
                db.execute(f"DROP TABLE vectors_{number:d}")
                db.execute("DELETE FROM embedders WHERE id = ?", (number,))
                db.execute("UPDATE revision SET number = number + 1")
        with self._lock:
            self._copies.pop(number or 0, None)

    def coverage(self) -> list[Coverage]:
        """One entry per enrolled embedder."""
        rows = self._database.rows(
            """
            SELECT name, dimension, (SELECT count(*) FROM chunks),
                (SELECT count(*) FROM pending WHERE pending.embedder = embedders.id),
                (SELECT count(c.metadata) FROM pending JOIN chunks c ON c.id = chunk
                    WHERE pending.embedder = embedders.id)
            FROM embedders
            """
        )
        return [
            Coverage(name, width, total - waiting, total, of_documents)
            for name, width, total, waiting, of_documents in rows
        ]

    def is_filled(self, embedder: str) -> bool:
        """See Store.is_filled."""
        known = self._find(embedder)
        if known is None:
            return not self._database.rows("SELECT 1 FROM chunks LIMIT 1")
        return not self._database.rows(
            "SELECT 1 FROM pending WHERE embedder = ? LIMIT 1", known[:1]
        )

    def pending(self, embedder: str, limit: int) -> list[tuple[int, str, str, bool]]:
        """(chunk, id of its memory, text, whether that is fresh), oldest first."""
        known = self._find(embedder)
        if known is None:
            return []
        return self._database.rows(
            """
            SELECT c.id, m.id, coalesce(c.text, m.content),
                m.status = 'pending' AND c.metadata IS NULL
            FROM pending p JOIN chunks c ON c.id = p.chunk JOIN memories m ON m.rowid = c.memory
            WHERE p.embedder = :embedder
            ORDER BY c.metadata IS NOT NULL, p.chunk -- a document may keep others waiting for long
            LIMIT :limit
            """,
            {"embedder": known[0], "limit": limit},
        )

    def unsettled(self, embedder: str, kin: str, limit: int) -> list[tuple[int, str, str]]:
        """(chunk, id of its memory, text) of the Kin's fresh memories, where there is a vector."""
        known = self._find(embedder)
        if known is None:
            return []
        return self._database.rows(
            """
            SELECT c.id, m.id, coalesce(c.text, m.content)
            FROM memories m JOIN chunks c ON c.memory = m.rowid
            WHERE m.status = 'pending' AND m.kin = :kin AND c.metadata IS NULL AND NOT EXISTS (
                SELECT 1 FROM pending p WHERE p.embedder = :embedder AND p.chunk = c.id
            )
            ORDER BY c.id
            LIMIT :limit
            """,
            {"embedder": known[0], "kin": kin, "limit": limit},
        )

    # writing, inside a transaction of the caller's

    def queue(self, db: apsw.Connection, chunks: Sequence[int]) -> None:
        """Let new chunks, numbered in a row, wait for every embedder; put takes them off again."""
        if chunks:
            db.execute(
                "INSERT INTO pending SELECT e.id, c.id FROM embedders e CROSS JOIN chunks c"
                " WHERE c.id BETWEEN ? AND ?",
                (chunks[0], chunks[-1]),
            )

    def put(
        self, db: apsw.Connection, embedder: str, chunks: Sequence[int], vectors: Vectors
    ) -> None:
        """Store one vector per chunk; a chunk must not have one of this embedder yet."""
        known = self._find(embedder)
        if known is None:
            raise StoreError(f"{embedder} is not enrolled")
        if vectors.shape[1] != known[1]:
            raise StoreError(f"{embedder} made vectors of {vectors.shape[1]} instead of {known[1]}")
        db.executemany(
            f"INSERT INTO vectors_{known[0]} (chunk, embedding) VALUES (?, ?)",
            [(chunk, vector.tobytes()) for chunk, vector in zip(chunks, vectors, strict=True)],
        )
        db.executemany(
            "DELETE FROM pending WHERE embedder = ? AND chunk = ?",
            [(known[0], chunk) for chunk in chunks],
        )
        log(db, chunks)

    def unfilled(self, db: apsw.Connection, embedder: str, chunks: Sequence[int]) -> set[int]:
        """Which of these chunks exist and still wait for this embedder."""
        known = self._find(embedder)
        if known is None:
            return set()
        rows = db.execute(
            "SELECT chunk FROM pending WHERE embedder = ?"
            " AND chunk IN (SELECT value FROM json_each(?))",
            (known[0], json.dumps(list(chunks))),
        )
        return {chunk for (chunk,) in rows}

    def remove(self, db: apsw.Connection, chunks: Sequence[int]) -> None:
        """Delete these chunks' vectors of every embedder."""
        for (number,) in db.execute("SELECT id FROM embedders").fetchall():
            db.executemany(
                f"DELETE FROM vectors_{number:d} WHERE chunk = ?", [(chunk,) for chunk in chunks]
            )
        log(db, chunks)

    def take_over(
        self,
        db: apsw.Connection,
        chunk: int,
        source: "ChunkVectors",
        from_db: apsw.Connection,
        old_chunk: int,
    ) -> None:
        """Copy the vectors of another file's chunk, of the embedders that are enrolled here."""
        rows: list[Any] = from_db.execute("SELECT id, name FROM embedders").fetchall()
        for number, name in rows:
            vector = from_db.execute(
                f"SELECT embedding FROM vectors_{number:d} WHERE chunk = ?", (old_chunk,)
            ).get
            if vector is not None and self._find(name):
                self.put(db, name, [chunk], _vector_of(vector).reshape(1, -1))

    # searching

    def nearest(
        self,
        vector: Vector,
        embedder: str,
        limit: int,
        allowed: Allowed,
    ) -> list[tuple[int, float]]:
        """(row of the memory, cosine of its best chunk), nearest first, `limit` at most."""
        return self.nearest_each([vector], embedder, limit, allowed)[0]

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[list[tuple[int, float]]]:
        """As `nearest`, for each of the vectors."""
        found = self.nearest_parts(vectors, embedder, limit, allowed)
        return [[(memory, cosine) for memory, cosine, _ in _best(one)[:limit]] for one in found]

    def nearest_parts(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[Near]:
        """The nearest chunks, of `limit` memories if there are so many, for each of the vectors."""
        known = self._find(embedder)
        if known is None or not vectors:
            return [[] for _ in vectors]
        near = self._chunk_search(*known, allowed, len(vectors))
        # A long memory takes several places among the nearest chunks: more until there are enough.
        chunks = min(limit * min(self._chunks_per_memory(), MOST_EXPECTED), MOST_NEAREST)
        found = near(vectors, chunks)
        while chunks < MOST_NEAREST:
            short = [
                at
                for at, one in enumerate(found)
                if len(one) >= chunks and len({memory for memory, _, _ in one}) < limit
            ]
            if not short:
                break
            chunks = min(4 * chunks, MOST_NEAREST)
            for at, more in zip(short, near([vectors[at] for at in short], chunks), strict=True):
                found[at] = more
        for at, one in enumerate(found):
            if len(one) >= MOST_NEAREST:
                found[at] = one + self._beside(one, vectors[at], *known, limit, allowed)
        return found

    def _beside(
        self, near: Near, vector: Vector, number: int, dimension: int, limit: int, allowed: Allowed
    ) -> Near:
        """What is near besides memories so long that nothing else had a place."""
        long = {memory for memory, _, _ in near}
        if len(long) >= limit:
            return []
        condition = f"{allowed.condition} AND m.rowid NOT IN (SELECT value FROM json_each(:long))"
        bound = {**allowed.bound, "long": json.dumps(list(long))}
        others = replace(allowed, condition=condition, bound=bound, plain=False)
        return self._chunk_search(number, dimension, others)([vector], 4 * limit)[0]

    def cosines(self, vector: Vector, embedder: str, rows: Set[int]) -> dict[int, list[float]]:
        """Per memory row the cosines of its chunks, in the order of the text."""
        known = self._find(embedder)
        if known is None or not rows:
            return {}
        result: dict[int, list[float]] = {}
        copy = self._fresh_copy(*known)
        if copy is not None:
            import numpy as np

            chunks, memories, cosines = copy.index.cosines(vector, np.array(sorted(rows), np.int64))
            for at in np.argsort(chunks, kind="stable").tolist():
                result.setdefault(int(memories[at]), []).append(float(cosines[at]))
            rows = rows - result.keys()  # those that are not live
            if not rows:
                return result
        found = self._database.rows(
            f"""
            SELECT c.memory, 1 - vec_distance_cosine(v.embedding, :vector)
            FROM chunks c JOIN vectors_{known[0]} v ON v.chunk = c.id
            WHERE c.memory IN (SELECT value FROM json_each(:rows))
            ORDER BY c.memory, c.position
            """,
            {"vector": vector.tobytes(), "rows": json.dumps(list(rows))},
        )
        for memory, cosine in found:
            result.setdefault(memory, []).append(cosine)
        return result

    def cosines_of(
        self, vector: Vector, embedder: str, chunks: Collection[int]
    ) -> dict[int, float]:
        """By chunk, of those that have a vector."""
        known = self._find(embedder)
        if known is None or not chunks:
            return {}
        return dict(
            self._database.rows(
                f"""
                SELECT chunk, 1 - vec_distance_cosine(embedding, :vector) FROM vectors_{known[0]}
                WHERE chunk IN (SELECT value FROM json_each(:chunks))
                """,
                {"vector": vector.tobytes(), "chunks": json.dumps(list(chunks))},
            )
        )

    def first(self, embedder: str, ids: Collection[str], view: View) -> list[tuple[str, Vector]]:
        """(id of the memory, vector of its first chunk) where there is one that can be seen."""
        known = self._find(embedder)
        if known is None:
            return []
        rows = self._database.rows(
            f"""
            SELECT m.id, v.embedding
            FROM memories m JOIN chunks c ON c.memory = m.rowid AND c.position = 0
            JOIN vectors_{known[0]} v ON v.chunk = c.id
            WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}
            """,
            {"ids": json.dumps(list(ids)), **view},
        )
        return [(id, _vector_of(vector)) for id, vector in rows]

    def changed_since(self, mark: int, limit: int) -> list[tuple[int, str]]:
        """See Store.changed_since. A mark beyond the log is of another file than this one."""
        return self._database.rows(
            """
            SELECT l.seq, m.id
            FROM vector_log l JOIN chunks c ON c.id = l.chunk JOIN memories m ON m.rowid = c.memory
            WHERE l.seq > iif(:mark > (SELECT max(seq) FROM vector_log), 0, :mark)
            ORDER BY l.seq
            LIMIT :limit
            """,
            {"mark": mark, "limit": limit},
        )

    def close(self) -> None:
        """Let a copy that is loading stop."""
        self._closing = True

    def _chunks_per_memory(self) -> int:
        """On average, rounded up; by the greatest numbers given out, which takes no counting."""
        [(chunks, memories)] = self._database.rows(
            "SELECT (SELECT max(id) FROM chunks), (SELECT max(rowid) FROM memories)"
        )
        return -(-(chunks or 1) // (memories or 1))

    def _chunk_search(
        self, number: int, dimension: int, allowed: Allowed, count: int = 1
    ) -> _Search:
        """Finds so many chunks near each of `count` vectors, in memory if it can."""
        index = self._index(number, dimension, count) if allowed.live else None
        if index is None:
            return lambda vectors, limit: [
                self._scan(number, vector, limit, allowed) for vector in vectors
            ]
        import numpy as np

        rows = None if allowed.plain else self._rowids(allowed)
        return lambda vectors, limit: [
            list(zip(memories.tolist(), cosines.tolist(), chunks.tolist(), strict=True))
            for chunks, memories, cosines in index.search_each(
                np.stack(vectors), limit, allowed=rows
            )
        ]

    def _scan(self, number: int, vector: Vector, limit: int, allowed: Allowed) -> Near:
        rows = self._database.rows(
            f"""
            WITH near AS (
                SELECT chunk, distance FROM vectors_{number}
                WHERE embedding MATCH :vector AND k = :limit AND chunk IN (
                    SELECT c.id FROM chunks c JOIN memories m ON m.rowid = c.memory
                    WHERE {allowed.condition}
                )
            )
            SELECT c.memory, 1 - near.distance, c.id
            FROM near JOIN chunks c ON c.id = near.chunk
            ORDER BY near.distance, c.id
            """,
            {**allowed.bound, "vector": vector.tobytes(), "limit": limit},
        )
        return rows

    def _rowids(self, allowed: Allowed) -> "Ids":
        import numpy as np

        rows = self._database.rows(
            f"SELECT m.rowid FROM memories m WHERE {allowed.condition} ORDER BY m.rowid",
            allowed.bound,
        )
        return np.fromiter((row[0] for row in rows), np.int64, len(rows))

    def _find(self, embedder: str) -> tuple[int, int] | None:
        """Number and dimension of an enrolled embedder."""
        rows = self._database.rows(
            "SELECT id, dimension FROM embedders WHERE name = ?", (embedder,)
        )
        return (rows[0][0], rows[0][1]) if rows else None

    # the copy in memory

    def _fresh_copy(self, number: int, dimension: int) -> _Copy | None:
        """The copy, brought up to date; None while the file is small or the copy is loading."""
        copy = self._copies.get(number)
        if copy is None:
            most = self._database.rows("SELECT max(id) FROM chunks")[0][0] or 0
            if most >= IN_MEMORY_FROM:
                self._start_loading(number, dimension)
            return None
        if not copy.loaded:
            return None
        (first, last) = self._database.rows(  # asked at once, they would read the whole log
            "SELECT (SELECT min(seq) FROM vector_log), (SELECT max(seq) FROM vector_log)"
        )[0]
        if last is not None and last > copy.seq:
            if first > copy.seq + 1:
                with self._lock:
                    self._copies.pop(number, None)
                return None
            with self._lock:
                self._catch_up(number, copy)
        return copy

    def _index(self, number: int, dimension: int, count: int) -> "VectorIndex | None":
        """The live vectors in memory: the copy, or in a small file, for so many searches at once
        that it pays, an index for them alone."""
        copy = self._fresh_copy(number, dimension)
        if copy is not None:
            return copy.index
        most = self._database.rows("SELECT max(id) FROM chunks")[0][0] or 0
        if count < MANY or most >= IN_MEMORY_FROM:
            return None
        index = _new_index(dimension)
        _put(index, self._live_vectors(number, self._live_chunks()))
        return index

    def _start_loading(self, number: int, dimension: int) -> None:
        with self._lock:
            if number in self._copies:
                return
            copy = self._copies[number] = _Copy(_new_index(dimension), 0)
        threading.Thread(
            target=self._load, args=(number, copy), name="kinmem-vectors", daemon=True
        ).start()

    def _load(self, number: int, copy: _Copy) -> None:
        """Read all live vectors in blocks, those of the hot tier first.

        What changes meanwhile is in the log after `seq`.
        """
        try:
            copy.seq = self._database.rows("SELECT max(seq) FROM vector_log")[0][0] or 0
            chunks = self._live_chunks()
            for start in range(0, len(chunks), LOADED_AT_ONCE):
                if self._closing:
                    return
                block = chunks[start : start + LOADED_AT_ONCE]
                _put(copy.index, self._live_vectors(number, block))
            copy.loaded = True
        except KinmemError:
            if not self._closing:
                logger.warning(
                    "vectors could not be loaded; the exact scan goes on answering", exc_info=True
                )

    def _catch_up(self, number: int, copy: _Copy) -> None:
        rows = self._database.rows(
            "SELECT seq, chunk FROM vector_log WHERE seq > ? ORDER BY seq", (copy.seq,)
        )
        if not rows:
            return
        changed = {chunk for _, chunk in rows}
        live = self._live_vectors(number, changed)
        copy.index.drop(changed - {row[0] for row in live})
        _put(copy.index, live)
        copy.seq = rows[-1][0]

    def _live_chunks(self) -> list[int]:
        """Those of the hot tier first."""
        rows = self._database.rows(
            f"SELECT c.id FROM chunks c JOIN memories m ON m.rowid = c.memory AND {IS_LIVE}"
            " ORDER BY c.layer <> 'hot', c.id"
        )
        return [id for (id,) in rows]

    def _live_vectors(self, number: int, chunks: Collection[int]) -> list[tuple[int, int, bytes]]:
        return self._database.rows(
            f"""
            SELECT c.id, c.memory, v.embedding
            FROM chunks c CROSS JOIN memories m ON m.rowid = c.memory AND {IS_LIVE}
            CROSS JOIN vectors_{number} v ON v.chunk = c.id
            WHERE c.id IN (SELECT value FROM json_each(?))
            """,
            (json.dumps(list(chunks)),),
        )


def log(db: apsw.Connection, chunks: Collection[int]) -> None:
    """Note that these chunks' vectors, or whether they are live, have changed."""
    db.executemany("INSERT INTO vector_log (chunk) VALUES (?)", [(chunk,) for chunk in chunks])
    db.execute(
        "DELETE FROM vector_log WHERE seq <= (SELECT max(seq) FROM vector_log) - ?", (LOG_KEPT,)
    )


def _best(near: Near) -> Near:
    """The first of each memory."""
    best: dict[int, tuple[int, float, int]] = {}
    for one in near:
        best.setdefault(one[0], one)
    return list(best.values())


def _vector_of(stored: bytes) -> Vector:
    import numpy as np

    return np.frombuffer(stored, np.float32)


def _new_index(dimension: int) -> "VectorIndex":
    from kinmem.store.vector_index import VectorIndex

    return VectorIndex(dimension)


def _has_table(db: apsw.Connection, number: int) -> bool:
    return bool(
        db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"vectors_{number}",)).get
    )


def _put(index: "VectorIndex", rows: Sequence[tuple[int, int, bytes]]) -> None:
    if not rows:
        return
    import numpy as np

    chunks = np.array([row[0] for row in rows], np.int64)
    memories = np.array([row[1] for row in rows], np.int64)
    vectors = np.frombuffer(b"".join(row[2] for row in rows), np.float32).reshape(len(rows), -1)
    index.put(chunks, memories, vectors)
