"""Reads all that a Kin's own file holds as records, in an order that depends on the data alone."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from kinmem.errors import MemoryNotFound
from kinmem.models import Memory
from kinmem.models.turns import Conflict
from kinmem.store.records import (
    IMPORTED,
    TYPES,
    ChunkRecord,
    ConflictRecord,
    EarlierText,
    EntityRecord,
    ErasedRecord,
    Header,
    Line,
    LinkRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    RefusalRecord,
    RelationRecord,
    RepeatedIn,
    ShownRecord,
    SnapshotRecord,
    SummaryRecord,
    TierRecord,
)
from kinmem.store.sql import document_rows
from kinmem.store.sql.damage import Row, readable
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.link_rows import FIELDS as LINK
from kinmem.store.sql.link_rows import link_of
from kinmem.store.sql.memory_rows import COLUMNS, moment, sound
from kinmem.store.sql.turn_rows import MESSAGE, SNAPSHOT, message_of, snapshot_of

# Memories and messages that are read at once.
PAGE = 500
COUNTS = f"""
    SELECT (SELECT count(*) FROM memories),
        (SELECT count(DISTINCT memory_id) FROM history WHERE kin = :kin
            AND action <> '{IMPORTED}' AND memory_id NOT IN (SELECT id FROM memories)),
        (SELECT count(*) FROM links), (SELECT count(*) FROM conflicts),
        (SELECT count(*) FROM refusals), (SELECT count(*) FROM turns),
        (SELECT count(*) FROM snapshots), (SELECT count(*) FROM shown)
"""
LAST = f"""
    SELECT (SELECT max(write) FROM history WHERE kin = :kin AND action <> '{IMPORTED}'),
        (SELECT max(id) FROM turns), (SELECT max(id) FROM snapshots), (SELECT max(id) FROM shown)
"""
LINES = f"""
    SELECT memory_id, at, action, write, before, after, reason, batch, reverts FROM history
    WHERE kin = :kin AND action <> '{IMPORTED}'
"""
ERASED = f"""
    {LINES} AND memory_id NOT IN (SELECT id FROM memories) ORDER BY memory_id, write, seq
