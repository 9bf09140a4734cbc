"""The PostgreSQL store keeps the contract, and what else only a server must do."""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakKeyDictionary

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, settings

from benchmarks.doubles import KnownVectors
from kinmem.errors import StoreError
from kinmem.llm.base import Calibration, Purpose
from kinmem.models import Asked, Chunks, Draft, Filters, Found, Hit, Vectors
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.base import Store, this_process
from kinmem.store.history import Mention
from kinmem.store.postgres import owned_rows, pgvectors, pooled_server, schema
from kinmem.store.postgres.pooled_server import Server
from kinmem.store.postgres.postgres_store import PostgresStore, ServerWide
from kinmem.store.postgres.schema import latest, prepare
from kinmem.store.sql.database import Served, serving
from kinmem.store.sqlite.store import SqliteStore
from tests import postgres
from tests.conftest import MovableClock
from tests.store.batch_contract import BatchContract
from tests.store.contract import (
    TINY,
    WIDTH,
    StoreContract,
    added,
    draft_of,
    found_by_words,
    memory_of,
    vector_of,
    vectors_of,
)
from tests.store.sessions_contract import SessionsContract
from tests.store.test_isolation import ThreeKins
from tests.store.test_migrations import IN_PROSE
from tests.sweeps import rounds, sample
from tests.tables import each


@pytest.fixture
def store_of(
    postgres_url: str, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Store]]:
    """Opens the memory of a Kin, each time anew, as another process would; all share one server,
    whatever tests before have left open."""
    monkeypatch.setattr(Server, "_open", {})
    with ExitStack() as opened:
        yield lambda kin: opened.enter_context(closing(PostgresStore(postgres_url, kin, clock)))


class TestPostgresStore(StoreContract):
    """Everything that any store promises."""


class TestPostgresSessions(SessionsContract):
    """Everything that any store promises of sessions."""


class TestPostgresBatches(BatchContract):
    """What any store promises of apply."""


class KinsOnOneServer(ThreeKins):
    """Three Kins in one database, compared step by step with a dictionary."""

    def __init__(self) -> None:
        postgres.empty()
        super().__init__()

    def opened(self, kin: str) -> PostgresStore:  # type: ignore[override]
        return PostgresStore(postgres.database_url(), kin, self.clock)

    def teardown(self) -> None:
        for store in self.stores.values():
            store.close()
        self.folder.cleanup()


KinsOnOneServer.TestCase.settings = settings(
    max_examples=rounds(100, 1),
    stateful_step_count=rounds(20, 12),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestKinsOnOneServer = KinsOnOneServer.TestCase


# words: the same are found, with the same scores

TEXTS = (
    "The boiler was serviced in May; the boiler is loud",
    "Naïve façades and a running runner who runs",
    "e-mail addresses such as anna.berg@example.org, and version v1.2.3 of C# and C++",
    "乌龙茶 is what Otto drinks, 龙 is a dragon",
    "user_name and file-name.txt are two words each; don't say no",
    "Die Straße nach Zürich ist gesperrt, Größe 42",
    "a",
    "running running running",
)
QUESTIONS = (
    ["boiler"],
    ["boiler", "loud", "may"],
    ["run"],
    ["running", "runs"],
    ["e-mail"],
    ["v1.2.3"],
    ["c#", "c++"],
    ["乌龙茶"],
    ["龙"],
    ["user_name", "don't"],
    ["straße", "ZURICH"],
    ["facade", "naive"],
    ["nothing", "such"],
)


@pytest.mark.parametrize("beginnings", [False, True], ids=["words", "beginnings"])
def test_words_find_the_same_with_the_same_scores_as_in_sqlite(
    store_of: Callable[[str], Store], home: Path, clock: MovableClock, beginnings: bool
) -> None:
    with closing(SqliteStore(home, "ana", clock)) as files:
        drafts = [
            draft_of(text, source_context=f"beside: {TEXTS[at - 1]}")
            for at, text in enumerate(TEXTS)
        ]
        on_server = store_of("ana")
        for store in (files, on_server):
            store.add(drafts)

        for question in QUESTIONS:
            asked = Asked(question, None, TINY, 5, 8, 8, beginnings=beginnings)
            both = [store.index.search(asked, Filters()) for store in (files, on_server)]
            candidates = [[one.id for one in found.candidates] for found in both]
            assert candidates[0] == candidates[1] == sorted(candidates[0]), question
            found = [one.matches for one in both]
            assert list(found[0]) == list(found[1]), question
            assert found[0] == pytest.approx(found[1], rel=1e-9), question


def test_meaning_finds_the_same_with_the_same_cosines_as_in_sqlite(
    store_of: Callable[[str], Store], home: Path, clock: MovableClock
) -> None:
    with closing(SqliteStore(home, "ana", clock)) as files:
        on_server = store_of("ana")
        drafts = [draft_of(f"thing number {number}") for number in range(40)]
        found: list[Found] = []
        for store in (files, on_server):
            store.add(drafts)
            asked = Asked([], vector_of("which thing?"), TINY, 15, 8, 8)
            found.append(store.index.search(asked, Filters()))

        assert found[0].nearest == found[1].nearest
        assert found[0].cosines.keys() == found[1].cosines.keys()
        for id, cosines in found[0].cosines.items():
            assert cosines == pytest.approx(found[1].cosines[id], abs=1e-6)


CORPORA = Path(__file__).parents[1] / "corpora"
LETTERS = re.compile(r"[^\W\d_]+")


class Spelled(KnownVectors):
    """Texts with the same words have the same vector, whatever their numbers: many are as near as
    others."""

    name = "tests/spelled"
    calibration = Calibration(noise=0.1, duplicate=0.99, near=0.9)

    def __init__(self) -> None:
        super().__init__(["lamp"], vectors_of(["lamp"], WIDE))

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        words = [LETTERS.findall(text.lower()) or ["lamp"] for text in texts]
        sums = np.array([vectors_of(some, WIDE).sum(axis=0) for some in words], np.float32)
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), np.float32)


def lines_of(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (CORPORA / name).read_text("utf-8").splitlines()]


