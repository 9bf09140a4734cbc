"""Both arms of a search over one file, by row numbers: ids are read once, with the candidates.

Documents are found by their chunks, one by one; the part that answers best speaks for each.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinmem.models import Asked, Candidate, Part
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.document_parts import passage_of
from kinmem.store.sqlite.nearest_chunks import Near, NearestChunks
from kinmem.store.sqlite.queries import SAID_AT, Allowed, match_all, match_any

# Weights of the columns content, subject, context. bm25 as a function and not as the hidden column
# `rank`, which sorts all rows in a statement of its own: half as long again.
WORSE = "bm25(words, 1.0, 1.0, :context)"
ANY_ROW = f"""
    SELECT rowid, -{WORSE} AS better FROM words
    WHERE words MATCH :words AND rowid BETWEEN :first AND :last
    ORDER BY better DESC LIMIT :limit
    """
ALLOWED_ROWS = f"""
    SELECT words.rowid, -{WORSE} AS better FROM words CROSS JOIN memories m ON m.rowid = iif(
        words.rowid > 0, words.rowid, (SELECT memory FROM chunks WHERE id = -words.rowid)
    )
    WHERE words MATCH :words AND words.rowid BETWEEN :first AND :last AND {{}}
    ORDER BY better DESC LIMIT :limit
    """
COLUMNS = [name for name in Candidate._fields if name != "part"]
CANDIDATE = ", ".join(SAID_AT if name == "said_at" else f"m.{name}" for name in COLUMNS)
LAST = 2**62
EVERY, MEMORIES, PARTS = (-LAST, LAST), (1, LAST), (-LAST, -1)
"""Row numbers of `words`: all, those of memories, those of the chunks of documents."""
MOST_PARTS = 1000
"""Rows of chunks that are listed where they have taken the places of memories."""

Ranked = list[tuple[int, float]]
Matches = list[tuple[int, float, int | None]]
"""(row of a memory, BM25, the document's chunk that matches), best first."""


@dataclass(frozen=True)
class Rows:
    """What was found in one file."""

    candidates: Mapping[int, Candidate]
    nearest: Ranked
    matches: Ranked
    cosines: Mapping[int, list[float]]


def search(database: Database, chunks: NearestChunks, asked: Asked, allowed: Allowed) -> Rows:
    """The allowed rows that both arms find, each arm's in its order."""
    near = _near(chunks, asked, allowed)
    nearest = _first_of_each(near)[: asked.nearest]
    exact = asked.all_words_first or not allowed.plain
    parts = _matching(database, asked, allowed, exact=exact)
    matches = _first_of_each(parts)
    also = _rows(database, asked.also)
    listed = [*nearest, *also]
    candidates, documents = _read(database, listed, matches[: asked.matching], allowed)
    if allowed.plain and _starved(matches, candidates, asked):
        parts = _matching(database, asked, allowed, exact=True)
        matches = _first_of_each(parts)
        candidates, documents = _read(database, listed, matches[: asked.matching], allowed)
    cosines: dict[int, list[float]] = {}
    if asked.vector is not None:
        single = candidates.keys() - documents.keys()
        cosines = chunks.cosines(asked.vector, asked.embedder, single)
    if documents:
        chosen = choose(database, chunks, asked, documents, near, parts)
        candidates = {
            row: chosen[row].candidate if row in chosen else one
            for row, one in candidates.items()
            if row in chosen or row not in documents
        }
        told = {row: one.cosine for row, one in chosen.items() if one.cosine is not None}
        cosines |= {row: [cosine] for row, cosine in told.items()}
        nearest = _reranked(nearest, told, documents)
        scores = {row: one.match for row, one in chosen.items() if one.match is not None}
        matches = _reranked(matches, scores, documents)
    return Rows(
        candidates,
        [one for one in nearest if one[0] in candidates],
        [match for match in matches if match[0] in candidates],
        cosines,
    )


def _rows(database: Database, ids: Sequence[str]) -> Ranked:
    """Those that are here, found by neither arm."""
    if not ids:
        return []
    rows = database.rows(
        "SELECT rowid FROM memories WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return [(row, 0.0) for (row,) in rows]


def _near(chunks: NearestChunks, asked: Asked, allowed: Allowed) -> Near:
    if asked.vector is None:
        return []
    [near] = chunks.nearest_parts([asked.vector], asked.embedder, asked.nearest, allowed)
    return near


def _first_of_each(found: Iterable[tuple[int, float, Any]]) -> Ranked:
    """(memory, its best score), best first."""
    best: dict[int, float] = {}
    for memory, score, _ in found:
        best.setdefault(memory, score)
    return list(best.items())


def _reranked(
    ranked: Ranked, chosen: Mapping[int, float], documents: Mapping[int, Candidate]
) -> Ranked:
    """With documents where the part that was chosen puts them."""
    kept = [one for one in ranked if one[0] not in documents]
    return sorted([*kept, *chosen.items()], key=lambda one: -one[1])


def _matching(database: Database, asked: Asked, allowed: Allowed, *, exact: bool) -> Matches:
    """Best first, rows with all the words first among equals. Memories have their places even where
    the chunks of documents match better.

    Joining every row that matches costs more than ranking it: unless `exact`, rows are listed that
    are not allowed, and fall out when the candidates are read.
    """
    rows = _matching_rows(database, asked, allowed, EVERY, asked.listed, exact=exact)
    if len(rows) == asked.listed and any(row < 0 for row, _ in rows):
        rows = _matching_rows(database, asked, allowed, MEMORIES, asked.listed, exact=exact)
        rows += _matching_rows(database, asked, allowed, PARTS, MOST_PARTS, exact=exact)
        rows.sort(key=lambda match: -match[1])
    memory_of = owners(database, [-row for row, _ in rows if row < 0])
    return [
        (row, score, None) if row > 0 else (memory_of[-row], score, -row)
        for row, score in rows
        if row > 0 or -row in memory_of
    ]


def _matching_rows(
    database: Database,
    asked: Asked,
    allowed: Allowed,
    span: tuple[int, int],
    limit: int,
    *,
    exact: bool,
) -> Ranked:
    """(row of `words`, BM25, higher is better), best first."""
    sql = ALLOWED_ROWS.format(allowed.condition) if exact else ANY_ROW
    any_of, all_of = match_any(asked.words), match_all(asked.words)
    if not any_of:
        return []
    first, last = span
    bound = {**allowed.bound, "limit": limit, "context": asked.context}
    bound |= {"first": first, "last": last}
    if asked.all_words_first:
        beginnings = match_all(asked.words, beginnings=True)
        if found := database.rows(sql, {**bound, "words": beginnings}):
            return found
    found = database.rows(sql, {**bound, "words": any_of})
    if all_of != any_of and len({score for _, score in found}) < len(found):
        rows = database.rows("SELECT rowid FROM words WHERE words MATCH ?", (all_of,))
        full = {row for (row,) in rows}
        found.sort(key=lambda match: (-match[1], match[0] not in full))
    return found


def _read(
    database: Database, nearest: Ranked, matches: Sequence[tuple[int, float]], allowed: Allowed
) -> tuple[dict[int, Candidate], dict[int, Candidate]]:
    """The allowed ones among the memories found, and of those the documents."""
    rows: Iterable[int] = dict.fromkeys(row for row, _ in [*nearest, *matches])
    read = database.rows(
        f"SELECT m.rowid, json_extract(m.metadata, '$.parts'), {CANDIDATE} FROM memories m"
        f" WHERE m.rowid IN (SELECT value FROM json_each(:rows)) AND {allowed.condition}",
        {**allowed.bound, "rows": json.dumps(list(rows))},
    )
    candidates = {row: Candidate(*values) for row, _, *values in read}
    return candidates, {row: candidates[row] for row, parts, *_ in read if parts is not None}


def _starved(matches: Ranked, candidates: Mapping[int, Candidate], asked: Asked) -> bool:
    """Whether rows that are not allowed have taken the places of others."""
    first = matches[: asked.matching]
    return len(matches) > len(first) and any(row not in candidates for row, _ in first)


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
    chunks: NearestChunks,
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


def _read_chunks(
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
