"""How many SQL statements one recall takes: `pytest -s tests/test_statements.py` prints them.

All count, whichever file and connection they are for. Whoever saves one lowers the bound.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest
from starlette.datastructures import FormData, QueryParams

from kinmem.http.guard import Session
from kinmem.http.tokens import Bearer
from kinmem.models import State
from kinmem.service import Service
from kinmem.web.view import Asked, Shown
from kinmem.web.views import memory_list
from kinmem.web.words import language

NOTES = 300
MOST = 12
MOST_OF_PAGE = 20
PATIENCE = 60.0


class Statements:
    """What SQLite was told to do by this thread, on every connection."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._thread = threading.get_ident()

    def watch(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self._note

    def _note(self, cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        if threading.get_ident() == self._thread:
            self.told.append(" ".join(statement.split()))
        return True


@pytest.fixture
def statements() -> Iterator[Statements]:
    noted = Statements()
    apsw.connection_hooks.append(noted.watch)
    try:
        yield noted
    finally:
        apsw.connection_hooks.remove(noted.watch)


@pytest.fixture
def warm(statements: Statements, service_of: Callable[..., Service], judge_off: None) -> Service:
    """Some hundred memories of two Kins, some shared, some superseded, and turns of a talk."""
    ben = service_of("ben")
    ben.memorize_many(
        [{"content": f"Rack {n} of the lab holds {n} servers", "scope": "shared"} for n in range(9)]
    )
    ana = service_of("ana")
    ana.memorize_many([f"Invoice {n} from Weber was paid on day {n}" for n in range(NOTES)])
    last = None
    for place in ("bakery in Lyon", "mill in Nantes", "brewery in Lille"):
        last = ana.memorize(f"Tom works at the {place}", subject="Tom", updates=last).id
    ana.memorize("The wifi password is on the fridge", scope="shared")
    for n in range(40):
        ana.observe("prompt", "s", str(n), f"Tom told me about day {n} at work", tell=False)
        ana.observe("answer", "s", str(n), f"That was nice of Tom, day {n}", tell=False)
    assert ana.settle(60)
    assert ana.store.counts()["state"][State.SUPERSEDED] == 2
    _load_copies(ana, statements)
    return ana


def _load_copies(service: Service, statements: Statements) -> None:
    """Ask until the vectors are answered from memory."""
    until = time.monotonic() + PATIENCE
    for n in range(1000):
        statements.told.clear()
        service.recall(f"who pays the invoices of day {n}?")
        if not any("vec_distance" in one or "MATCH :vector" in one for one in statements.told):
            return
        time.sleep(0.05)
        assert time.monotonic() < until


def test_a_recall_takes_few_statements(warm: Service, statements: Statements) -> None:
    for question, category in (
        ("Where does Tom work now?", None),
        ("Where does Tom work now?", "fact"),
        ("Who has a dog?", None),
    ):
        statements.told.clear()
        warm.recall(question, category=category)
        lines = [f"\n{question} {category}: {len(statements.told)} statements", *statements.told]
        sys.stdout.write("\n  ".join(line[:160] for line in lines) + "\n")
        assert len(statements.told) <= MOST


def test_a_page_with_fifty_memories_takes_few_statements(
    statements: Statements, service_of: Callable[..., Service]
) -> None:
    ana = service_of("ana")
    ana.memorize_many([f"Shelf {n} of the cellar holds {n} bottles" for n in range(60)])
    session = Session("key", "csrf", Bearer("ana", "admin"), None, 0.0)
    asked = Asked(ana, session, language("en"), QueryParams(""), FormData(), {}, "/memories")
    statements.told.clear()

    shown = memory_list.show(asked)

    assert isinstance(shown, Shown) and len(shown.model["memories"]) == 50
    assert len(statements.told) <= MOST_OF_PAGE
