"""Vectors in memory: finds the chunks of one database file nearest to a query, for one embedder.

Up to 16,000 rows every search is one exact product. Above that, a sketch of one bit per dimension
selects a few thousand rows, and the exact product runs over those alone: at 100,000 rows of 384
dimensions a search reads 7 MB instead of 154, and 82 are held.
"""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinmem.models import Vector, Vectors

Rows = NDArray[np.intp]
_SEED = 20_240_229
# Rows encoded as bits at a time: their 1.5 MB stay in the processor's cache.
_ENCODED_ROWS = 1_024
# Rows whose distances are counted at a time, for the same reason.
_SWEPT_ROWS = 8_192


class Sketch:
    """One bit for each dimension of each row: the sign of the centred and rotated vector.

    The larger the angle between two vectors, the more bits differ. Without centring and rotation,
    vectors whose dimensions differ in scale lose most of that (.87 instead of .99 of the hundred
    nearest among 2 % in one measurement). A dimension is mixed with 63 others from all over the
    vector: nearly as good as mixing all of them, for a sixth of the work at 384 dimensions.
    """

    def __init__(self, mean: Vector, at: Callable[[Rows], Vectors], count: int, room: int) -> None:
        """`at` returns vectors by row; `mean` is that of the first `count`."""
        self.centred_on = count
        self._mean = mean
        words = -(-len(self._mean) // 64)
        chance = np.random.default_rng(_SEED).standard_normal((words, 64, 64))
        self._rotations = np.linalg.qr(chance).Q.astype(np.float32)
        # The first word of every row, then the second: numpy reads this order five times faster.
        self._words = np.empty((words, room), np.uint64)
        for start in range(0, count, _ENCODED_ROWS):
            rows = np.arange(start, min(start + _ENCODED_ROWS, count))
            self.put(rows, at(rows))

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
        """Return in how many bits each of the first `count` rows differs from the query."""
        signs = self._signs(query[np.newaxis])
        differing = np.empty(count, np.uint16)
        for start in range(0, count, _SWEPT_ROWS):
            part = slice(start, min(start + _SWEPT_ROWS, count))
            bits = np.bitwise_count(self._words[:, part] ^ signs)
            bits.sum(axis=0, dtype=np.uint16, out=differing[part])
        return differing

    def _signs(self, vectors: Vectors) -> NDArray[np.uint64]:
        """Return the bits, of shape (words, count). Word w holds dimensions w, w + words, w + 2 *
        words, ..."""
        words, count = len(self._rotations), len(vectors)
        spread = np.zeros((count, 64 * words), np.float32)
        np.subtract(vectors, self._mean, out=spread[:, : vectors.shape[1]])
        dealt = np.ascontiguousarray(spread.reshape(count, 64, words).transpose(2, 0, 1))
        bits = np.packbits(np.matmul(dealt, self._rotations) > 0, axis=2)
        return bits.view(np.uint64)[:, :, 0]


Ids = NDArray[np.int64]
Cosines = NDArray[np.float32]
Number = TypeVar("Number", np.int16, np.int64, np.float32)
# Chunk ids, memory row ids and cosines, as parallel arrays.
Found = tuple[Ids, Ids, Cosines]
# Up to so many rows an exact product over all of them takes about a millisecond. Above that few are
# read at a time, and reading them takes .2 ms longer in 16 bits; 100,000 take 77 MB, not 154.
WHOLE_ROWS = 16_000
# Rows made whole at a time: 12 MB.
BLOCK_ROWS = 8_192
_STEPS = 32_767
# Up to so many queries one product each is faster: 1.2 ms instead of 2.1 for two at 10,000 rows.
_MOST_ONE_BY_ONE = 2
_LEAST_SURVIVORS = 2_000
# The greater of the two applies. Measured at 20,000 to 100,000 rows: it includes 99.3 % (synthetic
# clusters) to 100 % (real sentences) of the ten nearest.
_SURVIVING_SHARE = 0.02
# One search in this many, beginning with the first, is compared with the exact product.
_CHECKED_SEARCHES = 256
# Recall is judged after this many expected neighbours: one miss in ten says little.
_CHECKED_NEIGHBOURS = 100
_GOOD_RECALL = 0.99
_MORE_EFFORT = 1.5
# At this factor a quarter of all rows is selected, and the exact product would cost the same.
_MOST_EFFORT = 12.0
# Cost of a row selected from memory, where a row read in sequence costs 1.
_PICKING_COST = 3
# Fifty times the largest error seen in float32 products of 384 to 3,072 dimensions.
_ROUNDING = 1e-5


class VectorIndex:
    """The chunks of one file, searched by cosine: a cache that may be discarded and filled again.

    Any thread may call any method: each holds one lock throughout, so a search sees all of a change
    or none of it. Vectors and queries must be finite and of unit length, which is not checked here.
    Capacity grows by doubling and is not given back.

    OpenBLAS must have been told to use one thread before numpy is imported (kinmem/__init__.py does
    that): two threads that wait for each other turn a product of 0.3 ms into one of 8 to 24.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._lock = Lock()
        self._count = 0
        # By chunk id the row, from 1 on. Ids come one after the other: 100,000 take .4 MB, in a
        # dictionary 11.
        self._row_of = np.zeros(0, np.int32)
        self._chunks: Ids = np.empty(0, np.int64)
        self._memories: Ids = np.empty(0, np.int64)
        self._vectors = VectorRows(dimension)
        self._sketch: Sketch | None = None
        self._sketched_searches = 0
        self._effort = 1.0  # multiplies the survivors
        # Neighbours in checked searches since recall was last judged.
        self._expected = 0
        self._missed = 0

    def __len__(self) -> int:
        return self._count

    def put(self, chunks: Ids, memories: Ids, vectors: Vectors) -> None:
        """Add rows, or replace those with a known chunk id; if one call has a chunk twice, the
        later one stays."""
        # Otherwise numpy would silently broadcast a narrower array over the row.
        if len(memories) != len(chunks) or vectors.shape != (len(chunks), self._dimension):
            raise ValueError(f"{len(chunks)}, {len(memories)} ids for vectors {vectors.shape}")
        with self._lock:
            self._reserve(self._count + len(chunks))
            rows = self._rows_for(chunks)
            self._chunks[rows] = chunks
            self._memories[rows] = memories
            self._vectors.put(rows, vectors)
            self._update_sketch(rows, vectors)

    def drop(self, chunks: Iterable[int]) -> None:
        """Drop these chunks; unknown ones are ignored."""
        chunks = list(chunks)
        with self._lock:
            for chunk in chunks:
                row = int(self._row_of[chunk]) if chunk < len(self._row_of) else 0
                if row:
                    self._row_of[chunk] = 0
                    self._fill_gap(row - 1)
            if self._count < WHOLE_ROWS // 2:
                self._sketch = None

    def keep(self, chunks: Ids) -> None:
        """Drop all chunks but these."""
        with self._lock:
            known = self._chunks[: self._count]
            gone = known[~np.isin(known, chunks)].tolist()
        self.drop(gone)

    def search(self, query: Vector, limit: int, *, allowed: Ids | None = None) -> Found:
        """Return the `limit` chunks nearest to the query, best first, ties by ascending chunk id.

        `allowed` holds the sorted row ids of the memories that may be found; None allows all. The
        cosines are exact. Above 16,000 rows a neighbour may be missing; if more than one in a
        hundred is, later searches read more rows.
        """
        return self.search_each(query[np.newaxis], limit, allowed=allowed)[0]

    def search_each(
        self, queries: Vectors, limit: int, *, allowed: Ids | None = None
    ) -> list[Found]:
        """Do the same as `search` for each query; up to 16,000 rows the vectors are read once for
        all of them."""
        with self._lock:
            rows = self._rows_of(allowed)
            if self._is_exact():
                products = self._products(queries, rows)
                found = [
                    self._best(query, limit, rows, scores)
                    for query, scores in zip(queries, products, strict=True)
                ]
            else:
                found = [self._sketched(query, limit, rows) for query in queries]
            return [(self._chunks[best], self._memories[best], cosines) for best, cosines in found]

    def cosines(self, query: Vector, memories: Ids) -> Found:
        """Return every chunk of these memories by ascending id, with the same cosine as in
        `search`."""
        with self._lock:
            rows = self._rows_of(memories)
            rows = rows[np.argsort(self._chunks[rows])]
            return self._chunks[rows], self._memories[rows], _cosines(self._vectors.at(rows), query)

    def first_vectors(self, memories: Ids) -> tuple[Ids, Vectors]:
        """Return the vector of the first chunk of each of these memories that has one here."""
        with self._lock:
            rows = self._rows_of(memories)
            rows = rows[np.lexsort((self._chunks[rows], self._memories[rows]))]
            found, first = np.unique(self._memories[rows], return_index=True)
            return found, self._vectors.at(rows[first])

    def _rows_for(self, chunks: Ids) -> Rows:
        """Return the row of each chunk; each new one gets the next that is free."""
        more = int(chunks.max(initial=0)) + 1 - len(self._row_of)
        if more > 0:
            self._row_of = np.pad(self._row_of, (0, max(more, len(self._row_of))))
        new = np.unique(chunks[self._row_of[chunks] == 0])
        self._row_of[new] = np.arange(self._count, self._count + len(new)) + 1
        self._count += len(new)
        return self._row_of[chunks].astype(np.intp) - 1

    def _reserve(self, count: int) -> None:
        held = len(self._chunks)
        if count <= held:
            return
        room = max(count, 2 * held, 1_024)
        self._chunks = _grown(self._chunks, room)
        self._memories = _grown(self._memories, room)
        self._vectors.reserve(room)
        if self._sketch is not None:
            self._sketch.reserve(room)

    def _update_sketch(self, rows: Rows, vectors: Vectors) -> None:
        """Update the sketch with the rows just written; create or re-centre it when that is due."""
        if self._count <= WHOLE_ROWS and self._sketch is None:
            return
        if self._sketch is None or self._count >= 2 * self._sketch.centred_on:
            self._sketch = Sketch(
                self._vectors.mean(self._count), self._vectors.at, self._count, len(self._chunks)
            )
        else:
            self._sketch.put(rows, vectors)

    def _fill_gap(self, row: int) -> None:
        """Move the last row into the gap of a dropped one."""
        self._count -= 1
        last = self._count
        if row == last:
            return
        self._row_of[self._chunks[last]] = row + 1
        for column in (self._chunks, self._memories):
            column[row] = column[last]
        self._vectors.move(last, row)
        if self._sketch is not None:
            self._sketch.move(last, row)

    def _rows_of(self, memories: Ids | None) -> Rows:
        """Return the rows of these memories, ascending. Reads all ids (0.2 ms at 100,000 rows), so
        no mapping is kept."""
        if memories is None:
            return np.arange(self._count)
        return np.flatnonzero(np.isin(self._memories[: self._count], memories))

    def _is_exact(self) -> bool:
        return self._sketch is None or self._count <= WHOLE_ROWS

    def _sketched(self, query: Vector, limit: int, rows: Rows) -> tuple[Rows, Cosines]:
        """Return the best of the selected rows; if a check is due, the best of all rows."""
        survivors = self._survivors(query, limit, rows)
        best, cosines = self._best_of(query, limit, survivors)
        if len(survivors) < len(rows) and self._check_is_due():
            exact, cosines = self._best_of(query, limit, rows)
            self._judge(best, exact)
            best = exact
        return best, cosines

    def _survivors(self, query: Vector, limit: int, rows: Rows) -> Rows:
        """Return which of `rows` to read exactly: all if that is cheap, otherwise the best by
        sketch."""
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
        return self._best(query, limit, rows, self._products(query[np.newaxis], rows)[0])

    def _best(self, query: Vector, limit: int, rows: Rows, scores: Cosines) -> tuple[Rows, Cosines]:
        """Return the best `limit` of `rows` in their final order, and their cosines."""
        if 0 < limit < len(rows):
            last = len(rows) - limit
            rows = rows[scores >= np.partition(scores, last)[last] - _ROUNDING]
        cosines = _cosines(self._vectors.at(rows), query)
        order = np.lexsort((self._chunks[rows], -cosines))[:limit]
        return rows[order], cosines[order]

    def _products(self, queries: Vectors, rows: Rows) -> Cosines:
        """Return the products: one line per query, one column per row."""
        if len(rows) * _PICKING_COST <= self._count:
            return self._vectors.products(queries, rows, self._count)
        products = self._vectors.products(queries, None, self._count)
        return products if len(rows) == self._count else products[:, rows]

    def _check_is_due(self) -> bool:
        due = self._sketched_searches % _CHECKED_SEARCHES == 0
        self._sketched_searches += 1
        return due

    def _judge(self, found: Rows, exact: Rows) -> None:
        """Select more rows from now on if checked searches missed too many neighbours."""
        self._expected += len(exact)
        self._missed += len(np.setdiff1d(exact, found))
        if self._expected < _CHECKED_NEIGHBOURS:
            return
        if self._missed > (1 - _GOOD_RECALL) * self._expected:
            self._effort = min(self._effort * _MORE_EFFORT, _MOST_EFFORT)
        self._expected = 0
        self._missed = 0


def _cosines(vectors: Vectors, query: Vector) -> Cosines:
    """Compute cosines in double precision: unlike with `@`, equal vectors get equal cosines in any
    row."""
    products = np.vecdot(vectors.astype(np.float64), query.astype(np.float64))
    return np.asarray(products.clip(-1, 1), np.float32)


class VectorRows:
    """Vectors of unit length.

    In 16 bits each number is a multiple of 1/32,767 of its row's greatest. That changes a cosine by
    2 in a million, where the numbers of 384 dimensions are a fifth at most.
    """

    def __init__(self, dimension: int) -> None:
        self._whole: Vectors | None = np.empty((0, dimension), np.float32)
        self._short = np.empty((0, dimension), np.int16)
        self._units = np.empty(0, np.float32)

    def reserve(self, room: int) -> None:
        """Make room for so many rows."""
        if self._whole is not None and room <= WHOLE_ROWS:
            self._whole = _grown(self._whole, room)
            return
        self._short = _grown(self._short, room)
        self._units = _grown(self._units, room)
        if self._whole is not None:
            whole, self._whole = self._whole, None
            self.put(np.arange(len(whole)), whole)

    def put(self, rows: Rows, vectors: Vectors) -> None:
        """Write these rows, for which there is room."""
        if self._whole is not None:
            self._whole[rows] = vectors
            return
        for start in range(0, len(rows), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            units = np.abs(vectors[part]).max(axis=1, initial=0) / _STEPS
            units[units == 0] = 1
            self._units[rows[part]] = units
            self._short[rows[part]] = np.rint(vectors[part] / units[:, np.newaxis])

    def move(self, source: int, target: int) -> None:
        """Write one row over another."""
        if self._whole is not None:
            self._whole[target] = self._whole[source]
            return
        self._short[target] = self._short[source]
        self._units[target] = self._units[source]

    def at(self, rows: Rows | slice) -> Vectors:
        """Return these rows."""
        if self._whole is not None:
            return self._whole[rows]
        vectors = self._short[rows].astype(np.float32)
        vectors *= self._units[rows, np.newaxis]
        return vectors

    def products(self, queries: Vectors, rows: Rows | None, count: int) -> Cosines:
        """Return the products, one line per query, with these rows or, if None, the first
        `count`."""
        if self._whole is not None:
            return _products(queries, self._whole[:count] if rows is None else self._whole[rows])
        size = count if rows is None else len(rows)
        parts = [slice(at, min(at + BLOCK_ROWS, size)) for at in range(0, size, BLOCK_ROWS)]
        found = [
            _products(queries, self.at(part if rows is None else rows[part])) for part in parts
        ]
        return np.concatenate(found, axis=1) if found else np.empty((len(queries), 0), np.float32)

    def mean(self, count: int) -> Vector:
        """Return the mean of the first `count`."""
        total = np.zeros(self._short.shape[1])
        for at in range(0, count, BLOCK_ROWS):
            total += self.at(slice(at, min(at + BLOCK_ROWS, count))).sum(axis=0, dtype=np.float64)
        return np.asarray(total / max(1, count), np.float32)


def _products(queries: Vectors, vectors: Vectors) -> Cosines:
    if len(queries) > _MOST_ONE_BY_ONE:
        return np.ascontiguousarray((vectors @ queries.T).T)
    return np.stack([vectors @ query for query in queries])


def _grown(values: NDArray[Number], room: int) -> NDArray[Number]:
    grown = np.zeros((room, *values.shape[1:]), values.dtype)  # what is not used is shortened too
    grown[: len(values)] = values
    return grown
