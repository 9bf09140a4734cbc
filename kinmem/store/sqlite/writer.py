"""Writing one Kin's memories, whichever of its files holds them: each method is one transaction."""

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from kinmem.errors import MemoryNotFound, StoreError, VersionConflict
from kinmem.models import Chunks, Draft, Knowledge, Memory
from kinmem.store.sqlite import entity_rows
from kinmem.store.sqlite.document_parts import drop_old_texts
from kinmem.store.sqlite.erasing import put_repetitions, scrub, turns_of
from kinmem.store.sqlite.link_rows import LinkChanges
from kinmem.store.sqlite.maintenance import close_conflict
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.queries import time_text
from kinmem.store.sqlite.sharing import KinFiles, move
from kinmem.turns import Batch, Change, Conflict, Repetition

logger = logging.getLogger(__name__)

ERASED_TOGETHER = 100
Noted = dict[str, tuple[int, datetime]]
"""By id: how often it was recalled, and when last."""


class MemoryWriter:
    """Adds, changes and erases one Kin's memories; see Memories, writing."""

    def __init__(
        self, files: KinFiles, links: LinkChanges, renew: Callable[[Collection[str]], None]
    ) -> None:
        """`renew`: see to what was used."""
        self._files = files
        self._links = links
        self._renew = renew
        self._uses = Uses()

    def add(self, drafts: Sequence[Draft], *, batch: str | None = None) -> list[str]:
        ids = [draft.memory.id for draft in drafts]
        for scope, file in self._files.by_scope.items():
            places = [at for at, draft in enumerate(drafts) if draft.memory.scope == scope]
            if not places:
                continue
            mine = [drafts[at] for at in places]
            self._admit([draft.chunks for draft in mine])
            with file.changing() as db:
                stand = file.add(db, mine, self._files.clock(), batch=batch)
            for at, id in zip(places, stand, strict=True):
                ids[at] = id
        return ids

    def update(
        self,
        id: str,
        changes: Mapping[str, Any],
        *,
        chunks: Chunks | None = None,
        if_version: int | None = None,
        reason: str | None = None,
        action: str = "updated",
        batch: str | None = None,
        reverts: Sequence[int] = (),
        knowledge: Knowledge | None = None,
    ) -> Memory:
        change = Change(id, changes, action, reason, if_version, chunks, reverts, knowledge)
        source = self._files.file_of(id)
        target = self._files.by_scope[changes["scope"]] if "scope" in changes else source
        if chunks is not None:
            self._admit([chunks])
        self._files.finish_moves([id])
        heirs = self._links.heirs([id] if "superseded_by" in changes else ())
        try:
            with self._files.changing(source, target) as dbs:
                new = self._change(dbs, change, batch)
        except MemoryNotFound:  # or another process has moved it since it was looked up
            with self._files.changing(*self._files) as dbs:
                new = self._change(dbs, change, batch)
        self._links.take_over(heirs)
        if "scope" in changes:
            self._files.end_move(new)
        return new

    def _change(
        self,
        dbs: Mapping[MemoryFile, apsw.Connection],
        change: Change,
        batch: str | None,
    ) -> Memory:
        source, row, old = self._files.mine(dbs, change.id)
        if change.version is not None and old.version != change.version:
            raise VersionConflict(change.id, change.version, old.version)
        fields = change.fields
        changed = {name: value for name, value in fields.items() if getattr(old, name) != value}
        if not changed:
            return old
        now, chunks = self._files.clock(), change.chunks
        if "state" in changed:
            changed.setdefault("state_at", now)
        if "content_hash" in changed or "content" in changed:  # a document may begin as it did
            changed.setdefault("content_updated_at", now)
        else:
            chunks = None
        new = source.change(dbs[source], row, old, changed, chunks)
        if change.knowledge is not None:
            entity_rows.put(dbs[source], row, change.knowledge, now)
        moved = {name: changed.pop(name) for name in ["scope"] if name in changed}
        why = change.reason, batch, change.reverts
        if changed:  # noted in the source: what it said before a move is nobody else's
            before = {name: getattr(old, name) for name in changed}
            source.note(dbs[source], now, old, change.action, before, changed, *why)
        if moved:
            target = self._files.by_scope[new.scope]
            move(new, row, source, dbs[source], target, dbs[target])
            target.note(dbs[target], now, new, "moved", {"scope": old.scope}, moved, *why)
            target.commit(dbs[target])  # before the source does: it is always somewhere
        return new

    def apply(self, batch: Batch) -> list[str] | None:
        self._admit([draft.chunks for draft in batch.drafts])
        self._admit([change.chunks for change in batch.changes if change.chunks is not None])
        file = self._files.by_scope[batch.scope]
        self._files.finish_moves([change.id for change in batch.changes])
        changes_memories = bool(batch.drafts or batch.changes)
        gone = [one.id for one in batch.changes if "superseded_by" in one.fields]
        heirs = self._links.heirs(gone if batch.scope == "shared" else ())
        try:
            with file.changing() if changes_memories else file.database.writing() as db:
                ids = apply(file, db, batch, self._files.kin, self._files.clock())
        except LearnedAlready:
            return None
        self._links.take_over(heirs)
        return ids

    def erase(self, id: str) -> None:
        self._files.file_of(id)
        if not self._erase([id]):
            raise MemoryNotFound(id)
        self._empty_logs()

    def erase_all(self, ids: Collection[str]) -> int:
        """As erase, for those that are there, in transactions of a hundred; how many."""
        scopes = {
            id: one.scope
            for id, one in self._files.memories(ids).items()
            if one.kin == self._files.kin
        }
        erased = 0
        for scope in self._files.by_scope:
            mine = [id for id in ids if scopes.get(id) == scope]
            for start in range(0, len(mine), ERASED_TOGETHER):
                erased += self._erase(mine[start : start + ERASED_TOGETHER])
        self._empty_logs()
        return erased

    def _erase(self, ids: Sequence[str], action: str = "erased") -> int:
        """How many were there; all in one file, unless they are moved meanwhile."""
        with self._files.changing(*self._files) as dbs:
            found = [(file, file.find(dbs[file], id)) for file in dbs for id in ids]
            mine = [(file, one[1]) for file, one in found if one and one[1].kin == self._files.kin]
            holders = {memory.id: file for file, memory in mine}
            repeating = {id: turns_of(dbs[self._files.own], [id]) for id in holders}
            for memory in {memory.id: memory for _, memory in mine}.values():
                holder = holders[memory.id]
                holder.note(dbs[holder], self._files.clock(), memory, action, {}, {})
            if holders and self._files.own.write is not None:
                self._files.numbers.keep(dbs[self._files.own], self._files.own.write)
            # Who holds them comes last: cut short, it can be asked for again.
            for file in sorted(dbs, key=lambda file: file in holders.values()):
                for _, memory in mine:
                    file.delete(dbs[file], memory.id)
                    scrub(dbs[file], memory, repeating[memory.id])
                file.commit(dbs[file])
            return len(holders)

    def _empty_logs(self) -> None:
        for file in self._files:
            try:
                file.database.truncate_wal()
            except StoreError as error:  # it is erased; only old pages wait a little longer
                logger.warning("what was erased stays in a -wal file for now: %s", error)

    def in_bin(self, before: datetime) -> list[str]:
        return [
            id
            for file in self._files
            for (id,) in file.database.rows(
                "SELECT id FROM memories WHERE deleted_at < ? AND state = 'deleted' AND kin = ?",
                (time_text(before), self._files.kin),
            )
        ]

    def purge(
        self, before: datetime, limit: int | None = None, spared: Collection[str] = ()
    ) -> int:
        erased = 0
        for id in [id for id in self.in_bin(before) if id not in spared][:limit]:
            erased += self._erase([id], "purged")  # 0: another process purges as well
        if erased:
            self._empty_logs()
        for file in self._files:
            drop_old_texts(file.database, self._files.kin, before)
        return erased

    def count_use(self, ids: Iterable[str], at: datetime) -> None:
        self._uses.count(ids, at)

    def flush_use(self) -> None:
        used = self._uses.flush(self._files)
        if used:
            self._renew(used)

    def set_places(self, places: Mapping[str, str | None]) -> None:
        for file in self._files:
            with file.database.writing() as db:
                db.executemany(
                    "UPDATE memories SET place = ? WHERE id = ?",
                    [(place, id) for id, place in places.items()],
                )

    def _admit(self, parts: Sequence[Chunks]) -> None:
        """Enroll whoever made these vectors, before the transaction that stores them."""
        makers = {(c.embedder, c.vectors.shape[1]) for c in parts if c.vectors is not None}
        for embedder, dimension in makers:
            if embedder is not None:
                for file in self._files:
                    file.vectors.enroll(embedder, dimension)


