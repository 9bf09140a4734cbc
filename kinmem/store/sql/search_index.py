"""The words and vectors of all memories that a Kin sees: its own, and what others share."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from kinmem.models import (
    Asked,
    Candidate,
    Coverage,
    Filters,
    Found,
    Pending,
    Scope,
    State,
    Vector,
    Vectors,
)
from kinmem.store.sql.chunk_queue import by_text
from kinmem.store.sql.damage import again
from kinmem.store.sql.database import Transaction, state_of
from kinmem.store.sql.document_rows import note_ingested
from kinmem.store.sql.hybrid_search import APART, Rows, SearchedFile, SearchedFiles, search
from kinmem.store.sql.memory_rows import IN_IDS, IN_NUMBERS, VISIBLE, Allowed, View, conditions


class SqlIndex:
    """See Index."""

    def __init__(self, files: SearchedFiles) -> None:
        self._files = files

    def search(self, asked: Asked, filters: Filters) -> Found:
        found, former = _Both(), _Both()
        for file, allowed in self._files.allowed(filters):
            allowed, is_empty = _apart(file, asked, filters, allowed)
            if is_empty:
                continue
            superseded = self._superseded(filters, allowed) if asked.former else None
            rows, superseded_rows = search(
                file.database, file.words, file.near, asked, allowed, superseded
            )
            found.add(rows)
            former.add(superseded_rows)
        return replace(found.told(), former=former.told() if asked.former else None)

    def _superseded(self, filters: Filters, allowed: Allowed) -> Allowed:
        """Return what was superseded and fits the filters in everything else."""
        ended = replace(
            filters, as_of=None, was=None, include_archived=False, states=(State.SUPERSEDED,)
        )
        where, bound = conditions(ended, {}, self._files.clock())
        return Allowed(where, {**bound, **allowed.bound}, allowed.plain, False, State.SUPERSEDED)

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        return self.nearest_each([vector], embedder, limit, filters)[0]

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        found: list[list[tuple[float, str]]] = [[] for _ in vectors]
        for file, allowed in self._files.allowed(filters):
            near = file.near.nearest_each(vectors, embedder, limit, allowed)
            ids = _ids(file, {row for rows in near for row, _ in rows}, self._files.view(file))
            for one, rows in zip(found, near, strict=True):
                one += [(cosine, ids[row]) for row, cosine in rows if row in ids]
        return [_best(one) for one in found]

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        result = {}
        for file in self._files:
            rows = file.database.rows(
                f"SELECT m.rowid, m.id FROM memories m WHERE m.id {IN_IDS} AND {VISIBLE}",
                {"ids": json.dumps(list(ids)), **self._files.view(file)},
            )
            names: dict[int, str] = dict(rows)
            for row, values in file.near.cosines(vector, embedder, names.keys()).items():
                result[names[row]] = values
        return result

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        return {
            id: vector
            for file in self._files
            for id, vector in file.vectors.first(embedder, ids, self._files.view(file))
        }

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        return self._files.own.vectors.changed_since(mark, scope, limit)

    def enroll(self, embedder: str, dimension: int) -> None:
        for file in self._files:
            file.vectors.enroll(embedder, dimension)

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        own, others = self._files
        return [
            Pending(chunk, is_own, id, text, bool(fresh))
            for is_own, rows in (
                (True, own.vectors.pending(embedder, limit)),
                (False, others.vectors.pending(embedder, limit, but=self._files.kin)),
            )
            for chunk, id, text, fresh in rows
        ][:limit]

    def is_filled(self, embedder: str) -> bool:
        own, others = self._files
        return _is_filled(own, embedder, but=None) and _is_filled(others, embedder, self._files.kin)

    def vectors_of(self, embedder: str, ids: Collection[str]) -> dict[str, dict[str, Vector]]:
        return by_text(self._files.own.vectors.texts(embedder, ids))

    @again
    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        for file in self._files:
            is_own = file is self._files.own
            places = [at for at, chunk in enumerate(chunks) if chunk.is_own == is_own]
            if places:
                with self._files.changing() if is_own else file.changing() as db:
                    _fill(file, db, embedder, [chunks[at].chunk for at in places], vectors[places])

    def unsettled(self, embedder: str, limit: int) -> list[Pending]:
        return [
            Pending(chunk, True, id, text, True)
            for chunk, id, text in self._files.own.vectors.unsettled(embedder, limit)
        ]

    def settled(self, ids: Collection[str]) -> None:
        which = {"ids": json.dumps(list(ids))}
        fresh = f"id {IN_IDS} AND status = 'pending'"
        if self._files.own.database.rows(f"SELECT 1 FROM memories WHERE {fresh} LIMIT 1", which):
            with self._files.writing() as db:
                db.run(f"UPDATE memories SET status = 'ingested' WHERE {fresh}", which)

    def coverage(self) -> list[Coverage]:
        own, others = self._files
        shared = {one.embedder: one for one in others.vectors.coverage(but=self._files.kin)}
        both = [
            replace(
                one,
                done=one.done + other.done,
                total=one.total + other.total,
                of_documents=one.of_documents + other.of_documents,
            )
            for one in own.vectors.coverage()
            if (other := shared.get(one.embedder))  # else another Kin has enrolled or retired it
        ]
        return sorted(both, key=lambda one: -one.share)

    def retire(self, embedder: str) -> None:
        for file in self._files:
            file.vectors.retire(embedder)


def _is_filled(file: SearchedFile, embedder: str, but: str | None) -> bool:
    """Return whether every chunk has a vector, those of the Kin `but` apart."""
    known = state_of(file.database).embedders.get(embedder)
    if known is None:
        others = "" if but is None else "WHERE kin <> :but"
        return not file.database.rows(f"SELECT 1 FROM memories {others} LIMIT 1", {"but": but})
    if known.is_filled or but is None:
        return known.is_filled
    return not file.database.rows(
        """
        SELECT 1 FROM pending p WHERE p.embedder = :embedder AND EXISTS (
            SELECT 1 FROM chunks c JOIN memories m ON m.rowid = c.memory
            WHERE c.id = p.chunk AND m.kin <> :but
        ) LIMIT 1
        """,
        {"embedder": known.number, "but": but},
    )


def _apart(
    file: SearchedFile, asked: Asked, filters: Filters, allowed: Allowed
) -> tuple[Allowed, bool]:
    """Return what is allowed, with its state if vectors of that state are kept apart; and whether
    nothing is in it."""
    if filters.states is None or len(filters.states) != 1 or filters.states[0] not in APART:
        return allowed, False
    [state] = filters.states
    return replace(allowed, state=state), file.near.has_none(asked.embedder, state)


class _Both:
    """What was found in both files, by id."""

    def __init__(self) -> None:
        self._candidates: dict[str, Candidate] = {}
        self._cosines: dict[str, list[float]] = {}
        self._nearest: list[tuple[float, str]] = []
        self._matches: list[tuple[float, str]] = []
        self._degrees: dict[str, float] = {}

    def add(self, rows: Rows) -> None:
        """Add what one file has."""
        ids = {row: candidate.id for row, candidate in rows.candidates.items()}
        self._candidates |= {one.id: one for one in rows.candidates.values()}
        self._cosines |= {ids[row]: values for row, values in rows.cosines.items()}
        self._nearest += [(cosine, ids[row]) for row, cosine in rows.nearest]
        self._matches += [(score, ids[row]) for row, score in rows.matches]
        self._degrees |= {ids[row]: degree for row, degree in rows.degrees.items()}

    def told(self) -> Found:
        """Return everything, each list best first; candidates by id, since in which order a
        statement gives them is each engine's own."""
        nearest = dict.fromkeys(id for _, id in sorted(self._nearest, key=_worse))
        matches = {id: score for score, id in sorted(self._matches, key=_worse)}
        candidates = [one for _, one in sorted(self._candidates.items())]
        return Found(candidates, self._cosines, list(nearest), matches, degrees=self._degrees)


