"""Tiers change in sleep, are recorded, and some changes do not wait for it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kinmem.errors import InvalidInput
from kinmem.models import Fate, Place, State
from kinmem.store.sql.memory_rows import time_text
from kinmem.store.sqlite.store import SqliteStore
from kinmem.upkeep.ageing import tier
from kinmem.upkeep.lifecycle import retain
from kinmem.upkeep.steps import Budget
from tests.upkeep.conftest import Bench


def tiered(bench: Bench, budget: Budget | None = None) -> Counter[str]:
    counts = Counter[str]()
    tier(bench.store, bench.clock, budget or Budget(), counts)
    return counts


def place(bench: Bench, id: str) -> tuple[str, str | None]:
    memory = bench.store.get(id)
    return memory.tier, memory.tier_reason


def layers(bench: Bench, id: str) -> set[str]:
    assert isinstance(bench.store, SqliteStore)
    rows = bench.store.files.own.database.rows(
        "SELECT c.layer FROM chunks c JOIN memories m ON m.rowid = c.memory WHERE m.id = ?", (id,)
    )
    return {layer for (layer,) in rows}


def used(bench: Bench, id: str) -> None:
    bench.store.count_use([id], bench.clock())
    bench.store.flush_use()


def test_a_life_from_hot_to_the_archive_is_recorded(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", importance=3)
    told = []
    for days in (0, 5, 20, 20, 20):
        clock.advance(days=days)
        counts = {name: n for name, n in tiered(bench).items() if name != "priority"}
        told.append((counts, *place(bench, id)))
        assert layers(bench, id) == {place(bench, id)[0]}

    assert told == [
        ({"hot": 1}, "hot", "recent_access"),
        ({"warm": 1}, "warm", "recently_accessed"),
        ({}, "warm", "between_the_rules"),
        ({"archive": 1}, "archive", "stale_and_low_priority"),
        ({}, "archive", "cold_and_disconnected"),
    ]
    moves = bench.store.life.tier_changes(id)
    assert [(one.before, one.after, one.reason) for one in moves] == [
        ("warm", "archive", "stale_and_low_priority"),
        ("hot", "warm", "recently_accessed"),
        ("warm", "hot", "recent_access"),
    ]
    assert bench.service.history(id)[-1].action == "created"
    assert len(bench.service.history(id)) == 1  # a tier is no change of the memory


def test_it_may_be_repeated_and_run_dry(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", importance=3)

    assert tiered(bench, Budget(dry_run=True)) == {"hot": 1}
    assert place(bench, id) == ("warm", None)
    assert tiered(bench) == {"hot": 1}
    assert tiered(bench) == {}
    clock.advance(days=45)
    tiered(bench)
    assert tiered(bench) == {}


def test_tiers_change_neither_version_nor_revision(bench: Bench) -> None:
    id = bench.keep("Clara waits for the plumber.")
    version, revision = bench.store.get(id).version, bench.store.revision

    tiered(bench)

    assert (bench.store.get(id).version, bench.store.revision) == (version, revision)


@pytest.fixture
def away(bench: Bench, clock: Any) -> str:
    """A memory in the archive tier, still active."""
    id = bench.keep("Clara waits for the plumber.", importance=3)
    clock.advance(days=50)
    tiered(bench)
    assert place(bench, id)[0] == "archive"
    return id


def test_use_takes_it_out_of_the_archive_at_once(bench: Bench, away: str) -> None:
    assert bench.service.recall("who waits for the plumber?").hits[0].memory.id == away
    bench.store.flush_use()

    assert place(bench, away) == ("warm", "moderate_priority")
    assert layers(bench, away) == {"warm"}
    assert bench.store.life.tier_changes(away)[0].after == "warm"
    assert tiered(bench)["hot"] == 1


def test_chunks_follow_the_tier_through_an_edit(bench: Bench) -> None:
    id = bench.keep("Clara waits for the plumber.")
    tiered(bench)

    bench.service.update_memory(id, content="Clara waits for the painter.")

    assert layers(bench, id) == {"hot"}


def test_so_does_a_tag_by_hand(bench: Bench, clock: Any, away: str) -> None:
    changed = bench.service.update_memory(away, tags=["house"])

    assert (changed.tier, changed.tier_reason) == ("warm", "manual_tags_present")
    clock.advance(days=200)
    tiered(bench)
    assert place(bench, away)[0] == "warm"


def test_what_is_archived_as_a_state_is_so_as_a_tier_until_it_is_back(
    bench: Bench, clock: Any
) -> None:
    id = bench.keep("Clara waits for the plumber.", importance=3)
    tiered(bench)

    archived = bench.service.update_memory(id, archived=True)
    assert (archived.tier, archived.tier_reason) == ("archive", "archived")
    used(bench, id)
    assert place(bench, id) == ("archive", "archived")
    assert bench.state(id) == State.ARCHIVED
    back = bench.service.update_memory(id, archived=False)
    assert (back.state, back.tier) == ("active", "warm")


def test_what_fades_into_the_archive_follows_in_the_same_sleep(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", category="ephemeral", importance=9)
    clock.advance(days=30)

    retain(bench.store, bench.service.settings.life, clock, Budget(), Counter())
    tiered(bench)

    assert place(bench, id) == ("archive", "archived")


def test_others_memories_are_theirs(bench_of: Callable[..., Bench]) -> None:
    ana, bob = bench_of("ana"), bench_of("bob")
    bob.keep("Clara waits for the plumber.", scope="shared")

    assert tiered(ana) == {}
    assert tiered(bob) == {"hot": 1}


def test_a_clock_that_cannot_be_right_moves_nothing(bench: Bench, clock: Any) -> None:
    bench.keep("Clara waits for the plumber.")
    clock.advance(days=500)

    assert tiered(bench) == {"clock": 1}


def test_erasing_leaves_no_trace_of_its_tiers(bench: Bench) -> None:
    id = bench.keep("Clara waits for the plumber.")
    tiered(bench)
    bench.service.forget(id, erase=True)

    assert bench.store.life.tier_changes(id) == []


# priority


def test_a_person_sets_priority_and_with_it_the_tier(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", importance=3, channel="explicit")
    for _ in range(60):
        used(bench, id)
    clock.advance(days=30)
    low = bench.service.update_memory(id, priority=0)

    high = bench.service.update_memory(id, priority=1)

    assert (high.set_priority, low.set_priority) == (1, 0)
    assert (high.priority or 0) - (low.priority or 0) == pytest.approx(0.4)
    assert bench.service.history(id)[0].after == {"set_priority": 1}
    tiered(bench)
    assert place(bench, id) == ("hot", "high_priority")
    assert bench.service.update_memory(id, priority=None).set_priority is None


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), "high"])
def test_a_priority_is_between_0_and_1(bench: Bench, wrong: Any) -> None:
    id = bench.keep("Clara waits for the plumber.")

    with pytest.raises(InvalidInput, match="priority"):
        bench.service.update_memory(id, priority=wrong)


def test_use_raises_priority_as_soon_as_it_is_counted(bench: Bench) -> None:
    id = bench.keep("Clara waits for the plumber.")
    tiered(bench)
    before = bench.store.get(id).priority or 0

    used(bench, id)

    assert (bench.store.get(id).priority or 0) > before


def test_links_raise_priority_and_tier(bench: Bench, clock: Any) -> None:
    ids = [bench.keep(f"Clara waits for plumber {n}.", importance=3) for n in range(4)]
    clock.advance(days=10)
    tiered(bench)
    before = bench.store.get(ids[0])
    assert before.tier == "warm"
    link(bench, ids[0], *ids[1:])

    tiered(bench)

    after = bench.store.get(ids[0])
    assert (after.tier, after.tier_reason) == ("hot", "dense_graph")
    assert (after.priority or 0) - (before.priority or 0) == pytest.approx(0.2 * 0.9)
    assert place(bench, ids[1]) == ("warm", "recently_accessed")  # one new link each
    clock.advance(days=8)
    (known,) = bench.store.life.living([ids[0]])
    assert (known.links, known.recent_links) == (3, 0)


def test_what_others_link_with_moves_no_memory(bench_of: Callable[..., Bench], clock: Any) -> None:
    ana, ben = bench_of("ana"), bench_of("ben")
    plumber = ana.keep("Clara waits for the plumber.", importance=3, scope="shared")
    clock.advance(days=10)
    tiered(ana)
    before = ana.store.get(plumber)
    for n in range(8):
        theirs = ben.keep(f"Ben calls plumber {n}.", scope="shared" if n % 2 else "private")
        ben.service.update_memory(theirs, links=[{"id": plumber}])

    tiered(ana)

    assert ana.store.get(plumber) == before
    assert before.tier == "warm"
    (known,) = ana.store.life.living([plumber])
    assert (known.links, known.recent_links) == (0, 0)
    (own, *_) = [one.id for one in ben.store.life.living() if one.scope == "private"]
    assert [one.links for one in ben.store.life.living([own])] == [1]


@pytest.mark.parametrize("scope", ["private", "shared"])
def test_links_count_as_long_as_both_ends_live(bench: Bench, scope: str) -> None:
    one, other = (bench.keep(f"Clara calls {n}.", scope=scope) for n in ("Bob", "the plumber"))
    bench.service.update_memory(one, links=[{"id": other}])
    assert [(one.links, one.recent_links) for one in bench.store.life.living()] == [(1, 1)] * 2

    bench.service.forget(other)
    assert [known.links for known in bench.store.life.living()] == [0]
    bench.service.restore(other)
    assert [known.links for known in bench.store.life.living([one])] == [1]


def link(bench: Bench, source: str, *targets: str) -> None:
    assert isinstance(bench.store, SqliteStore)
    at = time_text(bench.clock())
    with bench.store.files.own.database.writing() as db:
        db.run_each(
            "INSERT INTO links"
            " (source, target, relation, weight, confidence, verified_at, created_at)"
            " VALUES (:source, :target, 'related_to', 0.5, 0.5, :at, :at)",
            [{"source": source, "target": target, "at": at} for target in targets],
        )


# what changes meanwhile


def test_what_somebody_has_changed_meanwhile_is_passed_over(bench: Bench, clock: Any) -> None:
    first, second = bench.keep("Clara waits."), bench.keep("Bob waits.")
    read = {one.id: one for one in bench.store.life.living()}
    bench.service.update_memory(first, subject="Clara")

    fates = [Fate(one, State.STALE, "faded", "test") for one in read.values()]
    places = [Place(one, "hot", "test", 0.5) for one in read.values()]

    assert bench.store.life.to_tiers(places) == 1
    assert bench.store.life.to_states(fates) == 1
    assert (bench.state(first), bench.state(second)) == (State.ACTIVE, State.STALE)


# told to people


def test_vitals_say_how_a_memory_stands(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", category="context", importance=5)
    tiered(bench)
    clock.advance(days=21)

    found = bench.service.vitals(id)

    assert found is not None
    assert found.retention == pytest.approx(0.3679, abs=1e-4)
    assert (found.curve, found.tier, found.reason) == ("kin", "hot", "recent_access")
    assert [one.after for one in found.tier_changes] == ["hot"]
    bench.service.forget(id)
    assert bench.service.vitals(id) is None


def test_counts_know_tiers(bench: Bench) -> None:
    bench.keep("Clara waits for the plumber.")
    tiered(bench)

    assert bench.service.stats().counts["tier"] == {"hot": 1}
