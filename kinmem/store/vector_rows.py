"""The vectors of a VectorIndex by row: whole while they are few, in 16 bits once they are many."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinmem.models import Vector, Vectors

Rows = NDArray[np.intp]
Cosines = NDArray[np.float32]
Number = TypeVar("Number", np.int16, np.float32)

# Up to so many rows an exact product over all of them takes about a millisecond. Above that few are
# read at a time, and reading them takes .2 ms longer in 16 bits; 100,000 take 77 MB, not 154.
WHOLE_ROWS = 16_000
# Rows made whole at a time: 12 MB.
BLOCK_ROWS = 8_192
_STEPS = 32_767
# Up to so many queries one product each is faster: 1.2 ms instead of 2.1 for two at 10,000 rows.
_MOST_ONE_BY_ONE = 2


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
