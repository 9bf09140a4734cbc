"""History: what was done to which memory, by which write, and the numbers of a Kin's writes."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from kinmem.models import Event, Memory
from kinmem.store.records import IMPORTED
from kinmem.store.sql.damage import Damage, Row, filled, readable
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import IN_IDS, as_json, as_text, fields_of, time_text

if TYPE_CHECKING:
    pass


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


def bring(source: Transaction, db: Transaction, kin: str, but: Collection[str] = ()) -> None:
    """Copy a Kin's lines from another file, behind all that are here, but for some memories'."""
    lines = source.rows(
        f"SELECT {COLUMNS} FROM history WHERE kin = :kin AND memory_id NOT {IN_IDS} ORDER BY seq",
        {"kin": kin, "ids": json.dumps(list(but))},
    )
    db.run_each(f"INSERT INTO history ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", lines)


def number_older(db: Transaction, kin: str) -> None:
    """Give those lines their numbers that version 2 wrote, in a file that has all of the Kin's."""
    lines = db.rows(
        "SELECT seq, at, memory_id, action FROM history WHERE kin = ? AND write = 0 ORDER BY seq",
        (kin,),
    )
    first = next_write(db, kin)
    for number, write in enumerate(_writes(lines), first):
        db.run_each("UPDATE history SET write = ? WHERE seq = ?", [(number, seq) for seq in write])


def _writes(lines: Sequence[Row]) -> Iterator[list[int]]:
    """Yield the line numbers of each write, in the order in which the writes were done.

    The lines of a memory keep their order, whatever the clock said; writes are ordered by time. A
    move and the change made together with it were recorded in two files, at the same moment.
    """
    writes: dict[str, list[tuple[str, str, list[int]]]] = {}
    for seq, at, memory, action in lines:
        of = writes.setdefault(memory, [])
        when, last, places = of[-1] if of else ("", "created", [])
        if action == "moved" and at == when and last == "updated":
            places.append(seq)
        else:
            of.append((max(at, when), action, [seq]))
    done = [write for of in writes.values() for write in of]
    yield from (places for _, _, places in sorted(done, key=lambda write: (write[0], write[2][0])))


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
            some = db.run(BLANK_LINES, {"before": before, "limit": LINES})
        deleted += some
        if some < LINES:
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
LINES = 500
"""Deleted in one transaction."""
ERASED_KEPT = timedelta(days=90)
"""How long the history says that something was erased."""