class LearnedAlready(Exception):
    """Somebody else has learned from one of the messages; the transaction is to be undone."""


def apply(file: MemoryFile, db: apsw.Connection, batch: Batch, kin: str, at: datetime) -> list[str]:
    """The ids under which the drafts stand. Raises LearnedAlready."""
    if batch.scope == "shared" and (
        batch.learned or batch.conflicts or batch.settled or batch.repeated
    ):
        raise ValueError("messages, repetitions and conflicts are a Kin's own")
    if not _mark_learned(db, batch.learned, at):
        raise LearnedAlready
    ids = file.add(db, batch.drafts, at, batch=batch.name)
    stands = {draft.memory.id: id for draft, id in zip(batch.drafts, ids, strict=True)}
    for change in batch.changes:
        _change(file, db, change, stands, kin, at, batch.name)
    _insert_parents(db, batch.parents, stands)
    _insert_conflicts(db, batch.conflicts, stands, at)
    for conflict, status in batch.settled.items():
        close_conflict(db, conflict, status)
    if batch.scope == "private":
        known = (
            draft.memory for draft in batch.drafts if stands[draft.memory.id] != draft.memory.id
        )
        again = [one for memory in known for one in Repetition.of(memory, memory.id)]
        put_repetitions(db, [*batch.repeated, *again], stands)
    return ids


