"""The vectors of one owner, by pgvector: of chunks of memories, and of what was said.

They lie in narrow tables by owner, and are compared one by one: exact, and the time depends on how
many the owner has, not on how many Kins there are. Where an owner has very many, an index is asked.

An index is of the copies that all share, or of a Kin that has very much. It is partial, one for
each owner and embedder: what most Kins have is few, and compared one by one. An index of all Kins'
vectors would be searched first, and most of what it finds be taken away by the policies. It is made
without keeping writers out, by a login that owns the tables; until then all are compared. Before
its index is made, a Kin's vectors move to a partition of their own.
"""

import json
from collections.abc import Collection, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from kinmem.errors import StoreError
from kinmem.models import State, Vector, Vectors
from kinmem.store.postgres.owned_rows import SHARED, PostgresDatabase
from kinmem.store.sql.chunk_queue import ChunkQueue
from kinmem.store.sql.database import Row, Transaction, embedder_of, state_of
from kinmem.store.sql.hybrid_search import APART, Beside, Near
from kinmem.store.sql.memory_rows import VISIBLE, Allowed, View
from kinmem.store.sql.turn_queue import TurnQueue

if TYPE_CHECKING:
    from psycopg import ClientCursor


MOST_EXPECTED = 8
"""Chunks of a memory that are asked for at once; a document may have thousands."""
SPARE = 16
"""Chunks that are read beside, in place of some that are not allowed."""
# Without a filter first: all of a Kin's vectors are read out of their narrow table, and only the
# nearest are joined with their memories, some of which may not be allowed.
NEAREST = """
    WITH near AS MATERIALIZED (
        SELECT v.chunk, v.embedding <=> :vector AS distance FROM vectors v
        WHERE v.embedder = :embedder ORDER BY distance, v.chunk LIMIT :limit
    )
    SELECT c.memory, 1 - near.distance, near.chunk, c.fits FROM near
    CROSS JOIN LATERAL (
        SELECT c.memory, {} AS fits FROM chunks c JOIN memories m ON m.rowid = c.memory
        WHERE c.id = near.chunk OFFSET 0
    ) c ORDER BY near.distance, near.chunk
"""
# The same by an owner's index (MAKE), whose condition and expression it repeats.
NEAREST_BY_INDEX = NEAREST.replace(
    """SELECT v.chunk, v.embedding <=> :vector AS distance FROM vectors v
        WHERE v.embedder = :embedder ORDER BY distance, v.chunk LIMIT :limit""",
    """SELECT v.chunk, v.embedding::vector({width}) <=> :vector AS distance FROM vectors v
        WHERE v.kin_id = {owner} AND v.embedder = :embedder ORDER BY distance LIMIT :limit""",
)
# For filters that let little through.
NEAREST_OF_ALLOWED = """
    WITH fitting AS MATERIALIZED (
        SELECT c.id, c.memory FROM chunks c JOIN memories m ON m.rowid = c.memory WHERE {}
    )
    SELECT f.memory, 1 - (v.embedding <=> :vector), f.id, TRUE
    FROM fitting f JOIN vectors v ON v.chunk = f.id AND v.embedder = :embedder
    ORDER BY v.embedding <=> :vector, f.id LIMIT :limit
"""
COSINES = """
    CASE WHEN PARSED(m.metadata) ->> 'parts' IS NULL THEN ARRAY(
        SELECT 1 - (v.embedding <=> :vector)
        FROM chunks c JOIN vectors v ON v.chunk = c.id AND v.embedder = :embedder
        WHERE c.memory = m.rowid ORDER BY c.position
    ) END
"""


def _told(vector: Vector) -> str:
    """Return a vector as pgvector reads it; it gives the same numbers back."""
    return f"[{','.join(map(repr, vector.tolist()))}]"


def _vector(told: str) -> Vector:
    import numpy as np

    return np.array(told[1:-1].split(","), np.float32)


