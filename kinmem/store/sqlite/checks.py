"""Finds which rows of a file are damaged, and whether what is made from them agrees with them."""

import re
from collections.abc import Collection, Iterator, Mapping

from kinmem.store.sql.damage import DERIVED, LINE, SUMMED, broken_links
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.document_rows import passage_of
from kinmem.store.sql.memory_rows import COLUMNS as MEMORY
from kinmem.store.sql.memory_rows import indexed, sound, spread

TABLE = re.compile(r"\b(?:FROM|JOIN) (\w+)")
TABLES = """
    SELECT name FROM pragma_table_list
    WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%' ORDER BY name
"""
COLUMNS = "SELECT name, type FROM pragma_table_info(?)"
CHUNKLESS = "WHERE rowid NOT IN (SELECT memory FROM chunks)"
"""Which rows of `memories` no search by meaning can find."""
KEYS: Mapping[str, str] = {"memories": "id"}
"""By table the column that names a row to people, where that is not its number."""


def look_at(db: Transaction, tables: Collection[str]) -> None:
    """Note which rows of these tables hold text that cannot be decoded."""
    for table in sorted(set(tables)):
        if table in DERIVED:
            db.damage.note(table, None, "some of its text is none")
        for key, column in undecodable(db, table):
            db.damage.note(table, key, f"its {column} is no text")


def undecodable(db: Transaction, table: str) -> Iterator[tuple[str, str]]:
    """Yield (key of a row, column) for every text that is no UTF-8."""
    columns = [name for name, type in db.rows(COLUMNS, (table,)) if type == "TEXT"]
    if not columns:
        return
    keys = KEYS.get(table) or ", ".join(key_of(db, table))
    key = " || ' ' || ".join(f"CAST({name} AS BLOB)" for name in keys.split(", "))
    read = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) WHEN 'blob' THEN x'ff' END"
        for name in columns
    )
    for named, *texts in db.rows(f"SELECT CAST({key} AS BLOB), {read} FROM {table}"):
        for column, text in zip(columns, texts, strict=True):
            if text is not None and not is_text(text):
                yield bytes(named or b"?").decode(errors="replace"), column
                break


def key_of(db: Transaction, table: str) -> list[str]:
    """Return the columns of the primary key."""
    sql = "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk"
    return [name for (name,) in db.rows(sql, (table,))] or ["rowid"]


def damaged_rows(db: Transaction) -> Iterator[tuple[str, str, str]]:
    """Yield (table, key, problem) of every row that is not as it was written, or no text."""
    for (table,) in db.rows(TABLES):
        found = dict(undecodable(db, table))
        yield from ((table, key, f"its {column} is no text") for key, column in found.items())
        if table in SUMMED:
            key = KEYS.get(table, "id")
            wrong = f"sum IS NOT {sum_of(db, table)}"
            sql = f"SELECT CAST({key} AS BLOB) FROM {table} WHERE {wrong}"
            for (stored,) in db.rows(sql):
                told = bytes(stored or b"?").decode(errors="replace")
                if told not in found:
                    yield table, told, "it is not as it was written"


def sum_of(db: Transaction, table: str) -> str:
    """Return the expression for the sum that a row should have."""
    columns: dict[str, str] = dict(db.rows(COLUMNS, (table,)))
    values = (
        f"CAST({name} AS BLOB)" if columns[name] == "TEXT" else name for name in SUMMED[table]
    )
    return f"kinmem_sum({', '.join(values)})"


def broken_history(db: Transaction) -> Iterator[tuple[str, str, str]]:
    """Yield (table, key, problem) where the chain of the history does not hold."""
    values = ", ".join(name if name == "write" else f"CAST({name} AS BLOB)" for name in LINE)
    rows = db.rows(f"SELECT seq, seal, {values} FROM history ORDER BY seq")
    erased = {last: link for last, link in db.rows("SELECT last, link FROM erased_lines")}
    for number, problem in broken_links(((row[0], row[1], row[2:]) for row in rows), erased):
        yield "history", str(number), problem


def unlike_memories(db: Transaction) -> Iterator[tuple[str, None, str]]:
    """Yield (table, None, problem) where words or vectors are not those of the memories."""
    memories = db.rows(f"SELECT m.rowid, {MEMORY} FROM memories m ORDER BY m.rowid")
    expected = {row: indexed(memory) for (row,), memory in sound(memories, db.damage)}
    stored = {
        row: tuple(texts)
        for row, *texts in db.rows("SELECT id, c0, c1, c2 FROM words_content WHERE id > 0")
    }
    if any(stored.get(row) != texts for row, texts in expected.items()) or _unlike_parts(db):
        yield "words", None, "they are not those of the memories"
    if count := db.value(f"SELECT count(*) FROM memories {CHUNKLESS}"):
        yield "chunks", None, f"memories without a chunk: {count}"
    for number, name, dimension in db.rows("SELECT id, name, dimension FROM embedders"):
        if problem := _of_vectors(db, number, dimension):
            yield "vectors", None, f"of {name}: {problem}"


def _unlike_parts(db: Transaction) -> bool:
    """Return whether the words of a part of a document are not those of its text."""
    rows = db.rows(
        """
        SELECT w.c0, w.c1, coalesce(c.text, m.content), c.metadata
        FROM words_content w JOIN chunks c ON c.id = -w.id JOIN memories m ON m.rowid = c.memory
        WHERE w.id < 0
        """
    )
    return any(
        (text, heading) != (spread(said), spread(passage_of(metadata).heading))
        for text, heading, said, metadata in rows
    )


def _has_leftovers(db: Transaction, number: int, dimension: int) -> bool:
    """Return whether there is anything in slots for vectors that are not in use."""
    import numpy as np

    rows = db.rows(
        f"SELECT validity, vectors FROM vectors_{number:d}_chunks c"
        f" JOIN vectors_{number:d}_vector_chunks00 v ON v.rowid = c.chunk_id"
    )
    for validity, vectors in rows:
        used = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
        slots = np.frombuffer(vectors, np.uint8).reshape(-1, 4 * dimension)
        if slots[~used[: len(slots)]].any():
            return True
    return False


def _of_vectors(db: Transaction, number: int, dimension: int) -> str | None:
    """Return what is wrong with the vectors of an embedder: each must be of length 1."""
    import numpy as np

    done = set()
    for chunk, vector in db.rows(f"SELECT chunk, embedding FROM vectors_{number:d}"):
        done.add(chunk)
        length = float(np.linalg.norm(np.frombuffer(vector, np.float32).astype(np.float64)))
        if len(vector) != 4 * dimension or not abs(length - 1) < FAR:
            return f"that of chunk {chunk} is none"
    waiting = {id for (id,) in db.rows("SELECT chunk FROM pending WHERE embedder = ?", (number,))}
    if done | waiting != {id for (id,) in db.rows("SELECT id FROM chunks")} or done & waiting:
        return "they are not those of the chunks"
    return "some are where none should be" if _has_leftovers(db, number, dimension) else None


FAR = 1e-5
"""Of a vector's length from 1: what rounding never does."""


def is_text(stored: bytes) -> bool:
    try:
        stored.decode()
    except UnicodeDecodeError:
        return False
    return True
