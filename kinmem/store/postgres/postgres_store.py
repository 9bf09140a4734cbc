"""The store of one Kin in PostgreSQL; and what is no single Kin's: tokens, and which Kins have work
that waits."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

from kinmem.clock import Clock, utc_now
from kinmem.errors import StoreError
from kinmem.models import Health
from kinmem.settings import kin_name
from kinmem.store.base import this_process
from kinmem.store.postgres.naming_rows import PostgresForgetting
from kinmem.store.postgres.owned_rows import SHARED, PostgresDatabase, PostgresTransaction
from kinmem.store.postgres.pgvectors import (
    ChunkVectors,
    NearestChunks,
    TurnVectors,
    give_own_partition,
    keep_indexes,
)
from kinmem.store.postgres.pooled_server import Server
from kinmem.store.postgres.postings import SaidWords, WordIndex
from kinmem.store.postgres.schema import latest, prepare
from kinmem.store.sql.damage import Damage
from kinmem.store.sql.database import Bindings, Database, Row, Transaction, state_of
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


class PostgresAnswers:
    """See Answers."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def put(self, call: str, answer: str, seconds: float) -> None:
        with self._database.writing() as db:
            db.run("DELETE FROM answers WHERE until < now()")
            db.run(
                "INSERT INTO answers (call, answer, until)"
                " VALUES (?, ?, now() + make_interval(secs => ?))"
                " ON CONFLICT (call)"
                " DO UPDATE SET answer = excluded.answer, until = excluded.until",
                (call, answer, seconds),
            )

    def take(self, call: str) -> str | None:
        which = "call = ? AND until >= now()"
        if not self._database.rows(f"SELECT 1 FROM answers WHERE {which}", (call,)):
            return None  # asked again and again, and writing would wait for who writes
        with self._database.writing() as db:
            row = db.row(f"DELETE FROM answers WHERE {which} RETURNING answer", (call,))
            return None if row is None else str(row[0])


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
            self.answers = PostgresAnswers(own.database)
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
                last_chunk = state_of(rows).last_chunk
                done["partitions"] += give_own_partition(rows, last_chunk)
                done["indexes"] += keep_indexes(rows, last_chunk)
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
COLUMNS = ("id", "kin", "digest", "created_at", "expires_at", "revoked_at", "note", "scope")
CHANGED = f"SELECT change, {', '.join(COLUMNS)} FROM tokens WHERE change > ? ORDER BY change"
PUT = f"""
    INSERT INTO tokens ({", ".join(COLUMNS)}) VALUES ({", ".join(f":{name}" for name in COLUMNS)})
    ON CONFLICT ON CONSTRAINT tokens_pkey DO UPDATE SET expires_at = excluded.expires_at,
        revoked_at = excluded.revoked_at, change = excluded.change
"""
# Who finds nothing to do comes again later and later, since its work may wait for a model.
TAKE = """
    UPDATE waiting_kins SET tries = tries + 1,
        until = now() + INTERVAL '1 minute' * power(2, least(tries, 6))
    WHERE kin_id = (
        SELECT kin_id FROM waiting_kins WHERE until <= now()
        ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING kin_id, kinmem_name(kin_id)
"""
LIVES = """
    INSERT INTO live_processes (process, until) VALUES (?, now() + INTERVAL '45 seconds')
    ON CONFLICT ON CONSTRAINT live_processes_pkey DO UPDATE SET until = excluded.until
"""
LONG_SILENT = "DELETE FROM live_processes WHERE until < now() - INTERVAL '1 hour'"
# With the policies of one Kin; its lock keeps what begins to wait meanwhile from being overlooked.
SETTLE = """
    DELETE FROM waiting_kins WHERE kin_id = kinmem_owner()
    AND NOT EXISTS (SELECT 1 FROM turns WHERE learned_at IS NULL AND NOT parked)
    AND NOT EXISTS (SELECT 1 FROM turns_to_index)
    AND NOT EXISTS (SELECT 1 FROM pending) AND NOT EXISTS (SELECT 1 FROM turn_pending)
"""


@contextmanager
def together(server: Server, settings: str = "") -> Iterator[PostgresTransaction]:
    """Run a transaction that is nobody's, or with these settings somebody's."""
    became = f"; SET LOCAL ROLE {server.role}" if server.role else ""
    begin = f"BEGIN; SET LOCAL search_path = {server.path}{became}{settings}"
    with server.connection(begin) as cursor:
        yield PostgresTransaction(cursor, Damage(server.name))
        cursor.execute("COMMIT")


def asked(server: Server, question: str, bindings: Bindings = ()) -> list[Row]:
    """Ask what is nobody's alone, in a transaction of its own."""
    with together(server) as db:
        return db.rows(question, bindings)


class ServerWide:
    """One database server, as the processes see it that serve all of its Kins."""

    def __init__(self, url: str) -> None:
        """Connect, and bring the schema up to date. Raises StoreError."""
        self._server = Server.of(url)
        try:
            prepare(self._server)
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        """Raise StoreError unless the server answers, with the schema of this kinmem."""
        [(number,)] = asked(self._server, "SELECT max(number) FROM schema_version")
        if number != latest():
            raise StoreError(
                f"{self._server.name} has schema {number}, and this kinmem is for {latest()}",
                "storage_newer",
            )

    def tokens_since(self, change: int) -> tuple[int, list[dict[str, Any]]]:
        """Return what was added or revoked after that change, and the number of the last one."""
        rows = asked(self._server, CHANGED, (change,))
        records = [dict(zip(COLUMNS, row[1:], strict=True)) for row in rows]
        return int(rows[-1][0]) if rows else change, records

    @contextmanager
    def changing_tokens(self) -> Iterator[Callable[[Mapping[str, Any]], None]]:
        """Yield what stores a token, while nobody else changes any: so changes become visible in
        the order of their numbers."""
        with together(self._server) as db:
            db.rows("SELECT pg_advisory_xact_lock(hashtextextended(?, 1))", (self._server.schema,))

            def put(record: Mapping[str, Any]) -> None:
                db.run(PUT, dict(record))

            yield put

    def say_alive(self) -> None:
        """Say that this process lives, which counts for 45 seconds."""
        with together(self._server) as db:
            db.run(LIVES, (this_process(),))
            db.run(LONG_SILENT)

    def take(self) -> str | None:
        """Return a Kin whose work has waited for a minute, which no other process takes for some
        time; None if there is none."""
        while rows := asked(self._server, TAKE):
            [(number, name)] = rows
            if name is not None and not self._settled(int(number)):
                return str(name)
        return None

    def _settled(self, kin: int) -> bool:
        """Forget that a Kin waits if it does not; returns whether it does not."""
        whose = f"; SET LOCAL kinmem.owner = '{kin:d}'; SET LOCAL kinmem.self = '{kin:d}'"
        with together(self._server, whose) as db:
            db.rows("SELECT 1 FROM revision FOR UPDATE")
            return db.run(SETTLE) > 0

    def close(self) -> None:
        self._server.close()
