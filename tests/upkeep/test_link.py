"""The link step: what has something in common is linked, verified every week, and dropped when it
has nothing in common any more. What people say stands."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from kinmem.models import Entity, Knowledge, State
from kinmem.upkeep.ageing import tier
from kinmem.upkeep.link import PER_MEMORY, TOGETHER, link
from kinmem.upkeep.steps import UNLIMITED, Budget
from tests.upkeep.conftest import Bench

BEN, CLARA = Entity("Ben Carter", "person"), Entity("Clara", "person")


def linked(bench: Bench, budget: Budget = UNLIMITED) -> Counter[str]:
    counts: Counter[str] = Counter()
    link(bench.store, bench.embedder, bench.clock, budget, counts)
    return counts


def about(bench: Bench, content: str, *entities: Entity, **fields: Any) -> str:
    """A memory about somebody, in a direction of its own: nothing is near it."""
    vector = np.random.default_rng(crc32(content.encode())).standard_normal((1, 384))
    vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
    draft = bench.draft(content, vectors=vectors, **fields)
    return bench.store.add([replace(draft, knowledge=Knowledge(entities))])[0]


def relations(bench: Bench, id: str) -> dict[str, str]:
    """By the other memory's text: what it is to this one."""
    return {
        bench.store.get(one.other(id)).content: one.seen_from(id)
        for one in bench.store.links.of([id]).get(id, [])
    }


def confidence(bench: Bench, id: str) -> float:
    (one,) = bench.store.links.of([id])[id]
    return one.confidence


def test_a_shared_entity_relates_two_memories(bench: Bench) -> None:
    one = about(bench, "Ben runs the bakery.", BEN)
    other = about(bench, "Lunch with Ben is at noon.", BEN)
    about(bench, "Otto sings.", CLARA)

    counts = linked(bench)

    assert (counts["seen"], counts["linked"]) == (3, 1)
    assert relations(bench, one) == {"Lunch with Ben is at noon.": "related_to"}
    assert relations(bench, other) == {"Ben runs the bakery.": "related_to"}
    (stored,) = bench.store.links.of([one])[one]
    assert stored.evidence["sharedEntities"] == ["ben carter"]
    assert stored.confidence == pytest.approx(0.6, abs=0.01)
    assert bench.store.get(one).linked_at == bench.clock()
    assert bench.store.get(one).version == 1


@pytest.mark.parametrize(
    ("tags", "others", "expected"),
    [
        pytest.param({"tags": ("launch",)}, {"tags": ("launch",)}, 1, id="by hand"),
        pytest.param({"auto_tags": ("launch",)}, {"auto_tags": ("launch",)}, 0, id="one by rule"),
        pytest.param(
            {"auto_tags": ("launch", "rocket")},
            {"tags": ("launch",), "auto_tags": ("rocket",)},
            0,
            id="two, none given to both",
        ),
        pytest.param(
            {"auto_tags": ("chat", "pdf")}, {"auto_tags": ("chat", "pdf")}, 0, id="how they came in"
        ),
    ],
)
def test_shared_tags(
    bench: Bench, tags: dict[str, Any], others: dict[str, Any], expected: int
) -> None:
    about(bench, "Budget.", **tags)
    about(bench, "Weather.", **others)

    assert linked(bench)["linked"] == expected


def test_who_speaks_is_no_reason_for_a_link(bench: Bench) -> None:
    one = Entity("Ben Carter", "person")
    about(bench, "I run the bakery.", one, speaker="Ben Carter")
    about(bench, "My cat is ill.", one, speaker="Ben Carter")

    assert linked(bench)["linked"] == 0


def test_a_tag_of_nearly_everything_connects_nothing(bench: Bench) -> None:
    for n in range(60):
        about(bench, f"Parcel {n}.", tags=("office",))

    assert linked(bench)["linked"] == 0


def test_near_memories_are_similar_without_any_tag(bench: Bench) -> None:
    vectors = bench.embedder.embed(["Clara grows roses in her garden."])
    for text in ("Clara grows roses in her garden.", "In the garden roses are grown by Clara."):
        bench.store.add([bench.draft(text, vectors=vectors)])

    assert linked(bench)["linked"] == 1
    (id, *_) = [memory.id for memory in bench.live()]
    assert list(relations(bench, id).values()) == ["similar_to"]


