"""Rewrites the tables of a schema, so that no page of a table or index holds what was erased.

What is deleted or changed stays in PostgreSQL's pages as an earlier version of its row. VACUUM
frees its place, and the bytes stay until another row takes it; VACUUM FULL writes table and indexes
anew, but locks the table meanwhile. Statistics hold texts as well: ANALYZE gathers them anew.
"""

import time
from typing import TYPE_CHECKING, Any

from kinmem.store.postgres.pooled_server import BUSY_SECONDS, Server

if TYPE_CHECKING:
    from psycopg import ClientCursor

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
        attname => a.attname::text, inherited => FALSE)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname = %s AND c.relkind = 'r'
"""
CLEAR_BEFORE_18 = """
    DELETE FROM pg_catalog.pg_statistic WHERE starelid IN (
        SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relkind = 'r'
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
