"""Whether the parts of a SQLite store agree with each other, as they must after any crash."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import apsw

from kinmem.models import Filters, Memory, State
from kinmem.store.sql.memory_rows import COLUMNS, indexed, memory_of
from kinmem.store.sqlite.store import SqliteFile, SqliteStore

EVERY_STATE = Filters(states=tuple(State))


def everything(store: SqliteStore) -> list[Memory]:
    """All memories that the Kin sees, in whatever state."""
    memories: list[Memory] = []
    cursor = None
    while True:
        page = store.page(EVERY_STATE, "oldest", 200, cursor)
        memories += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return memories


def problems(store: SqliteStore) -> list[str]:
    """What is wrong, in words; empty if all is well."""
    found = [
        f"{book.database.path.name}: {problem}"
        for book in store.files
        for problem in _problems_of(book)
    ]
    found += _unlike_copies(store)
    memories = everything(store)
    ids = [memory.id for memory in memories]
    found += [f"{id} is there twice" for id in set(ids) if ids.count(id) > 1]
    for memory in memories:
        book = store.files.own if memory.kin == store.kin else store.files.shared
        if len(book.by_ids([memory.id])) != 1:
            found.append(f"{memory.id} is {memory.kin}'s, but lies elsewhere")
        if memory.kin == store.kin:
            writes = len({line.write for line in store.history(memory.id, 10_000)})
            if writes != memory.version:
                found.append(f"{memory.id} was written {writes} times at version {memory.version}")
    return found


def _unlike_copies(store: SqliteStore) -> Iterator[str]:
    """What of the Kin's copies is not as it is in the originals. Others' uses that the originals do
    not count yet make no difference, nor does what only upkeep looks at."""
    own, shared = store.files
    if own.database.rows("SELECT 1 FROM outbox"):
        yield "something is not published"
    for table in ("outbox", "history", "old_texts", "tier_changes", "turns", "conflicts"):
        who = " WHERE kin = ?" if table == "history" else " WHERE ? NOT NULL"
        if shared.database.rows(f"SELECT 1 FROM {table}{who}", (store.kin,)):
            yield f"shared.db has {table}"
    originals, copies = _told(own, "scope = 'shared'"), _told(shared, f"kin = '{store.kin}'")
    for id in originals.keys() | copies.keys():
        (original, vectors), (copy, known) = originals.get(id, NONE), copies.get(id, NONE)
        if original != copy or not vectors <= known:  # others may have made some
            yield f"the copy of {id} is not as it is: {copy} and {original}"
    told = f"SELECT {', '.join(LINK)} FROM links WHERE {{}}"
    known = {*copies, *(id for (id,) in shared.database.rows("SELECT id FROM memories"))}
    said = {
        row
        for row in own.database.rows(told.format("1"))
        if known.issuperset(row[:2]) and originals.keys() & set(row[:2])
    }
    published = set(shared.database.rows(told.format("kin = ?"), (store.kin,)))
    if said != published:
        yield f"published links are not the own ones: {said ^ published}"


UNLIKE = ("tagged_at", "linked_at", "scored_at", "recalled_count", "recalled_at")


def _told(book: SqliteFile, which: str) -> dict[str, tuple[object, set[object]]]:
    """By id a memory with its words, chunks, tags, entities and summaries; its vectors."""
    with book.database.reading() as db:
        rows = db.rows(f"SELECT m.rowid, {COLUMNS} FROM memories m WHERE {which}")
        found: dict[str, tuple[object, set[object]]] = {}
        for row, *columns in rows:
            memory = replace(memory_of(columns), **dict.fromkeys(UNLIKE))
            parts = [db.rows(sql, (row,)) for sql in PARTS]
            vectors: set[object] = {
                (name, *vector)
                for number, name in db.rows("SELECT id, name FROM embedders")
                for vector in db.rows(
                    "SELECT c.position, v.embedding FROM chunks c"
                    f" JOIN vectors_{number} v ON v.chunk = c.id WHERE c.memory = ?",
                    (row,),
                )
            }
            found[memory.id] = ((memory, parts), vectors)
        return found


NONE: tuple[object, set[object]] = (None, set())
LINK = ("source", "target", "relation", "weight", "confidence", "origin", "evidence", "created_at")
PARTS = (
    "SELECT position, layer, text, metadata FROM chunks WHERE memory = ? ORDER BY position",
    "SELECT content, subject, context FROM words WHERE rowid = ?",
    "SELECT w.content, w.subject FROM chunks c JOIN words w ON w.rowid = -c.id WHERE c.memory = ?"
    " ORDER BY c.position",
    "SELECT e.folded, e.type, a.alias FROM memory_entities a JOIN entities e ON e.id = a.entity"
    " WHERE a.memory = ? ORDER BY 1, 2",
    "SELECT s.folded, r.relation, t.folded FROM relations r JOIN entities s ON s.id = r.source"
    " JOIN entities t ON t.id = r.target WHERE r.memory = ? ORDER BY 1, 2, 3",
    "SELECT scope, text, model, tier FROM summaries WHERE memory = ? ORDER BY id",
    "SELECT tag FROM tags WHERE memory = ? ORDER BY 1",
    "SELECT session, turn FROM memory_turns WHERE memory = ? ORDER BY 1, 2",
    "SELECT entities_read FROM memories WHERE rowid = ?",
)


def _problems_of(book: SqliteFile) -> Iterator[str]:
    # A connection that has seen the file before has FTS5 compare it with what it remembers:
    # quick_check then reports damage where another process has merely erased something.
    with closing(book.database._connect()) as db:
        for pragma in ("quick_check", "foreign_key_check"):
            yield from (
                f"{pragma} {row}" for row in db.execute(f"PRAGMA {pragma}") if row != ("ok",)
            )
        try:
            db.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 0)")
        except apsw.Error as error:
            yield f"word index: {error}"
        said_in = "SELECT rowid, * FROM words WHERE rowid > 0"  # below: chunks of documents
        texts = {row: tuple(said) for row, *said in db.execute(said_in)}
        rows = db.execute(f"SELECT m.rowid, {COLUMNS} FROM memories m").fetchall()
        if {row[0]: indexed(memory_of(row[1:])) for row in rows} != texts:
            yield "words and memories differ"
        said = {(row[0], tag) for row in rows for tag in memory_of(row[1:]).tags}
        if said != set(db.execute("SELECT memory, tag FROM tags")):
            yield "tags and memories differ"
        if book.database.path.name == "shared.db":
            here = {memory_of(row[1:]).id for row in rows}
            for ends in db.execute("SELECT source, target FROM links"):
                yield from (f"a shared link names {id}" for id in ends if id not in here)
        chunks = {id for (id,) in db.execute("SELECT id FROM chunks")}
        if {row for (row,) in db.execute("SELECT memory FROM chunks")} != {row[0] for row in rows}:
            yield "chunks and memories differ"
        alone = "SELECT id FROM entities WHERE id NOT IN (SELECT entity FROM memory_entities)"
        yield from (f"nothing is about entity {id}" for (id,) in db.execute(alone))
        foreign = (
            "SELECT memory FROM relations r WHERE 2 != (SELECT count(*) FROM memory_entities a"
            " WHERE a.memory = r.memory AND a.entity IN (r.source, r.target))"
        )
        yield from (f"memory {row} relates what it is not about" for (row,) in db.execute(foreign))
        for number, name in db.execute("SELECT id, name FROM embedders").fetchall():
            done = {id for (id,) in db.execute(f"SELECT chunk FROM vectors_{number}")}
            queue = db.execute("SELECT chunk FROM pending WHERE embedder = ?", (number,))
            waiting = {id for (id,) in queue}
            if done & waiting or done | waiting != chunks:
                yield f"{name}: {len(done)} done, {len(waiting)} waiting, {len(chunks)} chunks"
