"""The chunks of documents in one file: where each stands, the words in it, and the whole text.

A document's text is in its chunks alone: each begins where the one before ends, or repeats the end
of it. In `words` each of its chunks is a row of its own, whose number is the chunk's below zero.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import apsw

from kinmem.errors import MemoryNotFound
from kinmem.models import Memory, Passage
from kinmem.store.delta import applied, delta
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.rows import as_text, time_text
from kinmem.store.sqlite.words import spread

FIELDS = tuple(field.name for field in fields(Passage))
REMOVE = "DELETE FROM words WHERE rowid = ?"
SECURE = "INSERT INTO words (words, rank) VALUES ('secure-delete', ?)"
FEW = 50
"""Chunks that are taken out of the index one by one, 2.6 ms each. More are marked as deleted, and
the index is written anew: 0.2 s for 1,600 chunks, and 0.1 s where there are 100,000 memories."""


def passage_text(place: Passage) -> str:
    """As it is stored; what it does not say is left out."""
    told = ((name, getattr(place, name)) for name in FIELDS)
    return as_text({name: value for name, value in told if value or name == "start"})


def passage_of(metadata: str, holds_back: object = True) -> Passage:
    """`holds_back`: whether the document does; if not, it was released."""
    place = Passage(**json.loads(metadata))
    return place if holds_back else replace(place, held="")


def insert_words(db: apsw.Connection, chunks: Iterable[tuple[int, str, Passage]]) -> None:
    """Let the chunks of a document be found by their words, but for those that are held back."""
    db.executemany(
        "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, '')",
        [
            (-id, spread(text), spread(place.heading))
            for id, text, place in chunks
            if not place.held
        ],
    )


def remove_words(db: apsw.Connection, chunks: Sequence[int]) -> None:
    """Nothing of them stays in the file."""
    rows = [(-chunk,) for chunk in chunks]
    if len(rows) <= FEW:
        db.executemany(REMOVE, rows)
        return
    db.execute(SECURE, (False,))
    db.executemany(REMOVE, rows)
    db.execute(SECURE, (True,))
    db.execute("INSERT INTO words (words) VALUES ('optimize')")  # else they would stay, as deleted


def hold(db: apsw.Connection, row: int, holds_back: bool) -> None:
    """Take what a document may hold back out of the words, or let it be found by them."""
    chunks: Any = db.execute(
        """
        SELECT c.id, c.metadata, coalesce(c.text, m.content)
        FROM chunks c JOIN memories m ON m.rowid = c.memory
        WHERE c.memory = ? AND c.metadata IS NOT NULL
        """,
        (row,),
    ).fetchall()
    read = [(id, text, passage_of(metadata)) for id, metadata, text in chunks]
    held = [(id, text, replace(place, held="")) for id, text, place in read if place.held]
    if holds_back:
        remove_words(db, [id for id, _, _ in held])
    else:
        insert_words(db, held)


def joined(parts: Iterable[tuple[Passage, str]]) -> str:
    """The text that these consecutive chunks are cut from."""
    return _joined((place.start, text) for place, text in parts)


def _joined(parts: Iterable[tuple[int, str]]) -> str:
    """`parts`: where each begins, and its text."""
    whole: list[str] = []
    end = 0
    for start, text in parts:
        whole.append(text[max(0, end - start) :])
        end = max(end, start + len(text))
    return "".join(whole)


def text_of(db: apsw.Connection, row: int) -> str:
    """All that a memory says: the text of a document, else its content."""
    rows: Any = db.execute(
        "SELECT json_extract(metadata, '$.start'), text FROM chunks"
        " WHERE memory = ? AND metadata IS NOT NULL ORDER BY position",
        (row,),
    ).fetchall()
    content: Any = db.execute("SELECT content FROM memories WHERE rowid = ?", (row,)).get
    return _joined((start, content if text is None else text) for start, text in rows) or str(
        content
    )


def keep_text(db: apsw.Connection, old: Memory, said: str, new: Memory, says: str) -> None:
    """What an earlier version said, told by what the memory says now."""
    change = delta(says, said)
    db.execute(
        "DELETE FROM old_texts WHERE memory_id = ? AND content_hash = ?", (new.id, new.content_hash)
    )
    db.execute(
        "INSERT OR REPLACE INTO old_texts (memory_id, content_hash, base, delta, at)"
        " VALUES (?, ?, ?, ?, ?)",
        (old.id, old.content_hash, new.content_hash, change, time_text(new.content_updated_at)),
    )


def old_text(
    kept: dict[str, tuple[str, bytes]], version: str, present: str, text: str, id: str
) -> str:
    """What the version said. `kept`: base and delta by version; `present` said `text`."""
    steps = []
    while version != present:
        if version not in kept:
            raise MemoryNotFound(id)
        version, change = kept.pop(version)
        steps.append(change)
    for change in reversed(steps):
        text = applied(text, change)
    return text


def carry_texts(from_db: Any, db: Any, id: str) -> None:
    """What was shared and is private again leaves no earlier texts behind in the shared file."""
    rows = from_db.execute(
        "DELETE FROM old_texts WHERE memory_id = ?"
        " RETURNING memory_id, content_hash, base, delta, at",
        (id,),
    ).fetchall()
    db.executemany("INSERT OR REPLACE INTO old_texts VALUES (?, ?, ?, ?, ?)", rows)


def note_ingested(db: apsw.Connection, embedder: str, chunks: Sequence[int]) -> None:
    """Documents of which these were the last chunks without a vector are ingested now."""
    db.execute(
        """
        UPDATE memories SET status = 'ingested'
        WHERE status = 'pending' AND rowid IN (
            SELECT memory FROM chunks
            WHERE id IN (SELECT value FROM json_each(:chunks)) AND metadata IS NOT NULL
        ) AND NOT EXISTS (
            SELECT 1 FROM pending p JOIN embedders e ON e.id = p.embedder AND e.name = :embedder
            -- the chunks of one document are numbered in a row
            WHERE p.chunk BETWEEN (SELECT min(id) FROM chunks WHERE memory = memories.rowid)
                AND (SELECT max(id) FROM chunks WHERE memory = memories.rowid)
        )
        """,
        {"embedder": embedder, "chunks": json.dumps(list(chunks))},
    )


def drop_old_texts(database: Database, kin: str, before: datetime) -> None:
    """Forget what versions of own documents said that were replaced before that moment."""
    mine = "at < ? AND memory_id IN (SELECT id FROM memories WHERE kin = ?)"
    bound = (time_text(before), kin)
    if database.rows(f"SELECT 1 FROM old_texts WHERE {mine} LIMIT 1", bound):
        with database.writing() as db:
            db.execute(f"DELETE FROM old_texts WHERE {mine}", bound)
