"""What one step of learning or upkeep does to one file, inside a transaction of the caller's."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import apsw

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.store.sqlite import entities, repetitions
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.rows import time_text
from kinmem.turns import Batch, Change, Conflict, Repetition


class LearnedAlready(Exception):
    """Somebody else has learned from one of the messages; the transaction is to be undone."""


def apply(book: Book, db: apsw.Connection, batch: Batch, kin: str, at: datetime) -> list[str]:
    """The ids under which the drafts stand. Raises LearnedAlready."""
    if batch.scope == "shared" and (
        batch.learned or batch.conflicts or batch.settled or batch.repeated
    ):
        raise ValueError("messages, repetitions and conflicts are a Kin's own")
    if not _mark_learned(db, batch.learned, at):
        raise LearnedAlready
    ids = book.add(db, batch.drafts, at, batch=batch.name)
    stands = {draft.memory.id: id for draft, id in zip(batch.drafts, ids, strict=True)}
    for change in batch.changes:
        _change(book, db, change, stands, kin, at, batch.name)
    _insert_parents(db, batch.parents, stands)
    _insert_conflicts(db, batch.conflicts, stands, at)
    for conflict, status in batch.settled.items():
        close_conflict(db, conflict, status)
    if batch.scope == "private":
        known = (
            draft.memory for draft in batch.drafts if stands[draft.memory.id] != draft.memory.id
        )
        again = [one for memory in known for one in Repetition.of(memory, memory.id)]
        repetitions.put(db, [*batch.repeated, *again], stands)
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
    book: Book,
    db: apsw.Connection,
    change: Change,
    stands: Mapping[str, str],
    kin: str,
    at: datetime,
    name: str | None,
) -> None:
    found = book.find(db, change.id)
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
    book.change(db, row, old, fields, change.chunks if rewritten else None)
    if rewritten and change.knowledge is not None:
        entities.put(db, row, change.knowledge, at)
    book.note(db, at, old, change.action, before, fields, change.reason, name, change.reverts)


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


def close_conflict(db: apsw.Connection, id: int, status: str) -> None:
    """See Journal.close_conflict."""
    db.execute("UPDATE conflicts SET status = ? WHERE id = ?", (status, id))


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
