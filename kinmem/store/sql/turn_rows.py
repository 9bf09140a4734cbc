"""What was said in a Kin's sessions, what stands for it in short, and what they were shown.

Writing here does not change what recall finds.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import islice
from typing import Any

from kinmem.clock import Clock
from kinmem.models.turns import Message, Role, Session, Shown, Snapshot
from kinmem.store.sql.damage import Row, filled, readable
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import ALL, IN_NUMBERS, as_text, time_text

MESSAGE = tuple(field.name for field in fields(Message))
OF_TURN = ", ".join(f"m.{name}" for name in MESSAGE)
SPOKEN_HERE = """
                WHERE coalesce((
                    SELECT place FROM turns WHERE session = spoken.session AND place IS NOT NULL
                    ORDER BY id DESC LIMIT 1
                ), :place) = :place"""

# Characters of what was first said in a session that tell it from others.
BEGINNING = 400


class SqlTurns:
    """See Turns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, messages: Sequence[Message]) -> list[bool]:
        names = MESSAGE[1:]
        new = []
        with self._database.writing() as db:
            for message in messages:
                added = db.run(
                    f"INSERT INTO turns ({', '.join(names)})"
                    f" VALUES ({', '.join('?' * len(names))})"
                    " ON CONFLICT (session, turn, role, part) DO NOTHING",
                    [column(getattr(message, name)) for name in names],
                )
                new.append(added == 1)
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
                FROM turns BY INDEX turns_to_learn -- else all turns are read in groups' order
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

    def parked(self, *, after: int = 0, limit: int | None = None) -> list[Message]:
        return self._page(
            "SELECT {columns} FROM turns m WHERE m.learned_at IS NULL AND m.parked"
            " AND m.id > :after ORDER BY m.id LIMIT :limit",
            {},
            after,
            limit,
        )

    def postpone(
        self, ids: Collection[int], until: datetime | None, problem: str, *, failed: bool = True
    ) -> None:
        with self._database.writing() as db:
            db.run(
                f"""
                UPDATE turns SET tries = tries + :failed, due_at = :until, parked = :parked,
                    problem = :problem
                WHERE id {IN_NUMBERS} AND learned_at IS NULL
                """,
                {
                    "until": None if until is None else time_text(until),
                    "parked": until is None,
                    "failed": int(failed),
                    "problem": problem,
                    "ids": json.dumps(list(ids)),
                },
            )

    def retry(self) -> int:
        with self._database.writing() as db:
            return db.run(
                """
                UPDATE turns SET tries = 0, due_at = NULL, parked = FALSE, problem = NULL
                WHERE learned_at IS NULL AND (parked OR tries > 0 OR due_at IS NOT NULL)
                """
            )

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
        self,
        session: str,
        *,
        uncompacted: bool = False,
        but: int | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Message]:
        raw = "AND m.snapshot IS NULL" if uncompacted else ""
        if uncompacted and but is not None:
            raw = "AND (m.snapshot IS NULL OR m.snapshot = :but)"
        return self._page(
            f"SELECT {{columns}} FROM turns m WHERE m.session = :session {raw} AND m.id > :after"
            " ORDER BY m.id LIMIT :limit",
            {"session": session, "but": but},
            after,
            limit,
        )

    def became(
        self, session: str, *, after: str = "", limit: int | None = None
    ) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for turn, id in self._database.rows(
            """
            WITH learned (turn, id) AS (
                SELECT t.turn, m.id FROM memory_turns t JOIN memories m ON m.rowid = t.memory
                WHERE t.session = :session AND m.id > :after
            )
            SELECT turn, id FROM learned
            WHERE id IN (SELECT DISTINCT id FROM learned ORDER BY id LIMIT :limit) ORDER BY id
            """,
            {
                "session": session,
                "after": after,
                "limit": ALL if limit is None else limit,
            },
        ):
            found.setdefault(turn, []).append(id)
        return found

    def sessions(self, limit: int | None = 50) -> list[Session]:
        rows = self._database.rows(
            f"""
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
                count(DISTINCT turn), count(*),
                coalesce((
                    SELECT substr(f.text, 1, {BEGINNING}) FROM turns f
                    WHERE f.session = chosen.session AND f.role = 'user' ORDER BY f.id LIMIT 1
                ), (
                    SELECT substr(f.text, 1, {BEGINNING}) FROM turns f
                    WHERE f.session = chosen.session ORDER BY f.id LIMIT 1
                )), (
                    SELECT f.speaker FROM turns f
                    WHERE f.session = chosen.session AND f.role = 'user' ORDER BY f.id LIMIT 1
                )
            FROM chosen JOIN turns USING (session)
            GROUP BY chosen.session, last ORDER BY last DESC
            """,
            (ALL if limit is None else limit,),
        )
        return readable(rows, _session, "turns", self._database.damage)

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

    def _page(
        self, sql: str, bindings: Mapping[str, Any], after: int, limit: int | None
    ) -> list[Message]:
        """Return so many of the messages behind one: a damaged one ends no page."""
        if limit is None:
            return self._messages(sql, {**bindings, "after": after, "limit": ALL})
        sql = sql.replace("{columns}", OF_TURN)

        def rows(behind: int, count: int) -> list[Row]:
            return self._database.rows(sql, {**bindings, "after": behind, "limit": count})

        def convert(some: Sequence[Row]) -> list[Message]:
            return readable(some, message_of, "turns", self._database.damage)

        return filled(rows, convert, after, limit, self._database.damage)

    def _messages(self, sql: str, bindings: Mapping[str, Any] | None = None) -> list[Message]:
        rows = self._database.rows(sql.replace("{columns}", OF_TURN), bindings or {})
        return readable(rows, message_of, "turns", self._database.damage)


