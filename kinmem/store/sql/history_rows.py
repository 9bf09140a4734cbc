"""History: what was done to which memory, by which write; memories as they were after one; and what
any process has changed since a position."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from kinmem.models import Event, Memory
from kinmem.store.history import Outline, Position, Published
from kinmem.store.records import IMPORTED
from kinmem.store.sql.damage import Damage, Row, filled, readable
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import IN_IDS, as_json, as_text, column, fields_of, time_text

if TYPE_CHECKING:
    from kinmem.store.sql.sharing import Files


COLUMNS = "at, kin, memory_id, action, before, after, reason, batch, write, reverts"


@dataclass(frozen=True, slots=True)
class Line:
    """What is to be noted about a memory; `before` and `after` are its fields that differ."""

    memory: str
    """Its id."""
    action: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    reason: str | None = None
    reverts: Sequence[int] = ()


def append(
    db: Transaction,
    at: datetime,
    kin: str,
    write: int,
    lines: Sequence[Line],
    batch: str | None,
) -> None:
    """Append the lines of one write."""
    when = time_text(at)
    db.run_each(
        f"INSERT INTO history ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                when,
                kin,
                line.memory,
                line.action,
                as_json(line.before),
                as_json(line.after),
                line.reason,
                batch,
                write,
                as_text(list(line.reverts)) if line.reverts else None,
            )
            for line in lines
        ],
    )


def events(database: Database, which: str, bound: Mapping[str, Any]) -> list[Event]:
    """Return the lines that match the condition `which`, which may end in an order and a limit."""
    rows = database.rows(f"SELECT seq, {COLUMNS} FROM history WHERE {which}", bound)
    return events_of(rows, database.damage)


def events_of(rows: Sequence[Row], damage: Damage) -> list[Event]:
    """Convert rows of seq and COLUMNS, without those that are damaged."""
    return readable(rows, _event, "history", damage)


def about(database: Database, id: str, limit: int, before: int) -> list[Event]:
    """Return the lines about a memory with lower numbers, the latest first."""
    sql = (
        f"SELECT seq, {COLUMNS} FROM history"
        " WHERE memory_id = :id AND seq < :before ORDER BY seq DESC LIMIT :limit"
    )

    def rows(behind: int, count: int) -> list[Row]:
        return database.rows(sql, {"id": id, "before": behind, "limit": count})

    convert = partial(events_of, damage=database.damage)
    return filled(rows, convert, before, limit, database.damage)


def _event(row: Row) -> Event:
    seq, at, kin, memory_id, action, before, after, reason, batch, write, reverts = row
    return Event(
        seq,
        datetime.fromisoformat(at),
        kin,
        memory_id,
        action,
        json.loads(before or "{}"),
        json.loads(after or "{}"),
        reason,
        batch,
        write,
        tuple(json.loads(reverts or "[]")),
    )


NAMED = tuple(field.name for field in fields(Memory) if field.name not in ("id", "kin"))
_values = attrgetter(*NAMED)
_defaults = {
    field.name: field.default_factory() if field.default_factory is not MISSING else field.default
    for field in fields(Memory)
}


def record(memory: Memory) -> dict[str, Any]:
    """Return what the history stores of a new memory: all fields that differ from their defaults.

    So the memory can be rebuilt from the history alone, and there is a second copy of its texts.
    """
    values = zip(NAMED, _values(memory), strict=True)
    return {name: value for name, value in values if value != _defaults[name]}


def next_write(db: Transaction, kin: str) -> int:
    """Return the number of a new write: one more than the highest in the Kin's history.

    Each write is a transaction on its file, so numbers are unique and ascending.
    """
    last = db.value("SELECT max(write) FROM history WHERE kin = ?", (kin,))
    return int(last or 0) + 1


# The largest number that the database accepts.
LARGEST = 2**63 - 1


def replayed(lines: Iterable[Event]) -> dict[str, Memory]:
    """Rebuild memories from their history lines, which must begin with the first; returns them by
    id."""
    memories: dict[str, Memory] = {}
    written: dict[str, int] = {}
    for line in lines:
        id = line.memory_id
        fields = fields_of(line.after)
        if line.action in ("created", IMPORTED) and "content_hash" in fields:
            memories[id] = Memory(id=id, kin=line.kin, **fields)
        elif id in memories and (fields or "links" in line.after):
            goes_on = line.action == "moved" and written[id] == line.write
            version = memories[id].version + (not goes_on)
            memories[id] = replace(memories[id], **fields, version=version)
        written[id] = line.write
    return memories


def compact(database: Database, before: str, is_over: Callable[[], bool]) -> int:
    """Delete blank history lines of erased memories: at once all but the one that says so, that one
    with the time. The last line stays: its number is the greatest. Returns how many."""
    deleted = 0
    while not is_over():
        with database.writing() as db:
            some = db.run(BLANK_LINES, {"before": before, "limit": DELETED_AT_ONCE})
        deleted += some
        if some < DELETED_AT_ONCE:
            break
    return deleted


BLANK_LINES = """
    DELETE FROM history WHERE seq IN (
        SELECT h.seq FROM history h
        WHERE h.memory_id IN (SELECT memory_id FROM history WHERE action IN ('erased', 'purged'))
            AND h.memory_id NOT IN (SELECT id FROM memories)
            AND h.before IS NULL AND h.after IS NULL AND h.reverts IS NULL
            AND (h.at < :before OR h.action NOT IN ('erased', 'purged'))
            -- by which a repeated call is known, and was before version 9
            AND coalesce(h.batch, '') NOT LIKE 'key-________________-erased-%'
            AND coalesce(h.batch, '') NOT LIKE 'key-________________-__'
            AND h.seq < (SELECT max(seq) FROM history)
            AND h.write < (SELECT max(write) FROM history)
        LIMIT :limit
    )