class ChunkVectors(ChunkQueue):
    """Stores the vectors of chunks."""

    def make_room(self, db: Transaction, number: int, dimension: int) -> None:
        """Do nothing: one table holds the vectors of all embedders."""

    def drop_all(self, db: Transaction, number: int) -> None:
        """Do nothing: they go with their embedder."""

    def as_stored(self, vectors: Vectors) -> list[Any]:
        return [_told(vector) for vector in vectors]

    def store(
        self, db: Transaction, number: int, chunks: Sequence[int], vectors: Sequence[Any]
    ) -> None:
        db.run_each(
            "INSERT INTO vectors (embedder, chunk, embedding) VALUES (?, ?, ?)",
            [(number, *one) for one in zip(chunks, vectors, strict=True)],
        )

    def stored(
        self, db: Transaction, number: int, row: int, positions: Collection[int]
    ) -> list[tuple[int, Any]]:
        return db.rows(
            """
            SELECT c.position, CAST(v.embedding AS text)
            FROM chunks c JOIN vectors v ON v.chunk = c.id AND v.embedder = ?
            WHERE c.memory = ? AND c.position IN NUMBERED(?)
            """,
            (number, row, json.dumps(list(positions))),
        )

    def remove_stored(self, db: Transaction, chunks: Sequence[int]) -> None:
        db.run("DELETE FROM vectors WHERE chunk IN NUMBERED(?)", (json.dumps(list(chunks)),))

    def first(self, embedder: str, ids: Collection[str], view: View) -> list[tuple[str, Vector]]:
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            f"""
            SELECT m.id, CAST(v.embedding AS text)
            FROM memories m JOIN chunks c ON c.memory = m.rowid AND c.position = 0
            JOIN vectors v ON v.chunk = c.id AND v.embedder = :embedder
            WHERE m.id IN LISTED(:ids) AND {VISIBLE}
            """,
            {"ids": json.dumps(list(ids)), "embedder": known[0], **view},
        )
        return [(id, _vector(told)) for id, told in rows]

    def texts(self, embedder: str, ids: Collection[str]) -> list[tuple[str, str, Vector]]:
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            """
            SELECT m.id, coalesce(c.text, m.content), CAST(v.embedding AS text)
            FROM memories m JOIN chunks c ON c.memory = m.rowid
            JOIN vectors v ON v.chunk = c.id AND v.embedder = ?
            WHERE m.id IN LISTED(?)
            """,
            (known[0], json.dumps(list(ids))),
        )
        return [(id, text, _vector(told)) for id, text, told in rows]


