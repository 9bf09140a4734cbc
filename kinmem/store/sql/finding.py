"""What the shared searches ask of an engine: rows ranked by their words, chunks near a vector; and
the part of a document that stands for it among them."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kinmem.models import Asked, Candidate, Part, State, Vector
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.database import Database, Words
from kinmem.store.sql.document_rows import passage_of
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


Matches = list[tuple[int, float, int | None]]
"""(row of a memory, BM25, the document's chunk that matches), best first."""


TRIED = 4
"""Chunks of one document that are looked at for each arm, the best ones."""
WORDS = 0.3
"""Of the best BM25, beside a cosine that counts whole: as recall joins the two."""


@dataclass(frozen=True)
class Chosen:
    """The part of a document by which it is judged."""

    candidate: Candidate
    cosine: float | None
    match: float | None


def choose(
    database: Database,
    chunks: NearChunks,
    asked: Asked,
    documents: Mapping[int, Candidate],
    near: Near,
    matches: Matches,
) -> dict[int, Chosen]:
    """Choose the best part of each document, by row number. A document without a part that may be
    recalled gets none.

    A part counts by its cosine, and by its BM25 as a share of the best (WORDS). A document that is
    found by its title alone is judged by its beginning.
    """
    tried = _tried(documents, near, matches)
    read = _read_chunks(database, documents, tried)
    cosines = {chunk: cosine for memory, cosine, chunk in near if memory in documents}
    if asked.vector is not None:
        cosines |= chunks.cosines_of(asked.vector, asked.embedder, read.keys() - cosines.keys())
    scores = {chunk: score for _, score, chunk in matches if chunk is not None}
    titles = {memory: score for memory, score, chunk in matches if chunk is None}
    best = max((score for _, score, _ in matches), default=0.0) or 1.0

    def worth(chunk: int) -> tuple[float, int]:
        return cosines.get(chunk, 0.0) + WORDS * scores.get(chunk, 0.0) / best, -chunk

    chosen = {}
    for memory, document in documents.items():
        if parts := [chunk for chunk, (owner, _, _) in read.items() if owner == memory]:
            chunk = max(parts, key=worth)
            _, part, text = read[chunk]
            told = [score for score in (scores.get(chunk), titles.get(memory)) if score is not None]
            found = document._replace(content=text, part=part)
            chosen[memory] = Chosen(found, cosines.get(chunk), max(told, default=None))
    return chosen


def _tried(documents: Collection[int], near: Near, matches: Matches) -> list[int]:
    """Return the chunks to compare: of each document the TRIED nearest and the TRIED best
    matches."""
    by_meaning, by_words = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for memory, _, chunk in near:
        by_meaning[memory].append(chunk)
    for memory, _, found in matches:
        if found is not None:
            by_words[memory].append(found)
    return [
        chunk
        for memory in documents
        for chunk in (*by_meaning[memory][:TRIED], *by_words[memory][:TRIED])
    ]


def _read_chunks(
    database: Database, documents: Mapping[int, Candidate], tried: Sequence[int]
) -> dict[int, tuple[int, Part, str]]:
    """Return (row of the memory, part, text) by chunk, for the tried ones and the first of each
    document; without those that are held back."""
    rows = database.rows(
        """
        SELECT c.id, c.memory, c.position, c.metadata, coalesce(c.text, m.content),
            PARSED(m.metadata) ->> 'parts', coalesce(m.title, ''),
            PARSED(m.ingest_metadata) ->> 'held'
        FROM chunks c JOIN memories m ON m.rowid = c.memory
        WHERE c.metadata IS NOT NULL AND (
            c.id IN NUMBERED(:tried) OR c.memory IN NUMBERED(:documents) AND c.position = 0
        )
        """,
        {"tried": json.dumps(list(tried)), "documents": json.dumps(list(documents))},
    )
    read = {}
    for chunk, memory, position, metadata, text, parts, title, held in rows:
        passage = passage_of(metadata, held)
        if not passage.held:
            part = Part(position + 1, int(parts), str(passage), title)
            read[chunk] = memory, part, text.strip()
    return read
