"""Three Kins on one home, compared step by step with a dictionary: nobody sees more than he may.

Every read of every Kin is compared, so that a private memory of one would be noticed wherever it
shines through: in a count, a name, an order, a cursor, the revision.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kinmem.errors import InvalidInput, MemoryNotFound
from kinmem.models import Filters, State
from kinmem.store.sqlite.store import SqliteStore
from tests.conftest import MovableClock
from tests.store.contract import (
    TINY,
    added,
    draft_of,
    edited,
    forgotten,
    found_by_meaning,
    found_by_words,
    listed,
    vector_of,
)
from tests.store.soundness import everything, problems
from tests.sweeps import rounds

KINS = ("ana", "ben", "eve")
WORDS = ("amber", "birch", "cedar")
SUBJECTS = ("sea", "Sky", None)
SPEAKERS = ("Otto", "user", None)

kins = st.sampled_from(KINS)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)
subjects = st.sampled_from(SUBJECTS)
speakers = st.sampled_from(SPEAKERS)
scopes = st.sampled_from(["private", "shared"])


@dataclass
class Known:
    """What the model remembers of a memory."""

    kin: str
    content: str
    scope: str
    subject: str | None
    speaker: str | None
    state: str = "active"
    lines: int = 1


class ThreeKins(RuleBasedStateMachine):
    """The stores, and a dictionary that says what they must answer."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = MovableClock()
        self.stores = {kin: self.opened(kin) for kin in KINS}
        self.known: dict[str, Known] = {}
        self.revisions = {kin: self.stores[kin].revision for kin in KINS}

    def opened(self, kin: str) -> SqliteStore:
        return SqliteStore(Path(self.folder.name) / "home", kin, self.clock)

    def teardown(self) -> None:
        try:
            for store in self.stores.values():
                assert problems(store) == []
        finally:
            for store in self.stores.values():
                store.close()
            self.folder.cleanup()

    def seen_by(self, kin: str) -> dict[str, Known]:
        return {
            id: one
            for id, one in self.known.items()
            if one.kin == kin or (one.scope == "shared" and one.state != "deleted")
        }

    def pick(self, data: st.DataObject) -> tuple[str, str]:
        """A memory and who is about to change it: mostly its author, who alone may."""
        id = data.draw(st.sampled_from(sorted(self.known)))
        author = self.known[id].kin
        return id, data.draw(st.sampled_from([author] * 5 + list(KINS)))

    @rule(kin=kins, content=texts, scope=scopes, subject=subjects, speaker=speakers)
    def add(
        self, kin: str, content: str, scope: str, subject: str | None, speaker: str | None
    ) -> None:
        same = [
            id
            for id, one in self.known.items()
            if (one.content, one.scope, one.state) == (content, scope, "active")
            and one.kin == kin
            and subject in (None, one.subject)
            and speaker in (None, one.speaker)
        ]
        id = added(self.stores[kin], content, scope=scope, subject=subject, speaker=speaker)
        if same:
            assert id in same
        else:
            assert id not in self.known
            self.known[id] = Known(kin, content, scope, subject, speaker)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), content=texts, subject=subjects)
    def edit(self, data: st.DataObject, content: str, subject: str | None) -> None:
        id, kin = self.pick(data)

        def change(one: Known) -> None:
            changed = (content, subject) != (one.content, one.subject)
            one.content, one.subject = content, subject
            self.noted(one, changed)

        self.by_author_only(
            kin, id, lambda store: edited(store, id, content, subject=subject), change
        )

    @precondition(lambda self: self.known)
    @rule(data=st.data(), scope=scopes)
    def move(self, data: st.DataObject, scope: str) -> None:
        id, kin = self.pick(data)

        def change(one: Known) -> None:
            if one.scope != scope:
                one.scope = scope
                self.noted(one)

        self.by_author_only(kin, id, lambda store: store.update(id, {"scope": scope}), change)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), back=st.booleans())
    def forget_or_restore(self, data: st.DataObject, back: bool) -> None:
        id, kin = self.pick(data)
        state = "active" if back else "deleted"

        def change(one: Known) -> None:
            changed, one.state = one.state != state, state
            self.noted(one, changed)

        def act(store: SqliteStore) -> None:
            if back:
                store.update(id, {"state": State.ACTIVE, "deleted_at": None}, action="restored")
            else:
                forgotten(store, id)

        self.by_author_only(kin, id, act, change)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        id, kin = self.pick(data)
        self.by_author_only(kin, id, lambda store: store.erase(id), lambda _: self.known.pop(id))

    @rule(kin=kins)
    def reopen(self, kin: str) -> None:
        self.stores[kin].close()
        self.stores[kin] = self.opened(kin)

    def noted(self, one: Known, changed: bool = True) -> None:
        one.lines += changed

    def by_author_only(
        self,
        kin: str,
        id: str,
        act: Callable[[SqliteStore], Any],
        change: Callable[[Known], Any],
    ) -> None:
        one = self.known[id]
        if one.kin == kin:
            act(self.stores[kin])
            change(one)
        else:
            with pytest.raises(MemoryNotFound):
                act(self.stores[kin])

    @invariant()
    def everybody_sees_what_they_may(self) -> None:
        for kin, store in self.stores.items():
            seen = self.seen_by(kin)
            live = {id: one for id, one in seen.items() if one.state == "active"}
            self.listings_agree(store, seen, live)
            self.searches_agree(store, live)
            self.details_agree(store, kin, seen)
            assert store.names() == {
                one.speaker.casefold() for one in seen.values() if one.speaker not in (None, "user")
            } | {one.kin for one in seen.values() if one.scope == "shared"}
            assert set(store.subjects("", 9)) == {one.subject for one in live.values()} - {None}
            assert [cover.total for cover in store.index.coverage()] in (
                [],
                [sum(one.kin == kin or one.scope == "shared" for one in self.known.values())],
            )

    def listings_agree(
        self, store: SqliteStore, seen: dict[str, Known], live: dict[str, Known]
    ) -> None:
        assert listed(store) == sorted(live, reverse=True)
        for sort in ("oldest", "importance", "used"):
            first = store.page(Filters(), sort, 2)
            rest = store.page(Filters(), sort, 200, first.next_cursor).memories
            pages = first.memories + (rest if first.next_cursor else [])
            assert sorted(memory.id for memory in pages) == sorted(live)
        assert {m.id: (m.kin, m.content, m.scope, m.state) for m in everything(store)} == {
            id: (one.kin, one.content, one.scope, one.state) for id, one in seen.items()
        }
        for table, field in (("state", "state"), ("scope", "scope"), ("kin", "kin")):
            values = [getattr(one, field) for one in seen.values()]
            assert store.counts()[table] == {value: values.count(value) for value in values}

    def searches_agree(self, store: SqliteStore, live: dict[str, Known]) -> None:
        for word in WORDS:
            holding = {id for id, one in live.items() if word in one.content}
            assert set(found_by_words(store, word)) == holding
            nearest = found_by_meaning(store, word)
            assert set(nearest) == set(live)
            exact = {id for id in live if live[id].content == word}
            assert set(nearest[: len(exact)]) == exact
            own = {id for id in exact if live[id].kin == store.kin}
            known = store.same_statements([draft_of(word)])[0]
            assert known in own if own else known is None

    def details_agree(self, store: SqliteStore, kin: str, seen: dict[str, Known]) -> None:
        asked = [*self.known, "never was"]
        assert store.memories(asked).keys() == seen.keys()
        assert store.index.cosines(vector_of("q"), TINY, asked).keys() == seen.keys()
        assert store.index.first_vectors(TINY, asked).keys() == seen.keys()
        for id in asked:
            if id not in seen:
                for ask in (store.get, store.history):
                    with pytest.raises(MemoryNotFound):
                        ask(id)
            else:
                one = seen[id]
                lines = store.history(id)
                assert len(lines) == (one.lines if one.kin == kin else 0)

    @invariant()
    def a_revision_stands_for_what_is_seen(self) -> None:
        for kin, store in self.stores.items():
            told = [(m.id, m.version) for m in everything(store)]
            before = getattr(self, "told", {}).get(kin)
            if before is not None and before != told:
                assert store.revision != self.revisions[kin]
            self.revisions[kin] = store.revision
            self.told = {**getattr(self, "told", {}), kin: told}


