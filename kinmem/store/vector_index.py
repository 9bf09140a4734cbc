"""Vectors, in memory: the chunks of one database file nearest to a query, for one embedder.

Up to 16,000 rows every search is one exact product. Above that, a sketch of one bit per dimension
picks a few thousand rows, and the exact product runs over those alone: at 100,000 rows of 384
dimensions a search reads 9 MB instead of 154.
"""

from collections.abc import Iterable
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinmem.models import Vector, Vectors

Ids = NDArray[np.int64]
Rows = NDArray[np.intp]
Cosines = NDArray[np.float32]
Found = tuple[Ids, Ids, Cosines]
"""Chunk ids, memory row ids and cosines, side by side."""
Number = TypeVar("Number", np.int64, np.float32)

_EXACT_ROWS = 16_000
"""Up to here the exact product takes about a millisecond, and a sketch would save nothing."""

_LEAST_SURVIVORS = 2_000
_SURVIVING_SHARE = 0.02
"""Whichever is more. Measured at 20,000 to 100,000 rows: it holds 99.3 % (synthetic clusters) to
100 % (real sentences) of the ten nearest."""

_CHECKED_SEARCHES = 256
"""One search in so many, the first among them, is compared with the exact product."""

_CHECKED_NEIGHBOURS = 100
"""So many expected neighbours are compared before recall is judged: one miss in ten says little."""

_GOOD_RECALL = 0.99
_MORE_EFFORT = 1.5
_MOST_EFFORT = 12.0
"""A quarter of all rows survives then, and the exact product would cost the same."""

_PICKING_COST = 3
"""Of a row picked out of memory, when a row read in passing costs 1."""

_ROUNDING = 1e-5
"""Fifty times the largest error seen in float32 products of 384 to 3,072 dimensions."""

_SEED = 20_240_229
_ENCODED_ROWS = 1_024
"""Rows turned into bits at a time: their 1.5 MB stay in the processor's cache."""

_SWEPT_ROWS = 8_192
"""Rows whose distances are counted at a time, for the same reason."""


