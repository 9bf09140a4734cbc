"""Which messages are not in the indexes yet, and which of their parts lack a vector; the words and
the vectors themselves are kept by the engine."""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinmem.clock import spoken_date
from kinmem.errors import StoreError
from kinmem.language import Weight, order_in
from kinmem.models import ROLES, Coverage, Pending, Vector, Vectors, id_of_message
from kinmem.models.turns import Message
from kinmem.store.sessions import Cut
from kinmem.store.sql.damage import Row, again, readable
from kinmem.store.sql.database import Database, Transaction, embedder_of
from kinmem.store.sql.forgetting import ERASED
from kinmem.store.sql.hybrid_search import Listing
from kinmem.store.sql.memory_rows import IN_NUMBERS, RAISE, spread
from kinmem.store.sql.turn_rows import MESSAGE, message_of

# Characters of each neighbouring message that are indexed with a message.
NEIGHBOUR = 200
# Parts of one message that get a vector. A longer message was pasted; it is found by its words.
MOST_PARTS = 12
WITH_NEIGHBOURS = f"""
    SELECT m.*, (SELECT substr(text, 1, {NEIGHBOUR}) FROM turns WHERE id = n.previous),
        (SELECT substr(text, 1, {NEIGHBOUR}) FROM turns WHERE id = n.next)
    FROM {{}} ORDERED JOIN turn_neighbours n ON n.turn = m.id
    WHERE {{}}
    """
WAITING = "turns_to_index i ORDERED JOIN turns m ON m.id = i.turn"
LATEST = "i.turn IN (SELECT turn FROM turns_to_index ORDER BY turn DESC LIMIT :limit)"


@dataclass(frozen=True)
class Entry:
    """What the indexes store of a message."""

    message: Message
    content: str
    context: str
    evidence: float
    doubtful: bool
    parts: Sequence[str]


