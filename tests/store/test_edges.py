"""Links and the index of tags in the files themselves: upgrades, sharing, what is due."""

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from kinmem.models import Filters, Scope, State
from kinmem.models.record import AUTO, LinkChange, linked
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.migrating import MIGRATIONS
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.store.contract import added, edited, forgotten, listed
from tests.store.soundness import problems
from tests.store.test_crash import cut_short


@pytest.fixture
def store_of(home: Path, clock: MovableClock) -> Callable[[str], SqliteStore]:
    return lambda kin: SqliteStore(home, kin, clock)


def ends(store: SqliteStore, id: str) -> set[str]:
    return {one.other(id) for one in store.links.of([id]).get(id, [])}


def test_tags_of_an_older_file_are_found(home: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    older.mkdir()
    for name in ("0001_first.sql", "0002_conversations.sql"):
        shutil.copy(next(MIGRATIONS.glob(f"{name[:4]}*.sql")), older / name)
    path = home / "kins" / "ana.db"
    with closing(SqliteDatabase(path, older)) as database, database.writing() as db:
        db.run(
            "INSERT INTO memories (id, kin, scope, content, category, content_hash, channel, trust,"
            " created_at, content_updated_at, manual_tags, auto_tags) VALUES ('m1', 'ana',"
            " 'private', 'tea', 'fact', 'tea', 'explicit', 1, '2026-06-15T12:00:00.000000Z',"
            " '2026-06-15T12:00:00.000000Z', '[\"green\"]', '[\"green\", \"leaf\"]')"
        )
        db.run("UPDATE revision SET number = 1")

    with closing(SqliteStore(home, "ana")) as store:
        assert listed(store, Filters(tags=("green", "leaf"))) == ["m1"]


@pytest.mark.parametrize("scope", ["private", "shared"])
def test_sharing_that_is_cut_short_keeps_the_links(
    store_of: Callable[[str], SqliteStore], monkeypatch: pytest.MonkeyPatch, scope: Scope
) -> None:
    begins: Scope = "shared" if scope == "private" else "private"
    with closing(store_of("ana")) as store:
        one, other = (added(store, text, scope=begins) for text in ("one", "other"))
        secret = added(store, "secret")
        store.links.change(one, [LinkChange(other, "part_of"), LinkChange(secret, "related_to")])
        store.update(other, {"scope": "shared"})
        with cut_short(monkeypatch):
            store.update(one, {"scope": scope})
        assert ends(store, one) == {other, secret}

    with closing(store_of("ana")) as store:
        assert ends(store, one) == {other, secret}
        assert ends(store, other) == {one}
        assert problems(store) == []
        store.links.change(one, [LinkChange(other, None)])
        assert ends(store, other) == set()


def test_of_what_people_say_of_two_shared_memories_the_latest_holds(
    store_of: Callable[[str], SqliteStore],
) -> None:
    """By a clock that stands still too."""
    with closing(store_of("ana")) as ana, closing(store_of("ben")) as ben:
        mine, theirs = added(ana, "mine", scope="shared"), added(ben, "theirs", scope="shared")
        for _ in range(2):
            ana.links.change(mine, [LinkChange(theirs, "part_of")])
            assert ends(ben, theirs) == ends(ana, theirs) == {mine}
            ben.links.change(theirs, [LinkChange(mine, None)])
            assert ends(ben, theirs) == ends(ana, mine) == set()
        assert ana.links.add([linked(mine, theirs, "similar_to", origin=AUTO)]) == 0
        ben.links.change(theirs, [LinkChange(mine, "related_to")])
        assert ends(ana, mine) == {theirs}
        assert problems(ana) == problems(ben) == []


def test_a_link_found_by_two_kins_is_one(store_of: Callable[[str], SqliteStore]) -> None:
    with closing(store_of("ana")) as ana, closing(store_of("ben")) as ben:
        mine, theirs = added(ana, "mine", scope="shared"), added(ben, "theirs", scope="shared")
        for store, relation in ((ana, "similar_to"), (ben, "references")):
            store.links.add([linked(mine, theirs, relation, origin=AUTO)])

        assert [link.relation for link in ana.links.of([mine])[mine]] == ["similar_to"]
        assert [link.relation for link in ben.links.of([mine])[mine]] == ["references"]
        assert ana.links.degrees([mine], ana.files.clock()) == {mine: (1, 1)}
        assert problems(ana) == problems(ben) == []


def test_what_takes_a_memorys_place_is_linked_as_others_have_linked_it(
    store_of: Callable[[str], SqliteStore],
) -> None:
    with closing(store_of("ana")) as ana, closing(store_of("ben")) as ben:
        old, new = (added(ana, text, scope="shared") for text in ("old", "new"))
        theirs = added(ben, "theirs", scope="shared")
        ben.links.change(theirs, [LinkChange(old, "part_of")])

        ana.update(old, {"state": State.SUPERSEDED, "superseded_by": new})
        assert ends(ana, new) == ends(ben, new) == {theirs}
        ana.update(old, {"state": State.ACTIVE, "superseded_by": None})
        assert ends(ana, new) == ends(ben, new) == set()
        assert ends(ana, old) == {theirs}


def test_automatic_links_leave_alone_what_people_have_said(
    store_of: Callable[[str], SqliteStore],
) -> None:
    with closing(store_of("ana")) as store:
        one, other, third = (added(store, text) for text in ("one", "other", "third"))
        store.links.change(one, [LinkChange(other, "part_of")])
        store.links.change(one, [LinkChange(third, "part_of")])
        store.links.change(one, [LinkChange(third, None)])
        found = [linked(one, end, "similar_to", origin=AUTO) for end in (other, third, "nobody")]

        assert store.links.add(found) == 0
        assert [link.relation for link in store.links.of([one])[one]] == ["part_of"]
        assert store.links.taken_apart([one]) == {frozenset((one, other)), frozenset((one, third))}


def test_a_pair_has_one_automatic_link_which_keeps_its_age(
    store_of: Callable[[str], SqliteStore], clock: MovableClock
) -> None:
    with closing(store_of("ana")) as store:
        one, other = added(store, "one"), added(store, "other")
        made = clock()
        weak = linked(one, other, "related_to", confidence=0.3, origin=AUTO)
        assert store.links.add([weak]) == 1
        clock.advance(days=5)
        assert store.links.add([linked(other, one, "references", origin=AUTO)]) == 0

        (link,) = store.links.of([one])[one]
        assert (link.relation, link.created_at, link.verified_at) == ("references", made, clock())
        assert store.links.degrees([one], clock() - timedelta(days=4)) == {one: (1, 0)}


def test_stale_links_are_dropped_in_ones_own_memories_only(
    store_of: Callable[[str], SqliteStore], clock: MovableClock
) -> None:
    with closing(store_of("ana")) as ana, closing(store_of("ben")) as ben:
        one, other = (added(ben, text, scope="shared") for text in ("one", "other"))
        ben.links.add([linked(one, other, "related_to", confidence=0.6, origin=AUTO)])
        assert ana.links.add([linked(one, other, "similar_to", origin=AUTO)]) == 0
        ben.links.doubt(ben.links.of([one])[one])
        clock.advance(days=8)
        week_ago = clock() - timedelta(days=7)

        assert ana.links.drop_stale(week_ago) == 0
        assert ben.links.drop_stale(week_ago, dry_run=True) == 1
        assert ben.links.drop_stale(week_ago) == 1
        assert ends(ana, one) == set()


def test_links_are_told_of_visible_memories_only(store_of: Callable[[str], SqliteStore]) -> None:
    with closing(store_of("ana")) as ana, closing(store_of("ben")) as ben:
        shared, mine = added(ben, "shared", scope="shared"), added(ana, "mine")
        ana.links.change(mine, [LinkChange(shared, "part_of")])
        assert ends(ana, mine) == {shared}

        ben.update(shared, {"scope": "private"})
        assert ends(ana, mine) == set()
        assert shared not in ana.links.densest(10)
        ben.update(shared, {"scope": "shared"})
        assert ends(ana, mine) == {shared}
        forgotten(ben, shared)
        assert ends(ana, mine) == set()


def test_an_edit_makes_a_memory_due_again(store_of: Callable[[str], SqliteStore]) -> None:
    with closing(store_of("ana")) as store:
        one, other = added(store, "one"), added(store, "other")
        seen = {id: store.get(id).content_hash for id in (one, other)}
        store.rounds.tagged({one: ("a",), other: ()}, seen, store.files.clock())
        store.rounds.linked({one: seen[one]}, store.files.clock())
        assert store.rounds.unseen("tagged_at", 9) == []
        assert [memory.id for memory in store.rounds.unseen("linked_at", 9)] == [other]

        edited(store, one, "another one")
        assert [memory.id for memory in store.rounds.unseen("tagged_at", 9)] == [one]
        assert [memory.id for memory in store.rounds.unseen("linked_at", 9)] == [other, one]

        # what was worked out of the old content comes too late
        store.rounds.tagged({one: ("late",), other: ("b",)}, seen, store.files.clock())
        store.rounds.linked(seen, store.files.clock())
        assert [store.get(id).auto_tags for id in (one, other)] == [(), ("b",)]
        assert [memory.id for memory in store.rounds.unseen("tagged_at", 9)] == [one]
        assert [memory.id for memory in store.rounds.unseen("linked_at", 9)] == [one]
