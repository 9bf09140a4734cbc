"""A memory that is brought from one file into another under the same id, with all that belongs to
it: a copy when it is published, the original when it comes home.

Only what differs is written, so that bringing it again changes nothing.
"""

from typing import TYPE_CHECKING, Any

from kinmem.models import Memory
from kinmem.store.history import COMPUTED
from kinmem.store.sql import document_parts, entity_rows
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.memory_file import MemoryFile

if TYPE_CHECKING:
    pass


# Fields of use and upkeep whose changes do not affect which memories recall finds.
UNNOTICED = COMPUTED - {"auto_tags"} | {"scored_at"}
CHUNKS = "SELECT position, text, metadata FROM chunks WHERE memory = ? ORDER BY position"


def bring(source: Transaction, row: int, memory: Memory, file: MemoryFile, db: Transaction) -> bool:
    """Let `file` hold a memory as another one does, where its number is `row`; whether recall could
    notice a difference."""
    known = file.find(db, memory.id)
    if known is None:
        here, anew, changed = file.insert_rows(db, [memory])[0], True, {"id"}
    else:
        here, old = known
        anew = old.content != memory.content or _chunks(db, here) != _chunks(source, row)
        if anew:
            file.remove_chunks(db, here)
        changed = file.become(db, here, old, memory)
    if anew:
        _insert_chunks(source, row, memory, file, db, here)
    layer = {"tier": memory.tier, "row": here}
    db.run("UPDATE chunks SET layer = :tier WHERE memory = :row AND layer <> :tier", layer)
    has_vectors = file.vectors.copy(source, row, db, here)
    has_entities = entity_rows.copy(source, row, db, here)
    _copy_summaries(source, row, db, here)
    return bool(changed - UNNOTICED) or anew or has_vectors or has_entities


def _chunks(db: Transaction, row: int) -> list[Any]:
    return db.rows(CHUNKS, (row,))


def _insert_chunks(
    source: Transaction,
    row: int,
    memory: Memory,
    file: MemoryFile,
    db: Transaction,
    here: int,
) -> None:
    """Insert the chunks and their words; their vectors become pending."""
    for position, text, metadata in _chunks(source, row):
        chunk = db.value(
            "INSERT INTO chunks (memory, position, layer, text, metadata)"
            " VALUES (?, ?, ?, ?, ?) RETURNING id",
            (here, position, memory.tier, text, metadata),
        )
        if metadata is not None:
            said = memory.content if text is None else text
            place = document_parts.passage_of(metadata, memory.holds_back)
            file.words.put_parts(db, [(chunk, said, place)])
        file.vectors.queue(db, [chunk])


def _copy_summaries(from_db: Transaction, from_row: int, db: Transaction, row: int) -> None:
    """Copy a memory's summaries from another file, where it has another number."""
    there = _summaries(from_db, from_row)
    if there == _summaries(db, row):
        return
    db.run("DELETE FROM summaries WHERE memory = ?", (row,))
    db.run_each(
        "INSERT INTO summaries (memory, chunk, scope, text, model, tokens, created_at, tier)"
        " SELECT ?, (SELECT id FROM chunks WHERE memory = ? AND position = ?), ?, ?, ?, ?, ?, ?",
        [(row, row, *one) for one in there],
    )


def _summaries(db: Transaction, row: int) -> list[Any]:
    return db.rows(
        """
        SELECT c.position, s.scope, s.text, s.model, s.tokens, s.created_at, s.tier
        FROM summaries s LEFT JOIN chunks c ON c.id = s.chunk WHERE s.memory = ? ORDER BY s.id
        """,
        (row,),
    )
