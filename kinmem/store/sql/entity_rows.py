"""Who and what memories are about, each once by folded name and type, and what is said of them.

Triggers see to the rest: a changed content loses what was read out of it, and an entity goes with
the last memory about it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kinmem.models import Entity, EntityType, Knowledge
from kinmem.store.records import EntityRecord, RelationRecord
from kinmem.store.sql.database import Row, Transaction
from kinmem.store.sql.memory_rows import IS_LIVE, time_text
from kinmem.text import folded

MOST_PARTS = 50
"""Of a document only the beginning is read."""
READ = "UPDATE memories SET entities_read = 1 WHERE rowid = ?"


def put(db: Transaction, memory: int, knowledge: Knowledge, at: datetime) -> None:
    """Store the entities and relations of a memory, given by its row number, and mark it as
    read."""
    numbers = _mention(db, memory, knowledge.entities)
    if knowledge.relations:
        parts = _parts(db, memory)
        db.run_each(
            "INSERT INTO relations"
            " (memory, source, relation, target, chunk, origin, confidence, verified_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [
                (
                    memory,
                    source,
                    one.relation,
                    target,
                    _place(parts, one.source, one.target),
                    knowledge.origin,
                    one.confidence,
                    time_text(at),
                )
                for one in knowledge.relations
                if (source := numbers[folded(one.source)])
                != (target := numbers[folded(one.target)])
            ],
        )
    db.run(READ, (memory,))


def of(db: Transaction, memory: int) -> list[Entity]:
    """Return the entities of a memory, given by its row number, sorted by name."""
    rows = db.rows(
        "SELECT e.name, e.type FROM entities e JOIN memory_entities ON entity = e.id"
        " WHERE memory = ? ORDER BY e.name, e.type",
        (memory,),
    )
    return [Entity(name, type) for name, type in rows]


def copy(from_db: Transaction, source: int, db: Transaction, target: int) -> bool:
    """Copy a memory's entities and relations from another file; returns whether they were
    different."""
    there = _told(from_db, source)
    if there == _told(db, target):
        return False
    about, said, was_read = there
    db.run("DELETE FROM relations WHERE memory = ?", (target,))
    db.run("DELETE FROM memory_entities WHERE memory = ?", (target,))
    names = _names(from_db, source)
    numbers = {key: _exactly(db, Entity(name, key[1])) for key, name in names.items()}
    db.run_each(
        "INSERT INTO memory_entities (memory, entity, alias, folded) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [(target, numbers[row[:2]], *row[2:]) for row in about],
    )
    db.run_each(
        "INSERT INTO relations"
        " (memory, source, target, relation, chunk, origin, confidence, verified_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(target, numbers[row[:2]], numbers[row[2:4]], *row[4:]) for row in said],
    )
    db.run("UPDATE memories SET entities_read = ? WHERE rowid = ?", (was_read, target))
    return True


def restore(
    db: Transaction,
    memory: int,
    entities: Sequence[EntityRecord],
    relations: Sequence[RelationRecord],
    is_read: bool,
) -> None:
    """Store what an export says of the entities of a memory, given by its row number."""
    numbers: dict[tuple[str, str], int] = {}

    def number(name: str, type: EntityType) -> int:
        if (name, type) not in numbers:
            numbers[name, type] = _exactly(db, Entity(name, type))
        return numbers[name, type]

    db.run_each(
        "INSERT INTO memory_entities (memory, entity, alias, folded) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [
            (memory, number(one.name, one.type), one.alias, one.alias and folded(one.alias))
            for one in entities
        ],
    )
    db.run_each(
        "INSERT INTO relations"
        " (memory, source, target, relation, chunk, origin, confidence, verified_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (
                memory,
                number(*one.source),
                number(*one.target),
                one.relation,
                one.chunk,
                one.origin,
                one.confidence,
                time_text(one.verified_at),
            )
            for one in relations
        ],
    )
    db.run("UPDATE memories SET entities_read = ? WHERE rowid = ?", (int(is_read), memory))


def _names(db: Transaction, memory: int) -> dict[Any, str]:
    """Return the names of a memory's entities as they are written, by (folded name, type)."""
    rows = db.rows(
        "SELECT e.folded, e.type, e.name FROM memory_entities JOIN entities e ON e.id = entity"
        " WHERE memory = ?",
        (memory,),
    )
    return {(plain, type): name for plain, type, name in rows}


def _told(db: Transaction, memory: int) -> tuple[list[Row], list[Row], int]:
    """Return a memory's entities, its relations, and whether entities were extracted from it.
    Nothing in the rows depends on the numbers of one file, so rows of two files can be compared."""
    about = db.rows(
        "SELECT e.folded, e.type, alias, me.folded FROM memory_entities me"
        " JOIN entities e ON e.id = entity WHERE memory = ? ORDER BY 1, 2",
        (memory,),
    )
    said = db.rows(
        """
        SELECT s.folded, s.type, t.folded, t.type, relation, chunk, origin, confidence, verified_at
        FROM relations r JOIN entities s ON s.id = source JOIN entities t ON t.id = target
        WHERE r.memory = ? ORDER BY 1, 2, 3, 4, 5
        """,
        (memory,),
    )
    was_read = db.value("SELECT entities_read FROM memories WHERE rowid = ?", (memory,))
    return about, said, int(was_read)