"""
DELETED_AT_ONCE = 500
"""Lines in one transaction."""
ERASED_KEPT = timedelta(days=90)
"""How long the history says that something was erased."""


class SqlPast:
    """See Past."""

    def __init__(self, own: Database, kin: str) -> None:
        self._own = own
        self._kin = kin

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        about = "" if memory is None else " AND memory_id = :memory"
        found: list[Event] = []
        while limit > 0:
            earlier = "" if before is None else " AND write < :before"
            rows = self._own.rows(
                f"SELECT DISTINCT write FROM history WHERE kin = :kin{earlier}{about}"
                " ORDER BY write DESC LIMIT :limit",
                {"kin": self._kin, "memory": memory, "before": before, "limit": limit},
            )
            numbers = [number for (number,) in rows]
            which = "write IN NUMBERED(:writes)"
            lines = self._lines(which, {"writes": json.dumps(numbers)})[::-1]
            found += lines
            if len(numbers) < limit:
                break
            limit -= len({line.write for line in lines})  # of a damaged one there is no line
            before = numbers[-1]
        return found

    def outlines(self, limit: int, *, before: int | None = None) -> list[Outline]:
        return outlines(self._own, self._kin, limit, before)

    def write(self, number: int) -> list[Event]:
        if not 0 < number <= LARGEST:
            return []
        return self._lines("write = :write", {"write": number})

    def batch(self, name: str) -> list[Event]:
        return self._lines("batch = :batch", {"batch": name})

    def batches(self, beginning: str) -> list[str]:
        rows = self._own.rows(
            """
            SELECT batch FROM history
            WHERE kin = :kin AND batch >= :beginning AND batch < :end
            UNION SELECT name FROM marks WHERE name >= :beginning AND name < :end
            ORDER BY batch
            """,
            {"kin": self._kin, "beginning": beginning, "end": f"{beginning}\U0010ffff"},
        )
        return [name for (name,) in rows]

    def about(self, ids: Collection[str]) -> list[Event]:
        return self._lines(f"memory_id {IN_IDS}", {"ids": json.dumps(list(ids))})

    def superseded_by(self, ids: Collection[str]) -> list[str]:
        # Asked for kin = :kin too, SQLite takes the index of kin, and reads every row.
        sql = f"SELECT id, kin FROM memories WHERE superseded_by {IN_IDS}"
        rows = self._own.rows(sql, {"ids": json.dumps(list(ids))})
        return [id for id, kin in rows if kin == self._kin]

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        return fields_of(stored)

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        return {name: column(name, getattr(memory, name)) for name in names}

    def as_of(self, write: int, *, after: str = "", limit: int | None = None) -> dict[str, Memory]:
        if limit is None:
            return replayed(self._lines("write <= :write", {"write": write}))
        made = self._own.rows(
            "SELECT DISTINCT memory_id FROM history WHERE kin = :kin AND write <= :write"
            f" AND memory_id > :after AND action IN ('created', '{IMPORTED}') AND after IS NOT NULL"
            " ORDER BY memory_id LIMIT :limit",
            {"kin": self._kin, "write": write, "after": after, "limit": limit},
        )
        ids = json.dumps([id for (id,) in made])
        found = replayed(
            self._lines(f"write <= :write AND memory_id {IN_IDS}", {"write": write, "ids": ids})
        )
        return {id: found[id] for id in sorted(found)}

    def _lines(self, which: str, bound: Mapping[str, Any]) -> list[Event]:
        ordered = f"kin = :kin AND {which} ORDER BY write, seq"
        return events(self._own, ordered, {**bound, "kin": self._kin})


# Lines of one write that are read; of more, the latest are.
MOST_LINES = 100
# One step down the index for each write: DISTINCT reads every line.
NUMBERS = """
    WITH RECURSIVE latest (number) AS (
        SELECT max(write) FROM history WHERE kin = :kin AND write < :before
        UNION ALL
        SELECT (SELECT max(h.write) FROM history h WHERE h.kin = :kin AND h.write < latest.number)
        FROM latest WHERE latest.number IS NOT NULL
    )
    SELECT number FROM latest WHERE number IS NOT NULL LIMIT :limit
