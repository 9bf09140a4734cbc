"""What was said in one Kin's sessions: the outbox of turns."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import IN_IDS
from kinmem.store.sqlite.rows import time_text
from kinmem.turns import Message, Role, Session

MESSAGE = tuple(field.name for field in fields(Message))


class SaidRows:
    """See Journal, what was said."""

    _database: Database

    def add(self, messages: Sequence[Message]) -> list[bool]:
        names = MESSAGE[1:]
        new = []
        with self._database.writing() as db:
            for message in messages:
                db.execute(
                    f"INSERT INTO turns ({', '.join(names)})"
                    f" VALUES ({', '.join('?' * len(names))})"
                    " ON CONFLICT (session, turn, role, part) DO NOTHING",
                    [column(getattr(message, name)) for name in names],
                )
                new.append(db.changes() == 1)
        return new

    def stored(self, message: Message) -> Message | None:
        key = {name: getattr(message, name) for name in ("session", "turn", "role", "part")}
        found = self._messages(
            "SELECT {columns} FROM turns m WHERE m.session = :session AND m.turn = :turn"
            " AND m.role = :role AND m.part = :part",
            key,
        )
        return found[0] if found else None

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

    def postpone(
        self, ids: Collection[int], until: datetime | None, problem: str, *, failed: bool = True
    ) -> None:
        with self._database.writing() as db:
            db.execute(
                f"""
                UPDATE turns SET tries = tries + :failed, due_at = :until, parked = :parked,
                    problem = :problem
                WHERE id {IN_IDS} AND learned_at IS NULL
                """,
                {
                    "until": None if until is None else time_text(until),
                    "parked": until is None,
                    "failed": failed,
                    "problem": problem,
                    "ids": json.dumps(list(ids)),
                },
            )

    def retry(self) -> int:
        with self._database.writing() as db:
            db.execute(
                """
                UPDATE turns SET tries = 0, due_at = NULL, parked = 0, problem = NULL
                WHERE learned_at IS NULL AND (parked OR tries > 0 OR due_at IS NOT NULL)
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

    def messages(
        self, session: str, *, uncompacted: bool = False, but: int | None = None
    ) -> list[Message]:
        raw = "AND m.snapshot IS NULL" if uncompacted else ""
        if uncompacted and but is not None:
            raw = "AND (m.snapshot IS NULL OR m.snapshot = :but)"
        return self._messages(
            f"SELECT {{columns}} FROM turns m WHERE m.session = :session {raw} ORDER BY m.id",
            {"session": session, "but": but},
        )

    def sessions(self, limit: int = 50) -> list[Session]:
        rows = self._database.rows(
            """
            WITH RECURSIVE names (session) AS ( -- from one to the next: DISTINCT reads every turn
                SELECT min(session) FROM turns
                UNION ALL
                SELECT (SELECT min(session) FROM turns WHERE session > names.session)
                FROM names WHERE session IS NOT NULL
            ), chosen AS MATERIALIZED (
                SELECT session, (SELECT max(id) FROM turns WHERE session = names.session) AS last
                FROM names WHERE session IS NOT NULL ORDER BY last DESC LIMIT ?
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

    def _messages(self, sql: str, bindings: Mapping[str, Any] | None = None) -> list[Message]:
        columns = ", ".join(f"m.{name}" for name in MESSAGE)
        rows = self._database.rows(sql.replace("{columns}", columns), bindings or {})
        return [message_of(row) for row in rows]


def column(value: Any) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    return int(value) if isinstance(value, bool) else value


def message_of(row: Sequence[Any]) -> Message:
    values = dict(zip(MESSAGE, row, strict=True))
    for name in ("said_at", "learned_at", "due_at"):
        if values[name] is not None:
            values[name] = datetime.fromisoformat(values[name])
    values["parked"] = bool(values["parked"])
    return Message(**values)
