"""The rows of upkeep: what is due for tags, links and summaries; jobs."""

import json
import os
import socket
from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Any

from kinmem.clock import Clock
from kinmem.models import Memory
from kinmem.models.turns import Run
from kinmem.store.base import Round
from kinmem.store.memory import SHORT, Summary
from kinmem.store.sql.damage import Row, readable
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import (
    ALL,
    COLUMNS,
    IN_IDS,
    IS_LIVE,
    VISIBLE,
    as_text,
    column,
    memories_of,
    time_text,
)
from kinmem.store.sql.sharing import Files
from kinmem.text import estimated_tokens

# Own memories that still say what was seen; the first condition finds them by the index.
SEEN = f"id {IN_IDS} AND (id, content_hash) IN PAIRED(:seen)"

# Few memories have one. The index cannot rank them first without reading all that have the word.
TITLED = f"""
    SELECT m.id, m.title FROM memories m
    WHERE m.title IS NOT NULL AND {VISIBLE} AND {IS_LIVE} ORDER BY m.rowid
"""


class SqlRounds:
    """See Rounds."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def unseen(self, round: Round, limit: int) -> list[Memory]:
        found = self._own(f"m.{round} IS NULL", "m.rowid DESC", limit, {})
        found.sort(key=lambda memory: memory.id, reverse=True)
        return found[:limit]

    def due(self, round: Round, before: datetime, limit: int) -> list[Memory]:
        found = self._own(
            f"m.{round} < :before", f"m.{round}", limit, {"before": time_text(before)}
        )
        found.sort(key=lambda memory: (getattr(memory, round), memory.id))
        return found[:limit]

    def _own(
        self, condition: str, order: str, limit: int, bound: Mapping[str, Any]
    ) -> list[Memory]:
        rows = self._files.own.database.rows(
            f"SELECT {COLUMNS} FROM memories m WHERE {condition} AND {IS_LIVE}"
            f" ORDER BY {order} LIMIT :limit",
            {"limit": limit, **bound},
        )
        return memories_of(rows, self._files.own.database.damage)

    def holding(self, words: Collection[str], most: int) -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {word: {} for word in words}
        for file in self._files:
            view = self._files.view(file)
            titles = [(id, title.casefold()) for id, title in file.database.rows(TITLED, {**view})]
            for word, ids in found.items():
                titled = (id for id, title in titles if word.casefold() in title)
                ids |= dict.fromkeys(islice(titled, most))
                ids |= dict.fromkeys(file.words.holding(file.database, word, view, most))
        return {word: list(ids) for word, ids in found.items()}

    def tagged(
        self, tags: Mapping[str, tuple[str, ...]], seen: Mapping[str, str], at: datetime
    ) -> int:
        new = {id: column("auto_tags", some) for id, some in tags.items()}
        known: dict[str, str | None] = dict(
            self._files.own.database.rows(
                f"SELECT id, auto_tags FROM memories WHERE {SEEN}", _seen(seen)
            )
        )
        different = [id for id, old in known.items() if old != new[id]]
        if different:
            with self._files.changing() as db:  # filters find other memories from now on
                db.run_each(
                    "UPDATE memories SET auto_tags = ? WHERE id = ? AND content_hash = ?",
                    [(new[id], id, seen[id]) for id in different],
                )
        self._stamp("tagged_at", seen, at)
        return len(different)

    def linked(self, seen: Mapping[str, str], at: datetime) -> None:
        self._stamp("linked_at", seen, at)

    def _stamp(self, round: Round, seen: Mapping[str, str], at: datetime) -> None:
        own, which = self._files.own.database, _seen(seen)
        if own.rows(f"SELECT 1 FROM memories WHERE {SEEN} LIMIT 1", which):
            with own.writing() as db:
                db.run(
                    f"UPDATE memories SET {round} = :at WHERE {SEEN}",
                    {**which, "at": time_text(at)},
                )


def _seen(seen: Mapping[str, str]) -> dict[str, str]:
    """Return the bindings of SEEN."""
    return {"ids": json.dumps(list(seen)), "seen": json.dumps(list(seen.items()))}


# A summary that is made of the memory as it is; those of a former text went with it.
# Of each memory one tells about all of them.
CURRENT = """
    EXISTS (
        SELECT 1 FROM summaries s WHERE s.memory = m.rowid AND s.scope = 'memory'
        AND s.tier = m.tier
    )