def _fill(
    file: SearchedFile,
    db: Transaction,
    embedder: str,
    chunks: Sequence[int],
    vectors: Vectors,
) -> None:
    """Store the vectors of those of the chunks that still wait for them."""
    waiting = file.vectors.unfilled(db, embedder, chunks)
    places = [at for at, chunk in enumerate(chunks) if chunk in waiting]
    if places:
        filled = [chunks[at] for at in places]
        file.vectors.put(db, embedder, filled, vectors[places])
        note_ingested(db, embedder, filled)


def _worse(ranked: tuple[float, str]) -> float:
    return -ranked[0]


def _best(found: Sequence[tuple[float, str]]) -> list[tuple[str, float]]:
    """Return (id, its best cosine), best first."""
    best: dict[str, float] = {}
    for cosine, id in sorted(found, key=_worse):
        best.setdefault(id, cosine)
    return list(best.items())


def _ids(file: SearchedFile, rows: Collection[int], view: View) -> dict[int, str]:
    """Return by row number the ids of memories that the Kin sees: own copies in shared.db are left
    out."""
    return dict(
        file.database.rows(
            f"SELECT m.rowid, m.id FROM memories m WHERE m.rowid {IN_NUMBERS} AND {VISIBLE}",
            {"ids": json.dumps(list(rows)), **view},
        )
    )
