"""Writes one Kin's memories. Each method is one transaction on the own file; published copies
follow."""

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kinmem.errors import MemoryNotFound, StoreError, VersionConflict
from kinmem.models import Chunks, Draft, Knowledge, Memory
from kinmem.models.turns import Batch, Change, Conflict, Repetition
from kinmem.store.base import REVIEW
from kinmem.store.history import REFUSALS
from kinmem.store.sql import entity_rows
from kinmem.store.sql.damage import again
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.document_rows import drop_old_texts
from kinmem.store.sql.forgetting import scrub, turns_of
from kinmem.store.sql.history_rows import Line
from kinmem.store.sql.linked_memories import LinkChanges
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import IN_IDS, as_text, time_text
from kinmem.store.sql.sharing import Files

logger = logging.getLogger(__name__)
ERASED_TOGETHER = 100


class MemoryWriter:
    """Adds, changes and erases one Kin's memories; see Memories, writing."""

    def __init__(
        self, files: Files, links: LinkChanges, renew: Callable[[Collection[str]], None]
    ) -> None:
        """`renew` updates priority and state of memories that were used, given by their ids."""
        self._files = files
        self._links = links
        self._renew = renew

    @again
    def add(self, drafts: Sequence[Draft], *, batch: str | None = None) -> list[str]:
        if not drafts:
            return []
        self._admit([draft.chunks for draft in drafts])
        with self._files.changing() as db:
            return self._files.own.add(db, drafts, self._files.clock(), batch=batch)

    @again
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
        self._check_is_mine(id)
        if chunks is not None:
            self._admit([chunks])
        if "scope" in changes:
            self._files.copies.catch_up()  # how often others have used it goes with the copy
        heirs = self._links.heirs([id]) if "superseded_by" in changes else {}
        with self._files.changing() as db:
            new = _change(self._files.own, db, change, changes, self._files.clock(), batch)
        if heirs:
            self._links.take_over(heirs)
        return new

    @again
    def apply(self, batch: Batch) -> list[str] | None:
        self._admit([draft.chunks for draft in batch.drafts])
        self._admit([change.chunks for change in batch.changes if change.chunks is not None])
        changes_memories = bool(batch.drafts or batch.changes)
        gone = [one.id for one in batch.changes if "superseded_by" in one.fields]
        heirs = self._links.heirs(gone) if gone else {}
        try:
            with self._files.changing() if changes_memories else self._files.writing() as db:
                ids = apply(self._files.own, db, batch, self._files.clock())
        except LearnedAlready:
            return None
        if heirs:
            self._links.take_over(heirs)
        return ids

    def _check_is_mine(self, id: str) -> None:
        """Raise MemoryNotFound if the id is not in the own file or not an id at all."""
        if not self._files.own.by_ids([id]):
            raise MemoryNotFound(id)

    def erase(self, id: str) -> None:
        if not self._is_waiting(id):
            self._check_is_mine(id)
            self._erase([id])
        self._files.copies.publish()
        self._empty_logs()

    def _is_waiting(self, id: str) -> bool:
        """Return whether it is erased while its copy is not."""
        waiting = (
            f"SELECT 1 FROM outbox WHERE memory {IN_IDS}"
            " AND memory NOT IN (SELECT id FROM memories)"
        )
        return bool(self._files.own.database.rows(waiting, {"ids": json.dumps([id])}))

    def erase_all(self, ids: Collection[str]) -> int:
        """Erase those that exist, in transactions of a hundred; returns how many."""
        wanted = list(ids)
        erased = sum(
            self._erase(wanted[start : start + ERASED_TOGETHER])
            for start in range(0, len(wanted), ERASED_TOGETHER)
        )
        self._files.copies.publish()
        self._empty_logs()
        return erased

    @again
    def _erase(self, ids: Sequence[str], action: str = "erased") -> int:
        """Erase memories in one transaction; returns how many there were."""
        own, now = self._files.own, self._files.clock()
        with own.changing() as db:
            found = [one[1] for id in ids if (one := own.find(db, id))]
            repeating = {memory.id: turns_of(db, [memory.id]) for memory in found}
            own.note_all(db, now, [Line(memory.id, action, {}, {}) for memory in found])
            for memory in found:
                own.delete(db, memory.id)
                scrub(db, own.words, memory, repeating[memory.id])
            return len(found)

    def _empty_logs(self) -> None:
        for file in self._files:
            try:
                file.database.empty_log()
            except StoreError as error:  # it is erased; only old pages wait a little longer
                logger.warning("what was erased stays in a -wal file for now: %s", error)

    def in_bin(self, before: datetime) -> list[str]:
        rows = self._files.own.database.rows(
            "SELECT id FROM memories WHERE deleted_at < ? AND state = 'deleted'",
            (time_text(before),),
        )
        return [id for (id,) in rows]

    def purge(
        self, before: datetime, limit: int | None = None, spared: Collection[str] = ()
    ) -> int:
        erased = 0
        for id in [id for id in self.in_bin(before) if id not in spared][:limit]:
            erased += self._erase([id], "purged")  # 0: another process purges as well
        if erased:
            self._files.copies.try_to_publish()
            self._empty_logs()
        drop_old_texts(self._files.own.database, before)
        return erased

    @again
    def flush_use(self) -> None:
        used = self._files.uses.flush(self._files)
        self._files.copies.catch_up()
        if used:
            self._renew(used)

    @again
    def set_places(self, places: Mapping[str, str | None]) -> None:
        with self._files.writing() as db:
            db.run_each(
                "UPDATE memories SET place = ? WHERE id = ?",
                [(place, id) for id, place in places.items()],
            )

    def _admit(self, parts: Sequence[Chunks]) -> None:
        """Enroll the embedders of these vectors, before the transaction that stores them."""
        makers = {(c.embedder, c.vectors.shape[1]) for c in parts if c.vectors is not None}
        for embedder, dimension in makers:
            if embedder is not None:
                for file in self._files:
                    file.vectors.enroll(embedder, dimension)


