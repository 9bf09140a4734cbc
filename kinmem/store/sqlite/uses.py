"""How often memories were recalled: noted in memory, written now and then."""

import json
import threading
from collections.abc import Iterable
from datetime import datetime

from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.rows import time_text

Noted = dict[str, tuple[int, datetime]]
"""By id: how often, and when last."""


class Uses:
    """What count_use has noted and flush_use has not written yet."""

    def __init__(self) -> None:
        self._noted: Noted = {}
        self._lock = threading.Lock()

    def count(self, ids: Iterable[str], at: datetime) -> None:
        """One more use of each."""
        self._note({id: (1, at)} for id in ids)

    def flush(self, books: Iterable[Book]) -> list[str]:
        """Write into the files that hold them; whose were written. What could not be stays noted.

        Ids that are in no file are forgotten.
        """
        written: list[str] = []
        with self._lock:
            noted, self._noted = self._noted, {}
        try:
            for book in books if noted else ():
                here = _held(book, noted)
                if here:  # a file is locked only if there is something to write
                    _write(book, {id: noted[id] for id in here})
                    for id in here:
                        del noted[id]
                    written += here
            noted = {}
        finally:
            self._note([noted])
        return written

    def _note(self, several: Iterable[Noted]) -> None:
        with self._lock:
            for noted in several:
                for id, (more, at) in noted.items():
                    count, last = self._noted.get(id, (0, at))
                    self._noted[id] = (count + more, max(last, at))


def _held(book: Book, noted: Noted) -> list[str]:
    rows = book.database.rows(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(noted)),),
    )
    return [id for (id,) in rows]


def _write(book: Book, uses: Noted) -> None:
    with book.database.writing() as db:
        db.executemany(
            "UPDATE memories SET recalled_count = recalled_count + ?, recalled_at = ? WHERE id = ?",
            [(count, time_text(at), id) for id, (count, at) in uses.items()],
        )
