"""What is erased for good is erased from the backups in the home as well.

A backup is opened as a home of its own, the same erasing is done in it, and the result takes its
place. What cannot be done at once is written down, by ids alone, and done by the next daily backup.
Backups that are encrypted or elsewhere cannot be reached; they are named.
"""

import json
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import uuid_utils

from kinmem.backup.archive import Backup, Manifest, emptied, manifest_of, member_of, pack, unpack
from kinmem.backup.backups import COPYING, ERASING, Backups, write_durably
from kinmem.errors import KinmemError, StoreError
from kinmem.models import ErasedFromBackups
from kinmem.store.base import Store
from kinmem.store.history import Mention

WAITING = "erasures"
SHARED = "shared.db"
AT_ONCE = 3.0
"""Seconds that the caller of an erasure waits for the backups; what is left is done later."""
GIVEN_UP = 86_400.0
"""Seconds after which an erasure that was written down and not done will not be done."""
BUSY = 2.0
"""Seconds that it waits for a process that makes a backup; then it leaves all of it for later."""
PASSING = ("storage_busy", "storage_full", "storage_failed", "storage_read_only")
"""Codes of errors that may be gone tomorrow, such as a full disk: the erasure waits until then."""


class ErasesInBackups:
    """Erases what one Kin has erased in the backups of its home."""

    def __init__(self, backups: Backups, kin: str = "") -> None:
        """Without a Kin it only does what is written down, whoever has erased it."""
        self._backups = backups
        self._kin = kin

    @contextmanager
    def erasing(self, ids: Collection[str]) -> Iterator[Callable[[], ErasedFromBackups]]:
        """Write down that the block erases these memories. What is yielded, called after it, erases
        them and what was said that was erased with them; if it never is, the next daily backup
        does."""
        order = self._write_down(ids) if self._reachable() or self._is_begun() else None
        try:
            yield self._reach
        except BaseException:
            if order is not None:
                order.unlink(missing_ok=True)
            raise

    def _reach(self) -> ErasedFromBackups:
        """Do what is written down, as far as AT_ONCE seconds allow; nothing if more waits than this
        erasure, so that many in a row do not wait for the backups each."""
        until = time.monotonic() + AT_ONCE
        count = len(self._reachable())
        waiting = len(self._orders())
        if not count or waiting > 1:
            later = count or int(waiting > 0)
            return ErasedFromBackups(later=later, unreached=self._unreached())
        try:
            with self._backups.alone(BUSY):
                return self._work_through(lambda: time.monotonic() >= until)
        except StoreError as error:
            if error.code != "storage_busy":
                raise
            return ErasedFromBackups(later=count, unreached=self._unreached())

    def catch_up(self, stopping: Callable[[], bool] | None = None) -> ErasedFromBackups:
        """Do what is written down, whichever Kin has erased it."""
        if not self._orders():
            return ErasedFromBackups()
        with self._backups.alone():
            return self._work_through(stopping or _never)

    def before_anything_comes_back(self) -> set[str]:
        """Do it before a restore or a repair takes something from a backup, for whoever holds the
        lock. Returns the names of the backups in which it cannot be done now."""
        if not self._orders():
            return set()
        self._work_through(_never)
        names = {one.path.name for one in self._reachable()}
        return {
            name for order in self._orders_to_do().values() for name in names - {*order["done"]}
        }

    def leave_out(self, folder: Path, names: Collection[str]) -> None:
        """Erase from files that are to be restored the memories that are erased in the home: what
        its history says, and what is written down."""
        for name in sorted(set(names) - {SHARED}):
            kin = Path(name).stem
            ids = self._erased(kin) | self.waiting()
            if held := self._held(folder, names, name, ids):
                with self._backups.files.opened(folder, kin) as store:
                    store.forgetting.erase(sorted(held))
                    store.forgetting.compact()

    def waiting(self) -> set[str]:
        """Return the ids of the memories that are still to be erased somewhere."""
        orders = [json.loads(path.read_text(encoding="utf-8")) for path in self._orders()]
        return {id for order in orders for id in order["ids"]}

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

    @contextmanager
    def erasing_about(
        self, mention: Mention, ids: Collection[str]
    ) -> Iterator[Callable[[], ErasedFromBackups]]:
        """Let nobody make or restore a backup while the block erases everything about a name; `ids`
        are the memories. What is yielded, called after it, erases the same from every backup that
        can be reached.

        If the process ends in between, the next daily backup erases the memories and what was said,
        which are written down by ids; the name is not. Raises StoreError, storage_busy, before the
        block if another process is making or restoring a backup.
        """
        if not (self._reachable() or self._is_begun()):
            yield lambda: ErasedFromBackups(unreached=self._unreached())
            return
        with self._backups.alone():
            order = self._write_down(ids)
            yield lambda: self._erase_about(mention, order)

    def _erase_about(self, mention: Mention, order: Path) -> ErasedFromBackups:
        """`order` is what was written down; it stays if something is left for later."""
        later = 0
        damaged: list[str] = []
        rewritten: list[str] = []
        for backup in self._reachable():
            try:
                if self._in(backup, self._kin, lambda store: _erase_about(store, mention)):
                    rewritten.append(str(backup.path))
            except KinmemError as error:
                if _is_passing(error):
                    later += 1
                else:
                    damaged.append(str(backup.path))
        if not later:
            order.unlink(missing_ok=True)
        return ErasedFromBackups(tuple(rewritten), later, (*damaged, *self._unreached()))

    def _is_begun(self) -> bool:
        """Return whether the first backup may be being made, which is in no list yet."""
        return (self._backups.folder / COPYING).exists()

    def _reachable(self) -> list[Backup]:
        return [one for one in self._backups.listed() if not one.is_encrypted]

    def _unreached(self) -> tuple[str, ...]:
        known = {one.path for one in self._backups.elsewhere()}
        known |= {one.path.resolve() for one in self._backups.listed() if one.is_encrypted}
        known.update(self._put_aside())
        return tuple(sorted(map(str, known)))

    def _put_aside(self) -> Iterator[Path]:
        """Yield damaged files that a restore has replaced and kept beside the home's."""
        for name in (f"kins/{self._kin}.db", SHARED):
            path = self._backups.home / name
            yield from path.parent.glob(f"{path.name}.damaged-*")

    def _write_down(self, ids: Collection[str]) -> Path:
        """Needs no lock: each erasure has a file of its own."""
        folder = self._backups.folder / WAITING
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{uuid_utils.uuid7()}.json"
        write_durably(path, json.dumps({"kin": self._kin, "ids": sorted(ids), "done": []}))
        return path

    def _orders(self) -> list[Path]:
        return sorted((self._backups.folder / WAITING).glob("*.json"))

    def _work_through(self, stopping: Callable[[], bool]) -> ErasedFromBackups:
        """Work through what is written down, the lock being held: each backup is rewritten once for
        all of it."""
        orders = self._orders_to_do()
        rewritten: list[str] = []
        damaged: list[str] = []
        for backup in self._reachable():
            waiting = [one for one in orders.values() if backup.path.name not in one["done"]]
            if not waiting or stopping():
                continue
            try:
                if self._erase_all_in(backup, waiting):
                    rewritten.append(str(backup.path))
            except KinmemError as error:
                if _is_passing(error):
                    continue
                damaged.append(str(backup.path))
            for order in waiting:
                order["done"].append(backup.path.name)
        later = self._put_back(orders)
        return ErasedFromBackups(tuple(rewritten), later, (*damaged, *self._unreached()))

    def _orders_to_do(self) -> dict[Path, dict[str, Any]]:
        orders = {}
        for path in self._orders():
            order: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if not self._is_going_on(path, order):
                orders[path] = order
        return orders

    def _put_back(self, orders: Mapping[Path, dict[str, Any]]) -> int:
        """Keep what is not done in every backup; returns in how many something is left to do."""
        names = {one.path.name for one in self._reachable()}
        left: set[str] = set()
        for path, order in orders.items():
            if missing := names.difference(order["done"]):
                write_durably(path, json.dumps(order))
                left |= missing
            else:
                path.unlink()
        return len(left)

    def _erase_all_in(self, backup: Backup, orders: Sequence[Mapping[str, Any]]) -> bool:
        changed = False
        for kin in sorted({order["kin"] for order in orders}):
            ids = {id for order in orders if order["kin"] == kin for id in order["ids"]}
            turns = self._erased_turns(kin)
            changed |= self._erase_in(backup, kin, ids, turns)
        return changed

    def _erased_turns(self, kin: str) -> Sequence[tuple[int, str]]:
        """Return the messages that the home has erased; none if its file is too damaged to tell:
        those that state what is erased are erased with it in any case."""
        try:
            return self._backups.files.erased_turns(self._backups.home, kin)
        except StoreError as error:
            if error.code != "storage_damaged":
                raise
            return ()

    def _erased(self, kin: str) -> set[str]:
        """Return the memories that the home says are erased; none if its file is too damaged to
        tell."""
        try:
            return self._backups.files.erased(self._backups.home, kin)
        except StoreError as error:
            if error.code == "storage_busy":
                raise
            return set()

    def _held(
        self, folder: Path, names: Collection[str], own: str, ids: Collection[str]
    ) -> set[str]:
        """Return which of these memories the unpacked file of a Kin has, or that of all Kins."""
        files = [name for name in (own, SHARED) if name in names]
        return {id for name in files for id in self._backups.files.ids(folder / name, ids)}

    def _is_going_on(self, path: Path, order: dict[str, Any]) -> bool:
        """Return whether the memories are not erased yet. If the process that was to erase them has
        ended before, they are not erased from backups either."""
        own = self._backups.home / "kins" / f"{order['kin']}.db"
        if not own.exists():
            return False
        try:
            if not self._backups.files.ids(own, order["ids"]):
                return False
        except StoreError as error:
            if error.code != "storage_damaged":
                raise
            return False  # it cannot tell; what was to be erased is
        if time.time() - path.stat().st_mtime > GIVEN_UP:
            path.unlink()
        return True

    def _erase_in(
        self, backup: Backup, kin: str, ids: Collection[str], turns: Collection[tuple[int, str]]
    ) -> bool:
        """Erase memories and messages in one backup; returns whether it had any."""
        files = self._backups.files
        own, shared = f"kins/{kin}.db", SHARED
        with self._unpacked(backup, own, shared) as (folder, manifest):
            if own not in manifest.files:
                return False
            held = self._held(folder, manifest.files, own, ids)
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
        own, shared = f"kins/{kin}.db", SHARED
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


def _never() -> bool:
    return False


def _is_passing(error: KinmemError) -> bool:
    return isinstance(error, StoreError) and error.code in PASSING


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
