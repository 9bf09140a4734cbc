"""Stores on one home, with the clock that tests move."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from kinmem.store.base import Store
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.sweeps import rounds

CASES = rounds(1000, 2)
"""Of each table of cases of the contract that PostgreSQL, and SQLite with a copy in memory, are
asked; `make postgres` and `make sweeps` ask all."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out of the contract, but for SQLite's own files, what differs in its values alone."""
    seen: Counter[str] = Counter()
    left_out = []
    for item in items:
        if item.path.name == "test_postgres.py" or "::TestCopyInMemory::" in item.nodeid:
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > CASES:
                left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


COPIED = frozenset({"TestCopyInMemory", "TestSqliteSessions", "TestSqliteBatches"})
"""What asks the rest of the contract, or all of it again, of files that TestSqliteStore has seen
made."""


@pytest.fixture(autouse=True)
def _made_each_time(request: pytest.FixtureRequest) -> None:
    """How files are made is tested here."""
    if request.cls is None or request.cls.__name__ not in COPIED:
        request.getfixturevalue("files_made_each_time")


@pytest.fixture
def store_of(home: Path, clock: MovableClock) -> Iterator[Callable[[str], Store]]:
    """Opens the memory of a Kin, each time anew, as another process would; all share one home."""
    with ExitStack() as opened:
        yield lambda kin: opened.enter_context(closing(SqliteStore(home, kin, clock)))


@pytest.fixture
def store(store_of: Callable[[str], Store]) -> Store:
    """The memory of ana."""
    return store_of("ana")