def _session(row: Row) -> Session:
    name, client, place, first, last, turns, messages, began, speaker = row
    return Session(
        name=name,
        client=client,
        place=place,
        first_at=datetime.fromisoformat(first),
        last_at=datetime.fromisoformat(last),
        turns=turns,
        messages=messages,
        began=began or "",
        speaker=speaker,
    )


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


SNAPSHOT = tuple(field.name for field in fields(Snapshot))


class SqlSnapshots:
    """See Snapshots."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def compact(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        with self._database.writing() as db:
            free = db.value(
                f"SELECT count(*) FROM turns WHERE id {IN_NUMBERS} AND session = :session"
                " AND snapshot IS NULL",
                {"ids": json.dumps(list(ids)), "session": snapshot.session},
            )
            if free != len(set(ids)) or not free:
                return None
            made = _insert_snapshot(db, snapshot)
            db.run(
                f"UPDATE turns SET snapshot = :made WHERE id {IN_NUMBERS}",
                {"made": made, "ids": json.dumps(list(ids))},
            )
            return made

    def fold(self, snapshot: Snapshot, ids: Collection[int]) -> int | None:
        with self._database.writing() as db:
            bound = {"ids": json.dumps(list(ids)), "session": snapshot.session}
            there = db.value(
                f"SELECT count(*) FROM snapshots WHERE id {IN_NUMBERS} AND session = :session",
                bound,
            )
            if there != len(set(ids)) or not there:
                return None
            made = _insert_snapshot(db, snapshot)
            db.run(
                "UPDATE turns SET snapshot = :made WHERE session = :session"
                f" AND snapshot {IN_NUMBERS}",
                {**bound, "made": made},
            )
            db.run(f"DELETE FROM snapshots WHERE id {IN_NUMBERS}", bound)
            return made

    def of(self, session: str | None = None) -> list[Snapshot]:
        chosen = "" if session is None else "WHERE session = :session"
        rows = self._database.rows(
            f"SELECT {', '.join(SNAPSHOT)} FROM snapshots {chosen} ORDER BY first, id",
            {"session": session},
        )
        return readable(rows, snapshot_of, "snapshots", self._database.damage)

    def last(self, place: str | None) -> Snapshot | None:
        rows = self._database.rows(
            f"""
            WITH spoken AS MATERIALIZED (
                SELECT session, (SELECT max(id) FROM turns WHERE session = s.session) AS last
                FROM (SELECT DISTINCT session FROM snapshots) s
            ), here AS (
                SELECT session FROM spoken {"" if place is None else SPOKEN_HERE}
                ORDER BY last DESC LIMIT 1
            )
            SELECT {", ".join(SNAPSHOT)} FROM snapshots JOIN here USING (session)
            ORDER BY first DESC, id DESC LIMIT 1
            """,
            {"place": place},
        )
        found = readable(rows, snapshot_of, "snapshots", self._database.damage)
        return found[0] if found else None


def snapshot_of(row: Sequence[Any]) -> Snapshot:
    values = dict(zip(SNAPSHOT, row, strict=True))
    return Snapshot(**{**values, "created_at": datetime.fromisoformat(values["created_at"])})


def _insert_snapshot(db: Transaction, snapshot: Snapshot) -> int:
    names = SNAPSHOT[1:]
    made = db.value(
        f"INSERT INTO snapshots ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        " RETURNING id",
        [column(getattr(snapshot, name)) for name in names],
    )
    return int(made)


class SqlShownNotes:
    """See ShownNotes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def note(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        with self._database.writing() as db:
            db.run(
                "INSERT INTO shown (session, turn, text, memories, at) VALUES (?, ?, ?, ?, ?)",
                (session, turn, text, as_text(dict(memories)), time_text(self._clock())),
            )

    def of(self, session: str, turn: str | None = None, *, latest: int | None = None) -> Shown:
        where = "session = :session" if turn is None else "session = :session AND turn = :turn"
        rows = self._database.rows(
            f"""
            SELECT text, memories FROM shown WHERE {where} AND text IS NOT NULL
            ORDER BY id DESC LIMIT :latest
            """,
            {"session": session, "turn": turn, "latest": ALL if latest is None else latest},
        )[::-1]
        return Shown(tuple(text for text, _ in rows), _together([told for _, told in rows]))

    def versions(self, session: str, *, latest: int | None = None) -> Mapping[str, int]:
        rows = self._database.rows(
            """
            SELECT memories FROM shown WHERE session = :session AND text IS NOT NULL
            ORDER BY id DESC LIMIT :latest
            """,
            {"session": session, "latest": ALL if latest is None else latest},
        )
        return _together([told for (told,) in reversed(rows)])

    def texts_with(self, session: str, ids: Collection[str]) -> tuple[str, ...]:
        if not ids:
            return ()
        rows = self._database.rows(
            """
            SELECT text FROM shown WHERE session = :session AND text IS NOT NULL AND EXISTS (
                SELECT 1 FROM LISTED(:ids) asked
                WHERE (PARSED(memories) ->> asked.value) IS NOT NULL
            ) ORDER BY id
            """,
            {"session": session, "ids": json.dumps(list(ids))},
        )
        return tuple(text for (text,) in rows)

    def forget(self, session: str) -> None:
        with self._database.writing() as db:
            db.run("UPDATE shown SET text = NULL WHERE session = ?", (session,))

    def ids(self, session: str, latest: int = 500) -> frozenset[str]:
        rows = self._database.rows(
            "SELECT memories FROM shown WHERE session = ? ORDER BY id DESC LIMIT ?",
            (session, latest),
        )
        ids = dict.fromkeys(id for (told,) in rows if _is_object(told) for id in json.loads(told))
        return frozenset(islice(ids, latest))

    def prune(self, before: datetime) -> int:
        with self._database.writing() as db:
            return db.run(
                """
                DELETE FROM shown WHERE session IN (
                    SELECT session FROM shown s GROUP BY session
                    HAVING max(at) < :before AND coalesce((
                        SELECT said_at FROM turns WHERE session = s.session
                        ORDER BY id DESC LIMIT 1
                    ), '') < :before
                )
                """,
                {"before": time_text(before)},
            )


def _together(told: Sequence[str]) -> dict[str, int]:
    """Join JSON objects; of a key in several the last value counts. One parse of all is faster for
    thousands."""
    together: dict[str, int] = {}
    try:
        read = json.loads(f"[{','.join(told)}]")
    except ValueError:  # one of them is damaged
        read = [json.loads(one) for one in told if _is_object(one)]
    for memories in read:
        together |= memories
    return together


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
