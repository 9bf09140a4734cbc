"""The driver: psycopg, how a server is reached, what its errors mean.

Values are bound on the client, as literals without a type: the statements that engines share are
written for values that fit whatever column they meet. Connections can be shared by a pooler that
lends them for one transaction (PgBouncer): every setting ends with its transaction, and what is
prepared is found again (owned_rows.py).
"""

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from heapq import heappop, heappush
from itertools import count
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

import psycopg
from psycopg import ClientCursor
from psycopg.adapt import Dumper
from psycopg.errors import Error as DriverError
from psycopg.types.numeric import FloatLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from kinmem.errors import InDoubt, StoreCode, StoreError, Unreached
from kinmem.store.sql.database import served

Message = str | Callable[[ClientCursor[Any]], None]
"""What begins a transaction: a statement without values, or what runs one."""
KeyIsTaken = psycopg.errors.UniqueViolation
PlanIsUnknown = psycopg.errors.InvalidSqlStatementName
PlanIsThere = psycopg.errors.DuplicatePreparedStatement
PlanMayBeOutdated = psycopg.errors.FeatureNotSupported
"""Also raised for "cached plan must not change result type", which has no SQLSTATE of its own."""
StatementIsRefused = (
    psycopg.errors.AmbiguousParameter,  # $1 IS NULL OR …
    psycopg.errors.IndeterminateDatatype,  # jsonb_build_object('a', $1)
    psycopg.errors.UndefinedFunction,  # number = $1 AND text = $1: the first one gives the type
    psycopg.errors.DatatypeMismatch,  # CASE number WHEN $1 THEN $1 ELSE text END
)
"""Where a literal gets its type from what is around it, and a parameter, which has one, cannot."""
BUSY_SECONDS = 5.0
LEAST_SECONDS, PAUSE = 0.1, 0.1
"""For a connection that may be there; between two questions to a server."""
AT_ONCE = 8
"""Threads of one process that use the server at the same time; others wait."""
WRITING_AT_ONCE = 5
"""So many of them may begin to write. Each may wait seconds for a Kin's lock that another process
has; those who read do not wait behind them."""
NESTED = 3
"""Connections that one thread may hold: the shared rows, its Kin's, and a look at either."""
DEFAULT_SCHEMA = "kinmem"
NAME = re.compile(r"[a-z_][a-z0-9_]{0,50}")
REFUSED = re.compile(
    r'FATAL: (?:[^:"]*(?:password|authentication|pg_hba\.conf)'
    r'|(?:role|database) "[^"]*" does not exist)|no password supplied'
)
"""What an English server itself says of a login that it will not let in; not the names around it,
of a host or of a role that has too many connections. The driver has no SQLSTATE of that; in another
language it is waited for, and told in the end."""
MEANINGS: dict[str, tuple[StoreCode, str]] = {
    "55P03": ("storage_busy", "somebody else is writing; try again in a moment"),
    "40P01": ("storage_busy", "somebody else is writing; try again in a moment"),
    "40001": ("storage_busy", "somebody else is writing; try again in a moment"),
    "57014": ("storage_busy", "the server has stopped the statement; try again in a moment"),
    "53100": ("storage_full", "the server's disk is full; nothing was changed"),
    "25006": ("storage_read_only", "the server is a replica, which can only be read"),
    "42501": ("storage_unsupported", "the login may not do that; docs/postgres.md has its rights"),
    "XX001": ("storage_damaged", "the server has found damaged data; restore a backup of it"),
    "XX002": ("storage_damaged", "the server has found a damaged index; REINDEX makes it anew"),
}
"""By SQLSTATE."""
logger = logging.getLogger(__name__)


class _Number(Dumper):
    """Whole numbers as literals that become whatever is wanted, true and false as well."""

    def dump(self, obj: int) -> bytes:
        return str(int(obj)).encode()


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn driver errors into StoreError; kinmem's own errors pass through."""
    try:
        yield
    except DriverError as error:
        if _is_gone(error):
            told = "the database server cannot be reached; try again in a moment"
            raise Unreached(f"{what}: {told}") from error
        code, told = _meaning(error)
        raise StoreError(f"{what}: {told}", code) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"{what}: a text is no Unicode", "storage_failed") from error


def _meaning(error: DriverError) -> tuple[StoreCode, str]:
    if error.sqlstate in MEANINGS:
        return MEANINGS[error.sqlstate]
    return "storage_failed", f"{type(error).__name__}: {error}".strip()


def _latest() -> float:
    """Return until when a server is waited for: as long as the call may take, or as usual."""
    call, usual = served(), time.monotonic() + BUSY_SECONDS
    return usual if call is None else max(usual, call.until)


