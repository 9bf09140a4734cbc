"""What the shared statements ask of an engine: a database, its transactions, its dialect.

A statement is standard SQL with `?` or `:name` in place of values, apart from these words, which a
dialect replaces by what its engine says:

    LISTED(:x)      a table with the column `value`: the texts of the JSON array :x
    NUMBERED(:x)    the same for whole numbers
    PAIRED(:x)      a table with the columns `one` and `other`: the pairs of texts in :x
    ORDERED JOIN    an inner join whose left side is read first
    BY INDEX name   reads the table before it by this index

The number of a memory is the column `rowid` of its table, which is declared: nothing here relies on
row numbers that an engine adds by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from kinmem.models import Memory, Passage, Vectors

Row = tuple[Any, ...]
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
    def changes(self) -> int:
        """How many rows have been changed so far, by triggers as well; two readings are
        compared."""
        ...


class Database(Protocol):
    """The rows of one owner: those of a Kin, or those that all share.

    Any thread may call any method.
    """

    @property
    def state_query(self) -> str:
        """The statement for one row of the fields of file_state.FileState, in their order; the
        embedders as a JSON array of [name, number, dimension, is_filled, turns_are_filled]."""
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