class VectorIndex:
    """Nearest chunks of one file by cosine; a cache that may be thrown away and filled again.

    Any thread may call any method: each holds one lock throughout, so a search sees all of a change
    or nothing. Vectors and queries are finite and of unit length; nobody checks that here. Room
    grows by doubling and is not given back.

    OpenBLAS must have been told to use one thread before numpy was imported (kinmem/__init__.py
    does it): two threads that wait for each other turn a product of 0.3 ms into one of 8 to 24.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._lock = Lock()
        self._count = 0
        self._row_of: dict[int, int] = {}  # by chunk id; rows 0 to _count - 1 are in use
        self._chunks: Ids = np.empty(0, np.int64)
        self._memories: Ids = np.empty(0, np.int64)
        self._vectors: Vectors = np.empty((0, dimension), np.float32)
        self._sketch: _Sketch | None = None
        self._sketched_searches = 0
        self._effort = 1.0  # multiplies the survivors
        # Neighbours in checked searches since recall was last judged.
        self._expected = 0
        self._missed = 0

    def __len__(self) -> int:
        return self._count

    def put(self, chunks: Ids, memories: Ids, vectors: Vectors) -> None:
        """Add rows, or replace those whose chunk id is known; within one call the later stays."""
        # Without this numpy would spread a narrower array over the row, and say nothing.
        if len(memories) != len(chunks) or vectors.shape != (len(chunks), self._dimension):
            raise ValueError(f"{len(chunks)}, {len(memories)} ids for vectors {vectors.shape}")
        with self._lock:
            self._reserve(self._count + len(chunks))
            known = self._row_of
            rows = np.array([known.setdefault(id, len(known)) for id in chunks.tolist()], np.intp)
            self._chunks[rows] = chunks
            self._memories[rows] = memories
            self._vectors[rows] = vectors
            self._count = len(known)
            self._update_sketch(rows, vectors)

    def drop(self, chunks: Iterable[int]) -> None:
        """Forget these chunks; those it does not know are ignored."""
        chunks = list(chunks)
        with self._lock:
            for chunk in chunks:
                row = self._row_of.pop(chunk, None)
                if row is not None:
                    self._fill_gap(row)
            if self._count < _EXACT_ROWS // 2:
                self._sketch = None

    def keep(self, chunks: Ids) -> None:
        """Forget all chunks but these."""
        with self._lock:
            known = self._chunks[: self._count]
            gone = known[~np.isin(known, chunks)].tolist()
        self.drop(gone)

    def search(self, query: Vector, limit: int, *, allowed: Ids | None = None) -> Found:
        """The `limit` chunks nearest to the query, best first, equal ones by ascending chunk id.

        `allowed` holds the sorted row ids of the memories that may be found; None allows all.
        The cosines are exact. Above 16,000 rows a neighbour may be missing; where more than one in
        a hundred is, later searches look at more rows.
        """
        return self.search_each(query[np.newaxis], limit, allowed=allowed)[0]

    def search_each(
        self, queries: Vectors, limit: int, *, allowed: Ids | None = None
    ) -> list[Found]:
        """As `search`, for each query; up to 16,000 rows the vectors are read once for them all."""
        with self._lock:
            rows = self._rows_of(allowed)
            if self._is_exact():
                products = np.ascontiguousarray(self._products(queries, rows).T)
                found = [
                    self._best(query, limit, rows, scores)
                    for query, scores in zip(queries, products, strict=True)
                ]
            else:
                found = [self._sketched(query, limit, rows) for query in queries]
            return [(self._chunks[best], self._memories[best], cosines) for best, cosines in found]

    def cosines(self, query: Vector, memories: Ids) -> Found:
        """Every chunk of these memories by ascending id, with the cosine that `search` gives."""
        with self._lock:
            rows = self._rows_of(memories)
            rows = rows[np.argsort(self._chunks[rows])]
            return self._chunks[rows], self._memories[rows], _cosines(self._vectors[rows], query)

    def first_vectors(self, memories: Ids) -> tuple[Ids, Vectors]:
        """Of each of these memories that is here the vector of its first chunk."""
        with self._lock:
            rows = self._rows_of(memories)
            rows = rows[np.lexsort((self._chunks[rows], self._memories[rows]))]
            found, first = np.unique(self._memories[rows], return_index=True)
            return found, self._vectors[rows[first]]

    def _reserve(self, count: int) -> None:
        held = len(self._chunks)
        if count <= held:
            return
        room = max(count, 2 * held, 1_024)
        self._chunks = _grown(self._chunks, room)
        self._memories = _grown(self._memories, room)
        self._vectors = _grown(self._vectors, room)
        if self._sketch is not None:
            self._sketch.reserve(room)

    def _update_sketch(self, rows: Rows, vectors: Vectors) -> None:
        """Follow the rows just written; begin the sketch, or centre it anew, when it is time."""
        if self._count <= _EXACT_ROWS and self._sketch is None:
            return
        if self._sketch is None or self._count >= 2 * self._sketch.centred_on:
            self._sketch = _Sketch(self._vectors[: self._count], room=len(self._chunks))
        else:
            self._sketch.put(rows, vectors)

    def _fill_gap(self, row: int) -> None:
        """Move the last row to where one was dropped."""
        self._count -= 1
        last = self._count
        if row == last:
            return
        self._row_of[int(self._chunks[last])] = row
        for column in (self._chunks, self._memories, self._vectors):
            column[row] = column[last]
        if self._sketch is not None:
            self._sketch.move(last, row)

    def _rows_of(self, memories: Ids | None) -> Rows:
        """Ascending. One pass over all ids: 0.2 ms at 100,000 rows, so no mapping is kept."""
        if memories is None:
            return np.arange(self._count)
        return np.flatnonzero(np.isin(self._memories[: self._count], memories))

    def _is_exact(self) -> bool:
        return self._sketch is None or self._count <= _EXACT_ROWS

    def _sketched(self, query: Vector, limit: int, rows: Rows) -> tuple[Rows, Cosines]:
        """The best of those that survive, or of all when it is time to check what is missing."""
        survivors = self._survivors(query, limit, rows)
        best, cosines = self._best_of(query, limit, survivors)
        if len(survivors) < len(rows) and self._check_is_due():
            exact, cosines = self._best_of(query, limit, rows)
            self._judge(best, exact)
            best = exact
        return best, cosines

    def _survivors(self, query: Vector, limit: int, rows: Rows) -> Rows:
        """Which of `rows` to look at exactly: all where that is cheap, else the best by sketch."""
        if self._sketch is None:
            return rows
        wanted = self._effort * max(_LEAST_SURVIVORS, _SURVIVING_SHARE * len(rows))
        wanted *= 1 + limit / 100  # the sketch ranks the hundredth neighbour worse than the tenth
        if len(rows) <= _PICKING_COST * wanted:
            return rows
        distances = self._sketch.distances(query, self._count)
        if len(rows) < self._count:
            distances = distances[rows]
        within = np.cumsum(np.bincount(distances))
        return rows[np.flatnonzero(distances <= np.searchsorted(within, wanted))]

    def _best_of(self, query: Vector, limit: int, rows: Rows) -> tuple[Rows, Cosines]:
        return self._best(query, limit, rows, self._products(query[np.newaxis], rows)[:, 0])

    def _best(self, query: Vector, limit: int, rows: Rows, scores: Cosines) -> tuple[Rows, Cosines]:
        """The best `limit` of `rows` in their final order, and their cosines."""
        if 0 < limit < len(rows):
            last = len(rows) - limit
            rows = rows[scores >= np.partition(scores, last)[last] - _ROUNDING]
        cosines = _cosines(self._vectors[rows], query)
        order = np.lexsort((self._chunks[rows], -cosines))[:limit]
        return rows[order], cosines[order]

    def _products(self, queries: Vectors, rows: Rows) -> Cosines:
        """One line per row, one column per query."""
        vectors = self._vectors[: self._count]
        if len(rows) == self._count:
            return vectors @ queries.T
        if len(rows) * _PICKING_COST > self._count:
            return (vectors @ queries.T)[rows]
        return vectors[rows] @ queries.T

    def _check_is_due(self) -> bool:
        due = self._sketched_searches % _CHECKED_SEARCHES == 0
        self._sketched_searches += 1
        return due

    def _judge(self, found: Rows, exact: Rows) -> None:
        """Let more rows survive from now on when checked searches missed too many neighbours."""
        self._expected += len(exact)
        self._missed += len(np.setdiff1d(exact, found))
        if self._expected < _CHECKED_NEIGHBOURS:
            return
        if self._missed > (1 - _GOOD_RECALL) * self._expected:
            self._effort = min(self._effort * _MORE_EFFORT, _MOST_EFFORT)
        self._expected = 0
        self._missed = 0


class _Sketch:
    """One bit for each dimension of each row: the sign of the centred and rotated vector.

    The more two vectors point apart, the more bits differ. Without the mean taken off and without
    the rotation, vectors whose dimensions differ in scale lose most of it (.87 instead of .99 of
    the hundred nearest among 2 % in one measurement). A dimension is mixed with 63 others from all
    over the vector: nearly as good as with all of them, and at 384 a sixth of the work.
    """

    def __init__(self, vectors: Vectors, room: int) -> None:
        count, dimension = vectors.shape
        words = -(-dimension // 64)
        self.centred_on = count
        self._mean = vectors.mean(axis=0)
        chance = np.random.default_rng(_SEED).standard_normal((words, 64, 64))
        self._rotations = np.linalg.qr(chance).Q.astype(np.float32)
        # The first word of every row, then the second: numpy sweeps this five times faster.
        self._words = np.empty((words, room), np.uint64)
        self.put(np.arange(count), vectors)

    def reserve(self, room: int) -> None:
        words = np.empty((len(self._words), room), np.uint64)
        words[:, : self._words.shape[1]] = self._words
        self._words = words

    def put(self, rows: Rows, vectors: Vectors) -> None:
        for start in range(0, len(rows), _ENCODED_ROWS):
            part = slice(start, start + _ENCODED_ROWS)
            self._words[:, rows[part]] = self._signs(vectors[part])

    def move(self, source: int, target: int) -> None:
        self._words[:, target] = self._words[:, source]

    def distances(self, query: Vector, count: int) -> NDArray[np.uint16]:
        """In how many bits each of the first `count` rows differs from the query."""
        signs = self._signs(query[np.newaxis])
        differing = np.empty(count, np.uint16)
        for start in range(0, count, _SWEPT_ROWS):
            part = slice(start, min(start + _SWEPT_ROWS, count))
            bits = np.bitwise_count(self._words[:, part] ^ signs)
            bits.sum(axis=0, dtype=np.uint16, out=differing[part])
        return differing

    def _signs(self, vectors: Vectors) -> NDArray[np.uint64]:
        """Shape (words, count). Word w is made of dimensions w, w + words, w + 2 * words, ..."""
        words, count = len(self._rotations), len(vectors)
        spread = np.zeros((count, 64 * words), np.float32)
        np.subtract(vectors, self._mean, out=spread[:, : vectors.shape[1]])
        dealt = np.ascontiguousarray(spread.reshape(count, 64, words).transpose(2, 0, 1))
        bits = np.packbits(np.matmul(dealt, self._rotations) > 0, axis=2)
        return bits.view(np.uint64)[:, :, 0]


def _grown(values: NDArray[Number], room: int) -> NDArray[Number]:
    grown = np.empty((room, *values.shape[1:]), values.dtype)
    grown[: len(values)] = values
    return grown


def _cosines(vectors: Vectors, query: Vector) -> Cosines:
    """In double precision: equal vectors get equal cosines in whatever row, unlike from `@`."""
    products = np.vecdot(vectors.astype(np.float64), query.astype(np.float64))
    return np.asarray(products.clip(-1, 1), np.float32)
