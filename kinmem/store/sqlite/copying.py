"""A memory that is brought from one file into another under the same id, with all that belongs to
it: a copy when it is published, the original when it comes home.

Only what differs is written, so that bringing it again changes nothing.
"""

import json
from collections.abc import Collection
from typing import Any

from kinmem.models import Memory
from kinmem.store.history import COMPUTED
from kinmem.store.sql.database import Transaction
from kinmem.store.sqlite import document_parts, entity_rows, upkeep_rows
from kinmem.store.sqlite.memory_file import MemoryFile

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
    has_vectors = _bring_vectors(source, row, file, db, here)
    has_entities = entity_rows.copy(source, row, db, here)
    upkeep_rows.copy(source, row, db, here)
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
            document_parts.insert_words(db, [(chunk, said, place)])
        file.vectors.queue(db, [chunk])


def _bring_vectors(
    source: Transaction, row: int, file: MemoryFile, db: Transaction, here: int
) -> bool:
    """Copy the vectors that are pending here; returns whether there were any."""
    found = False
    embedders = source.rows("SELECT id, name, dimension FROM embedders")
    for number, name, dimension in embedders:
        awaited = db.rows(AWAITED, {"row": here, "name": name, "dimension": dimension})
        chunks: dict[int, int] = {position: chunk for _, position, chunk in awaited}
        if chunks and (made := _made(source, row, number, chunks)):
            filled = [chunks[position] for position, _ in made]
            file.vectors.put_stored(db, awaited[0][0], filled, [vector for _, vector in made])
            found = True
    return found


def _made(source: Transaction, row: int, number: int, positions: Collection[int]) -> list[Any]:
    """Return (position, vector) of those of a memory's chunks that have one."""
    return source.rows(
        f"""
        SELECT c.position, v.embedding
        FROM chunks c CROSS JOIN vectors_{number:d} v ON v.chunk = c.id
        WHERE c.memory = ? AND c.position IN (SELECT value FROM json_each(?))
        """,
        (row, json.dumps(list(positions))),
    )


# The number of the embedder here, and the chunks without its vector.
AWAITED = """
    SELECT e.id, c.position, c.id FROM embedders e ORDERED JOIN chunks c ON c.memory = :row
    ORDERED JOIN pending p ON p.embedder = e.id AND p.chunk = c.id
    WHERE e.name = :name AND e.dimension = :dimension
"""
