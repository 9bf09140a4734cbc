"""What the link step asks about tags is found by indexes, with statistics or without."""

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.keys import raw
from tests.random_writes import NAMES, THINGS, TOWNS, opened

TABLES = ("tags", "memory_entities", "entities", "relations", "memories", "m", "e", "r", "s", "t")


@pytest.mark.parametrize("analysed", [False, True])
def test_no_table_is_read_as_a_whole(
    home: Path,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    analysed: bool,
) -> None:
    with closing(opened(home, clock)) as service:
        notes = [f"{n} keeps the {it} in {t}" for n in NAMES for it in THINGS for t in TOWNS[:3]]
        service.memorize_many(notes)
        service.sleep(["tag"])
    path = home / "kins" / "ana.db"
    if analysed:
        with closing(raw(path)) as db:
            db.create_collation("ANYCASE", lambda one, other: (one > other) - (one < other))
            db.execute("ANALYZE memories").execute("ANALYZE tags")
            db.execute("ANALYZE memory_entities").execute("ANALYZE entities")
    asked: list[tuple[str, Any]] = []

    def heard(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        asked.append((sql, bindings))
        return True

    def hear(db: apsw.Connection) -> None:
        db.exec_trace = heard

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, hear])
    with closing(SqliteStore(home, "ana", clock)) as store:
        asked.clear()
        store.links.sharing({"x": {"amber": False}})
        queries = [
            (sql, bound) for sql, bound in asked if "memory_entities" in sql or "tags" in sql
        ]
    assert queries
    with closing(raw(path)) as db:
        for sql, bound in queries:
            plan = [str(step[3]) for step in db.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
            scans = [step for step in plan if step.startswith("SCAN")]
            assert not [step for step in scans if step.split()[1] in TABLES], plan
