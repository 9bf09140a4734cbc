"""What memories contradict each other in, and which proposals were turned down."""

import json
from collections.abc import Collection
from datetime import datetime

from kinmem.clock import Clock
from kinmem.store.sqlite.batches import close_conflict
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import as_text, time_text
from kinmem.turns import Conflict


class OpinionRows:
    """See Journal, what is open and refused."""

    _database: Database
    _clock: Clock

    def conflicts(self, *, all: bool = False) -> list[Conflict]:
        rows = self._database.rows(
            "SELECT newer, older, kind, mode, reason, status, at, id FROM conflicts"
            " WHERE :all OR status = 'open' ORDER BY id DESC",
            {"all": all},
        )
        return [
            Conflict(newer, older, kind, mode, reason, status, datetime.fromisoformat(at), id)
            for newer, older, kind, mode, reason, status, at, id in rows
        ]

    def close_conflict(self, id: int, status: str) -> None:
        with self._database.writing() as db:
            close_conflict(db, id, status)

    def refuse(self, kind: str, ids: Collection[str]) -> None:
        with self._database.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO refusals (kind, ids, at) VALUES (?, ?, ?)",
                (kind, as_text(sorted(set(ids))), time_text(self._clock())),
            )

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        rows = self._database.rows("SELECT ids FROM refusals WHERE kind = ?", (kind,))
        return frozenset(frozenset(json.loads(ids)) for (ids,) in rows)
