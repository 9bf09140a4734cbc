"""The PostgreSQL store keeps the contract, and what else only a server must do."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from kinmem.store.base import Store
from kinmem.store.postgres.postgres_store import PostgresStore
from tests.conftest import MovableClock
from tests.store.batch_contract import BatchContract
from tests.store.contract import StoreContract
from tests.store.sessions_contract import SessionsContract


@pytest.fixture
def store_of(postgres_url: str, clock: MovableClock) -> Iterator[Callable[[str], Store]]:
    """Opens the memory of a Kin, each time anew, as another process would; all share one server."""
    with ExitStack() as opened:
        yield lambda kin: opened.enter_context(closing(PostgresStore(postgres_url, kin, clock)))


class TestPostgresStore(StoreContract):
    """Everything that any store promises."""


class TestPostgresSessions(SessionsContract):
    """Everything that any store promises of sessions."""


class TestPostgresBatches(BatchContract):
    """What any store promises of apply."""
