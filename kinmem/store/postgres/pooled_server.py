"""The driver: psycopg, how a server is reached, what its errors mean.

Values are bound on the client, as literals without a type: the statements that engines share are
written for values that fit whatever column they meet. Connections can be shared by a pooler that
lends them for one transaction (PgBouncer): every setting ends with its transaction, and what is
prepared is found again (postgres_statements.py).
"""

import logging
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import ClientCursor
from psycopg.adapt import Dumper
from psycopg.errors import Error as DriverError
from psycopg.types.numeric import FloatLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from kinmem.errors import StoreCode, StoreError

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
AT_ONCE = 8
"""Threads of one process that use the server at the same time; others wait."""
WRITING_AT_ONCE = 5
"""So many of them may begin to write. Each may wait seconds for a Kin's lock that another process
has; those who read do not wait behind them."""
NESTED = 3
"""Connections that one thread may hold: the shared rows, its Kin's, and a look at either."""
DEFAULT_SCHEMA = "kinmem"
NAME = re.compile(r"[a-z_][a-z0-9_]{0,50}")
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
    except PoolTimeout as error:
        told = f"{what}: no connection within {BUSY_SECONDS:.0f} seconds; is the server running?"
        raise StoreError(told, "storage_busy") from error
    except DriverError as error:
        code, told = _meaning(error)
        raise StoreError(f"{what}: {told}", code) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"{what}: a text is no Unicode", "storage_failed") from error


def _meaning(error: DriverError) -> tuple[StoreCode, str]:
    if error.sqlstate in MEANINGS:
        return MEANINGS[error.sqlstate]
    if error.sqlstate is None or error.sqlstate.startswith(("08", "57P")):
        return "storage_busy", "the database server cannot be reached; try again in a moment"
    return "storage_failed", f"{type(error).__name__}: {error}".strip()


class Places:
    """So many threads at once, in the order in which they came.

    threading's semaphore gives a place to whoever asks next, and that is the thread that has just
    left it, since the one that waited must wake up first. A recall comes back for a dozen readings,
    so others would wait until it is done.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many threads wait for a place."""
        return len(self._waiting)

    def acquire(self, timeout: float) -> bool:
        """Wait so many seconds for a place; returns whether there is one."""
        with self._lock:
            if self._free:  # then nobody waits
                self._free -= 1
                return True
            given = threading.Event()
            self._waiting.append(given)
        if given.wait(max(0.0, timeout)):
            return True
        with self._lock:
            if not given.is_set():
                self._waiting.remove(given)
            return given.is_set()

    def release(self) -> None:
        """Leave the place to who has waited for longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
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
        address, self.schema = _parted(url)
        self.name = _told(address)
        """The address without its password."""
        self.role: str | None = None
        """Whom to become for each transaction, if the login itself is above row-level security."""
        self.path = f'"{self.schema}"'
        """Where tables and pgvector's operators are found."""
        self.is_ready = False
        self._users = 0
        self.places, self.places_to_write = Places(AT_ONCE), Places(WRITING_AT_ONCE)
        self._local = threading.local()
        self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
            address,
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
        has ended the connection meanwhile, it runs on another one."""
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
        latest = time.monotonic() + BUSY_SECONDS
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
        for is_last in (False, True):
            connection = self._pool.getconn()
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
                if is_last or not is_lost:
                    raise
                self._pool.check()  # others are lost as well
        raise AssertionError

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


def _configure(connection: psycopg.Connection[Any]) -> None:
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
    parts = urlsplit(address)
    return f"postgresql://{parts.hostname or 'local'}{parts.path}"
