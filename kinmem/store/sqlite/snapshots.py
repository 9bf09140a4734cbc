"""What stands for turns that were summarised."""

import json
from collections.abc import Collection, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import apsw

from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import IN_IDS
from kinmem.store.sqlite.said import column
from kinmem.turns import Snapshot

SNAPSHOT = tuple(field.name for field in fields(Snapshot))


class SnapshotRows:
    """See Journal, what stands for it."""

    _database: Database

    def compact(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        with self._database.writing() as db:
            free: Any = db.execute(
                f"SELECT count(*) FROM turns WHERE id {IN_IDS} AND session = :session"
                " AND snapshot IS NULL",
                {"ids": json.dumps(list(ids)), "session": snapshot.session},
            ).get
            if free != len(set(ids)) or not free:
                return None
            made = _insert_snapshot(db, snapshot)
            db.execute(
                f"UPDATE turns SET snapshot = :made WHERE id {IN_IDS}",
                {"made": made, "ids": json.dumps(list(ids))},
            )
            return made

    def fold(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        with self._database.writing() as db:
            bound = {"ids": json.dumps(list(ids)), "session": snapshot.session}
            there: Any = db.execute(
                f"SELECT count(*) FROM snapshots WHERE id {IN_IDS} AND session = :session", bound
            ).get
            if there != len(set(ids)) or not there:
                return None
            made = _insert_snapshot(db, snapshot)
            db.execute(
                f"UPDATE turns SET snapshot = :made WHERE session = :session AND snapshot {IN_IDS}",
                {**bound, "made": made},
            )
            db.execute(f"DELETE FROM snapshots WHERE id {IN_IDS}", bound)
            return made

    def snapshots(self, session: str | None = None) -> list[Snapshot]:
        rows = self._database.rows(
            f"SELECT {', '.join(SNAPSHOT)} FROM snapshots"
            " WHERE :session IS NULL OR session = :session ORDER BY first, id",
            {"session": session},
        )
        return [_snapshot(row) for row in rows]

    def last_summary(self, place: str | None) -> Snapshot | None:
        rows = self._database.rows(
            f"""
            WITH spoken AS MATERIALIZED (
                SELECT session, (SELECT max(id) FROM turns WHERE session = s.session) AS last
                FROM (SELECT DISTINCT session FROM snapshots) s
            ), here AS (
                SELECT session FROM spoken
                WHERE :place IS NULL OR coalesce((
                    SELECT place FROM turns WHERE session = spoken.session AND place IS NOT NULL
                    ORDER BY id DESC LIMIT 1
                ), :place) = :place
                ORDER BY last DESC LIMIT 1
            )
            SELECT {", ".join(SNAPSHOT)} FROM snapshots JOIN here USING (session)
            ORDER BY first DESC, id DESC LIMIT 1
            """,
            {"place": place},
        )
        return _snapshot(rows[0]) if rows else None


def _snapshot(row: Sequence[Any]) -> Snapshot:
    values = dict(zip(SNAPSHOT, row, strict=True))
    return Snapshot(**{**values, "created_at": datetime.fromisoformat(values["created_at"])})


def _insert_snapshot(db: apsw.Connection, snapshot: Snapshot) -> int:
    names = SNAPSHOT[1:]
    made: Any = db.execute(
        f"INSERT INTO snapshots ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        " RETURNING id",
        [column(getattr(snapshot, name)) for name in names],
    ).get
    return int(made)
