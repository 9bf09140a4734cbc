"""Brings a schema to the present version: the numbered scripts in migrations/, forward only. And
rewrites its tables, so that no page of a table or index holds what was erased.

What is deleted or changed stays in PostgreSQL's pages as an earlier version of its row. VACUUM
frees its place, and the bytes stay until another row takes it; VACUUM FULL writes table and indexes
anew, but locks the table meanwhile. Statistics hold texts as well: ANALYZE gathers them anew.
"""

import re
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinmem.errors import StoreCode, StoreError
from kinmem.store.postgres.pooled_server import BUSY_SECONDS, Server

if TYPE_CHECKING:
    from psycopg import ClientCursor

    from kinmem.store.postgres.pooled_server import Server


MIGRATIONS = Path(__file__).with_name("migrations")
ROLE = "kinmem_service"
"""Whom a login becomes that would be above row-level security."""
LEAST_SERVER, LEAST_VECTOR = 160000, (0, 8)
ENCODING = "UTF8"
NOT_ALLOWED = "42501"  # SQLSTATE
UNSUPPORTED: StoreCode = "storage_unsupported"
LOGIN = """
    SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'),
        r.rolsuper OR r.rolbypassrls,
        (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
        (SELECT quote_ident(n.nspname) FROM pg_extension e
            JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'),
        to_regclass(%(versions)s) IS NOT NULL
    FROM pg_roles r WHERE r.rolname = session_user
"""
VERSIONS = """
    CREATE TABLE IF NOT EXISTS schema_version (
        number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now()
    )
"""
# Another database of the server may make the role at the same moment: its lock is not ours.
ROLE_MADE = f"""
    DO $$ BEGIN
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}') THEN
            CREATE ROLE {ROLE} NOLOGIN NOBYPASSRLS;
        END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
    END $$
"""
GRANTS = f"""
    GRANT USAGE ON SCHEMA "{{0}}" TO {ROLE};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{{0}}" TO {ROLE};
    GRANT USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA "{{0}}" TO {ROLE};
    REVOKE ALL ON "{{0}}".kins FROM {ROLE};
    REVOKE INSERT, UPDATE, DELETE ON "{{0}}".schema_version FROM {ROLE}
"""


@lru_cache(maxsize=1)
def scripts() -> tuple[str, ...]:
    """Return the scripts in their order, from 1 on. Raises StoreError if one is missing."""
    found = sorted(
        (int(match.group(1)), file.read_text(encoding="utf-8"))
        for file in MIGRATIONS.iterdir()
        if (match := re.fullmatch(r"(\d{4})_\w+\.sql", file.name))
    )
    if [number for number, _ in found] != list(range(1, len(found) + 1)) or not found:
        raise StoreError(f"the migrations in {MIGRATIONS} are incomplete; reinstall kinmem")
    return tuple(script for _, script in found)


def latest() -> int:
    """Return the version of the schema that this kinmem writes."""
    return len(scripts())


def prepare(server: "Server") -> None:
    """Bring the schema up to date, once per process and server, and find out as whom to use it.
    Raises StoreError: storage_newer, storage_unsupported."""
    if server.is_ready:
        return
    with server.connection("") as cursor:
        is_above, has_schema = _login(cursor, server)
        if not has_schema or _version(cursor, server) < latest():
            _migrate(cursor, server, is_above=is_above)
        if _version(cursor, server) > latest():
            raise StoreError(
                f"{server.name} has a newer schema than this kinmem, which writes {latest()};"
                " install the newer kinmem that made it",
                "storage_newer",
            )
        server.role = ROLE if is_above else None
        _check_is_restricted(cursor, server)
    server.is_ready = True