"""


class SqlSummaries:
    """See Summaries."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def of(self, ids: Collection[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for file in self._files if ids else ():
            found |= file.database.rows(
                f"""
                SELECT m.id, s.text FROM memories m JOIN summaries s ON s.memory = m.rowid
                WHERE s.scope = 'memory' AND s.text <> '' AND {VISIBLE}
                    AND m.id {IN_IDS}
                """,
                {**self._files.view(file), "ids": json.dumps(list(ids))},
            )
        return found

    def parts(self, id: str) -> list[Summary]:
        for file in self._files:
            rows = file.database.rows(
                f"""
                SELECT s.text, s.model, c.position FROM memories m
                JOIN summaries s ON s.memory = m.rowid AND s.scope = 'chunk'
                JOIN chunks c ON c.id = s.chunk
                WHERE m.id = :id AND {VISIBLE} ORDER BY c.position
                """,
                {**self._files.view(file), "id": id},
            )
            if rows:
                return [Summary(*row) for row in rows]
        return []

    def due(self, limit: int | None) -> list[str]:
        rows = self._files.own.database.rows(
            f"""
            SELECT m.id FROM memories m
            WHERE (length(m.content) > {SHORT} OR (PARSED(m.metadata) ->> 'parts') IS NOT NULL)
                AND {IS_LIVE} AND NOT {CURRENT}
            ORDER BY m.content_updated_at, m.id LIMIT :limit
            """,
            {"limit": ALL if limit is None else limit},
        )
        return [id for (id,) in rows]

    def put(self, memory: Memory, summaries: Sequence[Summary]) -> bool:
        with self._files.writing() as db:  # a model may have taken minutes: it may be edited
            row = db.value(
                "SELECT rowid FROM memories WHERE id = ? AND content_hash = ?",
                (memory.id, memory.content_hash),
            )
            if row is not None:
                self._replace(db, row, memory.tier, summaries)
            return row is not None

    def _replace(self, db: Transaction, row: int, tier: str, summaries: Sequence[Summary]) -> None:
        chunks: dict[int, int] = dict(
            db.rows("SELECT position, id FROM chunks WHERE memory = ?", (row,))
        )
        db.run("DELETE FROM summaries WHERE memory = ?", (row,))
        now = time_text(self._files.clock())
        db.run_each(
            "INSERT INTO summaries (memory, chunk, scope, text, model, tokens, created_at, tier)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    row,
                    None if one.chunk is None else chunks[one.chunk],
                    "memory" if one.chunk is None else "chunk",
                    one.text,
                    one.model,
                    estimated_tokens(one.text),
                    now,
                    tier,
                )
                for one in summaries
                if one.chunk is None or one.chunk in chunks
            ],
        )


MOST_RUNS = 1000


class SqlJobs:
    """See Jobs."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._counting = Lock()
        self._uses: defaultdict[str, deque[datetime]] = defaultdict(deque)

    def spend(self, name: str, count: int, most: int, seconds: float) -> float:
        now, length = self._clock(), timedelta(seconds=seconds)
        with self._counting:
            uses = self._uses[name]
            while uses and uses[0] <= now - length:
                uses.popleft()
            if len(uses) + count > most:
                return ((uses[0] if uses else now) + length - now).total_seconds()
            uses += [now] * count
            return 0.0

    def lease(self, job: str, holder: str, seconds: float) -> bool:
        now = self._clock()
        with self._database.writing() as db:
            known: Any = db.row("SELECT holder, until FROM jobs WHERE name = ?", (job,))
            held = known and known[0] != holder and known[1] > time_text(now)
            if held and not self._has_ended(db, known[0]):
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
        if not rows or self._has_ended(self._database, rows[0][0]):
            return None
        return str(rows[0][0])

    def _has_ended(self, db: Transaction | Database, holder: str) -> bool:
        return has_ended(holder)

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
        chosen = "" if kind is None else "WHERE kind = :kind"
        rows = self._database.rows(
            f"""
            SELECT id, kind, started_at, finished_at, counts, seconds, problems FROM runs
            {chosen} ORDER BY id DESC LIMIT :limit
            """,
            {"kind": kind, "limit": limit},
        )
        return readable(rows, _run, "runs", self._database.damage)


def _run(row: Row) -> Run:
    id, kind, started, finished, counts, seconds, problems = row
    return Run(
        id=id,
        kind=kind,
        started_at=datetime.fromisoformat(started),
        finished_at=datetime.fromisoformat(finished),
        counts=json.loads(counts),
        seconds=json.loads(seconds or "{}"),
        problems=tuple(json.loads(problems or "[]")),
    )


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
