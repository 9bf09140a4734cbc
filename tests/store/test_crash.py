"""Answered writes outlive kill -9; one that was not answered is there as a whole or not at all."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kinmem.errors import MemoryNotFound
from kinmem.models import Filters, State
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.publishing import Publisher
from kinmem.store.sqlite import driver
from kinmem.store.sqlite.store import SqliteStore
from tests.processes import run
from tests.store.contract import (
    TINY,
    WIDTH,
    added,
    edited,
    forgotten,
    found_by_meaning,
    found_by_words,
    listed,
    searched,
    vector_of,
)
from tests.store.soundness import problems
from tests.sweeps import rounds

ROUNDS = rounds(300, 20)


@pytest.mark.slow
def test_kill_9_loses_nothing_that_was_answered(home: Path) -> None:
    told = json.loads(run("tests.store.crash_loop", home, ROUNDS, 1))

    assert told["wrong"] == []
    assert told["rounds"] >= ROUNDS  # more where nobody was hit in the middle of something
    assert told["acknowledged"] > told["rounds"] / 3
    assert told["in_doubt"] > told["rounds"] / 6
    assert 0 < told["took_effect"] < told["in_doubt"]
    assert told["two_writers"] > told["rounds"] / 10


class Killed(BaseException):
    """Ends what a process does between two commits, as kill -9 would."""


@contextmanager
def cut_short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A change of an original whose copy does not follow."""

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Publisher, "_publish_some", die)
        yield


