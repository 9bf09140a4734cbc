"""A real store and what keeps its sessions short; see talk.py for what is said in them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kinmem.conversation.compact import Compact
from kinmem.llm.base import ChatModel
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock


@pytest.fixture
def store(home: Path, clock: MovableClock) -> Iterator[SqliteStore]:
    store = SqliteStore(home, "ana", clock)
    yield store
    store.close()


@pytest.fixture
def compact_of(store: SqliteStore, home: Path, clock: MovableClock) -> Callable[..., Compact]:
    """Opens ana's, with settings by variable."""

    def open_with(model: ChatModel | None = None, **variables: Any) -> Compact:
        flags = {"KINMEM_KIN": "ana", "KINMEM_HOME": home, "KINMEM_TZ": "UTC", **variables}
        return Compact(store, model, load(flags, environment={}), clock)

    return open_with
