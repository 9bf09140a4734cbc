"""Backups: one moment of all files, whole or not there, and rotated whatever the clock does."""

import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kinmem.backup.archive import Backup, manifest_of, outdated, unpack
from kinmem.backup.restore import verify
from kinmem.errors import InvalidInput, StoreError
from kinmem.service import Service
from kinmem.settings.memory_settings import BackupSettings
from kinmem.store.sqlite.store import SqliteStore
from tests.backups import backups_of, opened_up, version_6
from tests.conftest import MovableClock
from tests.keys import raw
from tests.processes import REPOSITORY
from tests.store.contract import added
from tests.store.soundness import problems
from tests.sweeps import rounds

pytestmark = pytest.mark.usefixtures("judge_off")

WRITER = """
import sys
from pathlib import Path
from kinmem.store.sqlite.store import SqliteStore
from tests.store.contract import added
store = SqliteStore(Path(sys.argv[1]), sys.argv[2])
kin = sys.argv[2]
id = added(store, f"{kin} 0", scope="shared", id=kin)
print("ready", flush=True)
for number in range(1, 100_000):
    store.update(id, {"content": f"{kin} {number}"})
    scope = "shared" if number % 2 else "private"
    added(store, f"{kin} wrote {number}", scope=scope, id=f"{kin} {number}")
"""
BACKUP = """
import sys
from pathlib import Path
from tests.backups import backups_of
print("ready", flush=True)
while True:
    backups_of(Path(sys.argv[1])).make()
"""


