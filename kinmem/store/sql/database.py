"""What the shared statements ask of an engine: a database, its transactions, its dialect.

A statement is standard SQL with `?` or `:name` in place of values, apart from these words, which a
dialect replaces by what its engine says:

    LISTED(:x)      a table with the column `value`: the texts of the JSON array :x
    NUMBERED(:x)    the same for whole numbers
    PAIRED(:x)      a table with the columns `one` and `other`: the pairs of texts in :x
    ORDERED JOIN    an inner join whose left side is read first
    BY INDEX name   reads the table before it by this index

`CURRENT` is not one of them: every row of `memories` has its number in the column `rowid`.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

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
