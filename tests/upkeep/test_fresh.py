"""A step looks at what is new since its last run, and never again at what was decided or undone."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinmem.models import State
from kinmem.upkeep.embed import Embed
from tests.scripted import ScriptedModel
from tests.upkeep.conftest import Bench, all_of_it

GARDEN = ("Clara grows roses in her garden.", "Clara waters the roses in her garden.")
PART = ("Clara grows roses in her garden. She sells them.", "Clara grows roses in her garden.")


def run(bench: Bench) -> Counter[str]:
    return bench.compress()


def fill(bench: Bench, count: int) -> None:
    """So many memories in directions of their own."""
    vectors = np.random.default_rng(7).standard_normal((count, bench.embedder.dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"Cloud {n} is of a kind of its own." for n in range(count)]
    rows = vectors.astype(np.float32).reshape(count, 1, -1)
    bench.store.add([bench.draft(text, row) for text, row in zip(texts, rows, strict=True)])


# what is new


def test_only_what_is_new_is_looked_at_with_what_is_near_it(bench: Bench) -> None:
    bench.keep(GARDEN[0])
    fill(bench, 500)
    assert run(bench)["read"] == 501
    assert run(bench) == {}
    bench.keep(GARDEN[1])

    assert run(bench) == {"read": 1, "merged": 1}


def test_what_is_rewritten_or_restored_is_new(bench: Bench) -> None:
    rewritten, restored = bench.keep("Bob repairs cars."), bench.keep(GARDEN[1])
    bench.service.update_memory(restored, archived=True)
    run(bench)
    bench.service.update_memory(rewritten, content=GARDEN[0])
    assert run(bench) == {"read": 1}
    bench.service.update_memory(restored, archived=False)

    assert run(bench)["merged"] == 1


def test_what_has_no_vector_leaves_nothing_over_and_is_new_once_it_has_one(bench: Bench) -> None:
    bench.keep(GARDEN[0], speaker=None)
    bench.service.memorize_many([GARDEN[1]])
    assert run(bench) == {"read": 1}
    assert run(bench) == {}
    Embed(bench.store.index, bench.embedder).all()

    assert run(bench)["merged"] == 1


def test_another_similarity_is_asked_of_all_again(bench_of: Callable[..., Bench]) -> None:
    strict = bench_of(KINMEM_COMPRESS_SIMILARITY=0.99)
    for text in GARDEN:
        strict.keep(text)
    assert run(strict) == {"read": 2}
    strict.service.close()

    assert run(bench_of())["merged"] == 1


def test_a_backlog_is_taken_up_where_a_run_has_stopped(bench_of: Callable[..., Bench]) -> None:
    bench = bench_of(MEMORY_CONSOLIDATION_MAX_GEN=1, MEMORY_CONSOLIDATION_SIMILARITY=0.7)
    bench.keep(GARDEN[0])
    bench.keep(GARDEN[1])
    fill(bench, 300)
    bench.keep("Bob repairs an old rusty car in the yard.")
    bench.keep("Bob repairs an old noisy car in the yard.")
    model = ScriptedModel(all_of_it)

    first = bench.consolidate(model)
    second = bench.consolidate(model)
    third = bench.consolidate(model)

    assert (first["merged"], first["left"]) == (1, 304)
    assert (second["merged"], third["merged"]) == (1, 0)
    assert third["left"] == 0
    assert len(model.prompts) == 2
    assert bench.consolidate(model) == {}


def test_a_cluster_that_is_too_large_for_one_merge_is_not_left_behind(bench: Bench) -> None:
    for plant in ("roses", "tulips", "lilies", "violets", "daisies"):
        bench.keep(f"Clara grows {plant} in her garden.")

    merged = sum(run(bench)["merged"] for _ in range(3))

    assert merged >= 3
    assert len(bench.live()) == 1
    assert run(bench) == {}


# what was undone


def restored(bench: Bench, sources: list[str]) -> None:
    for id in sources:
        bench.service.restore(id)


def unarchived(bench: Bench, sources: list[str]) -> None:
    for id in sources:
        bench.service.update_memory(id, archived=False)


def first_only(bench: Bench, sources: list[str]) -> None:
    bench.service.restore(sources[0])


def forgotten(bench: Bench, sources: list[str]) -> None:
    bench.service.forget(str(bench.store.get(sources[0]).superseded_by))
    restored(bench, sources)


def erased(bench: Bench, sources: list[str]) -> None:
    bench.service.forget(str(bench.store.get(sources[0]).superseded_by), erase=True)
    unarchived(bench, sources)


@pytest.mark.parametrize("undo", [restored, unarchived, first_only, forgotten, erased])
@pytest.mark.parametrize("step", ["compress", "consolidate"])
def test_a_merge_that_was_undone_is_never_made_again(
    bench: Bench, undo: Callable[[Bench, list[str]], None], step: str
) -> None:
    sources = [bench.keep(text) for text in GARDEN]
    model = ScriptedModel(all_of_it)

    def once() -> Any:
        if step == "compress":
            return bench.service.sleep(compress=True).counts.get("consolidate.merged", 0)
        return bench.consolidate(model)["merged"]

    assert once() == 1
    undo(bench, sources)
    before = {memory.id for memory in bench.live()}
    asked = len(model.prompts)

    assert [once() for _ in range(10)] == [0] * 10
    assert {memory.id for memory in bench.live()} == before >= {sources[0]}
    assert len(model.prompts) == asked


def test_what_was_undone_is_not_merged_by_another_step(bench: Bench) -> None:
    sources = [bench.keep(text) for text in GARDEN]
    run(bench)
    forgotten(bench, sources)
    model = ScriptedModel(all_of_it)

    bench.consolidate(model)

    assert model.prompts == []


def test_what_gave_way_to_one_that_says_more_and_was_restored_stays(bench: Bench) -> None:
    whole, part = (bench.keep(text) for text in PART)
    run(bench)
    assert bench.store.get(part).superseded_by == whole
    bench.service.restore(part)

    assert [run(bench)["merged"] for _ in range(10)] == [0] * 10
    assert bench.state(part) == State.ACTIVE


def test_what_was_undone_may_still_be_merged_with_others(bench: Bench) -> None:
    sources = [bench.keep(text) for text in GARDEN]
    run(bench)
    forgotten(bench, sources)
    run(bench)
    new = bench.keep("Clara prunes the roses in her garden.")

    assert run(bench)["merged"] == 1
    assert bench.state(new) == State.SUPERSEDED
    assert sorted(bench.state(id) for id in sources) == [State.ACTIVE, State.SUPERSEDED]
