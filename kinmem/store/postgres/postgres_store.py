"""The store of one Kin in PostgreSQL."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from kinmem.clock import Clock, utc_now
from kinmem.errors import StoreError
from kinmem.models import Health
from kinmem.settings import kin_name
from kinmem.store.postgres.naming_rows import PostgresForgetting
from kinmem.store.postgres.owned_rows import SHARED, PostgresDatabase
from kinmem.store.postgres.pgvectors import ChunkVectors, NearestChunks, TurnVectors
from kinmem.store.postgres.pooled_server import Server
from kinmem.store.postgres.postings import SaidWords, WordIndex
from kinmem.store.postgres.schema import latest, prepare
from kinmem.store.postgres.server_wide import asked, keep_indexes
from kinmem.store.sql.database import Database, Transaction, state_of
from kinmem.store.sql.history_rows import ERASED_KEPT, compact
from kinmem.store.sql.hybrid_search import SearchedFile, SearchedFiles
from kinmem.store.sql.memory_rows import moment, time_text
from kinmem.store.sql.search_index import SqlIndex
from kinmem.store.sql.sql_store import SqlStore
from kinmem.store.sql.turn_search import SqlTranscript
from kinmem.store.sql.upkeep_rows import SqlJobs, has_ended

T = TypeVar("T")


class PostgresFile(SearchedFile):
    """The rows of one owner."""

    database: PostgresDatabase

    def __init__(self, database: PostgresDatabase, kin: str) -> None:
        self.near = NearestChunks(database)
        super().__init__(database, WordIndex(), ChunkVectors(database), kin)


def number_of(server: Server, kin: str) -> int:
    """Return the number of a Kin, which a new name gets. Raises StoreError."""
    [(number,)] = asked(server, "SELECT kinmem_kin(?)", (kin,))
    if number is None:
        raise StoreError(f"{server.name}: this login may not serve {kin}", "storage_unsupported")
    return int(number)


def names_of_kins(url: str) -> list[str]:
    """Return the Kins that the database has, as far as the login may know. Raises StoreError."""
    server = Server.of(url)
    try:
        prepare(server)
        return [str(name) for (name,) in asked(server, "SELECT kinmem_names()", ())]
    finally:
        server.close()


COUNTED = "SELECT coalesce(sum(count), 0), min(at) FROM uses WHERE name = ? AND at > ?"


SILENT = "SELECT 1 FROM live_processes WHERE process = ? AND until < now()"


class PostgresJobs(SqlJobs):
    """See Jobs. All processes count together."""

    def _has_ended(self, db: Transaction | Database, holder: str) -> bool:
        process = holder.rpartition("/")[0]
        return has_ended(holder) or bool(db.rows(SILENT, (process,)))

    def spend(self, name: str, count: int, most: int, seconds: float) -> float:
        now, length = self._clock(), timedelta(seconds=seconds)
        with self._database.writing() as db:
            db.run("DELETE FROM uses WHERE name = ? AND at <= ?", (name, time_text(now - length)))
            found = db.row(COUNTED, (name, time_text(now - length)))
            used, first = found if found else (0, None)
            if int(used) + count > most:
                return ((moment(first) or now) + length - now).total_seconds()
            db.run(
                "INSERT INTO uses (name, at, count) VALUES (?, ?, ?)"
                " ON CONFLICT (name, at) DO UPDATE SET count = uses.count + excluded.count",
                (name, time_text(now), count),
            )
            return 0.0


class PostgresStore(SqlStore):
    """See Store. All that a server's administrator does is left to them: backups, the disk,
    encryption, damaged pages."""

    def __init__(self, url: str, kin: str, clock: Clock = utc_now) -> None:
        """Connect, and bring the schema up to date. Raises InvalidInput for a name that a Kin
        cannot have, and StoreError."""
        name = kin_name(kin)
        self._server = server = Server.of(url)
        try:
            prepare(server)
            number = number_of(server, name)
            self._databases = (
                PostgresDatabase(server, number, number, f"kins/{name}"),
                PostgresDatabase(server, SHARED, number, "shared"),
            )
            self._databases[0].beside = self._databases[1]
            own, shared = (PostgresFile(database, name) for database in self._databases)
            self.files = SearchedFiles(own, shared, name, clock)
            super().__init__(self.files)
            self.jobs = PostgresJobs(own.database, clock)
            self.index = SqlIndex(self.files)
            self.transcript = SqlTranscript(
                self.files, SaidWords(own.database), TurnVectors(own.database)
            )
            self.forgetting = PostgresForgetting(self.files, self.documents, self.writer.erase_all)
            self.files.copies.catch_up()
        except BaseException:
            server.close()
            raise
        self._is_open = True

    def making_room(self, work: Callable[[], T]) -> T:
        return work()

    def reserve_room(self, *, begin: bool = False) -> None:
        """Do nothing: the server's disk is its administrator's."""

    def health(self, *, deep: bool = False) -> list[Health]:
        return [examine(file, deep=deep) for file in self.files]

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        done: Counter[str] = Counter()
        if not dry_run:
            self.files.copies.catch_up()
            before = time_text(self.files.clock() - ERASED_KEPT)
            for rows in self._databases:
                done["indexes"] += keep_indexes(rows, state_of(rows).last_chunk)
            done["history"] += compact(self.files.own.database, before, is_over)
        return +done

    def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        with suppress(StoreError):  # counters are not worth an error on closing
            self.flush_use()
        self.transcript.close()
        for database in self._databases:
            database.close()
        self._server.close()


# What each must not find, by what it is called.
DEEP = {
    "the sizes of the word index are not those of its rows": """
        SELECT 1 FROM revision WHERE (documents, tokens, said, said_tokens) <> (
            SELECT w.count, w.sum, t.count, t.sum
            FROM (SELECT count(*), coalesce(sum(length), 0) AS sum FROM words) w,
                (SELECT count(*), coalesce(sum(length), 0) AS sum FROM turn_words) t)
    """,
    "texts in the word index are not as long as they should be": """
        SELECT 1 FROM words w LEFT JOIN (
            SELECT rowid, sum(said + aside) AS sum FROM postings GROUP BY rowid
        ) p ON p.rowid = w.rowid WHERE w.length <> coalesce(p.sum, 0) LIMIT 1
    """,
    "the word index has texts that are gone": """
        SELECT 1 FROM words w WHERE NOT EXISTS (
            SELECT 1 FROM memories m WHERE m.rowid = w.rowid
            UNION ALL SELECT 1 FROM chunks c WHERE c.id = -w.rowid) LIMIT 1
    """,
    "memories have no chunks": """
        SELECT 1 FROM memories m WHERE NOT EXISTS (
            SELECT 1 FROM chunks c WHERE c.memory = m.rowid) LIMIT 1
    """,
    "tags are not those of their memories": """
        SELECT 1 FROM (
            SELECT m.rowid AS memory, t.value AS tag FROM memories m, jsonb_array_elements_text(
                coalesce(m.manual_tags, '[]')::jsonb || coalesce(m.auto_tags, '[]')::jsonb
            ) AS t (value)
        ) told FULL JOIN tags USING (memory, tag)
        WHERE told.memory IS NULL OR tags.memory IS NULL LIMIT 1
    """,
}


def examine(file: SearchedFile, *, deep: bool) -> Health:
    """Count what must agree, `deep` also whether what is made from memories is. Damaged pages are
    found by the server's own means."""
    database = file.database
    assert isinstance(database, PostgresDatabase)
    with database.snapshot() as db:
        server, vector = db.rows(
            "SELECT current_setting('server_version'),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        )[0]
        by_embedder = db.rows(
            "SELECT name, (SELECT count(*) FROM vectors WHERE embedder = id),"
            " (SELECT count(*) FROM pending WHERE embedder = id) FROM embedders"
        )
        return Health(
            file=database.name,
            engine=f"PostgreSQL {server}, pgvector {vector}",
            application=APPLICATION,
            version=latest(),
            memories=int(db.value("SELECT count(*) FROM memories")),
            words=int(db.value("SELECT count(*) FROM words WHERE rowid > 0")),
            chunks=int(db.value("SELECT count(*) FROM chunks")),
            vectors={name: count for name, count, _ in by_embedder},
            pending={name: count for name, _, count in by_embedder},
            damage=tuple(told for told, sql in DEEP.items() if db.rows(sql)) if deep else (),
        )


APPLICATION = 0x6B696E6D
"""What SQLite's files have as their application: "kinm"."""
