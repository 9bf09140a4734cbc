"""Who and what memories are about, each once by folded name and type."""

from collections.abc import Sequence
from typing import Any

import apsw

from kinmem.models import Entity
from kinmem.text import folded


def insert(db: apsw.Connection, memory: int, entities: Sequence[Entity]) -> None:
    """Let a memory, by its row number, be about these."""
    for entity in entities:
        db.execute(
            "INSERT OR IGNORE INTO memory_entities (memory, entity) VALUES (?, ?)",
            (memory, _number(db, entity)),
        )


def of(db: apsw.Connection, id: str) -> list[Entity]:
    """Whom and what a memory is about, by name."""
    rows: Any = db.execute(
        """
        SELECT e.name, e.type FROM entities e
        JOIN memory_entities ON entity = e.id
        JOIN memories m ON m.rowid = memory
        WHERE m.id = ? ORDER BY e.name, e.type
        """,
        (id,),
    )
    return [Entity(name, type) for name, type in rows]


def remove(db: apsw.Connection, memory: int) -> None:
    """Let a memory, by its row number, be about nothing; forget whom no other is about."""
    about: Any = db.execute(
        "DELETE FROM memory_entities WHERE memory = ? RETURNING entity", (memory,)
    ).fetchall()
    db.executemany(
        "DELETE FROM entities WHERE id = ?"
        " AND NOT EXISTS (SELECT 1 FROM memory_entities WHERE entity = entities.id)",
        about,
    )


def _number(db: apsw.Connection, entity: Entity) -> int:
    bound = {"name": entity.name, "folded": folded(entity.name), "type": entity.type}
    db.execute(
        "INSERT OR IGNORE INTO entities (name, folded, type) VALUES (:name, :folded, :type)", bound
    )
    number: Any = db.execute(
        "SELECT id FROM entities WHERE type = :type AND (folded = :folded OR name = :name)", bound
    ).get
    return int(number)
