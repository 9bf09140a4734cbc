"""What a store promises (kinmem/store/base.py), asked through the Protocol alone.

A backend proves itself by a class that inherits StoreContract, beside the fixtures `store_of(kin)`,
which opens a Kin's memory anew each time on one common place, and `store`, ana's.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kinmem.errors import InvalidInput, MemoryNotFound, StoreError, VersionConflict
from kinmem.language import content_hash
from kinmem.models import (
    Asked,
    Candidate,
    Chunks,
    Draft,
    Filters,
    Found,
    Memory,
    Page,
    State,
    Vector,
    Vectors,
)
from kinmem.store.base import Store
from kinmem.store.memory import Sort
from tests.conftest import MovableClock
from tests.sweeps import rounds

OpenStore = Callable[[str], Store]

LIVE = Filters()
NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
TINY, WIDTH = "tiny", 16
_numbers = count(1)


def vector_of(text: str, width: int = WIDTH) -> Vector:
    """A made-up embedding: the same for the same text, of unit length."""
    seed = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    values = np.random.default_rng(seed).standard_normal(width)
    return np.asarray(values / np.linalg.norm(values), np.float32)


def vectors_of(texts: Iterable[str], width: int = WIDTH) -> Vectors:
    return np.array([vector_of(text, width) for text in texts], np.float32)


def chunks_of(*texts: str, embedder: str | None = TINY, width: int = WIDTH) -> Chunks:
    """Chunks with vectors, or pending ones where nobody embeds."""
    return Chunks(texts, vectors_of(texts, width) if embedder else None, embedder)


def memory_of(content: str, kin: str = "ana", **given: Any) -> Memory:
    number = next(_numbers)
    at = given.get("created_at", NOON)
    return Memory(
        **{
            "id": f"m{number:06}",
            "kin": kin,
            "scope": "private",
            "content": content,
            "category": "fact",
            "content_hash": content.casefold(),
            "created_at": at,
            "content_updated_at": at,
            **given,
        }
    )


def draft_of(content: str, kin: str = "ana", **given: Any) -> Draft:
    """A memory of one chunk; `embedder=None` leaves it pending. Ids ascend, as uuid7 do."""
    chunks = chunks_of(content, embedder=given.pop("embedder", TINY))
    return Draft(memory_of(content, kin, **given), chunks)


def added(store: Store, content: str, **given: Any) -> str:
    """The id of a new memory of the store's Kin."""
    return store.add([draft_of(content, store.kin, **given)])[0]


def edited(store: Store, id: str, content: str, **more: Any) -> Memory:
    """New content, with the chunk and the hash that belong to it."""
    changes = {"content": content, "content_hash": content.casefold(), **more}
    return store.update(id, changes, chunks=chunks_of(content))


def forgotten(store: Store, id: str, at: datetime = NOON) -> None:
    store.update(id, {"state": State.DELETED, "deleted_at": at}, action="forgotten")


def searched(
    store: Store, words: Sequence[str], limit: int = 50, filters: Filters = LIVE, **more: Any
) -> Found:
    """What the words find, `limit` per scope; by meaning nothing, unless a vector is given."""
    asked = Asked(words, more.pop("vector", None), TINY, limit, limit, 2 * limit, **more)
    return store.index.search(asked, filters)


def found_by_words(store: Store, *words: str, filters: Filters = LIVE) -> list[str]:
    return list(searched(store, words, filters=filters).matches)


def found_by_meaning(
    store: Store, text: str, limit: int = 50, filters: Filters = LIVE
) -> list[str]:
    return [id for id, _ in store.index.nearest(vector_of(text), TINY, limit, filters)]


def listed(store: Store, filters: Filters = LIVE, sort: Sort = "newest") -> list[str]:
    return [memory.id for memory in all_pages(store, filters, sort, 200)]


def all_pages(store: Store, filters: Filters, sort: Sort, limit: int) -> list[Memory]:
    """Every memory of a listing, page by page; no page but the last is shorter than the limit."""
    memories: list[Memory] = []
    cursor = None
    while True:
        page: Page = store.page(filters, sort, limit, cursor)
        memories += page.memories
        if page.next_cursor is None:
            return memories
        assert len(page.memories) == limit
        cursor = page.next_cursor


EVERY_FIELD = {
    "category": "decision",
    "subject": "Zürich",
    "source_context": "said at lunch",
    "language": "de",
    "importance": 7.5,
    "confidence": 0.5,
    "evidence": 0.25,
    "pinned": True,
    "priority": 0.75,
    "set_priority": 0.5,
    "speaker": "Ben",
    "channel": "user",
    "trust": 0.9,
    "client": "cli",
    "session": "s1",
    "turn_id": "t1",
    "model": "none",
    "place": "/work/project",
    "occurred_at": datetime(2020, 2, 29, 23, 59, 59, 999999, tzinfo=UTC),
    "state": State.STALE,
    "state_at": datetime(2026, 5, 1, tzinfo=UTC),
    "tier": "hot",
    "tier_reason": "pinned",
    "expires_at": datetime(2030, 1, 1, tzinfo=UTC),
    "valid_from": datetime(2020, 1, 1, tzinfo=UTC),
    "valid_to": datetime(2031, 1, 1, tzinfo=UTC),
    "superseded_by": "m000000",
    "recalled_count": 3,
    "recalled_at": datetime(2026, 1, 1, tzinfo=UTC),
    "created_at": datetime(2025, 1, 1, tzinfo=UTC),
    "content_updated_at": datetime(2025, 1, 2, tzinfo=UTC),
    "scored_at": datetime(2025, 1, 3, tzinfo=UTC),
    "deleted_at": datetime(2025, 1, 4, tzinfo=UTC),
    "generation": 2,
    "manual_tags": ("a", "Käse"),
    "auto_tags": ("b",),
    "title": "title",
    "description": "description",
    "source": "import",
    "source_ref": "file.txt",
    "status": "pending",
    "metadata": {"a": [1, {"b": None}]},
    "ingest_metadata": {"c": "d"},
    "tagged_at": datetime(2025, 1, 5, tzinfo=UTC),
    "linked_at": datetime(2025, 1, 6, tzinfo=UTC),
}

PAST, FUTURE = NOON - timedelta(days=1), NOON + timedelta(days=1)
LAST_YEAR = datetime(2025, 3, 1, tzinfo=UTC)

# What there is to filter, by name, and below which of it each filter lets through.
SHELF: dict[str, dict[str, Any]] = {
    "plain": {},
    "decision": {"category": "decision"},
    "about Zürich": {"subject": "ZÜRICH"},
    "shared": {"scope": "shared"},
    "tagged": {"manual_tags": ("red",), "auto_tags": ("big",)},
    "half tagged": {"manual_tags": ("red", "redder")},
    "last year": {"occurred_at": LAST_YEAR},
    "expired": {"expires_at": PAST},
    "expiring": {"expires_at": FUTURE},
    "expires now": {"expires_at": NOON},
    "stale": {"state": State.STALE},
    "archived": {"state": State.ARCHIVED},
    "deleted": {"state": State.DELETED, "deleted_at": PAST},
    "quarantined": {"state": State.QUARANTINED},
    "outdated": {
        "state": State.SUPERSEDED,
        "occurred_at": LAST_YEAR,
        "valid_to": LAST_YEAR + timedelta(days=30),
    },
    "not yet valid": {"valid_from": FUTURE},
    "once valid": {"valid_from": LAST_YEAR, "valid_to": PAST},
}
ALWAYS_LIVE = {
    "plain", "decision", "about Zürich", "shared", "tagged", "half tagged", "last year",
    "expiring", "stale", "not yet valid",
}  # fmt: skip


