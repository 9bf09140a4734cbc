"""The tag step: what was never tagged, what was edited, and twenty tagged long ago."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kinmem.models import Filters, State
from kinmem.service import Service
from kinmem.upkeep.entities_and_tags import HOLDERS, PER_RUN, TOGETHER, tag
from kinmem.upkeep.steps import UNLIMITED, Budget
from tests.upkeep.conftest import Bench


def tagged(bench: Bench, budget: Budget = UNLIMITED) -> Counter[str]:
    counts: Counter[str] = Counter()
    tag(bench.store, bench.clock, budget, counts)
    return counts


def test_tags_come_from_what_two_memories_share_and_manual_ones_stay(bench: Bench) -> None:
    id = bench.keep("Clara grows roses in Hamburg.", tags=("garden", "roses"), source="chat")
    bench.keep("In Hamburg roses need little water.")
    bench.keep("Otto sings.")

    assert tagged(bench) == {"seen": 3, "changed": 3}
    memory = bench.store.get(id)
    assert memory.manual_tags == ("garden", "roses")
    assert memory.auto_tags == ("chat", "roses", "hamburg")
    assert memory.tags == ("garden", "roses", "chat", "hamburg")
    assert memory.tagged_at == bench.clock()


def test_the_second_of_two_gives_the_first_its_tag_too(bench: Bench) -> None:
    first = bench.keep("Clara grows roses.")
    tagged(bench)
    assert bench.store.get(first).auto_tags == ("tool",)

    second = bench.keep("Roses grow on the balcony.")

    assert tagged(bench) == {"seen": 1, "changed": 2}
    assert bench.store.get(first).auto_tags == ("tool", "roses")
    assert bench.store.get(second).auto_tags == ("tool", "roses")


def test_another_form_of_a_word_is_another_tag(bench: Bench) -> None:
    id = bench.keep("Clara paints.")
    bench.keep("The painting hangs askew.")
    tagged(bench)

    assert bench.store.get(id).auto_tags == ("tool",)


def test_no_tag_is_one_memorys_alone(bench: Bench) -> None:
    """557 of 606 automatic tags were, after half a year of a family's notes."""
    towns = ("Hamburg", "Lyon", "Porto", "Turin")
    for n in range(24):
        bench.keep(f"Reporter{n} visited {towns[n % 4]} for story{n * n}abc.")
    tagged(bench)

    found = Counter(
        tag for one in bench.store.page(Filters(), "newest", 50).memories for tag in one.auto_tags
    )
    assert set(found) == {"tool", "visited", "story", *map(str.lower, towns)} - {"story"}
    assert min(found.values()) >= 2


def test_a_title_counts_however_many_texts_only_mention_the_word(bench: Bench) -> None:
    for n in range(2 * HOLDERS):
        bench.keep(f"Clara met Otto. It rained. Somebody spoke of harbours, the {n}th time.")
    titled = bench.keep("Cranes and quays.", title="Harbours of the north")
    tagged(bench)
    new = bench.keep("Harbours freeze in winter.")

    tagged(bench)

    for id in (titled, new):
        assert "harbours" in bench.store.get(id).auto_tags


def test_who_holds_a_word_is_told_in_order(bench: Bench) -> None:
    ids = [bench.keep(f"Roses bloom in garden {n}.") for n in range(2 * HOLDERS)]

    first = bench.store.rounds.holding({"roses"}, HOLDERS)

    assert first == {"roses": ids[:HOLDERS]}


def test_tagging_is_no_change_of_a_memory(bench: Bench) -> None:
    id = bench.keep("Clara grows roses in Hamburg.")
    before = bench.store.get(id)

    tagged(bench)

    after = bench.store.get(id)
    assert after.version == before.version
    assert after.content_updated_at == before.content_updated_at
    assert [line.action for line in bench.service.history(id)] == ["created"]


def test_what_is_tagged_is_left_alone_for_a_week(bench: Bench, clock: Any) -> None:
    bench.keep("Clara grows roses.")
    tagged(bench)

    assert tagged(bench) == {}
    clock.advance(days=6, hours=23)
    assert tagged(bench) == {}
    clock.advance(hours=2)
    assert tagged(bench) == {"seen": 1, "changed": 0}


def test_an_edit_takes_its_tags_and_makes_it_due(bench: Bench) -> None:
    id = bench.keep("Clara grows roses.")
    tagged(bench)
    new = bench.draft("Clara grows tulips.").memory
    bench.store.update(id, {"content": new.content, "content_hash": new.content_hash})
    bench.service.update_memory(bench.keep("Otto buys tulips."), importance=3)

    assert bench.store.get(id).auto_tags == ()
    assert tagged(bench)["changed"] == 2
    assert bench.store.get(id).auto_tags == ("tool", "tulips")


def test_whoever_edits_and_undoes_sees_no_tag_of_another_text(bench: Bench) -> None:
    id = bench.keep("Clara grows roses.")
    bench.keep("Otto likes roses and tulips.")
    tagged(bench)
    before = bench.store.get(id).auto_tags

    edited = bench.service.update_memory(id, content="Clara grows tulips.")
    bench.service.undo(id)

    assert edited.tags == ("tool", "tulips")
    assert "roses" in before
    assert bench.store.get(id).auto_tags == before
    assert tagged(bench) == {}


