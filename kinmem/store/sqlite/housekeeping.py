"""One file is kept in order: what churn has left half empty, and the log.

All of it in pieces, between which others write: nobody waits for longer than for one of them.

There is no PRAGMA optimize here: all queries are written and tested for the plan that they get
without statistics. With those of 10,000 memories, 40 ms to gather, neither recalls nor sleeps
became faster, and a query whose order was left to SQLite took 362 ms instead of 14, since a table
of JSON values is expected to be large.
"""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import apsw

from kinmem.errors import StoreError
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.vectors import VEC0_CHUNK

logger = logging.getLogger(__name__)

SPARSE = VEC0_CHUNK // 2
"""Vectors in a block of vec0 up to which they are moved into a fuller one: vec0 fills the newest
block only, and drops one when it is empty."""
MOST_FREE = 0.25
"""Share of a file's pages that may be free; SQLite uses them again."""
LEAST_FREE = 1 << 20
"""Bytes below which no free pages are worth the trouble."""
PAGES = 500
"""Given back in one transaction."""
SMALL = 256 << 20
"""Bytes up to which a file of an older kinmem, which cannot shrink in pieces, is written anew as a
whole: others wait meanwhile, about a second for each 100 MB."""


def keep_house(database: Database, is_over: Callable[[], bool], dry_run: bool) -> Counter[str]:
    """See Store.keep_house."""
    counts: Counter[str] = Counter()
    for number in _numbers(database):
        _fill_blocks(database, number, is_over, dry_run, counts)
    _give_back(database, is_over, dry_run, counts)
    if not dry_run and not is_over():
        try:
            database.truncate_wal()
        except StoreError as error:  # somebody is reading; the next run does it
            logger.info("the log stays as it is: %s", error)
    return counts


def _numbers(database: Database) -> list[int]:
    return [number for (number,) in database.rows("SELECT id FROM embedders ORDER BY id")]


def _fill_blocks(
    database: Database,
    number: int,
    is_over: Callable[[], bool],
    dry_run: bool,
    counts: Counter[str],
) -> None:
    """Move the vectors of sparse blocks, block by block; counts blocks.

    The last one is still being filled. Fewer than two others would not save one.
    """
    sparse = database.rows(
        f"""
        SELECT chunk_id, count(*) FROM vectors_{number:d}_rowids
        WHERE chunk_id < (SELECT max(chunk_id) FROM vectors_{number:d}_chunks)
        GROUP BY chunk_id HAVING count(*) <= {SPARSE} ORDER BY count(*)
        """
    )
    if len(sparse) < 2:
        return
    if dry_run:
        counts["blocks"] += len(sparse)
        return
    for block, _ in sparse:
        if is_over():
            return
        with database.writing() as db:
            _move(db, number, block)
        counts["blocks"] += 1


def _move(db: apsw.Connection, number: int, block: int) -> None:
    """Into the newest block. What is searched does not change, so no revision goes up."""
    rows: list[Any] = db.execute(
        f"SELECT chunk, embedding FROM vectors_{number:d} WHERE chunk IN"
        f" (SELECT rowid FROM vectors_{number:d}_rowids WHERE chunk_id = ?)",
        (block,),
    ).fetchall()
    db.executemany(f"DELETE FROM vectors_{number:d} WHERE chunk = ?", [row[:1] for row in rows])
    db.executemany(f"INSERT INTO vectors_{number:d} (chunk, embedding) VALUES (?, ?)", rows)


def _give_back(
    database: Database, is_over: Callable[[], bool], dry_run: bool, counts: Counter[str]
) -> None:
    """Free pages back to the disk where there are too many; counts freed_kib."""
    size, free, page, vacuum = (
        int(database.rows(f"PRAGMA {name}")[0][0])
        for name in ("page_count", "freelist_count", "page_size", "auto_vacuum")
    )
    if free * page < LEAST_FREE or free < MOST_FREE * size:
        return
    in_pieces = vacuum == INCREMENTAL
    if not in_pieces and size * page > SMALL:
        return
    if dry_run:
        counts["freed_kib"] += free * page // 1024
        return
    if in_pieces:
        while not is_over() and (left := _shrunk(database)):
            counts["freed_kib"] += left * page // 1024
    elif not is_over():
        with database.alone() as db:  # from now on it can shrink in pieces
            db.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}").fetchall()
            db.execute("VACUUM").fetchall()
        counts["freed_kib"] += free * page // 1024


def _shrunk(database: Database) -> int:
    """How many pages were given back, up to PAGES."""
    with database.writing() as db:
        before: int = db.execute("PRAGMA freelist_count").get
        db.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
        return before - int(db.execute("PRAGMA freelist_count").get)


INCREMENTAL = 2
"""What PRAGMA auto_vacuum calls it."""
