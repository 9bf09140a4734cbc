"""Verifying a backup, restoring one, and repairing damaged files: first on paper, then for good.

A restore is prepared beside the home's files and begun by one rename. Cut short before that it has
changed nothing; cut short after it, the next opening of any memory of the home ends it. A repair
backs up what is there before, and replaces files as a restore does: all or none, whatever happens
in between.
"""

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kinmem.backup import BEGUN, RESTORE_BEGUN, RESTORING
from kinmem.backup.archive import Manifest, emptied, sync_folder, unpack
from kinmem.backup.backups import REPAIRING, VERIFYING, Backups, Made, write_durably
from kinmem.backup.erasure import SHARED, ErasesInBackups
from kinmem.errors import InvalidInput, KinmemError, StoreError
from kinmem.models.reports import Earlier, FileChanges, FileFacts, Mended


@dataclass(frozen=True, slots=True)
class Verified:
    """What is in a backup, all of it read and checked."""

    path: Path
    manifest: Manifest
    files: Mapping[str, FileFacts]

    @property
    def problems(self) -> list[str]:
        """What is wrong with it; empty if every file is sound and none was too damaged to be
        copied."""
        missing = self.manifest.damaged.items()
        return [
            *(f"{name}: {problem}" for name, one in self.files.items() for problem in one.problems),
            *(f"{name} is not in it: {why}" for name, why in missing if name not in self.files),
        ]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a restore would do, or has done."""

    path: Path
    manifest: Manifest
    files: Mapping[str, FileChanges]
    """By name, how each file would change."""
    staying: tuple[str, ...]
    """Files of the home that are not in the backup, or not wanted; they stay as they are."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore that was done."""

    plan: Plan
    before: Made | None
    """The backup of what was there before."""
    unreached: tuple[str, ...] = ()
    """Names of backups that still hold what was erased, since they cannot be rewritten now."""


def verify(backups: Backups, path: Path, passphrase: str | None = None) -> Verified:
    """Read a backup as a whole. Raises as unpack does; what is wrong inside its files is told."""
    with backups.alone():
        folder = emptied(backups.folder / VERIFYING)
        try:
            manifest = unpack(path, folder, passphrase=passphrase)
            facts = {name: backups.files.facts(folder / name) for name in manifest.files}
            return Verified(path, manifest, facts)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def planned(
    backups: Backups,
    path: Path,
    passphrase: str | None = None,
    kins: Sequence[str] = (),
) -> Plan:
    """Return what a restore would change; changes nothing. `kins`: the Kins whose own memories are
    wanted; everything if none is named. What is erased for good in the home is left out."""
    with backups.alone(), _prepared(backups, path, passphrase, kins) as (_, plan):
        return plan


def restore(
    backups: Backups,
    path: Path,
    passphrase: str | None = None,
    kins: Sequence[str] = (),
) -> Restored:
    """Let the home's files be as a backup has them, without what was erased for good since, after a
    backup of what they are now.

    Raises StoreError, storage_busy while another process has a file of the home open.
    """
    finish(backups)
    with backups.alone():
        unreached = ErasesInBackups(backups).before_anything_comes_back()
        done = _restore(backups, path, passphrase, kins)
        return replace(done, unreached=tuple(sorted(unreached)))


def _restore(backups: Backups, path: Path, passphrase: str | None, kins: Sequence[str]) -> Restored:
    with _prepared(backups, path, passphrase, kins) as (folder, plan):
        with backups.files.alone(backups.home) as held:
            before = None
            if backups.files.names(backups.home):
                before = backups.make_alone("restore", copy=held.copy)
            _sync(folder, plan.files)
            told = {"files": list(plan.files), "staying": list(plan.staying)}
            write_durably(folder / BEGUN, json.dumps(told))
            sync_folder(folder)
            for name in plan.files:
                held.replace(name, folder / name)
        end(backups, list(plan.files), plan.staying)
        return Restored(plan, before)


def has_begun(home: Path) -> bool:
    """Return whether a restore of this home was cut short and must be ended."""
    return (home / RESTORE_BEGUN).exists()


def finish(backups: Backups) -> None:
    """End a restore that was cut short, if there is one. Raises StoreError."""
    if not has_begun(backups.home):
        return
    with backups.alone():
        if not has_begun(backups.home):
            return
        folder = backups.folder / RESTORING
        told = json.loads((folder / BEGUN).read_text(encoding="utf-8"))
        with backups.files.alone(backups.home) as held:
            for name in told["files"]:
                held.replace(name, folder / name)
        end(backups, told["files"], told["staying"])


@contextmanager
def _prepared(
    backups: Backups, path: Path, passphrase: str | None, kins: Sequence[str]
) -> Iterator[tuple[Path, Plan]]:
    """Unpack the wanted files beside the home's, check them, and compare. They are removed again
    unless the restore has begun."""
    if has_begun(backups.home):
        raise StoreError("a restore was cut short; run kinmem doctor, which ends it, then repeat")
    folder = emptied(backups.folder / RESTORING)
    try:
        wanted = [f"kins/{kin}.db" for kin in kins] or None
        manifest = unpack(path, folder, wanted, passphrase)
        if missing := set(wanted or ()) - manifest.files.keys():
            raise InvalidInput(f"{path.name} has no {', '.join(sorted(missing))}")
        names = wanted or list(manifest.files)
        present = backups.files.names(backups.home)
        for name in names:
            _check(backups, folder / name, name, path)
        erasures = ErasesInBackups(backups)
        is_elsewhere = path.resolve().parent != backups.folder.resolve()
        if is_elsewhere or erasures.waiting():  # from the others it is erased already
            erasures.leave_out(folder, names)
        changes = {}
        for name in names:
            there = backups.home / name if name in present else None
            changes[name] = backups.files.changes(there, folder / name)
        yield folder, Plan(path, manifest, changes, tuple(set(present) - set(names)))
    finally:
        if not has_begun(backups.home):
            shutil.rmtree(folder, ignore_errors=True)


def _check(backups: Backups, copy: Path, name: str, path: Path) -> None:
    facts = backups.files.facts(copy)
    if facts.problems:
        raise StoreError(
            f"{path.name} cannot be restored, {name} in it is damaged: {facts.problems[0]};"
            " kinmem backup list shows others",
            "storage_damaged",
        )
    if facts.schema > backups.files.schema:
        raise StoreError(
            f"{path.name} was made by a newer kinmem; install that one, then restore",
            "storage_newer",
        )


def _sync(folder: Path, names: Mapping[str, FileChanges]) -> None:
    for name in names:
        with (folder / name).open("rb+") as file:
            os.fsync(file.fileno())
        sync_folder((folder / name).parent)


def end(backups: Backups, names: Sequence[str], staying: Sequence[str]) -> None:
    """Let files of different moments agree on what is shared, then forget that there was a
    restore."""
    if SHARED in names:
        backups.files.claim(backups.home, staying)
    elif SHARED in staying:
        backups.files.claim(backups.home, names)
    folder = backups.folder / RESTORING
    (folder / BEGUN).unlink()
    sync_folder(folder)
    shutil.rmtree(folder, ignore_errors=True)


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