"""
SIZES = """
    SELECT write, count(*) FROM history WHERE kin = :kin AND write IN NUMBERED(:writes)
    GROUP BY write
"""
ACTIONS = """
    SELECT action, count(*) FROM history WHERE kin = :kin AND write = :write GROUP BY action
"""
MEMORIES = "SELECT count(DISTINCT memory_id) FROM history WHERE kin = :kin AND write = :write"
REVERTS = """
    SELECT memory_id, reverts FROM history
    WHERE kin = :kin AND write = :write AND reverts IS NOT NULL
"""


def outlines(database: Database, kin: str, limit: int, before: int | None) -> list[Outline]:
    """See Past.outlines."""
    bound = {"kin": kin, "before": LARGEST if before is None else before, "limit": limit}
    numbers = [number for (number,) in database.rows(NUMBERS, bound)]
    sizes: dict[int, int] = dict(database.rows(SIZES, {"kin": kin, "writes": json.dumps(numbers)}))
    small = [number for number in numbers if sizes[number] <= MOST_LINES]
    lines = _lines_of(database, kin, small)
    return [
        _outline(number, lines.get(number, []))
        if sizes[number] <= MOST_LINES
        else _outline_of_long(database, kin, number)
        for number in numbers
    ]


def _lines_of(database: Database, kin: str, writes: Sequence[int]) -> Mapping[int, list[Event]]:
    which = "kin = :kin AND write IN NUMBERED(:writes) ORDER BY seq DESC"
    found: dict[int, list[Event]] = {}
    for line in events(database, which, {"kin": kin, "writes": json.dumps(writes)}):
        found.setdefault(line.write, []).append(line)
    return found


def _outline(number: int, lines: Sequence[Event]) -> Outline:
    reverts = frozenset((line.memory_id, write) for line in lines for write in line.reverts)
    many = len({line.memory_id for line in lines})
    return Outline(number, lines, Counter(line.action for line in lines), many, reverts)


def _outline_of_long(database: Database, kin: str, number: int) -> Outline:
    of_write = {"kin": kin, "write": number}
    which = "kin = :kin AND write = :write ORDER BY seq DESC LIMIT :limit"
    reverts = (
        (memory, write)
        for memory, written in database.rows(REVERTS, of_write)
        for write in json.loads(written)
    )
    return Outline(
        number,
        events(database, which, {**of_write, "limit": MOST_LINES}),
        Counter(dict(database.rows(ACTIONS, of_write))),
        database.rows(MEMORIES, of_write)[0][0],
        frozenset(reverts),
    )


POSITION = """
    SELECT revision.number, (SELECT max(seq) FROM history), (SELECT max(id) FROM turns)
    FROM revision
"""
SHARED_POSITION = "SELECT number, (SELECT max(seq) FROM published) FROM revision"
LINES_AFTER = f"""
    SELECT seq, {COLUMNS} FROM history WHERE seq > :after AND kin = :kin ORDER BY seq LIMIT :limit
"""
SHARED = """
    SELECT p.seq, p.memory, p.kin, p.at, m.state NOT IN ('deleted', 'quarantined')
    FROM published p LEFT JOIN memories m ON m.id = p.memory
    WHERE p.seq > :after AND p.kin <> :kin AND p.kin NOT IN LISTED(:muted)
    ORDER BY p.seq LIMIT :limit
"""


class SqlChanges:
    """See Changes."""

    def __init__(self, files: "Files") -> None:
        self._files = files

    def position(self) -> Position:
        own, shared = self._files.own.database, self._files.shared.database
        [(revision, line, turn)] = own.rows(POSITION)
        [(published, number)] = shared.rows(SHARED_POSITION)
        return Position(line or 0, revision, turn or 0, published, number or 0)

    def lines(self, after: int, limit: int) -> list[Event]:
        own = self._files.own.database

        def rows(behind: int, count: int) -> list[Row]:
            return own.rows(LINES_AFTER, {"after": behind, "kin": self._files.kin, "limit": count})

        return filled(rows, partial(events_of, damage=own.damage), after, limit, own.damage)

    def shared(self, after: int, limit: int) -> list[Published]:
        files = self._files
        muted = json.dumps(sorted(files.muted))
        damage = files.own.database.damage

        def rows(behind: int, count: int) -> list[Row]:
            bound = {"after": behind, "kin": files.kin, "muted": muted, "limit": count}
            return files.shared.database.rows(SHARED, bound)

        return filled(
            rows,
            lambda some: readable(some, _published, "published", damage),
            after,
            limit,
            files.shared.database.damage,
        )


def _published(row: Row) -> Published:
    number, id, kin, at, is_visible = row
    return Published(number, id, kin, datetime.fromisoformat(at), bool(is_visible))