def merge(db: Transaction, kept: int, gone: int) -> None:
    """Transfer everything about one entity to another; its name becomes an alias."""
    name = db.value("SELECT name FROM entities WHERE id = ?", (gone,))
    db.run(
        "UPDATE memory_entities SET entity = :kept, alias = coalesce(alias, :name),"
        " folded = coalesce(folded, :folded) WHERE entity = :gone"
        " AND memory NOT IN (SELECT memory FROM memory_entities WHERE entity = :kept)",
        {"kept": kept, "gone": gone, "name": name, "folded": folded(name)},
    )
    for end, other in (("source", "target"), ("target", "source")):
        db.run(
            f"""
            UPDATE relations SET {end} = :kept WHERE {end} = :gone AND NOT EXISTS (
                SELECT 1 FROM relations known
                WHERE known.memory = relations.memory AND known.relation = relations.relation
                    AND known.{end} = :kept AND known.{other} = relations.{other}
            )
            """,
            {"kept": kept, "gone": gone},
        )
    db.run("DELETE FROM relations WHERE source = ? AND target = source", (kept,))
    db.run("DELETE FROM entities WHERE id = ?", (gone,))  # with whatever was there twice


def _mention(db: Transaction, memory: int, entities: Sequence[Entity]) -> dict[str, int]:
    """Store a memory's entities; returns their numbers by folded name."""
    numbers = {}
    for entity in entities:
        number, name = _number(db, entity)
        alias = entity.alias if folded(name) == folded(entity.name) else entity.name
        db.run(
            "INSERT INTO memory_entities (memory, entity, alias, folded)"
            " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (memory, number, alias, alias and folded(alias)),
        )
        numbers[folded(entity.name)] = number
    return numbers


def _number(db: Transaction, entity: Entity) -> tuple[int, str]:
    """Return number and name of an entity. It is the known one with this name and a type that can
    be the same; else the only one with this alias; else a new one."""
    plain = folded(entity.name)
    rows = db.rows("SELECT id, type, name FROM entities WHERE folded = ?", (plain,))
    by_type = {type: (id, name) for id, type, name in rows}
    if entity.type in by_type:
        return by_type[entity.type]
    if entity.type == "other" and len(rows) == 1:
        return rows[0][0], rows[0][2]
    if "other" in by_type:
        db.run("UPDATE entities SET type = ? WHERE id = ?", (entity.type, by_type["other"][0]))
        return by_type["other"]
    return _called(db, plain, entity.type) or (_exactly(db, entity), entity.name)


def _called(db: Transaction, plain: str, type: EntityType) -> tuple[int, str] | None:
    """Return number and name of the only entity that live memories call by this alias, provided
    that no other entity's name begins with it; None if there is none."""
    found = db.rows(
        f"""
        SELECT DISTINCT e.id, e.name, e.type FROM memory_entities me
        JOIN entities e ON e.id = me.entity JOIN memories m ON m.rowid = me.memory
        WHERE me.folded = ? AND {IS_LIVE}
        """,
        (plain,),
    )
    fitting = [(id, name) for id, name, known in found if "other" in (type, known) or type == known]
    if len(fitting) != 1:
        return None
    others = db.value(
        "SELECT count(*) FROM entities WHERE folded > :plain || ' ' AND folded < :plain || '!'"
        " AND id != :id",
        {"plain": plain, "id": fitting[0][0]},
    )
    return None if others else fitting[0]


def _exactly(db: Transaction, entity: Entity) -> int:
    """Return the number of the entity with exactly this name and type, which may be new."""
    bound = {"name": entity.name, "folded": folded(entity.name), "type": entity.type}
    db.run(
        "INSERT INTO entities (name, folded, type) VALUES (:name, :folded, :type)"
        " ON CONFLICT DO NOTHING",
        bound,
    )
    number = db.value(
        "SELECT id FROM entities WHERE type = :type AND (folded = :folded OR name = :name)", bound
    )
    return int(number)


def _parts(db: Transaction, memory: int) -> list[tuple[int, str]]:
    """Return positions and folded texts of a memory's first chunks, if it has several."""
    rows = db.rows(
        "SELECT position, text FROM chunks WHERE memory = ? AND text IS NOT NULL"
        " ORDER BY position LIMIT ?",
        (memory, MOST_PARTS),
    )
    return [(position, folded(text)) for position, text in rows]


def _place(parts: Sequence[tuple[int, str]], *names: str) -> int:
    """Return the first chunk that has all the names; otherwise the first that has any of them."""
    plain = [folded(name) for name in names]
    for enough in (all, any):
        for position, text in parts:
            if enough(name in text for name in plain):
                return position
    return 0
