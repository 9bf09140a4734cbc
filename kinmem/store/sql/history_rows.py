"""History: what was done to which memory, by which write, and the numbers of a Kin's writes."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from kinmem.models import Event, Memory
from kinmem.store.sql.conditions import IN_IDS
from kinmem.store.sql.database import Database, Row, Transaction
from kinmem.store.sql.memory_rows import as_json, as_text, time_text

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
    return [
        Event(
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
        for seq, at, kin, memory_id, action, before, after, reason, batch, write, reverts in rows
    ]


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
