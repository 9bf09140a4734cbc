"""The rows of one owner in PostgreSQL, given to readers and one writer at a time; how PostgreSQL
says the words of store/sql/database.py; and the plans that the server keeps for readings, since
planning one takes as long as running it.

A statement is prepared under a name that is made of its text, once a connection has read it some
times. A pooler may put the next transaction on another connection of the server: there the name
means the same statement, or it is not known, and the message is sent once more. So no pooler needs
to know of it. Where a migration has changed the type of a column, the statement is prepared anew.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from kinmem.errors import StoreError, Unreached
from kinmem.store.postgres.pooled_server import (
    BUSY_SECONDS,
    KeyIsTaken,
    Message,
    Places,
    PlanIsThere,
    PlanIsUnknown,
    PlanMayBeOutdated,
    Server,
    StatementIsRefused,
)
from kinmem.store.postgres.schema import latest
from kinmem.store.sql.damage import Damage, Row
from kinmem.store.sql.database import Bindings, StateRow, waiting

if TYPE_CHECKING:
    from psycopg import ClientCursor, Connection


READ_BEFORE = 2
"""How often a connection has read what is worth a plan."""
MOST_KEPT = 100
"""Plans of one connection, of about 100 KB each; the pool replaces a connection each hour."""
# For whatever values come. While a plan is made the tables may be nearly empty, and reading them
# whole the cheapest: kept, it would read the rows of all Kins once there are many.
GENERAL = "; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off"
PLACE = re.compile(r"%(?:\((?P<name>\w+)\)s|s|%)")


class _Kept:
    """What one connection has read: how often, and of what it has a plan."""

    def __init__(self) -> None:
        self.planned: set[str] = set()
        self._read: OrderedDict[str, int] = OrderedDict()

    def is_worth_it(self, name: str) -> bool:
        """Count one more reading; returns whether it has a plan, or is to get one."""
        if name in self.planned:
            return True
        count = self._read.pop(name, 0)
        self._read[name] = count + 1
        while len(self._read) > MOST_KEPT:
            self._read.popitem(last=False)
        return count >= READ_BEFORE and len(self.planned) < MOST_KEPT


_kept: "WeakKeyDictionary[Connection[Any], _Kept]" = WeakKeyDictionary()
_refused: set[str] = set()
"""Names of statements that the server does not prepare."""


class Reading(NamedTuple):
    """A reading statement in a transaction of its own."""

    planning: str
    """The settings that its plan depends on."""
    settings: str
    """All of them."""
    sql: str
    bindings: Bindings

    def planned_anew(self, cursor: "ClientCursor[Any]") -> None:
        """Run it in one message, with a plan for its values."""
        message = f"BEGIN READ ONLY{self.settings};{spoken(self.sql)}\n;COMMIT"
        cursor.execute(message, self.bindings)

    def by_kept_plan(self, cursor: "ClientCursor[Any]") -> None:
        """Run it in one message, with a plan for whatever values come if it is read often."""
        kept = _kept.setdefault(cursor.connection, _Kept())
        name = _prepared(self.planning, self.sql)[0]
        if name in _refused or not kept.is_worth_it(name):
            self.planned_anew(cursor)
            return
        try:
            self._run_prepared(cursor, name in kept.planned)
            kept.planned.add(name)
        except StatementIsRefused:
            cursor.execute("ROLLBACK")
            self.planned_anew(cursor)
            _refused.add(name)  # it runs with literals, so only its types are at fault

    def _run_prepared(self, cursor: "ClientCursor[Any]", is_kept: bool) -> None:
        name, preparing, executing = _prepared(self.planning, self.sql)
        begin = f"BEGIN READ ONLY{self.settings}{GENERAL};"
        end = f"{cursor.mogrify(executing, self.bindings)};COMMIT"
        try:
            try:
                cursor.execute(f"{begin}{'' if is_kept else preparing}{end}".encode())
            except PlanIsThere:
                is_kept = True
                cursor.execute(f"ROLLBACK;{begin}{end}".encode())
            except PlanIsUnknown:
                is_kept = False
                cursor.execute(f"ROLLBACK;{begin}{preparing}{end}".encode())
        except PlanMayBeOutdated:
            if not is_kept:  # a new plan fits the tables: the statement asks for what is not there
                raise
            cursor.execute(f"ROLLBACK;DEALLOCATE {name};{begin}{preparing}{end}".encode())


@lru_cache(maxsize=2048)
def _prepared(planning: str, sql: str) -> tuple[str, str, str]:
    """Return a name, what prepares the statement, and what runs it with literals."""
    places: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found.group() == "%%":
            return "%"
        if found["name"] is None or found.group() not in places:
            places.append(found.group())
            return f"${len(places)}"
        return f"${places.index(found.group()) + 1}"

    text = PLACE.sub(numbered, spoken(sql))
    name = f"kinmem_{blake2b(f'{planning};{text}'.encode(), digest_size=12).hexdigest()}"
    values = f"({', '.join(places)})" if places else ""
    return name, f"PREPARE {name} AS {text}\n;", f"EXECUTE {name}{values}"


TEXTS = "json_array_elements_text(CAST({} AS json))"
TABLES = {
    "LISTED": f"(SELECT value FROM {TEXTS} AS listed (value))",
    "NUMBERED": f"(SELECT CAST(value AS bigint) AS value FROM {TEXTS} AS listed (value))",
    "PAIRED": "(SELECT value ->> 0 AS one, value ->> 1 AS other"
    " FROM json_array_elements(CAST({} AS json)) AS listed (value))",
    "PARSED": "CAST({0} AS jsonb)",
    "ALIKE": "(kinmem_folded({0}) = kinmem_folded({1}))",
}
"""By word, with its arguments in place of {}."""
TOKEN = re.compile(
    rf"""
    '(?:[^']|'')*' | --[^\n]* | ::                        # as they are
    | \b(?P<word>{"|".join(TABLES)})\((?P<one>[\w:.?]+)(?:,\ (?P<other>[\w:.?]+))?\)
    | (?P<index>\ BY\ INDEX\ \w+) | (?P<ordered>\bORDERED\ JOIN\b)
    | (?P<key>\bON\ CONFLICT\ \() | (?P<place>\?) | :(?P<name>[a-z_]\w*) | (?P<percent>%)
    """,
    re.VERBOSE,
)
LISTS = re.compile(r"\b(?:LISTED|NUMBERED|PAIRED)\(")
UNKNOWN_CHARACTER = re.compile(
    r"\\u0000|\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]..", re.IGNORECASE
)
"""What JSON can say, and no text in PostgreSQL has: NUL, and half of a character."""


def storable(statement: str, bindings: Bindings) -> Bindings:
    """Return the bindings with lists that PostgreSQL can read; what it cannot store is not there
    either."""
    if not LISTS.search(statement):
        return bindings
    if isinstance(bindings, Mapping):
        return {name: _readable(value) for name, value in bindings.items()}
    return [_readable(value) for value in bindings]


def _readable(value: Any) -> Any:
    if isinstance(value, str) and "\\u" in value and value.startswith("["):
        return UNKNOWN_CHARACTER.sub(r"\\ufffd", value)
    return value


@lru_cache(maxsize=2048)
def spoken(statement: str) -> str:
    """Return a shared statement as psycopg takes it, with PostgreSQL's words. Every unique key
    begins with the Kin."""
    return TOKEN.sub(_spoken, statement)


def _spoken(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "one" | "other" | "word":
            given = (spoken(found["one"]), spoken(found["other"] or ""))
            return TABLES[found["word"]].format(*given)
        case "index":
            return ""
        case "ordered":
            return "JOIN"
        case "key":
            return "ON CONFLICT (kin_id, "
        case "place":
            return "%s"
        case "name":
            return f"%({found['name']})s"
        case _:
            return found.group().replace("%", "%%")


STATE = "SELECT * FROM kinmem_state()"
"""The fields of FileState: migrations/0003_recall.sql."""
COUNTED = frozenset({"memories", "chunks", "vector_log"})
"""Tables whose numbers an owner's counter gives; those of others come from sequences."""
SHARED = 0
"""The owner of the copies that all may see."""
SEARCHING = "; SET LOCAL hnsw.ef_search = 200; SET LOCAL hnsw.iterative_scan = strict_order"
"""How thoroughly an index of vectors is searched: docs/postgres.md has what was measured."""
READS = ("SELECT", "FETCH")
"""Beginnings of what the server says of statements that change nothing."""
CURSOR, FETCHED_AT_ONCE = "kinmem_each", 1000
SENT_AT_ONCE = 200
"""Statements of run_each that make one message."""
COUNT = """
    INSERT INTO counters (name, value) VALUES (:table, :count)
    ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value RETURNING value
"""
RESERVE = """
    INSERT INTO counters (name, value) VALUES (:table, :number)
    ON CONFLICT (name) DO UPDATE SET value = greatest(counters.value, excluded.value)
"""


class PostgresTransaction:
    """See Transaction. Uses one connection."""

    def __init__(self, cursor: "ClientCursor[Any]", damage: Damage) -> None:
        self._cursor = cursor
        self.damage = damage
        self.changes = 0

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        self._run(sql, bindings)
        return self._cursor.fetchall() if self._cursor.description else []

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        self._run(sql, bindings)
        found: Row | None = self._cursor.fetchone()
        return found

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        found = self.row(sql, bindings)
        return None if found is None else found[0]

    def run(self, sql: str, bindings: Bindings = ()) -> int:
        self._run(sql, bindings)
        return max(self._cursor.rowcount, 0)

    def run_each(self, sql: str, bindings: Sequence[Bindings]) -> None:
        said = spoken(sql)
        for start in range(0, len(bindings), SENT_AT_ONCE):
            some = bindings[start : start + SENT_AT_ONCE]
            self._cursor.execute(";".join(self._cursor.mogrify(said, one) for one in some))
            self.changes += max(self._cursor.rowcount, 0)
            while self._cursor.nextset():
                self.changes += max(self._cursor.rowcount, 0)

    def _run(self, sql: str, bindings: Bindings) -> None:
        self._cursor.execute(spoken(sql), storable(sql, bindings))
        if self._cursor.statusmessage and not self._cursor.statusmessage.startswith(READS):
            self.changes += max(self._cursor.rowcount, 0)

    def each(self, sql: str) -> Iterator[Row]:
        """Yield the rows of a statement without values, some of them in memory at a time."""
        self._cursor.execute(f"DECLARE {CURSOR} NO SCROLL CURSOR FOR {spoken(sql)}")
        while rows := self.rows(f"FETCH {FETCHED_AT_ONCE} FROM {CURSOR}"):
            yield from rows
        self._cursor.execute(f"CLOSE {CURSOR}")

    def run_unless_taken(self, sql: str, bindings: Bindings) -> Row | None:
        """Run a statement that changes one row and returns it; None, and nothing is changed, if
        another row has its key."""
        self._cursor.execute("SAVEPOINT tried")
        try:
            return self.row(sql, bindings)
        except KeyIsTaken:
            self._cursor.execute("ROLLBACK TO SAVEPOINT tried")
            return None
        finally:
            self._cursor.execute("RELEASE SAVEPOINT tried")

    def numbers(self, table: str, count: int) -> range:
        if table in COUNTED:
            before = self.changes
            known = "SELECT value FROM counters WHERE name = :table"
            bound = {"table": table, "count": count}
            last = int(self.value(COUNT if count else known, bound) or 0)
            self.changes = before
            return range(last + 1 - count, last + 1)
        if count != 1:
            raise StoreError(f"numbers of {table} come one by one")
        number = int(self.value("SELECT nextval(pg_get_serial_sequence(?, 'id'))", (table,)))
        return range(number, number + 1)

    def reserve(self, table: str, number: int) -> None:
        if table in COUNTED:
            self.run(RESERVE, {"table": table, "number": number})
            return
        sequence = "pg_get_serial_sequence(:table, 'id')"
        self.rows(
            f"SELECT setval({sequence}, greatest(nextval({sequence}), :number))",
            {"table": table, "number": number},
        )


class PostgresDatabase:
    """See Database. The policies of its tables leave every row of other owners out."""

    def __init__(self, server: Server, owner: int, kin: int, name: str) -> None:
        """`owner` is whose rows these are, `kin` who reads them; both by number."""
        self.server = server
        self.owner = owner
        self.name = name
        self.damage = Damage(name)
        self.writes = 0
        self.beside: PostgresDatabase | None = None
        """Whose state is read in one message with this one's."""
        self._turns = Places(1)
        self._closed = False
        became = f"; SET LOCAL ROLE {server.role}" if server.role else ""
        self._planning = f"; SET LOCAL search_path = {server.path}{became}"
        """The settings that plans depend on."""
        self._settings = (
            f"{self._planning}; SET LOCAL kinmem.owner = '{owner:d}'"
            f"; SET LOCAL kinmem.self = '{kin:d}'"
        )

    def rows(self, sql: str, bindings: Bindings = (), *, by_index: bool = False) -> list[Row]:
        """Run one reading statement in one message. `by_index`: it asks an index of vectors, which
        a plan for whatever embedder and number of rows would not read."""
        settings = f"{self._settings}{SEARCHING}" if by_index else self._settings
        reading = Reading(self._planning, settings, sql, storable(sql, bindings))
        run = reading.planned_anew if by_index else reading.by_kept_plan
        with self._cursor(run) as cursor:
            [found] = _all_results(cursor)
            return found

    def states(self) -> list[StateRow]:
        both = [(one, one.writes) for one in (self, self.beside) if one]
        asked = "".join(f"; SET LOCAL kinmem.owner = '{one.owner:d}'; {STATE}" for one, _ in both)
        with self._cursor(f"BEGIN READ ONLY{self._settings}{asked}; COMMIT") as cursor:
            found = [next(iter(rows), None) for rows in _all_results(cursor)]
        return [StateRow(*one, row) for one, row in zip(both, found, strict=True)]

    @contextmanager
    def reading(self) -> Iterator[PostgresTransaction]:
        with self._cursor(f"BEGIN READ ONLY{self._settings}") as cursor:
            yield PostgresTransaction(cursor, self.damage)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresTransaction]:
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY{self._settings}"
        with self._cursor(begin) as cursor:
            yield PostgresTransaction(cursor, self.damage)

    @contextmanager
    def writing(self) -> Iterator[PostgresTransaction]:
        """Run a transaction, once no other has this owner's lock. Raises storage_newer if another
        process has migrated the schema since it was opened."""
        with self._turn() as seconds, self._cursor(self._begin(seconds), writes=True) as cursor:
            try:
                number = self._check_version(cursor)
                yield PostgresTransaction(cursor, self.damage)
                self.server.commit(cursor, number)
            finally:
                self.writes += 1

    def _begin(self, seconds: float) -> str:
        return (
            f"BEGIN{self._settings}; SET LOCAL synchronous_commit = on"
            f"; SET LOCAL lock_timeout = {max(1, int(seconds * 1000))}"
            "; SELECT (SELECT max(number) FROM schema_version), pg_current_xact_id()::text"
            " FROM revision FOR UPDATE"
        )

    def _check_version(self, cursor: "ClientCursor[Any]") -> str:
        """Read the result of the last statement of _begin; returns the transaction's number."""
        while cursor.nextset():
            pass
        found = cursor.fetchone()
        if found is None:
            raise StoreError(f"{self.name} is not known to the server; open it again")
        if found[0] != latest():
            raise StoreError(
                f"{self.server.name} was upgraded by a newer kinmem; restart this one",
                "storage_newer",
            )
        return str(found[1])

    @contextmanager
    def _turn(self) -> Iterator[float]:
        """Wait until no other thread of this process writes here; yields how long the server may
        wait for other processes."""
        with waiting(BUSY_SECONDS) as seconds:
            if not self._turns.acquire(seconds):
                told = f"{self.name}: other calls are writing; try again in a moment"
                raise Unreached(told) if self.server.is_away else StoreError(told, "storage_busy")
        try:
            yield seconds
        finally:
            self._turns.release()

    def _cursor(
        self, begin: Message, *, writes: bool = False
    ) -> AbstractContextManager["ClientCursor[Any]"]:
        if self._closed:
            raise StoreError("the store is closed; open it again")
        return self.server.connection(begin, writes=writes)

    def empty_log(self) -> None:
        """Do nothing: a server keeps its log as its administrator says."""

    def close(self) -> None:
        """Let nothing more be asked. A second call does nothing."""
        self._closed = True


def _all_results(cursor: "ClientCursor[Any]") -> Iterator[list[Row]]:
    """Yield the rows of each statement of a message that gives some."""
    while True:
        if cursor.description:
            yield cursor.fetchall()
        if not cursor.nextset():
            return