class NearestChunks:
    """See NearChunks."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[list[tuple[int, float]]]:
        found = []
        for near in self.nearest_parts(vectors, embedder, limit, allowed):
            best: dict[int, float] = {}
            for memory, cosine, _ in near:
                best.setdefault(memory, cosine)
            found.append(list(best.items())[:limit])
        return found

    def nearest_parts(
        self, vectors: Sequence[Vector], embedder: str, limit: int, allowed: Allowed
    ) -> list[Near]:
        known = embedder_of(self._database, embedder)
        if known is None:
            return [[] for _ in vectors]
        return [self._nearest(known, vector, limit, allowed) for vector in vectors]

    def _nearest(
        self, known: tuple[int, int], vector: Vector, limit: int, allowed: Allowed
    ) -> Near:
        """Return so many chunks that they belong to `limit` memories, if there are as many."""
        state = state_of(self._database)
        per_memory = -(-(state.last_chunk or 1) // (state.last_memory or 1))
        chunks = max(1, limit * min(per_memory, MOST_EXPECTED))
        of_all = NEAREST
        if is_wanted(self._database.owner, state.last_chunk, known[1]):
            of_all = NEAREST_BY_INDEX
        statement = NEAREST_OF_ALLOWED if allowed.state in APART else of_all
        most = chunks if statement is NEAREST_OF_ALLOWED else chunks + chunks // 4 + SPARE
        while True:
            found = self._scanned(statement, known, vector, most, allowed)
            fitting = [row[:3] for row in found if row[3]]
            if len(found) < most or len({memory for memory, _, _ in fitting}) >= limit:
                return [one for one in fitting if one[1] == one[1]]  # a zero vector is near nothing
            most = chunks if statement is of_all else most * 4
            statement = NEAREST_OF_ALLOWED

    def _scanned(
        self,
        statement: str,
        known: tuple[int, int],
        vector: Vector,
        most: int,
        allowed: Allowed,
    ) -> list[Row]:
        number, width = known
        owner = self._database.owner
        asked = statement.format(f"({allowed.condition})", width=width, owner=owner)
        bound = {**allowed.bound, "embedder": number, "vector": _told(vector), "limit": most}
        return self._database.rows(asked, bound, by_index=statement is NEAREST_BY_INDEX)

    def has_none(self, embedder: str, state: State) -> bool:
        return False

    def first_vectors(self, embedder: str, rows: Sequence[int]) -> dict[int, Vector]:
        known = embedder_of(self._database, embedder)
        if known is None or not rows:
            return {}
        found = self._database.rows(
            """
            SELECT c.memory, CAST(v.embedding AS text)
            FROM chunks c JOIN vectors v ON v.chunk = c.id AND v.embedder = ?
            WHERE c.memory IN NUMBERED(?) AND c.position = 0
            """,
            (known[0], json.dumps(list(rows))),
        )
        return {memory: _vector(told) for memory, told in found}

    def cosines(self, vector: Vector, embedder: str, rows: Set[int]) -> dict[int, list[float]]:
        found: dict[int, list[float]] = {}
        for memory, _, cosine in self._cosines(vector, embedder, rows, "c.memory"):
            found.setdefault(memory, []).append(cosine)
        return found

    def cosines_of(
        self, vector: Vector, embedder: str, chunks: Collection[int]
    ) -> dict[int, float]:
        rows = self._cosines(vector, embedder, chunks, "c.id")
        return {chunk: cosine for _, chunk, cosine in rows}

    def beside(self, vector: Vector, embedder: str) -> Beside | None:
        known = embedder_of(self._database, embedder)
        return known and (COSINES, {"vector": _told(vector), "embedder": known[0]})

    def _cosines(
        self, vector: Vector, embedder: str, wanted: Collection[int], column: str
    ) -> list[tuple[int, int, float]]:
        known = embedder_of(self._database, embedder)
        if known is None or not wanted:
            return []
        rows = self._database.rows(
            f"""
            SELECT c.memory, c.id, c.cosine FROM NUMBERED(:wanted) asked CROSS JOIN LATERAL (
                SELECT c.memory, c.id, c.position, 1 - (v.embedding <=> :vector) AS cosine
                FROM chunks c JOIN vectors v ON v.chunk = c.id AND v.embedder = :embedder
                WHERE {column} = asked.value OFFSET 0
            ) c ORDER BY c.memory, c.position
            """,
            {
                "vector": _told(vector),
                "embedder": known[0],
                "wanted": json.dumps(list(wanted)),
            },
        )
        return [row for row in rows if row[2] == row[2]]


class TurnVectors(TurnQueue):
    """Stores and searches the vectors of parts of messages."""

    def store(self, db: Transaction, number: int, chunk: int, vector: Vector) -> None:
        db.run(
            "INSERT INTO turn_vectors (embedder, chunk, embedding) VALUES (?, ?, ?)",
            (number, chunk, _told(vector)),
        )

    def nearest_parts(
        self,
        known: tuple[int, int],
        vector: Vector,
        limit: int,
        allowed: str | None,
        bound: Mapping[str, Any],
    ) -> list[int]:
        rows = self._database.rows(
            f"""
            SELECT c.turn FROM turn_vectors v JOIN turn_chunks c ON c.id = v.chunk
            {"" if allowed is None else f"JOIN turns m ON m.id = c.turn AND {allowed}"}
            WHERE v.embedder = :embedder ORDER BY v.embedding <=> :vector, c.id LIMIT :limit
            """,
            {**bound, "embedder": known[0], "vector": _told(vector), "limit": limit},
        )
        return [turn for (turn,) in rows]

    def part_cosines(
        self, known: tuple[int, int], vector: Vector, turns: Collection[int]
    ) -> list[tuple[int, float]]:
        return self._database.rows(
            """
            SELECT c.turn, 1 - (v.embedding <=> :vector)
            FROM turn_chunks c JOIN turn_vectors v ON v.chunk = c.id AND v.embedder = :embedder
            WHERE c.turn IN NUMBERED(:turns) ORDER BY c.turn, c.position
            """,
            {"vector": _told(vector), "embedder": known[0], "turns": json.dumps(list(turns))},
        )

    def texts(self, embedder: str, turns: Collection[int]) -> list[tuple[int, str, Vector]]:
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            """
            SELECT c.turn, coalesce(c.text, t.text), CAST(v.embedding AS text)
            FROM turn_chunks c JOIN turns t ON t.id = c.turn
            JOIN turn_vectors v ON v.chunk = c.id AND v.embedder = ?
            WHERE c.turn IN NUMBERED(?)
            """,
            (known[0], json.dumps(list(turns))),
        )
        return [(turn, text, _vector(told)) for turn, text, told in rows]

    def close(self) -> None:
        """Do nothing: nothing goes on."""


INDEXED_FROM = 20_000
"""Chunks of copies from which an index is made and asked. At 12,000 comparing all of them takes as
long (19 ms), at 30,000 twice as long (43 ms, 23 by the index): docs/postgres.md."""
OWN_INDEXED_FROM = 50_000
"""The same of one Kin's own, which change more often: the index takes twice their room, and each
new vector is put into it."""
WIDEST = 2000
"""Dimensions that hnsw takes."""
INDEXES = """
    SELECT substr(c.relname, length(%(name)s) + 1)::bigint,
        i.indisvalid AND i.indrelid = to_regclass(%(table)s),
        EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = to_regnamespace(%(schema)s) AND starts_with(c.relname, %(name)s)
