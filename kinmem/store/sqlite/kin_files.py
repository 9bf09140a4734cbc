"""Opens the two files of a Kin, and brings originals home that an earlier version kept elsewhere.

Up to version 6 a shared memory was in shared.db alone. When its author's Kin is opened for the
first time since, its memories there are copied into its own file, with their history and all that
belongs to them, in one transaction that is done once. Whoever has not been opened since goes on
being read from shared.db. What is nobody else's to know is removed there after that, in a second
transaction; cut short between them, the next opening does it. Both files were backed up when their
schema was upgraded (connection.py).
"""

import json
import logging
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kinmem.clock import Clock
from kinmem.errors import StoreError
from kinmem.models.links import AUTO
from kinmem.store.sql import link_rows
from kinmem.store.sql.database import Row, Transaction
from kinmem.store.sql.history_rows import COLUMNS, next_write
from kinmem.store.sql.hybrid_search import SearchedFile
from kinmem.store.sql.link_rows import FIELDS, ORIGIN, PUT_NEW
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import IN_IDS
from kinmem.store.sql.publishing import bring
from kinmem.store.sql.sharing import KinFiles
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.disk import Reserve, check_locks, note_of
from kinmem.store.sqlite.driver import translated
from kinmem.store.sqlite.indexes import ChunkVectors, WordIndex
from kinmem.store.sqlite.mending import forget_embedder, unnamed_embedders
from kinmem.store.sqlite.migrating import BeforeUpgrade, without_backup
from kinmem.store.sqlite.nearest_chunks import NearestChunks
from kinmem.store.sqlite.owner_file import give_back, is_used, take

logger = logging.getLogger(__name__)

SHARED = "shared.db"
MARK = "SELECT value FROM marks WHERE name = 'adopted'"
SET_MARK = "INSERT OR REPLACE INTO marks (name, value) VALUES ('adopted', ?)"
HOME, DONE = 1, 2
"""The originals are in the own file; and what was to go from shared.db is gone."""
COPIED = (
    ("lineage", "child", "child, parent"),
    ("tier_changes", "memory_id", "memory_id, from_tier, to_tier, reason, at"),
    ("old_texts", "memory_id", "memory_id, content_hash, base, delta, at"),
    ("others_uses", "memory", "memory, count, at"),
)
"""What else is kept of a memory: the table, the column that names the memory, and all columns."""
TIDIED = (
    "DELETE FROM history WHERE kin = :kin",
    "DELETE FROM tier_changes WHERE memory_id IN (SELECT id FROM memories WHERE kin = :kin)",
    "DELETE FROM old_texts WHERE memory_id IN (SELECT id FROM memories WHERE kin = :kin)",
)
"""What belongs to the originals alone."""
UNCLAIMED = f"""
    SELECT {", ".join(FIELDS)} FROM links WHERE kin = '' AND (
        source IN (SELECT id FROM memories WHERE kin = :kin)
        OR target IN (SELECT id FROM memories WHERE kin = :kin)
    )
"""
LINKED = """
    SELECT id FROM memories
    WHERE scope = 'shared' AND id IN (SELECT source FROM links UNION SELECT target FROM links)
"""


def adopt(own: MemoryFile, shared: MemoryFile, kin: str) -> None:
    """Copy the originals of all that a Kin shares into its own file. Raises StoreError."""
    how_far = own.database.rows(MARK)
    if not how_far:
        _come_home(own, shared, kin)
    if not how_far or how_far[0][0] < DONE:
        try:
            _tidy(own, shared, kin)
        except StoreError as error:
            logger.warning("what has come home is removed from shared.db later: %s", error)


