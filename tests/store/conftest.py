"""Stores on one home, with the clock that tests move."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from kinmem.store.base import Store
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock


@pytest.fixture
def store_of(home: Path, clock: MovableClock) -> Iterator[Callable[[str], Store]]:
    """Opens the memory of a Kin, each time anew, as another process would; all share one home."""
    with ExitStack() as opened:
        yield lambda kin: opened.enter_context(closing(SqliteStore(home, kin, clock)))


@pytest.fixture
def store(store_of: Callable[[str], Store]) -> Store:
    """The memory of ana."""
    return store_of("ana")