CHANGES: dict[str, Callable[[SqliteStore, str], object]] = {
    "share": lambda store, id: store.update(id, {"scope": "shared"}),
    "unshare": lambda store, id: store.update(id, {"scope": "private"}),
    "edit": lambda store, id: edited(store, id, "a better pudding"),
    "forget": forgotten,
    "erase": lambda store, id: store.erase(id),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("follows", ["opening", "write", "upkeep", "another process"])
def test_a_copy_follows_at_the_next_occasion_and_is_never_half_changed(
    home: Path, monkeypatch: pytest.MonkeyPatch, how: str, follows: str
) -> None:
    with closing(SqliteStore(home, "ana")) as ana, closing(SqliteStore(home, "ben")) as ben:
        store = ana
        id = added(ana, "the recipe", scope="private" if how == "share" else "shared")
        before = ben.memories([id])
        with cut_short(monkeypatch):
            CHANGES[how](ana, id)

        # The author's own view has the change, everybody else's what was there before.
        if how == "erase":
            with pytest.raises(MemoryNotFound):
                ana.get(id)
        else:
            assert ana.get(id).version == 2
        assert ben.memories([id]) == before
        assert listed(ben) == found_by_words(ben, "recipe") == list(before)
        assert found_by_meaning(ben, "the recipe") == list(before)
        assert problems(ben) == []
        stands = {"share": [id], "edit": [id], "unshare": [id]}.get(how, [])
        assert listed(ana) == stands
        assert found_by_meaning(ana, "the recipe") == stands

        if follows == "write":
            store.erase(added(store, "something else"))
        elif follows == "upkeep":
            store.keep_house(lambda: False)
        else:
            store = SqliteStore(home, "ana")
        with closing(store):
            assert problems(store) == problems(ben) == []
            shown = {"share": [id], "edit": [id]}.get(how, [])
            assert listed(ben) == shown
            assert found_by_words(ben, "pudding" if how == "edit" else "recipe") == shown
            assert ben.memories([id]) == {one: store.get(one) for one in shown}


def test_a_copy_that_was_published_before_the_crash_is_published_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut short before the outbox is emptied."""
    with closing(SqliteStore(home, "ana")) as ana, closing(SqliteStore(home, "ben")) as ben:
        published = Publisher._publish_some

        def publish_and_die(publisher: Publisher) -> None:
            published(publisher)
            raise Killed

        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(Publisher, "_publish_some", publish_and_die)
            added(ana, "the recipe", scope="shared")
        revision = ben.revision
        SqliteStore(home, "ana").close()

        assert listed(ben) == listed(ana) != []
        assert ben.revision == revision  # nothing had changed
        assert problems(ana) == problems(ben) == []


def test_what_was_erased_in_part_is_erased_when_asked_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(home, "ana")) as ana, closing(SqliteStore(home, "ben")) as ben:
        id = added(ana, "marzipanschwein", scope="shared")
        with cut_short(monkeypatch):
            ana.erase(id)
        with pytest.raises(MemoryNotFound):
            ben.erase(id)

        ana.erase(id)

        with pytest.raises(MemoryNotFound):
            ana.erase(id)
        assert listed(ben) == []
        assert b"marzipanschwein" not in b"".join(p.read_bytes() for p in home.rglob("*.db*"))


def test_sharing_waits_for_nobody_who_holds_the_shared_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(driver, "BUSY_SECONDS", 0.05)
    with closing(SqliteStore(home, "ana")) as ana, closing(SqliteStore(home, "ben")) as ben:
        ana.index.enroll(TINY, WIDTH)
        with ben.files.shared.database.writing():
            id = added(ana, "the recipe", scope="shared")
        assert "published later" in caplog.text
        assert listed(ana) == [id]
        assert listed(ben) == []

        added(ana, "something else", scope="private")
        assert id in listed(ben)
        assert problems(ana) == []


def test_own_copies_are_seen_nowhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where they are older than their originals."""
    with closing(SqliteStore(home, "ana")) as store:
        given = {"subject": "kitchen", "speaker": "Otto"}
        id = added(store, "the old recipe", scope="shared", **given)
        with cut_short(monkeypatch):
            edited(store, id, "the new recipe", subject="pantry")

        new = store.get(id)
        assert store.page(Filters(), "newest", 9).memories == [new]
        assert store.page(Filters(scope="shared"), "newest", 9).memories == [new]
        assert found_by_words(store, "old") == []
        assert found_by_words(store, "recipe") == found_by_meaning(store, "the old recipe") == [id]
        found = searched(store, ["recipe"], vector=vector_of("the old recipe"))
        assert [one.content for one in found.candidates] == ["the new recipe"]
        nearest = store.index.nearest(vector_of("the old recipe"), TINY, 9, Filters())
        assert [near for near, _ in nearest] == [id]
        assert store.index.cosines(vector_of("the new recipe"), TINY, [id])[id] == [
            pytest.approx(1)
        ]
        assert (store.index.first_vectors(TINY, [id])[id] == vector_of("the new recipe")).all()
        assert store.counts()["scope"] == {"shared": 1}
        assert store.subjects("", 9) == ["pantry"]
        assert [one.total for one in store.index.coverage()] == [1]


def test_a_change_that_fails_leaves_nothing_to_publish(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the recipe", scope="shared")
        copied = MemoryFile.by_ids(store.files.shared, [id])

        with pytest.raises(RuntimeError), store.files.changing() as db:
            db.run("UPDATE memories SET content = 'spoilt'")
            raise RuntimeError

        assert store.files.own.database.rows("SELECT * FROM outbox") == []
        assert MemoryFile.by_ids(store.files.shared, [id]) == copied


def test_others_uses_are_counted_once_whatever_is_cut_short(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(home, "ana")) as ana, closing(SqliteStore(home, "ben")) as ben:
        id = added(ana, "the recipe", scope="shared")
        now = ana.files.clock()
        for store, uses in ((ben, 3), (ana, 2), (ben, 1)):
            store.count_use([id] * uses, now)
            store.flush_use()
        assert [store.get(id).recalled_count for store in (ana, ben)] == [5, 6]

        with cut_short(monkeypatch):
            ana.flush_use()  # collects the last
            ana.update(id, {"pinned": True})
        for _ in range(2):
            with closing(SqliteStore(home, "ana")) as again:
                assert again.get(id).recalled_count == 6
                assert ben.get(id).recalled_count == 6
                assert problems(again) == []
        ana.update(id, {"state": State.ARCHIVED})
        assert ben.get(id).recalled_count == 6
        ben.count_use([id], now)
        ben.flush_use()
        ana.update(id, {"scope": "private"})  # how often it was used stays with it
        assert ana.get(id).recalled_count == 7
        ana.update(id, {"scope": "shared"})
        assert ben.get(id).recalled_count == 7
