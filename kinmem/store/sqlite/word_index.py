"""The words of one file: an FTS5 table with a row for each memory and each chunk of a document."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinmem.clock import spoken_date
from kinmem.language import Weight, order_in
from kinmem.models import ROLES, Memory, Passage
from kinmem.models.turns import Message
from kinmem.store.sessions import Cut
from kinmem.store.sql.damage import Row, again, readable
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.erasing import ERASED
from kinmem.store.sql.memory_rows import (
    CJK,
    IN_IDS,
    IS_LIVE,
    RAISE,
    VISIBLE,
    View,
    indexed,
    named,
    pairs,
    spread,
)
from kinmem.store.sql.turn_rows import MESSAGE, message_of
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.text import late

TOKEN = late(r"[^\W_]+")
# More terms cost time without finding more: 20,000 took 1.1 s (reliability, R20).
MOST_TERMS = 64


def match_any(words: Sequence[str]) -> str:
    """Return an expression for rows with any of the words; empty if the index can contain none of
    them."""
    return " OR ".join(_terms(words))


def match_all(words: Sequence[str], *, beginnings: bool = False) -> str:
    """Return an expression for rows with all of the words, or with words that begin with them."""
    if not beginnings:
        return " AND ".join(_terms(words))
    return " AND ".join(term.removesuffix(" *") + " *" for term in _terms(words))


def _terms(words: Sequence[str]) -> list[str]:
    """Quote each word as a phrase of its tokens, so that nothing in it is read as query syntax."""
    terms: dict[str, None] = {}
    for word in words:
        parted = CJK.sub(
            lambda run: f" {' '.join(pairs(run.group()) or run.group())} ", named(word)
        )
        for part in parted.split():
            if tokens := TOKEN.findall(part):
                begins = " *" if CJK.fullmatch(part) and len(part) == 1 else ""
                terms['"' + " ".join(tokens) + '"' + begins] = None
    return list(terms)[:MOST_TERMS]


SECURE = "INSERT INTO words (words, rank) VALUES ('secure-delete', ?)"
FEW = 50
"""Chunks that are taken out of the index one by one, 2.6 ms each. More are marked as deleted, and
the index is written anew: 0.2 s for 1,600 chunks, and 0.1 s where there are 100,000 memories."""

HOLDING = f"""
    SELECT m.id FROM words CROSS JOIN memories m ON m.rowid = words.rowid
    WHERE words MATCH 'content : (' || :words || ')' AND {VISIBLE} AND {IS_LIVE}
    ORDER BY words.rowid LIMIT :most
"""


class WordIndex:
    """See Words. A memory's row has its number; that of a chunk has the chunk's number below
    zero."""

    def put(self, db: Transaction, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, ?)",
            [(row, *indexed(memory)) for row, memory in zip(rows, memories, strict=True)],
        )

    def replace(self, db: Transaction, row: int, memory: Memory) -> None:
        self.remove(db, row)
        self.put(db, [row], [memory])

    def remove(self, db: Transaction, row: int) -> None:
        db.run("DELETE FROM words WHERE rowid = ?", (row,))

    def put_parts(self, db: Transaction, chunks: Iterable[tuple[int, str, Passage]]) -> None:
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, '')",
            [
                (-id, spread(text), spread(place.heading))
                for id, text, place in chunks
                if not place.held
            ],
        )

    def remove_parts(self, db: Transaction, chunks: Sequence[int]) -> None:
        rows = [(-chunk,) for chunk in chunks]
        if len(rows) > FEW:
            db.run(SECURE, (False,))
        db.run_each("DELETE FROM words WHERE rowid = ?", rows)
        if len(rows) > FEW:
            db.run(SECURE, (True,))
            # Otherwise they would stay, marked as deleted.
            db.run("INSERT INTO words (words) VALUES ('optimize')")

    def holding(self, database: Database, word: str, view: View, most: int) -> list[str]:
        words = match_all([word])
        if not words:
            return []
        rows = database.rows(HOLDING, {"words": words, "most": most, **view})
        return [id for (id,) in rows]


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

    @again
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
        return readable(rows, _with_neighbours, "turns", db.damage)


def _with_neighbours(row: Row) -> tuple[Message, str]:
    return message_of(row[:-2]), "\n".join(text for text in row[-2:] if text)


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
