"""The store of one Kin in SQLite: its two files, opened together, and what is done with them."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kinmem.clock import Clock, utc_now
from kinmem.errors import StoreError
from kinmem.models import Damaged, Health
from kinmem.settings import kin_name
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.history_rows import ERASED_KEPT, compact
from kinmem.store.sql.hybrid_search import SearchedFile
from kinmem.store.sql.memory_rows import time_text
from kinmem.store.sql.search_index import SqlIndex
from kinmem.store.sql.sharing import KinFiles
from kinmem.store.sql.sql_store import SqlStore
from kinmem.store.sql.turn_search import SqlTranscript
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.disk import Reserve, check_locks, note_of, with_reserve
from kinmem.store.sqlite.driver import is_damage, lacks_index, translated
from kinmem.store.sqlite.indexes import VEC0_CHUNK, ChunkVectors, SaidWords, TurnVectors, WordIndex
from kinmem.store.sqlite.mending import (
    broken_history,
    damaged_rows,
    forget_embedder,
    is_broken,
    mended,
    unlike_memories,
    unnamed_embedders,
)
from kinmem.store.sqlite.migrating import BeforeUpgrade, adopt, without_backup
from kinmem.store.sqlite.name_traces import SqliteForgetting
from kinmem.store.sqlite.nearest_chunks import NearestChunks
from kinmem.store.sqlite.owner_file import give_back, is_used, take

logger = logging.getLogger(__name__)
SHARED = "shared.db"


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
        *,
        is_brief: bool = False,
    ) -> None:
        """Open or create it. Raises StoreError, see SqliteDatabase."""
        database = SqliteDatabase(path, before_upgrade=before_upgrade, note=note, is_brief=is_brief)
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
        self,
        home: Path,
        kin: str,
        clock: Clock,
        before_upgrade: BeforeUpgrade = without_backup,
        *,
        is_brief: bool = False,
    ) -> None:
        """Open or create both. What was to be published before a crash is published now, and what
        version 6 had in shared.db alone comes home. Raises StoreError; see SqliteDatabase."""
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(home, os.W_OK) and not is_used(home):
                check_locks(home)
            take(home)
        try:
            self._open(home, kin, clock, before_upgrade, is_brief=is_brief)
        except BaseException:
            give_back(home)
            raise

    def _open(
        self,
        home: Path,
        kin: str,
        clock: Clock,
        before_upgrade: BeforeUpgrade,
        *,
        is_brief: bool,
    ) -> None:
        self._home: Path | None = home
        self.reserve = Reserve(home)
        opened = partial(SqliteFile, is_brief=is_brief)
        name = f"kins/{kin}.db"
        own = opened(home / name, kin, before_upgrade, note_of(home, name))
        try:
            shared = opened(home / SHARED, kin, before_upgrade, note_of(home, SHARED))
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


def examine(database: SqliteDatabase, home: Path, *, deep: bool = False) -> Health:
    """Count what must agree and look for damage; reads the whole file. `deep` also compares what is
    made from memories with them, and follows the chain of the history."""
    name = str(database.path.relative_to(home))
    found = _Findings(name)
    with database.afresh() as db:
        sqlite, source, vec = (
            str(db.value(f"SELECT {told}()"))
            for told in ("sqlite_version", "sqlite_source_id", "vec_version")
        )
        health = Health(
            file=name,
            engine=f"SQLite {sqlite} ({source[:10]} {source[20:32]}), sqlite-vec {vec}",
            application=db.value("PRAGMA application_id"),
            version=db.value("PRAGMA user_version"),
            memories=found.counted(db, "memories"),
            words=found.counted(db, "words_docsize WHERE id > 0"),
            chunks=found.counted(db, "chunks"),
            vectors={
                str(name): found.counted(db, f"vectors_{number:d}_rowids")
                for number, name in db.rows("SELECT id, name FROM embedders")
            },
            pending={
                str(name): found.counted(db, f"pending WHERE embedder = {number:d}")
                for number, name in db.rows("SELECT id, name FROM embedders")
            },
        )
        with found.whatever_is_read():
            check = "integrity_check" if deep else "quick_check"
            found.damage += [str(said) for (said,) in db.rows(f"PRAGMA {check}(5)") if said != "ok"]
        for look in (damaged_rows, broken_history, unlike_memories) if deep else (damaged_rows,):
            with found.whatever_is_read(), db.at_one_moment():
                found.rows += [Damaged(name, *one) for one in look(db)]
    if deep:  # each on a connection of its own: one that has read an index sees damage where
        for table in ("words", "turn_words"):  # another has merely written
            if is_broken(database, table):
                found.rows.append(Damaged(name, table, None, "it is not as SQLite has made it"))
    return replace(health, damage=tuple(found.damage), damaged=tuple(found.rows))


class _Findings:
    """What is wrong with a file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.damage: list[str] = []
        self.rows: list[Damaged] = []

    @contextmanager
    def whatever_is_read(self) -> Iterator[None]:
        """Go on after damage that ends a look at the file."""
        try:
            yield
        except Exception as error:
            if not is_damage(error):
                raise
            self.damage.append(f"{type(error).__name__}: {error}")

    def counted(self, db: Transaction, table: str) -> int:
        with self.whatever_is_read():
            return int(db.value(f"SELECT count(*) FROM {table}"))
        return 0


T = TypeVar("T")
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


