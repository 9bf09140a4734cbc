"""What a Kin has done to its memories, read from its history."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kinmem.models import Event, Memory
from kinmem.store.records import IMPORTED
from kinmem.store.sql.conditions import IN_IDS
from kinmem.store.sql.database import Database
from kinmem.store.sql.history_rows import events
from kinmem.store.sql.memory_rows import column, fields_of

# The largest number that the database accepts.
LARGEST = 2**63 - 1


class SqlPast:
    """See Past."""

    def __init__(self, own: Database, kin: str) -> None:
        self._own = own
        self._kin = kin

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        about = "" if memory is None else " AND memory_id = :memory"
        bound = {"kin": self._kin, "memory": memory, "before": before, "limit": limit}
        numbers = self._own.rows(
            "SELECT DISTINCT write FROM history WHERE kin = :kin"
            f" AND (:before IS NULL OR write < :before){about}"
            " ORDER BY write DESC LIMIT :limit",
            bound,
        )
        latest = [number for (number,) in numbers]
        which = "write IN NUMBERED(:writes)"
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
        bound = {"ids": json.dumps(list(ids)), "kin": self._kin}
        return [id for (id,) in self._own.rows(sql, bound)]

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        return fields_of(stored)

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        return {name: column(name, getattr(memory, name)) for name in names}

    def as_of(self, write: int) -> dict[str, Memory]:
        return replayed(self._lines("write <= :write", {"write": write}))

    def _lines(self, which: str, bound: Mapping[str, Any]) -> list[Event]:
        ordered = f"kin = :kin AND {which} ORDER BY write, seq"
        return events(self._own, ordered, {**bound, "kin": self._kin})


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