def test_both_engines_give_the_same_hits_in_the_same_order(
    store_of: Callable[[str], Store], home: Path, clock: MovableClock
) -> None:
    told, asked, pairs = map(lines_of, ("told.jsonl", "asked.jsonl", "lookalikes.jsonl"))
    texts = [one["fact"] for one in told] + [one["note"] for one in asked]
    texts += [one[which] for one in pairs[::4] for which in ("old", "new")]
    questions = [one["asked"] for one in told[::3]] + [one["question"] for one in asked]
    questions = list(sample(questions + [one["text"] for one in lines_of("language.jsonl")], 4))
    embedder = Spelled()
    settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": home, "KINMEM_JUDGE": "off"})
    texts = list(dict.fromkeys(texts))
    vectors = embedder.embed(texts)
    drafts = [
        Draft(memory_of(text), Chunks((text,), vectors[at : at + 1], embedder.name))
        for at, text in enumerate(texts)
    ]
    assert len(drafts) > 300 and len(questions) > 45

    found: list[list[list[Hit]]] = []
    for store in (SqliteStore(home, "ana", clock), store_of("ana")):
        store.add(drafts)
        with Service(store, [embedder], settings, clock=clock) as service:
            found.append([])
            for question in questions:
                found[-1].append(service.recall(question, limit=20).hits)
                store.flush_use()  # what was used counts; the background writes it at any time

    for question, *both in zip(questions, *found, strict=True):
        ids = [[hit.memory.id for hit in hits] for hits in both]
        assert ids[0] == ids[1], question
        scores = [[hit.score for hit in hits] for hits in both]
        assert scores[0] == pytest.approx(scores[1], abs=1e-5), question


COPIES, WIDE = 3_000, 24
NEVER = "2026-01-01T00:00:00.000000+00:00"


def many_of(owner: int, random: np.random.Generator) -> int:
    """Store memories with random vectors, for 0 copies as other Kins would have published them;
    returns the number of their embedder."""
    with psycopg.connect(postgres.database_url()) as admin:
        admin.execute(f"SET search_path = kinmem, public; SET kinmem.owner = '{owner}'")
        [(number,)] = admin.execute(
            "SELECT id FROM embedders WHERE kin_id = %s", (owner,)
        ).fetchall()
        admin.execute(
            "INSERT INTO memories (rowid, id, kin, scope, content, category, content_hash, channel,"
            " trust, created_at, content_updated_at) SELECT n, 'm' || n, %s, %s, 'a thing'"
            ", 'fact', n, 'user', 1, %s, %s FROM generate_series(1, %s) n",
            (*(("ana", "private") if owner else ("eve", "shared")), NEVER, NEVER, COPIES),
        )
        admin.execute(
            "INSERT INTO chunks (id, memory, position) SELECT rowid, rowid, 0 FROM memories"
        )
        admin.execute("UPDATE revision SET number = 1 WHERE kin_id = %s", (owner,))
        with admin.cursor().copy("COPY vectors (embedder, chunk, embedding) FROM STDIN") as rows:
            for at, vector in enumerate(random.normal(size=(COPIES, WIDE)), 1):
                rows.write_row((number, at, str(vector.tolist())))
    return int(number)


@pytest.mark.parametrize(
    ("bound", "is_shared"),
    [
        pytest.param("INDEXED_FROM", True, id="of the copies that all share"),
        pytest.param("OWN_INDEXED_FROM", False, id="of a Kin that has very much"),
    ],
)
def test_an_index_by_meaning_finds_what_comparing_all_finds(
    store_of: Callable[[str], Store],
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    is_shared: bool,
) -> None:
    ana = store_of("ana")
    ana.index.enroll("wide", WIDE)
    random = np.random.default_rng(7)
    owner = 0 if is_shared else number_of("ana")
    number = many_of(owner, random)
    asked = [vector.astype(np.float32) for vector in random.normal(size=(20, WIDE))]
    exact = ana.index.nearest_each(asked, "wide", 10, Filters())

    monkeypatch.setattr(pgvectors, bound, 1)
    done = ana.keep_house(bool)
    assert (done["indexes"], done.get("partitions", 0)) == (1, 0 if is_shared else 1)
    assert not {"indexes", "partitions"} & set(ana.keep_house(bool))
    near = ana.index.nearest_each(asked, "wide", 10, Filters())
    kept = [text for _ in range(6) for text, _ in prepared(ana)]
    assert not [text for text in kept if "vector(" in text]  # it would not read the index

    found = [
        len({id for id, _ in one} & {id for id, _ in other})
        for one, other in zip(exact, near, strict=True)
    ]
    assert sum(found) >= 0.97 * 10 * len(asked)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("SET search_path = kinmem, public; SET enable_seqscan = off")
        admin.execute("SET enable_sort = off")  # few rows, or no statistics yet, would be sorted
        plan = admin.execute(
            f"EXPLAIN SELECT chunk FROM vectors v WHERE kin_id = {owner} AND embedder = {number}"
            f" ORDER BY v.embedding::vector({WIDE}) <=> '{asked[0].tolist()}' LIMIT 10"
        ).fetchall()
    name = "vectors_shared_" if is_shared else f"vectors_of_{owner}_"
    assert name in str(plan)
    ana.index.retire("wide")
    ana.keep_house(bool)
    assert of_kinmem(f"SELECT 1 FROM pg_indexes WHERE starts_with(indexname, '{name}')") == []


def test_a_partition_keeps_a_kins_vectors_together_and_out_of_reach(
    store_of: Callable[[str], PostgresStore], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvectors, "OWN_INDEXED_FROM", 2)
    ana, ben = (store_of(kin) for kin in ("ana", "ben"))
    for store in (ana, ben):
        store.index.enroll(TINY, WIDTH)
    first, second = (added(ana, content, embedder=TINY) for content in ("tea", "coffee"))
    added(ben, "tea", embedder=TINY)
    assert ana.keep_house(bool)["partitions"] == 1
    third = added(ana, "milk", embedder=TINY)
    ana.erase(first)

    assert "partitions" not in ben.keep_house(bool)
    assert {id for id, _ in ana.index.nearest(vector_of("tea"), TINY, 9, Filters())} == {
        second,
        third,
    }
    part = f"kinmem.vectors_kin_{number_of('ana')}"
    whose = f"SET LOCAL kinmem.owner = '{number_of('ana')}'; SET LOCAL ROLE kinmem_service"
    with psycopg.connect(postgres_url) as admin:
        assert admin.execute(f"SELECT count(*) FROM {part}").fetchall() == [(2,)]
        assert admin.execute("SELECT count(*) FROM kinmem.vectors_of_many").fetchall() == [(1,)]
        admin.execute(whose)
        assert admin.execute("SELECT count(*) FROM kinmem.vectors").fetchall() == [(2,)]
        with suppress(psycopg.errors.InsufficientPrivilege), admin.transaction():
            assert admin.execute(f"SELECT count(*) FROM {part}").fetchall() == [(0,)]


