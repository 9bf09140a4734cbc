"""History lines of one file: what was done to which memory, by which write."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Any

import apsw

from kinmem.models import Event, Memory
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import as_json, as_text, time_text

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
    db: apsw.Connection,
    at: datetime,
    kin: str,
    write: int,
    lines: Sequence[Line],
    batch: str | None,
) -> None:
    """Note what one write has done."""
    when = time_text(at)
    db.executemany(
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


def carry(from_db: Any, db: Any, id: str) -> None:
    """Let the lines about a memory go with it into another file, behind all that is there."""
    lines = from_db.execute(
        f"DELETE FROM history WHERE memory_id = ? RETURNING {COLUMNS}", (id,)
    ).fetchall()
    db.executemany(f"INSERT INTO history ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", lines)


def events(database: Database, which: str, bound: Mapping[str, Any]) -> list[Event]:
    """The lines for which `which` holds; it may end in an order and a limit."""
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
    """What the history keeps of a new memory: all that is not as it is by default.

    So the memory can be told from the history alone, and there is a second copy of its texts.
    """
    values = zip(NAMED, _values(memory), strict=True)
    return {name: value for name, value in values if value != _defaults[name]}