class LearnedAlready(Exception):
    """One of the messages was learned from by another process; the transaction must be rolled
    back."""


def apply(file: MemoryFile, db: Transaction, batch: Batch, at: datetime) -> list[str]:
    """Apply a batch; returns the ids under which the drafts are stored. Raises LearnedAlready."""
    if not _mark_learned(db, batch.learned, at):
        raise LearnedAlready
    ids = file.add(db, batch.drafts, at, batch=batch.name)
    stands = {draft.memory.id: id for draft, id in zip(batch.drafts, ids, strict=True)}
    for change in batch.changes:
        fields = dict(change.fields)
        if (heir := fields.get("superseded_by")) in stands:
            fields["superseded_by"] = stands[heir]
        if fields.get("superseded_by") != change.id:  # else it was stored already, and stays
            _change(file, db, change, fields, at, batch.name)
    _insert_parents(db, batch.parents, stands)
    for conflict, status in batch.settled.items():
        close_conflict(db, conflict, status)
    _insert_conflicts(db, batch.conflicts, stands, at)
    known = (draft.memory for draft in batch.drafts if stands[draft.memory.id] != draft.memory.id)
    again = [one for memory in known for one in Repetition.of(memory, memory.id)]
    put_repetitions(db, [*batch.repeated, *again], stands)
    inherit_repetitions(db, [one.id for one in batch.changes if one.action == "consolidated"])
    return ids


def _mark_learned(db: Transaction, messages: Sequence[int], at: datetime) -> bool:
    """Mark messages as learned from; returns whether all were waiting. A turn is learned from only
    once, whoever tries."""
    if not messages:
        return True
    marked = db.run(
        "UPDATE turns SET learned_at = ?, problem = NULL, parked = FALSE WHERE learned_at IS NULL"
        " AND id IN NUMBERED(?)",
        (time_text(at), json.dumps(list(messages))),
    )
    return marked == len(set(messages))


def _change(
    file: MemoryFile,
    db: Transaction,
    change: Change,
    fields: Mapping[str, Any],
    at: datetime,
    batch: str | None,
) -> Memory:
    """Set these fields and return the updated memory. Writes nothing if nothing changes, unless it
    reverts earlier writes, which would still count as in force."""
    found = file.find(db, change.id)
    if found is None:
        raise MemoryNotFound(change.id)
    row, old = found
    if change.version is not None and old.version != change.version:
        raise VersionConflict(change.id, change.version, old.version)
    changed = {name: value for name, value in fields.items() if getattr(old, name) != value}
    answers = bool(change.refused or change.asked_again)
    if not changed and not change.reverts and not answers:
        return old
    _answer(db, change, at)
    if answers and not changed:  # the memory itself stays at its version
        file.note_all(db, at, _lines(old, change, changed), batch)
        return old
    if "state" in changed:
        changed.setdefault("state_at", at)
    if "content_hash" in changed:  # the same hash: the same words, if with another stop or quotes
        changed.setdefault("content_updated_at", at)
    rewritten = "content_hash" in changed or "content" in changed  # a document may begin as it did
    new = file.change(db, row, old, changed, change.chunks if rewritten else None)
    if rewritten and change.knowledge is not None:
        entity_rows.put(db, row, change.knowledge, at)
    file.note_all(db, at, _lines(old, change, changed), batch)
    return new