"""
OWNS = """
    SELECT pg_has_role(session_user, c.relowner, 'USAGE') FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(%s) AND c.relname = 'vectors'
"""
OF_MANY, OF_ONE = "vectors_of_many", "vectors_kin_{}"
"""Partitions of vectors: of all owners that have none of their own, and of one."""
IS_APART = """
    SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass(%s) AND NOT inhdetachpending
"""
# The Kin's lock is held, so nobody changes its vectors meanwhile. Attaching locks out all readers
# while the server scans the default partition. Whether it would get that lock is tried before
# anything is written, and the lock is given back: readers need not wait for the copying as well.
MAKE_APART = """
    SET LOCAL ROLE NONE;
    SET LOCAL lock_timeout = 1000;
    SAVEPOINT tried;
    LOCK TABLE {schema}.vectors_of_many IN ACCESS EXCLUSIVE MODE;
    ROLLBACK TO SAVEPOINT tried;
    CREATE TABLE {part} (LIKE {schema}.vectors INCLUDING DEFAULTS);
    INSERT INTO {part} SELECT * FROM {schema}.vectors WHERE kin_id = {owner};
    DELETE FROM {schema}.vectors WHERE kin_id = {owner};
    ALTER TABLE {part} ADD CHECK (kin_id = {owner});
    ALTER TABLE {part} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE {part} FORCE ROW LEVEL SECURITY;
    ALTER TABLE {schema}.vectors ATTACH PARTITION {part} FOR VALUES IN ({owner})
"""
MAKE = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table}"
    " USING hnsw ((embedding::{place}vector({width})) {place}vector_cosine_ops)"
    " WHERE kin_id = {owner} AND embedder = {number}"
)


def is_wanted(owner: int, last_chunk: int, width: int) -> bool:
    """Return whether an owner's chunks are found by an index, if there is one."""
    return last_chunk >= (INDEXED_FROM if owner == SHARED else OWN_INDEXED_FROM) and width <= WIDEST


def keep_indexes(rows: PostgresDatabase, last_chunk: int) -> int:
    """Make the indexes of an owner that are missing, and drop those of embedders that are gone,
    that were not finished, or of a table that the vectors have left; returns how many were made."""
    known: dict[int, int] = dict(rows.rows("SELECT id, dimension FROM embedders"))
    named = "vectors_shared_" if rows.owner == SHARED else f"vectors_of_{rows.owner}_"
    schema, made = rows.server.schema, 0
    with rows.server.connection("") as cursor:
        cursor.execute(OWNS, (schema,))
        if cursor.fetchone() != (True,):
            return 0
        table = _table_of(cursor, rows)
        cursor.execute(INDEXES, {"schema": schema, "name": named, "table": table})
        usable = set()
        for number, is_good, is_being_made in cursor.fetchall():
            if is_being_made or (is_good and number in known):
                usable.add(number)
            else:
                cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{schema}".{named}{number}')
        for number, width in known.items():
            if number not in usable and is_wanted(rows.owner, last_chunk, width):
                place = rows.server.path.rpartition(", ")[2]  # where pgvector is
                cursor.execute(
                    MAKE.format(
                        name=f"{named}{number}",
                        table=table,
                        place=f"{place}.",
                        width=width,
                        owner=rows.owner,
                        number=number,
                    )
                )
                made += 1
    return made


def give_own_partition(rows: PostgresDatabase, last_chunk: int) -> int:
    """Put the vectors of a Kin that has very many into a partition of their own, in one
    transaction; returns how many were made. If somebody uses the table, it is left for later."""
    if rows.owner == SHARED or last_chunk < OWN_INDEXED_FROM:
        return 0
    schema = f'"{rows.server.schema}"'
    part = f"{schema}.{OF_ONE.format(rows.owner)}"
    with rows.server.connection("") as cursor:
        cursor.execute(OWNS, (rows.server.schema,))
        if cursor.fetchone() != (True,) or _table_of(cursor, rows) == part:
            return 0
    try:
        with rows.writing() as db:
            for statement in MAKE_APART.format(schema=schema, part=part, owner=rows.owner).split(
                ";"
            ):
                db.run(statement)
    except StoreError as error:
        if error.code != "storage_busy":
            raise
        return 0
    return 1


def _table_of(cursor: "ClientCursor[Any]", rows: PostgresDatabase) -> str:
    """Return the partition in which the owner's vectors are."""
    schema = f'"{rows.server.schema}"'
    own = f"{schema}.{OF_ONE.format(rows.owner)}"
    cursor.execute(IS_APART, (own,))
    return own if cursor.fetchone() else f"{schema}.{OF_MANY}"
