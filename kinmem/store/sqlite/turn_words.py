"""The words of what was said: which messages wait to be indexed, and how they are.

Whatever changes a message takes its entries out of the indexes at once and lets it wait
(0004_transcript.sql). So nothing is ever found by a text that is not there any more.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinmem.clock import spoken_date
from kinmem.language import Weight, order_in
from kinmem.models import ROLES
from kinmem.models.turns import Message
from kinmem.store.sessions import Cut
from kinmem.store.sql.conditions import IN_IDS, RAISE
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.erasing import ERASED
from kinmem.store.sql.memory_rows import spread
from kinmem.store.sql.turn_rows import MESSAGE, message_of
from kinmem.store.sqlite.connection import SqliteDatabase

# Characters of each neighbouring message that are indexed with a message.
NEIGHBOUR = 200
# Parts of one message that get a vector. A longer message was pasted; it is found by its words.
MOST_PARTS = 12
WITH_NEIGHBOURS = f"""
    SELECT m.*, (SELECT substr(text, 1, {NEIGHBOUR}) FROM turns WHERE id = n.previous),
        (SELECT substr(text, 1, {NEIGHBOUR}) FROM turns WHERE id = n.next)
    FROM turns_to_index i CROSS JOIN turns m ON m.id = i.turn
    CROSS JOIN turn_neighbours n ON n.turn = m.id
    WHERE {{}}
    """
LATEST = "i.turn IN (SELECT turn FROM turns_to_index ORDER BY turn DESC LIMIT :limit)"


@dataclass(frozen=True)
class _Entry:
    """What the indexes store of a message."""

    message: Message
    content: str
    context: str
    evidence: float
    doubtful: bool
    parts: Sequence[str]


class TurnWords:
    """See Transcript: waiting, index."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def waiting(self) -> int:
        return int(self._database.rows("SELECT count(*) FROM turns_to_index")[0][0])

    def index(self, limit: int, cut: Cut) -> int:
        rows = self._waiting_rows(limit)
        entries = {row: _entry(row, cut) for row in rows}
        if rows:
            with self._database.writing() as db:
                ids = json.dumps([message.id for message, _ in rows])
                # Read again inside the transaction: what was erased in the meantime must not come
                # back.
                for row in self._rows_of(db, f"m.id {IN_IDS}", {"ids": ids}):
                    if row in entries:
                        _put(db, row[0], entries[row])
                db.run(RAISE)
        return len(rows)

    def _waiting_rows(self, limit: int) -> list[tuple[Message, str]]:
        """Return the latest waiting messages, each with the texts of its neighbours."""
        with self._database.reading() as db:
            return self._rows_of(db, LATEST, {"limit": limit})

    def _rows_of(
        self, db: Transaction, which: str, bound: Mapping[str, Any]
    ) -> list[tuple[Message, str]]:
        columns = ", ".join(f"m.{name}" for name in MESSAGE)
        sql = WITH_NEIGHBOURS.format(which).replace("m.*", columns)
        rows = db.rows(sql, bound)
        return [
            (message_of(row[:-2]), "\n".join(text for text in row[-2:] if text)) for row in rows
        ]


def _entry(row: tuple[Message, str], cut: Cut) -> _Entry | None:
    """Return the entry of a message; None if it was erased."""
    message, context = row
    if message.text == ERASED:
        return None
    said = [message.text, spoken_date(message.said_at)]
    if message.speaker and message.speaker not in ROLES:
        said.insert(0, message.speaker)
    return _Entry(
        message,
        spread("\n".join(said)),
        spread(context),
        Weight(message.text).evidence(message.who),
        order_in(message.text, own=message.role == "user") is not None,
        cut(message.text)[:MOST_PARTS],
    )


def _put(db: Transaction, message: Message, entry: _Entry | None) -> None:
    """Replace the words of a message; insert its parts if it has none. A text that changes has lost
    its parts already."""
    turn = message.id
    db.run("DELETE FROM turns_to_index WHERE turn = ?", (turn,))
    db.run("DELETE FROM turn_words WHERE rowid = ?", (turn,))
    if entry is None:
        return
    db.run(
        "INSERT INTO turn_words (rowid, content, context, evidence, doubtful)"
        " VALUES (?, ?, ?, ?, ?)",
        (turn, entry.content, entry.context, entry.evidence, entry.doubtful),
    )
    if not db.value("SELECT 1 FROM turn_chunks WHERE turn = ?", (turn,)):
        db.run_each(
            "INSERT INTO turn_chunks (turn, position, text) VALUES (?, ?, ?)",
            [
                (turn, position, None if part == message.text else part)
                for position, part in enumerate(entry.parts)
            ],
        )
