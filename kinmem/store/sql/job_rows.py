"""Jobs and their reports; conflicts between memories, and refused proposals."""

import json
import os
import socket
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from kinmem.clock import Clock
from kinmem.models.turns import Conflict, Run
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.file_state import state_of
from kinmem.store.sql.memory_rows import as_text, time_text

MOST_RUNS = 1000


class SqlJobs:
    """See Jobs."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def lease(self, job: str, holder: str, seconds: float) -> bool:
        now = self._clock()
        with self._database.writing() as db:
            known: Any = db.row("SELECT holder, until FROM jobs WHERE name = ?", (job,))
            held = known and known[0] != holder and known[1] > time_text(now)
            if held and not has_ended(known[0]):
                return False
            db.run(
                "INSERT INTO jobs (name, holder, until) VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET holder = excluded.holder, until = excluded.until",
                (job, holder, time_text(now + timedelta(seconds=seconds))),
            )
            return True

    def holder(self, job: str) -> str | None:
        rows = self._database.rows(
            "SELECT holder FROM jobs WHERE name = ? AND until > ?", (job, time_text(self._clock()))
        )
        return str(rows[0][0]) if rows and not has_ended(rows[0][0]) else None

    def release(self, job: str, holder: str) -> None:
        with self._database.writing() as db:
            db.run("DELETE FROM jobs WHERE name = ? AND holder = ?", (job, holder))

    def mark(self, name: str) -> int:
        rows = self._database.rows("SELECT value FROM marks WHERE name = ?", (name,))
        return int(rows[0][0]) if rows else 0

    def set_mark(self, name: str, value: int) -> None:
        with self._database.writing() as db:
            db.run(
                "INSERT INTO marks (name, value) VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def record(self, run: Run) -> int:
        with self._database.writing() as db:
            made = db.value(
                "INSERT INTO runs (kind, started_at, finished_at, counts, seconds, problems)"
                " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
                (
                    run.kind,
                    time_text(run.started_at),
                    time_text(run.finished_at),
                    as_text(dict(run.counts)),
                    as_text(dict(run.seconds)),
                    as_text(list(run.problems)) if run.problems else None,
                ),
            )
            db.run("DELETE FROM runs WHERE id <= ?", (made - MOST_RUNS,))
            return int(made)

    def runs(self, limit: int = 20, kind: str | None = None) -> list[Run]:
        rows = self._database.rows(
            """
            SELECT id, kind, started_at, finished_at, counts, seconds, problems FROM runs
            WHERE :kind IS NULL OR kind = :kind ORDER BY id DESC LIMIT :limit
            """,
            {"kind": kind, "limit": limit},
        )
        return [
            Run(
                id=id,
                kind=kind,
                started_at=datetime.fromisoformat(started),
                finished_at=datetime.fromisoformat(finished),
                counts=json.loads(counts),
                seconds=json.loads(seconds or "{}"),
                problems=tuple(json.loads(problems or "[]")),
            )
            for id, kind, started, finished, counts, seconds, problems in rows
        ]


def has_ended(holder: str) -> bool:
    """Whether the process that a lease names, pid@host/..., is known to have ended here."""
    process, _, rest = holder.partition("@")
    host = rest.partition("/")[0]
    if not process.isdigit() or host != socket.gethostname() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's process: it lives
        return False
    return False


def close_conflict(db: Transaction, id: int, status: str) -> None:
    """See Decisions.close_conflict."""
    db.run("UPDATE conflicts SET status = ? WHERE id = ?", (status, id))


class SqlDecisions:
    """See Decisions."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def conflicts(self, *, all: bool = False) -> list[Conflict]:
        if not all and not state_of(self._database).has_open_conflicts:
            return []
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
            db.run(
                "INSERT INTO refusals (kind, ids, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (kind, as_text(sorted(set(ids))), time_text(self._clock())),
            )

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        rows = self._database.rows("SELECT ids FROM refusals WHERE kind = ?", (kind,))
        return frozenset(frozenset(json.loads(ids)) for (ids,) in rows)
