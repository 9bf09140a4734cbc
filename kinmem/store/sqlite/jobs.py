"""Which jobs are running, by whom, how far they have come, and reports of those done."""

import json
import os
import socket
from datetime import datetime, timedelta
from typing import Any

from kinmem.clock import Clock
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import as_text, time_text
from kinmem.turns import Run

MOST_RUNS = 1000


class JobRows:
    """See Journal, what is running and done."""

    _database: Database
    _clock: Clock

    def lease(self, job: str, holder: str, seconds: float) -> bool:
        now = self._clock()
        with self._database.writing() as db:
            known: Any = db.execute(
                "SELECT holder, until FROM jobs WHERE name = ?", (job,)
            ).fetchone()
            held = known and known[0] != holder and known[1] > time_text(now)
            if held and not has_ended(known[0]):
                return False
            db.execute(
                "INSERT OR REPLACE INTO jobs (name, holder, until) VALUES (?, ?, ?)",
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
            db.execute("DELETE FROM jobs WHERE name = ? AND holder = ?", (job, holder))

    def mark(self, name: str) -> int:
        rows = self._database.rows("SELECT value FROM marks WHERE name = ?", (name,))
        return int(rows[0][0]) if rows else 0

    def set_mark(self, name: str, value: int) -> None:
        with self._database.writing() as db:
            db.execute("INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)", (name, value))

    def record(self, run: Run) -> int:
        with self._database.writing() as db:
            made: Any = db.execute(
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
            ).get
            db.execute("DELETE FROM runs WHERE id <= ?", (made - MOST_RUNS,))
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
