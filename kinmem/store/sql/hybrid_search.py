"""Both arms of a search over one file, by row numbers, in one statement; and what it asks of an
engine: rows ranked by their words, chunks near a vector.

Documents are found by their chunks, one by one; the part that answers best speaks for each.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from kinmem.errors import StoreError
from kinmem.models import Asked, Candidate, State, Vector
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.database import Database, Row, Words, state_of
from kinmem.store.sql.document_rows import Chosen, choose
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import CJK, SAID_AT, Allowed, named, pairs
from kinmem.store.sql.sharing import KinFiles
from kinmem.text import late

TOKEN = late(r"[^\W_]+")
# More terms cost time without finding more: 20,000 took 1.1 s (reliability, R20).
MOST_TERMS = 64
APART = (State.SUPERSEDED, State.ARCHIVED)
"""States whose vectors an engine may keep apart from those that are live."""
Near = list[tuple[int, float, int]]
"""(row of a memory, cosine of one of its chunks, that chunk), nearest first."""
Matches = list[tuple[int, float, int | None]]
"""(row of a memory, BM25, the document's chunk that matches), best first."""


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
NO_ROW = "SELECT 0 AS number, 0.0 AS better, 0 AS has_all WHERE FALSE"
COLUMNS = [name for name in Candidate._fields if name != "part"]
CANDIDATE = ", ".join(SAID_AT if name == "said_at" else f"m.{name}" for name in COLUMNS)
MOST_PARTS = 1000
"""Chunks of documents that are listed beside memories."""
# One statement: the rows that match with their ranks, then what is read of those that may be
# candidates. Joining every row that matches with its memory costs more than ranking it, so they are
# joined when they are listed; what is not allowed is told apart then.
SEARCH = f"""
    WITH listed AS MATERIALIZED ({{listed}}), told AS MATERIALIZED (
        SELECT l.number, l.better, l.has_all, m.rowid AS memory,
            {{allowed}} AS fits, {{former}} AS is_former
        FROM listed l ORDERED JOIN memories m ON m.rowid = CASE
            WHEN l.number > 0 THEN l.number ELSE (SELECT memory FROM chunks WHERE id = -l.number)
        END
    ), foremost AS (
        SELECT memory FROM told WHERE fits
        GROUP BY memory ORDER BY max(better) DESC, max(has_all) DESC, memory LIMIT :matching
    )
    SELECT number, better, has_all, memory, fits{", NULL" * (len(COLUMNS) + 2)} FROM told
    UNION ALL
    SELECT NULL, NULL, NULL, m.rowid, {{allowed}}, PARSED(m.metadata) ->> 'parts', {{cosines}},
        {CANDIDATE}
    FROM (
        SELECT memory FROM foremost UNION SELECT memory FROM told WHERE is_former
        UNION SELECT value FROM NUMBERED(:rows) asked
    ) wanted ORDERED JOIN memories m ON m.rowid = wanted.memory
    WHERE {{allowed}} OR {{former}}
    """
Ranked = list[tuple[int, float]]


@dataclass(frozen=True)
class Rows:
    """What was found in one file."""

    candidates: Mapping[int, Candidate]
    nearest: Ranked
    matches: Ranked
    cosines: Mapping[int, list[float]]
    degrees: Mapping[int, float]
    """See Found."""

    def only(self, rows: Collection[int]) -> "Rows":
        """Return what was found of these candidates alone."""
        return Rows(
            {row: one for row, one in self.candidates.items() if row in rows},
            [one for one in self.nearest if one[0] in rows],
            [one for one in self.matches if one[0] in rows],
            {row: values for row, values in self.cosines.items() if row in rows},
            {row: degree for row, degree in self.degrees.items() if row in rows},
        )


@dataclass(frozen=True)
class _Read:
    """What the statement gave."""

    matches: Matches
    candidates: Mapping[int, Candidate]
    documents: Mapping[int, Candidate]
    fitting: Collection[int]
    """Those that are allowed; the others have been superseded."""
    cosines: Mapping[int, list[float]]
    """Of candidates that are no documents; empty where the statement was not asked for them."""
    is_starved: bool
    """Whether rows that are not allowed have taken the places of others."""


def search(
    database: Database,
    words: RankedWords,
    chunks: NearChunks,
    asked: Asked,
    allowed: Allowed,
    superseded: Allowed | None,
) -> tuple[Rows, Rows]:
    """Search one file by meaning and by words. Returns what is allowed, and what has been
    `superseded`, if that is given: each list best first.

    Superseded memories are found by meaning, and by words as far as the list of matches reaches.
    """
    near, degrees = _near(chunks, asked, allowed)
    nearest = _first_of_each(near)[: asked.nearest]
    former: Near = []
    if superseded is not None and asked.vector is not None:
        [former] = chunks.nearest_parts([asked.vector], asked.embedder, asked.nearest, superseded)
    listed = [*nearest, *_first_of_each(former)[: asked.nearest]]
    beside = None if asked.vector is None else chunks.beside(asked.vector, asked.embedder)
    wanted = [*dict(listed), *degrees]
    read = _read(database, words, asked, allowed, superseded, wanted, beside)
    found = Rows(read.candidates, listed, _first_of_each(read.matches), read.cosines, degrees)
    if beside is None:
        found = _with_cosines(chunks, asked, found, read.documents)
    if read.documents:
        chosen = choose(database, chunks, asked, read.documents, [*near, *former], read.matches)
        found = _by_parts(found, read.documents, chosen)
    fitting = found.candidates.keys() & set(read.fitting)
    return found.only(fitting), found.only(found.candidates.keys() - fitting)


def _near(chunks: NearChunks, asked: Asked, allowed: Allowed) -> tuple[Near, dict[int, float]]:
    """Return the nearest chunks; and of those near the second vector (`asked.also`), if there is
    one, by memory the degree to which it is of the kind that is looked for beside."""
    if asked.vector is None:
        return [], {}
    aside = asked.also
    if aside is None:
        [near] = chunks.nearest_parts([asked.vector], asked.embedder, asked.nearest, allowed)
        return near, {}
    vectors = [asked.vector, aside.vector]
    near, beside = chunks.nearest_parts(vectors, asked.embedder, asked.nearest, allowed)
    rows = [row for row, _ in _first_of_each(beside)[: aside.most]]
    kinds = chunks.first_vectors(asked.embedder, rows)
    degrees = {row: aside.degree(kinds[row]) for row in rows if row in kinds}
    return near, {row: degree for row, degree in degrees.items() if degree > 0}


def _with_cosines(
    chunks: NearChunks, asked: Asked, found: Rows, documents: Collection[int]
) -> Rows:
    """Add the cosines of all chunks of candidates that are no documents."""
    if asked.vector is None:
        return found
    single = found.candidates.keys() - set(documents)
    return replace(found, cosines=chunks.cosines(asked.vector, asked.embedder, single))


def _by_parts(
    found: Rows, documents: Mapping[int, Candidate], chosen: Mapping[int, Chosen]
) -> Rows:
    """Put the chosen part in place of each document. A document without a chosen part is left
    out."""
    told = {row: one.cosine for row, one in chosen.items() if one.cosine is not None}
    scores = {row: one.match for row, one in chosen.items() if one.match is not None}
    return replace(
        found,
        candidates={
            row: chosen[row].candidate if row in chosen else one
            for row, one in found.candidates.items()
            if row in chosen or row not in documents
        },
        nearest=_reranked(found.nearest, told, documents),
        matches=_reranked(found.matches, scores, documents),
        cosines={**found.cosines, **{row: [cosine] for row, cosine in told.items()}},
    )


def _first_of_each(found: Iterable[tuple[int, float, Any]]) -> Ranked:
    """Return (memory, its best score), best first, from triples that are sorted so."""
    best: dict[int, float] = {}
    for memory, score, _ in found:
        best.setdefault(memory, score)
    return list(best.items())


def _reranked(
    ranked: Ranked, chosen: Mapping[int, float], documents: Mapping[int, Candidate]
) -> Ranked:
    """Return a ranked list in which documents have the scores of their chosen parts."""
    kept = [one for one in ranked if one[0] not in documents]
    return sorted([*kept, *chosen.items()], key=lambda one: -one[1])


def _read(
    database: Database,
    words: RankedWords,
    asked: Asked,
    allowed: Allowed,
    superseded: Allowed | None,
    rows: Sequence[int],
    beside: Beside | None,
) -> _Read:
    """Run the word search and read the candidates: the best matches, and `rows`.

    Matching memories keep their places even where chunks of documents match better. If memories
    that are not allowed have taken so many places that too few are left, the search runs again
    among the allowed ones alone.
    """
    former = superseded.condition if superseded else "FALSE"
    bound = {**(superseded.bound if superseded else {}), **allowed.bound}
    cosines, more_bound = beside or ("NULL", {})
    bound |= {"rows": json.dumps(rows), "matching": asked.matching, **more_bound}
    conditions = {"allowed": f"({allowed.condition})", "former": f"({former})"}

    def run(sought: Sought, *, exact: bool) -> _Read:
        parts = MOST_PARTS if state_of(database).has_documents else 0
        either = f"({allowed.condition}) OR ({former})" if exact else None
        listing = Listing(sought, asked.context, asked.listed, parts, either)
        listed, more = words.listed(listing) if sought.terms else (NO_ROW, {})
        sql = SEARCH.format(listed=listed, cosines=cosines, **conditions)
        try:
            return _sorted_out(database.rows(sql, {**bound, **more}), asked)
        except StoreError as error:
            if not sought.terms or error.code != "storage_damaged":
                raise
            database.damage.note("words", None, str(error))
            return run(Sought(()), exact=exact)

    any_word = any_of(asked.words)
    if asked.all_words_first and any_word.terms:
        read = run(all_of(asked.words, beginnings=True), exact=True)
        if read.matches:
            return read
    exact = asked.all_words_first or not allowed.plain
    sought = all_of(asked.words, beginnings=True) if asked.beginnings else any_word
    read = run(sought, exact=exact)
    return run(sought, exact=True) if read.is_starved and not exact else read


def _is_sound(values: Sequence[Any]) -> bool:
    """Return whether scoring can read a candidate; whether it is as it was written is checked when
    it is shown."""
    one = Candidate(*values)
    try:
        for time in filter(None, (one.said_at, one.content_updated_at, one.recalled_at)):
            datetime.fromisoformat(time)
        return isinstance(one.content, str)
    except (ValueError, TypeError):
        return False


def _sorted_out(rows: Iterable[Row], asked: Asked) -> _Read:
    """Convert the rows of SEARCH. On a tie, matches that have all the words come first, then the
    older ones."""
    listed, candidates, documents, fitting = [], {}, {}, set()
    cosines: dict[int, list[float]] = {}
    for number, better, has_all, memory, fits, parts, beside, *values in rows:
        if number is not None:
            listed.append((number, better, has_all, memory, fits))
            continue
        if not _is_sound(values):
            continue
        candidates[memory] = Candidate(*values)
        if parts is not None:
            documents[memory] = candidates[memory]
        elif numbers := [cosine for cosine in beside or () if cosine == cosine]:
            cosines[memory] = numbers  # a zero vector is near nothing
        if fits:
            fitting.add(memory)
    listed.sort(key=lambda one: (-one[1], not one[2], one[3], abs(one[0])))
    matches = [
        (memory, better, None if number > 0 else -number)
        for number, better, _, memory, _ in listed
        if memory in candidates
    ]
    is_full = sum(number > 0 for number, *_ in listed) >= asked.listed
    known = {memory for *_, memory, fits in listed if fits}
    is_starved = is_full and len(known) < asked.matching
    return _Read(matches, candidates, documents, fitting, cosines, is_starved)
