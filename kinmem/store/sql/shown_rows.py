"""What sessions were shown of the memory."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice

from kinmem.clock import Clock
from kinmem.models.turns import Shown
from kinmem.store.sql.conditions import ALL
from kinmem.store.sql.database import Database
from kinmem.store.sql.memory_rows import as_text, time_text


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
                SELECT 1 FROM LISTED(:ids) asked WHERE (memories ->> asked.value) IS NOT NULL
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
        ids = dict.fromkeys(id for (told,) in rows for id in json.loads(told))
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
    for memories in json.loads(f"[{','.join(told)}]"):
        together |= memories
    return together