ThreeKins.TestCase.settings = settings(
    max_examples=rounds(100, 3),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestThreeKins = ThreeKins.TestCase


def test_the_file_of_another_kin_is_never_opened(home: Path) -> None:
    opened: set[str] = set()

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and watching:
            opened.add(str(arguments[0]))

    watching = True
    sys.addaudithook(note)  # Python's own opening of files; SQLite's shows in /proc
    with_secret = SqliteStore(home, "ben")
    secret = added(with_secret, "the chest opens with 4711")
    with_secret.close()
    opened.clear()

    store = SqliteStore(home, "ana")
    added(store, "something of mine")
    added(store, "something for all", scope="shared")
    found_by_words(store, "chest")
    found_by_meaning(store, "chest")
    with pytest.raises(MemoryNotFound):
        store.update(secret, {"scope": "shared"})
    listed(store)
    store.counts(), store.names(), store.index.coverage()
    held = files_held(home)
    store.close()
    watching = False

    here = {name for name in opened if Path(name).is_relative_to(home)} | held
    assert not any("ben" in Path(name).name for name in here)
    if held:  # only Linux tells
        assert {Path(name).name for name in held} >= {"ana.db", "shared.db"}


def files_held(home: Path) -> set[str]:
    """The files of this home that the process has open, where the system tells."""
    found = set()
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(FileNotFoundError):  # of another thread, and closed meanwhile
            found.add(link.readlink())
    return {str(file) for file in found if file.is_relative_to(home)}


@pytest.mark.parametrize(
    "name",
    ["../x", "..", "", "a/b", "a\\b", "con", "nul", "x" * 65, "Ana", "änne", "a b", "-a", "a\n",
     "a\0b", "a.db", "\ud800"],
)  # fmt: skip
def test_a_name_that_could_lead_elsewhere_is_refused(home: Path, name: str) -> None:
    home.mkdir()
    before = sorted(home.parent.rglob("*"))

    with pytest.raises(InvalidInput):
        SqliteStore(home, name)
    assert sorted(home.parent.rglob("*")) == before
