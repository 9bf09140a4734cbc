"""Backups as tests make and open them."""

from pathlib import Path

from kinmem.backup.archive import unpack
from kinmem.backup.backups import Backups
from kinmem.clock import Clock, utc_now
from kinmem.settings.memory_settings import BackupSettings
from kinmem.store.sqlite.snapshot import SqliteHome


def backups_of(
    home: Path, clock: Clock = utc_now, settings: BackupSettings | None = None
) -> Backups:
    return Backups(home, SqliteHome(), settings or BackupSettings(), clock)


def opened_up(path: Path) -> Path:
    """The files of a backup, in a folder beside the home."""
    folder = path.parents[2] / f"opened-{path.name}"
    unpack(path, folder)
    return folder


def before_upgrade(home: Path) -> Path:
    """The files of the home's last backup before an upgrade."""
    made = [one for one in backups_of(home).listed() if one.reason == "upgrade"]
    return opened_up(made[0].path)
