"""What has changed since a reader last looked, whichever process changed it."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kinmem.backup.restore import restore
from kinmem.errors import InvalidInput
from kinmem.service import Service
from tests.backups import backups_of
from tests.conftest import MovableClock
from tests.store.poison import open_on
from tests.sweeps import rounds


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


@pytest.mark.parametrize(
    "since",
    ["", "1.2", "a.b.c.d.e", "1.1.1.1.-5", "9" * 40, f"1.1.1.1.{'9' * 19}", "1.1.1.1.²"],
)
def test_a_cursor_that_is_none_is_refused(service: Service, since: str) -> None:
    with pytest.raises(InvalidInput, match="no cursor of changes"):
        service.changes(since)


def test_a_cursor_of_other_files_says_so(service: Service) -> None:
    told = service.changes("5.999999.5.5.0")

    assert told.is_reset
    assert service.changes(told.cursor).parts == frozenset()


def told(service: Service, since: str, limit: int = 1000) -> list[tuple[str, str, str]]:
    """Everything since a cursor, page by page: (author, memory, action)."""
    found: list[tuple[str, str, str]] = []
    is_more = True
    while is_more:
        page = service.changes(since, limit=limit)
        assert len(page.changed) <= limit
        found += [(one.kin, one.memory_id, one.action) for one in page.changed]
        since, is_more = page.cursor, page.is_more
    return found


def test_what_is_shared_or_taken_back_later_names_its_memory(
    service_of: Callable[..., Service],
) -> None:
    """The text and the state stay as they were: only who may read it changes."""
    ana, ben = service_of("ana"), service_of("ben")
    id = ben.memorize("the kettle is in the shed").id or ""
    since = ana.changes().cursor
    steps: list[tuple[Callable[[], object], str]] = [
        (lambda: ben.update_memory(id, scope="shared"), "shared"),
        (lambda: ben.update_memory(id, importance=9), "shared"),
        (lambda: ben.update_memory(id, content="the kettle is in the barn"), "shared"),
        (lambda: ben.update_memory(id, scope="private"), "withdrawn"),
        (lambda: ben.update_memory(id, scope="shared"), "shared"),
        (lambda: ben.forget(id), "withdrawn"),
        (lambda: ben.restore(id), "shared"),
        (lambda: ben.forget(id, erase=True), "withdrawn"),
    ]
    for step, action in steps:
        step()
        ben.settle()
        page = ana.changes(since)
        assert {(one.memory_id, one.action) for one in page.changed} == {(id, action)}
        assert page.parts == {"shared"}
        since = page.cursor
    assert ana.changes(since).parts == frozenset()
    assert told(ana, "0") == [("ben", id, "withdrawn")]


def test_who_resumes_at_any_change_misses_nothing(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    since = ana.changes().cursor
    for n in range(3):
        ana.memorize(f"shelf {n} holds {n} cups")
        ben.memorize(f"drawer {n} holds {n} forks", scope="shared")
    ana.settle(), ben.settle()
    whole = ana.changes(since)
    everything = [(one.kin, one.memory_id, one.action) for one in whole.changed]
    assert len({id for _, id, _ in everything}) == 6

    for n, one in enumerate(whole.changed, start=1):
        assert told(ana, one.cursor) == everything[n:]
    for limit in (1, 2, 4):
        assert told(ana, since, limit) == everything
    last = ana.changes(whole.changed[-1].cursor)
    assert last.parts >= {"upkeep", "shared"}  # what a stop in the middle has not told yet


def test_of_many_shared_memories_each_is_told_once(service_of: Callable[..., Service]) -> None:
    """2,500 in pages of a thousand in `make sweeps`: the pages are as a reader sees them."""
    count = rounds(2500, 125)
    ana, ben = (service_of(kin, resident=False) for kin in ("ana", "ben"))
    since = ana.changes().cursor
    notes = [{"content": f"room {n} is {n * 7} feet long", "scope": "shared"} for n in range(count)]
    ids = [one.id for one in ben.memorize_many(notes)]

    found = told(ana, since, limit=count * 2 // 5)

    assert [id for _, id, _ in found] == ids
    assert {action for _, _, action in found} == {"shared"}


def test_who_is_muted_is_not_told_of(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    ana.mute("ben")
    since = ana.changes().cursor
    ben.memorize("the kettle is broken", scope="shared")

    assert told(ana, since) == []


def test_a_cursor_from_before_a_restore_says_so_whatever_was_stored_since(
    home: Path, clock: MovableClock
) -> None:
    with closing(open_on(home, clock)) as ana:
        for n in range(3):
            ana.memorize(f"shelf {n} holds {n} cups")
    backups = backups_of(home)
    made = backups.make()
    with closing(open_on(home, clock)) as ana:
        ana.memorize("the lost harbour is in the west", scope="shared")
        lost = ana.changes()
        assert not lost.is_reset
    restore(backups, made.path)

    with closing(open_on(home, clock)) as ana:
        for n in range(9):
            ana.memorize(f"mountain {n} is {n * 7} metres high", scope="shared")
        now, then = (int(one.cursor.split(".")[0]) for one in (ana.changes(), lost))
        assert now > then
        found = ana.changes(lost.cursor)

        assert found.is_reset
        assert len(told(ana, "0", limit=5)) == 12
        assert ana.changes(found.cursor).parts == frozenset()


@pytest.mark.parametrize("counter", [0, 2], ids=["line", "turn"])
def test_a_cursor_beyond_the_end_is_of_other_files(service: Service, counter: int) -> None:
    service.memorize("tea at four")
    numbers = service.changes().cursor.split(".")
    numbers[counter] = str(int(numbers[counter]) + 1)

    assert service.changes(".".join(numbers)).is_reset


def test_a_damaged_line_hides_no_other(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana", resident=False), service_of("ben", resident=False)
    ids = [ana.memorize(f"ship {n} carries {n} tons").id for n in range(8)]
    shared = [ben.memorize(f"port {n} has {n} piers", scope="shared").id for n in range(5)]
    files = ana.store._files  # type: ignore[attr-defined]
    with files.own.database.writing() as db:
        db.run("UPDATE history SET at = 'broken' WHERE seq IN (2, 3)")
    with files.shared.database.writing() as db:
        db.run("UPDATE published SET at = 'broken' WHERE memory = ?", (shared[1],))

    left = [*ids[:1], *ids[3:], *shared[:1], *shared[2:]]
    for limit in (1, 2, 3, 1000):
        assert [id for _, id, _ in told(ana, "0", limit)] == left
    assert [one.memory_id for one in ana.history(limit=6)] == [*ids[:2:-1], ids[0]]

    for importance in (9, 8):
        ana.update_memory(ids[7] or "", importance=importance)
    with files.own.database.writing() as db:
        db.run("UPDATE history SET at = 'broken' WHERE seq = 9")
    assert [line.action for line in ana.history(ids[7], limit=2)] == ["updated", "created"]
