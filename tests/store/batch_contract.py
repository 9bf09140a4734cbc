"""What a store promises of apply, parents and entities, asked through the Protocol alone.

Inherited as StoreContract is, beside the same fixtures.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from kinmem.errors import KinmemError, MemoryNotFound, VersionConflict
from kinmem.models import Draft, Entity, Knowledge, Relation, State
from kinmem.models.turns import Batch, Change, Conflict
from kinmem.store.base import Store
from kinmem.store.graph import Key
from tests.store.contract import (
    NOON,
    OpenStore,
    added,
    chunks_of,
    draft_of,
    edited,
    forgotten,
    found_by_meaning,
    found_by_words,
    listed,
    memory_of,
)
from tests.store.sessions_contract import kept, waiting

ANA, ROME = Entity("Ana", "person"), Entity("Rome", "location")


def conflict(newer: str, older: str) -> Conflict:
    return Conflict(newer, older, "update", "temporal", "she moved")


def about(content: str, *entities: Entity, **given: Any) -> Draft:
    return replace(draft_of(content, **given), knowledge=Knowledge(entities))


def stand(store: Store) -> tuple[Any, ...]:
    """All that a batch may change."""
    memories = store.memories(listed(store))
    lines = {id: len(store.history(id)) for id in memories}
    return memories, lines, waiting(store), store.decisions.conflicts(), store.index.coverage()


Broken = Callable[[str], dict[str, Any]]
"""What to add to a batch, given a memory of ana's, so that it fails."""
BROKEN: dict[str, tuple[Broken, type[Exception]]] = {
    "another version": (
        lambda id: {"changes": [Change(id, {"pinned": True}, "updated", version=7)]},
        VersionConflict,
    ),
    "no such memory": (
        lambda id: {"changes": [Change("never was", {"pinned": True}, "updated")]},
        MemoryNotFound,
    ),
    "a second change that fails": (
        lambda id: {
            "changes": [
                Change(id, {"pinned": True}, "updated", version=1),
                Change(id, {"importance": 9.0}, "updated", version=1),
            ]
        },
        VersionConflict,
    ),
    "a conflict that no row can hold": (
        lambda id: {
            "changes": [Change(id, {"pinned": True}, "updated")],
            "conflicts": [conflict("a", "b"), replace(conflict("c", "d"), reason=None)],  # type: ignore[arg-type]
        },
        KinmemError,
    ),
    "what no row can hold": (
        lambda id: {"changes": [Change(id, {"importance": 99.0}, "updated")]},
        KinmemError,
    ),
}


