"""What one Kin has done, read from the history lines of both files."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kinmem.models import Event, Memory
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.filters import IN_IDS
from kinmem.store.sqlite.lines import events
from kinmem.store.sqlite.rows import column, fields_of

GREATEST = 2**63 - 1
"""What a database takes for a number."""


class SqlitePast:
    """See Past."""

    def __init__(self, books: Collection[Book], kin: str) -> None:
        """`books`: the own file, then the shared one."""
        self._books = books
        self._kin = kin

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        about = "" if memory is None else " AND memory_id = :memory"
        bound = {"kin": self._kin, "memory": memory, "before": before, "limit": limit}
        numbers = {
            number
            for book in self._books
            for (number,) in book.database.rows(
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
        if not 0 < number <= GREATEST:
            return []
        return self._lines("write = :write", {"write": number})

    def batch(self, name: str) -> list[Event]:
        return self._lines("batch = :batch", {"batch": name})

    def about(self, ids: Collection[str]) -> list[Event]:
        return self._lines(f"memory_id {IN_IDS}", {"ids": json.dumps(list(ids))})

    def superseded_by(self, ids: Collection[str]) -> list[str]:
        sql = f"SELECT id FROM memories WHERE superseded_by {IN_IDS} AND kin = :kin"
        bound = {"ids": json.dumps(list(ids)), "kin": self._kin}
        return [id for book in self._books for (id,) in book.database.rows(sql, bound)]

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        return fields_of(stored)

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        return {name: column(name, getattr(memory, name)) for name in names}

    def as_of(self, write: int) -> dict[str, Memory]:
        return replayed(self._lines("write <= :write", {"write": write}))

    def _lines(self, which: str, bound: Mapping[str, Any]) -> list[Event]:
        found: list[Event] = []
        for book in self._books:
            found += events(
                book.database,
                f"kin = :kin AND {which} ORDER BY write, seq",
                {**bound, "kin": self._kin},
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
