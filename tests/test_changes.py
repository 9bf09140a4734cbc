"""What has changed since a reader last looked, whichever process changed it."""

from collections.abc import Callable

import pytest

from kinmem.errors import InvalidInput
from kinmem.service import Service


def test_a_write_of_another_process_is_seen_once(service_of: Callable[..., Service]) -> None:
    page, agent = service_of("ana"), service_of("ana")
    begun = page.changes()
    assert page.changes(begun.cursor).parts == frozenset()

    stored = agent.memorize("the office closes at six")
    told = page.changes(begun.cursor)

    assert "memories" in told.parts
    assert [(one.memory_id, one.action) for one in told.changed] == [(stored.id, "created")]
    assert not page.changes(told.cursor).changed


def test_each_kind_of_change_is_named(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    id = ana.memorize("tea is kept in the cellar").id or ""
    ana.settle()
    before = ana.changes().cursor

    ana.forget(id)
    ana.restore(id)
    ana.forget(id, erase=True)
    said = ana.changes(before)
    assert [one.action for one in said.changed] == ["forgotten", "restored", "erased"]

    ana.observe("prompt", "s", "t", "where is the tea kept?", tell=False)
    talked = ana.changes(said.cursor)
    assert "turns" in talked.parts

    ana.settle()
    seen = ana.changes().cursor
    shared = ben.memorize("the kettle is broken", scope="shared").id
    others = ana.changes(seen)
    assert "shared" in others.parts
    assert "memories" not in others.parts
    assert [(one.memory_id, one.action, one.kin) for one in others.changed] == [
        (shared, "shared", "ben")
    ]
    ben.forget(shared or "")
    gone = ana.changes(others.cursor)
    assert [(one.memory_id, one.action) for one in gone.changed] == [(shared, "withdrawn")]


def test_private_memories_of_others_show_in_nothing(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    before = ana.changes().cursor

    ben.memorize("the safe opens with the birthday of the cat")

    assert ana.changes(before).parts == frozenset()
    assert ana.changes("0").changed == []


def test_many_changes_are_read_piece_by_piece(service: Service) -> None:
    ids = [one.id for one in service.memorize_many([f"shelf {n} holds {n} cups" for n in range(7)])]
    read, cursor, is_more = [], "0", True
    while is_more:
        part = service.changes(cursor, limit=3)
        read += [one.memory_id for one in part.changed if one.action == "created"]
        cursor, is_more = part.cursor, part.is_more

    assert read == ids


def test_what_was_not_changed_is_told_by_two_statements(service: Service) -> None:
    service.memorize("tea at four")
    service.settle()
    cursor = service.changes().cursor
    asked: list[str] = []
    for file in service.store._files:  # type: ignore[attr-defined]
        rows = file.database.rows

        def noted(sql: str, bound: object = (), rows: Callable[..., object] = rows) -> object:
            asked.append(sql)
            return rows(sql, bound)

        file.database.rows = noted

    service.changes(cursor)

    assert len(asked) == 2


@pytest.mark.parametrize("since", ["", "1.2", "a.b.c.d.e", "1.1.1.1.-5", "9" * 40, "1.1.1.1.²"])
def test_a_cursor_that_is_none_is_refused(service: Service, since: str) -> None:
    with pytest.raises(InvalidInput, match="no cursor of changes"):
        service.changes(since)


def test_a_cursor_of_other_files_says_so(service: Service) -> None:
    told = service.changes("5.999999.5.5.0")

    assert told.is_reset
    assert service.changes(told.cursor).parts == frozenset()
