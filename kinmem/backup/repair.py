"""Repairing the damaged files of a home: on paper first, then for good.

What is there is backed up before, and the files are replaced as a restore replaces them: all or
none, whatever happens in between.
"""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kinmem.backup import BEGUN, RESTORING
from kinmem.backup.archive import emptied, sync_folder, unpack
from kinmem.backup.backups import REPAIRING, Backups, Made, write_durably
from kinmem.backup.erasure import SHARED, ErasesInBackups
from kinmem.backup.restore import end, finish
from kinmem.errors import KinmemError
from kinmem.store.home_files import Earlier, Mended


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair would do, or has done."""

    damage: Mapping[str, list[str]]
    """By name of a file, what is wrong with it. Sound files are left out, and left as they are."""
    files: Mapping[str, Mended]
    unreadable: Mapping[str, str]
    """Files in which nothing can be read, each with the reason: only a backup helps."""
    upgrades: Mapping[str, int]
    """Files of an older schema that opening them upgrades: by name, that schema."""
    before: Made | None = None
    """The backup of what was there before; None if nothing was done."""
    unreached: tuple[str, ...] = ()
    """Names of backups that still hold what was erased: nothing is taken from them."""


def plan(backups: Backups) -> Repair:
    """Return what a repair would do; changes nothing."""
    finish(backups)
    with backups.alone(), _folders(backups) as (copies, mended):
        unreadable = dict(backups.files.copy(backups.home, copies))
        return _mend(backups, copies, mended, unreadable, ErasesInBackups(backups).waiting())


def repair(backups: Backups) -> Repair:
    """Write the damaged files anew. Raises StoreError, storage_busy while another process has a
    file of the home open."""
    finish(backups)
    with backups.alone(), _folders(backups) as (copies, mended):
        erasures = ErasesInBackups(backups)
        gone = erasures.waiting()
        unreached = erasures.before_anything_comes_back()
        with backups.files.alone(backups.home) as held:
            before = backups.make_alone("restore", copy=held.copy)
            done = _mend(backups, emptied(copies), mended, dict(held.copy(copies)), gone, unreached)
            names = list(done.files)
            if not names:
                return done
            folder = emptied(backups.folder / RESTORING)
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (mended / name).rename(folder / name)
                sync_folder((folder / name).parent)
            write_durably(folder / BEGUN, json.dumps({"files": names, "staying": []}))
            sync_folder(folder)
            for name in names:
                held.replace(name, folder / name)
        end(backups, names, [one for one in backups.files.names(backups.home) if one not in names])
        if SHARED in names:
            backups.files.claim(backups.home, backups.files.names(backups.home))
        return replace(done, before=before)


def _mend(
    backups: Backups,
    copies: Path,
    target: Path,
    unreadable: dict[str, str],
    gone: Collection[str],
    unreached: Collection[str] = (),
) -> Repair:
    damage: dict[str, list[str]] = {}
    files, upgrades = {}, {}
    for name in backups.files.names(copies):
        schema = backups.files.facts(copies / name, thorough=False).schema
        if 0 < schema < backups.files.schema:
            upgrades[name] = schema
        if wrong := backups.files.damage(copies / name):
            damage[name] = wrong
            try:
                files[name] = backups.files.salvage(
                    copies / name,
                    target / name,
                    _copies_in_backups(backups, name, unreached),
                    gone,
                )
            except KinmemError as error:
                unreadable[name] = str(error)
    return Repair(damage, files, unreadable, upgrades, unreached=tuple(sorted(unreached)))


def _copies_in_backups(backups: Backups, name: str, but: Collection[str]) -> Earlier:
    """Return what yields the file of this name in each backup that can be read, `but` these, the
    latest first; each is unpacked once."""
    known: dict[Path, Path | None] = {}

    def copies() -> Iterator[tuple[str, Path]]:
        for backup in backups.listed():
            if backup.path not in known:
                folder = backups.folder / REPAIRING / backup.path.name
                known[backup.path] = None
                if not backup.is_encrypted and backup.path.name not in but:
                    with suppress(KinmemError):
                        unpack(backup.path, folder, [name])
                        known[backup.path] = folder / name
            if (path := known[backup.path]) is not None and path.exists():
                yield backup.path.name, path

    return copies


@contextmanager
def _folders(backups: Backups) -> Iterator[tuple[Path, Path]]:
    """Yield empty folders for copies and for mended files."""
    folder = emptied(backups.folder / REPAIRING)
    try:
        for name in ("copies", "mended"):
            (folder / name).mkdir()
        yield folder / "copies", folder / "mended"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
