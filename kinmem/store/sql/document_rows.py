"""The texts of documents: chunks, where each stands, the words in it, and earlier versions.

A document's text is in its chunks alone: each begins where the one before ends, or repeats the end
of it. In `words` each of its chunks is a row of its own, whose number is the chunk's below zero.
An earlier text is told by the later one: a small change takes little room, however long the text.
Among what a search finds, the part that answers best stands for a document.
"""

import json
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING

from kinmem.errors import MemoryNotFound
from kinmem.language import sentences
from kinmem.models import Asked, Candidate, Memory, Part, Passage
from kinmem.store.sql.database import Database, Transaction, Words
from kinmem.store.sql.memory_rows import (
    ALL,
    IS_LIVE,
    VISIBLE,
    as_text,
    time_text,
)

if TYPE_CHECKING:
    from kinmem.store.sql.hybrid_search import Matches, Near, NearChunks
    from kinmem.store.sql.sharing import Files


FIELDS = tuple(field.name for field in fields(Passage))


def passage_text(place: Passage) -> str:
    """Return the place as it is stored; empty fields are left out."""
    told = ((name, getattr(place, name)) for name in FIELDS)
    return as_text({name: value for name, value in told if value or name == "start"})


def passage_of(metadata: str, holds_back: object = True) -> Passage:
    """Read a stored place. If the document no longer holds anything back, the chunk is released.
    One that is damaged is the beginning."""
    try:
        place = Passage(**json.loads(metadata))
    except (ValueError, TypeError):
        return Passage(start=0)
    return place if holds_back else replace(place, held="")


def hold(db: Transaction, words: Words, row: int, holds_back: bool) -> None:
    """Remove from the word index what a document may hold back, or add it again."""
    chunks = db.rows(
        """
        SELECT c.id, c.metadata, coalesce(c.text, m.content)
        FROM chunks c JOIN memories m ON m.rowid = c.memory
        WHERE c.memory = ? AND c.metadata IS NOT NULL
        """,
        (row,),
    )
    read = [(id, text, passage_of(metadata)) for id, metadata, text in chunks]
    held = [(id, text, replace(place, held="")) for id, text, place in read if place.held]
    if holds_back:
        words.remove_parts(db, [id for id, _, _ in held])
    else:
        words.put_parts(db, held)


def joined(parts: Iterable[tuple[Passage, str]]) -> str:
    """Return the text from which these consecutive chunks were cut."""
    return _joined((place.start, text) for place, text in parts)


def _joined(parts: Iterable[tuple[int | None, str]]) -> str:
    """Join parts, each given as its start and its text. If a start is not known, the part follows
    the one before it."""
    whole: list[str] = []
    end = 0
    for place, text in parts:
        start = end if place is None else place
        whole.append(text[max(0, end - start) :])
        end = max(end, start + len(text))
    return "".join(whole)


def text_of(db: Transaction, row: int) -> str:
    """Return the whole text of a document, or the content of any other memory."""
    rows = db.rows(
        "SELECT PARSED(metadata) ->> 'start', text FROM chunks"
        " WHERE memory = ? AND metadata IS NOT NULL ORDER BY position",
        (row,),
    )
    content = db.value("SELECT content FROM memories WHERE rowid = ?", (row,))
    parts = [
        (None if start is None else int(start), content if text is None else text)
        for start, text in rows
    ]
    return _joined(parts) or str(content)


def note_ingested(db: Transaction, embedder: str, chunks: Sequence[int]) -> None:
    """Mark documents as ingested whose last chunks without a vector were these."""
    db.run(
        """
        UPDATE memories SET status = 'ingested'
        WHERE status = 'pending' AND rowid IN (
            SELECT memory FROM chunks
            WHERE id IN NUMBERED(:chunks) AND metadata IS NOT NULL
        ) AND NOT EXISTS (
            SELECT 1 FROM pending p JOIN embedders e ON e.id = p.embedder AND e.name = :embedder
            -- the chunks of one document are numbered in a row
            WHERE p.chunk BETWEEN (SELECT min(id) FROM chunks WHERE memory = memories.rowid)
                AND (SELECT max(id) FROM chunks WHERE memory = memories.rowid)
        )
        """,
        {"embedder": embedder, "chunks": json.dumps(list(chunks))},
    )


def keep_text(db: Transaction, old: Memory, said: str, new: Memory, says: str) -> None:
    """Store the text of an earlier version as its difference from the present one."""
    change = delta(says, said)
    db.run(
        "DELETE FROM old_texts WHERE memory_id = ? AND content_hash = ?", (new.id, new.content_hash)
    )
    db.run(
        """
        INSERT INTO old_texts (memory_id, content_hash, base, delta, at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (memory_id, content_hash)
            DO UPDATE SET base = excluded.base, delta = excluded.delta, at = excluded.at
        """,
        (old.id, old.content_hash, new.content_hash, change, time_text(new.content_updated_at)),
    )


