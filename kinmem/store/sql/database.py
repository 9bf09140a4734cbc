"""What the shared statements ask of an engine: a database, its transactions, its dialect.

A statement is standard SQL with `?` or `:name` in place of values, apart from these words, which a
dialect replaces by what its engine says:

    LISTED(:x)      a table with the column `value`: the texts of the JSON array :x
    NUMBERED(:x)    the same for whole numbers
    PAIRED(:x)      a table with the columns `one` and `other`: the pairs of texts in :x
    ALIKE(a, b)     whether two texts are the same but for case, in any alphabet
    PARSED(x)       the column x, a JSON text; null if it is damaged
    ORDERED JOIN    an inner join whose left side is read first
    BY INDEX name   reads the table before it by this index

The number of a memory is the column `rowid` of its table, which is declared: nothing here relies on
row numbers that an engine adds by itself.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kinmem.errors import StoreError
from kinmem.models import Memory, Passage, Vectors
from kinmem.store.sql.damage import Damage
from kinmem.store.sql.damage import Row as Row

Bindings = Mapping[str, Any] | Sequence[Any]


class Transaction(Protocol):
    """Runs statements. All that one of `Database.writing` has changed takes effect at its end, or
    nothing.

    Every method may raise StoreError: `storage_busy` when another process has held the database
    for five seconds, `storage_failed` for a row that its constraints do not allow.
    """

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Run a statement and return all its rows."""
        ...

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """Run a statement and return its first row; None if there is none."""
        ...

    def value(self, sql: str, bindings: Bindings = ()) -> Any:
        """Run a statement of one column and return its first value; None if there is no row."""
        ...

    def run(self, sql: str, bindings: Bindings = ()) -> int:
        """Run a statement and return how many rows it inserted, updated or deleted."""
        ...

    def run_each(self, sql: str, bindings: Sequence[Bindings]) -> None:
        """Run a statement once for each of these bindings."""
        ...

    def numbers(self, table: str, count: int) -> range:
        """Return numbers for that many new rows of a table, which has never used them."""
        ...

    def reserve(self, table: str, number: int) -> None:
        """Let later numbers for new rows of a table be greater than this one."""
        ...

    @property
    def damage(self) -> Damage:
        """See Database."""
        ...

    @property
    def changes(self) -> int:
        """How many rows have been changed so far, by triggers as well; two readings are
        compared."""
        ...