def test_a_text_that_names_an_id_references_it(bench: Bench) -> None:
    old = about(bench, "The runbook.")
    new = about(bench, f"Replaces what [[{old}]] says.")
    about(bench, "See [[nothing-of-ours]].")

    assert linked(bench)["linked"] == 1
    assert relations(bench, new) == {"The runbook.": "references"}
    assert list(relations(bench, old).values()) == ["referenced_by"]


def test_memories_of_one_document_are_part_of_its_first(bench: Bench) -> None:
    first = about(bench, "Chapter one.", source_ref="/notes/book.md")
    for n in (2, 3):
        about(bench, f"Chapter {n}.", source_ref="/notes/book.md")

    linked(bench)

    assert relations(bench, first) == {"Chapter 2.": "has_part", "Chapter 3.": "has_part"}


def test_what_is_said_of_one_subject_in_one_conversation_follows(bench: Bench) -> None:
    first = about(bench, "The bakery opens.", session="s1", subject="bakery")
    about(bench, "It rains.", session="s1", subject="weather")
    about(bench, "The bakery closes.", session="s1", subject="Bakery")
    about(bench, "The bakery sleeps.", session="s2", subject="bakery")

    assert linked(bench)["linked"] == 1
    assert relations(bench, first) == {"The bakery closes.": "precedes"}


def test_a_document_knows_its_author(bench: Bench) -> None:
    note = about(bench, "On bread.", source_ref="bread.md", speaker="Ben")
    about(bench, "Ben is a baker.", category="identity", subject="ben")

    linked(bench)

    assert relations(bench, note) == {"Ben is a baker.": "authored_by"}


def test_no_memory_gets_more_than_five(bench: Bench) -> None:
    hub = about(bench, "Ben.", BEN)
    for n in range(12):
        about(bench, f"Ben did {n}.", BEN)

    linked(bench)

    counts = {
        id: len(some) for id, some in bench.store.links.of([m.id for m in bench.live()]).items()
    }
    assert counts[hub] == PER_MEMORY
    assert max(counts.values()) == PER_MEMORY


def test_an_import_is_linked_in_one_run(bench: Bench) -> None:
    for n in range(240):
        pair = Entity(f"Person {n // 2}", "person")
        about(bench, f"Parcel {n}.", pair)

    first = linked(bench)
    assert (first["seen"], first["linked"]) == (240, 120)
    assert linked(bench)["seen"] == 0


def test_it_stops_when_its_time_is_over(bench: Bench) -> None:
    for n in range(TOGETHER + 10):
        about(bench, f"Parcel {n}.")
    asked = iter([False, True])

    assert linked(bench, Budget(lambda: next(asked)))["seen"] == TOGETHER
    assert linked(bench)["seen"] == 10


def test_a_dry_run_counts_and_stores_nothing(bench: Bench) -> None:
    one = about(bench, "Ben runs the bakery.", BEN)
    about(bench, "Lunch with Ben.", BEN)

    assert linked(bench, Budget(dry_run=True))["linked"] == 1
    assert relations(bench, one) == {}
    assert linked(bench)["linked"] == 1


def test_evidence_that_is_found_again_keeps_a_link_alive(bench: Bench, clock: Any) -> None:
    one = about(bench, "Ben runs the bakery.", BEN)
    about(bench, "Lunch with Ben.", BEN)
    linked(bench)
    before = confidence(bench, one)
    for _ in range(3):
        clock.advance(days=8)
        counts = linked(bench)
        assert (counts["seen"], counts["doubted"], counts["dropped"]) == (2, 0, 0)
    assert confidence(bench, one) == pytest.approx(before)


def test_a_link_without_evidence_fades_and_goes(bench: Bench, clock: Any) -> None:
    one = about(bench, "Roses.", tags=("garden",))
    other = about(bench, "Tulips.", tags=("garden",))
    linked(bench)
    assert confidence(bench, one) == pytest.approx(0.5, abs=0.01)

    bench.service.update_memory(one, tags=["flowers"])
    clock.advance(days=8)
    linked(bench)

    assert relations(bench, one) == {}  # halved from both ends: below .35, and not verified
    assert relations(bench, other) == {}