def _login(cursor: "ClientCursor[Any]", server: "Server") -> tuple[bool, bool]:
    """Return whether the login is above row-level security, and whether the schema is there."""
    cursor.execute(LOGIN, {"versions": f'"{server.schema}".schema_version'})
    found = cursor.fetchone()
    assert found is not None
    number, encoding, is_above, vector, place, has_schema = found
    if number < LEAST_SERVER:
        raise StoreError(f"{server.name}: kinmem needs PostgreSQL 16", UNSUPPORTED)
    if encoding not in (ENCODING, ENCODING.encode()):  # bytes, if the server knows no letters
        told = f"{server.name}: kinmem needs a database for all languages; make it with"
        raise StoreError(f"{told} createdb --template template0 --encoding {ENCODING}", UNSUPPORTED)
    if vector is None:
        try:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except Exception as error:  # of the driver, which is not known here
            if getattr(error, "sqlstate", None) != NOT_ALLOWED:
                raise
            told = "pgvector is not in this database, and this login may not put it there; as an"
            told += " administrator: CREATE EXTENSION vector"
            raise StoreError(f"{server.name}: {told}", UNSUPPORTED) from error
        return _login(cursor, server)
    if tuple(map(int, vector.split(".")[:2])) < LEAST_VECTOR:
        raise StoreError(
            f"{server.name}: kinmem needs pgvector 0.8; ALTER EXTENSION vector UPDATE",
            UNSUPPORTED,
        )
    server.path = f'"{server.schema}", {place}'
    return bool(is_above), bool(has_schema)


def _version(cursor: "ClientCursor[Any]", server: "Server") -> int:
    cursor.execute(f'SELECT coalesce(max(number), 0) FROM "{server.schema}".schema_version')
    found = cursor.fetchone()
    return int(found[0]) if found else 0


def _migrate(cursor: "ClientCursor[Any]", server: "Server", *, is_above: bool) -> None:
    """Apply the scripts that are missing, in one transaction; one process after the other."""
    cursor.execute("BEGIN")
    cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (server.schema,))
    cursor.execute(f'CREATE SCHEMA IF NOT EXISTS "{server.schema}"')
    cursor.execute(f"SET LOCAL search_path = {server.path}")
    cursor.execute(VERSIONS)
    found = _version(cursor, server)
    for number, script in enumerate(scripts(), 1):
        if number > found:
            cursor.execute(script)
            cursor.execute("INSERT INTO schema_version (number) VALUES (%s)", (number,))
    if is_above:
        cursor.execute(ROLE_MADE)
        cursor.execute(GRANTS.format(server.schema))
    cursor.execute("COMMIT")


def _check_is_restricted(cursor: "ClientCursor[Any]", server: "Server") -> None:
    """Raise StoreError unless the rows of other Kins are out of reach."""
    became = f"; SET LOCAL ROLE {server.role}" if server.role else ""
    cursor.execute(
        f"BEGIN READ ONLY{became}; SET LOCAL search_path = {server.path}"
        "; SELECT row_security_active('memories')"
    )
    while cursor.nextset():
        pass
    found = cursor.fetchone()
    cursor.execute("ROLLBACK")
    if not found or not found[0]:
        raise StoreError(
            f"{server.name}: the login is above row-level security; use one that is not",
            UNSUPPORTED,
        )


SERVER_KEEPS = (
    "the server's log (WAL), its replicas, its backups and its disk's free space keep what they"
    " have for as long as its administrator says"
)
REWRITTEN_AT_ONCE = 1 << 28
"""Bytes of a schema that are rewritten with VACUUM FULL: a table of it is locked for some seconds
at most (a disk writes 100 MB a second or more). Above, only VACUUM runs, which locks nobody out."""
PAUSE = 0.1
TABLES = """
    SELECT c.oid::regclass::text, pg_relation_filenode(c.oid),
        pg_total_relation_size(c.oid), pg_has_role(session_user, c.relowner, 'USAGE')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relkind = 'r' ORDER BY c.relname
"""
STATISTICS = "pg_catalog.pg_statistic"
OF_STATISTICS = f"""
    SELECT pg_relation_filenode('{STATISTICS}'::regclass),
        current_setting('server_version_num')::integer >= 180000,
        (SELECT rolsuper FROM pg_roles WHERE rolname = session_user),
        (SELECT pg_has_role(session_user, datdba, 'USAGE') FROM pg_database
            WHERE datname = current_database())
"""
# ANALYZE keeps what it knows of a table that has become empty.
CLEAR = """
    SELECT pg_clear_attribute_stats(schemaname => n.nspname::text, relname => c.relname::text,
        attname => a.attname::text, inherited => c.relkind = 'p')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname = %s AND c.relkind IN ('r', 'p')
"""
CLEAR_BEFORE_18 = """
    DELETE FROM pg_catalog.pg_statistic WHERE starelid IN (
        SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relkind IN ('r', 'p')
    )
"""
# Who may still look at row versions that were replaced before transaction %(now)s. Of other roles'
# sessions a login without pg_read_all_stats sees nothing here.
LOOKING_BACK = """
    SELECT count(*) FROM (
        SELECT backend_xmin AS least FROM pg_stat_activity
        WHERE (datname = current_database() OR backend_type = 'walsender')
            AND pid <> pg_backend_pid()
        UNION ALL SELECT xmin FROM pg_replication_slots
        UNION ALL SELECT transaction FROM pg_prepared_xacts
    ) one WHERE age(least) > age(%(now)s::xid8::xid)
"""


