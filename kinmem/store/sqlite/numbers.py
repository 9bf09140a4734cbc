"""The numbers of a Kin's writes, one order over both of its files."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import apsw

from kinmem.store.sqlite.connection import Database, Row

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
