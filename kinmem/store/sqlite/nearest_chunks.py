"""The chunks of one file that are nearest to a vector, and the copies in memory that make it fast.

vec0 scans exactly, about 1 ms per 1,000 vectors of 384. It answers the first questions of a small
file; past IN_MEMORY_FROM chunks, or where it is asked again and again, a VectorIndex takes over,
loaded in the background and then kept fresh by vector_log. What has been superseded, and what was
archived, has one of its own. The index is a cache: what it says about a memory is checked when the
row is read.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kinmem.errors import KinmemError, StoreError
from kinmem.models import State, Vector
from kinmem.settings.process import give_back
from kinmem.store.sql.damage import Row
from kinmem.store.sql.database import Bindings, embedder_of, state_of
from kinmem.store.sql.hybrid_search import APART, Beside, Near
from kinmem.store.sql.memory_rows import IS_LIVE, Allowed
from kinmem.store.sqlite.connection import SqliteDatabase

if TYPE_CHECKING:
    from kinmem.store.vector_index import Found as Neighbours
    from kinmem.store.vector_index import Ids, VectorIndex

# numpy is loaded where vectors are touched: a hook that asks by words does without, 60 ms sooner.

logger = logging.getLogger(__name__)

IN_MEMORY_FROM = 2000
MOST_SCANS = 4
"""Of a smaller file, before its vectors are loaded: a command that asks once does without."""
LOADED_AT_ONCE = 1000  # what is read of more at once leaves gaps in the heap: 5 MB at 100,000
TRIED_AGAIN = 60.0  # seconds after which a copy that could not be loaded is loaded again
MANY = 16  # scans of a small file cost as much as reading its vectors once
MOST_NEAREST = 4096  # vec0's own limit for k
MOST_EXPECTED = 8  # chunks of a memory that are asked for at once; a document may have thousands


_Search = Callable[[Sequence[Vector], int], list[Near]]
_Stored = tuple[int, int, str, bytes]
"""(chunk, row of its memory, the state of that, vector)."""
IN_COPY = f"({IS_LIVE} OR m.state IN ({', '.join(repr(str(state)) for state in APART)}))"


@dataclass
class _Copy:
    index: "VectorIndex"
    apart: "Mapping[State, VectorIndex]"
    """What is not live, as far as recall looks for it."""
    seq: int
    """Entry of vector_log up to which the index is right."""
    loaded: bool = False
    failed_at: float | None = None
    """When it could not be loaded, by the monotonic clock."""


class NearestChunks:
    """Finds the chunks of one file by meaning."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self.copies = VectorCopies(database)

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[list[tuple[int, float]]]:
        """Return for each vector at most `limit` (row of a memory, cosine of its best chunk),
        nearest first. Empty lists if the embedder is not enrolled."""
        found = self.nearest_parts(vectors, embedder, limit, allowed)
        return [[(memory, cosine) for memory, cosine, _ in _best(one)[:limit]] for one in found]

    def nearest_parts(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[Near]:
        """Return for each vector its nearest chunks: so many that they belong to `limit` memories,
        if there are as many. Nearest first, ties by chunk."""
        known = embedder_of(self._database, embedder)
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
        """Return what is near apart from the memories in `near`, which are so long that they took
        all places."""
        long = {memory for memory, _, _ in near}
        if len(long) >= limit:
            return []
        condition = f"{allowed.condition} AND m.rowid NOT IN (SELECT value FROM json_each(:long))"
        bound = {**allowed.bound, "long": json.dumps(list(long))}
        others = replace(allowed, condition=condition, bound=bound, plain=False)
        return self._chunk_search(number, dimension, others)([vector], 4 * limit)[0]

    def has_none(self, embedder: str, state: State) -> bool:
        """Return whether certainly no memory is in this state. False if that cannot be told from
        memory."""
        known = state_of(self._database).embedders.get(embedder)
        copy = self.copies.fresh(*known[:2]) if known is not None and known.is_filled else None
        return copy is not None and len(copy.apart[state]) == 0

    def first_vectors(self, embedder: str, rows: Sequence[int]) -> dict[int, Vector]:
        """Return by memory row the vector of its first chunk, of shape (dimension,), float32; no
        key without one."""
        known = embedder_of(self._database, embedder)
        if known is None or not rows:
            return {}
        import numpy as np

        copy = self.copies.fresh(*known)
        if copy is not None:
            memories, vectors = copy.index.first_vectors(np.array(rows, np.int64))
            return dict(zip(memories.tolist(), vectors, strict=True))
        found = self._read(
            f"""
            SELECT c.memory, v.embedding FROM chunks c JOIN vectors_{known[0]} v ON v.chunk = c.id
            WHERE c.memory IN (SELECT value FROM json_each(?)) AND c.position = 0
            """,
            (json.dumps(list(rows)),),
        )
        return {memory: np.frombuffer(vector, np.float32) for memory, vector in found}

    def cosines(self, vector: Vector, embedder: str, rows: Set[int]) -> dict[int, list[float]]:
        """Return by memory row the cosines of its chunks, in text order; no key without vectors."""
        known = embedder_of(self._database, embedder)
        if known is None or not rows:
            return {}
        result: dict[int, list[float]] = {}
        copy = self.copies.fresh(*known)
        if copy is not None:
            import numpy as np

            for index in (copy.index, *copy.apart.values()):
                wanted = np.array(sorted(rows - result.keys()), np.int64)
                if len(wanted) and len(index):
                    for memory, cosine, _ in _near(index.cosines(vector, wanted)):
                        result.setdefault(memory, []).append(cosine)
            rows = rows - result.keys()  # those that are in none
            if not rows:
                return result
        found = self._read(
            f"""
            SELECT c.memory, 1 - vec_distance_cosine(v.embedding, :vector)
            FROM chunks c JOIN vectors_{known[0]} v ON v.chunk = c.id
            WHERE c.memory IN (SELECT value FROM json_each(:rows))
            ORDER BY c.memory, c.position
            """,
            {"vector": vector.tobytes(), "rows": json.dumps(list(rows))},
        )
        for memory, cosine in found:
            if cosine is not None:
                result.setdefault(memory, []).append(cosine)
        return result

    def beside(self, vector: Vector, embedder: str) -> Beside | None:
        """Return None: vectors are in memory, or read without waiting for a server."""
        return None

    def cosines_of(
        self, vector: Vector, embedder: str, chunks: Collection[int]
    ) -> dict[int, float]:
        """Return the cosines of these chunks by chunk; no key without a vector."""
        known = embedder_of(self._database, embedder)
        if known is None or not chunks:
            return {}
        found: dict[int, float | None] = dict(
            self._read(
                f"""
                SELECT chunk, 1 - vec_distance_cosine(embedding, :vector) FROM vectors_{known[0]}
                WHERE chunk IN (SELECT value FROM json_each(:chunks))
                """,
                {"vector": vector.tobytes(), "chunks": json.dumps(list(chunks))},
            )
        )
        return {chunk: cosine for chunk, cosine in found.items() if cosine is not None}

    def _chunks_per_memory(self) -> int:
        """Return the mean number of chunks of a memory, rounded up. It is estimated from the
        greatest numbers, which takes no counting."""
        state = state_of(self._database)
        return -(-(state.last_chunk or 1) // (state.last_memory or 1))

    def _chunk_search(
        self, number: int, dimension: int, allowed: Allowed, count: int = 1
    ) -> _Search:
        """Return a function that finds the given number of chunks near each of `count` vectors: in
        memory if possible, else by a scan of the file."""
        index = self.copies.index(number, dimension, count, allowed)
        if index is None:
            return lambda vectors, limit: [
                self._scan(number, vector, limit, allowed) for vector in vectors
            ]
        import numpy as np

        rows = None if allowed.plain else self._rowids(allowed)
        return lambda vectors, limit: [
            _near(one) for one in index.search_each(np.stack(vectors), limit, allowed=rows)
        ]

    def _scan(self, number: int, vector: Vector, limit: int, allowed: Allowed) -> Near:
        self.copies.scans += 1
        rows = self._read(
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
        return [row for row in rows if row[1] is not None]  # the vector is damaged

    def _read(self, sql: str, bound: Bindings) -> list[Row]:
        """Return the rows; none if the vectors are damaged."""
        try:
            return self._database.rows(sql, bound)
        except StoreError as error:
            if error.code != "storage_damaged":
                raise
            self._database.damage.note("vectors", None, str(error))
            return []

    def _rowids(self, allowed: Allowed) -> "Ids":
        import numpy as np

        rows = self._database.rows(
            f"SELECT m.rowid FROM memories m WHERE {allowed.condition} ORDER BY m.rowid",
            allowed.bound,
        )
        return np.fromiter((row[0] for row in rows), np.int64, len(rows))


class VectorCopies:
    """The live vectors of one file's chunks in memory, one index per embedder."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._copies: dict[int, _Copy] = {}
        self._lock = threading.Lock()
        self._closing = False
        self.scans = 0
        """How often the file was read for want of a copy."""

    def index(
        self, number: int, dimension: int, count: int, allowed: Allowed
    ) -> "VectorIndex | None":
        """Return an index of what is allowed; None if the file must be scanned.

        It is the copy in memory, or in a small file, for so many searches at once that it pays, one
        made for them.
        """
        if not allowed.live and allowed.state is None:
            return None
        copy = self.fresh(number, dimension)
        if copy is not None:
            return copy.index if allowed.state is None else copy.apart[allowed.state]
        if count < MANY or state_of(self._database).last_chunk >= IN_MEMORY_FROM:
            return None
        copy = self._filled(_new_copy(dimension), number)
        return copy.index if allowed.state is None else copy.apart[allowed.state]

    def fresh(self, number: int, dimension: int) -> _Copy | None:
        """Return the up-to-date copy; None while the file is small or the copy is loading."""
        copy = self._copies.get(number)
        state = state_of(self._database)
        if copy is None:
            if state.last_chunk >= IN_MEMORY_FROM or self.scans > MOST_SCANS:
                self._start_loading(number, dimension)
            return None
        if not copy.loaded:
            if copy.failed_at is not None and time.monotonic() > copy.failed_at + TRIED_AGAIN:
                self.forget(number)
            return None
        if state.last_change > copy.seq:
            if state.first_change > copy.seq + 1:
                self.forget(number)
                return None
            with self._lock:
                self._catch_up(number, copy)
        return copy

    def forget(self, number: int) -> None:
        """Drop the copy of an embedder that is no longer enrolled."""
        with self._lock:
            self._copies.pop(number, None)

    def close(self) -> None:
        """Let a copy that is loading stop."""
        self._closing = True

    def _start_loading(self, number: int, dimension: int) -> None:
        with self._lock:
            if number in self._copies:
                return
            copy = self._copies[number] = _new_copy(dimension)
        threading.Thread(
            target=self._load, args=(number, copy), name="kinmem-vectors", daemon=True
        ).start()

    def _load(self, number: int, copy: _Copy) -> None:
        """Read all live vectors in blocks, those of the hot tier first.

        What changes meanwhile is in the log after `seq`.
        """
        try:
            copy.seq = self._database.rows("SELECT max(seq) FROM vector_log")[0][0] or 0
            self._filled(copy, number)
            if self._closing:
                return
            copy.loaded = True
            give_back()
        except KinmemError:
            copy.failed_at = time.monotonic()
            if not self._closing:
                logger.warning(
                    "vectors could not be loaded; the exact scan goes on answering", exc_info=True
                )

    def _filled(self, copy: _Copy, number: int) -> _Copy:
        """Fill the copy with all vectors of the file; stops early when the file is being closed."""
        chunks = self._chunks()
        for start in range(0, len(chunks), LOADED_AT_ONCE):
            if self._closing:
                break
            _put(copy, self._vectors(number, chunks[start : start + LOADED_AT_ONCE]))
        return copy

    def _catch_up(self, number: int, copy: _Copy) -> None:
        rows = self._database.rows(
            "SELECT seq, chunk FROM vector_log WHERE seq > ? ORDER BY seq", (copy.seq,)
        )
        if not rows:
            return
        changed = {chunk for _, chunk in rows}
        kept = self._vectors(number, changed)
        for index in (copy.index, *copy.apart.values()):
            index.drop(changed)
        _put(copy, kept)
        copy.seq = rows[-1][0]

    def _chunks(self) -> list[int]:
        """Return the chunks that belong into the copy, those of the hot tier first."""
        rows = self._database.rows(
            f"SELECT c.id FROM chunks c JOIN memories m ON m.rowid = c.memory AND {IN_COPY}"
            " ORDER BY c.layer <> 'hot', c.id"
        )
        return [id for (id,) in rows]

    def _vectors(self, number: int, chunks: Collection[int]) -> list[_Stored]:
        return self._database.rows(
            f"""
            SELECT c.id, c.memory, m.state, v.embedding
            FROM chunks c CROSS JOIN memories m ON m.rowid = c.memory AND {IN_COPY}
            CROSS JOIN vectors_{number} v ON v.chunk = c.id
            WHERE c.id IN (SELECT value FROM json_each(?))
            """,
            (json.dumps(list(chunks)),),
        )


def _best(near: Near) -> Near:
    """Return the first entry of each memory."""
    best: dict[int, tuple[int, float, int]] = {}
    for one in near:
        best.setdefault(one[0], one)
    return list(best.values())


def _near(found: "Neighbours") -> Near:
    chunks, memories, cosines = found
    return list(zip(memories.tolist(), cosines.tolist(), chunks.tolist(), strict=True))


def _new_copy(dimension: int) -> _Copy:
    from kinmem.store.vector_index import VectorIndex

    return _Copy(VectorIndex(dimension), {state: VectorIndex(dimension) for state in APART}, 0)


def _put(copy: _Copy, rows: Sequence[_Stored]) -> None:
    import numpy as np

    for state, index in ((None, copy.index), *copy.apart.items()):
        own = [row for row in rows if (row[2] if row[2] in copy.apart else None) == state]
        if own:
            chunks = np.array([row[0] for row in own], np.int64)
            memories = np.array([row[1] for row in own], np.int64)
            vectors = np.frombuffer(b"".join(row[3] for row in own), np.float32)
            vectors = vectors.reshape(len(own), -1)
            whole = np.isfinite(vectors).all(axis=1)  # else it is damaged
            index.put(chunks[whole], memories[whole], vectors[whole])