def _is_gone(error: DriverError) -> bool:
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))


class Places:
    """So many threads at once, in the order in which their calls have come.

    threading's semaphore gives a place to whoever asks next, and that is the thread that has just
    left it, since the one that waited must wake up first. In the order in which threads ask, a
    recall, which comes back for a dozen readings, would stand behind all others a dozen times.
    """

    def __init__(self, many: int) -> None:
        self._free = many
        self._waiting: list[tuple[float, int, threading.Event]] = []
        self._numbers = count()
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many threads wait for a place."""
        return len(self._waiting)

    def acquire(self, timeout: float) -> bool:
        """Wait so many seconds for a place; returns whether there is one."""
        call = served()
        with self._lock:
            if self._free:  # then nobody waits
                self._free -= 1
                return True
            began = time.monotonic() if call is None else call.began
            mine = (began, next(self._numbers), threading.Event())
            heappush(self._waiting, mine)
        if mine[2].wait(max(0.0, timeout)):
            return True
        with self._lock:
            if mine in self._waiting:
                self._waiting = sorted(one for one in self._waiting if one is not mine)
                return False
            return True

    def release(self) -> None:
        """Leave the place to who waits with the oldest call."""
        with self._lock:
            if self._waiting:
                heappop(self._waiting)[2].set()
            else:
                self._free += 1


class Server:
    """The connections of this process to one schema of one database, shared by all its Kins."""

    _open: ClassVar[dict[str, "Server"]] = {}
    _lock = threading.Lock()

    @classmethod
    def of(cls, url: str) -> "Server":
        """Return the server of this address, which is closed when everybody has closed it."""
        with cls._lock:
            known = cls._open.get(url)
            if known is None or known.pid != os.getpid():
                known = cls._open[url] = cls(url)
            known._users += 1
            return known

    def __init__(self, url: str) -> None:
        self.pid = os.getpid()
        self.url = url
        self._address, self.schema = _parted(url)
        self.name = _told(self._address)
        """The address without its password."""
        self.role: str | None = None
        """Whom to become for each transaction, if the login itself is above row-level security."""
        self.path = f'"{self.schema}"'
        """Where tables and pgvector's operators are found."""
        self.is_ready = False
        self._users = 0
        self.places, self.places_to_write = Places(AT_ONCE), Places(WRITING_AT_ONCE)
        self._local = threading.local()
        self._unconnected: set[int] = set()
        self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
            self._address,
            kwargs={"autocommit": True, "cursor_factory": ClientCursor, "connect_timeout": 5},
            configure=_configure,
            min_size=0,
            max_size=AT_ONCE * NESTED,
            timeout=BUSY_SECONDS,
            reconnect_timeout=BUSY_SECONDS,
            name="kinmem-postgres",
            open=True,
        )

    @contextmanager
    def connection(self, begin: Message, *, writes: bool = False) -> Iterator[ClientCursor[Any]]:
        """Lend a cursor on which `begin` has run, outside of all other transactions. If the server
        ends the connection meanwhile, or cannot be reached, it runs on another one, as long as the
        call may take."""
        if self.pid != os.getpid():
            raise StoreError("a forked process must open its own store")
        with self._place(writes), translated(self.name):
            connection, cursor = self._begun(begin)
            try:
                yield cursor
            finally:
                self._give_back(connection)

    @contextmanager
    def _place(self, writes: bool) -> Iterator[None]:
        """Wait until this thread may use the server; one that does already may do it at once."""
        depth = getattr(self._local, "depth", 0)
        latest = _latest()
        needed = [self.places_to_write, self.places] if writes else [self.places]
        with ExitStack() as taken:
            for places in [] if depth else needed:
                if not places.acquire(latest - time.monotonic()):
                    raise StoreError(f"{self.name}: other calls are waiting", "storage_busy")
                taken.callback(places.release)
            self._local.depth = depth + 1
            try:
                yield
            finally:
                self._local.depth = depth

    def _begun(self, begin: Message) -> tuple[psycopg.Connection[Any], ClientCursor[Any]]:
        latest = _latest()
        while True:
            connection = self._reached(latest)
            try:
                cursor = ClientCursor(connection)
                if callable(begin):
                    begin(cursor)
                elif begin:
                    cursor.execute(begin)
                return connection, cursor
            except BaseException as error:
                is_lost = isinstance(error, psycopg.OperationalError) and connection.broken
                self._give_back(connection)
                if not is_lost or time.monotonic() > latest:
                    raise
                self._pool.check()  # others are lost as well

    def _reached(self, latest: float) -> psycopg.Connection[Any]:
        """Return a connection. The pool stops trying after some seconds: it is asked again. Before
        the first one a login that is refused is told at once: waiting would not help."""
        if not self.is_ready and (told := self._refusal()) and REFUSED.search(told):
            raise StoreError(f"{self.name}: {told}", "storage_unsupported")
        self._unconnected.add(threading.get_ident())
        try:
            while True:
                left = min(BUSY_SECONDS, latest - time.monotonic())
                try:
                    return self._pool.getconn(max(LEAST_SECONDS, left))
                except PoolTimeout as error:
                    if time.monotonic() > latest:
                        why = "" if self.is_ready else self._refusal()
                        told = f"no connection in all that time; {why or 'is the server running?'}"
                        raise Unreached(f"{self.name}: {told}") from error
        finally:
            self._unconnected.discard(threading.get_ident())

    def _refusal(self) -> str:
        """Return why a server that was never reached gives no connection; nothing if it does."""
        try:
            psycopg.connect(self._address, connect_timeout=2).close()
        except psycopg.OperationalError as error:
            return " ".join(str(error).split())
        return ""

    @property
    def is_away(self) -> bool:
        """Whether a thread waits for a connection at this moment: usually there is one."""
        return bool(self._unconnected)

    def commit(self, cursor: ClientCursor[Any], number: str) -> None:
        """Commit the transaction of this number. If the connection is lost meanwhile, find out what
        became of it. Raises Unreached if nothing was done, InDoubt if that cannot be known."""
        try:
            cursor.execute("COMMIT")
        except psycopg.OperationalError as error:
            if not cursor.connection.broken:
                raise
            outcome = self._outcome(number, _lives.get(cursor.connection))
            if outcome == "aborted":
                told = "the connection was lost before it was committed, and nothing was done"
                raise Unreached(f"{self.name}: {told}") from error
            if outcome != "committed":
                raise InDoubt(self.name) from error
        else:
            if cursor.statusmessage != "COMMIT":
                raise StoreError(f"{self.name}: a statement had failed; nothing was changed")
        if call := served():
            call.has_written = True

    def _outcome(self, number: str, life: object) -> str | None:
        """Ask what became of a transaction, until the server knows: committed, aborted, or None."""
        latest = _latest()
        while True:
            with suppress(psycopg.OperationalError):
                with psycopg.connect(self._address, autocommit=True, connect_timeout=5) as asking:
                    found = _became(asking, number, life)
                if found != "in progress":
                    return found
            if time.monotonic() > latest:
                return None
            time.sleep(PAUSE)

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        if not connection.closed and connection.info.transaction_status:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
        self._pool.putconn(connection)

    def close(self) -> None:
        """Close the connections when the last store has closed."""
        with self._lock:
            self._users -= 1
            if self._users or self.pid != os.getpid():
                return
            if self._open.get(self.url) is self:
                del self._open[self.url]
        self._pool.close()


