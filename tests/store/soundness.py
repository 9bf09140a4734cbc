"""Whether the parts of a SQLite store agree with each other, as they must after any crash."""

from collections.abc import Iterator
from contextlib import closing

import apsw

from kinmem.models import Filters, Memory, State
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.queries import COLUMNS, indexed, memory_of
from kinmem.store.sqlite.sharing import in_both
from kinmem.store.sqlite.store import SqliteStore

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
    found += [
        f"{id} lies in both files" for id in in_both(store.files.shared, store.files.own, store.kin)
    ]
    memories = everything(store)
    ids = [memory.id for memory in memories]
    found += [f"{id} is there twice" for id in set(ids) if ids.count(id) > 1]
    for memory in memories:
        book = store.files.by_scope[memory.scope]
        if len(book.by_ids([memory.id])) != 1:
            found.append(f"{memory.id} says it is {memory.scope}, but lies elsewhere")
        if memory.kin == store.kin:
            writes = len({line.write for line in store.history(memory.id, 10_000)})
            if writes != memory.version:
                found.append(f"{memory.id} was written {writes} times at version {memory.version}")
    return found


def _problems_of(book: MemoryFile) -> Iterator[str]:
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
        if db.execute("SELECT count(*) FROM moves").get:
            yield "a move is not finished"
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