def _mark_learned(db: apsw.Connection, messages: Sequence[int], at: datetime) -> bool:
    """Whether all of them were waiting; a turn is learned from once, whoever else tries."""
    if not messages:
        return True
    db.execute(
        "UPDATE turns SET learned_at = ?, problem = NULL, parked = 0 WHERE learned_at IS NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (time_text(at), json.dumps(list(messages))),
    )
    return db.changes() == len(set(messages))


def _change(
    file: MemoryFile,
    db: apsw.Connection,
    change: Change,
    stands: Mapping[str, str],
    kin: str,
    at: datetime,
    name: str | None,
) -> None:
    found = file.find(db, change.id)
    if found is None or found[1].kin != kin:
        raise MemoryNotFound(change.id)
    row, old = found
    if change.version is not None and old.version != change.version:
        raise VersionConflict(change.id, change.version, old.version)
    fields = dict(change.fields)
    if "scope" in fields:
        raise ValueError("a batch stays in one scope")
    if fields.get("superseded_by") in stands:
        fields["superseded_by"] = stands[fields["superseded_by"]]
    if fields.get("superseded_by") == change.id:
        return  # it was stored already, and nothing takes its place
    fields = {field: value for field, value in fields.items() if getattr(old, field) != value}
    if not fields:
        return
    if "state" in fields:
        fields.setdefault("state_at", at)
    rewritten = "content_hash" in fields or "content" in fields
    if rewritten:
        fields.setdefault("content_updated_at", at)
    before = {field: getattr(old, field) for field in fields}
    file.change(db, row, old, fields, change.chunks if rewritten else None)
    if rewritten and change.knowledge is not None:
        entity_rows.put(db, row, change.knowledge, at)
    file.note(db, at, old, change.action, before, fields, change.reason, name, change.reverts)


def _insert_parents(
    db: apsw.Connection, parents: Mapping[str, Sequence[str]], stands: Mapping[str, str]
) -> None:
    pairs = [
        (stands.get(child, child), stands.get(parent, parent))
        for child, many in parents.items()
        for parent in many
    ]
    db.executemany(
        "INSERT OR IGNORE INTO lineage (child, parent) VALUES (?, ?)",
        [pair for pair in pairs if pair[0] != pair[1]],
    )


def _insert_conflicts(
    db: apsw.Connection, conflicts: Sequence[Conflict], stands: Mapping[str, str], at: datetime
) -> None:
    for one in conflicts:
        newer, older = stands.get(one.newer, one.newer), stands.get(one.older, one.older)
        if newer != older:
            db.execute(
                "INSERT INTO conflicts (newer, older, kind, mode, status, reason, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (newer, older) DO NOTHING",
                (newer, older, one.kind, one.mode, one.status, one.reason, time_text(one.at or at)),
            )


class Uses:
    """What count_use has noted and flush_use has not written yet."""

    def __init__(self) -> None:
        self._noted: Noted = {}
        self._lock = threading.Lock()

    def count(self, ids: Iterable[str], at: datetime) -> None:
        """One more use of each."""
        self._note({id: (1, at)} for id in ids)

    def flush(self, files: Iterable[MemoryFile]) -> list[str]:
        """Write into the files that hold them; whose were written. What could not be stays noted.

        Ids that are in no file are forgotten.
        """
        written: list[str] = []
        with self._lock:
            noted, self._noted = self._noted, {}
        try:
            for file in files if noted else ():
                here = _held(file, noted)
                if here:  # a file is locked only if there is something to write
                    _write(file, {id: noted[id] for id in here})
                    for id in here:
                        del noted[id]
                    written += here
            noted = {}
        finally:
            self._note([noted])
        return written

    def _note(self, several: Iterable[Noted]) -> None:
        with self._lock:
            for noted in several:
                for id, (more, at) in noted.items():
                    count, last = self._noted.get(id, (0, at))
                    self._noted[id] = (count + more, max(last, at))


def _held(file: MemoryFile, noted: Noted) -> list[str]:
    rows = file.database.rows(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(noted)),),
    )
    return [id for (id,) in rows]


def _write(file: MemoryFile, uses: Noted) -> None:
    with file.database.writing() as db:
        db.executemany(
            "UPDATE memories SET recalled_count = recalled_count + ?, recalled_at = ? WHERE id = ?",
            [(count, time_text(at), id) for id, (count, at) in uses.items()],
        )
