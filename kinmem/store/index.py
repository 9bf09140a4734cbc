"""The interface of the database for finding memories by words and by meaning."""

from collections.abc import Collection, Sequence
from typing import Protocol

from kinmem.models import (
    Asked,
    Coverage,
    Filters,
    Found,
    Pending,
    Scope,
    Vector,
    Vectors,
)


class Vectored(Protocol):
    """Texts that get vectors: those of memories, and what was said."""

    def enroll(self, embedder: str, dimension: int) -> None:
        """Store vectors of this embedder from now on; every chunk without one becomes pending.

        Raises StoreError if the name is known with another dimension.
        """
        ...

    def coverage(self) -> list[Coverage]:
        """Return every enrolled embedder, the one with the best coverage first."""
        ...

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        """Return chunks that wait for a vector of this embedder, oldest first; own ones, then those
        that others share."""
        ...

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        """Store the vectors of these chunks; fresh memories stay fresh until they are settled.

        Chunks that are gone or were filled in the meantime are skipped.
        """
        ...

    def is_filled(self, embedder: str) -> bool:
        """Return whether every chunk has a vector of this embedder."""
        ...


class Index(Vectored, Protocol):
    """The words and vectors of the memories that one Kin sees."""

    def search(self, asked: Asked, filters: Filters) -> Found:
        """Return candidates by meaning and by words among those that the filters allow.

        By meaning: as in nearest. By words: those with the best BM25, and on a tie those with all
        the words first. Without words or without a vector, the other search is used alone.
        """
        ...

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        """Return (id, cosine of its nearest chunk), nearest first, at most `limit` own memories and
        at most `limit` that others share.

        Exact in small stores; above some thousand chunks recall@limit is at least 0.98.
        """
        ...

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        """Do the same as `nearest` for each of the vectors; for many of them in a fraction of the
        time."""
        ...

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        """Return the cosines of all chunks of these memories, in text order; no key if there are no
        vectors."""
        ...

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        """Return the vector of each memory's first chunk, if it has one."""
        ...

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        """Return (mark, id) of own memories whose vectors, or whose being live, changed after
        `mark`, in that order, at most `limit`. Continue from the last mark; 0 is the beginning.

        Some may occur twice, and some may be put away again. Only the latest 200,000 changes are
        known.
        """
        ...

    def unsettled(self, embedder: str, limit: int) -> list[Pending]:
        """Return the chunks of own fresh memories that have a vector of this embedder, oldest
        first."""
        ...

    def settled(self, ids: Collection[str]) -> None:
        """Record that these own memories were compared by meaning and are no longer fresh.

        Not a change: no history, no new version or revision. Others' memories are skipped.
        """
        ...

    def retire(self, embedder: str) -> None:
        """Drop an embedder's vectors. Unknown names are ignored."""
        ...
