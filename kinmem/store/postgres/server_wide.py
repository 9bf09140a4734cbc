"""What is no single Kin's: tokens, which Kins have work that waits, and indexes by meaning.

An index is of the copies that all share, or of a Kin that has very much. It is partial, one for
each owner and embedder: what most Kins have is few, and compared one by one. An index of all Kins'
vectors would be searched first, and most of what it finds be taken away by the policies. It is made
without keeping writers out, by a login that owns the tables; until then all are compared.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kinmem.errors import StoreError
from kinmem.store.base import this_process
from kinmem.store.postgres.owned_rows import SHARED, PostgresDatabase, PostgresTransaction
from kinmem.store.postgres.pooled_server import Server
from kinmem.store.postgres.schema import latest, prepare
from kinmem.store.sql.damage import Damage
from kinmem.store.sql.database import Bindings, Row

if TYPE_CHECKING:
    from psycopg import ClientCursor

COLUMNS = ("id", "kin", "digest", "created_at", "expires_at", "revoked_at", "note", "scope")
CHANGED = f"SELECT change, {', '.join(COLUMNS)} FROM tokens WHERE change > ? ORDER BY change"
PUT = f"""
    INSERT INTO tokens ({", ".join(COLUMNS)}) VALUES ({", ".join(f":{name}" for name in COLUMNS)})
    ON CONFLICT ON CONSTRAINT tokens_pkey DO UPDATE SET expires_at = excluded.expires_at,
        revoked_at = excluded.revoked_at, change = excluded.change
"""
# Who finds nothing to do comes again later and later, since its work may wait for a model.
TAKE = """
    UPDATE waiting_kins SET tries = tries + 1,
        until = now() + INTERVAL '1 minute' * power(2, least(tries, 6))
    WHERE kin_id = (
        SELECT kin_id FROM waiting_kins WHERE until <= now()
        ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING kin_id, kinmem_name(kin_id)
"""
LIVES = """
    INSERT INTO live_processes (process, until) VALUES (?, now() + INTERVAL '45 seconds')
    ON CONFLICT ON CONSTRAINT live_processes_pkey DO UPDATE SET until = excluded.until
"""
LONG_SILENT = "DELETE FROM live_processes WHERE until < now() - INTERVAL '1 hour'"
# With the policies of one Kin; its lock keeps what begins to wait meanwhile from being overlooked.
SETTLE = """
    DELETE FROM waiting_kins WHERE kin_id = kinmem_owner()
    AND NOT EXISTS (SELECT 1 FROM turns WHERE learned_at IS NULL AND NOT parked)
    AND NOT EXISTS (SELECT 1 FROM turns_to_index)
    AND NOT EXISTS (SELECT 1 FROM pending) AND NOT EXISTS (SELECT 1 FROM turn_pending)
"""


@contextmanager
def together(server: Server, settings: str = "") -> Iterator[PostgresTransaction]:
    """Run a transaction that is nobody's, or with these settings somebody's."""
    became = f"; SET LOCAL ROLE {server.role}" if server.role else ""
    begin = f"BEGIN; SET LOCAL search_path = {server.path}{became}{settings}"
    with server.connection(begin) as cursor:
        yield PostgresTransaction(cursor, Damage(server.name))
        cursor.execute("COMMIT")


def asked(server: Server, question: str, bindings: Bindings = ()) -> list[Row]:
    """Ask what is nobody's alone, in a transaction of its own."""
    with together(server) as db:
        return db.rows(question, bindings)


class ServerWide:
    """One database server, as the processes see it that serve all of its Kins."""

    def __init__(self, url: str) -> None:
        """Connect, and bring the schema up to date. Raises StoreError."""
        self._server = Server.of(url)
        try:
            prepare(self._server)
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        """Raise StoreError unless the server answers, with the schema of this kinmem."""
        [(number,)] = asked(self._server, "SELECT max(number) FROM schema_version")
        if number != latest():
            raise StoreError(
                f"{self._server.name} has schema {number}, and this kinmem is for {latest()}",
                "storage_newer",
            )

    def tokens_since(self, change: int) -> tuple[int, list[dict[str, Any]]]:
        """Return what was added or revoked after that change, and the number of the last one."""
        rows = asked(self._server, CHANGED, (change,))
        records = [dict(zip(COLUMNS, row[1:], strict=True)) for row in rows]
        return int(rows[-1][0]) if rows else change, records

    @contextmanager
    def changing_tokens(self) -> Iterator[Callable[[Mapping[str, Any]], None]]:
        """Yield what stores a token, while nobody else changes any: so changes become visible in
        the order of their numbers."""
        with together(self._server) as db:
            db.rows("SELECT pg_advisory_xact_lock(hashtextextended(?, 1))", (self._server.schema,))

            def put(record: Mapping[str, Any]) -> None:
                db.run(PUT, dict(record))

            yield put

    def say_alive(self) -> None:
        """Say that this process lives, which counts for 45 seconds."""
        with together(self._server) as db:
            db.run(LIVES, (this_process(),))
            db.run(LONG_SILENT)

    def take(self) -> str | None:
        """Return a Kin whose work has waited for a minute, which no other process takes for some
        time; None if there is none."""
        while rows := asked(self._server, TAKE):
            [(number, name)] = rows
            if name is not None and not self._settled(int(number)):
                return str(name)
        return None

    def _settled(self, kin: int) -> bool:
        """Forget that a Kin waits if it does not; returns whether it does not."""
        whose = f"; SET LOCAL kinmem.owner = '{kin:d}'; SET LOCAL kinmem.self = '{kin:d}'"
        with together(self._server, whose) as db:
            db.rows("SELECT 1 FROM revision FOR UPDATE")
            return db.run(SETTLE) > 0

    def close(self) -> None:
        self._server.close()


INDEXED_FROM = 20_000
"""Chunks of copies from which an index is made and asked. At 12,000 comparing all of them takes as
long (19 ms), at 30,000 twice as long (43 ms, 23 by the index): docs/postgres.md."""
OWN_INDEXED_FROM = 50_000
"""The same of one Kin's own, which change more often: the index takes twice their room, and each
new vector is put into it."""
WIDEST = 2000
"""Dimensions that hnsw takes."""
INDEXES = """
    SELECT substr(c.relname, length(%(name)s) + 1)::bigint, i.indisvalid, EXISTS (
        SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid
    ) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = to_regnamespace(%(schema)s) AND starts_with(c.relname, %(name)s)
"""
OWNS = """
    SELECT pg_has_role(session_user, c.relowner, 'USAGE') FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(%s) AND c.relname = 'vectors'
"""
MAKE = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {schema}.vectors"
    " USING hnsw ((embedding::{place}vector({width})) {place}vector_cosine_ops)"
    " WHERE kin_id = {owner} AND embedder = {number}"
)


