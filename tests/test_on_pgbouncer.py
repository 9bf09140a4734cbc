"""PostgreSQL behind a real PgBouncer in transaction mode: the same journeys, and who sees what.

It has so few connections that Kins follow each other on the same one.
"""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from benchmarks.pgbouncer import installed, pooled
from kinmem.store.postgres import owned_rows
from kinmem.store.postgres.postgres_store import PostgresStore
from tests import postgres
from tests.store.contract import added, found_by_words
from tests.store.test_postgres import store_of as store_of
from tests.store.test_postgres import (
    test_a_kin_is_taken_by_one_process_until_its_work_is_done as test_a_kin_is_taken,
)
from tests.store.test_postgres import (
    test_a_lease_ends_when_its_server_is_no_longer_heard_of as test_a_lease_ends,
)
from tests.store.test_postgres import (
    test_an_answer_is_given_once_by_any_process_and_to_its_kin_alone as test_an_answer,
)
from tests.store.test_postgres import (
    test_uses_are_counted_for_all_processes_together as test_uses_are_counted,
)
from tests.test_on_postgres import (
    on_a_server,
    test_a_new_fact,
    test_a_night_does_all_its_steps,
    test_a_question,
    test_a_turn_is_undone,
    test_an_update_is_undone,
    test_bin,
    test_sharing,
    test_two_tools,
    test_what_was_said,
)
from tests.test_tools import client_of as client_of
from tests.test_undo import memory as memory
from tests.test_workers import WORDS, await_two, children, memorize, working

__all__ = ["client_of", "memory", "on_a_server", "store_of"]
__all__ += ["test_a_kin_is_taken", "test_a_lease_ends", "test_an_answer", "test_uses_are_counted"]
__all__ += ["test_a_new_fact", "test_a_night_does_all_its_steps", "test_a_question"]
__all__ += ["test_a_turn_is_undone", "test_an_update_is_undone", "test_bin", "test_sharing"]
__all__ += ["test_two_tools", "test_what_was_said"]

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(installed() is None, reason="PgBouncer is not installed (pgbouncer)"),
]
FEW = 4
"""Connections of the pooler to the server; four threads of two Kins have more than that."""
ROUNDS = 12


@pytest.fixture(scope="module")
def pooler() -> Iterator[str]:
    with pooled(postgres.database_url(), FEW) as url:
        yield url


@pytest.fixture
def postgres_url(pooler: str) -> Iterator[str]:
    """The empty database of the tests, behind the pooler."""
    yield pooler
    postgres.empty()


def connection_of(store: PostgresStore) -> int:
    """The process of the server that this Kin's rows are read by, this time."""
    with store.files.own.database.reading() as db:
        return int(db.value("SELECT pg_backend_pid()"))


def test_kins_that_follow_each_other_on_a_connection_see_their_own_rows(
    store_of: Callable[[str], PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned_rows, "READ_BEFORE", 0)  # plans are kept from the first reading on
    kins = {kin: store_of(kin) for kin in ("ana", "ben")}
    began = Barrier(2 * len(kins))

    def work(kin: str, thread: int) -> set[int]:
        used = set[int]()
        began.wait(60)
        for number in range(ROUNDS):
            added(kins[kin], f"tea of {kin} is in box {thread}-{number}")
            found = [kins[kin].get(id).content for id in found_by_words(kins[kin], "tea")]
            assert found and all(f"of {kin} " in content for content in found), found
            used.add(connection_of(kins[kin]))
        return used

    with ThreadPoolExecutor(2 * len(kins)) as threads:
        working = {(kin, n): threads.submit(work, kin, n) for kin in kins for n in range(2)}
        used = {
            kin: set[int]().union(*(working[kin, n].result() for n in range(2))) for kin in kins
        }

    assert used["ana"] & used["ben"]
    assert len(used["ana"] | used["ben"]) <= FEW


def test_a_transaction_leaves_nothing_of_its_kin_on_the_connection(
    store_of: Callable[[str], PostgresStore], pooler: str
) -> None:
    store = store_of("ana")
    added(store, "tea")
    used = {connection_of(store) for _ in range(ROUNDS)}

    for _ in range(ROUNDS):
        with psycopg.connect(pooler, autocommit=True) as next_one:
            [(process, *kins, is_itself)] = next_one.execute(
                "SELECT pg_backend_pid(), current_setting('kinmem.owner', true),"
                " current_setting('kinmem.self', true), current_user = session_user"
            ).fetchall()
            assert (set(kins) <= {"", None}, is_itself) == (True, True)
            with next_one.transaction():
                next_one.execute("SET LOCAL ROLE kinmem_service")
                assert next_one.execute("SELECT 1 FROM kinmem.memories").fetchall() == []
            used.discard(process)
    assert not used


def test_workers_behind_a_pooler_lose_nothing_though_one_is_killed(
    pooler: str, tmp_path: Path
) -> None:
    with working(tmp_path, KINMEM_STORE=pooler) as server, ThreadPoolExecutor(8) as clients:
        storing = [clients.submit(memorize, server, f"a box holds {word}") for word in WORDS]
        storing[0].result()
        victim = max(children(server))
        os.kill(victim, signal.SIGKILL)
        await_two(server, victim)
        ids = {one.result() for one in storing}
    with psycopg.connect(pooler) as admin:
        stored = admin.execute("SELECT id FROM kinmem.memories WHERE kin_id <> 0").fetchall()
    postgres.empty()

    assert len(ids) == len(WORDS)
    assert ids <= {id for (id,) in stored}
