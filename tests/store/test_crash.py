"""Answered writes outlive kill -9; one that was not answered is there as a whole or not at all."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kinmem.errors import MemoryNotFound
from kinmem.models import Filters
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.store import SqliteStore
from tests.store.contract import added, edited, found_by_meaning, found_by_words, listed
from tests.store.soundness import problems

REPOSITORY = Path(__file__).parents[2]


def run(module: str, *arguments: object) -> str:
    """What a module of the tests prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_kill_9_loses_nothing_that_was_answered(home: Path) -> None:
    told = json.loads(run("tests.store.crash_loop", home, 300, 1))

    assert told["wrong"] == []
    assert told["rounds"] == 300
    # Else the writers did not come far enough, or nobody was hit in the middle of something.
    assert told["acknowledged"] > 100
    assert told["in_doubt"] > 50
    assert 0 < told["took_effect"] < told["in_doubt"]
    assert told["two_writers"] > 30


def cut_short(store: SqliteStore, id: str, scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that ends between the commit in the target and the one in the source."""

    class Killed(BaseException):
        pass

    def commit_and_die(book: Book, db: object) -> None:
        commit(book, db)
        raise Killed

    commit = Book.commit
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Book, "commit", commit_and_die)
        store.update(id, {"scope": scope})


@pytest.mark.parametrize("scope", ["shared", "private"])
def test_a_move_cut_short_is_finished_at_the_next_opening(
    home: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the recipe", scope="private" if scope == "shared" else "shared")
        cut_short(store, id, scope, monkeypatch)
        assert len(store._own.by_ids([id]) + store._shared.by_ids([id])) == 2

        assert store.get(id).scope == scope
        assert store.memories([id])[id].version == 2

    with closing(SqliteStore(home, "ana")) as store, closing(SqliteStore(home, "ben")) as other:
        assert store.get(id).scope == scope and store.get(id).version == 2
        assert listed(store) == found_by_words(store, "recipe") == [id]
        assert found_by_meaning(store, "the recipe") == [id]
        assert sum(store.counts()["scope"].values()) == 1
        assert [event.action for event in store.history(id)] == ["moved", "created"]
        assert listed(other) == ([id] if scope == "shared" else [])
        assert problems(store) == []
        if scope == "private":
            assert other._shared.history(id, 10) == []


@pytest.mark.parametrize("scope", ["shared", "private"])
def test_a_memory_whose_move_was_cut_short_can_be_changed_before_that(
    home: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the recipe", scope="private" if scope == "shared" else "shared")
        cut_short(store, id, scope, monkeypatch)
        assert edited(store, id, "a better recipe").version == 3

    with closing(SqliteStore(home, "ana")) as store:
        assert [one.content for one in store.page(Filters(), "newest", 5).memories] == [
            "a better recipe"
        ]
        assert store.get(id).scope == scope
        assert problems(store) == []
        cut_short(store, id, "private" if scope == "shared" else "shared", monkeypatch)
        store.erase(id)
        with pytest.raises(MemoryNotFound):
            store.get(id)

    with closing(SqliteStore(home, "ana")) as store:
        assert listed(store) == []
        assert problems(store) == []


def test_tidying_leaves_alone_what_was_moved_on_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(home, "ana")) as store, closing(SqliteStore(home, "ana")) as other:
        id = added(store, "the recipe")
        cut_short(store, id, "shared", monkeypatch)
        by_ids = Book.by_ids

        def moved_back_after_the_look(book: Book, ids: object) -> object:
            found = by_ids(book, ids)
            monkeypatch.setattr(Book, "by_ids", by_ids)
            other.update(id, {"scope": "private"})
            return found

        monkeypatch.setattr(Book, "by_ids", moved_back_after_the_look)
        store._tidy()

        assert store.get(id).scope == "private" and store.get(id).version == 3
        assert problems(store) == []
