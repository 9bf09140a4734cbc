"""Brings a schema to the present version: the numbered scripts in migrations/, forward only."""

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinmem.errors import StoreError

if TYPE_CHECKING:
    from psycopg import ClientCursor

    from kinmem.store.postgres.pooled_server import Server

MIGRATIONS = Path(__file__).with_name("migrations")
ROLE = "kinmem_service"
"""Whom a login becomes that would be above row-level security."""
LEAST_SERVER, LEAST_VECTOR = 160000, (0, 8)
LOGIN = """
    SELECT current_setting('server_version_num')::integer, r.rolsuper OR r.rolbypassrls,
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
    number, is_above, vector, place, has_schema = found
    if number < LEAST_SERVER:
        raise StoreError(f"{server.name}: kinmem needs PostgreSQL 16", "storage_unsupported")
    if vector is None:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        return _login(cursor, server)
    if tuple(map(int, vector.split(".")[:2])) < LEAST_VECTOR:
        raise StoreError(
            f"{server.name}: kinmem needs pgvector 0.8; ALTER EXTENSION vector UPDATE",
            "storage_unsupported",
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
            "storage_unsupported",
        )