def old_text(
    kept: dict[str, tuple[str, bytes]], version: str, present: str, text: str, id: str
) -> str:
    """Return the text of a version. `kept` holds base and delta by version; `text` is that of
    `present`."""
    steps = []
    while version != present:
        if version not in kept:
            raise MemoryNotFound(id)
        version, change = kept.pop(version)
        steps.append(change)
    for change in reversed(steps):
        text = applied(text, change)
    return text


def drop_old_texts(database: Database, before: datetime) -> None:
    """Delete the texts of own documents' versions that were replaced before that moment."""
    bound = (time_text(before),)
    if database.rows("SELECT 1 FROM old_texts WHERE at < ? LIMIT 1", bound):
        with database.writing() as db:
            db.run("DELETE FROM old_texts WHERE at < ?", bound)


# Characters compared at once if no sentence ends sooner.
LONGEST = 500


def delta(base: str, text: str) -> bytes:
    """Return what turns `base` into `text`: spans to copy, and words that `base` does not have."""
    head = _common(base, text)
    tail = _common(base[head:][::-1], text[head:][::-1])
    middle, end = text[head : len(text) - tail], len(base) - tail
    steps: list[list[int] | str] = [[0, head], *_steps(base, head, end, middle), [end, len(base)]]
    told = json.dumps([step for step in steps if isinstance(step, str) or step[0] < step[1]])
    return zlib.compress(told.encode())


def applied(base: str, change: bytes) -> str:
    """Return the text that was given to `delta`."""
    steps = json.loads(zlib.decompress(change))
    return "".join(s if isinstance(s, str) else base[s[0] : s[1]] for s in steps)


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning."""
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, True, key=lambda n: one[:n] != other[:n])


def _steps(base: str, start: int, end: int, text: str) -> list[list[int] | str]:
    """Split the text into sentences; those that occur in that span of `base` are copied."""
    known: dict[str, int] = {}
    at = start
    for part in _sentences(base[start:end]):
        known.setdefault(part, at)
        at += len(part)
    steps: list[list[int] | str] = []
    unknown: list[str] = []
    for part in _sentences(text):
        place = known.get(part)
        if place is None:
            unknown.append(part)
            continue
        if unknown:
            steps.append("".join(unknown))
            unknown.clear()
        last = steps[-1] if steps else None
        if isinstance(last, list) and base.startswith(part, last[1]):
            last[1] += len(part)
        else:
            steps.append([place, place + len(part)])
    return [*steps, "".join(unknown)] if unknown else steps


def _sentences(text: str) -> list[str]:
    return [
        part[at : at + LONGEST] for part in sentences(text) for at in range(0, len(part), LONGEST)
    ]


HELD_NOTE = "(held back: reads like an instruction)"


class SqlDocuments:
    """See Documents."""

    def __init__(self, files: "Files") -> None:
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


TRIED_PARTS = 4
"""Chunks of one document that are looked at for each arm, the best ones."""
OF_WORDS = 0.3
"""Of the best BM25, beside a cosine that counts whole: as recall joins the two."""


@dataclass(frozen=True)
class Chosen:
    """The part of a document by which it is judged."""

    candidate: Candidate
    cosine: float | None
    match: float | None


def choose(
    database: Database,
    chunks: "NearChunks",
    asked: Asked,
    documents: Mapping[int, Candidate],
    near: "Near",
    matches: "Matches",
) -> dict[int, Chosen]:
    """Choose the best part of each document, by row number. A document without a part that may be
    recalled gets none.

    A part counts by its cosine, and by its BM25 as a share of the best (OF_WORDS). A document that
    is found by its title alone is judged by its beginning.
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
        return cosines.get(chunk, 0.0) + OF_WORDS * scores.get(chunk, 0.0) / best, -chunk

    chosen = {}
    for memory, document in documents.items():
        if parts := [chunk for chunk, (owner, _, _) in read.items() if owner == memory]:
            chunk = max(parts, key=worth)
            _, part, text = read[chunk]
            told = [score for score in (scores.get(chunk), titles.get(memory)) if score is not None]
            found = document._replace(content=text, part=part)
            chosen[memory] = Chosen(found, cosines.get(chunk), max(told, default=None))
    return chosen


def _tried(documents: Collection[int], near: "Near", matches: "Matches") -> list[int]:
    """Return the chunks to compare: of each document the TRIED_PARTS nearest, and as many best
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
        for chunk in (*by_meaning[memory][:TRIED_PARTS], *by_words[memory][:TRIED_PARTS])
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
