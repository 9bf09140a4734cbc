"""Which part of each document answers best: documents are found by their chunks, one by one."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kinmem.models import Asked, Candidate, Part
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.parts import passage_of
from kinmem.store.sqlite.vectors import ChunkVectors, Near

TRIED = 4
"""Chunks of one document that are looked at for each arm, the best ones."""
WORDS = 0.3
"""Of the best BM25, beside a cosine that counts whole: as recall joins the two."""

Matches = list[tuple[int, float, int | None]]
"""(row of a memory, BM25, the document's chunk that matches), best first."""


@dataclass(frozen=True)
class Chosen:
    """The part of a document by which it is judged."""

    candidate: Candidate
    cosine: float | None
    match: float | None


def owners(database: Database, chunks: Collection[int]) -> dict[int, int]:
    """By chunk the number of the memory that it belongs to."""
    if not chunks:
        return {}
    return dict(
        database.rows(
            "SELECT id, memory FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(chunks)),),
        )
    )


def choose(
    database: Database,
    vectors: ChunkVectors,
    asked: Asked,
    documents: Mapping[int, Candidate],
    near: Near,
    matches: Matches,
) -> dict[int, Chosen]:
    """For each of these documents, by number, its best part; none for one that has no part which
    may be recalled.

    What is found by its title alone is judged by its beginning.
    """
    tried = _tried(documents, near, matches)
    read = _read(database, documents, tried)
    cosines = {chunk: cosine for memory, cosine, chunk in near if memory in documents}
    if asked.vector is not None:
        cosines |= vectors.cosines_of(asked.vector, asked.embedder, read.keys() - cosines.keys())
    scores = {chunk: score for _, score, chunk in matches if chunk is not None}
    titles = {memory: score for memory, score, chunk in matches if chunk is None}
    best = max((score for _, score, _ in matches), default=0.0) or 1.0

    def worth(chunk: int) -> tuple[float, int]:
        return cosines.get(chunk, 0.0) + WORDS * scores.get(chunk, 0.0) / best, -chunk

    chosen = {}
    for memory, document in documents.items():
        if chunks := [chunk for chunk, (owner, _, _) in read.items() if owner == memory]:
            chunk = max(chunks, key=worth)
            _, part, text = read[chunk]
            told = [score for score in (scores.get(chunk), titles.get(memory)) if score is not None]
            found = document._replace(content=text, part=part)
            chosen[memory] = Chosen(found, cosines.get(chunk), max(told, default=None))
    return chosen


def _tried(documents: Collection[int], near: Near, matches: Matches) -> list[int]:
    """The chunks worth a look: of each document the nearest, and those that match best."""
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


def _read(
    database: Database, documents: Mapping[int, Candidate], tried: Sequence[int]
) -> dict[int, tuple[int, Part, str]]:
    """(memory, which part, text) by chunk, with the beginnings; what is held back is left out."""
    rows = database.rows(
        """
        SELECT c.id, c.memory, c.position, c.metadata, coalesce(c.text, m.content),
            json_extract(m.metadata, '$.parts'), coalesce(m.title, ''),
            json_extract(m.ingest_metadata, '$.held')
        FROM chunks c JOIN memories m ON m.rowid = c.memory
        WHERE c.metadata IS NOT NULL AND (
            c.id IN (SELECT value FROM json_each(:tried))
            OR c.memory IN (SELECT value FROM json_each(:documents)) AND c.position = 0
        )
        """,
        {"tried": json.dumps(list(tried)), "documents": json.dumps(list(documents))},
    )
    read = {}
    for chunk, memory, position, metadata, text, parts, title, held in rows:
        passage = passage_of(metadata, held)
        if not passage.held:
            part = Part(position + 1, parts, str(passage), title)
            read[chunk] = memory, part, text.strip()
    return read