class StoreContract:
    """Inherited by the test of each backend."""

    # adding

    def test_everything_that_was_stored_comes_back(self, store: Store) -> None:
        assert EVERY_FIELD.keys() | {
            "id",
            "kin",
            "scope",
            "content",
            "content_hash",
            "version",
        } == {field.name for field in fields(Memory)}
        plain = memory_of("plain")
        full = memory_of("a 🌋 ‮וידוי x́ fact", **EVERY_FIELD)
        shared = memory_of("shared", scope="shared", **EVERY_FIELD)

        ids = store.add([Draft(one, chunks_of(one.content)) for one in (plain, full, shared)])

        assert ids == [plain.id, full.id, shared.id]
        assert store.memories(ids) == {one.id: one for one in (plain, full, shared)}

    def test_what_was_stored_is_there_after_reopening(
        self, store: Store, store_of: OpenStore
    ) -> None:
        id = added(store, "it lasts", embedder=None)
        before = store.get(id)
        store.close()

        again = store_of("ana")

        assert again.get(id) == before
        assert found_by_words(again, "lasts") == [id]
        assert [event.action for event in again.history(id)] == ["created"]

    def test_the_same_statement_is_stored_once(self, store: Store) -> None:
        first = added(store, "the sky is blue")
        again = added(store, "the sky is blue")
        twice = store.add([draft_of("grass is green"), draft_of("grass is green")])

        assert again == first
        assert twice[0] == twice[1]
        assert len(listed(store)) == 2

    @pytest.mark.parametrize("together", [False, True], ids=["in two calls", "in one call"])
    @pytest.mark.parametrize(
        ("known", "new", "same"),
        [
            pytest.param({}, {}, True, id="nothing but the content"),
            pytest.param({"subject": "Ana"}, {"subject": "ANA"}, True, id="subject but for case"),
            pytest.param({"subject": "ÄRGER"}, {"subject": "ärger"}, True, id="case of umlauts"),
            pytest.param({"subject": "Ana"}, {}, True, id="new one without subject"),
            pytest.param({}, {"subject": "Ana"}, False, id="new one with subject"),
            pytest.param({"subject": "Ana"}, {"subject": "Ben"}, False, id="another subject"),
            pytest.param({"speaker": "Ana"}, {"speaker": "ana"}, True, id="speaker but for case"),
            pytest.param({"speaker": "Ana"}, {}, True, id="new one without speaker"),
            pytest.param({"speaker": "Ana"}, {"speaker": "Ben"}, False, id="another speaker"),
            pytest.param({"occurred_at": PAST}, {"occurred_at": PAST}, True, id="same time"),
            pytest.param({"occurred_at": PAST}, {}, False, id="new one without time"),
            pytest.param({}, {"occurred_at": PAST}, False, id="new one with time"),
            pytest.param({"scope": "shared"}, {}, False, id="the other scope"),
            pytest.param({"content_hash": "x"}, {}, False, id="another hash"),
            pytest.param({"category": "plan"}, {}, True, id="another category"),
        ],
    )
    def test_what_counts_as_the_same_statement(
        self, store: Store, known: dict[str, Any], new: dict[str, Any], same: bool, together: bool
    ) -> None:
        drafts = [draft_of("tea at five", **known), draft_of("tea at five", **new)]

        calls = [drafts] if together else [drafts[:1], drafts[1:]]
        ids = [id for call in calls for id in store.add(call)]

        assert (ids[0] == ids[1]) is same
        assert len(store.memories(ids)) == (1 if same else 2)

    @pytest.mark.parametrize(
        "put_away",
        [
            pytest.param({"state": State.DELETED, "deleted_at": NOON}, id="forgotten"),
            pytest.param({"state": State.SUPERSEDED}, id="superseded"),
            pytest.param({"expires_at": PAST}, id="expired"),
        ],
    )
    def test_what_is_out_of_use_is_no_same_statement(
        self, store: Store, put_away: dict[str, Any]
    ) -> None:
        old = added(store, "the door is green")
        store.update(old, put_away)

        assert store.same_statements([draft_of("the door is green")]) == [None]
        assert added(store, "the door is green") != old

    def test_same_statements_are_those_of_the_kin_alone(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        added(ben, "his secret")
        added(ben, "known to all", scope="shared")
        added(ben, "known twice", scope="shared")
        mine, told = added(ana, "known twice"), added(ana, "told to all", scope="shared")
        forgotten(ana, added(ana, "taken back", scope="shared"))
        asked = ["his secret", "known to all", "known twice", "told to all", "taken back"]

        known = ana.same_statements([draft_of(text) for text in asked])

        assert known == [None, None, mine, told, None]

    def test_what_another_kin_shares_is_stored_again_as_ones_own(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        theirs = added(ben, "known to all", scope="shared")

        mine = added(ana, "known to all", scope="shared")
        ben.erase(theirs)

        assert mine != theirs
        assert listed(ana) == [mine]

    # changing

    def test_an_update_sets_fields_and_raises_the_version(
        self, store: Store, clock: MovableClock
    ) -> None:
        id = added(store, "tea", subject="Ana")
        old = store.get(id)
        clock.advance(hours=1)

        new = store.update(id, {"importance": 9.0, "subject": None, "manual_tags": ("x",)})

        assert new == replace(old, importance=9.0, subject=None, manual_tags=("x",), version=2)
        assert store.get(id) == new

    def test_only_an_edit_of_the_content_moves_its_time(
        self, store: Store, clock: MovableClock
    ) -> None:
        id = added(store, "tea")
        later = clock.advance(hours=1)

        assert store.update(id, {"pinned": True}).content_updated_at == NOON
        assert edited(store, id, "coffee").content_updated_at == later

    @pytest.mark.parametrize("scope", ["private", "shared"])
    def test_nothing_to_change_is_no_write(self, store: Store, scope: str) -> None:
        id = added(store, "tea", importance=5.0, scope=scope)
        before, revision = store.get(id), store.revision

        assert store.update(id, {"importance": 5.0, "scope": scope}) == before
        assert store.update(id, {}, chunks=chunks_of("tea")) == before
        assert (store.get(id), store.revision) == (before, revision)
        assert len(store.history(id)) == 1

    @pytest.mark.parametrize(
        "changes", [{"importance": 1.0}, {"scope": "shared"}, {}], ids=["change", "move", "nothing"]
    )
    def test_another_version_than_expected_is_a_conflict(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        id = added(store, "tea")
        now = store.update(id, {"pinned": True}, if_version=1)

        with pytest.raises(VersionConflict):
            store.update(id, changes, if_version=1)
        assert store.get(id) == now

    def test_only_its_author_may_change_a_memory(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        private, shared = added(ana, "mine"), added(ana, "ours", scope="shared")
        before = ana.memories([private, shared])

        messages = set()
        for id in (private, shared, "never was", "\ud800", "\0"):
            for attempt in (
                lambda id=id: ben.update(id, {"pinned": True}),
                lambda id=id: ben.update(id, {"scope": "private"}),
                lambda id=id: ben.update(id, {}),
                lambda id=id: ben.erase(id),
            ):
                with pytest.raises(MemoryNotFound) as refused:
                    attempt()
                messages.add(str(refused.value).replace(repr(id), "it"))
        assert len(messages) == 1
        assert ana.memories([private, shared]) == before

    def test_words_and_vectors_follow_the_memory(self, store: Store) -> None:
        id = added(store, "a bicycle", subject="wheels", speaker="Otto", source_context="garage")
        edited(store, id, "an automobile", subject="engines", speaker="Emil", source_context="lot")

        for gone in ("bicycle", "wheels", "Otto", "garage"):
            assert found_by_words(store, gone) == []
        for present in ("automobile", "engines", "Emil", "lot"):
            assert found_by_words(store, present) == [id]
        assert store.index.cosines(vector_of("an automobile"), TINY, [id])[id] == [pytest.approx(1)]

    def test_the_latest_writes_in_short(self, store: Store) -> None:
        texts = ("tea", "coffee", "milk", "juice", "water", "wine")
        ids = store.add([draft_of(text, store.kin) for text in texts], batch="drinks")
        edited(store, ids[0], "green tea")
        forgotten(store, ids[1])
        made, changed, binned = sorted({line.write for line in store.past.writes(9)})
        store.update(ids[0], {"content": "tea"}, chunks=chunks_of("tea"), reverts=[changed])

        found = store.past.outlines(9)

        assert [one.write for one in found] == [binned + 1, binned, changed, made]
        assert [line.memory_id for line in found[-1].lines] == ids[::-1]
        assert found[-1].actions == {"created": 6}
        assert [one.many for one in found] == [1, 1, 1, 6]
        assert [one.reverts for one in found] == [{(ids[0], changed)}, set(), set(), set()]
        assert store.past.outlines(9, before=changed) == store.past.outlines(1, before=changed)
        assert store.past.outlines(9, before=made) == []

    def test_of_a_long_write_the_latest_lines_are_read(self, store: Store) -> None:
        ids = store.add([draft_of(f"drink {number}", store.kin) for number in range(120)])

        [made] = store.past.outlines(9)

        assert made.actions == {"created": 120}
        assert made.many == 120
        read = [line.memory_id for line in made.lines]
        assert 0 < len(read) < 120
        assert read == ids[: -len(read) - 1 : -1]

    def test_a_context_does_not_tell_what_was_forgotten_and_marks_what_was_so(
        self, store: Store
    ) -> None:
        def told(content: str, **given: Any) -> Memory:
            hash = content_hash(content)
            return store.get(added(store, content, content_hash=hash, **given))

        ended = told("I am on the night shift.")
        told("I live in Lyon.", state=State.SUPERSEDED)
        told("I am at the harbour.")
        context = "I live in Lyon. I am on the night shift. I am at the harbour. It rains."
        beside = told("Clara visits me.", source_context=context)
        alone = told("It has three rooms.", source_context="I am on the night shift.")
        assert store.with_present_contexts([alone]) == [alone]

        forgotten(store, ended.id)

        shown = store.with_present_contexts([beside, alone, ended])
        assert [memory.source_context for memory in shown] == [
            "I live in Lyon. (no longer so) I am at the harbour. It rains.", None, None,
        ]  # fmt: skip
        assert store.get(beside.id) == beside

    def test_the_history_tells_what_happened_newest_first(self, store: Store) -> None:
        id = added(store, "tea", importance=5.0)
        edited(store, id, "coffee")
        store.update(id, {"importance": 2.0}, reason="because", action="rescored")
        store.update(id, {"scope": "shared"})
        store.update(id, {"scope": "private"})

        events = store.history(id)

        assert [event.action for event in events] == [
            "moved", "moved", "rescored", "updated", "created",
        ]  # fmt: skip
        assert [event.kin for event in events] == ["ana"] * 5
        assert events[0].before == {"scope": "shared"} and events[0].after == {"scope": "private"}
        assert events[2].before == {"importance": 5.0} and events[2].after == {"importance": 2.0}
        assert events[2].reason == "because"
        assert events[3].before["content"] == "tea" and events[3].after["content"] == "coffee"
        assert events[4].before == {} and events[4].after["content"] == "tea"
        assert store.history(id, limit=2) == events[:2]

    def test_the_history_of_an_unknown_memory_is_not_found(self, store_of: OpenStore) -> None:
        id = added(store_of("ana"), "mine")

        for unknown in (id, "never was"):
            with pytest.raises(MemoryNotFound):
                store_of("ben").history(unknown)

    def test_concurrent_changes_by_version_lose_nothing(self, store_of: OpenStore) -> None:
        stores = [store_of("ana") for _ in range(3)]
        id = added(stores[0], "list")

        def append(number: int) -> None:
            store = stores[number % 3]
            while True:
                memory = store.get(id)
                lines = f"{memory.content} {number}"
                try:
                    changes = {"content": lines, "content_hash": lines}
                    store.update(id, changes, chunks=chunks_of(lines), if_version=memory.version)
                    return
                except VersionConflict:
                    pass

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(append, range(30)))

        assert sorted(map(int, stores[0].get(id).content.split()[1:])) == list(range(30))
        assert stores[0].get(id).version == 31
        assert len(stores[0].history(id)) == 31

    # moving

    def test_a_move_keeps_the_memory(self, store: Store) -> None:
        texts = ("first part", "second part")
        whole = memory_of("first part second part", **{**EVERY_FIELD, "state": State.ACTIVE})
        store.index.enroll("other", 4)
        [id] = store.add([Draft(whole, chunks_of(*texts))])
        before = pytest.approx(store.index.cosines(vector_of("second part"), TINY, [id])[id])

        shared = store.update(id, {"scope": "shared"})
        assert shared == store.get(id) == replace(whole, scope="shared", version=2)
        assert store.index.cosines(vector_of("second part"), TINY, [id]) == {id: before}
        assert [chunk.text for chunk in store.index.pending("other", 10)] == list(texts)
        assert found_by_words(store, "second") == [id]

        back = store.update(id, {"scope": "private"})
        assert back == store.get(id) == replace(whole, version=3)
        assert store.index.cosines(vector_of("second part"), TINY, [id]) == {id: before}
        assert [chunk.text for chunk in store.index.pending("other", 10)] == list(texts)
        assert found_by_words(store, "second") == [id]
        assert listed(store) == [id]

    def test_a_memory_is_seen_by_others_exactly_while_it_is_shared(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        id = added(ana, "the recipe")
        assert seen(ben, id, "the recipe") == NOWHERE

        ana.update(id, {"scope": "shared"})
        assert seen(ben, id, "the recipe") == EVERYWHERE
        ana.update(id, {"scope": "private"})
        assert seen(ben, id, "the recipe") == NOWHERE
        ana.update(id, {"scope": "shared"})
        assert seen(ben, id, "the recipe") == EVERYWHERE
        forgotten(ana, id)
        assert seen(ben, id, "the recipe") == NOWHERE
        assert ana.get(id).state == State.DELETED

    def test_a_move_with_changes_is_one_change(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        id = added(ana, "a draft of mine")

        shared = edited(ana, id, "a text for all", scope="shared")

        assert (shared.version, shared.scope, shared.content) == (2, "shared", "a text for all")
        assert ben.get(id) == shared
        assert found_by_words(ben, "draft") == [] and found_by_words(ben, "text") == [id]
        assert "a draft of mine" not in str(ben.history(id))
        assert "a draft of mine" in str(ana.history(id))

        private = edited(ana, id, "mine again", scope="private")
        assert (private.version, private.scope, private.content) == (3, "private", "mine again")
        assert found_by_words(ana, "mine") == [id] and seen(ben, id, "mine again") == NOWHERE
        assert [event.action for event in ana.history(id)][:2] == ["moved", "updated"]

    def test_movers_in_opposite_directions_do_not_wait_for_each_other(
        self, store_of: OpenStore
    ) -> None:
        stores = [store_of("ana"), store_of("ana")]
        ids = [added(stores[0], f"thing {n}", scope=("private", "shared")[n]) for n in (0, 1)]

        def to_and_fro(n: int) -> None:
            for step in range(20):
                stores[n % 2].update(
                    ids[n % 2], {"scope": ("private", "shared")[(n + step + 1) % 2]}
                )

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(to_and_fro, range(4), timeout=280))

        assert sorted(listed(stores[0])) == sorted(ids)

    # taking away

    def test_what_is_erased_is_gone_from_every_answer(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        for scope in ("private", "shared"):
            id = added(ana, f"the {scope} secret", subject="vault", scope=scope)

            ana.erase(id)

            assert seen(ana, id, f"the {scope} secret") == NOWHERE
            assert seen(ben, id, f"the {scope} secret") == NOWHERE
            with pytest.raises(MemoryNotFound):
                ana.erase(id)
        assert ana.subjects("", 10) == []
        assert ana.counts()["state"] == {}
        assert [one.total for one in ana.index.coverage()] == [0]

    def test_purge_erases_own_memories_forgotten_before(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        old, new, kept = (added(ana, text) for text in ("old", "new", "kept"))
        shared, theirs = added(ana, "ours", scope="shared"), added(ben, "his", scope="shared")
        for kin, id, at in (
            (ana, old, PAST), (ana, new, NOON), (ana, shared, PAST), (ben, theirs, PAST),
        ):  # fmt: skip
            forgotten(kin, id, at)

        assert ana.purge(NOON) == 2
        assert ana.memories([old, new, kept, shared]).keys() == {new, kept}
        assert ben.get(theirs).state == State.DELETED
        assert ana.purge(NOON) == 0

    def test_a_restored_memory_is_not_purged(self, store: Store) -> None:
        id = added(store, "tea")
        forgotten(store, id, PAST)
        store.update(id, {"state": State.ACTIVE, "deleted_at": None}, action="restored")

        assert store.purge(FUTURE) == 0
        assert found_by_words(store, "tea") == found_by_meaning(store, "tea") == [id]

    # use

    def test_use_is_counted_without_being_a_change(
        self, store: Store, store_of: OpenStore, clock: MovableClock
    ) -> None:
        private, shared = added(store, "tea"), added(store, "cake", scope="shared")
        before, revision = store.memories([private, shared]), store.revision
        later = clock.advance(hours=1)

        store.count_use([private, shared, "never was"], NOON)
        store.count_use([private], later)
        store.flush_use()
        store.flush_use()

        after = store_of("ana").memories([private, shared])
        assert [after[id].recalled_count for id in (private, shared)] == [2, 1]
        assert [after[id].recalled_at for id in (private, shared)] == [later, NOON]
        same = {"recalled_count": 0, "recalled_at": None, "priority": None}
        assert {id: replace(memory, **same) for id, memory in after.items()} == before
        assert store.revision == revision
        assert len(store.history(private)) == 1

    def test_use_is_written_at_the_latest_when_the_store_is_closed(
        self, store: Store, store_of: OpenStore
    ) -> None:
        id = added(store, "tea")
        for _ in range(10_000):
            store.count_use([id], NOON)
        store.close()

        assert store_of("ana").get(id).recalled_count == 10_000

    # reading

    def test_candidates_are_the_visible_memories_as_scoring_reads_them(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        full = memory_of("tea", "ben", **EVERY_FIELD, scope="shared")
        [shared] = ben.add([Draft(full, chunks_of("tea"))])
        added(ben, "secret")
        mine = added(ana, "cake")

        found = {one.id: one for one in searched(ana, ["tea", "secret", "cake"]).candidates}

        assert found.keys() == {shared, mine}
        assert found[shared] == Candidate(
            shared, "tea", "said at lunch", "decision", "Zürich", "Ben", "ben", "shared", "stale",
            7.5, 0.5, 0.9, 0.25, 3, "2020-02-29T23:59:59.999999Z", "2025-01-02T00:00:00.000000Z",
            "2026-01-01T00:00:00.000000Z", "/work/project", "2031-01-01T00:00:00.000000Z",
            "m000000",
        )  # fmt: skip
        assert found[mine].said_at == "2026-06-15T12:00:00.000000Z"
        assert found[mine].recalled_at is None

    @pytest.mark.parametrize("limit", [1, 2, 7, 200])
    @pytest.mark.parametrize("sort", ["newest", "oldest", "importance", "used"])
    def test_pages_put_together_are_everything_in_order(
        self, store_of: OpenStore, sort: Sort, limit: int
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        chance = random.Random(0)
        for kin, scope in ((ana, "private"), (ana, "shared"), (ben, "shared")):
            kin.add(
                [
                    draft_of(
                        f"{kin.kin} {scope} {n}", kin.kin, scope=scope,
                        importance=chance.choice([None, 2.0, 5.0, 5.5]),
                        recalled_count=chance.randrange(3),
                    )
                    for n in range(15)
                ]
            )  # fmt: skip
        keys: dict[str, Callable[[Memory], Any]] = {
            "newest": lambda memory: memory.id,
            "oldest": lambda memory: memory.id,
            "importance": lambda memory: memory.importance or 5,
            "used": lambda memory: memory.recalled_count,
        }

        memories = all_pages(ana, Filters(), sort, limit)

        assert len({memory.id for memory in memories}) == 45
        assert memories == sorted(
            memories, key=lambda one: (keys[sort](one), one.id), reverse=sort != "oldest"
        )

    def test_what_is_stored_while_somebody_pages_neither_repeats_nor_hides_others(
        self, store: Store, clock: MovableClock
    ) -> None:
        ids = store.add([draft_of(f"fact {n}") for n in range(6)])
        first = store.page(Filters(), "newest", 3)
        added(store, "new", created_at=clock.advance(hours=1))
        store.erase(ids[3])

        rest = store.page(Filters(), "newest", 3, first.next_cursor)

        assert [memory.id for memory in first.memories + rest.memories] == [
            ids[5], ids[4], ids[3], ids[2], ids[1], ids[0],
        ]  # fmt: skip
        assert rest.next_cursor is None

    @pytest.mark.parametrize("sort", ["newest", "importance"])
    @settings(suppress_health_check=list(HealthCheck), max_examples=rounds(200, 25), deadline=None)
    @given(cursor=st.text() | st.binary().map(lambda raw: raw.hex()))
    @example(cursor="")
    @example(cursor="WyJuZXdlc3QiLCAxLCAibSJd")  # ["newest", 1, "m"]
    @example(cursor="WyJpbXBvcnRhbmNlIiwgIngiLCAibSJd")  # ["importance", "x", "m"]
    @example(cursor="WyJpbXBvcnRhbmNlIiwgMWU5OTksICJtIl0=")  # ["importance", 1e999, "m"]
    @example(cursor="WyJpbXBvcnRhbmNlIiwgTmFOLCAibSJd")  # ["importance", NaN, "m"]
    @example(cursor="WyJuZXdlc3QiLCAiXHVkODAwIiwgIm0iXQ")  # ["newest", "\ud800", "m"]
    @example(cursor="W1tb" * 20_000)  # [[[[
    def test_a_foreign_cursor_is_refused(self, store: Store, sort: Sort, cursor: str) -> None:
        with pytest.raises(InvalidInput):
            store.page(Filters(), sort, 5, cursor)

    def test_a_cursor_of_another_order_is_refused(self, store: Store) -> None:
        store.add([draft_of(f"fact {n}") for n in range(3)])
        cursor = store.page(Filters(), "newest", 1).next_cursor

        with pytest.raises(InvalidInput):
            store.page(Filters(), "used", 1, cursor)

    @pytest.mark.parametrize(
        ("filters", "names"),
        [
            pytest.param(Filters(), ALWAYS_LIVE, id="none"),
            pytest.param(Filters(category="decision"), {"decision"}, id="category"),
            pytest.param(Filters(subject="zürich"), {"about Zürich"}, id="subject in other case"),
            pytest.param(Filters(subject="züri"), set(), id="part of a subject"),
            pytest.param(Filters(scope="shared"), {"shared"}, id="shared"),
            pytest.param(Filters(scope="private"), ALWAYS_LIVE - {"shared"}, id="private"),
            pytest.param(Filters(tags=("red",)), {"tagged", "half tagged"}, id="a tag"),
            pytest.param(Filters(tags=("red", "big")), {"tagged"}, id="all tags"),
            pytest.param(Filters(tags=("re",)), set(), id="part of a tag"),
            pytest.param(Filters(since=NOON), ALWAYS_LIVE - {"last year"}, id="since, inclusive"),
            pytest.param(Filters(until=NOON), {"last year"}, id="until, exclusive"),
            pytest.param(
                Filters(since=LAST_YEAR, until=LAST_YEAR + timedelta(microseconds=1)),
                {"last year"},
                id="one microsecond",
            ),
            pytest.param(
                Filters(since=LAST_YEAR.astimezone(), until=NOON.astimezone()),
                {"last year"},
                id="times of another zone",
            ),
            pytest.param(
                Filters(include_archived=True),
                ALWAYS_LIVE | {"archived", "expired", "expires now", "once valid"},
                id="with archived ones",
            ),
            pytest.param(Filters(as_of=LAST_YEAR + timedelta(days=1)),
                {"last year", "outdated", "once valid"}, id="as of last year"),
            pytest.param(Filters(as_of=LAST_YEAR + timedelta(days=30)),
                {"last year", "once valid"}, id="as of the end of validity"),
            pytest.param(Filters(as_of=NOON), ALWAYS_LIVE - {"not yet valid"},
                id="as of now"),
            pytest.param(Filters(as_of=FUTURE),
                ALWAYS_LIVE - {"expiring"}, id="as of tomorrow"),
            pytest.param(Filters(as_of=NOON, include_archived=True),
                (ALWAYS_LIVE | {"archived"}) - {"not yet valid"},
                id="as of now with archived ones"),
            pytest.param(Filters(states=(State.DELETED,)), {"deleted"}, id="deleted ones"),
            pytest.param(Filters(states=(State.QUARANTINED, State.SUPERSEDED)),
                {"quarantined", "outdated"}, id="two states"),
            pytest.param(Filters(states=()), set(), id="no state"),
            pytest.param(
                Filters(states=(State.ARCHIVED,), as_of=LAST_YEAR, include_archived=False),
                {"archived"}, id="states go before all else",
            ),
            pytest.param(Filters(category="decision", subject="Zürich"), set(), id="and"),
        ],
    )  # fmt: skip
    def test_filters_decide_what_any_search_finds(
        self, store: Store, filters: Filters, names: set[str]
    ) -> None:
        ids = store.add([draft_of(f"book {name}", **given) for name, given in SHELF.items()])
        expected = {id for id, name in zip(ids, SHELF, strict=True) if name in names}

        assert set(listed(store, filters)) == expected
        assert set(found_by_words(store, "book", filters=filters)) == expected
        assert set(found_by_meaning(store, "book", filters=filters)) == expected

    def test_what_expires_vanishes_at_its_time(self, store: Store, clock: MovableClock) -> None:
        id = added(store, "tea", expires_at=NOON + timedelta(hours=1), subject="cup")
        for minutes, there in ((59, True), (1, False)):
            clock.advance(minutes=minutes)
            assert (listed(store) == [id]) is there
            assert (found_by_words(store, "tea") == [id]) is there
            assert (found_by_meaning(store, "tea") == [id]) is there
            assert (store.subjects("", 5) == ["cup"]) is there
        assert store.get(id).content == "tea"

    def test_somebody_elses_archived_memory_is_found_when_asked_for(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        id = added(ben, "attic", scope="shared", state=State.ARCHIVED)

        assert found_by_words(ana, "attic") == []
        assert found_by_words(ana, "attic", filters=Filters(include_archived=True)) == [id]

    def test_names_are_the_speakers_and_authors_that_the_kin_knows_of(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        added(ana, "1", speaker="Élodie  Petit")
        added(ana, "2", speaker="user")
        added(ben, "3", speaker="Hidden")
        added(ben, "4", speaker="Assistant", scope="shared")
        assert ana.names() == {"elodie petit", "ben"}

        gone = added(ben, "5", speaker="Carla", scope="shared")
        assert ana.names() == {"elodie petit", "ben", "carla"}
        forgotten(ben, gone)
        assert ana.names() == {"elodie petit", "ben"}
        assert "carla" in ben.names()

    def test_subjects_complete_what_begins_so_most_used_first(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        for n, subject in enumerate(["Zürich", "zoo", "zoo", "Berlin", "gone", None]):
            added(ana, f"{n}", subject=subject, state="archived" if subject == "gone" else "active")
        added(ben, "hidden", subject="zebra")
        added(ben, "shared", subject="Zagreb", scope="shared")

        assert ana.subjects("Z", 10) == ["zoo", "Zagreb", "Zürich"]
        assert ana.subjects("zü", 10) == ["Zürich"]
        assert ana.subjects("", 2) == ["zoo", "Berlin"]
        assert ana.subjects("gone", 10) == ana.subjects("%", 10) == []

    def test_counts_are_of_what_is_visible(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        added(ana, "1")
        added(ana, "2", state=State.DELETED, category="plan")
        added(ana, "3", scope="shared")
        added(ben, "4", scope="shared")
        added(ben, "5", scope="shared", state=State.DELETED)
        added(ben, "6")

        assert ana.counts() == {
            "state": {"active": 3, "deleted": 1},
            "scope": {"private": 2, "shared": 2},
            "category": {"fact": 3, "plan": 1},
            "kin": {"ana": 3, "ben": 1},
            "tier": {"warm": 4},
        }

    # by words

    @settings(suppress_health_check=list(HealthCheck), max_examples=rounds(600, 40), deadline=None)
    @given(words=st.lists(st.text(max_size=30), max_size=6))
    @example(words=["\0", "\ud800", "", "   "])
    @example(words=['"', "'", "''", '""', 'a"b', "(", ")", "(" * 5000, "*", "^", "{", "-", "+"])
    @example(words=["NEAR(a b)", "AND", "OR", "NOT", "content:tea", "tea*", "^tea", "{x}:y"])
    @example(words=["word"] * 20_000)
    @example(words=[f"w{n}" for n in range(20_000)])
    @example(words=["🫖", "👩‍👩‍👧", "‮וידוי", "हिन्दी", "é", "e\u0301", "İ", "ß", "ﬁ", "\u200b"])
    def test_no_question_is_read_as_syntax(self, store: Store, words: list[str]) -> None:
        added(store, "tea and cake", subject="NEAR")

        for score in searched(store, words, 5).matches.values():
            assert score == score

    @pytest.mark.parametrize(
        "hostile",
        [
            "content:tea",
            "te*",
            "tea*cake",
            "NOT",
            "AND",
            "OR",
            "NEAR(tea,x)",
            '"tea""cake',
            "{t}:x",
        ],
    )
    def test_operators_are_plain_words(self, store: Store, hostile: str) -> None:
        added(store, "tea")
        literal = added(store, f"said {hostile} there")

        assert found_by_words(store, hostile) == [literal]

    def test_no_words_match_nothing(self, store: Store) -> None:
        added(store, "tea")

        assert searched(store, []) == Found([], {}, [], {})
        assert searched(store, ["", "?!", "\0"]) == Found([], {}, [], {})

    @pytest.mark.parametrize(
        ("content", "found", "not_found"),
        [
            pytest.param("我爱喝乌龙茶", ["乌龙茶", "爱喝", "茶", "我"], ["绿茶"], id="zh"),
            pytest.param("東京タワーへ行く", ["東京", "タワー", "行く", "京"], ["京都"], id="ja"),
            pytest.param("서울에서 만났다", ["서울", "만났"], ["부산"], id="ko"),
            pytest.param("I write C# at work", ["C#", "c#"], ["C", "C++"], id="C sharp"),
            pytest.param("I write C++ at work", ["C++", "c++"], ["C", "C#"], id="C plus plus"),
            pytest.param("Go runs on k8", ["go", "Go", "K8"], ["goo", "k"], id="Go and k8"),
            pytest.param("she was running", ["run", "runs", "RUNNING"], ["ran"], id="stems"),
            pytest.param("Müller, café", ["muller", "MÜLLER", "cafe"], ["mueller"], id="accents"),
            pytest.param("snake_case x-ray", ["snake", "x-ray"], ["xray"], id="joined words"),
            pytest.param("שלום עולם", ["עולם"], ["םלוע"], id="right to left"),
        ],
    )  # fmt: skip
    def test_words_of_many_kinds_are_found(
        self, store: Store, content: str, found: list[str], not_found: list[str]
    ) -> None:
        id = added(store, content)

        assert {word: found_by_words(store, word) for word in found} == {w: [id] for w in found}
        assert {word: found_by_words(store, word) for word in not_found} == {
            w: [] for w in not_found
        }

    def test_words_look_at_content_subject_context_speaker_and_date(self, store: Store) -> None:
        id = added(
            store, "tea", subject="Kettle", source_context="breakfast", speaker="Ben",
            occurred_at=datetime(2023, 5, 8, tzinfo=UTC),
        )  # fmt: skip

        for word in ("tea", "kettle", "breakfast", "ben", "2023", "may"):
            assert found_by_words(store, word) == [id], word

    def test_the_best_match_comes_first_and_all_words_win_among_equals(self, store: Store) -> None:
        common = store.add([draft_of(f"common filler {n}") for n in range(30)])
        both = added(store, "common treasure")

        matches = searched(store, ["common", "treasure"], 10).matches
        first, *others = matches
        assert first == both
        assert list(matches.values()) == sorted(matches.values(), reverse=True)
        assert len(matches) == 10
        assert set(others) <= set(common)

    def test_all_words_can_leave_the_others_out(self, store: Store) -> None:
        added(store, "common filler")
        both = added(store, "common treasures")
        words = ["common", "treasur"]

        assert list(searched(store, words, all_words_first=True).matches) == [both]
        assert len(searched(store, ["common", "nowhere"], all_words_first=True).matches) == 2

    def test_both_arms_answer_together(self, store: Store) -> None:
        by_words, by_meaning = added(store, "a kettle"), added(store, "tea")

        found = searched(store, ["kettle"], vector=vector_of("tea"))

        assert found.nearest[0] == by_meaning
        assert list(found.matches) == [by_words]
        assert {one.id for one in found.candidates} == {by_words, by_meaning}
        assert found.cosines[by_meaning] == [pytest.approx(1)]
        assert found.cosines.keys() == {by_words, by_meaning}

    def test_the_limit_holds_for_own_memories_and_for_what_others_share(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        for scope in ("private", "shared"):
            for kin in (ana, ben):
                kin.add([draft_of(f"fact {scope} {n}", kin.kin, scope=scope) for n in range(5)])

        assert len(searched(ana, ["fact"], 3).matches) == 6
        assert 3 <= len(found_by_meaning(ana, "fact", limit=3)) <= 6
        assert len(searched(ana, ["fact"], 3, Filters(scope="shared")).matches) == 6
        assert len(searched(ana, ["fact"], 3, Filters(scope="private")).matches) == 3

    def test_filtered_matches_are_the_best_of_those_allowed(self, store: Store) -> None:
        store.add([draft_of(f"apple {'apple ' * n}", category="plan") for n in range(40)])
        wanted = store.add([draft_of(f"an apple pie for {n} people") for n in range(3)])

        assert set(found_by_words(store, "apple", filters=Filters(category="fact"))) == set(wanted)
        found = searched(store, ["apple"], 3, Filters(category="fact"))
        assert set(found.matches) == set(wanted)

    def test_the_dead_take_no_places_of_the_living(self, store: Store) -> None:
        for id in store.add([draft_of(f"apple {'apple ' * n}") for n in range(40)]):
            forgotten(store, id)
        wanted = store.add([draft_of(f"an apple pie for {n} people") for n in range(3)])

        assert set(searched(store, ["apple"], 3).matches) == set(wanted)

    # by meaning

    def test_the_nearest_are_exactly_those(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        texts = {
            kin.add([draft_of(text, kin.kin, scope=scope)])[0]: text
            for kin, scope in ((ana, "private"), (ben, "shared"))
            for text in (f"{kin.kin} says {n}" for n in range(60))
        }
        for question in ("what", "who", "ana says 7"):
            expected = by_cosine(question, texts)

            assert found_by_meaning(ana, question, limit=60) == expected
            few = found_by_meaning(ana, question, limit=5)
            assert few == [id for id in expected if id in few] and len(few) == 10
            assert few[:5] == expected[:5]

    def test_a_long_memory_takes_one_place(self, store: Store) -> None:
        parts = [f"part {n}" for n in range(300)]
        near = Chunks(tuple(parts), np.stack([vector_of("topic")] * 300), TINY)
        long = store.add([Draft(memory_of(" ".join(parts)), near)])
        others = store.add([draft_of(f"other {n}") for n in range(10)])

        found = found_by_meaning(store, "topic", limit=5)

        assert found[:1] == long
        assert len(found) == 5 and set(found[1:]) < set(others)

    def test_the_nearest_of_several_vectors_are_those_of_each(self, store: Store) -> None:
        store.add([Draft(memory_of("long"), chunks_of(*(f"part {n}" for n in range(40))))])
        for text in ("tea", "cake", "chess", "snow", "moss", "lava"):
            added(store, text)
        vectors = [vector_of(text) for text in ("part 7", "tea", "part 30", "snow", "never said")]

        found = store.index.nearest_each(vectors, TINY, 4, Filters())

        for vector, near in zip(vectors, found, strict=True):
            alone = store.index.nearest(vector, TINY, 4, Filters())
            assert [id for id, _ in near] == [id for id, _ in alone]
            assert [one for _, one in near] == pytest.approx([one for _, one in alone], abs=1e-6)
        assert all(len(one) == 4 for one in found)
        assert store.index.nearest_each([], TINY, 4, Filters()) == []

    def test_cosines_are_of_every_chunk_in_the_order_of_the_text(self, store: Store) -> None:
        texts = ["one", "two", "three"]
        [id] = store.add([Draft(memory_of("one two three"), chunks_of(*texts))])
        waiting = added(store, "waits", embedder=None)
        archived = added(store, "attic", state=State.ARCHIVED)
        question = vector_of("q")

        found = store.index.cosines(question, TINY, [id, waiting, archived, "never was"])

        assert found.keys() == {id, archived}
        assert found[id] == pytest.approx(
            [float(vector_of(text) @ question) for text in texts], abs=1e-5
        )
        assert store.index.cosines(question, "unknown", [id]) == {}
        assert store.index.cosines(question, TINY, []) == {}

    def test_first_vectors_are_those_of_the_first_chunks(self, store: Store) -> None:
        [id] = store.add([Draft(memory_of("one two"), chunks_of("one", "two"))])
        waiting = added(store, "waits", embedder=None)

        found = store.index.first_vectors(TINY, [id, waiting, "never was"])

        assert found.keys() == {id}
        assert np.array_equal(found[id], vector_of("one"))
        assert store.index.first_vectors("unknown", [id]) == {}

    def test_what_has_changed_is_told_in_order_from_a_mark_on(self, store: Store) -> None:
        tea, jam = added(store, "tea"), added(store, "jam")
        waits = added(store, "waits", embedder=None)
        ours = added(store, "ours", scope="shared")

        told = store.index.changed_since(0, "private", 9)
        assert [id for _, id in told] == [tea, jam]
        assert store.index.changed_since(0, "private", 1) == told[:1]
        assert [id for _, id in store.index.changed_since(0, "shared", 9)] == [ours]
        mark = told[-1][0]
        assert store.index.changed_since(mark, "private", 9) == []
        store.update(tea, {"importance": 9.0})
        store.update(jam, {"state": State.ARCHIVED})
        store.index.fill(TINY, store.index.pending(TINY, 9), vectors_of(["waits"]))
        assert [id for _, id in store.index.changed_since(mark, "private", 9)] == [jam, waits]

    def test_a_mark_of_another_file_is_none(self, store: Store) -> None:
        tea = added(store, "tea")

        assert [id for _, id in store.index.changed_since(10**9, "private", 9)] == [tea]

    def test_an_unknown_embedder_finds_nothing(self, store: Store) -> None:
        added(store, "tea")

        assert store.index.nearest(vector_of("tea", 4), "unknown", 5, Filters()) == []

    # embedders

    def test_chunks_without_vectors_wait_until_they_are_filled(self, store: Store) -> None:
        store.index.enroll(TINY, WIDTH)
        assert store.index.is_filled(TINY)
        [id] = store.add(
            [Draft(memory_of("one two", status="pending"), chunks_of("one", "two", embedder=None))]
        )
        shared = added(store, "three", scope="shared", embedder=None)
        assert not store.index.is_filled(TINY)

        waiting = store.index.pending(TINY, 10)
        assert [(one.memory_id, one.text, one.is_own, one.fresh) for one in waiting] == [
            (id, "one", True, True),
            (id, "two", True, True),
            (shared, "three", True, False),
        ]
        assert store.index.pending(TINY, 2) == waiting[:2]
        assert found_by_meaning(store, "one") == []

        fill(store, TINY)
        assert store.index.is_filled(TINY) and store.index.pending(TINY, 10) == []
        assert found_by_meaning(store, "one")[0] == id
        assert found_by_meaning(store, "three")[0] == shared
        fill(store, TINY, waiting)
        assert len(store.index.cosines(vector_of("q"), TINY, [id])[id]) == 2

    def test_what_was_stored_unseen_is_unsettled_until_somebody_settles_it(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        fresh = {"status": "pending", "embedder": None}
        mine = added(ana, "tea", **fresh)
        [two] = ana.add(
            [Draft(memory_of("one two", status="pending"), chunks_of("one", "two", embedder=None))]
        )
        shared = added(ana, "cake", scope="shared", **fresh)
        theirs = added(ben, "bread", scope="shared", **fresh)
        added(ana, "compared at once")
        assert ana.index.unsettled("unknown", 9) == []
        assert ana.index.unsettled(TINY, 9) == []
        before = ana.index.pending(TINY, 9)

        fill(ana, TINY)

        unsettled = ana.index.unsettled(TINY, 9)
        assert {one.memory_id for one in before} == {mine, two, shared, theirs}
        assert unsettled == [one for one in before if one.memory_id != theirs]
        assert ana.index.unsettled(TINY, 2) == unsettled[:2]
        assert ben.index.unsettled(TINY, 9) == []  # his original has no vector yet
        ben.index.enroll(TINY, WIDTH)
        fill(ben, TINY)
        assert [one.memory_id for one in ben.index.unsettled(TINY, 9)] == [theirs]

        versions, revision = ana.memories([mine, shared]), ana.revision
        ana.index.settled([mine, shared, theirs, "never was"])

        assert [one.text for one in ana.index.unsettled(TINY, 9)] == ["one", "two"]
        assert [one.memory_id for one in ben.index.unsettled(TINY, 9)] == [theirs]
        assert ana.memories([mine, shared]) == {
            id: replace(one, status="ingested") for id, one in versions.items()
        }
        assert ana.revision == revision
        assert len(ana.history(mine)) == 1

    def test_a_vector_goes_to_no_other_text_than_its_own(self, store: Store) -> None:
        store.index.enroll(TINY, WIDTH)
        changed, erased, moved = (
            added(store, text, embedder=None) for text in ("old text", "gone", "moved")
        )
        waiting = store.index.pending(TINY, 10)

        store.update(changed, {"content": "new text"}, chunks=chunks_of("new text", embedder=None))
        store.erase(erased)
        late = added(store, "late", embedder=None)
        store.update(moved, {"scope": "shared"})
        store.index.fill(TINY, waiting, vectors_of([one.text for one in waiting]))

        assert {one.text for one in store.index.pending(TINY, 10)} == {"new text", "late"}
        fill(store, TINY)
        for id, text in ((changed, "new text"), (late, "late"), (moved, "moved")):
            assert store.index.cosines(vector_of(text), TINY, [id]) == {id: [pytest.approx(1)]}

    def test_two_embedders_of_different_width_stand_side_by_side(self, store: Store) -> None:
        ids = [added(store, "tea"), added(store, "cake", scope="shared")]
        assert [one.embedder for one in store.index.coverage()] == [TINY]

        store.index.enroll("wide", 40)
        store.index.enroll("wide", 40)
        assert [
            (one.embedder, one.dimension, one.done, one.total) for one in store.index.coverage()
        ] == [
            (TINY, WIDTH, 2, 2),
            ("wide", 40, 0, 2),
        ]
        assert store.index.is_filled(TINY) and not store.index.is_filled("wide")
        assert store.index.nearest(vector_of("tea", 40), "wide", 5, Filters()) == []

        fill(store, "wide", width=40)
        late = added(store, "late")
        assert [(one.embedder, one.done, one.total) for one in store.index.coverage()] == [
            (TINY, 3, 3),
            ("wide", 2, 3),
        ]
        assert store.index.nearest(vector_of("cake", 40), "wide", 5, Filters())[0][0] == ids[1]
        assert found_by_meaning(store, "late")[0] == late

        store.index.retire(TINY)
        assert [one.embedder for one in store.index.coverage()] == ["wide"]
        assert found_by_meaning(store, "tea") == []
        assert not store.index.is_filled(TINY)
        store.index.retire(TINY)
        store.index.retire("never was")

        store.index.enroll(TINY, 8)
        assert len(store.index.pending(TINY, 10)) == 3

    def test_a_known_embedder_keeps_its_width(self, store: Store) -> None:
        store.index.enroll(TINY, WIDTH)

        with pytest.raises(StoreError):
            store.index.enroll(TINY, WIDTH + 1)

    def test_what_one_process_does_with_embedders_the_others_see(self, store_of: OpenStore) -> None:
        one, other = store_of("ana"), store_of("ana")
        id = added(one, "tea")
        assert found_by_meaning(other, "tea") == [id]

        one.index.retire(TINY)
        one.index.enroll("successor", WIDTH)
        fill(one, "successor")

        assert found_by_meaning(other, "tea") == []
        assert [
            known for known, _ in other.index.nearest(vector_of("tea"), "successor", 5, LIVE)
        ] == [id]

    def test_an_embedder_counts_as_enrolled_where_all_its_memories_have_it(
        self, store_of: OpenStore
    ) -> None:
        ana = store_of("ana")
        added(ana, "tea", scope="shared")
        ben = store_of("ben")
        assert ben.index.coverage() == []

        ben.index.enroll(TINY, WIDTH)

        assert [one.share for one in ben.index.coverage()] == [1.0]
        added(ben, "cake", embedder=None)
        assert len(ben.index.pending(TINY, 5)) == 1

    def test_nothing_to_embed_is_full_coverage(self, store: Store) -> None:
        store.index.enroll(TINY, WIDTH)

        assert [one.share for one in store.index.coverage()] == [1.0]

    # the revision

    def test_the_revision_changes_with_whatever_recall_reads(self, store_of: OpenStore) -> None:
        ana, ben, other = store_of("ana"), store_of("ben"), store_of("ana")
        seen = [ana.revision]
        ids = []

        def changed(what: str) -> None:
            assert ana.revision not in seen, what
            assert other.revision == ana.revision, what
            seen.append(ana.revision)

        ids.append(added(ana, "tea", embedder=None))
        changed("add")
        ids.append(added(ben, "cake", scope="shared"))
        changed("somebody else's add")
        ana.update(ids[0], {"pinned": True})
        changed("update")
        ana.update(ids[0], {"scope": "shared"})
        changed("move")
        ana.index.enroll(TINY, WIDTH)
        fill(ana, TINY)
        changed("fill")
        forgotten(ben, ids[1])
        changed("somebody else's forget")
        ana.index.retire(TINY)
        changed("retire")
        ana.erase(ids[0])
        changed("erase")

    def test_reading_and_what_changes_nothing_leave_the_revision(self, store: Store) -> None:
        id = added(store, "tea", embedder=None)
        waiting = store.index.pending(TINY, 5)
        fill(store, TINY)
        revision = store.revision

        added(store, "tea")
        store.index.fill(TINY, waiting, vectors_of(["tea"]))
        store.index.enroll(TINY, WIDTH)
        store.purge(NOON)
        store.count_use([id], NOON)
        store.flush_use()
        found_by_words(store, "tea")
        found_by_meaning(store, "tea")
        assert store.revision == revision

    def test_somebody_elses_private_memories_do_not_touch_the_revision(
        self, store_of: OpenStore
    ) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        ben.index.enroll(TINY, WIDTH)
        revision = ana.revision

        added(ben, "secret")

        assert ana.revision == revision

    # threads and the end

    def test_any_thread_may_call_anything(self, store: Store) -> None:
        def work(n: int) -> None:
            id = added(store, f"thread {n}", scope=("private", "shared")[n % 2])
            store.update(id, {"importance": 3.0})
            assert id in found_by_words(store, "thread")
            assert id in found_by_meaning(store, f"thread {n}")
            assert store.get(id).version == 2
            if n % 3 == 0:
                store.erase(id)
            store.count_use([id], NOON)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(48)))

        assert len(listed(store)) == 32

    def test_a_closed_store_says_so(self, store: Store) -> None:
        id = added(store, "tea")
        store.close()
        store.close()

        for attempt in (
            lambda: store.get(id),
            lambda: added(store, "cake"),
            lambda: store.update(id, {"pinned": True}),
            lambda: found_by_words(store, "tea"),
            lambda: store.revision,
        ):
            with pytest.raises(StoreError, match="closed"):
                attempt()


def fill(store: Store, embedder: str, chunks: Any = None, width: int = WIDTH) -> None:
    """Give the chunks, or all that wait, their vectors."""
    waiting = store.index.pending(embedder, 1000) if chunks is None else chunks
    store.index.fill(embedder, waiting, vectors_of([chunk.text for chunk in waiting], width))


def by_cosine(question: str, texts: dict[str, str]) -> list[str]:
    """The ids of single-chunk memories, nearest first."""
    vectors = vectors_of(texts.values()).astype(np.float64)
    order = np.argsort(-(vectors @ vector_of(question)), kind="stable")
    ids = list(texts)
    return [ids[at] for at in order]


NOWHERE: set[str] = set()
EVERYWHERE = {
    "get", "history", "memories", "candidates", "page", "matches", "nearest", "cosines",
    "first_vectors",
}  # fmt: skip


def seen(store: Store, id: str, content: str) -> set[str]:
    """Through which methods a Kin gets hold of a live memory of one chunk."""
    answers = {
        "memories": store.memories([id]).keys(),
        "candidates": {one.id for one in searched(store, content.split()).candidates},
        "page": listed(store),
        "matches": found_by_words(store, *content.split()),
        "nearest": found_by_meaning(store, content),
        "cosines": store.index.cosines(vector_of(content), TINY, [id]),
        "first_vectors": store.index.first_vectors(TINY, [id]),
    }
    ways = {name for name, answer in answers.items() if id in answer}
    for name, ask in {"get": store.get, "history": store.history}.items():
        try:
            ask(id)
            ways.add(name)
        except MemoryNotFound:
            pass
    return ways
