"""What sessions were shown of the memory, and when."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice

from kinmem.clock import Clock
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import as_text, time_text
from kinmem.turns import Shown


class ShownRows:
    """See Journal, what was shown of the memory."""

    _database: Database
    _clock: Clock

    def show(self, session: str, text: str, memories: Mapping[str, int], turn: str = "") -> None:
        with self._database.writing() as db:
            db.execute(
                "INSERT INTO shown (session, turn, text, memories, at) VALUES (?, ?, ?, ?, ?)",
                (session, turn, text, as_text(dict(memories)), time_text(self._clock())),
            )

    def shown(self, session: str, turn: str | None = None, *, latest: int = -1) -> Shown:
        where = "session = :session" if turn is None else "session = :session AND turn = :turn"
        rows = self._database.rows(
            f"""
            SELECT text, memories FROM shown WHERE {where} AND text IS NOT NULL
            ORDER BY id DESC LIMIT :latest -- of a negative number SQLite makes all
            """,
            {"session": session, "turn": turn, "latest": latest},
        )[::-1]
        return Shown(tuple(text for text, _ in rows), _together([told for _, told in rows]))

    def versions_shown(self, session: str, *, latest: int = -1) -> Mapping[str, int]:
        rows = self._database.rows(
            """
            SELECT memories FROM shown WHERE session = :session AND text IS NOT NULL
            ORDER BY id DESC LIMIT :latest
            """,
            {"session": session, "latest": latest},
        )
        return _together([told for (told,) in reversed(rows)])

    def shown_with(self, session: str, ids: Collection[str]) -> tuple[str, ...]:
        if not ids:
            return ()
        rows = self._database.rows(
            """
            SELECT text FROM shown WHERE session = :session AND text IS NOT NULL AND EXISTS (
                SELECT 1 FROM json_each(memories) WHERE key IN (SELECT value FROM json_each(:ids))
            ) ORDER BY id
            """,
            {"session": session, "ids": json.dumps(list(ids))},
        )
        return tuple(text for (text,) in rows)

    def forget_shown(self, session: str) -> None:
        with self._database.writing() as db:
            db.execute("UPDATE shown SET text = NULL WHERE session = ?", (session,))

    def was_shown(self, session: str, latest: int = 500) -> frozenset[str]:
        rows = self._database.rows(
            "SELECT memories FROM shown WHERE session = ? ORDER BY id DESC LIMIT ?",
            (session, latest),
        )
        ids = dict.fromkeys(id for (told,) in rows for id in json.loads(told))
        return frozenset(islice(ids, latest))

    def prune_shown(self, before: datetime) -> int:
        with self._database.writing() as db:
            db.execute(
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
            return db.changes()


def _together(told: Sequence[str]) -> dict[str, int]:
    """Of JSON objects, the later ones' versions; read at once, which for thousands is faster."""
    together: dict[str, int] = {}
    for memories in json.loads(f"[{','.join(told)}]"):
        together |= memories
    return together
