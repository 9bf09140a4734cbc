"""What the shared searches ask of an engine: rows ranked by their words, chunks near a vector."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kinmem.models import State, Vector
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.database import Words
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import CJK, Allowed, named, pairs
from kinmem.store.sql.sharing import KinFiles
from kinmem.text import late

TOKEN = late(r"[^\W_]+")
# More terms cost time without finding more: 20,000 took 1.1 s (reliability, R20).
MOST_TERMS = 64
APART = (State.SUPERSEDED, State.ARCHIVED)
"""States whose vectors an engine may keep apart from those that are live."""

Near = list[tuple[int, float, int]]
"""(row of a memory, cosine of one of its chunks, that chunk), nearest first."""


class Term(NamedTuple):
    """Tokens that follow each other in a text; the last may be the beginning of one."""

    tokens: tuple[str, ...]
    begins: bool = False


@dataclass(frozen=True)
class Sought:
    """Which rows match: those with any of the terms, or with all of them."""

    terms: tuple[Term, ...]
    """None if the index can contain none of the words."""
    needs_all: bool = False


def any_of(words: Sequence[str]) -> Sought:
    """Return what finds rows with any of the words."""
    return Sought(_terms(words))


def all_of(words: Sequence[str], *, beginnings: bool = False) -> Sought:
    """Return what finds rows with all of the words, or with words that begin with them."""
    terms = _terms(words)
    return Sought(tuple(Term(t.tokens, t.begins or beginnings) for t in terms), needs_all=True)


def _terms(words: Iterable[str]) -> tuple[Term, ...]:
    terms: dict[Term, None] = {}
    for word in words:
        parted = CJK.sub(
            lambda run: f" {' '.join(pairs(run.group()) or run.group())} ", named(word)
        )
        for part in parted.split():
            if tokens := TOKEN.findall(part):
                begins = CJK.fullmatch(part) is not None and len(part) == 1
                terms[Term(tuple(tokens), begins)] = None
    return tuple(terms)[:MOST_TERMS]


@dataclass(frozen=True)
class Listing:
    """Which rows of a word index are wanted, and how they are ranked."""

    sought: Sought
    context: float
    """Weight of a word in the context; in what else a row has it is 1."""
    limit: int
    parts: int = 0
    """How many chunks of documents are wanted as well."""
    allowed: str | None = None
    """A condition on `memories m`, or `turns m`, for the rows that count; None: all do."""


class RankedWords(Protocol):
    """A word index that ranks: BM25 of FTS5, whoever counts it."""

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        """Return a statement for the best rows as (number, better, has_all), and its bindings:
        has_all is 1 for rows that have all the words. Chunks of documents have the chunk's number
        below zero."""
        ...


Beside = tuple[str, Mapping[str, Any]]
"""An expression about memory `m`, and its bindings."""


class NearChunks(Protocol):
    """Finds the chunks of one file by meaning."""

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[list[tuple[int, float]]]:
        """Return for each vector at most `limit` (row of a memory, cosine of its best chunk),
        nearest first. Empty lists if the embedder is not enrolled."""
        ...

    def nearest_parts(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[Near]:
        """Return for each vector its nearest chunks: so many that they belong to `limit` memories,
        if there are as many. Nearest first, ties by chunk."""
        ...

    def has_none(self, embedder: str, state: State) -> bool:
        """Return whether certainly no memory is in this state. False if that takes asking."""
        ...

    def first_vectors(self, embedder: str, rows: Sequence[int]) -> dict[int, Vector]:
        """Return by memory row the vector of its first chunk; no key without one."""
        ...

    def cosines(self, vector: Vector, embedder: str, rows: Set[int]) -> dict[int, list[float]]:
        """Return by memory row the cosines of its chunks, in text order; no key without vectors."""
        ...

    def beside(self, vector: Vector, embedder: str) -> Beside | None:
        """Return what reads `cosines` of a memory that is no document together with the memory,
        as a list; null without vectors. None where another statement costs nothing."""
        ...

    def cosines_of(
        self, vector: Vector, embedder: str, chunks: Collection[int]
    ) -> dict[int, float]:
        """Return the cosines of these chunks by chunk; no key without a vector."""
        ...


class SearchedWords(Words, RankedWords, Protocol):
    """A word index of memories."""


class SearchedFile(MemoryFile):
    """A file with all that a search asks of it."""

    words: SearchedWords
    vectors: ChunkQueue
    near: NearChunks


SearchedFiles = KinFiles[SearchedFile]
