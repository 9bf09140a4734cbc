"""kinmem doctor --repair, as a person types it: each kind of damage, shown first, then mended."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kinmem.backup.restore import repair
from kinmem.store.sqlite.driver import connect
from tests.backups import backups_of
from tests.cli.conftest import Kinmem
from tests.conftest import MovableClock
from tests.store.poison import (
    BYTES,
    NO_JSON,
    PAGE,
    UNDECODABLE,
    Spot,
    flip,
    full_home,
    open_on,
    pages,
    poison,
)
from tests.sweeps import WHOLE

OWN, SHARED = "kins/ana.db", "shared.db"
Told = list[tuple[str, str, int]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a backup of today; made once, and copied."""
    home = tmp_path_factory.mktemp("whole") / "home"
    clock = MovableClock()
    full_home(home, clock)
    with closing(open_on(home, clock)) as ana:
        assert ana.backups is not None
        ana.backups.make()
    return home


@pytest.fixture
def damaged(whole: Path, home: Path, no_self_test: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home that the commands use; the tests damage it."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(whole, home)
    monkeypatch.setenv("KINMEM_KIN", "ana")
    monkeypatch.setenv("KINMEM_JUDGE", "off")
    return home


def told(home: Path) -> Told:
    with closing(open_on(home, MovableClock())) as ana:
        memories = ana.list_memories(limit=200).memories
        return sorted((one.id, one.content, one.version) for one in memories)


def spot(table: str, column: str, kind: bytes | None = UNDECODABLE, **which: str) -> object:
    return lambda home: poison(home, Spot(OWN, table, column), kind, **which)


def zeroed(table: str) -> object:
    """Whole pages of a table and of its indexes are gone."""

    def damage(home: Path) -> None:
        for page in pages(home, OWN, table)[1::3]:
            overwrite(home, page)

    return damage


def overwrite(home: Path, page: int) -> None:
    with (home / OWN).open("r+b") as raw:
        raw.seek((page - 1) * PAGE)
        raw.write(bytes(PAGE))


def chunks(home: Path) -> dict[str, int]:
    """How many chunks each memory has."""
    sql = "SELECT m.id, count(c.id) FROM memories m LEFT JOIN chunks c ON c.memory = m.rowid"
    with closing(connect(home / OWN)) as db:
        rows = db.execute(f"{sql} GROUP BY m.id").fetchall()
    return {id: count for id, count in rows if count}


def flipped(table: str) -> object:
    def damage(home: Path) -> None:
        for page in pages(home, OWN, table):
            for byte in range(200, 4000, 60):
                flip(home, OWN, page, byte, 4)

    return damage


KINDS = [
    pytest.param(spot("memories", "content"), id="text that is none"),
    pytest.param(flipped("vectors_1_vector_chunks00"), id="vectors"),
    pytest.param(zeroed("memories"), id="pages of memories"),
]
FURTHER = [
    pytest.param(spot("history", "after"), id="the history"),
    pytest.param(flipped("words_data"), id="words"),
    pytest.param(spot("memories", "content", b"Ana owes Zoe 5 euros"), id="another text"),
    pytest.param(spot("memories", "id"), id="the id"),
    pytest.param(spot("memories", "created_at", NO_JSON), id="a date"),
    pytest.param(spot("memories", "manual_tags", NO_JSON), id="tags"),
    pytest.param(spot("memories", "subject", BYTES), id="a type"),
    pytest.param(spot("turns", "text"), id="a message"),
    pytest.param(spot("chunks", "text"), id="a part of a document"),
    pytest.param(flipped("words_content"), id="texts of words"),
    pytest.param(zeroed("memories_by_*"), id="pages of indexes"),
    pytest.param(zeroed("history"), id="pages of the history"),
    pytest.param(spot("links", "verified_at", b"2026-05-03T12:00:00.000000Z"), id="a link"),
]


@pytest.mark.slow
@pytest.mark.parametrize("damage", KINDS + (FURTHER if WHOLE else []))
def test_each_kind_of_damage_is_mended(
    kinmem: Kinmem, damaged: Path, damage: Callable[[Path], object]
) -> None:
    before = told(damaged)
    damage(damaged)

    looked = kinmem("doctor", "--deep")
    raw = (damaged / OWN).read_bytes()
    shown = kinmem("doctor", "--repair", "--dry-run", "--json")

    assert looked.code == 1 and "--repair" in looked.out
    assert shown.json["damage"] and (damaged / OWN).read_bytes() == raw
    refused = kinmem("doctor", "--repair")
    assert refused.code != 0 and "--yes" in refused.err

    done = kinmem("doctor", "--repair", "--yes", "--json")

    assert done.json["repaired"] and Path(done.json["before"]).exists()
    assert told(damaged) == before
    assert kinmem("doctor", "--repair", "--dry-run").out.strip() == "Nothing is damaged."
    again = kinmem("doctor", "--deep", "--json").json["checks"]
    assert [one for one in again if one["name"] in (OWN, SHARED) and one["status"] != "ok"] == []


@pytest.mark.parametrize("backed_up", [True, False], ids=["with a backup", "without"])
def test_a_memory_that_is_brought_back_has_its_chunk(damaged: Path, backed_up: bool) -> None:
    """The memory comes from the history, after its chunk was lost with a page."""
    before = chunks(damaged)
    if not backed_up:
        shutil.rmtree(damaged / "backups")
    poison(damaged, Spot(OWN, "memories", "content"), b"Ana owes Zoe 5 euros", like="Emil lives%")
    for page in pages(damaged, OWN, "chunks"):
        overwrite(damaged, page)

    repair(backups_of(damaged))

    after = chunks(damaged)
    assert after == before if backed_up else set(after) == set(before)


def test_memories_without_a_chunk_are_counted_and_get_one(damaged: Path) -> None:
    before = chunks(damaged)
    with closing(connect(damaged / OWN)) as db:
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        db.execute("DELETE FROM chunks WHERE id = (SELECT max(id) FROM chunks WHERE text IS NULL)")

    done = repair(backups_of(damaged))

    assert any("memories without a chunk: 1" in one for one in done.damage[OWN])
    assert chunks(damaged) == before


def test_what_nothing_else_holds_is_named(kinmem: Kinmem, damaged: Path) -> None:
    shutil.rmtree(damaged / "backups")
    poison(damaged, Spot(OWN, "turns", "text"), UNDECODABLE)

    done = kinmem("doctor", "--repair", "--yes")

    assert done.code == 1
    assert "lost: turns" in done.out


def test_a_damaged_copy_is_published_again_by_its_author(kinmem: Kinmem, damaged: Path) -> None:
    before = told(damaged)
    shutil.rmtree(damaged / "backups")
    poison(damaged, Spot(SHARED, "memories", "content"), b"The door", like="Ben says%")
    assert told(damaged) != before

    kinmem("doctor", "--repair", "--yes")
    open_on(damaged, MovableClock(), "ben").close()

    assert told(damaged) == before


def test_a_home_in_use_is_not_repaired(kinmem: Kinmem, damaged: Path) -> None:
    poison(damaged, Spot(OWN, "memories", "content"), UNDECODABLE)
    with closing(apsw.Connection(str(damaged / OWN))) as other:
        other.execute("BEGIN").execute("SELECT count(*) FROM memories").fetchall()
        done = kinmem("doctor", "--repair", "--yes")

    assert done.code != 0 and "stop every server" in done.err
