"""What is asked at every turn, or for every page of a memory, is found by an index, however much
there is."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from kinmem.models.turns import Message
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.keys import raw

ONE = Message(session="s", turn="t", role="user", text="hello", id=1, said_at=MovableClock().now)


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        pytest.param(lambda it: it.shown.of("s", "t"), "shown_in_turn", id="shown in a turn"),
        pytest.param(lambda it: it.shown.versions("s"), "shown_to_session", id="versions shown"),
        pytest.param(lambda it: it.shown.ids("s"), "shown_to_session", id="was shown"),
        pytest.param(lambda it: it.turns.latest("s", "user"), "turns_by_role", id="latest"),
        pytest.param(lambda it: it.turns.before(ONE, 4), "turns_of_session", id="before"),
        pytest.param(lambda it: it.turns.after(ONE, 4), "turns_of_session", id="after"),
        pytest.param(
            lambda it: it.turns.messages("s", uncompacted=True),
            "turns_unsummarised",
            id="unsummarised",
        ),
        pytest.param(lambda it: it.turns.sessions(1), "turns_of_session", id="sessions"),
        pytest.param(
            lambda it: it.past.superseded_by(["m"]), "memories_superseded", id="superseded by"
        ),
        pytest.param(lambda it: it.snapshots.last("/home"), "turns_of_session", id="last summary"),
    ],
)
def test_no_table_is_read_as_a_whole(
    home: Path,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[SqliteStore], Any],
    index: str,
) -> None:
    asked: list[tuple[str, Any]] = []

    def heard(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        asked.append((sql, bindings))
        return True

    def hear(db: apsw.Connection) -> None:
        db.exec_trace = heard

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, hear])
    store = SqliteStore(home, "ana", clock)
    store.turns.add([ONE])
    asked.clear()

    ask(store)
    store.close()

    sql, bindings = next(one for one in asked if one[0].strip().startswith(("SELECT", "WITH")))
    with closing(raw(home / "kins" / "ana.db")) as db:
        plan = [step[3] for step in db.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)]
    assert not [step for step in plan if step.startswith(("SCAN turns", "SCAN shown"))]
    assert any(f"INDEX {index} " in step for step in plan)