class Database(Protocol):
    """The rows of one owner: those of a Kin, or those that all share.

    Any thread may call any method. A statement that reads leaves rows out that cannot be decoded,
    and notes them.
    """

    @property
    def damage(self) -> Damage:
        """What was found to be damaged since it was opened."""
        ...

    def states(self) -> "Sequence[StateRow]":
        """Read the state of this database, and of those whose state is read in one go with it."""
        ...

    @property
    def writes(self) -> int:
        """How many transactions this process has ended here, committed or not."""
        ...

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """Run one reading statement and return all its rows."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """Read; each statement sees what was committed before it."""
        ...

    def snapshot(self) -> AbstractContextManager[Transaction]:
        """Read; all statements see what was committed before the first of them."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """Read and write: committed durably when the block ends, rolled back when it raises."""
        ...

    def empty_log(self) -> None:
        """Leave no copy of deleted text in a log. Raises StoreError while somebody reads."""
        ...


class StateRow(NamedTuple):
    """The state of a database as it was read."""

    database: Database
    writes: int
    """Database.writes before it was read."""
    row: Row | None
    """The fields of FileState, in their order; the embedders as a JSON array of [name, number,
    dimension, is_filled, turns_are_filled]. None: the list of embedders is damaged."""


class Words(Protocol):
    """The word index of memories and of the chunks of documents. All but `holding` runs inside a
    transaction of the caller's; memories and chunks are given by their numbers."""

    def put(self, db: Transaction, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        """Add the words of new memories."""
        ...

    def replace(self, db: Transaction, row: int, memory: Memory) -> None:
        """Let a memory be found by what it says now."""
        ...

    def remove(self, db: Transaction, row: int) -> None:
        """Remove the words of a memory, so that none of them stays in the storage."""
        ...

    def put_parts(self, db: Transaction, chunks: Iterable[tuple[int, str, Passage]]) -> None:
        """Add the words of (chunk, its text, its place), except those that are held back."""
        ...

    def remove_parts(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Remove the words of these chunks, so that none of them stays in the storage."""
        ...

    def holding(
        self, database: Database, word: str, view: Mapping[str, str | bool], most: int
    ) -> list[str]:
        """Return ids of live visible memories whose content has the word, at most `most`, the
        oldest first; none for a word that the index cannot contain."""
        ...


class StoredVectors(Protocol):
    """The vectors of the chunks of memories, by embedder. All but `enroll` runs inside a
    transaction of the caller's."""

    def enroll(self, embedder: str, dimension: int) -> None:
        """See Vectored.enroll. A transaction of its own."""
        ...

    def queue(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Let new chunks, numbered in a row, wait for a vector of every embedder."""
        ...

    def put(self, db: Transaction, embedder: str, chunks: Sequence[int], vectors: Vectors) -> None:
        """Store one vector for each chunk, which must wait for one. Raises StoreError if the
        embedder is not enrolled, or with another dimension."""
        ...

    def copy(self, source: Transaction, row: int, db: Transaction, here: int) -> bool:
        """Fill the vectors for which the chunks of memory `here` wait from those of memory `row` in
        another database of this engine; returns whether there were any."""
        ...

    def remove(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Delete the vectors of these chunks, of every embedder."""
        ...

    def log(self, db: Transaction, chunks: Sequence[int]) -> None:
        """Record that the vectors of these chunks, or whether their memories are live, have
        changed."""
        ...


class Enrolled(NamedTuple):
    """An embedder whose vectors the file stores."""

    number: int
    dimension: int
    is_filled: bool
    """Whether every chunk of a memory has its vector."""
    turns_are_filled: bool


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of one file at one moment."""

    revision: int
    """Increases with every change that recall could notice."""
    first_change: int
    """Number of the oldest entry that is still in vector_log."""
    last_change: int
    last_memory: int
    """The highest number of a memory; together with last_chunk it tells how many chunks a memory
    has."""
    last_chunk: int
    has_documents: bool
    """Whether the word index has chunks of documents."""
    last_turn_vector: int
    turn_vectors_lost: int
    has_turns: bool
    """Whether the word index has anything that was said; if not, none of it can be found."""
    has_open_conflicts: bool
    first_end: str | None
    """When the first of the live memories expires or ends, in the format of time_text."""
    embedders: Mapping[str, Enrolled]


LEAST_PATIENCE = 0.1
"""Seconds that everybody may wait for a lock, however long they have waited before."""


@dataclass(slots=True)
class Served:
    """The call that a thread works for: when it began, until when it is to be answered (both by
    time.monotonic), for how long it may wait for all locks together (None: for each as long as
    usual), and whether a transaction of it is committed, so that it cannot be begun anew."""

    began: float
    until: float
    patience: float | None = None
    has_written: bool = False


_served: ContextVar[Served | None] = ContextVar("served", default=None)


@contextmanager
def serving(call: Served | None) -> Iterator[None]:
    """Let this thread work for a call during the block."""
    token = _served.set(call)
    try:
        yield
    finally:
        _served.reset(token)


def served() -> Served | None:
    """Return the call that this thread works for; None if it works for nobody."""
    return _served.get()


@contextmanager
def waiting(most: float) -> Iterator[float]:
    """Yield how many seconds this thread may wait now, at most `most`; what the block takes is
    deducted from the patience of its call."""
    call = _served.get()
    if call is None or call.patience is None:
        yield most
        return
    began = time.monotonic()
    try:
        yield min(most, max(LEAST_PATIENCE, call.patience))
    finally:
        call.patience -= time.monotonic() - began


_Kept = dict[Database, tuple[int, FileState]]
_kept: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextmanager
def kept_states() -> Iterator[None]:
    """Read each file's state only once in this thread during the block, unless the thread
    writes."""
    if _kept.get() is not None:
        yield
        return
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def state_of(database: Database) -> FileState:
    """Return the state of the file now, or within kept_states when it was first requested."""
    kept = _kept.get()
    known = kept.get(database) if kept is not None else None
    if known is not None and known[0] == database.writes:
        return known[1]
    this, *others = database.states()
    state = _state(this.row)
    if kept is not None:
        kept[database] = this.writes, state
        for other in others:
            kept.setdefault(other.database, (other.writes, _state(other.row)))
    return state


def embedder_of(database: Database, name: str) -> tuple[int, int] | None:
    """Return number and dimension of an enrolled embedder."""
    if _kept.get() is not None:
        known = state_of(database).embedders.get(name)
        return None if known is None else known[:2]
    rows = database.rows("SELECT id, dimension FROM embedders WHERE name = ?", (name,))
    return (rows[0][0], rows[0][1]) if rows else None


def _state(row: Row | None) -> FileState:
    if row is None:
        told = "the list of embedders is damaged; open the memory again, which makes it anew"
        raise StoreError(told, "storage_damaged")
    *numbers, embedders = row
    revision, first, last, memory, chunk, documents, vector, lost, turns, *more = numbers
    conflicts, *ends = more
    return FileState(
        revision=revision,
        first_change=first or 0,
        last_change=last or 0,
        last_memory=memory or 0,
        last_chunk=chunk or 0,
        has_documents=bool(documents),
        last_turn_vector=vector or 0,
        turn_vectors_lost=lost,
        has_turns=bool(turns),
        has_open_conflicts=bool(conflicts),
        first_end=min(filter(None, ends), default=None),
        embedders={
            name: Enrolled(number, dimension, bool(filled), bool(turns))
            for name, number, dimension, filled, turns in json.loads(embedders)
        },
    )
