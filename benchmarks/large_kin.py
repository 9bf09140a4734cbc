"""A Kin with very many vectors among others: compared one by one, in a partition, by an index.

`python -m benchmarks large-kin`. Vectors are made up around centres, as those of texts lie around
what they are about.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg

from benchmarks.report import Row, Table, Target
from benchmarks.workers import database
from kinmem.models import Filters
from kinmem.store.postgres import pgvectors
from kinmem.store.postgres.postgres_store import PostgresStore

WIDTH, CENTRES, EMBEDDER = 384, 500, "made up"
OWN, OTHERS, OF_EACH = 60_000, 100, 1_000
SHORT_OWN, SHORT_OTHERS = 4_000, 10
QUESTIONS, NEAREST, SEED = 40, 10, 5
LEAST_FOUND = 0.95


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One table: a row for each way to find the nearest."""
    own, others = (SHORT_OWN, SHORT_OTHERS) if short else (OWN, OTHERS)
    random = np.random.default_rng(SEED)
    centres = random.normal(size=(CENTRES, WIDTH))
    before = pgvectors.OWN_INDEXED_FROM
    with database() as server:
        url = _with_memory(server)
        _fill(url, random, centres, own, others)
        asked = [vector.astype(np.float32) for vector in _around(random, centres, QUESTIONS)]
        pgvectors.OWN_INDEXED_FROM = own // 2 if short else before
        try:
            with closing(PostgresStore(url, "large")) as store:
                rows, share = _three_ways(store, url, asked)
        finally:
            pgvectors.OWN_INDEXED_FROM = before
    note = (
        f"A Kin with {own:,} vectors of {WIDTH} numbers, and {others} with {OF_EACH:,} each, stored"
        f" in turn; {QUESTIONS} questions, the {NEAREST} nearest. The server has 512 MB for making"
        f" an index. Load {os.getloadavg()[0]:.1f}."
    )
    columns = ("how", "made in, s", "median, ms", "same as one by one", "MB of table, of index")
    targets = [Target("share of the nearest that the index finds", share, LEAST_FOUND, False)]
    return [Table("A Kin that has very much", columns, rows, note)], targets


def _with_memory(server: Any) -> str:
    url = str(server.get_uri())
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET maintenance_work_mem = '512MB'")
        admin.execute("SELECT pg_reload_conf()")
        admin.execute("CREATE DATABASE large")
    return urlunsplit(urlsplit(url)._replace(path="/large"))


def _around(random: np.random.Generator, centres: Any, count: int) -> Any:
    chosen = centres[random.integers(len(centres), size=count)]
    return chosen + random.normal(size=(count, WIDTH)) * 0.7


def _fill(url: str, random: np.random.Generator, centres: Any, own: int, others: int) -> None:
    """Store vectors as if all Kins wrote at once: the large one's lie between those of others."""
    names = ["large", *(f"other{number}" for number in range(others))]
    for name in names:
        with closing(PostgresStore(url, name)) as store:
            store.index.enroll(EMBEDDER, WIDTH)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SET search_path = kinmem, public; SET session_replication_role = replica")
        kins: dict[str, int] = dict(admin.execute("SELECT name, kin_id FROM kins").fetchall())
        numbers: dict[int, int] = dict(admin.execute("SELECT kin_id, id FROM embedders").fetchall())
        for name in names:
            count = own if name == "large" else OF_EACH
            admin.execute(
                "INSERT INTO memories (kin_id, rowid, id, kin, scope, content, category,"
                " content_hash, channel, trust, created_at, content_updated_at) SELECT %(kin)s, n,"
                " %(name)s || n, %(name)s, 'private', 'a thing', 'fact', n, 'user', 1, %(at)s,"
                " %(at)s FROM generate_series(1, %(count)s) n",
                {"kin": kins[name], "name": name, "count": count, "at": NEW_YEAR},
            )
            admin.execute(
                "INSERT INTO chunks (kin_id, id, memory, position) SELECT kin_id, rowid, rowid, 0"
                " FROM memories WHERE kin_id = %s",
                (kins[name],),
            )
            admin.execute(
                "UPDATE revision SET number = number + 1 WHERE kin_id = %s", (kins[name],)
            )
        columns = "kin_id, embedder, chunk, embedding"
        with admin.cursor().copy(f"COPY vectors ({columns}) FROM STDIN") as copy:
            for name, chunk in _in_turn(own, others):
                [vector] = _around(random, centres, 1)
                kin = kins[name]
                copy.write_row((kin, numbers[kin], chunk, str(vector.round(4).tolist())))
        admin.execute("VACUUM (ANALYZE)")


NEW_YEAR = "2026-01-01T00:00:00.000000+00:00"


def _in_turn(own: int, others: int) -> Iterator[tuple[str, int]]:
    for number in range(OF_EACH):
        for other in range(others):
            yield f"other{other}", number + 1
        for chunk in range(number * own // OF_EACH, (number + 1) * own // OF_EACH):
            yield "large", chunk + 1


def _three_ways(store: PostgresStore, url: str, asked: Sequence[Any]) -> tuple[list[Row], float]:
    database = store.files.own.database
    last = 10**9
    exact, slow = _found(store, asked)
    rows: list[Row] = [("one by one, among others", 0.0, slow, "", _sizes(url))]
    began = time.monotonic()
    pgvectors.give_own_partition(database, last)
    took = time.monotonic() - began
    same, slow = _found(store, asked)
    rows.append(("one by one, in a partition", took, slow, _share(exact, same), _sizes(url)))
    began = time.monotonic()
    pgvectors.keep_indexes(database, last)
    took = time.monotonic() - began
    near, fast = _found(store, asked)
    share = _share(exact, near)
    rows.append(("by its index", took, fast, share, _sizes(url)))
    return rows, share


def _found(store: PostgresStore, asked: Sequence[Any]) -> tuple[list[set[str]], float]:
    found, times = list[set[str]](), list[float]()
    for at, vector in enumerate((*asked[:5], *asked)):  # the first warm it up
        began = time.perf_counter()
        nearest = store.index.nearest(vector, EMBEDDER, NEAREST, Filters())
        if at >= 5:
            times.append(time.perf_counter() - began)
            found.append({id for id, _ in nearest})
    return found, median(times) * 1000


def _share(exact: Sequence[set[str]], found: Sequence[set[str]]) -> float:
    return sum(len(a & b) for a, b in zip(exact, found, strict=True)) / NEAREST / len(exact)


def _sizes(url: str) -> str:
    """Of the table that the Kin's vectors are in, and of their index."""
    with psycopg.connect(url) as admin:
        [(table, index)] = admin.execute(
            "SELECT pg_table_size(coalesce(to_regclass('kinmem.vectors_kin_' || kin_id),"
            " 'kinmem.vectors_of_many')), coalesce((SELECT sum(pg_relation_size(c.oid))::bigint"
            " FROM pg_class c WHERE starts_with(c.relname, 'vectors_of_' || kin_id || '_')), 0)"
            " FROM kinmem.kins WHERE name = 'large'"
        ).fetchall()
    return f"{table / 1e6:.0f}, {index / 1e6:.0f}"
