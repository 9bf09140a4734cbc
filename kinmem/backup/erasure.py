"""What is erased for good is erased from the backups in the home as well.

A backup is opened as a home of its own, the same erasing is done in it, and the result takes its
place. What cannot be done at once is written down, by ids alone, and done by the next daily backup.
Backups that are encrypted or elsewhere cannot be reached; they are named.
"""

import json
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kinmem.backup.archive import Backup, Manifest, emptied, manifest_of, member_of, pack, unpack
from kinmem.backup.backups import ERASING, Backups, write_durably
from kinmem.errors import KinmemError, StoreError
from kinmem.store.base import Store
from kinmem.store.mention import Mention

WAITING = "erasures.json"
AT_ONCE = 5.0
"""Seconds that the caller of an erasure waits for the backups; what is left is done later."""
BUSY = 2.0
"""Seconds that it waits for a process that is making a backup."""


@dataclass(frozen=True, slots=True)
class Reached:
    """How far an erasure has come in the backups."""

    rewritten: tuple[Path, ...] = ()
    """Backups that had it."""
    later: int = 0
    """Backups in the home that are yet to be looked at, by the next daily backup."""
    unreached: tuple[Path, ...] = ()
    """Backups that are encrypted or elsewhere, or damaged, and may have it."""


class ErasesInBackups:
    """Erases what one Kin has erased in the backups of its home."""

    def __init__(self, backups: Backups, kin: str) -> None:
        self._backups = backups
        self._kin = kin

    def erase(self, ids: Collection[str], seconds: float = AT_ONCE) -> Reached:
        """Erase memories that the Kin has erased, and what was said that was erased with them."""
        backups = self._backups
        if not self._reachable():
            return Reached(unreached=self._unreached())
        try:
            with backups.alone(BUSY):
                self._write_down(ids)
                return self._catch_up(seconds)
        except StoreError as error:
            if error.code != "storage_busy":
                raise
            with suppress(StoreError), backups.alone():
                self._write_down(ids)
            return Reached(later=len(self._reachable()), unreached=self._unreached())

    def catch_up(self, stopping: Callable[[], bool] = bool) -> Reached:
        """Do what is written down, whichever Kin has erased it."""
        if not (self._backups.folder / WAITING).exists():
            return Reached()
        with self._backups.alone():
            return self._catch_up(None, stopping)

    def naming(self, mention: Mention) -> list[Path]:
        """Return the backups in which something of this Kin's mentions a name."""
        if not self._reachable():
            return []
        with self._backups.alone():
            return [
                backup.path
                for backup in self._reachable()
                if self._in(backup, self._kin, lambda store: _mentions(store, mention), keep=False)
            ]

    def erase_about(self, mention: Mention) -> Reached:
        """Erase everything about a name from every backup that can be reached."""
        if not self._reachable():
            return Reached(unreached=self._unreached())
        damaged: list[Path] = []
        rewritten: list[Path] = []
        with self._backups.alone():
            for backup in self._reachable():
                try:
                    if self._in(backup, self._kin, lambda store: _erase_about(store, mention)):
                        rewritten.append(backup.path)
                except KinmemError:
                    damaged.append(backup.path)
        return Reached(tuple(rewritten), 0, (*damaged, *self._unreached()))

    def _reachable(self) -> list[Backup]:
        return [one for one in self._backups.listed() if not one.is_encrypted]

    def _unreached(self) -> tuple[Path, ...]:
        known = {one.path for one in self._backups.elsewhere()}
        known |= {one.path for one in self._backups.listed() if one.is_encrypted}
        return tuple(sorted(known))

    def _write_down(self, ids: Collection[str]) -> None:
        waiting = self._waiting()
        waiting.append({"kin": self._kin, "ids": sorted(ids), "done": []})
        self._save(waiting)

    def _waiting(self) -> list[dict[str, Any]]:
        path = self._backups.folder / WAITING
        if not path.exists():
            return []
        waiting: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return waiting

    def _save(self, waiting: list[dict[str, Any]]) -> None:
        path = self._backups.folder / WAITING
        if waiting:
            write_durably(path, json.dumps(waiting))
        else:
            path.unlink(missing_ok=True)

    def _catch_up(self, seconds: float | None, stopping: Callable[[], bool] = bool) -> Reached:
        """Work through what is written down, the lock being held."""
        until = None if seconds is None else time.monotonic() + seconds
        waiting = self._waiting()
        rewritten: list[Path] = []
        damaged: list[Path] = []
        later: set[Path] = set()
        for order in waiting:
            turns = self._backups.files.erased_turns(self._backups.home, order["kin"])
            for backup in self._reachable():
                if backup.path.name in order["done"]:
                    continue
                if stopping() or (until is not None and time.monotonic() >= until):
                    later.add(backup.path)
                    continue
                try:
                    if self._erase_in(backup, order["kin"], order["ids"], turns):
                        rewritten.append(backup.path)
                except KinmemError:
                    damaged.append(backup.path)
                order["done"].append(backup.path.name)
        self._save(waiting if later else [])
        return Reached(
            tuple(dict.fromkeys(rewritten)),
            len(later),
            (*dict.fromkeys(damaged), *self._unreached()),
        )

    def _erase_in(
        self, backup: Backup, kin: str, ids: Collection[str], turns: Collection[tuple[int, str]]
    ) -> bool:
        """Erase memories and messages in one backup; returns whether it had any."""
        files = self._backups.files
        own, shared = f"kins/{kin}.db", "shared.db"
        with self._unpacked(backup, own, shared) as (folder, manifest):
            if own not in manifest.files:
                return False
            held = {
                id
                for name in (own, shared)
                if name in manifest.files
                for id in files.ids(folder / name, ids)
            }
            has_turns = manifest.files[own].schema > 1
            said = files.erase_turns(folder, kin, list(turns)) if has_turns else 0
            if not (held or said):
                return False
            with files.opened(folder, kin) as store:
                store.forgetting.erase(sorted(held))
                store.forgetting.compact()
            self._take_its_place(backup, folder, manifest, (own, shared))
            return True

    def _in(
        self, backup: Backup, kin: str, work: Callable[[Store], bool], *, keep: bool = True
    ) -> bool:
        """Let `work` change a Kin's memory in a backup; what it returns."""
        own, shared = f"kins/{kin}.db", "shared.db"
        with self._unpacked(backup, own, shared) as (folder, manifest):
            if own not in manifest.files:
                return False
            with self._backups.files.opened(folder, kin) as store:
                changed = work(store)
            if changed and keep:
                self._take_its_place(backup, folder, manifest, (own, shared))
            return changed

    @contextmanager
    def _unpacked(self, backup: Backup, *names: str) -> Iterator[tuple[Path, Manifest]]:
        folder = emptied(self._backups.folder / ERASING)
        try:
            manifest = manifest_of(backup.path)
            wanted = [name for name in names if name in manifest.files]
            yield folder, unpack(backup.path, folder, wanted) if wanted else manifest
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _take_its_place(
        self, backup: Backup, folder: Path, manifest: Manifest, changed: Collection[str]
    ) -> None:
        rest = [name for name in manifest.files if name not in changed]
        unpack(backup.path, folder, rest)
        members = dict(manifest.files)
        for name in changed:
            facts = self._backups.files.facts(folder / name)
            members[name] = member_of(folder / name, facts.schema, facts.memories, facts.turns)
        pack(folder, replace(manifest, files=members), backup.path)


def _mentions(store: Store, mention: Mention) -> bool:
    traces = store.forgetting.traces(mention)
    return bool(traces.memories or traces.counts)


def _erase_about(store: Store, mention: Mention) -> bool:
    traces = store.forgetting.traces(mention)
    if not (traces.memories or traces.counts):
        return False
    store.forgetting.erase([memory.id for memory in traces.memories])
    store.forgetting.blank(mention)
    store.forgetting.compact()
    return True