def _come_home(own: MemoryFile, shared: MemoryFile, kin: str) -> None:
    with own.changing() as db, shared.database.snapshot() as source:
        if db.value(MARK):  # another process has done it
            return
        found = source.rows("SELECT id FROM memories WHERE kin = ?", (kin,))
        ids = [id for (id,) in found]
        ended = [id for id in ids if not _adopt(source, own, db, id)]
        for table, column, columns in COPIED:
            rows = source.rows(
                f"SELECT {columns} FROM {table} WHERE {column} {IN_IDS}", {"ids": json.dumps(ids)}
            )
            places = ", ".join("?" * len(columns.split(",")))
            sql = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
            db.run_each(sql, rows)
        _bring_history(source, db, kin, but=ended)
        _number_older(db, kin)
        db.run_each(PUT_NEW, _links(source, db, kin, ids))
        # How far steps had come in the changes of shared.db, where there is nothing to do now; and
        # the greatest number of a write, which the history has.
        db.run(
            "DELETE FROM marks WHERE name LIKE '% shared' OR name IN ('write', 'entities private')"
        )
        db.run(SET_MARK, (HOME,))
        db.run_each("INSERT INTO unpublished VALUES (?)", [(id,) for id in ended])


def _bring_history(
    source: Transaction, db: Transaction, kin: str, but: Collection[str] = ()
) -> None:
    """Copy a Kin's lines from another file, behind all that are here, but for some memories'."""
    lines = source.rows(
        f"SELECT {COLUMNS} FROM history WHERE kin = :kin AND memory_id NOT {IN_IDS} ORDER BY seq",
        {"kin": kin, "ids": json.dumps(list(but))},
    )
    db.run_each(f"INSERT INTO history ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", lines)


def _number_older(db: Transaction, kin: str) -> None:
    """Give those lines their numbers that version 2 wrote, in a file that has all of the Kin's."""
    lines = db.rows(
        "SELECT seq, at, memory_id, action FROM history WHERE kin = ? AND write = 0 ORDER BY seq",
        (kin,),
    )
    first = next_write(db, kin)
    for number, write in enumerate(_writes(lines), first):
        db.run_each("UPDATE history SET write = ? WHERE seq = ?", [(number, seq) for seq in write])


def _writes(lines: Sequence[Row]) -> Iterator[list[int]]:
    """Yield the line numbers of each write, in the order in which the writes were done.

    The lines of a memory keep their order, whatever the clock said; writes are ordered by time. A
    move and the change made together with it were recorded in two files, at the same moment.
    """
    writes: dict[str, list[tuple[str, str, list[int]]]] = {}
    for seq, at, memory, action in lines:
        of = writes.setdefault(memory, [])
        when, last, places = of[-1] if of else ("", "created", [])
        if action == "moved" and at == when and last == "updated":
            places.append(seq)
        else:
            of.append((max(at, when), action, [seq]))
    done = [write for of in writes.values() for write in of]
    yield from (places for _, _, places in sorted(done, key=lambda write: (write[0], write[2][0])))


def _adopt(source: Transaction, own: MemoryFile, db: Transaction, id: str) -> bool:
    """Copy a memory, and return whether shared.db has the original. It has not if the memory was on
    its way into the own file, which then has a later version."""
    theirs, known = own.find(source, id), own.find(db, id)
    assert theirs is not None
    if known is not None and known[1].version >= theirs[1].version:
        return False
    if known is not None:
        own.delete(db, id)
    bring(source, *theirs, own, db)
    return True


def _links(source: Transaction, db: Transaction, kin: str, ids: Sequence[str]) -> list[Row]:
    """Return a Kin's links: between own memories all; with others' memories those that upkeep found
    or that the Kin's history mentions. What others have said is theirs to take home."""
    rows = source.rows(UNCLAIMED, {"kin": kin})
    mine = set(ids)
    return [
        row
        for row in rows
        if mine.issuperset(row[:2]) or row[ORIGIN] == AUTO or _has_said(db, *row[:2])
    ]


def _has_said(db: Transaction, one: str, other: str) -> bool:
    """Return whether a line of the Kin's history has changed the links between these two."""
    lines = db.rows(
        "SELECT before, after FROM history WHERE memory_id IN (?, ?)"
        " AND after ->> '$.links' NOT NULL",
        (one, other),
    )
    return any(_said(before, one, other) != _said(after, one, other) for before, after in lines)