def rewrite(server: Server) -> list[str]:
    """Rewrite all tables of the schema. Returns what could not be done, each in a sentence."""
    with server.connection("") as cursor:
        problems = [] if _nobody_looks_back(cursor) else [SEEN_BY_OTHERS]
        cursor.execute(TABLES, (server.schema,))
        tables = cursor.fetchall()
        if not all(is_own for *_, is_own in tables):
            return [*problems, NOT_OWN.format(server.schema)]
        if sum(size for _, _, size, _ in tables) > REWRITTEN_AT_ONCE:
            for table, *_ in tables:
                cursor.execute(f"VACUUM (ANALYZE) {table}")
            return [*problems, TOO_LARGE]
        left = _all_rewritten(cursor, server.schema, tables)
    return [*problems, *([LEFT.format(", ".join(left))] if left else [])]


SEEN_BY_OTHERS = (
    "a transaction that began before still sees what was erased, so the server keeps it; once that"
    " transaction has ended, VACUUM FULL takes it away"
)
NOT_OWN = (
    "this login may not rewrite the tables, so their pages keep what was erased until their owner"
    " says VACUUM (FULL, ANALYZE) for those of schema {}"
)
TOO_LARGE = (
    "the tables are too large to be locked while they are rewritten: erased rows are freed, and"
    " their bytes stay in the pages until other rows take their place, or until the administrator"
    " says VACUUM FULL"
)
LEFT = (
    "in the pages of {} the bytes of what was erased may stay, since it was in use or this login"
    " may not rewrite it; VACUUM FULL by the administrator takes them away"
)


def _all_rewritten(cursor: "ClientCursor[Any]", schema: str, tables: list[Any]) -> list[str]:
    """Rewrite tables and statistics; returns those that were not."""
    cursor.execute(OF_STATISTICS)
    [(statistics, can_clear, is_above, owns_database)] = cursor.fetchall()
    if can_clear or is_above:
        cursor.execute(CLEAR if can_clear else CLEAR_BEFORE_18, (schema,))
    end = time.monotonic() + BUSY_SECONDS
    left = [
        table for table, file, *_ in tables if not _rewritten(cursor, table, file, ", ANALYZE", end)
    ]
    if not (is_above or can_clear and owns_database) or not _rewritten(
        cursor, STATISTICS, statistics, "", end
    ):
        left.append(STATISTICS)
    return left


def _nobody_looks_back(cursor: "ClientCursor[Any]") -> bool:
    """Wait some seconds until no transaction runs that began before now; whether there is none."""
    cursor.execute("SELECT pg_current_xact_id()::text")
    [(now,)] = cursor.fetchall()
    end = time.monotonic() + BUSY_SECONDS
    while True:
        cursor.execute(LOOKING_BACK, {"now": now})
        [(count,)] = cursor.fetchall()
        if not count or time.monotonic() > end:
            return not count
        time.sleep(PAUSE)


def _rewritten(cursor: "ClientCursor[Any]", table: str, file: int, more: str, end: float) -> bool:
    """Give a table new files, unless somebody holds it until `end`; whether it has."""
    while True:
        cursor.execute(f"VACUUM (FULL, SKIP_LOCKED{more}) {table}")
        cursor.execute("SELECT pg_relation_filenode(%s::regclass)", (table,))
        [(now,)] = cursor.fetchall()
        if now != file or time.monotonic() > end:
            return bool(now != file)
        time.sleep(PAUSE)