def is_wanted(owner: int, last_chunk: int, width: int) -> bool:
    """Return whether an owner's chunks are found by an index, if there is one."""
    return last_chunk >= (INDEXED_FROM if owner == SHARED else OWN_INDEXED_FROM) and width <= WIDEST


def keep_indexes(rows: PostgresDatabase, last_chunk: int) -> int:
    """Make the indexes of an owner that are missing, and drop those of embedders that are gone or
    that were not finished; returns how many were made."""
    known: dict[int, int] = dict(rows.rows("SELECT id, dimension FROM embedders"))
    named = "vectors_shared_" if rows.owner == SHARED else f"vectors_of_{rows.owner}_"
    schema, made = rows.server.schema, 0
    with rows.server.connection("") as cursor:
        cursor.execute(OWNS, (schema,))
        if cursor.fetchone() != (True,):
            return 0
        cursor.execute(INDEXES, {"schema": schema, "name": named})
        usable = set()
        for number, is_valid, is_being_made in cursor.fetchall():
            if is_being_made or (is_valid and number in known):
                usable.add(number)
            else:
                cursor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{schema}".{named}{number}')
        for number, width in known.items():
            if number not in usable and is_wanted(rows.owner, last_chunk, width):
                _make(cursor, rows, f"{named}{number}", number, width)
                made += 1
    return made


def _make(
    cursor: "ClientCursor[Any]", rows: PostgresDatabase, name: str, number: int, width: int
) -> None:
    place = rows.server.path.rpartition(", ")[2]  # where pgvector is
    cursor.execute(
        MAKE.format(
            name=name,
            schema=f'"{rows.server.schema}"',
            place=f"{place}.",
            width=width,
            owner=rows.owner,
            number=number,
        )
    )
