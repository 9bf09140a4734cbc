"""Which turns repeat a memory that was learned elsewhere, in a transaction of the caller's.

All of it is in a Kin's own file, where the turns are.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apsw

from kinmem.store.sqlite.connection import Database
from kinmem.turns import Repetition

OF_MEMORIES = (
    "SELECT DISTINCT session, turn FROM repetitions"
    " WHERE memory IN (SELECT value FROM json_each(?))"
)
Turn = tuple[str, str]
"""Session and turn."""


def put(db: apsw.Connection, found: Sequence[Repetition], stands: Mapping[str, str]) -> None:
    """Note these, as far as the turns are kept. `stands`: ids under which drafts were stored."""
    db.executemany(
        """
        INSERT OR IGNORE INTO repetitions (session, turn, memory, role)
        SELECT :session, :turn, :memory, :role
        WHERE EXISTS (SELECT 1 FROM turns WHERE session = :session AND turn = :turn)
        """,
        [
            {
                "session": one.session,
                "turn": turn,
                "memory": stands.get(one.memory, one.memory),
                "role": one.role,
            }
            for one in found
            for turn in one.turns
        ],
    )


def turns_of(db: apsw.Connection | Database, ids: Collection[str]) -> list[Turn]:
    """The turns that repeat any of these memories."""
    wanted = (json.dumps(list(ids)),)
    if isinstance(db, Database):
        return db.rows(OF_MEMORIES, wanted)
    rows: Any = db.execute(OF_MEMORIES, wanted).fetchall()
    return list(rows)


def among(database: Database, turns: Collection[Turn]) -> list[tuple[str, str, str, str]]:
    """(session, turn, memory, role) of all that these turns repeat."""
    return database.rows(
        """
        SELECT r.session, r.turn, r.memory, r.role
        FROM json_each(?) CROSS JOIN repetitions r
            ON r.session = value ->> 0 AND r.turn = value ->> 1
        """,
        (json.dumps(list(turns)),),
    )


def forget(db: apsw.Connection, id: str) -> None:
    """The memory is erased."""
    db.execute("DELETE FROM repetitions WHERE memory = ?", (id,))