def test_a_refresh_takes_twenty_the_longest_ago_first(bench: Bench, clock: Any) -> None:
    early = [bench.keep(f"Gardener number {n} grows roses.") for n in range(15)]
    tagged(bench)
    clock.advance(hours=1)
    late = [bench.keep(f"Baker number {n} bakes bread.") for n in range(15)]
    tagged(bench)
    clock.advance(days=8)

    assert tagged(bench)["seen"] == PER_RUN
    fresh = [id for id in early + late if bench.store.get(id).tagged_at == clock()]
    assert set(early) < set(fresh)
    assert tagged(bench)["seen"] == 10
    assert tagged(bench) == {}


def test_an_import_is_tagged_in_one_run_as_far_as_its_time_goes(bench: Bench) -> None:
    count = 5 * TOGETHER
    bench.store.add(
        [bench.draft(f"Parcel {n} holds wool.", vectors=_vector()) for n in range(count)]
    )
    asked = iter([False, False, True])

    assert tagged(bench, Budget(lambda: next(asked)))["seen"] == 2 * TOGETHER
    assert tagged(bench)["seen"] == 3 * TOGETHER


def _vector() -> Any:
    import numpy as np

    vector = np.zeros((1, 384), np.float32)
    vector[0, 0] = 1
    return vector


@pytest.mark.parametrize("state", [State.DELETED, State.QUARANTINED, State.SUPERSEDED])
def test_what_is_out_of_use_is_not_tagged(bench: Bench, state: State) -> None:
    bench.keep("Clara grows roses.", state=state)

    assert tagged(bench) == {}


def test_others_shared_memories_are_theirs_to_tag(bench_of: Callable[..., Bench]) -> None:
    ana, ben = bench_of("ana"), bench_of("ben")
    id = ben.keep("Clara grows roses.", scope="shared")
    ben.keep("Roses need water.")
    ana.keep("Otto buys roses.")

    assert tagged(ana)["changed"] == 1
    assert ana.store.get(id).tagged_at is None
    assert tagged(ben)["changed"] == 2
    assert "roses" in ana.store.get(id).auto_tags


def test_it_stops_when_its_time_is_over_and_goes_on_next_time(bench: Bench) -> None:
    for n in range(150):
        bench.keep(f"Gardener number {n} grows roses.")
    asked = iter([False, True])

    assert tagged(bench, Budget(lambda: next(asked)))["seen"] == 100
    assert tagged(bench)["seen"] == 50


def test_a_dry_run_counts_and_changes_nothing(bench: Bench) -> None:
    id = bench.keep("Clara grows roses.")

    assert tagged(bench, Budget(dry_run=True)) == {"seen": 1, "changed": 1}
    assert bench.store.get(id).auto_tags == ()
    assert bench.store.get(id).tagged_at is None


def test_recall_answers_as_before(bench: Bench) -> None:
    bench.keep("Clara grows roses in Hamburg.")
    bench.keep("Otto sings in the choir.")

    def answered(service: Service) -> list[tuple[str, float]]:
        return [(hit.memory.id, hit.score) for hit in service.recall("chat about roses").hits]

    before = answered(bench.service)
    assert before
    tagged(bench)
    after = answered(bench.service)
    assert [id for id, _ in after] == [id for id, _ in before]
    # Another scan of the same vectors sums up in another order.
    assert [score for _, score in after] == pytest.approx([score for _, score in before], abs=1e-6)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param(["garden"], ["Clara grows roses."], id="manual"),
        pytest.param(["GARDEN"], ["Clara grows roses."], id="in any case"),
        pytest.param(["roses"], ["Clara grows roses.", "Otto paints roses."], id="automatic"),
        pytest.param(["garden", "roses"], ["Clara grows roses."], id="one of each"),
        pytest.param(["rose"], [], id="no part of one"),
    ],
)
def test_filters_by_tags_know_both_kinds(bench: Bench, asked: list[str], found: list[str]) -> None:
    bench.keep("Clara grows roses.", tags=("garden",))
    bench.keep("Otto paints roses.")
    bench.keep("Miso sleeps.")
    tagged(bench)

    page = bench.service.list_memories(tags=asked, sort="oldest").memories
    hits = bench.service.recall("who does what with roses", tags=asked).hits
    assert [memory.content for memory in page] == found
    assert sorted(hit.memory.content for hit in hits) == found


def test_tags_that_are_taken_away_no_longer_find(bench: Bench) -> None:
    id = bench.keep("Clara grows roses.", tags=("garden",))
    bench.service.update_memory(id, tags=["plants"])
    assert bench.service.list_memories(tags=["garden"]).memories == []

    bench.service.update_memory(id, scope="shared")
    assert [m.id for m in bench.service.list_memories(tags=["plants"]).memories] == [id]

    bench.service.forget(id, erase=True)
    assert bench.service.list_memories(tags=["plants"]).memories == []