def begun(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def killed(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def filled(home: Path, *kins: str) -> None:
    for kin in kins:
        with closing(SqliteStore(home, kin)) as store:
            for number in range(20):
                scope = "shared" if number % 2 else "private"
                added(store, f"{kin} {number}", scope=scope, id=f"{kin} {number}")


def test_a_backup_beside_writers_is_one_moment_of_all_files(home: Path) -> None:
    """No copy in shared.db is ahead of its original, nor behind it without waiting in the outbox;
    and whoever has written last has not lost what was written before."""
    writers = [begun(WRITER, home, kin) for kin in ("ana", "ben")]
    try:
        for _ in range(4):
            time.sleep(0.1)
            made = backups_of(home).make()
            copies = opened_up(made.path)
            assert made.manifest.files.keys() == {"kins/ana.db", "kins/ben.db", "shared.db"}
            for kin in ("ana", "ben"):
                assert disagreeing(copies, kin) == []
    finally:
        for writer in writers:
            killed(writer)


def disagreeing(copies: Path, kin: str) -> list[str]:
    """Copies that are not as their originals are and will not be either."""

    with (
        closing(raw(copies / "shared.db")) as shared,
        closing(raw(copies / "kins" / f"{kin}.db")) as own,
    ):
        sql = "SELECT id, version FROM memories WHERE scope = 'shared' AND kin = ?"
        originals = set(own.execute(sql, (kin,)))
        published = set(shared.execute(sql, (kin,)))
        waiting = {id for (id,) in own.execute("SELECT memory FROM outbox")}
        assert originals
    return sorted({id for id, _ in originals ^ published} - waiting)


def test_a_backup_is_one_private_file_that_any_program_can_open(home: Path) -> None:
    filled(home, "ana")

    made = backups_of(home).make()

    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    with zipfile.ZipFile(made.path) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {"manifest.json", "kins/ana.db", "shared.db"}
    assert made.manifest.files["kins/ana.db"].memories == 20
    assert sorted(one.name for one in made.path.parent.iterdir()) == [".lock", made.path.name]


def test_an_unreadable_backup_keeps_no_memory_closed(
    home: Path, service_of: Callable[..., Service]
) -> None:
    version_6(home)
    folder = home / "backups"
    folder.mkdir()
    (folder / "kinmem-20260101T000000Z-upgrade.zip").write_bytes(b"no archive")
    (folder / "kinmem-20269999T000000Z-daily.zip").write_bytes(b"no date")

    service_of("ana", resident=False)

    made = [one for one in backups_of(home).listed() if one.reason == "upgrade"]
    assert len(made) >= 2
    assert verify(backups_of(home), made[0].path).problems == []


@pytest.mark.parametrize("name", ["taken", "taken/deep"])
def test_a_folder_that_cannot_be_made_is_named(home: Path, tmp_path: Path, name: str) -> None:
    filled(home, "ana")
    (tmp_path / "taken").write_text("a file")

    with pytest.raises(StoreError, match="taken"):
        backups_of(home).make(folder=tmp_path / name)


def test_a_home_without_memories_has_nothing_to_back_up(home: Path) -> None:
    with pytest.raises(InvalidInput, match="no memory yet"):
        backups_of(home).make()
    assert backups_of(home).before("import") is None
    assert backups_of(home).daily() is None


def is_half_made(home: Path) -> bool:
    """Whether there is something of a backup that is being made, or was cut short."""
    folder = home / "backups"
    return bool(list(folder.glob(".*/*")) or list(folder.glob(".k*")))


def test_a_kill_in_a_backup_leaves_whole_backups_only(home: Path) -> None:
    filled(home, "ana", "ben")
    cut = 0
    for round in range(0, 12, rounds(1, 2)):
        process = begun(BACKUP, home)
        while not is_half_made(home):  # so far, however slow the machine is
            time.sleep(0.001)
        time.sleep(0.017 * round)
        killed(process)
        cut += is_half_made(home)
        for one in backups_of(home).listed():
            assert verify(backups_of(home), one.path).problems == []
    assert cut > 0  # some were cut short in the middle
    backups_of(home).make()
    left = {one.name for one in (home / "backups").iterdir() if one.name.startswith(".")}
    assert left == {".lock"}
    with closing(SqliteStore(home, "ana")) as store:
        assert problems(store) == []


def test_a_full_disk_leaves_no_half_backup(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(home, "ana")

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError) as refused:
        backups_of(home).make()
    assert refused.value.code == "storage_full" and refused.value.retry
    assert [one.name for one in (home / "backups").iterdir()] == [".lock"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_a_backup_is_synced_before_it_has_its_name_and_its_name_afterwards(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(home, "ana")
    folder, sync = home / "backups", os.fsync
    synced: list[tuple[str, int]] = []

    def noted(file: int) -> None:
        name = Path(f"/proc/self/fd/{file}").readlink().name
        synced.append((name, len(list(folder.glob("*.zip")))))
        sync(file)

    monkeypatch.setattr(os, "fsync", noted)
    made = backups_of(home).make().path.name

    (hidden,) = {name for name, _ in synced if made in name}
    assert hidden != made
    assert synced.index((hidden, 0)) < synced.index(("backups", 1))


def test_every_day_has_one_backup_whoever_makes_it(home: Path, clock: MovableClock) -> None:
    filled(home, "ana")
    backups = [backups_of(home, clock) for _ in range(3)]

    assert [one.daily() is not None for one in backups] == [True, False, False]
    clock.advance(hours=23.5)
    assert [one.daily() is not None for one in backups] == [True, False, False]
    off = BackupSettings(daily="off")
    clock.advance(days=3)
    assert backups_of(home, clock, off).daily() is None


def test_seven_days_and_four_weeks_are_kept(home: Path, clock: MovableClock) -> None:
    filled(home, "ana")
    backups = backups_of(home, clock)
    by_hand = backups.make().path
    for _ in range(60):
        clock.advance(days=1)
        assert backups.daily() is not None

    kept = [one for one in backups.listed() if one.reason == "daily"]
    ages = [(clock.now - one.made_at).days for one in kept]
    assert ages[:7] == [0, 1, 2, 3, 4, 5, 6]
    assert len(ages) == 11
    assert {later - sooner for sooner, later in zip(ages[7:], ages[8:], strict=False)} == {7}
    assert by_hand.exists()


def test_a_clock_that_jumps_costs_no_backup_of_today(home: Path, clock: MovableClock) -> None:
    filled(home, "ana")
    backups = backups_of(home, clock)
    for _ in range(10):
        clock.advance(days=1)
        backups.daily()
    today = clock.now
    before = {one.path for one in backups.listed()}

    clock.now = today + timedelta(days=3650)  # for a moment
    assert backups.daily() is not None
    clock.now = today + timedelta(days=1)  # and back again
    made = backups.daily()

    assert made is not None and made.path.exists()
    recent = {one.path for one in backups.listed() if one.made_at <= clock.now}
    assert len(before & recent) == len(before) - 1  # as on any other day
    for _ in range(30):
        clock.advance(days=1)
        again = backups.daily()
        assert again is not None and again.path.exists()


def test_rotation_needs_no_clock_that_goes_forward() -> None:
    made = datetime(2026, 1, 1, tzinfo=UTC)
    known = [Backup(Path(f"{n}"), made + timedelta(days=n), "daily", False) for n in range(100)]

    for now in (made, made + timedelta(days=50), made + timedelta(days=5000)):
        kept = [one for one in known if one not in outdated(known, now, 7, 4)]
        assert len([one for one in kept if one.made_at <= now + timedelta(days=1)]) in (2, 11)


def test_a_damaged_home_is_backed_up_and_pushes_out_no_sound_backup(
    home: Path, clock: MovableClock
) -> None:
    filled(home, "ana")
    backups = backups_of(home, clock, BackupSettings(days=1, weeks=0))
    sound = backups.daily()
    assert sound is not None
    path = home / "kins" / "ana.db"
    data = bytearray(path.read_bytes())
    data[4096 * 20 : 4096 * 22] = bytes(range(256)) * 32
    path.write_bytes(data)

    clock.advance(days=2)
    made = backups.daily()

    assert made is not None and "kins/ana.db" in made.manifest.damaged
    assert sound.path.exists()
    assert verify(backups, made.path).problems != []


def test_a_file_that_has_lost_its_mark_is_named(
    home: Path, clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    filled(home, "ana")
    with (home / "kins" / "ana.db").open("r+b") as file:
        file.seek(68)  # where SQLite keeps the number of the application
        file.write(b"kink")

    made = backups_of(home, clock).daily()

    assert made is not None and "--repair" in made.manifest.damaged["kins/ana.db"]
    assert "backed up although damaged: kins/ana.db" in caplog.text


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_a_byte_that_has_changed_is_found(home: Path, place: float) -> None:
    filled(home, "ana")
    made = backups_of(home).make()
    data = bytearray(made.path.read_bytes())
    data[int(len(data) * place)] ^= 0x20
    made.path.write_bytes(data)

    with pytest.raises(StoreError) as found:
        verify(backups_of(home), made.path)
    assert found.value.code == "storage_damaged"


def test_a_backup_cut_short_is_found(home: Path) -> None:
    filled(home, "ana")
    made = backups_of(home).make()
    made.path.write_bytes(made.path.read_bytes()[:-1000])

    with pytest.raises(StoreError, match="damaged"):
        verify(backups_of(home), made.path)


def test_a_backup_elsewhere_may_be_encrypted(home: Path, tmp_path: Path) -> None:
    filled(home, "ana")
    disk = tmp_path / "disk"

    made = backups_of(home).make(folder=disk, passphrase="correct horse")

    assert made.path.parent == disk and made.path.name.endswith(".zip.age")
    assert made.path.read_bytes().startswith(b"age-encryption.org/v1\n")
    assert verify(backups_of(home), made.path, "correct horse").problems == []
    for wrong in ("correct", None):
        with pytest.raises(InvalidInput, match="passphrase"):
            verify(backups_of(home), made.path, wrong)
    [place] = backups_of(home).elsewhere()
    assert place.path == made.path and place.is_encrypted
    made.path.unlink()
    assert backups_of(home).elsewhere() == []  # deleted: nothing is left to name
    disk.rmdir()
    assert [one.path for one in backups_of(home).elsewhere()] == [made.path]  # who knows


def test_without_the_package_encryption_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(home, "ana")
    monkeypatch.setitem(sys.modules, "pyrage", None)

    with pytest.raises(Exception, match="kinmem\\[encrypted-backups\\]"):
        backups_of(home).make(passphrase="correct horse")
    assert backups_of(home).listed() == []


def test_before_an_import_the_home_is_backed_up(home: Path) -> None:
    filled(home, "ana")
    backups = backups_of(home)

    paths = [made.path for _ in range(5) if (made := backups.before("import")) is not None]

    assert [one.path for one in backups.listed()] == list(reversed(paths))[:3]
    assert manifest_of(paths[-1]).reason == "import"


def test_a_name_in_a_backup_leads_nowhere_else(home: Path, tmp_path: Path) -> None:
    filled(home, "ana")
    made = backups_of(home).make()
    forged = made.path.with_name("kinmem-20260101T000000Z-manual.zip")
    with zipfile.ZipFile(made.path) as source, zipfile.ZipFile(forged, "w") as target:
        manifest = source.read("manifest.json").replace(b"kins/ana.db", b"../../x.db")
        target.writestr("manifest.json", manifest)
        target.writestr("../../x.db", b"x")

    with pytest.raises(StoreError, match="not kinmem's"):
        unpack(forged, tmp_path / "out")


def test_the_sleep_cycle_makes_the_backup_of_the_day(
    service_of: Callable[..., Service], home: Path, clock: MovableClock
) -> None:
    service = service_of("ana", resident=False)
    service.memorize("Clara plays the cello in Lyon")

    service.sleep()
    service.sleep()

    assert [one.reason for one in backups_of(home).listed()] == ["daily"]
