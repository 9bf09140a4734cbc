"""What a Kin has done, write by write, and its memories as they were after one."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from kinmem.models import Event, Memory
from kinmem.store.history import Outline
from kinmem.store.records import IMPORTED
from kinmem.store.sql.database import Database
from kinmem.store.sql.history_rows import LARGEST, events, replayed
from kinmem.store.sql.memory_rows import IN_IDS, column, fields_of
from kinmem.store.sql.write_outlines import outlines


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
            rows = self._own.rows(
                "SELECT DISTINCT write FROM history WHERE kin = :kin"
                f" AND (:before IS NULL OR write < :before){about}"
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
