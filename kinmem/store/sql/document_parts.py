"""The texts of documents: chunks, where each stands, the words in it, and earlier versions.

A document's text is in its chunks alone: each begins where the one before ends, or repeats the end
of it. In `words` each of its chunks is a row of its own, whose number is the chunk's below zero.
An earlier text is told by the later one: a small change takes little room, however long the text.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from kinmem.models import Passage
from kinmem.store.sql.database import Transaction, Words
from kinmem.store.sql.memory_rows import as_text

if TYPE_CHECKING:
    pass


FIELDS = tuple(field.name for field in fields(Passage))


def passage_text(place: Passage) -> str:
    """Return the place as it is stored; empty fields are left out."""
    told = ((name, getattr(place, name)) for name in FIELDS)
    return as_text({name: value for name, value in told if value or name == "start"})


def passage_of(metadata: str, holds_back: object = True) -> Passage:
    """Read a stored place. If the document no longer holds anything back, the chunk is released."""
    place = Passage(**json.loads(metadata))
    return place if holds_back else replace(place, held="")


def hold(db: Transaction, words: Words, row: int, holds_back: bool) -> None:
    """Remove from the word index what a document may hold back, or add it again."""
    chunks = db.rows(
        """
        SELECT c.id, c.metadata, coalesce(c.text, m.content)
        FROM chunks c JOIN memories m ON m.rowid = c.memory
        WHERE c.memory = ? AND c.metadata IS NOT NULL
        """,
        (row,),
    )
    read = [(id, text, passage_of(metadata)) for id, metadata, text in chunks]
    held = [(id, text, replace(place, held="")) for id, text, place in read if place.held]
    if holds_back:
        words.remove_parts(db, [id for id, _, _ in held])
    else:
        words.put_parts(db, held)


def joined(parts: Iterable[tuple[Passage, str]]) -> str:
    """Return the text from which these consecutive chunks were cut."""
    return _joined((place.start, text) for place, text in parts)


def _joined(parts: Iterable[tuple[int, str]]) -> str:
    """Join parts, each given as its start and its text."""
    whole: list[str] = []
    end = 0
    for start, text in parts:
        whole.append(text[max(0, end - start) :])
        end = max(end, start + len(text))
    return "".join(whole)


def text_of(db: Transaction, row: int) -> str:
    """Return the whole text of a document, or the content of any other memory."""
    rows = db.rows(
        "SELECT metadata ->> 'start', text FROM chunks"
        " WHERE memory = ? AND metadata IS NOT NULL ORDER BY position",
        (row,),
    )
    content = db.value("SELECT content FROM memories WHERE rowid = ?", (row,))
    return _joined((start, content if text is None else text) for start, text in rows) or str(
        content
    )


def note_ingested(db: Transaction, embedder: str, chunks: Sequence[int]) -> None:
    """Mark documents as ingested whose last chunks without a vector were these."""
    db.run(
        """
        UPDATE memories SET status = 'ingested'
        WHERE status = 'pending' AND rowid IN (
            SELECT memory FROM chunks
            WHERE id IN NUMBERED(:chunks) AND metadata IS NOT NULL
        ) AND NOT EXISTS (
            SELECT 1 FROM pending p JOIN embedders e ON e.id = p.embedder AND e.name = :embedder
            -- the chunks of one document are numbered in a row
            WHERE p.chunk BETWEEN (SELECT min(id) FROM chunks WHERE memory = memories.rowid)
                AND (SELECT max(id) FROM chunks WHERE memory = memories.rowid)
        )
        """,
        {"embedder": embedder, "chunks": json.dumps(list(chunks))},
    )
