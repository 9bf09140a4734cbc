"""The SQLite store keeps the contract, and what else its files and its copy in memory must do."""

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import apsw
import numpy as np
import pytest

from kinmem.errors import StoreError
from kinmem.models import Draft, Entity, Filters, Knowledge, Place, Scope, State
from kinmem.models.turns import Batch, Conflict
from kinmem.service import Service
from kinmem.store.base import Store
from kinmem.store.sql import chunk_queue
from kinmem.store.sqlite import connection, driver, nearest_chunks
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.keys import IN_THE_CLEAR, IS_ENCRYPTED, reads_bytes
from tests.store.batch_contract import BatchContract
from tests.store.contract import (
    NOON,
    SHELF,
    TINY,
    WIDTH,
    OpenStore,
    StoreContract,
    added,
    by_cosine,
    chunks_of,
    draft_of,
    edited,
    fill,
    forgotten,
    found_by_meaning,
    found_by_words,
    listed,
    memory_of,
    vector_of,
)
from tests.store.sessions_contract import SessionsContract
from tests.store.soundness import problems
from tests.store.workers import (
    add_all,
    append,
    in_processes,
    observe_all,
    write_all,
    write_while_locked,
)


class TestSqliteStore(StoreContract):
    """Everything that any store promises."""


class TestSqliteSessions(SessionsContract):
    """Everything that any store promises of sessions."""


class TestSqliteBatches(BatchContract):
    """What any store promises of apply."""


