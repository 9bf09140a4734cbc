"""One Kin's conversations in its own file. Writing here does not change what recall finds."""

import json
import os
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

import apsw

from kinmem.clock import Clock
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import as_text, time_text
from kinmem.turns import Conflict, Message, Role, Run, Session, Shown, Snapshot

MESSAGE = tuple(field.name for field in fields(Message))
SNAPSHOT = tuple(field.name for field in fields(Snapshot))
MOST_RUNS = 1000
IN_IDS = "IN (SELECT value FROM json_each(:ids))"


class SqliteJournal:
    """See Journal."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    # what was said

    def add(self, messages: Sequence[Message]) -> list[bool]:
        names = MESSAGE[1:]
        new = []
        with self._database.writing() as db:
            for message in messages:
                db.execute(
                    f"INSERT INTO turns ({', '.join(names)})"
                    f" VALUES ({', '.join('?' * len(names))})"
                    " ON CONFLICT (session, turn, role, part) DO NOTHING",
                    [_column(getattr(message, name)) for name in names],
                )
                new.append(db.changes() == 1)
        return new

    def learnable(self, now: datetime, limit: int) -> list[Message]:
        return self._messages(
            """
            WITH waiting AS (
                SELECT session, turn, min(id) AS first, max(due_at) AS due
                FROM turns INDEXED BY turns_to_learn -- else all turns are read in groups' order
                WHERE learned_at IS NULL AND NOT parked AND role != 'system'
                GROUP BY session, turn
            ), chosen AS (
                SELECT session, turn FROM waiting
                WHERE due IS NULL OR due <= :now ORDER BY first LIMIT :limit
            )
            SELECT {columns} FROM turns m JOIN chosen USING (session, turn)
            WHERE m.learned_at IS NULL AND NOT m.parked AND m.role != 'system' ORDER BY m.id
            """,
            {"now": time_text(now), "limit": limit},
        )

    def parked(self) -> list[Message]:
        return self._messages(
            "SELECT {columns} FROM turns m WHERE m.learned_at IS NULL AND m.parked ORDER BY m.id"
        )

    def postpone(self, ids: Collection[int], until: datetime | None, problem: str) -> None:
        with self._database.writing() as db:
            db.execute(
                f"""
                UPDATE turns SET tries = tries + 1, due_at = :until, parked = :parked,
                    problem = :problem
                WHERE id {IN_IDS} AND learned_at IS NULL
                """,
                {
                    "until": None if until is None else time_text(until),
                    "parked": until is None,
                    "problem": problem,
                    "ids": json.dumps(list(ids)),
                },
            )

    def retry(self) -> int:
        with self._database.writing() as db:
            db.execute(
                """
                UPDATE turns SET tries = 0, due_at = NULL, parked = 0, problem = NULL
                WHERE learned_at IS NULL AND (parked OR tries > 0)
                """
            )
            return db.changes()

    def before(self, message: Message, limit: int) -> list[Message]:
        found = self._messages(
            "SELECT {columns} FROM turns m WHERE m.session = :session AND m.id < :id"
            " ORDER BY m.id DESC LIMIT :limit",
            {"session": message.session, "id": message.id, "limit": limit},
        )
        return found[::-1]

    def after(self, message: Message, limit: int) -> list[Message]:
        return self._messages(
            "SELECT {columns} FROM turns m WHERE m.session = :session AND m.id > :id"
            " ORDER BY m.id LIMIT :limit",
            {"session": message.session, "id": message.id, "limit": limit},
        )

    def latest(self, session: str, role: Role) -> Message | None:
        found = self._messages(
            "SELECT {columns} FROM turns m WHERE m.session = :session AND m.role = :role"
            " ORDER BY m.id DESC LIMIT 1",
            {"session": session, "role": role},
        )
        return found[0] if found else None

    def messages(self, session: str, *, uncompacted: bool = False) -> list[Message]:
        raw = "AND m.snapshot IS NULL" if uncompacted else ""
        return self._messages(
            f"SELECT {{columns}} FROM turns m WHERE m.session = :session {raw} ORDER BY m.id",
            {"session": session},
        )

    def sessions(self, limit: int = 50) -> list[Session]:
        rows = self._database.rows(
            """
            WITH chosen AS MATERIALIZED (
                SELECT session, max(id) AS last FROM turns GROUP BY session
                ORDER BY last DESC LIMIT ?
            )
            SELECT session, max(client), max(place), min(said_at), max(said_at),
                count(DISTINCT turn), count(*)
            FROM chosen JOIN turns USING (session) GROUP BY session ORDER BY last DESC
            """,
            (limit,),
        )
        return [
            Session(
                name=name,
                client=client,
                place=place,
                first_at=datetime.fromisoformat(first),
                last_at=datetime.fromisoformat(last),
                turns=turns,
                messages=messages,
            )
            for name, client, place, first, last, turns, messages in rows
        ]

    def counts(self) -> Mapping[str, int]:
        names = ("sessions", "turns", "messages", "waiting", "parked", "snapshots", "conflicts")
        (row,) = self._database.rows(
            """
            SELECT count(DISTINCT session),
                (SELECT count(*) FROM (SELECT DISTINCT session, turn FROM turns)),
                count(*),
                count(*) FILTER (WHERE learned_at IS NULL AND NOT parked AND role != 'system'),
                count(*) FILTER (WHERE parked),
                (SELECT count(*) FROM snapshots),
                (SELECT count(*) FROM conflicts WHERE status = 'open')
            FROM turns
            """
        )
        return dict(zip(names, row, strict=True))

    # what stands for it

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
        return [
            Snapshot(
                **{
                    **dict(zip(SNAPSHOT, row, strict=True)),
                    "created_at": datetime.fromisoformat(row[-1]),
                }
            )
            for row in rows
        ]

    # what was shown of the memory

    def show(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        with self._database.writing() as db:
            db.execute(
                "INSERT INTO shown (session, turn, text, memories, at) VALUES (?, ?, ?, ?, ?)",
                (session, turn, text, as_text(dict(memories)), time_text(self._clock())),
            )

    def shown(self, session: str, turn: str | None = None) -> Shown:
        rows = self._database.rows(
            """
            SELECT text, memories FROM shown
            WHERE session = :session AND text IS NOT NULL AND (:turn IS NULL OR turn = :turn)
            ORDER BY id
            """,
            {"session": session, "turn": turn},
        )
        memories: dict[str, int] = {}
        for _, told in rows:
            memories |= json.loads(told)
        return Shown(tuple(text for text, _ in rows), memories)

    def forget_shown(self, session: str) -> None:
        with self._database.writing() as db:
            db.execute("UPDATE shown SET text = NULL WHERE session = ?", (session,))

    def was_shown(self, session: str) -> frozenset[str]:
        rows = self._database.rows("SELECT memories FROM shown WHERE session = ?", (session,))
        return frozenset(id for (told,) in rows for id in json.loads(told))

    # what is open, refused, running and done

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
            db.execute("UPDATE conflicts SET status = ? WHERE id = ?", (status, id))

    def refuse(self, kind: str, ids: Collection[str]) -> None:
        with self._database.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO refusals (kind, ids, at) VALUES (?, ?, ?)",
                (kind, as_text(sorted(set(ids))), time_text(self._clock())),
            )

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        rows = self._database.rows("SELECT ids FROM refusals WHERE kind = ?", (kind,))
        return frozenset(frozenset(json.loads(ids)) for (ids,) in rows)

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

    def release(self, job: str, holder: str) -> None:
        with self._database.writing() as db:
            db.execute("DELETE FROM jobs WHERE name = ? AND holder = ?", (job, holder))

    def record(self, run: Run) -> int:
        with self._database.writing() as db:
            made: Any = db.execute(
                "INSERT INTO runs (kind, started_at, finished_at, counts, problems)"
                " VALUES (?, ?, ?, ?, ?) RETURNING id",
                (
                    run.kind,
                    time_text(run.started_at),
                    time_text(run.finished_at),
                    as_text(dict(run.counts)),
                    as_text(list(run.problems)) if run.problems else None,
                ),
            ).get
            db.execute("DELETE FROM runs WHERE id <= ?", (made - MOST_RUNS,))
            return int(made)

    def runs(self, limit: int = 20, kind: str | None = None) -> list[Run]:
        rows = self._database.rows(
            """
            SELECT id, kind, started_at, finished_at, counts, problems FROM runs
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
                problems=tuple(json.loads(problems or "[]")),
            )
            for id, kind, started, finished, counts, problems in rows
        ]

    def _messages(self, sql: str, bindings: Mapping[str, Any] | None = None) -> list[Message]:
        columns = ", ".join(f"m.{name}" for name in MESSAGE)
        rows = self._database.rows(sql.replace("{columns}", columns), bindings or {})
        return [_message(row) for row in rows]


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


def _column(value: Any) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    return int(value) if isinstance(value, bool) else value


def _message(row: Sequence[Any]) -> Message:
    values = dict(zip(MESSAGE, row, strict=True))
    for name in ("said_at", "learned_at", "due_at"):
        if values[name] is not None:
            values[name] = datetime.fromisoformat(values[name])
    values["parked"] = bool(values["parked"])
    return Message(**values)


def _insert_snapshot(db: apsw.Connection, snapshot: Snapshot) -> int:
    names = SNAPSHOT[1:]
    made: Any = db.execute(
        f"INSERT INTO snapshots ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        " RETURNING id",
        [_column(getattr(snapshot, name)) for name in names],
    ).get
    return int(made)
