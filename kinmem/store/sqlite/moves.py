"""Moves between the files of one Kin, which are two transactions: the target's, then the source's.

Cut short between them, a move leaves an old copy in the source. The target's table `moves` tells,
so that the copy is overlooked until somebody removes it.
"""

import json
from typing import Any

import apsw

from kinmem.models import Memory
from kinmem.store.sqlite import edges
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.lines import carry
from kinmem.store.sqlite.parts import carry_texts

FORGET = "DELETE FROM moves WHERE memory = ?"


def move(new: Memory, row: int, source: Book, source_db: Any, target: Book, db: Any) -> None:
    """Put a memory into the target and take it out of the source; commits neither.

    `row` is its number in the source.
    """
    target.copy_in(db, new, source, source_db, row)
    db.execute(
        "INSERT OR REPLACE INTO moves (memory, kin, version) VALUES (?, ?, ?)",
        (new.id, new.kin, new.version),
    )
    if new.scope == "private":
        carry(source_db, db, new.id)  # what was shared leaves no texts behind
        carry_texts(source_db, db, new.id)
    edges.carry(new.id, source_db, db, new.scope)
    source.delete(source_db, new.id)
    source_db.execute(FORGET, (new.id,))  # it had come from where it goes


def ended(book: Book, memory: Memory) -> None:
    """Both transactions are done: there is no old copy."""
    with book.database.writing() as db:
        db.execute(f"{FORGET} AND version <= ?", (memory.id, memory.version))


def marked(book: Book, kin: str) -> dict[str, int]:
    """Ids and versions of memories that may have left an old copy in the other file."""
    rows = book.database.rows("SELECT memory, version FROM moves WHERE kin = ?", (kin,))
    return dict(rows)


def left_behind(book: Book, other: Book, kin: str) -> list[str]:
    """Ids of the copies in a file that have been moved to the other one."""
    moved = marked(other, kin)
    if not moved:
        return []
    rows = book.database.rows(
        "SELECT m.id FROM json_each(?) JOIN memories m ON m.id = key WHERE m.version < value",
        (json.dumps(moved),),
    )
    return [id for (id,) in rows]


def in_both(one: Book, other: Book, kin: str) -> list[str]:
    """Ids that both files hold; takes as long as reading all that the Kin shares."""
    rows = one.database.rows("SELECT id FROM memories WHERE kin = ?", (kin,))
    return [memory.id for _, memory in other.by_ids([id for (id,) in rows])]


def finish(id: str, dbs: dict[Book, apsw.Connection]) -> None:
    """Of two copies the later version stays. Its file forgets the move last."""
    versions = {book: one[1].version for book, db in dbs.items() if (one := book.find(db, id))}
    for db in dbs.values():
        db.execute(FORGET, (id,))
    if len(versions) < 2:  # somebody else was faster
        return
    stale = min(versions, key=versions.__getitem__)
    scope: Any = dbs[stale].execute("SELECT scope FROM memories WHERE id = ?", (id,)).get
    stale.delete(dbs[stale], id)
    if scope == "shared":
        dbs[stale].execute("DELETE FROM history WHERE memory_id = ?", (id,))
        edges.forget(dbs[stale], id)
    stale.commit(dbs[stale])
