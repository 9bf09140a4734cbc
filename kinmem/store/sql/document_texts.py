"""The texts of documents, as a whole and in parts, and the part that a search shows for it."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kinmem.errors import MemoryNotFound
from kinmem.models import Asked, Candidate, Memory, Part, Passage
from kinmem.store.sql.database import Database
from kinmem.store.sql.document_rows import old_text, passage_of, text_of
from kinmem.store.sql.finding import Near, NearChunks
from kinmem.store.sql.memory_rows import ALL, IS_LIVE, VISIBLE
from kinmem.store.sql.sharing import Files

HELD_NOTE = "(held back: reads like an instruction)"


class SqlDocuments:
    """See Documents."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def listed(self, limit: int) -> list[str]:
        ids = [
            id
            for file in self._files
            for (id,) in file.database.rows(
                f"SELECT m.id FROM memories m WHERE {VISIBLE} AND m.state <> 'deleted'"
                " AND (PARSED(m.metadata) ->> 'parts') IS NOT NULL",
                self._files.view(file),
            )
        ]
        return sorted(ids, reverse=True)[:limit]

    def text(self, id: str, version: str | None = None) -> str:
        database, row = self._files.holder(id)
        with database.reading() as db:
            text = text_of(db, row)
            present: str = db.value("SELECT content_hash FROM memories WHERE rowid = ?", (row,))
        if version in (None, present):
            return text
        kept = {
            old: (base, change)
            for old, base, change in self._files.own.database.rows(
                "SELECT content_hash, base, delta FROM old_texts WHERE memory_id = ?", (id,)
            )
        }
        return old_text(kept, version or present, present, text, id)

    def readable(self, id: str) -> str:
        read = self.parts(id, most=None)
        if not any(place.held for place, _ in read):
            return self.text(id)
        whole: list[str] = []
        end = 0
        for place, text in read:
            rest = text[max(0, end - place.start) :]
            whole.append(f"{HELD_NOTE}\n\n" if place.held else rest)
            end = max(end, place.start + len(text))
        return "".join(whole)

    def parts(self, id: str, first: int = 0, most: int | None = 100) -> list[tuple[Passage, str]]:
        database, row = self._files.holder(id)
        rows = database.rows(
            """
            SELECT c.metadata, coalesce(c.text, m.content),
                PARSED(m.ingest_metadata) ->> 'held'
            FROM chunks c JOIN memories m ON m.rowid = c.memory
            WHERE c.memory = ? AND c.metadata IS NOT NULL AND c.position >= ?
            ORDER BY c.position LIMIT ?
            """,
            (row, first, ALL if most is None else most),
        )
        return [(passage_of(metadata, held), text) for metadata, text, held in rows]

    def by_source(self, source_ref: str) -> Memory | None:
        found = self._files.own.database.rows(
            f"SELECT max(m.id) FROM memories m WHERE m.source_ref = ?"
            f" AND ({IS_LIVE} OR m.state IN ('archived', 'quarantined'))",
            (source_ref,),
        )[0][0]
        try:
            return None if found is None else self._files.get(found)
        except MemoryNotFound:  # erased meanwhile
            return None


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
