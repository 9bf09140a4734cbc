"""Churn leaves half-empty files behind; housekeeping makes them whole again and changes nothing."""

from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
import sqlite_vec

from kinmem.models import Chunks, Draft, Filters, Vectors
from kinmem.store.sqlite.store import SqliteStore
from tests.keys import raw
from tests.store.contract import memory_of

pytestmark = pytest.mark.usefixtures("judge_off")

MAKER, WIDTH, COUNT = "tests/random", 64, 2_000


def vectors(count: int) -> Vectors:
    made = np.random.default_rng(5).standard_normal((count, WIDTH)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@pytest.fixture
def churned(home: Path) -> SqliteStore:
    """Every eighth of 2,000 memories is left."""
    store = SqliteStore(home, "ana")
    known = vectors(COUNT)
    ids = store.add(
        [
            Draft(
                memory_of(f"fact {n} {'x' * 900}", "ana"),
                Chunks((f"{n}",), known[n : n + 1], MAKER),
            )
            for n in range(COUNT)
        ]
    )
    with store.files.own.changing() as db:
        for at, id in enumerate(ids):
            if at % 8:
                store.files.own.delete(db, id)
    return store


def size(store: SqliteStore, home: Path) -> tuple[int, int]:
    """Blocks of vectors, and bytes of the file."""
    [(blocks,)] = store.files.own.database.rows("SELECT count(*) FROM vectors_1_chunks")
    return int(blocks), (home / "kins" / "ana.db").stat().st_size


def never() -> bool:
    return False


def test_what_churn_left_empty_is_given_back(churned: SqliteStore, home: Path) -> None:
    churned.files.own.database.empty_log()
    blocks, size_before = size(churned, home)
    query = vectors(COUNT)[16]
    before = churned.index.nearest(query, MAKER, 20, Filters())
    revision = churned.revision

    done = churned.keep_house(never)

    after_blocks, size_after = size(churned, home)
    assert done["blocks"] >= 15
    assert done["freed_kib"] > 500
    assert blocks == 16 and after_blocks <= 3
    assert size_after < 0.6 * size_before  # the history stays
    assert churned.index.nearest(query, MAKER, 20, Filters()) == before
    assert churned.revision == revision
    assert churned.keep_house(never) == {}
    churned.close()


def test_a_dry_run_tells_what_could_be_done(churned: SqliteStore, home: Path) -> None:
    before = size(churned, home)

    assert churned.keep_house(never, dry_run=True).keys() == {"blocks", "freed_kib"}

    assert size(churned, home)[0] == before[0]
    churned.close()


@pytest.mark.parametrize("pieces", [1, 4])
def test_it_can_be_cut_short_at_any_piece(churned: SqliteStore, home: Path, pieces: int) -> None:
    looks = iter(range(pieces))

    done = churned.keep_house(lambda: next(looks, None) is None)

    assert done == {"blocks": pieces}
    assert churned.health()[0].damage == ()
    assert churned.keep_house(never)["blocks"] >= 15 - pieces
    churned.close()


def test_a_file_of_an_older_kinmem_is_written_anew_and_can_shrink_from_then_on(
    home: Path, churned: SqliteStore
) -> None:
    churned.close()
    path = home / "kins" / "ana.db"
    with closing(as_it_is(path)) as db:
        db.execute("PRAGMA auto_vacuum = NONE").fetchall()
        db.execute("PRAGMA journal_mode = DELETE").fetchall()
        db.execute("VACUUM").fetchall()
        db.execute("CREATE TABLE ballast (x)")
        db.execute("INSERT INTO ballast SELECT randomblob(4000) FROM history LIMIT 1500")
        db.execute("DROP TABLE ballast")
    with closing(as_it_is(path)) as db:
        assert db.execute("PRAGMA auto_vacuum").get == 0
    store = SqliteStore(home, "ana")

    done = store.keep_house(never)

    assert done["freed_kib"] > 5000
    store.close()
    with closing(as_it_is(path)) as db:
        assert db.execute("PRAGMA integrity_check").get == "ok"
        assert db.execute("PRAGMA auto_vacuum").get == 2


def as_it_is(path: Path) -> apsw.Connection:
    db = raw(path)
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    return db
