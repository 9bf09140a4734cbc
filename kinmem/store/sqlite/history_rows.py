"""History: what was done to which memory, by which write, and the numbers of a Kin's writes."""

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import apsw

from kinmem.models import Event, Memory
from kinmem.store.sqlite.connection import Database, Row
from kinmem.store.sqlite.queries import IN_IDS, as_json, as_text, column, fields_of, time_text

if TYPE_CHECKING:
    from kinmem.store.sqlite.sharing import KinFiles


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


MARK = "write"
"""Of the own file."""
GREATEST = """
    SELECT (SELECT max(write) FROM history WHERE kin = ?),
        (SELECT value FROM marks WHERE name = ?)
"""
UNNUMBERED = "SELECT EXISTS (SELECT 1 FROM history WHERE kin = ? AND write = 0)"


class Numbers:
    """Gives each write a number above all that the Kin's history has.

    Whoever writes for a Kin, into whichever file, keeps the Kin's own file locked meanwhile, so
    that no two writes get the same number and a later one never a smaller.
    """

    def __init__(self, kin: str) -> None:
        self.kin = kin
        self._databases: tuple[Database, ...] = ()
        self._last = 0
        self._lock = threading.Lock()

    def over(self, databases: Iterable[Database]) -> None:
        """Look into these files, the Kin's own first; number what version 2 has written there."""
        self._databases = tuple(databases)
        if any(database.rows(UNNUMBERED, (self.kin,))[0][0] for database in self._databases):
            self._number_older()

    @contextmanager
    def taking(self, database: Database) -> Iterator[None]:
        """While it lasts no other process begins a write for this Kin; around a transaction on one
        of its files."""
        own = self._databases[0]
        with nullcontext() if database is own else own.held():
            yield

    def next(self) -> int:
        """The number of a write that begins now."""
        with self._lock:
            self._last = max(self._last, self.last()) + 1
            return self._last

    def keep(self, own: apsw.Connection, number: int) -> None:
        """Note it in the own file, for a write whose lines are committed after that."""
        own.execute("INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)", (MARK, number))

    def last(self) -> int:
        """The greatest in the history; 0 where nothing was written."""
        return max(map(self._greatest, self._databases), default=0)

    def _number_older(self) -> None:
        """Each file is a transaction, the own one first: cut short between them, what is left gets
        its numbers later, and of one memory what is in the shared file is the later part anyway."""
        with ExitStack() as stack:
            dbs = [stack.enter_context(database.writing()) for database in self._databases]
            older = [self._older(db) for db in dbs]
            for number, write in enumerate(_writes(older), self.last() + 1):
                for file, seq in write:
                    sql = "UPDATE history SET write = ? WHERE seq = ?"
                    dbs[file].execute(sql, (number, seq))
            for db in dbs:
                db.execute("COMMIT")

    def _older(self, db: apsw.Connection) -> list[Row]:
        lines: Any = db.execute(
            "SELECT seq, at, memory_id, action FROM history WHERE kin = ? AND write = 0"
            " ORDER BY seq",
            (self.kin,),
        )
        return list(lines)

    def _greatest(self, database: Database) -> int:
        noted, kept = database.rows(GREATEST, (self.kin, MARK))[0]
        return max(noted or 0, kept or 0)


def _writes(files: Sequence[Sequence[Row]]) -> Iterator[list[tuple[int, int]]]:
    """In the order in which they were done, the lines of each write as (file, seq).

    The files are ordered by time. Within a file the lines of a memory have their order, and those
    in the own file come first, whatever the clock said. What was changed together with a move is
    told in two files at the same moment.
    """
    writes: dict[str, list[tuple[str, str, list[tuple[int, int]]]]] = {}
    for file, lines in enumerate(files):
        for seq, at, memory, action in lines:
            of = writes.setdefault(memory, [])
            when, last, places = of[-1] if of else ("", "created", [])
            if action == "moved" and at == when and last == "updated":
                places.append((file, seq))
            else:
                of.append((max(at, when), action, [(file, seq)]))
    done = [write for of in writes.values() for write in of]
    yield from (places for _, _, places in sorted(done, key=lambda write: (write[0], write[2][0])))


LARGEST = 2**63 - 1
"""What a database takes for a number."""


class SqlitePast:
    """See Past."""

    def __init__(self, files: "KinFiles") -> None:
        self._files = files

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        about = "" if memory is None else " AND memory_id = :memory"
        bound = {"kin": self._files.kin, "memory": memory, "before": before, "limit": limit}
        numbers = {
            number
            for file in self._files
            for (number,) in file.database.rows(
                "SELECT DISTINCT write FROM history WHERE kin = :kin"
                f" AND (:before IS NULL OR write < :before){about}"
                " ORDER BY write DESC LIMIT :limit",
                bound,
            )
        }
        latest = sorted(numbers, reverse=True)[:limit]
        which = "write IN (SELECT value FROM json_each(:writes))"
        return self._lines(which, {"writes": json.dumps(latest)})[::-1]

    def write(self, number: int) -> list[Event]:
        if not 0 < number <= LARGEST:
            return []
        return self._lines("write = :write", {"write": number})

    def batch(self, name: str) -> list[Event]:
        return self._lines("batch = :batch", {"batch": name})

    def about(self, ids: Collection[str]) -> list[Event]:
        return self._lines(f"memory_id {IN_IDS}", {"ids": json.dumps(list(ids))})

    def superseded_by(self, ids: Collection[str]) -> list[str]:
        sql = f"SELECT id FROM memories WHERE superseded_by {IN_IDS} AND kin = :kin"
        bound = {"ids": json.dumps(list(ids)), "kin": self._files.kin}
        return [id for file in self._files for (id,) in file.database.rows(sql, bound)]

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        return fields_of(stored)

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        return {name: column(name, getattr(memory, name)) for name in names}

    def as_of(self, write: int) -> dict[str, Memory]:
        return replayed(self._lines("write <= :write", {"write": write}))

    def _lines(self, which: str, bound: Mapping[str, Any]) -> list[Event]:
        found: list[Event] = []
        for file in self._files:
            found += events(
                file.database,
                f"kin = :kin AND {which} ORDER BY write, seq",
                {**bound, "kin": self._files.kin},
            )
        # Stable: of one write what is in the own file comes first.
        return sorted(found, key=lambda line: line.write)


def replayed(lines: Iterable[Event]) -> dict[str, Memory]:
    """The memories that these lines, from the first on, have made."""
    memories: dict[str, Memory] = {}
    written: dict[str, int] = {}
    for line in lines:
        id = line.memory_id
        fields = fields_of(line.after)
        if line.action == "created" and "content_hash" in fields:
            memories[id] = Memory(id=id, kin=line.kin, **fields)
        elif id in memories and (fields or "links" in line.after):
            goes_on = line.action == "moved" and written[id] == line.write
            version = memories[id].version + (not goes_on)
            memories[id] = replace(memories[id], **fields, version=version)
        written[id] = line.write
    return memories