"""
# What belongs to memories, by the rows of these; the first column tells which.
OF_ROWS = {
    "chunks": """
        SELECT memory, text, metadata FROM chunks WHERE memory IN NUMBERED(:rows)
        ORDER BY memory, position
        """,
    "entities": """
        SELECT me.memory, e.name, e.type, me.alias FROM memory_entities me
        JOIN entities e ON e.id = me.entity WHERE me.memory IN NUMBERED(:rows)
        ORDER BY me.memory, e.folded, e.type
        """,
    "relations": """
        SELECT r.memory, s.name, s.type, r.relation, t.name, t.type, r.chunk, r.origin,
            r.confidence, r.verified_at
        FROM relations r JOIN entities s ON s.id = r.source JOIN entities t ON t.id = r.target
        WHERE r.memory IN NUMBERED(:rows)
        ORDER BY r.memory, s.folded, s.type, r.relation, t.folded, t.type
        """,
    "summaries": """
        SELECT s.memory, s.text, s.model, s.tokens, s.created_at, s.tier, c.position
        FROM summaries s LEFT JOIN chunks c ON c.id = s.chunk WHERE s.memory IN NUMBERED(:rows)
        ORDER BY s.memory, s.id
        """,
}
OF_IDS = {
    "parents": """
        SELECT child, parent FROM lineage WHERE child IN LISTED(:ids) ORDER BY child, parent
        """,
    "texts": """
        SELECT memory_id, content_hash, base, at, delta FROM old_texts
        WHERE memory_id IN LISTED(:ids) ORDER BY memory_id, at, content_hash
        """,
    "tiers": """
        SELECT memory_id, at, from_tier, to_tier, reason FROM tier_changes
        WHERE memory_id IN LISTED(:ids) ORDER BY memory_id, id
        """,
    "repetitions": """
        SELECT memory, session, turn, role FROM repetitions WHERE memory IN LISTED(:ids)
        ORDER BY memory, session, turn, role
        """,
    "history": f"{LINES} AND memory_id IN LISTED(:ids) ORDER BY memory_id, write, seq",
}


def records(db: Transaction, kin: str) -> Iterator[Header | Record]:
    """Yield the header, then everything; `db` must see one moment."""
    yield _header(db, kin)
    yield from _memories(db, kin)
    erased = (
        f"{LINES} AND memory_id NOT IN (SELECT id FROM memories) ORDER BY memory_id, write, seq"
    )
    for id, lines in groupby(db.rows(erased, {"kin": kin}), lambda row: row[0]):
        yield ErasedRecord(id=id, history=tuple(readable(lines, _line, "history", db.damage)))
    links = db.rows(f"SELECT {', '.join(LINK)} FROM links ORDER BY source, target, relation")
    for link in readable(links, link_of, "links", db.damage):
        yield LinkRecord(link=link)
    conflicts = db.rows(
        "SELECT newer, older, kind, mode, reason, status, chance, at FROM conflicts"
        " ORDER BY newer, older"
    )
    yield from readable(conflicts, _conflict, "conflicts", db.damage)
    refusals = db.rows("SELECT kind, ids, at FROM refusals ORDER BY kind, ids")
    yield from readable(refusals, _refusal, "refusals", db.damage)
    yield from _conversations(db)


def _conflict(row: Row) -> ConflictRecord:
    newer, older, kind, mode, reason, status, chance, at = row
    conflict = Conflict(newer, older, kind, mode, reason, status, moment(at), chance=chance)
    return ConflictRecord(conflict=conflict)


def _refusal(row: Row) -> RefusalRecord:
    kind, ids, at = row
    return RefusalRecord(kind=kind, ids=tuple(json.loads(ids)), at=_at(at))


def _header(db: Transaction, kin: str) -> Header:
    [counts] = db.rows(COUNTS, {"kin": kin})
    [last] = db.rows(LAST, {"kin": kin})
    numbered = ("write", "message", "snapshot", "shown")
    return Header(
        kin=kin,
        counts=dict(zip(TYPES, counts, strict=True)),
        last={name: number or 0 for name, number in zip(numbered, last, strict=True)},
    )


def _memories(db: Transaction, kin: str) -> Iterator[MemoryRecord]:
    after = ""
    while page := db.rows(
        f"SELECT m.rowid, m.entities_read, {COLUMNS} FROM memories m WHERE m.id > ?"
        f" ORDER BY m.id LIMIT {PAGE}",
        (after,),
    ):
        read = list(sound(page, db.damage))
        memories = [memory for _, memory in read]
        after = page[-1][2]
        rows = json.dumps([first[0] for first, _ in read])
        ids = json.dumps([memory.id for memory in memories])
        by_row = {name: _grouped(db.rows(sql, {"rows": rows})) for name, sql in OF_ROWS.items()}
        by_id = {
            name: _grouped(db.rows(sql, {"ids": ids} | ({"kin": kin} if name == "history" else {})))
            for name, sql in OF_IDS.items()
        }
        for (row, is_read), memory in read:
            of_row = {name: found[row] for name, found in by_row.items()}
            of_id = {name: found[memory.id] for name, found in by_id.items()}
            yield _record(db, row, bool(is_read), memory, of_row, of_id)


def _grouped(rows: Sequence[Row]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = defaultdict(list)
    for key, *values in rows:
        found[key].append(tuple(values))
    return found


def _record(
    db: Transaction,
    row: int,
    is_read: bool,
    memory: Memory,
    of_row: dict[str, list[Row]],
    of_id: dict[str, list[Row]],
) -> MemoryRecord:
    return MemoryRecord(
        memory=memory,
        chunks=_chunks(memory, of_row["chunks"]),
        entities=tuple(
            EntityRecord(name=name, type=type, alias=alias)
            for name, type, alias in of_row["entities"]
        ),
        relations=tuple(readable(of_row["relations"], _relation, "relations", db.damage)),
        is_read=is_read,
        summaries=tuple(readable(of_row["summaries"], _summary, "summaries", db.damage)),
        parents=tuple(parent for (parent,) in of_id["parents"]),
        earlier_texts=tuple(_earlier(db, row, memory, of_id["texts"])),
        tiers=tuple(readable(of_id["tiers"], _tier, "tier_changes", db.damage)),
        repeated_in=tuple(
            RepeatedIn(session=session, turn=turn, role=role)
            for session, turn, role in of_id["repetitions"]
        ),
        history=tuple(
            readable([(memory.id, *line) for line in of_id["history"]], _line, "history", db.damage)
        ),
    )


def _summary(row: Row) -> SummaryRecord:
    text, model, tokens, at, tier, chunk = row
    return SummaryRecord(
        text=text, model=model, tokens=tokens, created_at=_at(at), tier=tier, chunk=chunk
    )


def _tier(row: Row) -> TierRecord:
    at, before, after, reason = row
    return TierRecord(at=_at(at), before=before, after=after, reason=reason)


def _chunks(memory: Memory, rows: Sequence[Row]) -> tuple[ChunkRecord, ...] | None:
    if len(rows) == 1 and rows[0] in ((None, None), (memory.content, None)):
        return None
    return tuple(
        ChunkRecord(
            text=memory.content if text is None else text,
            place=None if metadata is None else document_rows.passage_of(metadata),
        )
        for text, metadata in rows
    )


def _relation(row: Row) -> RelationRecord:
    source, its_type, relation, target, type, chunk, origin, confidence, at = row
    return RelationRecord(
        source=(source, its_type),
        relation=relation,
        target=(target, type),
        chunk=chunk,
        origin=origin,
        confidence=confidence,
        verified_at=_at(at),
    )


def _earlier(
    db: Transaction, row: int, memory: Memory, rows: Sequence[Row]
) -> Iterator[EarlierText]:
    """Yield what earlier versions said; one whose text cannot be told any more is left out."""
    text = document_rows.text_of(db, row) if rows else ""
    for version, base, at, _ in rows:
        kept = {hash: (base, delta) for hash, base, _, delta in rows}
        try:
            said = document_rows.old_text(kept, version, memory.content_hash, text, memory.id)
        except MemoryNotFound:
            continue
        yield EarlierText(content_hash=version, base=base, at=_at(at), text=said)


def _conversations(db: Transaction) -> Iterator[Record]:
    after = 0
    while page := db.rows(
        f"SELECT {', '.join(MESSAGE)} FROM turns WHERE id > ? ORDER BY id LIMIT {PAGE}", (after,)
    ):
        after = page[-1][0]
        for message in readable(page, message_of, "turns", db.damage):
            yield MessageRecord(message=message)
    snapshots = db.rows(f"SELECT {', '.join(SNAPSHOT)} FROM snapshots ORDER BY id")
    for snapshot in readable(snapshots, snapshot_of, "snapshots", db.damage):
        yield SnapshotRecord(snapshot=snapshot)
    shown = db.rows("SELECT id, session, turn, text, memories, at FROM shown ORDER BY id")
    yield from readable(shown, _shown, "shown", db.damage)


def _shown(row: Row) -> ShownRecord:
    id, session, turn, text, memories, at = row
    return ShownRecord(
        id=id, session=session, turn=turn, text=text, memories=json.loads(memories), at=_at(at)
    )


def _line(row: Row) -> Line:
    _, at, action, write, before, after, reason, batch, reverts = row
    return Line(
        at=_at(at),
        action=action,
        write=write,
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
        reason=reason,
        batch=batch,
        reverts=tuple(json.loads(reverts or "[]")),
    )


def _at(stored: str) -> Any:
    return moment(stored)