def keep_house(
    database: SqliteDatabase, is_over: Callable[[], bool], dry_run: bool
) -> Counter[str]:
    """See Store.keep_house."""
    counts: Counter[str] = Counter()
    if not dry_run:
        counts["mended"] += len(mended(database))
    for number in _numbers(database):
        _fill_blocks(database, number, is_over, dry_run, counts)
        if not dry_run:
            _sum_vectors(database, number, is_over)
    _give_back(database, is_over, dry_run, counts)
    if not dry_run and not is_over():
        try:
            database.empty_log()
        except StoreError as error:  # somebody is reading; the next run does it
            logger.info("the log stays as it is: %s", error)
    return counts


def _numbers(database: SqliteDatabase) -> list[int]:
    return [number for (number,) in database.rows("SELECT id FROM embedders ORDER BY id")]


def _fill_blocks(
    database: SqliteDatabase,
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


def _sum_vectors(database: SqliteDatabase, number: int, is_over: Callable[[], bool]) -> None:
    """Give the vectors that are older than sums theirs, a block in each transaction."""
    lacking = [
        chunk
        for (chunk,) in database.rows(
            f"""
            SELECT rowid FROM vectors_{number:d}_rowids
            WHERE rowid IN (SELECT id FROM chunks)
                AND rowid NOT IN (SELECT chunk FROM vector_sums WHERE embedder = {number:d})
            """
        )
    ]
    while lacking and not is_over():
        some, lacking = lacking[:VEC0_CHUNK], lacking[VEC0_CHUNK:]
        with database.writing() as db:
            db.run_each(
                "INSERT OR IGNORE INTO vector_sums (chunk, embedder, sum)"
                f" SELECT chunk, {number:d}, kinmem_sum(embedding) FROM vectors_{number:d}"
                " WHERE chunk = ?",
                [(chunk,) for chunk in some],
            )


def _move(db: Transaction, number: int, block: int) -> None:
    """Move the vectors of one block into the newest block. Searches find the same, so the revision
    stays."""
    rows: list[Any] = db.rows(
        f"SELECT chunk, embedding FROM vectors_{number:d} WHERE chunk IN"
        f" (SELECT rowid FROM vectors_{number:d}_rowids WHERE chunk_id = ?)",
        (block,),
    )
    db.run_each(f"DELETE FROM vectors_{number:d} WHERE chunk = ?", [row[:1] for row in rows])
    db.run_each(f"INSERT INTO vectors_{number:d} (chunk, embedding) VALUES (?, ?)", rows)


def _give_back(
    database: SqliteDatabase, is_over: Callable[[], bool], dry_run: bool, counts: Counter[str]
) -> None:
    """Return free pages to the disk where there are too many; counts `freed_kib`."""
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
            db.rows(f"PRAGMA auto_vacuum = {INCREMENTAL}")
            db.rows("VACUUM")
        counts["freed_kib"] += free * page // 1024


def _shrunk(database: SqliteDatabase) -> int:
    """Return at most PAGES free pages to the disk; returns how many."""
    with database.writing() as db:
        before: int = db.value("PRAGMA freelist_count")
        db.rows(f"PRAGMA incremental_vacuum({PAGES})")
        return before - int(db.value("PRAGMA freelist_count"))


INCREMENTAL = 2
"""What PRAGMA auto_vacuum calls it."""


class SqliteStore(SqlStore):
    """See Store. Uses `kins/<kin>.db` and `shared.db` below `home`."""

    def __init__(
        self,
        home: Path,
        kin: str,
        clock: Clock = utc_now,
        before_upgrade: BeforeUpgrade = without_backup,
        *,
        is_brief: bool = False,
    ) -> None:
        """Open or create both files. Raises InvalidInput for a name that a Kin cannot have, and
        StoreError. If it `is_brief`, it may keep others out on a full disk; see SqliteDatabase."""
        self._home = home
        self.files = self._opened(
            partial(SqliteFiles, home, kin_name(kin), clock, before_upgrade, is_brief=is_brief)
        )
        super().__init__(self.files)
        own = self.files.own.database
        self.index = SqlIndex(self.files)
        self.transcript = SqlTranscript(self.files, SaidWords(own), TurnVectors(own))
        self.forgetting = SqliteForgetting(self.files, self.documents, self.writer.erase_all)

    def _opened(self, opening: Callable[[], SqliteFiles]) -> SqliteFiles:
        """Open the files, with the help of the reserve if the disk has no room for the indexes of
        their logs, and for nothing else: what is left of it is taken again at once."""
        try:
            return opening()
        except StoreError as error:
            if not lacks_index(error.__cause__):
                raise
        reserve = Reserve(self._home)
        reserve.give_up()
        try:
            files = opening()
        finally:
            reserve.take()
        files.reserve = reserve
        return files

    def making_room(self, work: Callable[[], T]) -> T:
        return with_reserve(self.files.reserve, self.files.empty_logs, work)

    def reserve_room(self, *, begin: bool = False) -> None:
        if begin:
            self.files.reserve.hold()
        else:
            self.files.reserve.take()

    def health(self, *, deep: bool = False) -> list[Health]:
        return [examine(file.database, self._home, deep=deep) for file in self.files]

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        done: Counter[str] = Counter()
        if not dry_run:
            self.files.copies.catch_up()
        for file in self.files:
            done += keep_house(file.database, is_over, dry_run)
        if not dry_run:
            before = time_text(self.files.clock() - ERASED_KEPT)
            done["history"] += compact(self.files.own.database, before, is_over)
        return +done

    def close(self) -> None:
        with suppress(StoreError):  # counters are not worth an error on closing
            self.flush_use()
        self.transcript.close()
        self.files.close()
        self.files.reserve.take()