def test_an_edit_is_looked_at_again_at_once(bench: Bench) -> None:
    one = about(bench, "Nothing of note.")
    old = about(bench, "The runbook.")
    linked(bench)
    bench.service.update_memory(one, content=f"Follows [[{old}]].")

    assert linked(bench)["linked"] == 1


def test_what_a_person_has_linked_is_neither_doubted_nor_dropped(bench: Bench, clock: Any) -> None:
    one, other = about(bench, "Roses."), about(bench, "Weather.")
    bench.service.update_memory(one, links=[{"id": other, "relation": "part_of"}])
    for _ in range(4):
        clock.advance(days=30)
        counts = linked(bench)
        assert (counts["doubted"], counts["dropped"]) == (0, 0)

    assert relations(bench, one) == {"Weather.": "part_of"}


def test_what_a_person_has_taken_apart_stays_apart(bench: Bench, clock: Any) -> None:
    one = about(bench, "Ben runs the bakery.", BEN)
    other = about(bench, "Lunch with Ben.", BEN)
    linked(bench)
    bench.service.update_memory(other, links=[{"id": one, "relation": None}])
    assert relations(bench, one) == {}

    clock.advance(days=8)
    assert linked(bench)["linked"] == 0
    assert relations(bench, one) == {}


def test_links_keep_a_memory_at_hand(bench: Bench, clock: Any) -> None:
    hub = about(bench, "Ben.", BEN)
    for n in range(5):
        about(bench, f"Ben did {n}.", BEN)
    alone = about(bench, "Otto sings.")

    linked(bench)
    clock.advance(days=5)
    tier(bench.store, bench.clock, UNLIMITED, Counter())

    assert bench.store.links.degrees([hub, alone], bench.clock()) == {hub: (5, 0)}
    assert bench.store.get(hub).tier_reason == "active_connections"
    assert bench.store.get(alone).tier == "warm"


def test_a_memory_that_gives_way_hands_its_links_on(bench: Bench) -> None:
    bakery = about(bench, "The bakery.")
    one = bench.keep("Ben bakes bread.")
    bench.keep("Ben bakes bread. He bakes it at night.")
    bench.service.update_memory(one, links=[{"id": bakery, "relation": "part_of"}])

    bench.compress()

    (merged,) = [memory for memory in bench.live() if memory.id != bakery]
    assert relations(bench, merged.id) == {"The bakery.": "part_of"}
    assert relations(bench, bakery) == {merged.content: "has_part"}

    bench.service.undo(bench.service.history(one)[0].write)
    assert relations(bench, one) == {"The bakery.": "part_of"}
    assert relations(bench, bakery) == {"Ben bakes bread.": "has_part"}


@pytest.mark.parametrize("state", [State.ARCHIVED, State.SUPERSEDED, State.DELETED])
def test_what_is_out_of_use_is_not_linked(bench: Bench, state: State) -> None:
    about(bench, "Ben runs the bakery.", BEN)
    about(bench, "Lunch with Ben.", BEN, state=state)

    assert linked(bench)["linked"] == 0


def test_private_links_to_shared_memories_are_nobody_elses(
    bench_of: Callable[..., Bench],
) -> None:
    ana, ben = bench_of("ana"), bench_of("ben")
    shared = about(ben, "Ben runs the bakery.", BEN, scope="shared")
    other = about(ben, "Ben opens a second bakery.", BEN, scope="shared")
    private = about(ana, "Ben owes me a cake.", BEN)

    assert linked(ana)["linked"] == 2
    assert linked(ben)["linked"] == 1
    assert set(relations(ana, shared)) == {"Ben owes me a cake.", "Ben opens a second bakery."}
    assert set(relations(ben, shared)) == {"Ben opens a second bakery."}
    assert set(relations(ana, private)) == {
        "Ben runs the bakery.",
        "Ben opens a second bakery.",
    }
    assert private not in str(ben.store.links.of([shared, other]))
