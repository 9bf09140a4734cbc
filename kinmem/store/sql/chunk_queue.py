"""Which chunks of one file lack a vector, and whose vectors have changed; the vectors themselves
are kept by the engine."""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from kinmem.errors import StoreError
from kinmem.models import Coverage, Scope, Vector, Vectors
from kinmem.store.sql.database import Database, Transaction, embedder_of
from kinmem.store.sql.memory_rows import RAISE, View

LOG_KEPT = 200_000

# The number of the embedder here, and the chunks without its vector.
AWAITED = """
    SELECT e.id, c.position, c.id FROM embedders e ORDERED JOIN chunks c ON c.memory = :row
    ORDERED JOIN pending p ON p.embedder = e.id AND p.chunk = c.id
    WHERE e.name = :name AND e.dimension = :dimension
"""


def by_text(rows: Iterable[tuple[str, str, Vector]]) -> dict[str, dict[str, Vector]]:
    """Group (id, text, vector) by id, then by text."""
    found: dict[str, dict[str, Vector]] = {}
    for id, text, vector in rows:
        found.setdefault(id, {})[text] = vector
    return found


class ChunkQueue(ABC):
    """See StoredVectors. Where the vectors are, an engine says by a class of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # what an engine adds

    @abstractmethod
    def make_room(self, db: Transaction, number: int, dimension: int) -> None:
        """Prepare for the vectors of an embedder that is being enrolled."""
        ...

    @abstractmethod
    def drop_all(self, db: Transaction, number: int) -> None:
        """Delete all vectors of an embedder that is being retired."""
        ...

    @abstractmethod
    def store(
        self, db: Transaction, number: int, chunks: Sequence[int], vectors: Sequence[Any]
    ) -> None:
        """Store vectors in the form in which `stored` returns them."""
        ...

    @abstractmethod
    def stored(
        self, db: Transaction, number: int, row: int, positions: Collection[int]
    ) -> list[tuple[int, Any]]:
        """Return (position, vector) of those of a memory's chunks that have one."""
        ...

    @abstractmethod
    def remove_stored(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Delete the vectors of these chunks, of every embedder."""
        ...

    @abstractmethod
    def as_stored(self, vectors: Vectors) -> list[Any]:
        """Return vectors in their stored form."""
        ...

    @abstractmethod
    def first(self, embedder: str, ids: Collection[str], view: View) -> list[tuple[str, Vector]]:
        """Return (id of the memory, vector of its first chunk) for visible memories that have
        one."""
        ...

    @abstractmethod
    def texts(self, embedder: str, ids: Collection[str]) -> list[tuple[str, str, Vector]]:
        """Return (id of the memory, text of the chunk, its vector) of these memories."""
        ...

    # embedders

    def enroll(self, embedder: str, dimension: int) -> None:
        """See Index.enroll."""
        known = embedder_of(self._database, embedder)
        if known is None:
            with self._database.writing() as db:
                new = db.run(
                    "INSERT INTO embedders (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    (embedder, dimension),
                )
                if new:
                    number = db.value("SELECT id FROM embedders WHERE name = ?", (embedder,))
                    self.make_room(db, number, dimension)
                    db.run(
                        "INSERT INTO pending (embedder, chunk) SELECT e.id, c.id"
                        " FROM embedders e CROSS JOIN chunks c WHERE e.id = ?",
                        (number,),
                    )
            known = embedder_of(self._database, embedder)
        if known is None or known[1] != dimension:
            raise StoreError(
                f"{embedder} once gave vectors of another width than {dimension};"
                " run kinmem reembed --drop with its name, then reembed"
            )

    def retire(self, embedder: str) -> None:
        """See Index.retire."""
        with self._database.writing() as db:
            number = db.value("SELECT id FROM embedders WHERE name = ?", (embedder,))
            if number is not None:
                self.drop_all(db, number)
                db.run("DELETE FROM embedders WHERE id = ?", (number,))
                db.run(RAISE)

    def coverage(self, but: str | None = None) -> list[Coverage]:
        """Return the coverage of every enrolled embedder, without the chunks of the Kin `but`."""
        rows = self._database.rows(
            """
            WITH left_out AS MATERIALIZED (
                SELECT c.id FROM memories m JOIN chunks c ON c.memory = m.rowid WHERE m.kin = :but
            )
            SELECT name, dimension,
                (SELECT count(*) FROM chunks) - (SELECT count(*) FROM left_out),
                (SELECT count(*) FROM pending
                    WHERE pending.embedder = embedders.id
                        AND chunk NOT IN (SELECT id FROM left_out)),
                (SELECT count(c.metadata) FROM pending JOIN chunks c ON c.id = chunk
                    WHERE pending.embedder = embedders.id
                        AND chunk NOT IN (SELECT id FROM left_out))
            FROM embedders
            """,
            {"but": but},
        )
        return [
            Coverage(name, width, total - waiting, total, of_documents)
            for name, width, total, waiting, of_documents in rows
        ]

    def pending(
        self, embedder: str, limit: int, but: str | None = None
    ) -> list[tuple[int, str, str, bool]]:
        """Return (chunk, id of its memory, text, whether that is fresh), oldest first, of all
        memories except those of the Kin `but`."""
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        others = "" if but is None else "AND m.kin <> :but"
        return self._database.rows(
            f"""
            SELECT c.id, m.id, coalesce(c.text, m.content),
                m.status = 'pending' AND c.metadata IS NULL
            FROM pending p JOIN chunks c ON c.id = p.chunk JOIN memories m ON m.rowid = c.memory
            WHERE p.embedder = :embedder {others}
            ORDER BY c.metadata IS NOT NULL, p.chunk -- a document may keep others waiting for long
            LIMIT :limit
            """,
            {"embedder": known[0], "but": but, "limit": limit},
        )

    def unsettled(self, embedder: str, limit: int) -> list[tuple[int, str, str]]:
        """Return (chunk, id of its memory, text) of fresh memories that have a vector."""
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        return self._database.rows(
            """
            SELECT c.id, m.id, coalesce(c.text, m.content)
            FROM memories m JOIN chunks c ON c.memory = m.rowid
            WHERE m.status = 'pending' AND c.metadata IS NULL AND NOT EXISTS (
                SELECT 1 FROM pending p WHERE p.embedder = :embedder AND p.chunk = c.id
            )
            ORDER BY c.id
            LIMIT :limit
            """,
            {"embedder": known[0], "limit": limit},
        )

    # writing, inside a transaction of the caller's

    def queue(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Queue new chunks with consecutive numbers for every embedder; put removes them from the
        queue."""
        if chunks:
            db.run(
                "INSERT INTO pending (embedder, chunk)"
                " SELECT e.id, c.id FROM embedders e CROSS JOIN chunks c"
                " WHERE c.id BETWEEN ? AND ?",
                (chunks[0], chunks[-1]),
            )

    def put(self, db: Transaction, embedder: str, chunks: Sequence[int], vectors: Vectors) -> None:
        """Store one vector per chunk; a chunk must not have one of this embedder yet."""
        known = embedder_of(self._database, embedder)
        if known is None:
            raise StoreError(f"{embedder} is not enrolled")
        if vectors.shape[1] != known[1]:
            raise StoreError(f"{embedder} made vectors of {vectors.shape[1]} instead of {known[1]}")
        self._put_stored(db, known[0], chunks, self.as_stored(vectors))

    def _put_stored(
        self, db: Transaction, number: int, chunks: Sequence[int], vectors: Sequence[Any]
    ) -> None:
        """Do the same as put for vectors in their stored form, of the embedder with this number
        here."""
        self.store(db, number, chunks, vectors)
        db.run_each(
            "DELETE FROM pending WHERE embedder = ? AND chunk = ?",
            [(number, chunk) for chunk in chunks],
        )
        self.log(db, chunks)

    def copy(self, source: Transaction, row: int, db: Transaction, here: int) -> bool:
        """See StoredVectors."""
        found = False
        for number, name, dimension in source.rows("SELECT id, name, dimension FROM embedders"):
            awaited = db.rows(AWAITED, {"row": here, "name": name, "dimension": dimension})
            chunks: dict[int, int] = {position: chunk for _, position, chunk in awaited}
            if chunks and (made := self.stored(source, number, row, chunks)):
                filled = [chunks[position] for position, _ in made]
                self._put_stored(db, awaited[0][0], filled, [vector for _, vector in made])
                found = True
        return found

    def log(self, db: Transaction, chunks: Collection[int]) -> None:
        """See StoredVectors."""
        numbers = db.numbers("vector_log", len(chunks))
        db.run_each(
            "INSERT INTO vector_log (seq, chunk) VALUES (?, ?)",
            list(zip(numbers, chunks, strict=True)),
        )
        db.run("DELETE FROM vector_log WHERE seq < ?", (numbers.stop - LOG_KEPT,))

    def unfilled(self, db: Transaction, embedder: str, chunks: Sequence[int]) -> set[int]:
        """Return which of these chunks exist and still wait for this embedder."""
        known = embedder_of(self._database, embedder)
        if known is None:
            return set()
        rows = db.rows(
            "SELECT chunk FROM pending WHERE embedder = ? AND chunk IN NUMBERED(?)",
            (known[0], json.dumps(list(chunks))),
        )
        return {chunk for (chunk,) in rows}

    def remove(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Delete these chunks' vectors of every embedder."""
        self.remove_stored(db, chunks)
        self.log(db, chunks)

    # reading

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        """See Index.changed_since. A mark beyond the end of the log comes from another file."""
        return self._database.rows(
            """
            SELECT l.seq, m.id
            FROM vector_log l JOIN chunks c ON c.id = l.chunk JOIN memories m ON m.rowid = c.memory
            WHERE l.seq > CASE WHEN :mark > (SELECT max(seq) FROM vector_log) THEN 0 ELSE :mark END
                AND m.scope = :scope
            ORDER BY l.seq
            LIMIT :limit
            """,
            {"mark": mark, "scope": scope, "limit": limit},
        )
