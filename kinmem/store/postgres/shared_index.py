"""The index by meaning of the copies that all Kins share, one for each embedder.

Partial: a Kin's own vectors are few, and compared one by one. An index of all Kins' vectors would
be searched first, and most of what it finds be taken away by the policies. It is made without
keeping writers out, by a login that owns the tables; until then copies are compared one by one.
"""

from typing import TYPE_CHECKING, Any

from kinmem.store.postgres.owned_rows import PostgresDatabase

if TYPE_CHECKING:
    from psycopg import ClientCursor

INDEXED_FROM = 20_000
"""Chunks of copies from which an index is made and asked. At 12,000 comparing all of them takes as
long (19 ms), at 30,000 twice as long (43 ms, 23 by the index): docs/postgres.md."""
WIDEST = 2000
"""Dimensions that hnsw takes."""
NAME = "vectors_shared_"
INDEXES = f"""
    SELECT substr(c.relname, {len(NAME) + 1})::bigint, i.indisvalid, EXISTS (
        SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid
    ) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = to_regnamespace(%s) AND c.relname LIKE '{NAME}%%'
"""
OWNS = """
    SELECT pg_has_role(session_user, c.relowner, 'USAGE') FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(%s) AND c.relname = 'vectors'
"""
MAKE = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {schema}.vectors"
    " USING hnsw ((embedding::{place}vector({width})) {place}vector_cosine_ops)"
    " WHERE kin_id = 0 AND embedder = {number}"
)


def is_wanted(last_chunk: int, width: int) -> bool:
    """Return whether copies are found by an index, if there is one."""
    return last_chunk >= INDEXED_FROM and width <= WIDEST


def keep_indexes(shared: PostgresDatabase, last_chunk: int) -> int:
    """Make the indexes that are missing, and drop those of embedders that are gone or that were not
    finished; returns how many were made."""
    known: dict[int, int] = dict(shared.rows("SELECT id, dimension FROM embedders"))
    schema, made = shared.server.schema, 0
    with shared.server.connection("") as cursor:
        cursor.execute(OWNS, (schema,))
        if cursor.fetchone() != (True,):
            return 0
        cursor.execute(INDEXES, (schema,))
        usable = set()
        for number, is_valid, is_being_made in cursor.fetchall():
            if is_being_made or (is_valid and number in known):
                usable.add(number)
            else:
                cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{schema}".{NAME}{number}')
        for number, width in known.items():
            if number not in usable and is_wanted(last_chunk, width):
                _make(cursor, shared, number, width)
                made += 1
    return made


def _make(cursor: "ClientCursor[Any]", shared: PostgresDatabase, number: int, width: int) -> None:
    place = shared.server.path.rpartition(", ")[2]  # where pgvector is
    cursor.execute(
        MAKE.format(
            name=f"{NAME}{number}",
            schema=f'"{shared.server.schema}"',
            place=f"{place}.",
            width=width,
            number=number,
        )
    )
