"""The numbers of a Kin's writes, one order over both of its files."""

import threading
from collections.abc import Iterable

from kinmem.store.sqlite.connection import Database


class Numbers:
    """Gives each write a number above all that the Kin's history has.

    Taken while the file is locked for writing. Two processes that write for one Kin at the same
    moment, one into each file, may get the same number: neither came before the other.
    """

    def __init__(self, kin: str) -> None:
        self.kin = kin
        self._databases: tuple[Database, ...] = ()
        self._last = 0
        self._lock = threading.Lock()

    def over(self, databases: Iterable[Database]) -> None:
        """Look into these files."""
        self._databases = tuple(databases)

    def next(self) -> int:
        """The number of a write that begins now."""
        with self._lock:
            self._last = max(self._last, self.last()) + 1
            return self._last

    def last(self) -> int:
        """The greatest in the history; 0 where nothing was written."""
        return max(map(self._greatest, self._databases), default=0)

    def _greatest(self, database: Database) -> int:
        sql = "SELECT max(write) FROM history WHERE kin = ?"
        return int(database.rows(sql, (self.kin,))[0][0] or 0)
