"""What is erased is in no backup that can be reached, and the others are named."""

import inspect
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kinmem.backup import backups, erasure
from kinmem.backup.erasure import ErasesInBackups
from kinmem.backup.restore import planned, repair, restore, verify
from kinmem.errors import StoreError
from kinmem.models import ErasedFromBackups
from kinmem.service import Service
from kinmem.settings.memory_settings import BackupSettings
from kinmem.store.sqlite.store import SqliteStore
from tests.backups import backups_of, version_6
from tests.keys import reads_bytes
from tests.store.contract import listed
from tests.store.poison import PAGE, pages
from tests.store.soundness import problems

pytestmark = pytest.mark.usefixtures("judge_off")

SECRET = "The marzipanschwein stands in the third drawer from the top"


def holding(home: Path, text: str) -> list[str]:
    """Files of the home that hold it, and members of its backups that do."""
    wanted = text.lower().encode()
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found += [
                    f"{path.name}/{name}"
                    for name in archive.namelist()
                    if wanted in archive.read(name).lower()
                ]
        elif path.is_file() and wanted in path.read_bytes().lower():
            found.append(path.name)
    return found


@pytest.fixture
def ana(service_of: Callable[..., Service]) -> Service:
    return service_of("ana", resident=False)


def stored(service: Service, content: str, **more: object) -> str:
    id = service.memorize(content, **more).id
    assert id is not None
    return id


@reads_bytes
def test_not_a_byte_of_an_erased_memory_is_left_in_a_backup(home: Path, ana: Service) -> None:
    ana.record_turn("s", SECRET, "I see.")
    backups = backups_of(home)
    backups.make()  # said, not yet remembered
    id = stored(ana, SECRET, scope="shared")
    kept = stored(ana, "Clara plays the cello in Lyon", scope="shared")
    for _ in range(2):
        backups.make()
    assert len([name for name in holding(home, "marzipanschwein") if ".zip/" in name]) >= 5

    done = ana.forget(id, erase=True)

    assert holding(home, "marzipanschwein") == []
    assert len(done.backups.rewritten) == 3
    assert (done.backups.later, done.backups.unreached) == (0, ())
    for one in backups.listed():
        assert verify(backups, one.path).problems == []
    ana.close()
    restore(backups, backups.listed()[0].path)
    with _store(home, "ana") as store:
        assert store.memories([id, kept]).keys() == {kept}
        assert problems(store) == []


def _store(home: Path, kin: str) -> "closing[SqliteStore]":
    return closing(SqliteStore(home, kin))


@reads_bytes
def test_what_another_kin_has_in_a_backup_stays(
    home: Path, ana: Service, service_of: Callable[..., Service]
) -> None:
    ben = service_of("ben", resident=False)
    stored(ben, "Ben likes marzipan on Sundays", scope="shared")
    id = stored(ana, "Ana likes marzipan on Mondays", scope="shared")
    made = backups_of(home).make()
    before = verify(backups_of(home), made.path).manifest

    ana.forget(id, erase=True)

    after = verify(backups_of(home), made.path).manifest
    assert after.files["kins/ben.db"] == before.files["kins/ben.db"]
    assert after.files["kins/ana.db"].memories == before.files["kins/ana.db"].memories - 1
    assert after.files["shared.db"].memories == 1
    assert after.made_at == before.made_at
    assert any("shared.db" in name for name in holding(home, "Ben likes marzipan"))


@pytest.mark.usefixtures("quick_age")
def test_backups_that_cannot_be_reached_are_named(home: Path, ana: Service, tmp_path: Path) -> None:
    id = stored(ana, SECRET)
    elsewhere = backups_of(home).make(folder=tmp_path / "disk").path
    encrypted = backups_of(home).make(passphrase="correct horse").path
    damaged = backups_of(home).make().path
    damaged.write_bytes(damaged.read_bytes()[:-500])

    done = ana.forget(id, erase=True)

    assert set(done.backups.unreached) == {str(elsewhere), str(encrypted), str(damaged)}
    assert done.backups.rewritten == ()