@contextmanager
def reading_vectors(url: str) -> Iterator[None]:
    """While somebody is in the midst of reading vectors, so that the table cannot be changed."""
    with psycopg.connect(url) as admin:
        admin.execute("SELECT count(*) FROM kinmem.vectors")
        yield


@pytest.fixture
def large(
    store_of: Callable[[str], PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> PostgresStore:
    """A Kin that has enough vectors for a partition and an index."""
    monkeypatch.setattr(pgvectors, "OWN_INDEXED_FROM", 2)
    ana = store_of("ana")
    ana.index.enroll(TINY, WIDTH)
    for content in ("tea", "coffee"):
        added(ana, content, embedder=TINY)
    return ana


def test_an_index_that_is_older_than_the_partition_is_made_anew_in_it(
    large: PostgresStore, postgres_url: str
) -> None:
    def where() -> list[tuple[str]]:
        name = f"vectors_of_{number_of('ana')}_"
        return of_kinmem(f"SELECT tablename FROM pg_indexes WHERE starts_with(indexname, '{name}')")

    with reading_vectors(postgres_url):
        assert large.keep_house(bool) == {"indexes": 1}
    assert where() == [("vectors_of_many",)]

    assert large.keep_house(bool) == {"partitions": 1, "indexes": 1}
    assert where() == [(f"vectors_kin_{number_of('ana')}",)]
    assert large.keep_house(bool) == {}


def test_no_vector_is_moved_while_somebody_uses_the_table(
    large: PostgresStore, postgres_url: str
) -> None:
    with reading_vectors(postgres_url):
        assert "partitions" not in large.keep_house(bool)

    # A row that was deleted keeps who did it, also when that was taken back.
    deleted_by = "SELECT DISTINCT xmax::text FROM kinmem.vectors_of_many"
    assert of_kinmem(deleted_by) == [("0",)]


# plans that are kept

AS_OFTEN_AS_CONNECTIONS = 6
"""The pool lends one of its connections after the other."""


@pytest.fixture
def planned_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps a plan of everything that is read."""
    monkeypatch.setattr(owned_rows, "READ_BEFORE", 0)


@pytest.fixture
def admin(store_of: Callable[[str], Store]) -> Iterator[psycopg.Connection]:
    """Somebody who changes the tables while stores read them; `things` is a table to change."""
    with psycopg.connect(postgres.database_url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kinmem.things AS SELECT 7 AS number, 'tea' AS word")
        connection.execute("GRANT SELECT ON kinmem.things TO PUBLIC")
        yield connection
        connection.execute("DROP TABLE kinmem.things")


def prepared(store: PostgresStore) -> list[tuple[str, int]]:
    """What a connection has a plan of, and how many values that takes."""
    with store.files.own.database.reading() as db:
        return db.rows(
            "SELECT statement, cardinality(parameter_types) FROM pg_prepared_statements"
            " WHERE custom_plans = 0 AND generic_plans > 0"
        )


def forget_plans(store: PostgresStore) -> None:
    """Let no connection know a plan any more."""
    for _ in range(AS_OFTEN_AS_CONNECTIONS):
        with store.files.own.database.reading() as db:
            db.run("DEALLOCATE ALL")


def searched(store: Store) -> list[Found]:
    asked = Asked(["tea"], vector_of("tea"), TINY, 15, 8, 8)
    return [store.index.search(asked, Filters()) for _ in range(AS_OFTEN_AS_CONNECTIONS)]


def test_what_is_read_often_is_planned_once(store_of: Callable[[str], PostgresStore]) -> None:
    store = store_of("ana")
    ids = {added(store, "tea")}
    for _ in range(owned_rows.READ_BEFORE + 1):
        assert all(found.matches.keys() == ids for found in searched(store))
    assert len(prepared(store)) >= 2  # by meaning and by words

    ids |= {added(store, f"tea {number}") for number in range(19)}

    for found in searched(store):
        assert set(found.nearest) <= ids
        assert len(found.nearest) == 15
        assert found.cosines.keys() >= set(found.nearest)


def test_no_plan_that_is_kept_reads_a_whole_table(
    store_of: Callable[[str], PostgresStore], planned_at_once: None
) -> None:
    """It is made while the tables are nearly empty, and kept while other Kins fill them.

    The server plans anew when it likes: where many tables change at once, if of other databases,
    a connection no longer knows which of its plans still hold.
    """
    store = store_of("ana")
    added(store, "tea")
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        admin.execute("ANALYZE")
    searched(store)

    with store.files.own.database.reading() as db:
        known = db.rows(
            "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements"
            " WHERE statement ~ 'FROM (vectors|postings)'"
        )
        assert len(known) >= 2  # by meaning and by words, in one way or another
        for setting in owned_rows.GENERAL.strip("; ").split("; "):
            db.run(setting)
        db.run("DISCARD PLANS")
        for name, count in known:
            values = f"({', '.join(['NULL'] * count)})" if count else ""
            assert "Seq Scan" not in str(db.rows(f"EXPLAIN EXECUTE {name}{values}"))


@pytest.mark.parametrize("happens", ["it is not known there", "it is there already"])
def test_a_pooler_may_put_a_transaction_on_another_connection(
    store_of: Callable[[str], PostgresStore],
    planned_at_once: None,
    happens: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = store_of("ana")
    added(store, "tea")
    first = searched(store)
    if happens == "it is there already":
        monkeypatch.setattr(owned_rows, "_kept", WeakKeyDictionary())
    else:
        forget_plans(store)

    assert searched(store) == first
    assert len(prepared(store)) >= 2


def test_a_condition_that_is_asked_for_sometimes_does_not_keep_a_plan_away(
    store_of: Callable[[str], PostgresStore],
    planned_at_once: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owned_rows, "_refused", refused := set[str]())
    store = store_of("ana")
    added(store, "tea")

    for _ in range(AS_OFTEN_AS_CONNECTIONS):
        assert not store.index.is_filled("nobody")
        assert store.index.pending(TINY, 5) == []
        assert store.snapshots.of() == store.snapshots.of("a session") == []
        assert store.snapshots.last(None) is store.snapshots.last("a place") is None
        assert store.jobs.runs() == store.jobs.runs(kind="sleep") == []
        [event] = store.past.writes(5)
        assert store.past.writes(5, before=event.write) == []
        assert store.past.writes(5, memory=event.memory_id) == [event]

    assert not refused


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT number FROM things WHERE :seven IS NULL OR number = 7",
        "SELECT number FROM things WHERE jsonb_build_object('a', :seven) ->> 'a' = '7'",
        "SELECT number FROM things WHERE number = :seven AND word <> :seven",
        "SELECT number FROM things WHERE CASE number WHEN :seven THEN :seven ELSE word END = '7'",
    ],
)
def test_what_takes_its_types_from_literals_is_read_all_the_same(
    store_of: Callable[[str], PostgresStore],
    planned_at_once: None,
    admin: psycopg.Connection,
    asked: str,
) -> None:
    database = store_of("ana").files.own.database

    for _ in range(AS_OFTEN_AS_CONNECTIONS):
        assert database.rows(asked, {"seven": 7}) == [(7,)]


def things(store: PostgresStore) -> set[Any]:
    """What each connection reads."""
    sql, database = "SELECT number FROM things WHERE word <> ?", store.files.own.database
    found = [database.rows(sql, ("coffee",)) for _ in range(AS_OFTEN_AS_CONNECTIONS)]
    return {number for rows in found for (number,) in rows}


@pytest.mark.parametrize("known", [True, False], ids=["its own plan", "a plan that is there"])
def test_a_plan_is_made_anew_when_the_type_of_a_column_changes(
    store_of: Callable[[str], PostgresStore],
    planned_at_once: None,
    admin: psycopg.Connection,
    known: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = store_of("ana")
    assert things(store) == {7}
    admin.execute("ALTER TABLE kinmem.things ALTER number TYPE text")
    if not known:
        monkeypatch.setattr(owned_rows, "_kept", WeakKeyDictionary())

    assert things(store) == {"7"}
    assert [text for text, _ in prepared(store) if "FROM things" in text]


@pytest.mark.parametrize(
    ("breaks", "mends", "told"),
    [
        pytest.param(
            "REVOKE SELECT ON kinmem.things FROM PUBLIC",
            "GRANT SELECT ON kinmem.things TO PUBLIC",
            "the login may not do that",
            id="the right to read",
        ),
        pytest.param(
            "ALTER TABLE kinmem.things RENAME number TO count",
            "ALTER TABLE kinmem.things RENAME count TO number",
            'UndefinedColumn: column "number" does not exist',
            id="a column",
        ),
        pytest.param(
            "ALTER TABLE kinmem.things ALTER word TYPE json USING to_json(word)",
            "ALTER TABLE kinmem.things ALTER word TYPE text USING word #>> '{}'",
            "UndefinedFunction: operator does not exist: json <> unknown",
            id="an operator",
        ),
    ],
)
def test_what_was_missing_once_is_planned_when_it_is_there(
    store_of: Callable[[str], PostgresStore],
    planned_at_once: None,
    admin: psycopg.Connection,
    breaks: str,
    mends: str,
    told: str,
) -> None:
    store = store_of("ana")
    admin.execute(breaks)
    with pytest.raises(StoreError, match=told):
        things(store)
    admin.execute(mends)
    forget_plans(store)  # who may not read a table may prepare it

    assert things(store) == {7}
    assert [text for text, _ in prepared(store) if "FROM things" in text]


# many threads of one process


def wait_until(holds: Callable[[], bool]) -> None:
    latest = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.01)


def waiting_for_locks() -> int:
    [(count,)] = of_kinmem(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    return int(count)


def test_nobody_who_reads_waits_for_those_who_write(
    store_of: Callable[[str], PostgresStore], admin: psycopg.Connection
) -> None:
    """Other processes have the locks of more Kins than there are places."""
    ana, others = store_of("ana"), [store_of(f"kin{n}") for n in range(pooled_server.AT_ONCE)]
    with ThreadPoolExecutor(len(others)) as threads, admin.transaction():
        admin.execute("SELECT FROM kinmem.revision FOR UPDATE")
        writers = [threads.submit(added, other, "tea") for other in others]
        wait_until(lambda: waiting_for_locks() >= pooled_server.WRITING_AT_ONCE)

        assert found_by_words(ana, "tea") == []

        assert not any(writer.done() for writer in writers)
    assert all(writer.result() for writer in writers)


def test_who_waits_for_longest_uses_the_server_first(
    store_of: Callable[[str], PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooled_server, "AT_ONCE", 1)
    database, order = store_of("ana").files.own.database, []

    def read(who: str) -> None:
        database.rows("SELECT 1")
        order.append(who)

    with ThreadPoolExecutor() as threads:
        with database.reading():
            other = threads.submit(read, "who waited")
            wait_until(lambda: database.server.places.waiting == 1)
        read("who had it before")
        other.result()

    assert order == ["who waited", "who had it before"]


def test_of_those_who_wait_the_oldest_call_is_next(
    store_of: Callable[[str], PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooled_server, "AT_ONCE", 1)
    database, order = store_of("ana").files.own.database, list[str]()
    arrived = {"younger": 2.0, "older": 1.0, "oldest": 0.0}

    def read(who: str) -> None:
        with serving(Served(arrived[who], time.monotonic() + 60)):
            database.rows("SELECT 1")
        order.append(who)

    with ThreadPoolExecutor() as threads:
        with database.reading():
            asked = []
            for count, who in enumerate(arrived, 1):
                asked.append(threads.submit(read, who))
                wait_until(lambda count=count: database.server.places.waiting == count)  # type: ignore[misc]
        for one in asked:
            one.result()

    assert order == ["oldest", "older", "younger"]


# isolation by the database

SECRET, SHARED = "the safe opens with a key behind the clock", "the printer is on the first floor"


@pytest.fixture
def ben_by_sql(store_of: Callable[[str], Store]) -> Iterator[psycopg.Connection]:
    """Ana has a private memory and a shared one; a connection with the login of Ben."""
    ana, _ = store_of("ana"), store_of("ben")
    added(ana, SECRET)
    added(ana, SHARED, scope="shared")
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        [(number,)] = admin.execute("SELECT kin_id FROM kinmem.kins WHERE name = 'ben'").fetchall()
        login = f"kinmem_kin_{number}"
        with admin.transaction():  # of the server: other workers make it for their databases
            admin.execute("LOCK TABLE pg_authid, pg_auth_members IN SHARE ROW EXCLUSIVE MODE")
            if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (login,)).fetchall():
                admin.execute(f"CREATE ROLE {login} LOGIN")
            admin.execute(f"GRANT kinmem_service TO {login}")
    parts = urlsplit(postgres.database_url())
    place = parts.netloc.rpartition("@")[2]
    url = urlunsplit(parts._replace(netloc=f"{login}@{place}"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path = kinmem, public")
        yield connection


def number_of(name: str) -> int:
    with psycopg.connect(postgres.database_url()) as admin:
        [(number,)] = admin.execute(
            "SELECT kin_id FROM kinmem.kins WHERE name = %s", (name,)
        ).fetchall()
        return int(number)


def tables_of_kins() -> list[str]:
    with psycopg.connect(postgres.database_url()) as admin:
        rows = admin.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = 'kinmem' AND column_name = 'kin_id' AND table_name <> 'kins'"
        ).fetchall()
    return [name for (name,) in rows]


def test_another_kin_reads_nothing_of_it_by_sql(ben_by_sql: psycopg.Connection) -> None:
    ana = number_of("ana")

    for owner in ("", str(ana)):
        ben_by_sql.execute("SELECT set_config('kinmem.owner', %s, FALSE)", (owner,))
        for table in tables_of_kins():
            assert ben_by_sql.execute(f"SELECT 1 FROM {table}").fetchall() == [], table
    for trick in (
        "SET row_security = off; SELECT * FROM memories",
        "SELECT * FROM kins",
        f"SET ROLE postgres; SELECT * FROM memories WHERE kin_id = {ana}",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "DROP POLICY owned ON memories",
        "TRUNCATE memories CASCADE",
    ):
        with pytest.raises(psycopg.Error):
            ben_by_sql.execute(trick)
    ben_by_sql.execute(
        f"SET row_security = on; SET ROLE kinmem_service; SET kinmem.owner = '{ana}'"
    )
    assert ben_by_sql.execute("SELECT content FROM memories").fetchall() == []


def test_another_kin_writes_nothing_of_it_by_sql(ben_by_sql: psycopg.Connection) -> None:
    ana, ben = number_of("ana"), number_of("ben")
    ben_by_sql.execute(f"SET kinmem.owner = '{ben}'")

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ben_by_sql.execute(
            f"INSERT INTO marks (kin_id, name, value) VALUES ({ana}, 'muted:ben', 1)"
        )
    ben_by_sql.execute("INSERT INTO marks (name, value) VALUES ('mine', 1)")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ben_by_sql.execute(f"UPDATE marks SET kin_id = {ana}")
    assert ben_by_sql.execute(f"DELETE FROM memories WHERE kin_id = {ana}").rowcount == 0


def test_a_shared_memory_is_read_by_all_and_changed_by_its_author(
    ben_by_sql: psycopg.Connection, store_of: Callable[[str], Store]
) -> None:
    ben_by_sql.execute(f"SET kinmem.owner = '0'; SET kinmem.self = '{number_of('ana')}'")

    assert ben_by_sql.execute("SELECT content FROM memories").fetchall() == [(SHARED,)]
    assert ben_by_sql.execute("DELETE FROM memories").rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ben_by_sql.execute("UPDATE memories SET content = 'it is broken'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ben_by_sql.execute(
            "INSERT INTO memories (rowid, author_id, id, kin, scope, content, category,"
            f" content_hash, channel, trust, created_at, content_updated_at) VALUES (99,"
            f" {number_of('ana')}, 'x', 'ana', 'shared', 'x', 'fact', 'x', 'user', 1, '', '')"
        )
    assert found_by_words(store_of("ben"), "printer")


def of_kinmem(query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(postgres.database_url()) as admin:
        return admin.execute(query).fetchall()


def test_no_function_and_no_condition_tells_another_kin_anything(
    ben_by_sql: psycopg.Connection,
) -> None:
    ana, ben = number_of("ana"), number_of("ben")
    told: list[str] = []
    ben_by_sql.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    ben_by_sql.execute(
        "CREATE FUNCTION pg_temp.heard(told TEXT) RETURNS BOOLEAN COST 0.0001 LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE NOTICE '%', told; RETURN TRUE; END $$"
    )
    values = {"bigint": str(ana), "text": "'ana'", "bigint[]": "ARRAY[1, 2]", "memories": "NULL"}
    functions = of_kinmem(
        "SELECT proname, array(SELECT format_type(unnest, NULL) FROM unnest(proargtypes))"
        " FROM pg_proc"
        " WHERE pronamespace = 'kinmem'::regnamespace AND prorettype <> 'trigger'::regtype"
    )
    assert len(functions) > 10

    for owner in ("", str(ana), "0", str(ben)):
        ben_by_sql.execute("SELECT set_config('kinmem.owner', %s, FALSE)", (owner,))
        ben_by_sql.execute("SELECT set_config('kinmem.self', %s, FALSE)", (str(ana),))
        for table in tables_of_kins():
            rows = ben_by_sql.execute(
                f"SELECT r::text FROM {table} r WHERE pg_temp.heard(r::text)"
            ).fetchall()
            told += [row for (row,) in rows]
        for name, types in functions:
            asked = ", ".join(values[type.removeprefix("kinmem.")] for type in types)
            with suppress(psycopg.Error):
                told += map(str, ben_by_sql.execute(f"SELECT {name}({asked})").fetchall())
        with suppress(psycopg.Error):
            told += map(str, ben_by_sql.execute("SELECT * FROM pg_stats").fetchall())

    assert any("printer" in one for one in told)
    assert [one for one in told if "clock" in one or "safe" in one.split("'\",()")] == []
    assert ben_by_sql.execute("SELECT kinmem_kin('ana'), kinmem_name(%s)", (ana,)).fetchall() == [
        (None, None)
    ]
    assert ben_by_sql.execute("SELECT kinmem_names()").fetchall() == [("ben",)]


def test_vectors_of_private_memories_are_out_of_reach(
    ben_by_sql: psycopg.Connection, store_of: Callable[[str], Store]
) -> None:
    ana = number_of("ana")
    [(private,), (copy,)] = of_kinmem(
        f"SELECT count(*) FROM kinmem.vectors WHERE kin_id IN (0, {ana}) GROUP BY kin_id"
        " ORDER BY kin_id DESC"
    )
    assert (private, copy) == (2, 1)

    nearest = "SELECT count(*) FROM (SELECT 1 FROM vectors ORDER BY embedding <=> embedding) one"
    for owner, seen in ((str(ana), 0), ("", 0), ("0", copy)):
        ben_by_sql.execute("SELECT set_config('kinmem.owner', %s, FALSE)", (owner,))
        assert ben_by_sql.execute(nearest).fetchall() == [(seen,)]


def test_what_belongs_to_a_copy_is_changed_by_its_author(
    ben_by_sql: psycopg.Connection, store_of: Callable[[str], Store]
) -> None:
    ben_by_sql.execute(f"SET kinmem.owner = '0'; SET kinmem.self = '{number_of('ana')}'")
    for table in ("words", "postings", "tags", "chunks", "vectors", "embedders"):
        ben_by_sql.execute(f"SELECT 1 FROM {table}")
        assert ben_by_sql.execute(f"DELETE FROM {table}").rowcount == 0, table
    for insert in (
        "INSERT INTO postings SELECT kin_id, 'poison', rowid, 1, 0, '{1}' FROM words",
        "INSERT INTO tags (tag, memory) SELECT 'poison', rowid FROM memories",
        "INSERT INTO chunks (id, memory, position) SELECT 99, rowid, 9 FROM memories",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ben_by_sql.execute(insert)
    assert found_by_words(store_of("ana"), "printer")
    assert found_by_words(store_of("ben"), "printer")


def test_a_login_of_one_kin_shares_changes_and_takes_back(
    ben_by_sql: psycopg.Connection, store_of: Callable[[str], Store]
) -> None:
    parts = urlsplit(postgres.database_url())
    login = f"kinmem_kin_{number_of('ben')}"
    url = urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc.rpartition('@')[2]}"))
    with closing(PostgresStore(url, "ben")) as ben:
        id = added(ben, "the scanner is in the attic", scope="shared")
        assert found_by_words(store_of("ana"), "scanner")
        ben.update(id, {"content": "the scanner is in the hall", "content_hash": "h"})
        assert found_by_words(store_of("ana"), "hall")
        assert not found_by_words(store_of("ana"), "attic")
        ben.erase(id)
    assert not found_by_words(store_of("ana"), "scanner")
    assert of_kinmem("SELECT count(*) FROM kinmem.postings WHERE term = 'scanner'") == [(0,)]


OF_SQLITE = {
    # sums and seals of rows: a server checks its pages
    *("chunks.sum", "turns.sum", "history.seal", "turn_vectors.sum", "links.sum", "entities.sum"),
    *("relations.sum", "summaries.sum", "snapshots.sum", "tier_changes.sum"),
    *("vector_sums.chunk", "vector_sums.embedder", "vector_sums.sum"),
    *("erased_lines.last", "erased_lines.link", "erased_lines.count"),
    # for the copies of vectors in memory
    *("turn_vectors.id", "turn_vectors_lost.number"),
}
OF_BM25 = {f"revision.{name}" for name in ("documents", "tokens", "said", "said_tokens")}
OF_POSTGRES = {
    # for all Kins together
    *("kins", "tokens", "uses", "waiting_kins", "live_processes", "schema_version", "answers"),
    # what FTS5, vec0 and row numbers do in SQLite
    *("words", "postings", "turn_words", "turn_postings", "vectors", "counters"),
    "vectors_of_many",
}


def test_both_engines_have_the_same_tables_and_columns(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        of_files = {
            f"{table}.{column}"
            for table, column in store.files.own.database.rows(
                "SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c"
                " WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
            )
        }
    on_server = {
        f"{table}.{column}"
        for table, column in of_kinmem(
            "SELECT table_name, column_name FROM information_schema.columns JOIN"
            " information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'kinmem' AND table_type = 'BASE TABLE'"
        )
        if column != "kin_id"
    }
    assert of_files - on_server == OF_SQLITE
    beside = {name for name in on_server - of_files if name.partition(".")[0] not in OF_POSTGRES}
    assert beside == {"memories.author_id", *OF_BM25}


def test_every_table_of_kins_is_under_forced_policies_and_keyed_by_the_kin() -> None:
    with psycopg.connect(postgres.database_url()) as admin:
        found = admin.execute(
            """
            SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity,
                (SELECT bool_and((SELECT attname FROM pg_attribute
                        WHERE attrelid = i.indrelid AND attnum = i.indkey[0]) = 'kin_id')
                    FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique)
            FROM pg_class c WHERE c.relnamespace = 'kinmem'::regnamespace AND c.relkind = 'r'
                AND c.relname NOT IN ('kins', 'schema_version', 'tokens', 'live_processes')
            """
        ).fetchall()

    assert len(found) > 30
    assert [name for name, is_forced, is_keyed in found if not (is_forced and is_keyed)] == []


def test_two_processes_may_make_the_role_at_the_same_moment(postgres_url: str) -> None:
    role = "kinmem_of_a_race"
    made = schema.ROLE_MADE.replace(schema.ROLE, role)
    with psycopg.connect(postgres_url) as one, psycopg.connect(postgres_url) as other:
        one.execute(made)
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(other.execute, made)
            with suppress(TimeoutError):
                second.result(0.5)  # it waits for the first
            one.commit()
            second.result()
        other.execute(f"DROP ROLE {role}")


def test_without_saying_whose_rows_nothing_is_there(store_of: Callable[[str], Store]) -> None:
    added(store_of("ana"), SECRET)
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        admin.execute("SET ROLE kinmem_service")

        assert admin.execute("SELECT count(*) FROM kinmem.memories").fetchall() == [(0,)]


def test_a_deep_look_sees_what_is_not_as_it_was_made(
    store_of: Callable[[str], Store], postgres_url: str
) -> None:
    ana = store_of("ana")
    added(ana, SECRET, manual_tags=("safe",))
    assert [file.damage for file in ana.health(deep=True)] == [(), ()]

    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("SET search_path = kinmem; DELETE FROM postings WHERE term = 'clock'")
        admin.execute("DELETE FROM tags; UPDATE revision SET tokens = 1 WHERE kin_id > 0")

    own, shared = ana.health(deep=True)
    assert len(own.damage) == 3
    assert shared.damage == ()
    assert ana.health()[0].damage == ()


# what processes share


def test_a_kin_is_taken_by_one_process_until_its_work_is_done(
    store_of: Callable[[str], Store], postgres_url: str
) -> None:
    ana = store_of("ana")
    ana.index.enroll(TINY, WIDTH)
    added(ana, SECRET, embedder=None)
    store_of("ben")
    processes = [ServerWide(postgres_url) for _ in range(2)]
    try:
        assert processes[0].take() is None
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            waiting = "UPDATE kinmem.waiting_kins SET until = now()"
            admin.execute(waiting)
            assert [process.take() for process in processes] == ["ana", None]
            admin.execute("SET search_path = kinmem; DELETE FROM pending")
            admin.execute(waiting)
            assert [process.take() for process in processes] == [None, None]
            assert admin.execute("SELECT 1 FROM kinmem.waiting_kins").fetchall() == []
    finally:
        for process in processes:
            process.close()


def test_uses_are_counted_for_all_processes_together(store_of: Callable[[str], Store]) -> None:
    assert store_of("ana").jobs.spend("shared", 30, 30, 60) == 0
    assert store_of("ana").jobs.spend("shared", 1, 30, 60) > 0


def test_an_answer_is_given_once_by_any_process_and_to_its_kin_alone(
    store_of: Callable[[str], PostgresStore],
) -> None:
    here, there, ben = (store_of(kin).answers for kin in ("ana", "ana", "ben"))
    assert here and there and ben
    here.put("call", "first", 60)
    here.put("call", "second", 60)
    here.put("late", "third", -1)

    assert ben.take("call") is None
    assert [there.take("call"), here.take("call"), there.take("late")] == ["second", None, None]
    here.put("call", "about Anna", 60)
    store_of("ana").forgetting.blank(Mention("Anna"))
    assert there.take("call") is None


def test_a_lease_ends_when_its_server_is_no_longer_heard_of(
    store_of: Callable[[str], Store], postgres_url: str
) -> None:
    jobs = store_of("ana").jobs
    far = "7@far-away/1234"
    assert jobs.lease("work", f"{far}/a", 300)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for heard_of, is_free in ((None, False), ("1 minute", False), ("-1 second", True)):
            if heard_of:
                admin.execute(
                    "INSERT INTO kinmem.live_processes VALUES (%s, now() + %s)"
                    " ON CONFLICT (process) DO UPDATE SET until = excluded.until",
                    (far, heard_of),
                )
            assert (jobs.holder("work") is None) is is_free
            assert jobs.lease("work", "8@here/5678/b", 300) is is_free


def test_a_server_says_that_it_lives(postgres_url: str) -> None:
    server = ServerWide(postgres_url)
    server.say_alive()
    server.say_alive()
    server.close()

    alive = "SELECT process FROM kinmem.live_processes WHERE until > now() + INTERVAL '40 seconds'"
    assert of_kinmem(alive) == [(this_process(),)]


# the schema, and a server that goes away


def test_a_schema_is_made_once_however_many_open_it_at_once() -> None:
    url = postgres.schema_url("kinmem_other")
    problems: list[BaseException] = []

    def open_it() -> None:
        server = Server(url)  # as another process would
        try:
            prepare(server)
        except BaseException as error:
            problems.append(error)
        finally:
            server._pool.close()

    try:
        threads = [Thread(target=open_it) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
    finally:
        with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
            admin.execute("DROP SCHEMA IF EXISTS kinmem_other CASCADE")


def test_a_schema_of_the_first_version_is_upgraded(monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgres.schema_url("kinmem_first")
    all_scripts = schema.scripts()
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        try:
            monkeypatch.setattr(schema, "scripts", lambda: all_scripts[:1])
            with closing(PostgresStore(url, "ana")) as first:
                number = number_of_kin(first)
            monkeypatch.undo()
            with closing(PostgresStore(url, "ana")) as upgraded:
                assert number_of_kin(upgraded) == number
                assert upgraded.jobs.spend("shared", 1, 1, 60) == 0
            waits = admin.execute("SELECT kin_id FROM kinmem_first.waiting_kins").fetchall()
            assert waits == [(number,)]
        finally:
            admin.execute("DROP SCHEMA IF EXISTS kinmem_first CASCADE")


def test_vectors_are_found_by_who_upgrades_to_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgres.schema_url("kinmem_fifth")
    all_scripts = schema.scripts()
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        try:
            monkeypatch.setattr(schema, "scripts", lambda: all_scripts[:5])
            with closing(PostgresStore(url, "ana")) as fifth:
                fifth.index.enroll(TINY, WIDTH)
                id = added(fifth, "tea", embedder=TINY)
            monkeypatch.undo()
            with closing(PostgresStore(url, "ana")) as upgraded:
                more = added(upgraded, "coffee", embedder=TINY)
                found = upgraded.index.nearest(vector_of("tea"), TINY, 9, Filters())
                assert [one for one, _ in found] == [id, more]
            kept = "SELECT relname::text FROM pg_class WHERE oid = 'kinmem_fifth.vectors'::regclass"
            assert admin.execute(f"{kept} AND relkind = 'p'").fetchall() == [("vectors",)]
        finally:
            admin.execute("DROP SCHEMA IF EXISTS kinmem_fifth CASCADE")


def test_the_chance_of_a_conflict_is_read_out_of_its_prose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = postgres.schema_url("kinmem_sixth")
    all_scripts = schema.scripts()
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        try:
            monkeypatch.setattr(schema, "scripts", lambda: all_scripts[:6])
            PostgresStore(url, "ana").close()
            admin.execute(
                "INSERT INTO kinmem_sixth.conflicts (kin_id, newer, older, kind, mode, reason, at)"
                " SELECT 1, told, 'b', 'update', 'ask', told, '2026-06-15T12:00:00.000000Z'"
                " FROM unnest(%s::text[]) told",
                (list(IN_PROSE),),
            )
            monkeypatch.undo()
            with closing(PostgresStore(url, "ana")) as upgraded:
                assert number_of_kin(upgraded) == 1
                found = {one.reason: one.chance for one in upgraded.decisions.conflicts()}
                assert found == IN_PROSE
        finally:
            admin.execute("DROP SCHEMA IF EXISTS kinmem_sixth CASCADE")


def number_of_kin(store: PostgresStore) -> int:
    """The Kin's number, found as any process finds it."""
    return int(store.files.own.database.rows("SELECT kinmem_kin('ana')")[0][0])


def test_a_newer_schema_is_left_alone(store_of: Callable[[str], Store], postgres_url: str) -> None:
    store = store_of("ana")
    id = added(store, "tea")
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(f"INSERT INTO kinmem.schema_version (number) VALUES ({latest() + 1})")
        try:
            with pytest.raises(StoreError, match="upgraded") as error:
                added(store, "coffee")
            assert error.value.code == "storage_newer"
            with pytest.raises(StoreError, match="newer"):
                prepare(Server(postgres_url))
        finally:
            admin.execute(f"DELETE FROM kinmem.schema_version WHERE number > {latest()}")
    assert store.get(id).content == "tea"


def test_a_server_that_was_restarted_is_used_again(
    store_of: Callable[[str], Store], postgres_url: str
) -> None:
    store = store_of("ana")
    id = added(store, "tea")
    for again in (lambda: store.get(id), lambda: added(store, "coffee")):
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        again()

    assert len(found_by_words(store, "coffee")) == 1


@each(
    ("address", "named"),
    [
        ("postgresql://ana:hidden@127.0.0.1:1/kin", "postgresql://127.0.0.1:1/kin"),
        (
            "postgresql://ana:hidden@127.0.0.1:1,127.0.0.1:2/kin",
            "postgresql://127.0.0.1:1,127.0.0.1:2/kin",
        ),
        ("postgresql://ana:hidden@[::1]:1/kin", "postgresql://[::1]:1/kin"),
        ("postgresql://ana:hid#hidden@127.0.0.1:1/kin", "postgresql://127.0.0.1:1/kin"),
        ("postgresql://ana:hidden@/kin?host=/nowhere", "postgresql://local/kin"),
    ],
    ids=["one", "several hosts", "IPv6", "a password that is no URL's", "a socket"],
)
def test_a_server_that_is_not_there_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, address: str, named: str
) -> None:
    monkeypatch.setattr(pooled_server, "BUSY_SECONDS", 0.5)
    with pytest.raises(StoreError) as error:
        PostgresStore(address, "ana")

    assert error.value.code == "storage_busy"
    assert str(error.value).startswith(f"{named}: ")
    assert "hid" not in str(error.value)


@each(
    ("said", "code"),
    [
        ('could not translate host name "authentication-db" to address', "storage_busy"),
        (
            'connection to server at "password-db", port 5432 failed: FATAL:  sorry, too many'
            ' clients\nconnection to server at "authentication-db", port 5432 failed: refused',
            "storage_busy",
        ),
        ('FATAL:  too many connections for role "authentication"', "storage_busy"),
        ('connection to server on socket "/tmp/.s" failed: No such file', "storage_busy"),
        ('failed: FATAL:  password authentication failed for user "ana"', "storage_unsupported"),
        ('failed: FATAL:  Peer authentication failed for user "ana"', "storage_unsupported"),
        ('failed: FATAL:  no pg_hba.conf entry for host "::1", user "a"', "storage_unsupported"),
        ('failed: FATAL:  database "nowhere" does not exist', "storage_unsupported"),
        ("failed: fe_sendauth: no password supplied", "storage_unsupported"),
    ],
)
def test_only_what_the_server_itself_refuses_ends_the_waiting(
    monkeypatch: pytest.MonkeyPatch, said: str, code: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise psycopg.OperationalError(said)

    monkeypatch.setattr(pooled_server, "BUSY_SECONDS", 0.2)
    monkeypatch.setattr(psycopg, "connect", refuse)
    with pytest.raises(StoreError) as error:
        PostgresStore("postgresql://127.0.0.1:1/kin", "ana")

    assert error.value.code == code
    assert " ".join(said.split()) in str(error.value)


def test_a_database_that_is_not_there_is_told_as_the_server_tells_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pooled_server, "BUSY_SECONDS", 0.5)
    nowhere = urlunsplit(urlsplit(postgres.server_url())._replace(path="/nowhere"))

    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        PostgresStore(nowhere, "ana")


def test_a_login_that_is_refused_is_told_at_once() -> None:
    server = postgres.server_url()
    unknown = urlsplit(server)._replace(netloc="nobody@" + urlsplit(server).netloc.split("@")[-1])
    began = time.monotonic()
    with pytest.raises(StoreError, match='role "nobody" does not exist') as told:
        PostgresStore(urlunsplit(unknown), "ana")

    assert told.value.code == "storage_unsupported"
    assert time.monotonic() - began < pooled_server.BUSY_SECONDS


def test_a_database_that_does_not_know_all_letters_is_refused() -> None:
    server = postgres.server_url()
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("CREATE DATABASE of_bytes TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
        try:
            url = urlunsplit(urlsplit(server)._replace(path="/of_bytes"))
            with pytest.raises(StoreError, match="--encoding UTF8") as told:
                PostgresStore(url, "ana")
            assert told.value.code == "storage_unsupported"
        finally:
            admin.execute("DROP DATABASE of_bytes WITH (FORCE)")


def test_a_login_that_may_not_add_pgvector_is_told_what_an_administrator_does() -> None:
    server = postgres.server_url()
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("CREATE ROLE guest LOGIN")
        admin.execute("CREATE DATABASE of_guest OWNER guest")
        try:
            parts = urlsplit(server)
            url = urlunsplit(
                parts._replace(netloc="guest@" + parts.netloc.rpartition("@")[2], path="/of_guest")
            )
            with pytest.raises(StoreError, match="CREATE EXTENSION vector") as told:
                PostgresStore(url, "ana")
            assert told.value.code == "storage_unsupported"
        finally:
            admin.execute("DROP DATABASE of_guest WITH (FORCE)")
            admin.execute("DROP ROLE guest")
