"""What kinmem asks of a database about finding memories by words and by meaning."""

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
    """Whatever has texts that get vectors: memories, and what was said."""

    def enroll(self, embedder: str, dimension: int) -> None:
        """Keep vectors of this embedder from now on; every chunk without one becomes pending.

        Raises StoreError if the name is known with another dimension.
        """
        ...

    def coverage(self) -> list[Coverage]:
        """Every enrolled embedder, the best covered first."""
        ...

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        """Chunks that wait for a vector of this embedder, oldest first; own ones, then those of
        what others share."""
        ...

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        """Store the vectors of these chunks; fresh memories stay so until they are settled.

        Chunks that are gone or were filled meanwhile are passed over.
        """
        ...

    def is_filled(self, embedder: str) -> bool:
        """Whether every chunk has a vector of this embedder."""
        ...


class Index(Vectored, Protocol):
    """The words and vectors of the memories that one Kin sees."""

    def search(self, asked: Asked, filters: Filters) -> Found:
        """Candidates by meaning and by words, among what the filters allow.

        By meaning as nearest. By words those with the best BM25, and among equals those first that
        contain all of them. Without words, or without a vector, the other arm answers alone.
        """
        ...

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        """(id, cosine of its nearest chunk), nearest first, at most `limit` own ones and at most
        `limit` that others share.

        Exact in small stores; above some thousand chunks recall@limit is at least 0.98.
        """
        ...

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        """As `nearest`, for each of the vectors; for many of them in a fraction of the time."""
        ...

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        """Cosine of every chunk of these memories, in the order of the text; no vectors, no key."""
        ...

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        """The vector of the first chunk of each of these memories that has one."""
        ...

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        """(mark, id) of own memories whose vectors, or whether they are live, have changed since,
        in that order, at most `limit`: go on from the last mark. 0: from the beginning.

        Some may be here twice, and some put away again. Only the latest 200,000 changes are known.
        """
        ...

    def unsettled(self, embedder: str, limit: int) -> list[Pending]:
        """Chunks of own fresh memories that have their vector of this embedder, oldest first."""
        ...

    def settled(self, ids: Collection[str]) -> None:
        """These own memories were compared by meaning: they are fresh no longer.

        Not a change: no history, no new version or revision. Others' are passed over.
        """
        ...

    def retire(self, embedder: str) -> None:
        """Drop an embedder's vectors. Unknown names are ignored."""
        ...
