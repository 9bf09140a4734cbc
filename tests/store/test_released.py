"""What any kinmem has left on disk is brought up to date, or refused with what to do."""

import hashlib
import shutil
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from kinmem.errors import StoreError
from kinmem.store.sqlite import migrating
from kinmem.store.sqlite.driver import connect, scratch
from kinmem.store.sqlite.migrating import MIGRATIONS, Migrations, numbered
from tests.backups import backups_of
from tests.cli.conftest import Kinmem, kinmem
from tests.conftest import MovableClock
from tests.keys import raw
from tests.store.poison import Spot, open_on, poison

pytestmark = pytest.mark.usefixtures("judge_off")

__all__ = ["kinmem"]
ARCHIVE = Path(__file__).parent / "released" / "homes.tar.xz"
FROZEN = {
    "0001_first.sql": "b2179884c6e845d966581e0fe50e38565c0cf98804b14d96c8598dfa092220ef",
    "0002_conversations.sql": "3643a12e883f8462fc3c9ff0847f841636b12a35fa05c25da48898ec4cff2b5e",
    "0003_life.sql": "f9cbb33ded864836993257c102695e8634b7ed32915eabfd82e63b5173cf8b7b",
    "0004_transcript.sql": "9b83bb0ba11229b82a240bd4c04bbad7544134f285fb84991e6f552cbbd200f2",
    "0005_place.sql": "5d306e7fca7743660dea5e8325ad844cc0596de7802fbadea925e97019855e0c",
    "0006_repetitions.sql": "cadbf851f53ac9cabc46741fbd009618ab44fe1a107d33b380fbbcdaba8aa659",
    "0007_published_copies.sql": "e3181ddb39d4f903f8b06cbb6fdb62a50f0997763653745e072fa48e7c836398",
    "0008_sums.sql": "a6c1de97429a1fdd43ad6f8c4d47303d72866745c0a4455b617deaab5e36db4a",
    "0009_published.sql": "f047e2080b589bf495ffb74c3cc1bc0eda492da8f29984ac106b3e2a157d5bf9",
    "0010_superseded.sql": "6f9f0dac2d815d0f9f01e8e80470af2a712a6f18b3a655984d463b0492fd7d4b",
    "0011_more_sums.sql": "eef8334134f382a7097ab21c95b403b54a35d11820c934b869bef6654411a1a4",
    "0012_chance.sql": "a83a9f7f556ab3928ddfa04642ac578e70afc87c875d6ecefb12e2c448cd0000",
}
"""What has landed on main is never edited: files of that version exist."""
LATEST = numbered(MIGRATIONS)[-1][0]
DEAD = ("dead-3-first", "dead-3-second", "dead-3-third")


def test_a_new_file_is_as_the_migrations_make_it() -> None:
    with scratch() as one, scratch() as other:
        for _, script in numbered(MIGRATIONS):
            one.run(script)
        Migrations(MIGRATIONS, scratch).apply(other, Path("new"), back_up=lambda: None)

        objects = [migrating.digest(db.rows(migrating.OBJECTS)) for db in (one, other)]
        assert objects[0] == objects[1], "python -m scripts.schema_of_new_files"
        for (table,) in one.rows("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            assert one.rows(f"SELECT * FROM {table}") == other.rows(f"SELECT * FROM {table}")


def homes() -> list[str]:
    with tarfile.open(ARCHIVE) as packed:
        paths = [Path(name) for name in packed.getnames()]
    return sorted({path.parts[0] for path in paths if path.parts})


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    with tarfile.open(ARCHIVE) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
        packed.extractall(folder)
    return folder


@pytest.fixture
def old(released: Path, home: Path, request: pytest.FixtureRequest) -> Path:
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(released / request.param, home)
    return home


def digests(home: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in home.rglob("*.db")}


@pytest.mark.parametrize("old", [name for name in homes() if name not in DEAD], indirect=True)
def test_a_home_of_any_schema_is_brought_up_to_date(old: Path, clock: MovableClock) -> None:
    with closing(connect(old / "kins/ana.db")) as db:
        before = int(db.execute("PRAGMA user_version").get)
    with closing(open_on(old, clock)) as ana:
        told = {one.content for one in ana.list_memories(limit=100).memories}
        assert {"Emil is allergic to peanuts", "The kitchen is cleaned on Mondays"} <= told
        assert ana.recall("who is allergic to peanuts?").hits
        assert [one.damaged or one.damage for one in ana.store.health(deep=True)] == [(), ()]
    made = [one for one in backups_of(old).listed() if one.reason == "upgrade"]
    assert bool(made) == (before < LATEST)


@pytest.mark.parametrize("old", ["schema-8"], indirect=True)
def test_the_first_backup_of_an_upgrade_stays_however_many_kins_follow(
    old: Path, clock: MovableClock
) -> None:
    kins = ["ana", "ben", "carl", "dora", "eva"]
    for kin in kins[1:]:
        shutil.copy(old / "kins/ana.db", old / f"kins/{kin}.db")
    first = None
    for kin in kins:
        # As in an encrypted home, where each copy of a file has other bytes.
        with closing(raw(old / f"kins/{kin}.db")) as db:
            db.execute("CREATE TABLE passing (x); DROP TABLE passing")
        clock.advance(days=1)
        open_on(old, clock, kin).close()
        made = [one for one in backups_of(old).listed() if one.reason == "upgrade"]
        first = first or made[-1].path

    assert first in [one.path for one in made]


@pytest.mark.parametrize("old", ["schema-8"], indirect=True)
def test_what_an_older_kinmem_has_shared_is_told(old: Path, clock: MovableClock) -> None:
    with closing(open_on(old, clock)), closing(open_on(old, clock, "ben")) as ben:
        [one] = ben.changes("0").changed
        assert (one.kin, one.action) == ("ana", "shared")
        assert ben.get(one.memory_id).content == "The kitchen is cleaned on Mondays"


@pytest.mark.parametrize("old", DEAD, indirect=True)
def test_a_development_version_is_refused_and_left_as_it_is(old: Path, clock: MovableClock) -> None:
    before = digests(old)

    with pytest.raises(StoreError, match="development version") as refused:
        open_on(old, clock)

    assert refused.value.code == "storage_unsupported"
    assert digests(old) == before


def test_there_is_a_home_of_every_schema(released: Path) -> None:
    versions = set()
    for name in homes():
        with closing(connect(released / name / "kins/ana.db")) as db:
            versions.add(db.execute("PRAGMA user_version").get)
    assert versions | {6} == set(range(1, LATEST + 1))  # 6: version-6.tar.xz, test_adoption.py


def test_scripts_that_have_landed_are_frozen() -> None:
    now = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in MIGRATIONS.glob("*.sql")
    }
    assert now == FROZEN