_lives: "WeakKeyDictionary[psycopg.Connection[Any], object]" = WeakKeyDictionary()
"""In which life of its server each connection was made."""
LIFE = "SELECT stats_reset FROM pg_stat_bgwriter"
"""A server forgets its statistics when it crashes, and keeps them when it is stopped in order."""


def _became(asking: psycopg.Connection[Any], number: str, life: object) -> str | None:
    """Return what became of a transaction. After a crash the server gives numbers again that it had
    not yet written down; so that of a transaction that is committed may be another's."""
    try:
        found = asking.execute("SELECT pg_xact_status(%s::xid8)", (number,)).fetchone()
    except psycopg.errors.InvalidParameterValue:  # not given yet, so what had it is gone
        return "aborted"
    status = found and found[0]
    is_other = asking.execute(LIFE).fetchone() != life
    return None if status == "committed" and is_other else status


def _configure(connection: psycopg.Connection[Any]) -> None:
    _lives[connection] = connection.execute(LIFE).fetchone()
    connection.adapters.register_dumper(int, _Number)
    connection.adapters.register_loader("numeric", FloatLoader)


def _parted(url: str) -> tuple[str, str]:
    """Return the address for the driver, and the schema that it names beside."""
    parts = urlsplit(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    schema = dict(given).get("schema", DEFAULT_SCHEMA)
    if not NAME.fullmatch(schema):
        raise StoreError(f"{schema!r} is no name for a schema: a-z, 0-9 and _", "storage_failed")
    rest = urlencode([one for one in given if one[0] != "schema"])
    return urlunsplit(parts._replace(query=rest)), schema


def _told(address: str) -> str:
    """Return the address from its hosts on, of which libpq takes several. What is before the last @
    may be a password, which may have a / or # that ends the hosts for others."""
    place = address.partition("://")[2].partition("?")[0].rpartition("@")[2]
    return f"postgresql://{'local' if place[:1] in ('', '/') else ''}{place}"