def _lines(old: Memory, change: Change, changed: Mapping[str, Any]) -> list[Line]:
    """Return the history lines of a change: one without fields if it only reverts writes. A change
    of scope gets a line of its own."""
    moved = {name: value for name, value in changed.items() if name == "scope"}
    other = {name: value for name, value in changed.items() if name != "scope"}
    lines = [
        Line(
            old.id,
            action,
            {name: getattr(old, name) for name in after},
            after,
            change.reason,
            change.reverts,
        )
        for action, after in ((change.action, other), ("moved", moved))
        if after or (not changed and action == change.action)
    ]
    first = lines[0]
    before = {REFUSALS: [sorted(ids) for ids in change.asked_again]} if change.asked_again else {}
    after = {REFUSALS: [sorted(ids) for ids in change.refused]} if change.refused else {}
    lines[0] = replace(first, before={**first.before, **before}, after={**first.after, **after})
    return lines


def _answer(db: Transaction, change: Change, at: datetime) -> None:
    """Store the refusals of a change, and delete those that it takes back."""
    for ids in change.refused:
        refuse(db, REVIEW, ids, at)
    for ids in change.asked_again:
        db.run(
            "DELETE FROM refusals WHERE kind = ? AND ids = ?", (REVIEW, as_text(sorted(set(ids))))
        )


def refuse(db: Transaction, kind: str, ids: Collection[str], at: datetime) -> None:
    """See Decisions.refuse."""
    db.run(
        "INSERT INTO refusals (kind, ids, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (kind, as_text(sorted(set(ids))), time_text(at)),
    )


def _insert_parents(
    db: Transaction, parents: Mapping[str, Sequence[str]], stands: Mapping[str, str]
) -> None:
    pairs = [
        (stands.get(child, child), stands.get(parent, parent))
        for child, many in parents.items()
        for parent in many
    ]
    db.run_each(
        "INSERT INTO lineage (child, parent) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [pair for pair in pairs if pair[0] != pair[1]],
    )


def _insert_conflicts(
    db: Transaction, conflicts: Sequence[Conflict], stands: Mapping[str, str], at: datetime
) -> None:
    """Record two memories once, whichever of them a later change makes the newer one."""
    for one in conflicts:
        newer, older = stands.get(one.newer, one.newer), stands.get(one.older, one.older)
        if newer != older:
            db.run(
                "INSERT INTO conflicts (newer, older, kind, mode, status, reason, chance, at)"
                " SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM conflicts"
                " WHERE newer = ? AND older = ? AND status = 'open')"
                " ON CONFLICT (newer, older) DO NOTHING",
                (newer, older, one.kind, one.mode, one.status, one.reason, one.chance)
                + (time_text(one.at or at), older, newer),
            )


def put_repetitions(
    db: Transaction, found: Sequence[Repetition], stands: Mapping[str, str]
) -> None:
    """Record which turns repeat memories, if the turns are stored. `stands` holds the ids under
    which drafts were stored."""
    db.run_each(
        """
        INSERT INTO repetitions (session, turn, memory, role)
        SELECT :session, :turn, :memory, :role
        WHERE EXISTS (SELECT 1 FROM turns WHERE session = :session AND turn = :turn)
        ON CONFLICT DO NOTHING
        """,
        [
            {
                "session": one.session,
                "turn": turn,
                "memory": stands.get(one.memory, one.memory),
                "role": one.role,
            }
            for one in found
            for turn in one.turns
        ],
    )


def inherit_repetitions(db: Transaction, merged: Sequence[str]) -> None:
    """Record for the memory that stands for a merged one which turns repeat the latter."""
    db.run(
        """
        INSERT INTO repetitions (session, turn, memory, role)
        SELECT r.session, r.turn, m.superseded_by, r.role
        FROM repetitions r JOIN memories m ON m.id = r.memory
        WHERE r.memory IN LISTED(?) AND m.superseded_by IS NOT NULL
        ON CONFLICT DO NOTHING
        """,
        (json.dumps(list(merged)),),
    )


def close_conflict(db: Transaction, id: int, status: str) -> None:
    """See Decisions.close_conflict."""
    db.run("UPDATE conflicts SET status = ? WHERE id = ?", (status, id))