class BatchContract:
    """Inherited by the test of each backend."""

    def test_a_batch_does_all_of_it(self, store: Store) -> None:
        old, source = added(store, "she lives in Oslo"), added(store, "she has moved")
        messages = kept(store, "1")["1"]
        new = draft_of("she lives in Rome", turn_id="1")
        id = new.memory.id
        outdated = {"state": State.SUPERSEDED, "superseded_by": id, "valid_to": NOON}

        done = store.apply(
            Batch(
                drafts=[new],
                changes=[Change(old, outdated, "superseded", "she moved", version=1)],
                conflicts=[conflict(id, old)],
                parents={id: [source, old]},
                learned=messages,
                name="turn 1",
            )
        )

        assert done == [id]
        assert store.get(id) == new.memory
        assert found_by_words(store, "lives") == [id]
        assert found_by_meaning(store, "she lives in Rome")[0] == id
        changed = store.get(old)
        assert (changed.state, changed.superseded_by, changed.version) == ("superseded", id, 2)
        event = store.history(old)[0]
        assert (event.action, event.reason) == ("superseded", "she moved")
        assert event.before["state"] == "active" and event.after["superseded_by"] == id
        assert [event.action for event in store.history(id)] == ["created"]
        assert store.parents(id) == sorted([source, old])
        [found] = store.decisions.conflicts()
        assert (found.newer, found.older, found.reason) == (id, old, "she moved")
        assert waiting(store) == []

    def test_a_batch_may_be_of_the_shared_scope(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        old = added(ana, "we meet at nine", scope="shared")
        new = draft_of("we meet at ten", scope="shared")
        change = Change(old, {"superseded_by": new.memory.id}, "superseded")

        ana.apply(Batch(drafts=[new], changes=[change]))

        assert ben.get(new.memory.id).content == "we meet at ten"
        assert ben.get(old).superseded_by == new.memory.id

    def test_new_content_comes_with_its_chunks(self, store: Store) -> None:
        id = added(store, "a bicycle")
        fields = {"content": "an automobile", "content_hash": "an automobile"}
        change = Change(id, fields, "merged", chunks=chunks_of("an automobile"))

        store.apply(Batch(changes=[change]))

        assert store.get(id).content == "an automobile"
        assert found_by_words(store, "bicycle") == []
        assert found_by_words(store, "automobile") == [id]
        assert found_by_meaning(store, "an automobile") == [id]

    @pytest.mark.parametrize("case", BROKEN)
    def test_a_batch_that_fails_has_done_nothing(self, store: Store, case: str) -> None:
        broken, error = BROKEN[case]
        id, shared = added(store, "she lives in Oslo"), added(store, "ours", scope="shared")
        messages = kept(store, "1")["1"]
        before, revision = stand(store), store.revision
        new = about("she lives in Rome", ANA, ROME)
        batch = Batch(
            drafts=[new],
            conflicts=[conflict(new.memory.id, id)],
            parents={new.memory.id: [id, shared]},
            learned=messages,
        )

        with pytest.raises(error):
            store.apply(replace(batch, **broken(id)))

        assert (stand(store), store.revision) == (before, revision)
        assert store.parents(new.memory.id) == []
        assert store.apply(batch) == [new.memory.id]

    def test_nothing_is_learned_twice_from_a_message(self, store: Store) -> None:
        messages = kept(store, "1", "2")
        store.apply(Batch(drafts=[draft_of("tea")], learned=messages["1"]))
        before, revision = stand(store), store.revision
        id = listed(store)[0]

        for learned in (messages["1"], messages["1"][:1] + messages["2"], [99]):
            batch = Batch(
                drafts=[draft_of("coffee")],
                changes=[Change(id, {"pinned": True}, "updated")],
                learned=learned,
            )
            assert store.apply(batch) is None

        assert (stand(store), store.revision) == (before, revision)

    def test_one_of_several_learns_from_a_turn(self, store_of: OpenStore) -> None:
        stores = [store_of("ana") for _ in range(4)]
        messages = kept(stores[0], "1")["1"]

        def learn(n: int) -> list[str] | None:
            return stores[n].apply(Batch(drafts=[draft_of(f"fact {n}")], learned=messages))

        with ThreadPoolExecutor(4) as threads:
            done = [ids for ids in threads.map(learn, range(4)) if ids is not None]

        assert done == [listed(stores[0])]

    def test_what_changes_no_memory_spoils_no_answer(self, store: Store) -> None:
        messages = kept(store, "1")["1"]
        revision = store.revision

        assert store.apply(Batch(learned=messages)) == []
        assert store.apply(Batch()) == []
        assert store.revision == revision

    def test_only_own_memories_are_changed(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        theirs = added(ben, "theirs", scope="shared")

        with pytest.raises(MemoryNotFound):
            ana.apply(Batch(changes=[Change(theirs, {"pinned": True}, "updated")]))
        assert not ana.get(theirs).pinned

    def test_a_batch_may_share_and_unshare(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        mine, ours = added(ana, "mine"), added(ana, "ours", scope="shared")
        new = draft_of("new", scope="shared")

        ana.apply(
            Batch(
                drafts=[new],
                changes=[
                    Change(mine, {"scope": "shared", "pinned": True}, "undone"),
                    Change(ours, {"scope": "private"}, "undone"),
                ],
            )
        )

        assert set(listed(ben)) == {mine, new.memory.id}
        assert [(e.action, e.write) for e in ana.history(mine, 2)] == [("moved", 3), ("undone", 3)]
        assert [event.action for event in ana.history(ours)] == ["moved", "created"]

    def test_what_is_known_already_is_named_by_the_id_it_stands_under(self, store: Store) -> None:
        known, old = added(store, "she lives in Rome"), added(store, "she lives in Oslo")
        again, twin = draft_of("she lives in Rome"), draft_of("they met in Rome")
        other = draft_of("they met in Rome")
        new = again.memory.id
        gone = {"state": State.SUPERSEDED, "superseded_by": new}

        done = store.apply(
            Batch(
                drafts=[again, twin, other],
                changes=[
                    Change(old, gone, "superseded"),
                    Change(known, gone, "superseded"),  # by itself
                ],
                conflicts=[conflict(new, old), conflict(new, known)],
                parents={new: [old, known], other.memory.id: [new]},
            )
        )

        assert done == [known, twin.memory.id, twin.memory.id]
        assert (store.get(old).superseded_by, store.get(known).state) == (known, "active")
        assert [(c.newer, c.older) for c in store.decisions.conflicts()] == [(known, old)]
        assert store.parents(known) == [old]
        assert store.parents(twin.memory.id) == [known]
        assert store.parents(new) == store.parents(other.memory.id) == []

    def test_a_conflict_is_noted_once(self, store: Store) -> None:
        store.apply(Batch(conflicts=[conflict("a", "b")]))
        [found] = store.decisions.conflicts()
        store.decisions.close_conflict(found.id, "kept_both")

        store.apply(Batch(conflicts=[conflict("a", "b")]))

        assert store.decisions.conflicts() == []
        assert [one.status for one in store.decisions.conflicts(all=True)] == ["kept_both"]

    def test_a_conflict_is_settled_with_the_change_that_settles_it_or_not_at_all(
        self, store: Store
    ) -> None:
        old = added(store, "tea")
        store.apply(Batch(conflicts=[conflict("new", old)]))
        [found] = store.decisions.conflicts()
        gone = {"state": State.SUPERSEDED}

        with pytest.raises(VersionConflict):
            stale = Change(old, gone, "superseded", version=7)
            store.apply(Batch(settled={found.id: "kept_newer"}, changes=[stale]))
        assert store.decisions.conflicts() == [found]
        now = Change(old, gone, "superseded", version=1)
        store.apply(Batch(settled={found.id: "kept_newer"}, changes=[now]))
        assert [one.status for one in store.decisions.conflicts(all=True)] == ["kept_newer"]

    def test_a_change_of_nothing_leaves_no_line(self, store: Store) -> None:
        id = added(store, "tea", importance=5.0)

        store.apply(Batch(changes=[Change(id, {"importance": 5.0}, "recalibrated")]))

        assert (store.get(id).version, len(store.history(id))) == (1, 1)

    def test_an_embedder_that_nobody_knew_is_enrolled(self, store: Store) -> None:
        new = Draft(memory_of("tea"), chunks_of("tea", embedder="new one"))

        store.apply(Batch(drafts=[new]))

        assert [one.embedder for one in store.index.coverage()] == ["new one"]
        assert store.index.is_filled("new one")

    # lineage

    def test_where_a_memory_came_from_outlives_its_sources(self, store: Store) -> None:
        one, two = added(store, "one"), added(store, "two")
        new = draft_of("one and two")
        store.apply(Batch(drafts=[new], parents={new.memory.id: [one, two]}))

        store.erase(one)
        assert store.parents(new.memory.id) == sorted([one, two])
        store.update(new.memory.id, {"scope": "shared"})
        assert store.parents(new.memory.id) == sorted([one, two])
        store.erase(new.memory.id)
        assert store.parents(new.memory.id) == []

    # entities

    def test_what_a_memory_is_about_is_told_by_name(self, store: Store) -> None:
        [id] = store.add([about("Ana is in Rome", ROME, ANA)])
        plain = added(store, "it rains")

        assert store.entities(id) == [ANA, ROME]
        assert store.entities(plain) == []
        with pytest.raises(MemoryNotFound):
            store.entities("never was")

    def test_an_entity_is_one_by_folded_name_and_type(self, store: Store) -> None:
        names = ["Zoë Müller", "zoe  muller", "ZOE MÜLLER"]
        ids = store.add(
            [about(f"fact {n}", Entity(name, "person")) for n, name in enumerate(names)]
        )
        [place] = store.add([about("a place", Entity("zoe muller", "location"))])

        assert [store.entities(id) for id in ids] == [[Entity("Zoë Müller", "person")]] * 3
        assert store.entities(place) == [Entity("zoe muller", "location")]
        [twice] = store.add([about("both", ANA, Entity("ANA", "person"))])
        assert store.entities(twice) == [ANA]

    def test_entities_stay_through_moves(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        [id] = ana.add([about("Ana is in Rome", ANA, ROME)])

        ana.update(id, {"scope": "shared"})
        assert ana.entities(id) == ben.entities(id) == [ANA, ROME]
        ana.update(id, {"scope": "private"})
        assert ana.entities(id) == [ANA, ROME]
        with pytest.raises(MemoryNotFound):
            ben.entities(id)

    def test_what_was_read_holds_for_the_content_that_was_read(self, store: Store) -> None:
        id = added(store, "Ana lives in Rome")
        knowledge = Knowledge((ANA, ROME), (Relation("Ana", "lives_in", "Rome"),))
        [unread] = store.graph.unread(10)
        assert (unread.id, unread.version) == (id, 1)

        assert store.graph.keep({id: (2, knowledge), "never was": (1, knowledge)}) == 0
        assert store.graph.keep({id: (1, knowledge)}) == 1
        assert store.graph.unread(10) == []
        assert store.entities(id) == [ANA, ROME]
        [edge] = store.graph.edges([Key("ana", "person")])
        assert (edge.relation, edge.target, edge.memories) == (
            "lives_in",
            Key("rome", "location"),
            (id,),
        )

        edited(store, id, "Ana has left")
        assert store.entities(id) == []
        assert store.graph.edges([Key("ana", "person")]) == []
        assert [memory.id for memory in store.graph.unread(10)] == [id]

    def test_two_entities_become_one_with_all_that_is_said_of_them(self, store: Store) -> None:
        full = Entity("Ana Torres", "person")
        said = Relation("Ana", "lives_in", "Rome")
        one, two = (added(store, text) for text in ("Ana in Rome", "Ana Torres and Ana"))
        store.graph.keep({one: (1, Knowledge((ANA, ROME), (said,)))})
        store.graph.keep({two: (1, Knowledge((full, ANA)))})
        ana, torres = Key("ana", "person"), Key("ana torres", "person")

        assert store.graph.merge(torres, ana)
        assert not store.graph.merge(torres, ana)
        assert store.entities(one) == [full, ROME]
        assert store.entities(two) == [full]
        [known] = store.graph.find(["ana"])
        assert (known.key, known.aliases, known.memories) == (torres, ("Ana",), 2)
        assert [edge.source for edge in store.graph.edges([torres])] == [torres]

    def test_an_entity_lives_as_long_as_something_is_about_it(self, store: Store) -> None:
        one, two = store.add(
            [about("in Rome", ROME), about("off to Rome", Entity("ROME", "location"))]
        )
        store.erase(one)
        assert store.entities(two) == [ROME]

        store.erase(two)
        [new] = store.add([about("back in rome", Entity("rome", "location"))])
        assert store.entities(new) == [Entity("rome", "location")]

    def test_a_known_statement_keeps_its_entities(self, store: Store) -> None:
        [id] = store.add([about("Ana is in Rome", ANA)])

        assert store.add([about("Ana is in Rome", ROME)]) == [id]
        assert store.entities(id) == [ANA]
        forgotten(store, id)
        assert store.entities(id) == [ANA]
