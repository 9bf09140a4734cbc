"""Answered writes outlive kill -9; one that was not answered is there as a whole or not at all."""

import json
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from kinmem.errors import MemoryNotFound, StoreError
from kinmem.models import Filters, Memory, Scope
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.sharing import marked
from kinmem.store.sqlite.store import SqliteStore
from kinmem.turns import Batch, Change
from tests.processes import run
from tests.store.contract import (
    TINY,
    added,
    chunks_of,
    draft_of,
    edited,
    found_by_meaning,
    found_by_words,
    listed,
    searched,
    vector_of,
)
from tests.store.soundness import problems
from tests.sweeps import rounds

ROUNDS = rounds(300, 100)


@pytest.mark.slow
def test_kill_9_loses_nothing_that_was_answered(home: Path) -> None:
    told = json.loads(run("tests.store.crash_loop", home, ROUNDS, 1))

    assert told["wrong"] == []
    assert told["rounds"] == ROUNDS
    # Else the writers did not come far enough, or nobody was hit in the middle of something.
    assert told["acknowledged"] > ROUNDS / 3
    assert told["in_doubt"] > ROUNDS / 6
    assert 0 < told["took_effect"] < told["in_doubt"]
    assert told["two_writers"] > ROUNDS / 10


def cut_short(
    store: SqliteStore, id: str, scope: str, monkeypatch: pytest.MonkeyPatch, **more: str
) -> None:
    """A move that ends between the commit in the target and the one in the source."""

    class Killed(BaseException):
        pass

    def commit_and_die(book: MemoryFile, db: object) -> None:
        commit(book, db)
        raise Killed

    commit = MemoryFile.commit
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(MemoryFile, "commit", commit_and_die)
        chunks = chunks_of(more["content"]) if more else None
        store.update(id, {"scope": scope, **more}, chunks=chunks)


@pytest.mark.parametrize("scope", ["shared", "private"])
def test_a_move_cut_short_is_finished_at_the_next_opening(
    home: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the recipe", scope="private" if scope == "shared" else "shared")
        cut_short(store, id, scope, monkeypatch)
        assert len(store.files.own.by_ids([id]) + store.files.shared.by_ids([id])) == 2

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
            assert other.files.shared.history(id, 10) == []


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

        def moved_back_after_the_look(book: MemoryFile, kin: str) -> dict[str, int]:
            found = marked(book, kin)
            if found:
                monkeypatch.setattr("kinmem.store.sqlite.sharing.marked", marked)
                other.update(id, {"scope": "private"})
            return found

        monkeypatch.setattr("kinmem.store.sqlite.sharing.marked", moved_back_after_the_look)
        store.files.tidy()

        assert store.get(id).scope == "private" and store.get(id).version == 3
        assert problems(store) == []


@pytest.mark.parametrize("scope", ["shared", "private"])
@pytest.mark.parametrize("opened", ["here", "before", "by another process"])
def test_the_old_copy_of_a_move_cut_short_is_seen_nowhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, scope: str, opened: str
) -> None:
    with ExitStack() as stores:
        here = stores.enter_context(closing(SqliteStore(home, "ana")))
        before = stores.enter_context(closing(SqliteStore(home, "ana")))
        given = {"subject": "kitchen", "speaker": "Otto"}
        old = "private" if scope == "shared" else "shared"
        id = added(here, "the old recipe", scope=old, **given)
        late = edited_and_moved(here, id, "the new recipe", scope, monkeypatch)
        if opened == "by another process":
            here.close()
            before = stores.enter_context(closing(SqliteStore(home, "ana")))
        store = here if opened == "here" else before

        assert store.get(id) == late
        assert store.page(Filters(), "newest", 9).memories == [late]
        assert listed(store, Filters(scope=old)) == []
        assert found_by_words(store, "old") == []
        assert found_by_words(store, "recipe") == found_by_meaning(store, "the old recipe") == [id]
        found = searched(store, ["recipe"], vector=vector_of("the old recipe"))
        assert [one.content for one in found.candidates] == ["the new recipe"]
        assert store.index.cosines(vector_of("the new recipe"), TINY, [id])[id] == [
            pytest.approx(1)
        ]
        assert (store.index.first_vectors(TINY, [id])[id] == vector_of("the new recipe")).all()
        assert store.counts()["scope"] == {scope: 1}
        assert store.same_statements([draft_of("the old recipe")]) == [None]
        assert store.same_statements([draft_of("the new recipe")]) == [id]
        assert store.names() == {"otto"} | ({"ana"} if scope == "shared" else set())
        assert store.subjects("", 9) == ["kitchen"]
        # A line that was to be written into the source is not there.
        lines = ["moved", "updated", "created"] if scope == "private" else ["moved", "created"]
        assert [event.action for event in store.history(id)] == lines


def edited_and_moved(
    store: SqliteStore, id: str, content: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> Memory:
    """A move with new content that is cut short; the memory as it is then."""
    cut_short(store, id, scope, monkeypatch, content=content, content_hash=content)
    return store.get(id)


@pytest.mark.parametrize("scope", ["shared", "private"])
@pytest.mark.parametrize("how", ["update", "move back", "apply", "erase"])
def test_the_next_change_removes_what_a_move_has_left(
    home: Path, monkeypatch: pytest.MonkeyPatch, scope: Scope, how: str
) -> None:
    with closing(SqliteStore(home, "ana")) as store, closing(SqliteStore(home, "ben")) as other:
        old = "private" if scope == "shared" else "shared"
        id = added(store, "the recipe", scope=old)
        cut_short(store, id, scope, monkeypatch)

        match how:
            case "update":
                store.update(id, {"pinned": True})
            case "move back":
                store.update(id, {"scope": old})
            case "apply":
                changes = [Change(id, {"pinned": True}, "updated")]
                store.apply(Batch(scope=scope, changes=changes))
            case _:
                store.erase(id)

        assert problems(store) == problems(other) == []
        stands = {"move back": old, "erase": None}.get(how, scope)
        assert listed(store) == ([] if stands is None else [id])
        assert listed(other) == ([id] if stands == "shared" else [])


def test_a_move_whose_source_is_full_hides_the_old_copy_and_goes_on_later(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source cannot be written to for a while; whoever reads is not told twice."""
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the recipe", scope="shared")
        cut_short(store, id, "private", monkeypatch)

        with monkeypatch.context() as patched:

            def full(*_: object) -> None:
                raise StoreError("the disk is full", "storage_full")

            patched.setattr("kinmem.store.sqlite.sharing.finish", full)
            assert store.update(id, {"pinned": True}).version == 3
            assert listed(store) == found_by_words(store, "recipe") == [id]
            assert store.counts()["scope"] == {"private": 1}
        assert store.files.shared.by_ids([id])

        store.update(id, {"pinned": False})
        assert store.files.shared.by_ids([id]) == []
        assert problems(store) == []


def test_copies_left_by_version_1_are_tidied_when_a_file_is_upgraded(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 1 marked no moves."""
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the recipe")
        cut_short(store, id, "shared", monkeypatch)
        for book in store.files:
            with book.database.writing() as db:
                db.execute("DELETE FROM moves")
        store.files.own.database.was_upgraded = True

        store.files.tidy()

        assert problems(store) == []
        assert store.get(id).scope == "shared"