def _said(told: str | None, *ends: str) -> list[Any]:
    return [link for link in json.loads(told or "{}").get("links", ()) if link["id"] in ends]


def _tidy(own: MemoryFile, shared: MemoryFile, kin: str) -> None:
    """Remove from shared.db what is in the own file now, and record the owner of each link."""
    with shared.database.writing() as db, own.database.snapshot() as source:
        for sql in TIDIED:
            db.run(sql, {"kin": kin})
        rows = db.rows(UNCLAIMED, {"kin": kin})
        which = "source = ? AND target = ? AND relation = ?"
        for row in rows:
            if source.value(f"SELECT 1 FROM links WHERE {which}", row[:3]):
                db.run(f"DELETE FROM links WHERE {which} AND kin = ''", row[:3])
        linked = source.rows(LINKED)
        for (id,) in linked:
            link_rows.publish(id, kin, source, db)
    with own.database.writing() as db:
        db.run(SET_MARK, (DONE,))


def forget_unnamed(database: SqliteDatabase) -> None:
    """Let embedders be enrolled anew whose names are damaged: nothing works without their list."""
    with database.reading() as db:
        unnamed = unnamed_embedders(db)
    if unnamed:
        with database.writing() as db:
            for number in unnamed:
                forget_embedder(db, number)
        logger.warning("%s: the vectors of a damaged embedder are made again", database.path.name)


class SqliteFile(SearchedFile):
    """One SQLite file, whoever's it is, and what of it is in memory."""

    database: SqliteDatabase

    def __init__(
        self,
        path: Path,
        kin: str,
        before_upgrade: BeforeUpgrade = without_backup,
        note: Path | None = None,
    ) -> None:
        """Open or create it. Raises StoreError, see SqliteDatabase."""
        database = SqliteDatabase(path, before_upgrade=before_upgrade, note=note)
        forget_unnamed(database)
        near = NearestChunks(database)
        self._copies = near.copies
        self.near = near
        super().__init__(database, WordIndex(), ChunkVectors(database, near.copies), kin)

    def close(self) -> None:
        """Release the file. A second call does nothing."""
        self._copies.close()
        self.database.close()


class SqliteFiles(KinFiles[SqliteFile]):
    """`kins/<kin>.db` and `shared.db` below a folder. Never opens another Kin's file."""

    def __init__(
        self, home: Path, kin: str, clock: Clock, before_upgrade: BeforeUpgrade = without_backup
    ) -> None:
        """Open or create both. What was to be published before a crash is published now, and what
        version 6 had in shared.db alone comes home. Raises StoreError."""
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(home, os.W_OK) and not is_used(home):
                check_locks(home)
            take(home)
        try:
            self._open(home, kin, clock, before_upgrade)
        except BaseException:
            give_back(home)
            raise

    def _open(self, home: Path, kin: str, clock: Clock, before_upgrade: BeforeUpgrade) -> None:
        self._home: Path | None = home
        self.reserve = Reserve(home)
        name = f"kins/{kin}.db"
        own = SqliteFile(home / name, kin, before_upgrade, note_of(home, name))
        try:
            shared = SqliteFile(home / SHARED, kin, before_upgrade, note_of(home, SHARED))
        except BaseException:
            own.close()
            raise
        super().__init__(own, shared, kin, clock)
        try:
            if not (own.database.is_read_only or shared.database.is_read_only):
                adopt(own, shared, kin)
                self.copies.catch_up()
        except BaseException:
            self._close_files()
            raise

    def empty_logs(self) -> None:
        """Move what is in the logs into the files, as far as nobody is in the way."""
        for file in self:
            with suppress(StoreError):
                file.database.empty_log()

    def close(self) -> None:
        """Close both files. A second call does nothing."""
        self._close_files()
        if self._home is not None:
            give_back(self._home)
            self._home = None

    def _close_files(self) -> None:
        for file in self:
            file.close()
