"""Backups as tests make and open them."""

import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinmem.backup.archive import unpack
from kinmem.backup.backups import Backups
from kinmem.clock import Clock, utc_now
from kinmem.settings.memory_settings import BackupSettings
from kinmem.store.sqlite.snapshot import SqliteHome
from tests import keys  # noqa: F401  the processes of tests need them as well

ARCHIVE = Path(__file__).parent / "store" / "released" / "version-6.tar.xz"


def backups_of(
    home: Path, clock: Clock = utc_now, settings: BackupSettings | None = None
) -> Backups:
    return Backups(home, SqliteHome(), settings or BackupSettings(), clock)


def opened_up(path: Path) -> Path:
    """The files of a backup, in a folder beside the home."""
    folder = path.parents[2] / f"opened-{path.name}"
    unpack(path, folder)
    return folder


def version_6(home: Path) -> Mapping[str, Any]:
    """Puts a home of version 6 there; what the Kins were told by the version that made it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(ARCHIVE) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
        packed.extractall(home.parent)
    (home.parent / "home").rename(home)
    told: Mapping[str, Any] = json.loads((home / "told.json").read_text(encoding="utf-8"))
    (home / "told.json").unlink()
    return told


def before_upgrade(home: Path) -> Path:
    """The files of the home's last backup before an upgrade."""
    made = [one for one in backups_of(home).listed() if one.reason == "upgrade"]
    return opened_up(made[0].path)
