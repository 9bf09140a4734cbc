"""How a VectorIndex holds vectors: in 16 bits if there are many, and with a sketch that says which
are worth reading."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinmem.models import Vector, Vectors

Rows = NDArray[np.intp]
Cosines = NDArray[np.float32]
Number = TypeVar("Number", np.int16, np.int64, np.float32)

# Rows made whole at a time: 12 MB.
BLOCK_ROWS = 8_192
_STEPS = 32_767
# Up to so many queries one product each is faster: 1.2 ms instead of 2.1 for two at 10,000 rows.
_MOST_ONE_BY_ONE = 2

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


class VectorRows:
    """Vectors of unit length.

    In 16 bits each number is a multiple of 1/32,767 of its row's greatest. That changes a cosine by
    2 in a million, where the numbers of 384 dimensions are a fifth at most.
    """

    def __init__(self, dimension: int, most_whole: int) -> None:
        """Up to `most_whole` rows stay in 32 bits."""
        self._most_whole = most_whole
        self._whole: Vectors | None = np.empty((0, dimension), np.float32)
        self._short = np.empty((0, dimension), np.int16)
        self._units = np.empty(0, np.float32)

    def reserve(self, room: int) -> None:
        """Make room for so many rows."""
        if self._whole is not None and room <= self._most_whole:
            self._whole = grown(self._whole, room)
            return
        self._short = grown(self._short, room)
        self._units = grown(self._units, room)
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


def grown(values: NDArray[Number], room: int) -> NDArray[Number]:
    """Return the array with room for so many rows."""
    more = np.zeros((room, *values.shape[1:]), values.dtype)  # what is not used is shortened too
    more[: len(values)] = values
    return more
