"""Both arms of a search over one file, by row numbers: ids are read once, with the candidates."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kinmem.models import Asked, Candidate
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import SAID_AT, Allowed
from kinmem.store.sqlite.vectors import ChunkVectors
from kinmem.store.sqlite.words import match_all, match_any

# Weights of the columns content, subject, context. bm25 as a function and not as the hidden column
# `rank`, which sorts all rows in a statement of its own: half as long again.
WORSE = "bm25(words, 1.0, 1.0, :context)"
ANY_ROW = f"""
    SELECT rowid, -{WORSE} AS better FROM words WHERE words MATCH :words
    ORDER BY better DESC LIMIT :limit
    """
ALLOWED_ROWS = f"""
    SELECT m.rowid, -{WORSE} AS better FROM words CROSS JOIN memories m ON m.rowid = words.rowid
    WHERE words MATCH :words AND {{}}
    ORDER BY better DESC LIMIT :limit
    """
CANDIDATE = ", ".join(SAID_AT if name == "said_at" else f"m.{name}" for name in Candidate._fields)

Ranked = list[tuple[int, float]]


@dataclass(frozen=True)
class Rows:
    """What was found in one file."""

    candidates: Mapping[int, Candidate]
    nearest: Ranked
    matches: Ranked
    cosines: Mapping[int, list[float]]


def search(database: Database, vectors: ChunkVectors, asked: Asked, allowed: Allowed) -> Rows:
    """The allowed rows that both arms find, each arm's in its order."""
    nearest = _nearest(vectors, asked, allowed)
    exact = asked.all_words_first or not allowed.plain
    matches = _matching(database, asked, allowed, exact=exact)
    candidates = _read(database, nearest, matches[: asked.matching], allowed)
    if allowed.plain and _starved(matches, candidates, asked):
        matches = _matching(database, asked, allowed, exact=True)
        candidates = _read(database, nearest, matches[: asked.matching], allowed)
    cosines: Mapping[int, list[float]] = {}
    if asked.vector is not None:
        cosines = vectors.cosines(asked.vector, asked.embedder, candidates.keys())
    return Rows(
        candidates,
        [near for near in nearest if near[0] in candidates],
        [match for match in matches if match[0] in candidates],
        cosines,
    )


def _nearest(vectors: ChunkVectors, asked: Asked, allowed: Allowed) -> Ranked:
    if asked.vector is None:
        return []
    return vectors.nearest(asked.vector, asked.embedder, asked.nearest, allowed)


def _matching(database: Database, asked: Asked, allowed: Allowed, *, exact: bool) -> Ranked:
    """(row, BM25, higher is better), best first; those with all the words first among equals.

    Joining every row that matches costs more than ranking it: unless `exact`, rows are listed that
    are not allowed, and fall out when the candidates are read.
    """
    sql = ALLOWED_ROWS.format(allowed.condition) if exact else ANY_ROW
    any_of, all_of = match_any(asked.words), match_all(asked.words)
    if not any_of:
        return []
    bound = {**allowed.bound, "limit": asked.listed, "context": asked.context}
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
) -> dict[int, Candidate]:
    """The allowed ones among the rows found."""
    rows: Iterable[int] = dict.fromkeys(row for row, _ in [*nearest, *matches])
    read = database.rows(
        f"SELECT m.rowid, {CANDIDATE} FROM memories m"
        f" WHERE m.rowid IN (SELECT value FROM json_each(:rows)) AND {allowed.condition}",
        {**allowed.bound, "rows": json.dumps(list(rows))},
    )
    return {row: Candidate._make(values) for row, *values in read}


def _starved(matches: Ranked, candidates: Mapping[int, Candidate], asked: Asked) -> bool:
    """Whether rows that are not allowed have taken the places of others."""
    first = matches[: asked.matching]
    return len(matches) > len(first) and any(row not in candidates for row, _ in first)
