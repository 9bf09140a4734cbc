"""The backups of one home: made every day and before what could go wrong, and rotated.

Only one process at a time makes, restores or rewrites backups of a home, or upgrades its files.
"""

import json
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from making two backups at once
    fcntl = None  # type: ignore[assignment]

from kinmem.backup import FOLDER, HomeFiles
from kinmem.backup.archive import (
    Backup,
    Manifest,
    Member,
    Reason,
    backups_in,
    emptied,
    explained,
    free_name,
    manifest_of,
    member_of,
    outdated,
    pack,
    unpack,
)
from kinmem.clock import Clock
from kinmem.errors import InvalidInput, KinmemError, StoreError
from kinmem.settings.memory_settings import BackupSettings

logger = logging.getLogger(__name__)

LOCK = ".lock"
PLACES = "places.json"
COPYING, VERIFYING, ERASING = ".copying", ".verifying", ".erasing"
REPAIRING = ".repairing"
TEMPORARY = (COPYING, VERIFYING, ERASING, REPAIRING)
"""Folders with files in the clear that a process which was killed may have left."""
DUE = timedelta(hours=23)
"""Age of the last daily backup from which the next one is due: less than a day, so that it does not
come later every day."""
PATIENCE = 60.0
"""Seconds to wait while another process makes or restores a backup."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new backup."""

    path: Path
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A backup that erasing cannot reach: it is encrypted, or outside the home."""

    path: Path
    made_at: datetime
    is_encrypted: bool


class Backups:
    """Makes and lists the backups of a home."""

    def __init__(
        self, home: Path, files: HomeFiles, settings: BackupSettings, clock: Clock
    ) -> None:
        self.home = home
        self.files = files
        self.clock = clock
        self.folder = home / FOLDER
        self._settings = settings

    def listed(self, folder: Path | None = None) -> list[Backup]:
        """Return the backups in the home, or in another folder, the latest first."""
        return backups_in(folder or self.folder)

    def make(
        self,
        reason: Reason = "manual",
        folder: Path | None = None,
        passphrase: str | None = None,
    ) -> Made:
        """Back up all files of the home as they are now, into its own folder or another. Raises
        StoreError."""
        with self.alone():
            return self.make_alone(reason, folder, passphrase=passphrase)

    def before(self, reason: Reason) -> Made | None:
        """Back up the home before something that could go wrong; None if it has no files yet. If
        this raises StoreError, the caller must not begin."""
        if not self.files.names(self.home):
            return None
        return self.make(reason)

    def daily(self, stopping: Callable[[], bool] = bool) -> Made | None:
        """Make today's backup, unless there is one, daily backups are off, or another process is at
        it."""
        if self._settings.daily == "off" or not self._is_due():
            return None
        try:
            with self.alone(patience=0):
                if not self._is_due():
                    return None
                return self.make_alone("daily", stopping=stopping)
        except StoreError as error:
            if error.code == "storage_busy":
                return None
            raise

    @contextmanager
    def upgrading(self, path: Path) -> Iterator[Callable[[], None]]:
        """Let one process after the other upgrade files of the home. What is yielded backs up all
        of them while `path` is locked, unless the last backup before an upgrade has `path` as it
        is."""
        with self.alone():
            yield lambda: self._before_upgrade(path)

    def _before_upgrade(self, path: Path) -> None:
        name = str(path.relative_to(self.home))
        known = next((one for one in self.listed() if one.reason == "upgrade"), None)
        self.make_alone("upgrade", locked=path, unless=(known.path, name) if known else None)

    @contextmanager
    def alone(self, patience: float | None = None) -> Iterator[None]:
        """Hold the lock on the backups of this home. Raises StoreError, storage_busy after
        `patience` seconds, or a minute."""
        patience = PATIENCE if patience is None else patience
        with explained(self.folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.files.taken(self.home) as has_lock_file:
            if has_lock_file:  # then no other process is there
                if not _of_this_process.acquire(timeout=patience):
                    raise _busy()
                try:
                    yield
                finally:
                    _of_this_process.release()
                return
            with _locked(self.folder / LOCK, patience):
                yield

    def make_alone(
        self,
        reason: Reason,
        folder: Path | None = None,
        *,
        passphrase: str | None = None,
        locked: Path | None = None,
        unless: tuple[Path, str] | None = None,
        stopping: Callable[[], bool] = bool,
        copy: Callable[[Path], Any] | None = None,
    ) -> Made:
        """Do the same as `make` for a caller that holds the lock.

        `unless`: nothing is kept if this backup has the file of this name as it is. `copy` copies
        the files in another way than beside writers.
        """
        self._clean_up()
        copies = emptied(self.folder / COPYING)
        try:
            if copy is not None:
                damaged = dict(copy(copies))
            else:
                damaged = dict(self.files.copy(self.home, copies, locked=locked, stopping=stopping))
            members = {}
            for name in self.files.names(copies):
                facts = self.files.facts(copies / name)
                if facts.problems:
                    damaged[name] = facts.problems[0]
                members[name] = member_of(copies / name, facts.schema, facts.memories, facts.turns)
            if not members and not damaged:
                raise InvalidInput(f"{self.home} holds no memory yet; there is nothing to back up")
            manifest = Manifest(self.clock(), reason, members, damaged)
            if unless is not None and self._is_held(*unless, copies, members):
                return Made(unless[0], manifest)
            return self._keep(copies, manifest, folder, passphrase)
        finally:
            shutil.rmtree(copies, ignore_errors=True)

    def _is_held(
        self, backup: Path, name: str, copies: Path, members: Mapping[str, Member]
    ) -> bool:
        """Return whether the backup has this file with the same memories and turns. Each copy of an
        encrypted file has other bytes."""
        copy = members.get(name)
        try:  # one that cannot be read must not keep the memory closed
            held = manifest_of(backup).files.get(name)
            if held is None or copy is None or held == copy:
                return held is not None and copy is not None
            counts = (copy.schema, copy.memories, copy.turns)
            if not copy.schema or (held.schema, held.memories, held.turns) != counts:
                return False  # no schema: it cannot be read
            earlier = emptied(self.folder / VERIFYING)
            unpack(backup, earlier, [name])
            return self.files.changes(earlier / name, copies / name).is_empty
        except KinmemError:
            return False
        finally:
            shutil.rmtree(self.folder / VERIFYING, ignore_errors=True)

    def _keep(
        self, copies: Path, manifest: Manifest, folder: Path | None, passphrase: str | None
    ) -> Made:
        target = free_name(
            folder or self.folder,
            manifest.made_at,
            manifest.reason,
            encrypted=passphrase is not None,
        )
        with explained(target.parent):
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_elsewhere = target.parent.resolve() != self.folder.resolve()
        if is_elsewhere or passphrase is not None:  # first, so that no place is ever unknown
            self._remember(Elsewhere(target.resolve(), manifest.made_at, passphrase is not None))
        pack(copies, manifest, target, passphrase)
        for name, problem in manifest.damaged.items():
            logger.warning("backed up although damaged: %s: %s", name, problem)
        if not manifest.damaged:  # else older backups may be the only sound ones
            self._rotate(target)
        return Made(target, manifest)

    def _is_due(self) -> bool:
        now = self.clock()
        ages = [now - one.made_at for one in self.listed() if one.reason == "daily"]
        is_recent = any(-timedelta(minutes=5) <= age < DUE for age in ages)
        return not is_recent and bool(self.files.names(self.home))

    def _rotate(self, made: Path) -> None:
        known = [one for one in self.listed() if not one.is_encrypted]
        for one in outdated(known, self.clock(), self._settings.days, self._settings.weeks):
            if one.path != made:
                one.path.unlink(missing_ok=True)

    def _clean_up(self) -> None:
        """Remove what a process that was killed has left."""
        for name in TEMPORARY:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for path in self.folder.glob(".kinmem-*.tmp"):
            path.unlink(missing_ok=True)

    # backups that erasing cannot reach

    def elsewhere(self) -> list[Elsewhere]:
        """Return the backups outside the home's folder, or encrypted, that may still exist: those
        whose folder cannot be looked into now as well."""
        return [one for one in self._places() if one.path.exists() or not one.path.parent.exists()]

    def _places(self) -> list[Elsewhere]:
        try:
            told: Any = json.loads((self.folder / PLACES).read_text(encoding="utf-8"))
            return [
                Elsewhere(Path(one["path"]), datetime.fromisoformat(one["at"]), one["encrypted"])
                for one in told
            ]
        except FileNotFoundError:
            return []
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{self.folder / PLACES}, the list of backups elsewhere, cannot be read; move it"
                " away if you know them all"
            ) from error

    def _remember(self, place: Elsewhere) -> None:
        known = [one for one in self.elsewhere() if one.path != place.path]
        told = [
            {"path": str(one.path), "at": one.made_at.isoformat(), "encrypted": one.is_encrypted}
            for one in (*known, place)
        ]
        write_durably(self.folder / PLACES, json.dumps(told, indent=1))


def write_durably(path: Path, text: str) -> None:
    """Replace a small file, as a whole or not at all."""
    hidden = path.with_name(f".{path.name}.tmp")
    handle = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    hidden.replace(path)


_of_this_process = threading.Lock()


@contextmanager
def _locked(path: Path, patience: float) -> Iterator[None]:
    with explained(path.parent):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    latest = time.monotonic() + patience
    try:
        while True:
            try:
                if fcntl:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= latest:
                    raise _busy() from None
                time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def _busy() -> StoreError:
    return StoreError(
        "another process is making or restoring a backup of this home; try again when it has ended",
        "storage_busy",
    )