def test_the_digest_of_the_present_schema_is_known() -> None:
    """Otherwise every opening takes 50 ms longer."""
    with scratch() as db:
        for _, script in numbered(MIGRATIONS):
            db.run(script)
        assert migrating.digest(migrating._objects(db)) == migrating.PRESENT


HIJACKS = {
    "a trigger": "CREATE TRIGGER sly AFTER INSERT ON turns BEGIN DELETE FROM turns; END",
    "a view": "CREATE VIEW turns_of AS SELECT 1",
    "a table": "CREATE TABLE kept (x)",
    "a changed index": "DROP INDEX turns_by_time; CREATE INDEX turns_by_time ON turns (text)",
    "a trigger that is gone": "DROP TRIGGER memory_summed",
}


@pytest.mark.parametrize("sql", HIJACKS.values(), ids=HIJACKS.keys())
@pytest.mark.parametrize("old", [f"schema-{LATEST}"], indirect=True)
def test_a_schema_that_somebody_has_changed_is_refused_until_it_is_repaired(
    old: Path, clock: MovableClock, sql: str, kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_KIN", "ana")
    with closing(raw(old / "kins/ana.db")) as db:
        db.execute(sql).fetchall()

    with pytest.raises(StoreError) as refused:
        open_on(old, clock)
    assert refused.value.code == "storage_foreign" and "--repair" in str(refused.value)

    kinmem("doctor", "--repair", "--yes")
    with closing(open_on(old, clock)) as ana:
        assert len(ana.list_memories().memories) == 4


@pytest.mark.parametrize("old", ["schema-3", f"schema-{LATEST}"], indirect=True)
def test_a_file_that_has_lost_the_number_of_its_schema_is_repaired(
    old: Path, clock: MovableClock, kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_KIN", "ana")
    with closing(raw(old / "kins/ana.db")) as db:
        db.execute("PRAGMA user_version = 0")
    with pytest.raises(StoreError, match="doctor --repair") as refused:
        open_on(old, clock)
    assert refused.value.code == "storage_damaged"

    kinmem("doctor", "--repair", "--yes")
    with closing(open_on(old, clock)) as ana:
        assert "Emil is allergic to peanuts" in str(ana.list_memories().memories)


@pytest.mark.parametrize("old", ["schema-5"], indirect=True)
def test_a_repair_uses_a_backup_of_an_older_schema(
    old: Path, clock: MovableClock, kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_KIN", "ana")
    open_on(old, clock).close()  # backs up what was there before
    assert poison(old, Spot("kins/ana.db", "turns", "text"), b"My sister Lena plays the horn")

    told = kinmem("doctor", "--repair", "--yes")

    assert told.code == 0, told.out
    with closing(connect(old / "kins/ana.db")) as db:
        texts = [text for (text,) in db.execute("SELECT text FROM turns")]
    assert "My sister Lena plays the cello" in texts


@pytest.mark.parametrize("old", ["schema-3"], indirect=True)
def test_an_upgrade_is_shown_first(
    old: Path, kinmem: Kinmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINMEM_KIN", "ana")
    before = digests(old)

    shown = kinmem("doctor", "--dry-run")

    assert "kins/ana.db has schema 3 and is upgraded when it is opened" in shown.out
    assert shown.code == 0 and digests(old) == before
