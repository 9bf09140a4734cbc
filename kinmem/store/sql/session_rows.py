"""What sessions were shown, and conversations from another file: their records are stored as rows
of a Kin's own, with numbers that follow those in use."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from kinmem.clock import Clock
from kinmem.models.turns import Message, Shown
from kinmem.store.records import Loading, MessageRecord, ShownRecord, SnapshotRecord
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.history_rows import next_write
from kinmem.store.sql.memory_rows import ALL, as_text, time_text
from kinmem.store.sql.turn_rows import MESSAGE, SNAPSHOT, column


class SqlShownNotes:
    """See ShownNotes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def note(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        with self._database.writing() as db:
            db.run(
                "INSERT INTO shown (session, turn, text, memories, at) VALUES (?, ?, ?, ?, ?)",
                (session, turn, text, as_text(dict(memories)), time_text(self._clock())),
            )

    def of(self, session: str, turn: str | None = None, *, latest: int | None = None) -> Shown:
        where = "session = :session" if turn is None else "session = :session AND turn = :turn"
        rows = self._database.rows(
            f"""
            SELECT text, memories FROM shown WHERE {where} AND text IS NOT NULL
            ORDER BY id DESC LIMIT :latest
            """,
            {"session": session, "turn": turn, "latest": ALL if latest is None else latest},
        )[::-1]
        return Shown(tuple(text for text, _ in rows), _together([told for _, told in rows]))

    def versions(self, session: str, *, latest: int | None = None) -> Mapping[str, int]:
        rows = self._database.rows(
            """
            SELECT memories FROM shown WHERE session = :session AND text IS NOT NULL
            ORDER BY id DESC LIMIT :latest
            """,
            {"session": session, "latest": ALL if latest is None else latest},
        )
        return _together([told for (told,) in reversed(rows)])

    def texts_with(self, session: str, ids: Collection[str]) -> tuple[str, ...]:
        if not ids:
            return ()
        rows = self._database.rows(
            """
            SELECT text FROM shown WHERE session = :session AND text IS NOT NULL AND EXISTS (
                SELECT 1 FROM LISTED(:ids) asked
                WHERE (PARSED(memories) ->> asked.value) IS NOT NULL
            ) ORDER BY id
            """,
            {"session": session, "ids": json.dumps(list(ids))},
        )
        return tuple(text for (text,) in rows)

    def forget(self, session: str) -> None:
        with self._database.writing() as db:
            db.run("UPDATE shown SET text = NULL WHERE session = ?", (session,))

    def ids(self, session: str, latest: int = 500) -> frozenset[str]:
        rows = self._database.rows(
            "SELECT memories FROM shown WHERE session = ? ORDER BY id DESC LIMIT ?",
            (session, latest),
        )
        ids = dict.fromkeys(id for (told,) in rows if _is_object(told) for id in json.loads(told))
        return frozenset(islice(ids, latest))

    def prune(self, before: datetime) -> int:
        with self._database.writing() as db:
            return db.run(
                """
                DELETE FROM shown WHERE session IN (
                    SELECT session FROM shown s GROUP BY session
                    HAVING max(at) < :before AND coalesce((
                        SELECT said_at FROM turns WHERE session = s.session
                        ORDER BY id DESC LIMIT 1
                    ), '') < :before
                )
                """,
                {"before": time_text(before)},
            )


def _together(told: Sequence[str]) -> dict[str, int]:
    """Join JSON objects; of a key in several the last value counts. One parse of all is faster for
    thousands."""
    together: dict[str, int] = {}
    try:
        read = json.loads(f"[{','.join(told)}]")
    except ValueError:  # one of them is damaged
        read = [json.loads(one) for one in told if _is_object(one)]
    for memories in read:
        together |= memories
    return together


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


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