class TurnWords(ABC):
    """See Transcript: waiting, index; and RankedWords. Where the words are, an engine says."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @abstractmethod
    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        """See RankedWords; the condition is one on `turns m`."""
        ...

    @abstractmethod
    def remove(self, db: Transaction, turn: int) -> None:
        """Remove the words of a message."""
        ...

    @abstractmethod
    def put(self, db: Transaction, entry: Entry) -> None:
        """Add the words of a message, with a row of `turn_words` as its number, context, evidence
        and doubtful say."""
        ...

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
                for row in self._rows_of(db, f"m.id {IN_NUMBERS}", {"ids": ids}):
                    if row in entries:
                        self._replace(db, row[0], entries[row])
                db.run(RAISE)
        return len(rows)

    def _waiting_rows(self, limit: int) -> list[tuple[Message, str]]:
        """Return the latest waiting messages, each with the texts of its neighbours."""
        with self._database.reading() as db:
            return self._rows_of(db, LATEST, {"limit": limit})

    def _replace(self, db: Transaction, message: Message, entry: Entry | None) -> None:
        """Replace the words of a message; insert its parts if it has none. A text that changes has
        lost its parts already."""
        turn = message.id
        db.run("DELETE FROM turns_to_index WHERE turn = ?", (turn,))
        self.remove(db, turn)
        if entry is None:
            return
        self.put(db, entry)
        if not db.value("SELECT 1 FROM turn_chunks WHERE turn = ?", (turn,)):
            db.run_each(
                "INSERT INTO turn_chunks (turn, position, text) VALUES (?, ?, ?)",
                [
                    (turn, position, None if part == message.text else part)
                    for position, part in enumerate(entry.parts)
                ],
            )

    def _rows_of(
        self, db: Transaction, which: str, bound: Mapping[str, Any]
    ) -> list[tuple[Message, str]]:
        rows = db.rows(_neighboured(WAITING, which), bound)
        return readable(rows, _with_neighbours, "turns", db.damage)


def _neighboured(source: str, which: str) -> str:
    columns = ", ".join(f"m.{name}" for name in MESSAGE)
    return WITH_NEIGHBOURS.format(source, which).replace("m.*", columns)


def settled(db: Transaction) -> Mapping[int, tuple[str, str]]:
    """Return the words and the context that must be indexed, by message, of all that do not wait
    for being indexed."""
    which = "m.role IN ('user', 'assistant') AND m.id NOT IN (SELECT turn FROM turns_to_index)"
    rows = db.rows(_neighboured("turns m", which))
    found = readable(rows, _with_neighbours, "turns", db.damage)
    return {message.id: _words_of(message, context) for message, context in found}


def _with_neighbours(row: Row) -> tuple[Message, str]:
    return message_of(row[:-2]), "\n".join(text for text in row[-2:] if text)


def _entry(row: tuple[Message, str], cut: Cut) -> Entry | None:
    """Return the entry of a message; None if it was erased."""
    message, context = row
    if message.text == ERASED:
        return None
    return Entry(
        message,
        *_words_of(message, context),
        Weight(message.text).evidence(message.who),
        order_in(message.text, own=message.role == "user") is not None,
        cut(message.text)[:MOST_PARTS],
    )


def _words_of(message: Message, context: str) -> tuple[str, str]:
    said = [message.text, spoken_date(message.said_at)]
    if message.speaker and message.speaker not in ROLES:
        said.insert(0, message.speaker)
    return spread("\n".join(said)), spread(context)


class TurnQueue(ABC):
    """Which parts of messages lack a vector. Where the vectors are, an engine says."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @abstractmethod
    def store(self, db: Transaction, number: int, chunk: int, vector: Vector) -> None:
        """Store the vector of a part that has none of this embedder."""
        ...

    @abstractmethod
    def nearest_parts(
        self,
        known: tuple[int, int],
        vector: Vector,
        limit: int,
        allowed: str | None,
        bound: Mapping[str, Any],
    ) -> Iterable[int]:
        """Return the number of the message of each of the nearest parts, nearest first. `known` is
        the number of the embedder here and its width, `allowed` a condition on `turns m`."""
        ...

    @abstractmethod
    def part_cosines(
        self, known: tuple[int, int], vector: Vector, turns: Collection[int]
    ) -> Iterable[tuple[int, float]]:
        """Return (number of the message, cosine) of each part with a vector; those of a message in
        text order."""
        ...

    @abstractmethod
    def texts(self, embedder: str, turns: Collection[int]) -> list[tuple[int, str, Vector]]:
        """Return (number of the message, text of the part, its vector) of these messages."""
        ...

    @abstractmethod
    def close(self) -> None:
        """Stop what goes on in the background."""
        ...

    def coverage(self) -> list[Coverage]:
        """Return the coverage of every enrolled embedder."""
        rows = self._database.rows(
            """
            SELECT name, dimension, (SELECT count(*) FROM turn_chunks),
                (SELECT count(*) FROM turn_pending WHERE embedder = embedders.id)
            FROM embedders
            """
        )
        return [Coverage(name, width, total - left, total) for name, width, total, left in rows]

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        """Return parts that wait for a vector of this embedder, those of the latest messages
        first."""
        known = embedder_of(self._database, embedder)
        if known is None:
            return []
        rows = self._database.rows(
            """
            SELECT c.id, c.turn, coalesce(c.text, t.text)
            FROM turn_pending p ORDERED JOIN turn_chunks c ON c.id = p.chunk
            ORDERED JOIN turns t ON t.id = c.turn
            WHERE p.embedder = :embedder ORDER BY p.chunk DESC LIMIT :limit
            """,
            {"embedder": known[0], "limit": limit},
        )
        return [
            Pending(chunk, True, id_of_message(turn), text, False) for chunk, turn, text in rows
        ]

    def put(self, db: Transaction, embedder: str, chunks: Sequence[int], vectors: Vectors) -> int:
        """Store the vectors of those parts that still exist and wait for them; returns how many."""
        known = embedder_of(self._database, embedder)
        if known is None:
            raise StoreError(f"{embedder} is not enrolled")
        stored = 0
        for chunk, vector in zip(chunks, vectors, strict=True):
            waited = db.run(
                "DELETE FROM turn_pending WHERE embedder = ? AND chunk = ?", (known[0], chunk)
            )
            if waited:
                self.store(db, known[0], chunk, vector)
                stored += 1
        return stored
