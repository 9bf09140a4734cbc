"""Everything in a Kin's own file as records: read for an export, and stored by an import, which
leaves what is here as it is."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kinmem.models import Chunks
from kinmem.models.turns import Message, chance_in
from kinmem.store.records import (
    IMPORTED,
    ConflictRecord,
    ErasedRecord,
    Header,
    Line,
    LinkRecord,
    Loading,
    MemoryRecord,
    MessageRecord,
    Record,
    RefusalRecord,
    ShownRecord,
    SnapshotRecord,
)
from kinmem.store.sql import document_rows, entity_rows, history_rows
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.export_rows import records
from kinmem.store.sql.history_rows import next_write
from kinmem.store.sql.link_rows import FIELDS as LINK
from kinmem.store.sql.link_rows import PUT_NEW
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import as_text, time_text
from kinmem.store.sql.sharing import KinFiles
from kinmem.store.sql.turn_rows import MESSAGE, SNAPSHOT, column

BY_IMPORT = "SELECT 1 FROM history WHERE memory_id = ? AND batch = ? AND action = ?"


class RowLoader:
    """Stores records in one transaction."""

    def __init__(
        self, file: MemoryFile, db: Transaction, kin: str, at: datetime, loading: Loading
    ) -> None:
        self._file = file
        self._db = db
        self._kin = kin
        self._at = at
        self._loading = loading
        self._numbers = Numbers(db, kin, loading)
        self._turns = TurnLoader(db, loading, self._numbers)
        self._write: int | None = None

    def load(self, records: Sequence[Record]) -> int:
        """Store what is not here yet; returns how many records that were."""
        return sum(self._load(record) for record in records)

    def _load(self, record: Record) -> bool:
        match record:
            case MemoryRecord():
                return self._memory(record)
            case ErasedRecord():
                return self._erased(record)
            case LinkRecord():
                return self._link(record)
            case ConflictRecord():
                return self._conflict(record)
            case RefusalRecord():
                return self._refusal(record)
            case _:
                return self._turns.load(record)

    # memories

    def _memory(self, record: MemoryRecord) -> bool:
        memory = replace(record.memory, kin=self._kin)
        if self._is_here(memory.id):
            return False
        db = self._db
        [row] = self._file.insert_rows(db, [memory])
        self._file.insert_chunks(db, [(row, memory.content, _chunks(record))])
        db.run("UPDATE chunks SET layer = ? WHERE memory = ?", (memory.tier, row))
        if memory.is_document and not memory.holds_back:
            document_rows.hold(db, self._file.words, row, False)
        entity_rows.restore(db, row, record.entities, record.relations, record.is_read)
        self._what_was_made_of(record, row)
        self._origins(record)
        self._lines(memory.id, record.history)
        known = any(line.action == "created" for line in record.history)
        after = {} if known else history_rows.record(memory)
        line = history_rows.Line(memory.id, IMPORTED, {}, after)
        history_rows.append(db, self._at, self._kin, self._number(), [line], self._loading.batch)
        return True

    def _is_here(self, id: str) -> bool:
        return bool(self._db.rows("SELECT 1 FROM memories WHERE id = ?", (id,)))

    def _what_was_made_of(self, record: MemoryRecord, row: int) -> None:
        self._db.run_each(
            "INSERT INTO summaries (memory, chunk, scope, text, model, tokens, created_at, tier)"
            " SELECT ?, (SELECT id FROM chunks WHERE memory = ? AND position = ?),"
            " ?, ?, ?, ?, ?, ?",
            [
                (
                    row,
                    row,
                    one.chunk,
                    "memory" if one.chunk is None else "chunk",
                    one.text,
                    one.model,
                    one.tokens,
                    time_text(one.created_at),
                    one.tier,
                )
                for one in record.summaries
            ],
        )
        texts = {one.content_hash: one.text for one in record.earlier_texts}
        if texts:
            texts[record.memory.content_hash] = document_rows.text_of(self._db, row)
        self._db.run_each(
            "INSERT INTO old_texts (memory_id, content_hash, base, delta, at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [
                (
                    record.memory.id,
                    one.content_hash,
                    one.base,
                    document_rows.delta(texts[one.base], one.text),
                    time_text(one.at),
                )
                for one in record.earlier_texts
                if one.base in texts
            ],
        )

    def _origins(self, record: MemoryRecord) -> None:
        id = record.memory.id
        self._db.run_each(
            "INSERT INTO lineage (child, parent) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(id, parent) for parent in record.parents],
        )
        self._db.run_each(
            "INSERT INTO tier_changes (memory_id, from_tier, to_tier, reason, at)"
            " VALUES (?, ?, ?, ?, ?)",
            [(id, one.before, one.after, one.reason, time_text(one.at)) for one in record.tiers],
        )
        self._db.run_each(
            "INSERT INTO repetitions (session, turn, memory, role) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            [(one.session, one.turn, id, one.role) for one in record.repeated_in],
        )

    def _erased(self, record: ErasedRecord) -> bool:
        known = "SELECT 1 FROM history WHERE memory_id = ? LIMIT 1"
        if self._is_here(record.id) or self._db.rows(known, (record.id,)):
            return False
        self._lines(record.id, record.history)
        return True

    def _lines(self, id: str, lines: Iterable[Line]) -> None:
        first = self._numbers.first("write")
        self._db.run_each(
            f"INSERT INTO history ({history_rows.COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    time_text(line.at),
                    self._kin,
                    id,
                    line.action,
                    None if line.before is None else as_text(dict(line.before)),
                    None if line.after is None else as_text(dict(line.after)),
                    line.reason,
                    line.batch,
                    first + line.write,
                    as_text([first + write for write in line.reverts]) if line.reverts else None,
                )
                for line in lines
            ],
        )

    def _number(self) -> int:
        """Return the number of this write, which follows all that the import brings."""
        if self._write is None:
            least = self._numbers.first("write") + self._loading.last.get("write", 0) + 1
            self._write = max(least, next_write(self._db, self._kin))
        return self._write

    # between memories

    def _is_new(self, *ids: str) -> bool:
        """Whether this import has brought one of these memories."""
        batch = self._loading.batch
        return any(self._db.rows(BY_IMPORT, (id, batch, IMPORTED)) for id in ids)

    def _link(self, record: LinkRecord) -> bool:
        link = record.link
        if not self._is_new(link.source, link.target):
            return False
        row = {name: getattr(link, name) for name in LINK}
        row["evidence"] = as_text(dict(link.evidence)) if link.evidence else None
        row["created_at"] = time_text(link.created_at) if link.created_at else ""
        row["verified_at"] = time_text(link.verified_at or self._at)
        return self._db.run(PUT_NEW, list(row.values())) == 1

    def _conflict(self, record: ConflictRecord) -> bool:
        one = record.conflict
        if not self._is_new(one.newer, one.older):
            return False
        chance = chance_in(one.reason) if one.chance is None else one.chance
        at = time_text(one.at or self._at)
        return self._inserted(
            "INSERT INTO conflicts (newer, older, kind, mode, status, reason, chance, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (one.newer, one.older, one.kind, one.mode, one.status, one.reason, chance, at),
        )

    def _refusal(self, record: RefusalRecord) -> bool:
        if not self._is_new(*record.ids):
            return False
        return self._inserted(
            "INSERT INTO refusals (kind, ids, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (record.kind, as_text(list(record.ids)), time_text(record.at)),
        )

    def _inserted(self, sql: str, values: Sequence[Any]) -> bool:
        return self._db.run(sql, values) == 1


def _chunks(record: MemoryRecord) -> Chunks:
    if record.chunks is None:
        return Chunks((record.memory.content,))
    places = tuple(chunk.place for chunk in record.chunks if chunk.place is not None)
    return Chunks(tuple(chunk.text for chunk in record.chunks), places=places)


class SqlTransfer:
    """See Transfer."""

    def __init__(self, files: KinFiles[MemoryFile]) -> None:
        self._files = files

    def records(self) -> Iterator[Header | Record]:
        with self._files.own.database.snapshot() as db:
            yield from records(db, self._files.kin)

    def load(self, records: Sequence[Record], loading: Loading) -> int:
        files = self._files
        with files.changing() as db:
            return RowLoader(files.own, db, files.kin, files.clock(), loading).load(records)

    def withdraw(self, batch: str, *, dry_run: bool = False) -> int:
        with self._files.own.database.reading() as db:
            count = brought(db, batch)
        if count and not dry_run:
            with self._files.writing() as db:
                withdraw(db, batch)
        return count


# Each kind of numbered record, and its table.
TABLES = {"message": "turns", "snapshot": "snapshots", "shown": "shown"}


class Numbers:
    """How far the numbers of a file are moved, so that they follow those that are used here.

    The first transaction of an import that needs one sets a mark: a resumed import goes on with it.
    """

    def __init__(self, db: Transaction, kin: str, loading: Loading) -> None:
        self._db = db
        self._kin = kin
        self._loading = loading

    def first(self, what: str) -> int:
        """Return what is added to numbers of the file, which are reserved here at the first
        call."""
        db, name = self._db, f"{self._loading.batch} {what}"
        first: int | None = db.value("SELECT value FROM marks WHERE name = ?", (name,))
        if first is None:
            if what in TABLES:
                first = 0 if self._is_fresh(what) else db.numbers(TABLES[what], 1)[0] - 1
            else:
                first = next_write(db, self._kin) - 1
            db.run("INSERT INTO marks (name, value) VALUES (?, ?)", (name, first))
            if what in TABLES:
                last = first + self._loading.last.get(what, 0)
                db.run("INSERT INTO marks (name, value) VALUES (?, ?)", (f"{name} last", last))
                db.reserve(TABLES[what], last)
        return first

    def _is_fresh(self, what: str) -> bool:
        """Whether this Kin had nothing at all before the import. On a server numbers are given out
        to all Kins together."""
        a_row = f"SELECT 1 FROM {TABLES[what]} LIMIT 1"
        return self.first("write") == 0 and self._db.value(a_row) is None


class TurnLoader:
    """Stores messages, snapshots and shown notes."""

    def __init__(self, db: Transaction, loading: Loading, numbers: Numbers) -> None:
        self._db = db
        self._loading = loading
        self._numbers = numbers

    def load(self, record: MessageRecord | SnapshotRecord | ShownRecord) -> bool:
        """Store a record unless it is here, and return whether it was new."""
        match record:
            case MessageRecord():
                return self._message(record)
            case SnapshotRecord():
                return self._snapshot(record)
            case ShownRecord():
                return self._shown(record)

    def _message(self, record: MessageRecord) -> bool:
        message, loading = record.message, self._loading
        number = self._numbers.first("message") + message.id
        known = self._known(message)
        if known is not None and known != number:
            loading.known_messages[message.id] = known
            return False
        if message.snapshot is not None:
            loading.summarised.setdefault(message.snapshot, []).append(number)
        if known is not None:
            return False
        values = replace(message, id=number, snapshot=None)
        return self._insert("turns", {name: column(getattr(values, name)) for name in MESSAGE})

    def _known(self, message: Message) -> int | None:
        number: int | None = self._db.value(
            "SELECT id FROM turns WHERE session = ? AND turn = ? AND role = ? AND part = ?",
            (message.session, message.turn, message.role, message.part),
        )
        return number

    def _snapshot(self, record: SnapshotRecord) -> bool:
        snapshot = record.snapshot
        number = self._numbers.first("snapshot") + snapshot.id
        known = self._db.value(
            "SELECT id FROM snapshots WHERE session = ? AND created_at = ? AND summary = ?",
            (snapshot.session, time_text(snapshot.created_at), snapshot.summary),
        )
        if known is None:
            values = replace(
                snapshot,
                id=number,
                first=self._here(snapshot.first),
                last=self._here(snapshot.last),
                seen=self._here(snapshot.seen),
            )
            self._insert("snapshots", {name: column(getattr(values, name)) for name in SNAPSHOT})
        if known in (None, number):
            ids = json.dumps(self._loading.summarised.get(snapshot.id, []))
            self._db.run(
                "UPDATE turns SET snapshot = :number"
                " WHERE id IN NUMBERED(:ids) AND snapshot IS NULL",
                {"number": number, "ids": ids},
            )
        return known is None

    def _here(self, message: int) -> int:
        """Return the number here of a message in the file; 0 stays 0."""
        known = self._loading.known_messages.get(message)
        return known or (message and self._numbers.first("message") + message)

    def _shown(self, record: ShownRecord) -> bool:
        memories, at = as_text(dict(record.memories)), time_text(record.at)
        known = self._db.rows(
            "SELECT 1 FROM shown WHERE session = ? AND turn = ? AND at = ? LIMIT 1",
            (record.session, record.turn, at),
        )
        if known:
            return False
        values = {
            "id": self._numbers.first("shown") + record.id,
            "session": record.session,
            "turn": record.turn,
            "text": record.text,
            "memories": memories,
            "at": at,
        }
        return self._insert("shown", values)

    def _insert(self, table: str, values: Mapping[str, Any]) -> bool:
        """Insert a row unless its number is taken, and return whether it was inserted."""
        columns, places = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING"
        return self._db.run(sql, list(values.values())) == 1


def brought(db: Transaction, batch: str) -> int:
    """Return how many rows of conversations are here that an import has brought."""
    return sum(
        db.value(f"SELECT count(*) FROM {table} WHERE id > ? AND id <= ?", stretch)
        for table, stretch in _stretches(db, batch)
    )


def withdraw(db: Transaction, batch: str) -> None:
    """Delete the rows of conversations that an import has brought."""
    for table, stretch in _stretches(db, batch):
        if table == "snapshots":
            db.run("UPDATE turns SET snapshot = NULL WHERE snapshot > ? AND snapshot <= ?", stretch)
        db.run(f"DELETE FROM {table} WHERE id > ? AND id <= ?", stretch)


def _stretches(db: Transaction, batch: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each table with the numbers that were reserved for an import: after the first, up to
    the second."""
    for what, table in TABLES.items():
        first = db.value("SELECT value FROM marks WHERE name = ?", (f"{batch} {what}",))
        last = db.value("SELECT value FROM marks WHERE name = ?", (f"{batch} {what} last",))
        if first is not None and last is not None:
            yield table, (first, last)
