"""Importance follows use, and what never mattered goes into the bin; protections and clocks."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from kinmem.models import Memory, State
from kinmem.upkeep.ageing import expected, prune, recalibrate
from kinmem.upkeep.steps import UNLIMITED, Budget, Lease
from tests.scripted import ScriptedModel
from tests.upkeep.conftest import OF_AN_ASSISTANT, Bench, all_of_it


def recalibrated(bench: Bench) -> Counter[str]:
    counts = Counter[str]()
    recalibrate(bench.store, bench.clock, UNLIMITED, counts)
    return counts


def pruned(bench: Bench) -> Counter[str]:
    counts = Counter[str]()
    prune(bench.store, "kinbot", bench.clock, UNLIMITED, counts)
    return counts


def used(bench: Bench, id: str, times: int) -> None:
    for _ in range(times):
        bench.store.count_use([id], bench.clock())
    bench.store.flush_use()


# recalibration


@pytest.mark.parametrize(
    ("days", "uses", "moved"),
    [
        pytest.param(6, 9, None, id="younger than a week"),
        pytest.param(10, 2, 5.2, id="twice as often as expected"),
        pytest.param(10, 1, 5.0, id="as often as expected"),
        pytest.param(31, 0, 4.7, id="never in over thirty days"),
        pytest.param(20, 0, 5.0, id="never in two weeks"),
        pytest.param(30, 0, 5.0, id="never in thirty days"),
        pytest.param(31, 1, 5.0, id="once in thirty days"),
        pytest.param(50, 1, 4.8, id="seldom"),
        pytest.param(12, 0, 5.0, id="never in less than two weeks"),
    ],
)
def test_use_moves_importance_by_the_table(
    bench: Bench, clock: Any, days: int, uses: int, moved: float | None
) -> None:
    id = bench.keep("Clara grows roses.", importance=5)
    used(bench, id, uses)

    assert expected(bench.store.get(id), clock.advance(days=days)) == moved


def test_it_is_noted_once_a_day_and_touches_no_text(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara grows roses.", importance=5)
    before = bench.store.get(id)
    clock.advance(days=40)

    assert recalibrated(bench)["down"] == 1
    assert recalibrated(bench) == {}
    clock.advance(days=1, minutes=1)
    assert recalibrated(bench)["down"] == 0
    memory = bench.store.get(id)
    assert memory.importance == 4.7
    assert memory.scored_at is not None
    read = ("created_at", "content_updated_at", "recalled_at", "state_at", "occurred_at")
    assert [getattr(memory, at) for at in read] == [getattr(before, at) for at in read]
    line = bench.service.history(id)[0]
    assert (line.action, line.before["importance"]) == ("recalibrated", 5)


@pytest.mark.parametrize(("uses", "start"), [(0, 9), (500, 4)])
def test_nothing_moves_by_more_than_one_in_thirty_days(
    bench: Bench, clock: Any, uses: int, start: float
) -> None:
    id = bench.keep("Clara grows roses.", importance=start)
    used(bench, id, uses)
    clock.advance(days=40)
    values = []
    for _ in range(120):
        recalibrated(bench)
        values.append(bench.store.get(id).importance or 0)
        clock.advance(days=1, minutes=1)

    moves = [abs(later - now) for now, later in zip(values, values[30:], strict=False)]
    assert 0.5 < max(moves) <= 1
    assert all(1 <= value <= 10 for value in values)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"channel": "explicit"}, id="rated by a person"),
        pytest.param({"importance": None}, id="never rated"),
    ],
)
def test_what_a_person_rated_stays(bench: Bench, clock: Any, fields: dict[str, Any]) -> None:
    id = bench.keep("Clara grows roses.", **{"importance": 5, **fields})
    before = bench.store.get(id)
    clock.advance(days=40)

    recalibrated(bench)

    assert bench.store.get(id) == before


def test_a_pinned_memory_is_not_moved(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara grows roses.", importance=5)
    bench.service.update_memory(id, pinned=True)
    clock.advance(days=40)

    assert recalibrated(bench)["down"] == 0


# pruning


@pytest.mark.parametrize(
    ("importance", "days", "goes"),
    [
        (1, 59, False),
        (1, 61, True),
        (1.5, 61, False),
        (2, 89, False),
        (2, 91, True),
        (2.1, 300, False),
        (None, 300, False),
    ],
)
def test_what_hardly_matters_goes_when_it_was_never_used(
    bench: Bench, clock: Any, importance: float | None, days: int, goes: bool
) -> None:
    id = bench.keep("Clara mentioned the weather.", importance=importance)
    clock.advance(days=days)

    assert pruned(bench)["pruned"] == goes
    assert (bench.state(id) == State.DELETED) == goes


def test_the_bin_gives_back_what_was_pruned(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=61)
    pruned(bench)

    assert bench.service.history(id)[0].action == "pruned"
    assert bench.store.get(id).deleted_at == clock()
    assert bench.service.restore(id).state == State.ACTIVE


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"channel": "explicit"}, id="explicit"),
        pytest.param({"channel": "user"}, id="told by the user"),
        pytest.param({"channel": "import"}, id="a file that was added"),
        pytest.param({"scope": "shared"}, id="shared"),
    ],
)
def test_what_was_told_or_shared_is_never_pruned(
    bench: Bench, clock: Any, fields: dict[str, Any]
) -> None:
    bench.keep("Clara mentioned the weather.", **{"importance": 1, **fields})
    clock.advance(days=300)

    assert pruned(bench)["pruned"] == 0


@pytest.mark.parametrize("wanted", ["off", "kybernesis"])
def test_nothing_is_pruned_unless_it_is_wanted_as_kinbot_does_it(
    bench: Bench, clock: Any, wanted: Any
) -> None:
    bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=300)
    counts = Counter[str]()

    prune(bench.store, wanted, clock, UNLIMITED, counts)

    assert counts == {}


def test_what_was_pinned_or_used_is_never_pruned(bench: Bench, clock: Any) -> None:
    bench.service.update_memory(bench.keep("Clara grows roses.", importance=1), pinned=True)
    used(bench, bench.keep("Bob repairs cars.", importance=1), 1)
    clock.advance(days=300)

    assert pruned(bench)["pruned"] == 0


def test_others_memories_are_theirs(bench_of: Callable[..., Bench], clock: Any) -> None:
    ana, bob = bench_of("ana"), bench_of("bob")
    bob.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=61)

    assert pruned(ana)["pruned"] == 0
    assert pruned(bob)["pruned"] == 1


def test_a_merge_of_what_a_person_told_is_protected_like_it(bench: Bench, clock: Any) -> None:
    bench.keep("Clara grows roses in her garden.", importance=1, channel="explicit")
    bench.keep("Clara grows tulips in her garden.", importance=1)
    model = ScriptedModel(all_of_it)
    assert bench.consolidate(model)["merged"] == 1
    clock.advance(days=300)

    assert pruned(bench)["pruned"] == 0


def test_pruning_takes_place_once_a_day(bench: Bench, clock: Any) -> None:
    bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=60, hours=-1)
    assert pruned(bench)["pruned"] == 0
    clock.advance(hours=2)
    assert pruned(bench) == {}
    clock.advance(days=1)
    assert pruned(bench)["pruned"] == 1


# clocks that cannot be right


def test_a_clock_that_jumps_ahead_prunes_and_moves_nothing(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara mentioned the weather.", importance=1)
    before = bench.store.get(id)
    clock.advance(days=500)

    assert pruned(bench) == {"clock": 1}
    assert recalibrated(bench) == {"clock": 1}
    bench.keep("Bob stored this by the wrong clock.", importance=5)
    assert pruned(bench) == {"clock": 1}
    assert bench.store.get(id) == before


def test_a_clock_that_is_put_right_again_holds_up_nothing(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=500)
    pruned(bench)
    clock.advance(days=-500 + 61)

    assert pruned(bench)["pruned"] == 1
    assert bench.state(id) == State.DELETED


def test_a_clock_behind_what_is_stored_prunes_nothing(bench: Bench, clock: Any) -> None:
    bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=100)
    bench.keep("Bob repairs cars.", importance=5)
    clock.advance(days=-10)

    assert pruned(bench) == {"clock": 1}
    assert recalibrated(bench) == {"clock": 1}


def test_a_moment_by_a_clock_that_was_ahead_holds_up_nothing(bench: Bench, clock: Any) -> None:
    ids = [bench.keep(f"Clara mentioned cloud {n}.", importance=1.2) for n in range(3)]
    clock.advance(days=3650)
    bench.keep("Bob stored this by the wrong clock.", importance=5)
    used(bench, ids[0], 1)
    assert pruned(bench) == {"clock": 1}
    clock.advance(days=-3650 + 61)

    assert recalibrated(bench)["clock"] == 0
    assert pruned(bench) == {"pruned": 2}
    assert bench.state(ids[0]) == State.ACTIVE


def test_a_clock_far_ahead_is_not_believed_for_what_it_stored_before(
    bench: Bench, clock: Any
) -> None:
    bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=3650)
    bench.keep("Bob stored this by the wrong clock.", importance=5)
    clock.advance(days=10)

    assert pruned(bench) == {"clock": 1}


def test_what_somebody_undoes_is_not_pruned_again_for_a_while(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara mentioned the weather.", importance=1)
    clock.advance(days=61)
    assert pruned(bench)["pruned"] == 1
    assert bench.service.undo(id).became == {id: "back"}

    clock.advance(days=29)
    assert pruned(bench)["pruned"] == 0
    clock.advance(days=2)
    assert pruned(bench)["pruned"] == 1


def test_an_empty_memory_has_nothing_to_move(bench: Bench) -> None:
    assert pruned(bench)["pruned"] == recalibrated(bench)["up"] == 0


def test_a_large_store_is_pruned_in_few_transactions(bench: Bench, clock: Any) -> None:
    ids = [
        told.id
        for told in bench.service.memorize_many(
            [
                {"content": f"Remark {n} about clouds", **OF_AN_ASSISTANT, "importance": 1}
                for n in range(450)
            ]
        )
    ]
    clock.advance(days=61)

    assert pruned(bench)["pruned"] == len(ids) == 450


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (recalibrate, "down"),
        (lambda store, *rest: prune(store, "kinbot", *rest), "pruned"),
    ],
    ids=["recalibrate", "prune"],
)
def test_what_is_cut_short_goes_on_the_same_day(
    bench: Bench, clock: Any, step: Callable[..., None], name: str
) -> None:
    bench.service.memorize_many(
        [
            {"content": f"Remark {n} about clouds", **OF_AN_ASSISTANT, "importance": 1.5}
            for n in range(450)
        ]
    )
    clock.advance(days=91)
    asked = count()
    counted = []
    for budget in (Budget(lambda: next(asked) > 1), UNLIMITED, UNLIMITED):
        counts = Counter[str]()
        step(bench.store, bench.clock, budget, counts)
        counted.append(counts[name])

    assert 0 < counted[0] < 450
    assert (sum(counted), counted[2]) == (450, 0)


def test_expected_is_bounded(bench: Bench, clock: Any) -> None:
    memory: Memory = bench.store.get(bench.keep("Clara grows roses.", importance=5))
    later = clock() + timedelta(days=40)

    assert expected(replace(memory, importance=1.0), later) == 1.0
    assert expected(replace(memory, importance=9.9, recalled_count=99), later) == 10.0


def test_a_lease_that_was_lost_is_not_held_again(bench: Bench) -> None:
    jobs = bench.store.jobs
    mine, theirs = Lease(jobs, "sleep"), Lease(jobs, "sleep")
    assert mine.renewed()
    mine.give_back()
    assert theirs.renewed()

    assert not mine.renewed()

    assert [mine.kept() for _ in range(3)] == [False] * 3
    assert theirs.kept()
    assert Budget(lease=mine).is_over()
    assert not Budget(lease=theirs).is_over()