def test_what_takes_too_long_is_done_by_the_next_sleep(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = stored(ana, SECRET)
    stored(ana, "Clara plays the cello in Lyon")
    for _ in range(3):
        backups_of(home).make()
    monkeypatch.setattr(erasure, "AT_ONCE", 0.0)

    done = ana.forget(id, erase=True)

    assert done.backups.later == 3
    monkeypatch.setattr(erasure, "AT_ONCE", 60.0)
    another = stored(ana, "Dora is allergic to peanuts")
    assert ana.forget(another, erase=True).backups.later == 3  # it does not wait either
    [order, _] = (home / "backups/erasures").iterdir()
    assert "marzipan" not in order.read_text()
    run = ana.sleep(["backup"])
    assert run.counts["backup.rewritten"] == 3
    assert holding(home, "marzipanschwein") == []
    assert not order.exists()
    assert not list((home / "backups/erasures").iterdir())


def test_a_backup_being_made_delays_the_erasure_only(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = stored(ana, SECRET)
    backups_of(home).make()
    monkeypatch.setattr(erasure, "BUSY", 0.05)

    with backups_of(home).alone():
        done = ana.forget(id, erase=True)

    assert done.backups.later == 1
    ana.sleep(["backup"])
    assert holding(home, "marzipanschwein") == []


def test_what_is_erased_while_the_first_backup_is_made_is_not_in_it_for_long(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = stored(ana, SECRET)
    pack = backups.pack

    def erased_before(*given: Any) -> None:
        assert ana.forget(id, erase=True).backups.later == 1
        pack(*given)

    with monkeypatch.context() as slow:
        slow.setattr(backups, "pack", erased_before)
        backups_of(home).make()

    ana.sleep(["backup"])
    assert holding(home, "marzipanschwein") == []


@reads_bytes
def test_a_full_disk_delays_the_erasure_only(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = stored(ana, SECRET)
    backups_of(home).make()

    def no_room(*_: object) -> None:
        raise StoreError("no room for the backup", "storage_full")

    with monkeypatch.context() as full:
        full.setattr(erasure, "pack", no_room)
        done = ana.forget(id, erase=True)

    assert (done.backups.later, done.backups.unreached) == (1, ())
    assert holding(home, "marzipanschwein") != []
    assert ana.sleep(["backup"]).counts["backup.rewritten"] == 1
    assert holding(home, "marzipanschwein") == []


def test_an_erasure_written_down_is_done_although_the_kins_file_is_gone(
    home: Path, ana: Service
) -> None:
    id = stored(ana, SECRET)
    backups_of(home).make()
    waiting = erasure.ErasesInBackups(backups_of(home), "ana")
    killed = waiting.erasing([id])
    killed.__enter__()
    ana.close()
    for path in (home / "kins").iterdir():
        path.unlink()

    assert len(waiting.catch_up().rewritten) == 1
    assert holding(home, "marzipanschwein") == []


@reads_bytes
def test_forgetting_about_somebody_reaches_the_backups(home: Path, ana: Service) -> None:
    ana.record_turn("s", "Zorblax called and wants his marzipan back.", "I will tell them.")
    stored(ana, "Zorblax collects stamps from Ghana", subject="Zorblax", scope="shared")
    stored(ana, "Clara plays chess on Mondays")
    made = backups_of(home).make()

    plan = ana.forget_about("Zorblax")
    assert [one.name for one in plan.backups] == [made.path.name]
    assert len(holding(home, "zorblax")) >= 3
    proof = plan.erase()

    assert holding(home, "zorblax") == [] and proof.places == ()
    assert proof.backups.rewritten == (str(made.path),)
    assert verify(backups_of(home), made.path).manifest.files["kins/ana.db"].memories == 1
    assert ana.forget_about("Zorblax").is_empty


def test_a_name_that_only_backups_know_is_found_there(home: Path, ana: Service) -> None:
    """As when the process that erased it was killed before it came to the backups."""
    stored(ana, "Zorblax collects stamps from Ghana")
    made = backups_of(home).make()
    packed = made.path.read_bytes()
    ana.forget_about("Zorblax").erase()
    made.path.write_bytes(packed)

    plan = ana.forget_about("Zorblax")

    assert not plan.is_empty and plan.memories == []
    plan.erase()
    assert holding(home, "zorblax") == []


def test_an_erasure_reaches_backups_of_older_versions(
    home: Path, service_of: Callable[..., Service]
) -> None:
    ids = version_6(home)["ids"]
    ana = service_of("ana", resident=False)  # upgraded, after a backup
    [made] = backups_of(home).listed()
    content = ana.get(ids["gateway"]).content
    assert made.reason == "upgrade" and holding(home, content)

    done = ana.forget(ids["gateway"], erase=True)

    assert done.backups.rewritten == (str(made.path),)
    assert [name for name in holding(home, content) if name.startswith("kinmem-")] == []
    assert verify(backups_of(home), made.path).problems == []


def test_without_backups_nothing_is_made_for_an_erasure(home: Path, ana: Service) -> None:
    id = stored(ana, SECRET)

    assert ana.forget(id, erase=True).backups == ana.forget(stored(ana, "x y z")).backups
    assert not (home / "backups").exists()
    assert backups_of(home, settings=BackupSettings()).listed() == []


def test_while_a_backup_is_made_nothing_about_a_name_is_erased(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(ana, SECRET)
    backups_of(home).make()
    found = ana.forget_about("marzipanschwein")
    waiting = inspect.unwrap(backups.Backups.alone)
    monkeypatch.setattr(waiting, "__defaults__", (0.05,))

    with backups_of(home).alone(), pytest.raises(StoreError) as refused:
        found.erase()

    assert refused.value.code == "storage_busy"
    assert len(ana.list_memories().memories) == 1
    assert found.erase().backups.rewritten
    assert holding(home, "marzipanschwein") == []
    assert not list((home / "backups/erasures").iterdir())


def test_what_a_name_leaves_in_a_backup_on_a_full_disk_is_erased_by_the_next_sleep(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(ana, SECRET)
    ana.record_turn("one", f"By the way: {SECRET}.")
    backups_of(home).make()

    def no_room(*_: object) -> None:
        raise StoreError("no room for the backup", "storage_full")

    with monkeypatch.context() as full:
        full.setattr(erasure, "pack", no_room)
        done = ana.forget_about("marzipanschwein").erase()

    assert done.backups.later == 1
    ana.sleep(["backup"])
    assert holding(home, "marzipanschwein") == []


def test_a_kill_while_a_name_is_erased_leaves_it_in_no_backup_for_long(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(ana, SECRET)
    ana.record_turn("one", f"By the way: {SECRET}.")
    backups_of(home).make()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as ending, pytest.raises(KeyboardInterrupt):
        ending.setattr(erasure.ErasesInBackups, "_erase_about", killed)
        ana.forget_about("marzipanschwein").erase()

    ana.sleep(["backup"])
    assert holding(home, "marzipanschwein") == []


WRECKED = (
    ("history", "memories_by_*"),
    ("chunks", "turns"),
    ("history", "chunks", "turns", "memories"),
)


@reads_bytes
@pytest.mark.parametrize(
    "tables",
    [("history",), ("chunks", "turns"), ("history", "chunks", "turns", "memories")],
    ids=["the history", "what was said", "everything"],
)
def test_a_repair_brings_nothing_back_that_was_erased(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch, tables: tuple[str, ...]
) -> None:
    """Neither what the backups still had, nor what was erased from them in time."""
    ids = [stored(ana, SECRET), stored(ana, "Clara plays the cello in Lyon")]
    ana.record_turn("s", f"{SECRET}. Clara plays the cello.", "I see.")
    backups_of(home).make()
    with monkeypatch.context() as later:
        later.setattr(erasure.ErasesInBackups, "_reach", lambda _: ErasedFromBackups(later=1))
        ana.forget(ids[0], erase=True)
    ana.close()
    assert holding(home, "marzipanschwein") != []
    for table in tables:
        for page in pages(home, "kins/ana.db", table):
            with (home / "kins/ana.db").open("r+b") as file:
                file.seek((page - 1) * PAGE)
                file.write(bytes(PAGE))

    repair(backups_of(home))

    with closing(SqliteStore(home, "ana")) as store:
        assert listed(store) == [ids[1]]
    assert [name for name in holding(home, "marzipanschwein") if ".zip" not in name] == []
    ErasesInBackups(backups_of(home)).catch_up()
    assert holding(home, "marzipanschwein") == []


@reads_bytes
def test_what_waits_to_be_erased_is_erased_before_a_restore(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = stored(ana, SECRET)
    stored(ana, "Clara plays the cello in Lyon")
    made = backups_of(home).make()
    with monkeypatch.context() as later:
        later.setattr(erasure.ErasesInBackups, "_reach", lambda _: ErasedFromBackups(later=1))
        ana.forget(id, erase=True)
    ana.close()

    restore(backups_of(home), made.path)

    assert holding(home, "marzipanschwein") == []


@reads_bytes
@pytest.mark.parametrize("scope", ["private", "shared"])
def test_a_backup_elsewhere_does_not_bring_back_what_was_erased(
    home: Path, ana: Service, tmp_path: Path, scope: str
) -> None:
    ids = [stored(ana, SECRET, scope=scope), stored(ana, "Clara plays the cello in Lyon")]
    made = backups_of(home).make(folder=tmp_path / "elsewhere")
    ana.forget(ids[0], erase=True)
    ana.close()
    assert planned(backups_of(home), made.path).files["kins/ana.db"].added == ()

    restore(backups_of(home), made.path)

    with closing(SqliteStore(home, "ana")) as store:
        assert listed(store) == [ids[1]]
    assert holding(home, "marzipanschwein") == []


@reads_bytes
@pytest.mark.parametrize("mend", [False, True], ids=["a restore", "a repair"])
def test_a_backup_that_cannot_be_rewritten_is_named_and_stops_nothing(
    home: Path, ana: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mend: bool
) -> None:
    ids = [stored(ana, SECRET), stored(ana, "Clara plays the cello in Lyon")]
    made = backups_of(home).make()
    sound = backups_of(home).make(folder=tmp_path / "elsewhere")

    def unreadable(*_: object) -> None:
        raise StoreError(f"{made.path.name} cannot be read", "storage_failed")

    with monkeypatch.context() as later:
        later.setattr(erasure, "unpack", unreadable)
        ana.forget(ids[0], erase=True)
        ana.close()
        if mend:
            for page in pages(home, "kins/ana.db", "memories"):
                with (home / "kins/ana.db").open("r+b") as file:
                    file.seek((page - 1) * PAGE)
                    file.write(bytes(PAGE))
            assert repair(backups_of(home)).unreached == (made.path.name,)
        else:
            assert restore(backups_of(home), sound.path).unreached == (made.path.name,)

    with closing(SqliteStore(home, "ana")) as store:
        assert listed(store) == [ids[1]]
    ErasesInBackups(backups_of(home)).catch_up()
    assert holding(home, "marzipanschwein") == []


def test_a_damaged_file_that_was_put_aside_is_named(home: Path, ana: Service) -> None:
    id = stored(ana, SECRET)
    aside = home / "kins" / "ana.db.damaged-1"
    aside.touch()

    assert ana.forget(id, erase=True).backups.unreached == (str(aside),)


def test_a_name_is_not_erased_beside_the_first_backup(
    home: Path, ana: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in no list yet, and holds the name."""
    monkeypatch.setattr(backups, "PATIENCE", 0.1)
    stored(ana, SECRET)
    others = backups_of(home)
    plan = ana.forget_about("marzipanschwein")
    with others.alone():
        (others.folder / backups.COPYING).mkdir()
        with pytest.raises(StoreError) as refused:
            plan.erase()

    assert refused.value.code == "storage_busy"
    assert len(ana.list_memories().memories) == 1


def test_files_in_use_are_not_accepted(home: Path, ana: Service) -> None:
    stored(ana, SECRET)

    with pytest.raises(StoreError, match="stop every server"):
        backups_of(home).files.accept(home, "kins/ana.db")