class TestCopyInMemory(StoreContract):
    """The same with the copy in memory answering as soon as there is anything."""

    @pytest.fixture(autouse=True)
    def early_copy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(nearest_chunks, "IN_MEMORY_FROM", 1)

        def load_at_once(self: nearest_chunks.VectorCopies, number: int, dimension: int) -> None:
            copy = self._copies[number] = nearest_chunks._new_copy(dimension)
            self._load(number, copy)

        def ask_again(
            self: nearest_chunks.VectorCopies, *embedder: int
        ) -> nearest_chunks._Copy | None:
            return fresh_copy(self, *embedder) or fresh_copy(self, *embedder)

        fresh_copy = nearest_chunks.VectorCopies.fresh
        monkeypatch.setattr(nearest_chunks.VectorCopies, "_start_loading", load_at_once)
        monkeypatch.setattr(nearest_chunks.VectorCopies, "fresh", ask_again)

    def test_the_copy_is_what_answers(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ids = [added(store, "tea"), added(store, "cake", scope="shared")]
        monkeypatch.setattr(nearest_chunks.NearestChunks, "_scan", None)
        assert set(found_by_meaning(store, "tea")) == set(ids)

    def test_the_copy_follows_another_process(self, store_of: OpenStore) -> None:
        store, other = store_of("ana"), store_of("ana")
        texts = {added(other, f"fact {n}"): f"fact {n}" for n in range(20)}
        found_by_meaning(store, "warm up")
        first, second, third, fourth, fifth, *_ = texts
        new = added(other, "brand new")
        texts[new] = "brand new"
        edited(other, first, "changed")
        texts[first] = "changed"
        forgotten(other, second)
        other.erase(third)
        other.update(fourth, {"scope": "shared"})
        forgotten(other, fifth)
        other.update(fifth, {"state": State.ACTIVE, "deleted_at": None})
        waiting = added(other, "late", embedder=None)
        fill(other, TINY)
        texts[waiting] = "late"
        del texts[second], texts[third]

        assert found_by_meaning(store, "changed", limit=40) == by_cosine("changed", texts)
        assert store.index.cosines(vector_of("changed"), TINY, [first])[first] == [pytest.approx(1)]

    def test_cosines_are_fresh_as_well(self, store_of: OpenStore) -> None:
        store, other = store_of("ana"), store_of("ana")
        id = added(other, "tea")
        found_by_meaning(store, "tea")
        edited(other, id, "coffee")

        assert store.index.cosines(vector_of("coffee"), TINY, [id])[id] == [pytest.approx(1)]

    def test_a_log_that_was_shortened_makes_the_copy_anew(
        self, store_of: OpenStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chunk_queue, "LOG_KEPT", 5)
        store, other = store_of("ana"), store_of("ana")
        texts = {added(other, "first"): "first"}
        found_by_meaning(store, "first")
        texts |= {added(other, f"fact {n}"): f"fact {n}" for n in range(20)}

        for _ in range(2):
            assert found_by_meaning(store, "q") == by_cosine("q", texts)
        assert len(other.files.own.database.rows("SELECT * FROM vector_log")) == 5


def test_the_copy_is_loaded_beside_the_questions(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_chunks, "IN_MEMORY_FROM", 50)
    monkeypatch.setattr(nearest_chunks, "LOADED_AT_ONCE", 7)
    texts = {}
    for n in range(100):
        texts[added(store, f"fact {n}", scope=("private", "shared")[n % 2])] = f"fact {n}"
    deadline = time.monotonic() + 60
    copies = store.files.own.near.copies._copies
    while not (copies and all(copy.loaded for copy in copies.values())):
        assert found_by_meaning(store, "q", limit=100) == by_cosine("q", texts)
        assert time.monotonic() < deadline

    assert found_by_meaning(store, "q", limit=100) == by_cosine("q", texts)


def test_the_hot_tier_is_loaded_first(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest_chunks, "LOADED_AT_ONCE", 2)
    ids = [added(store, f"fact {n}") for n in range(5)]
    hot = [Place(one, "hot", "test", 0.9) for one in store.life.living(ids[3:])]
    store.life.to_tiers(hot)
    copy = nearest_chunks._new_copy(WIDTH)

    store.files.own.near.copies._load(1, copy)

    assert copy.loaded
    assert copy.index._chunks[:5].tolist() == [4, 5, 1, 2, 3]


def bytes_in(home: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(home.rglob("*")) if file.is_file())


@reads_bytes
def test_what_was_erased_is_in_no_file(home: Path, clock: MovableClock) -> None:
    """Each memory has words, a subject and a context of its own, so that every trace shows."""
    store = SqliteStore(home, "ana", clock)
    secrets = {}
    chance = np.random.default_rng(0)
    for n in range(60):
        letters = "".join(chr(97 + int(i)) for i in chance.integers(0, 26, 10))
        one = f"Qx{letters}"
        content = f"{one}content " + "filler words " * int(chance.integers(1, 120))
        memory = memory_of(
            content,
            subject=f"{one}subject",
            source_context=f"{one}context",
            speaker=f"{one}speaker",
        )
        [id] = store.add([Draft(memory, chunks_of(content, f"{one}part"))])
        secrets[id] = one
        if n % 3 == 0:
            edited(store, id, f"{one}edited", subject=f"{one}other")
        if n % 4 == 0:
            store.update(id, {"scope": "shared"})
        if n % 8 == 0:
            store.update(id, {"scope": "private"}, reason=f"{one}reason")
    kept, *gone = sorted(secrets, key=lambda id: secrets[id])
    assert all(secrets[id].lower().encode() in bytes_in(home).lower() for id in gone)

    for id in gone:
        store.erase(id)

    left = bytes_in(home)
    traces = [secrets[id] for id in gone if secrets[id].lower().encode() in left.lower()]
    parts = [id for id in gone if vector_of(f"{secrets[id]}part").tobytes() in left]
    assert (traces, parts) == ([], [])
    assert secrets[kept].encode() in left
    assert problems(store) == []
    store.close()
    assert not any(secrets[id].lower().encode() in bytes_in(home).lower() for id in gone)


def test_what_is_private_again_is_out_of_the_shared_file(home: Path) -> None:
    store = SqliteStore(home, "ana")
    id = added(store, "the QxRecipe", scope="shared")
    edited(store, id, "a better QxRecipe")
    store.update(id, {"scope": "private"})
    store.close()

    assert b"qxrecipe" not in (home / "shared.db").read_bytes().lower()


@reads_bytes
def test_what_was_erased_is_in_nothing_that_was_said_of_it(home: Path, clock: MovableClock) -> None:
    """What other tables hold of a memory; a turn that it was learned from is not its own."""
    with closing(SqliteStore(home, "ana", clock)) as store:
        scopes: tuple[Scope, ...] = ("private", "shared")
        for scope in scopes:
            kept = added(store, f"{scope} stays")
            gone, name = memory_of(f"Qx{scope}content", scope=scope), f"Qx{scope}entity"
            draft = Draft(gone, chunks_of(gone.content), Knowledge((Entity(name, "person"),)))
            store.apply(
                Batch(
                    drafts=[draft],
                    parents={gone.id: [kept], kept: [gone.id]},
                )
            )
            store.apply(
                Batch(conflicts=[Conflict(gone.id, kept, "update", "ask", f"Qx{scope}reason")])
            )
            store.shown.note("s", f"Notes: Qx{scope}content", {gone.id: 1, kept: 1})
            store.decisions.refuse("merge", [gone.id, kept])
            store.update(gone.id, {"scope": "private" if scope == "shared" else "shared"})
            assert f"Qx{scope}".encode() in bytes_in(home)

            store.erase(gone.id)

            assert store.parents(kept) == [gone.id]
            assert store.parents(gone.id) == []
        assert problems(store) == []
        assert not any(f"qx{scope}".encode() in bytes_in(home).lower() for scope in scopes)
    assert not any(f"qx{scope}".encode() in bytes_in(home).lower() for scope in scopes)


def test_who_a_private_memory_is_about_is_out_of_the_shared_file(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        shared = memory_of("a secret", scope="shared")
        store.add([Draft(shared, chunks_of("a secret"), Knowledge((Entity("QxName"),)))])
        store.update(shared.id, {"scope": "private"})
        assert store.entities(shared.id) == [Entity("QxName")]

    assert b"QxName" not in (home / "shared.db").read_bytes()


def test_two_processes_that_observe_the_same_keep_it_once(home: Path) -> None:
    SqliteStore(home, "ana").close()
    turns = [f"{n}" for n in range(25)]
    one, other = in_processes(observe_all, [(home, turns)] * 2)

    assert [sum(new) for new in zip(one, other, strict=True)] == [1] * 75
    with closing(SqliteStore(home, "ana")) as store:
        assert len(store.turns.messages("s")) == 75


def test_use_that_cannot_be_written_is_written_later(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_SECONDS", 0.05)
    with closing(SqliteStore(home, "ana")) as store, closing(SqliteStore(home, "ben")) as other:
        mine, theirs = added(store, "tea"), added(other, "cake", scope="shared")
        store.count_use([mine, theirs], NOON)
        with other.files.shared.database.writing(), pytest.raises(StoreError) as busy:
            store.flush_use()
        assert busy.value.code == "storage_busy"
        store.count_use([theirs], NOON)

        store.flush_use()

        uses = {id: one.recalled_count for id, one in store.memories([mine, theirs]).items()}
        assert uses == {mine: 1, theirs: 2}


def test_use_locks_no_file_that_holds_none_of_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_SECONDS", 0.05)
    with closing(SqliteStore(home, "ana")) as store, closing(SqliteStore(home, "ana")) as other:
        id = added(store, "tea")
        store.count_use([id, "never was"], NOON)
        with other.files.shared.database.writing():
            store.flush_use()

        assert store.get(id).recalled_count == 1


def test_few_connections_are_kept_after_a_burst_of_readers(store: SqliteStore) -> None:
    database = store.files.own.database
    with ExitStack() as readers:
        for _ in range(30):
            readers.enter_context(database.reading())

    assert len(database._idle) == connection.MOST_IDLE
    assert database.rows("SELECT 1") == [(1,)]


def test_a_burst_of_readers_leaves_little_in_memory(store: SqliteStore) -> None:
    database = store.files.own.database
    with database.alone() as db:
        db.run("CREATE TABLE large AS SELECT randomblob(6000000) AS bytes")
    before = apsw.memory_used()

    with ExitStack() as readers:
        for _ in range(connection.MOST_IDLE):
            reader = readers.enter_context(database.reading())
            reader.rows("SELECT sum(length(hex(bytes))) FROM large")

    of_each = 4.5 * 2**20  # before: 6 MiB for each of eight
    of_ciphers = connection.MOST_IDLE * 2**16 if IS_ENCRYPTED else 0  # kept with each connection
    limit = connection.MOST_WARM * of_each + of_ciphers + 2**20
    assert apsw.memory_used() - before < limit


def test_two_processes_that_add_the_same_store_it_once(home: Path) -> None:
    SqliteStore(home, "ana").close()
    texts = [f"fact {n}" for n in range(25)]
    one, other = in_processes(add_all, [(home, "ana", texts)] * 2)

    with closing(SqliteStore(home, "ana")) as store:
        assert one == other
        assert len(listed(store)) == 25
        assert problems(store) == []


def test_the_writes_of_two_processes_have_one_order_over_both_files(home: Path) -> None:
    SqliteStore(home, "ana").close()
    count = 30
    in_processes(write_all, [(home, scope, count) for scope in ("private", "shared")])

    with closing(SqliteStore(home, "ana")) as store:
        lines = store.past.writes(10_000)[::-1]
        told: dict[str, list[str]] = {}
        for line in lines:
            told.setdefault(line.memory_id, []).append(line.action)
        assert len(told) == 2 * count
        for id, actions in told.items():
            last = ([], ["moved"], ["erased"])[int(id.split()[1]) % 3]
            assert actions == ["created", "updated", *last]
        assert len({line.write for line in lines}) == len(lines)
        assert problems(store) == []


def test_three_processes_lose_no_update_though_they_move_it_about(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "numbers")
        in_processes(append, [(home, id, range(n, 36, 3)) for n in range(3)])

        assert sorted(map(int, store.get(id).content.split()[1:])) == list(range(36))
        assert store.get(id).version == 37
        assert listed(store) == [id]


def test_a_locked_file_is_busy_after_a_while_and_can_be_read_meanwhile(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "tea")
        with store.files.own.database.writing():
            [(code, seconds, found)] = in_processes(write_while_locked, [(home, 0.5)])
        assert (code, found) == ("storage_busy", [id])
        assert seconds >= 0.5
        [(code, _, found)] = in_processes(write_while_locked, [(home, 0.5)])
        assert (code, found) == ("none", [id])


@pytest.fixture
def open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_files_are_their_owners_alone(home: Path, open_mask: None) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "tea")
        added(store, "cake", scope="shared")
        modes = {
            str(path.relative_to(home)): oct(path.stat().st_mode & 0o777)
            for path in [home, *home.rglob("*")]
        }

    files = {
        f"{name}{end}" for name in ("kins/ana.db", "shared.db") for end in ("", "-wal", "-shm")
    }
    assert modes == {
        **dict.fromkeys(files, "0o600"),
        **dict.fromkeys(["marks/kins.ana.mark", "marks/shared.mark"], "0o600"),
        **dict.fromkeys([".", "kins", "marks"], "0o700"),
    }


@pytest.mark.parametrize("there", [True, False], ids=["to a database", "to nothing"])
@pytest.mark.parametrize("name", ["kins/ana.db", "shared.db"])
def test_a_link_is_not_followed(home: Path, tmp_path: Path, name: str, there: bool) -> None:
    target = tmp_path / "target.db"
    if there:
        SqliteStore(tmp_path / "elsewhere", "ana").close()
        (tmp_path / "elsewhere" / "kins" / "ana.db").rename(target)
    (home / "kins").mkdir(parents=True)
    (home / name).symlink_to(target)
    before = target.read_bytes() if there else None

    with pytest.raises(StoreError) as refused:
        SqliteStore(home, "ana")
    assert refused.value.code == "storage_foreign"
    assert (target.read_bytes() if target.exists() else None) == before


def test_a_forked_child_is_told_to_open_its_own(store: SqliteStore) -> None:
    id = added(store, "tea")
    database = store.files.own.database
    pid, database._pid = database._pid, -1  # what a child of fork sees
    try:
        for attempt in (lambda: store.get(id), lambda: added(store, "cake")):
            with pytest.raises(StoreError, match="fork"):
                attempt()
        database.close()
    finally:
        database._pid = pid
    assert store.get(id).content == "tea"


def test_a_store_that_cannot_be_opened_holds_no_file(home: Path) -> None:
    home.mkdir()
    (home / "shared.db").write_bytes(b"not a database, but long enough to be one" * 100)

    with pytest.raises(StoreError) as refused:
        SqliteStore(home, "ana")
    assert refused.value.code in ("storage_damaged", "storage_foreign")
    gc.collect()
    if Path("/proc/self/fd").exists():
        held = [
            str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()
        ]
        assert not [name for name in held if name.startswith(str(home))]


def test_others_are_found_by_no_filter(store_of: OpenStore) -> None:
    ana: Store = store_of("ana")
    ben = store_of("ben")
    ben.add([draft_of(f"book {name}", "ben", **given) for name, given in SHELF.items()])

    for state in State:
        there = listed(ana, Filters(states=(state,)))
        assert len(there) == (state == State.ACTIVE)
        assert found_by_words(ana, "book", filters=Filters(states=(state,))) == there


@pytest.mark.skipif(not IS_ENCRYPTED, reason="`make encrypted` makes it so")
def test_the_suite_runs_with_encrypted_files(service: Service) -> None:
    service.memorize("The zanzibar ferry leaves at noon")
    service.close()
    files = list(Path(service.settings.home).rglob("*.db"))

    assert files
    assert not any(path.read_bytes().startswith(IN_THE_CLEAR) for path in files)
