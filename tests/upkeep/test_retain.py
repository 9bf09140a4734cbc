"""Memories fade from active to stale, the archive and the bin; what protects them; their return."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from kinmem.models import State
from kinmem.settings.memory_settings import LifeSettings, Prune
from kinmem.upkeep.ageing import purge
from kinmem.upkeep.lifecycle import expire, retain
from kinmem.upkeep.steps import Budget
from tests.scripted import ScriptedModel
from tests.upkeep.conftest import OF_AN_ASSISTANT, Bench, all_of_it

DEFAULT = LifeSettings()
PRUNES = LifeSettings(prune="kybernesis")
REMARK: dict[str, Any] = {"category": "context", "importance": 5}
"""Stability 21 days by the default curve: stale after 26, archived after 49, gone after 97."""


def retained(
    bench: Bench, settings: LifeSettings = DEFAULT, budget: Budget | None = None
) -> Counter[str]:
    counts = Counter[str]()
    retain(bench.store, settings, bench.clock, budget or Budget(), counts)
    return counts


def expired(bench: Bench, budget: Budget | None = None) -> Counter[str]:
    counts = Counter[str]()
    expire(bench.store, bench.clock, budget or Budget(), counts)
    return counts


def used(bench: Bench, id: str) -> None:
    bench.store.count_use([id], bench.clock())
    bench.store.flush_use()


@pytest.mark.parametrize(
    ("days", "state"),
    [(24, State.ACTIVE), (26, State.STALE), (47, State.STALE), (49, State.ARCHIVED)],
)
def test_retention_decides_the_state(bench: Bench, clock: Any, days: int, state: State) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=days)

    retained(bench)

    assert bench.state(id) == state


def test_a_life_in_stages_each_of_them_told(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    counted = []
    for days in (26, 24, 50):
        clock.advance(days=days)
        counted.append(retained(bench, PRUNES))

    assert counted == [{"stale": 1}, {"archived": 1}, {"deleted": 1}]
    memory = bench.store.get(id)
    assert (memory.state, memory.deleted_at, memory.state_at) == ("deleted", clock(), clock())
    told = [(line.action, line.after["state"]) for line in bench.service.history(id)[:3]]
    assert told == [("faded", "deleted"), ("faded", "archived"), ("faded", "stale")]
    assert "curve kin" in (bench.service.history(id)[0].reason or "")


def test_after_thirty_days_stale_is_archived(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara grows roses.", category="fact", importance=5)
    clock.advance(days=330)
    retained(bench)
    assert bench.state(id) == State.STALE
    clock.advance(days=29)
    retained(bench)
    assert bench.state(id) == State.STALE

    clock.advance(days=2)
    retained(bench)

    assert bench.state(id) == State.ARCHIVED


def test_it_may_be_repeated(bench: Bench, clock: Any) -> None:
    bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=60)

    assert retained(bench) == {"archived": 1}
    assert retained(bench) == {}


def test_a_dry_run_counts_and_changes_nothing(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=60)
    before = bench.store.get(id)

    assert retained(bench, budget=Budget(dry_run=True)) == {"archived": 1}
    assert bench.store.get(id) == before


def test_what_is_cut_short_goes_on_in_the_next_run(bench: Bench, clock: Any) -> None:
    notes = [{"content": f"Remark {n}", **OF_AN_ASSISTANT, **REMARK} for n in range(250)]
    bench.service.memorize_many(notes)
    clock.advance(days=60)
    asked = iter([False, True])

    first = retained(bench, budget=Budget(lambda: next(asked)))

    assert first == {"archived": 200}
    assert retained(bench) == {"archived": 50}


# coming back


def test_use_makes_a_stale_one_active_at_once(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=30)
    retained(bench)
    before = bench.store.revision

    used(bench, id)

    assert bench.state(id) == State.ACTIVE
    assert bench.service.history(id)[0].action == "revived"
    assert bench.store.revision != before  # it ranks higher: remembered answers are wrong
    assert retained(bench) == {}


def test_another_curve_brings_back_but_gives_no_new_start(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=30)
    retained(bench)

    assert retained(bench, LifeSettings(curve="kore")) == {"active": 1}

    assert retained(bench) == {"stale": 1}
    assert bench.state(id) == State.STALE


def test_each_use_lets_it_fade_more_slowly(bench: Bench, clock: Any) -> None:
    often, once = bench.keep("Clara waits.", **REMARK), bench.keep("Bob waits.", **REMARK)
    for _ in range(10):
        used(bench, often)
    used(bench, once)
    clock.advance(days=40)

    retained(bench)

    assert (bench.state(often), bench.state(once)) == (State.ACTIVE, State.STALE)


def test_what_somebody_restores_stays_for_a_while(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=60)
    retained(bench)
    clock.advance(days=60)
    assert retained(bench, PRUNES) == {"deleted": 1}

    assert bench.service.restore(id).state == State.ACTIVE

    clock.advance(days=20)
    assert retained(bench) == {}
    clock.advance(days=10)
    assert retained(bench) == {"stale": 1}


def test_recall_finds_the_stale_and_the_archived_only_when_asked(bench: Bench, clock: Any) -> None:
    fresh = bench.keep("Clara waits for the old plumber.", category="fact", importance=5)
    faded = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=30)
    retained(bench)
    hits = bench.service.recall("who waits for the plumber?").hits
    stale = next(hit for hit in hits if hit.memory.id == faded)
    assert {hit.memory.id for hit in hits} == {fresh, faded}
    assert stale.why["xworth"] == 0.9

    clock.advance(days=80)
    retained(bench)

    found = bench.service.recall("who waits for the plumber?").hits
    asked = bench.service.recall("who waits for the plumber?", include_archived=True).hits
    assert [hit.memory.id for hit in found] == [fresh]
    assert faded in {hit.memory.id for hit in asked}
    assert bench.service.get(faded).state == State.ARCHIVED


def test_what_somebody_undoes_is_not_done_again_for_a_while(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=60)
    assert retained(bench) == {"archived": 1}
    clock.advance(days=1)
    bench.service.undo(bench.service.history(id)[0].write)
    assert bench.state(id) == State.ACTIVE

    clock.advance(days=29)
    assert retained(bench) == {}
    clock.advance(days=2)
    assert retained(bench) == {"archived": 1}


def test_what_has_faded_into_the_archive_answers_where_nothing_else_does(
    bench: Bench, clock: Any
) -> None:
    faded = bench.keep("Clara waits for the plumber.", **REMARK)
    kept = bench.keep("The locker of the gym is number 57.", **REMARK)
    bench.service.update_memory(kept, archived=True)
    bench.keep("Bob repairs cars.", channel="explicit")
    clock.advance(days=60)
    retained(bench)
    assert bench.state(faded) == State.ARCHIVED

    found = bench.service.recall("who waits for the plumber?")

    assert [hit.memory.id for hit in found.hits][:1] == [faded]
    assert not found.abstained
    hits = bench.service.recall("which number has the locker of the gym?").hits
    assert kept not in {hit.memory.id for hit in hits}


# protections


@pytest.mark.parametrize(
    ("given", "change", "state"),
    [
        pytest.param({}, {"pinned": True}, State.ACTIVE, id="pinned never fades"),
        pytest.param({}, {"tags": ["house"]}, State.STALE, id="tagged by hand is not archived"),
        pytest.param({"channel": "explicit"}, {}, State.ACTIVE, id="told never fades"),
        pytest.param({"channel": "user"}, {}, State.ACTIVE, id="a user's words never fade"),
        pytest.param({"channel": "import"}, {}, State.ACTIVE, id="a file never fades"),
        pytest.param({"speaker": "user"}, {}, State.ACTIVE, id="a user's, by the first release"),
        pytest.param({"speaker": "Clara"}, {}, State.ACTIVE, id="Clara's, by the first release"),
        pytest.param({"speaker": "tool"}, {}, State.DELETED, id="a tool's words"),
        pytest.param({"speaker": "assistant"}, {}, State.DELETED, id="an assistant's words"),
        pytest.param({"scope": "shared"}, {}, State.ARCHIVED, id="shared is not binned"),
        pytest.param({}, {"archived": True}, State.ARCHIVED, id="archived by a person"),
        pytest.param(
            {"channel": "user"}, {"archived": True}, State.ARCHIVED, id="told, archived by a person"
        ),
    ],
)
def test_how_far_what_is_protected_fades(
    bench: Bench, clock: Any, given: dict[str, Any], change: dict[str, Any], state: State
) -> None:
    id = bench.keep("Clara waits for the plumber.", **{**REMARK, **given})
    if change:
        bench.service.update_memory(id, **change)
    for _ in range(5):
        clock.advance(days=70)
        retained(bench, PRUNES)

    assert bench.state(id) == state


def test_what_a_person_has_rewritten_is_told(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    bench.service.update_memory(id, content="Clara waits for the electrician.")
    for _ in range(5):
        clock.advance(days=70)
        retained(bench, PRUNES)

    assert bench.state(id) == State.ACTIVE


def test_nothing_goes_into_the_bin_unless_it_is_wanted(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    for _ in range(5):
        clock.advance(days=70)
        retained(bench)

    assert bench.state(id) == State.ARCHIVED


@pytest.mark.parametrize("action", ["faded", "pruned"])
@pytest.mark.parametrize("state", [State.STALE, State.ARCHIVED, State.DELETED])
def test_what_the_first_release_put_away_though_a_person_told_it_comes_back(
    bench: Bench, clock: Any, state: State, action: str
) -> None:
    told = bench.keep("Our production database runs on Postgres 16.", speaker="user", **REMARK)
    said = bench.keep("The plumber rings twice.", speaker="assistant", **REMARK)
    clock.advance(days=60)
    for id in (told, said):
        gone = {"state": state, "deleted_at": clock() if state == State.DELETED else None}
        bench.store.update(id, gone, action="faded" if state != State.DELETED else action)
    clock.advance(days=1)

    retained(bench)

    assert bench.state(told) == State.ACTIVE
    assert bench.state(said) != State.ACTIVE
    assert told in {hit.memory.id for hit in bench.service.recall("the production database").hits}


def test_others_memories_are_theirs(bench_of: Callable[..., Bench], clock: Any) -> None:
    ana, bob = bench_of("ana"), bench_of("bob")
    theirs = bob.keep("Clara waits for the plumber.", scope="shared", **REMARK)
    clock.advance(days=60)

    assert retained(ana) == {}
    assert retained(bob) == {"archived": 1}
    assert bob.state(theirs) == State.ARCHIVED


def test_what_is_neither_alive_nor_archived_is_left_alone(bench: Bench, clock: Any) -> None:
    for state in (State.SUPERSEDED, State.QUARANTINED, State.DELETED):
        bench.keep(f"Clara waits, {state}.", state=state, **REMARK)
    clock.advance(days=300)

    assert retained(bench) == {}


# settings


@pytest.mark.parametrize(
    ("settings", "states"),
    [
        pytest.param(
            LifeSettings(stale_below=0, prune="kybernesis"), ["active", "archived", "deleted"],
            id="no stale",
        ),
        pytest.param(LifeSettings(archive_below=0), ["stale", "stale", "archived"], id="by days"),
        pytest.param(
            LifeSettings(archive_below=0, archive_stale_days=0), ["stale"] * 3, id="archive off"
        ),
        pytest.param(
            LifeSettings(delete_below=0, prune="kybernesis"), ["stale", "archived", "archived"],
            id="bin off",
        ),
        pytest.param(LifeSettings(curve="kinbot"), ["active"] * 3, id="a curve with a floor"),
        pytest.param(LifeSettings(curve="kore"), ["active", "active", "archived"], id="kore"),
        pytest.param(
            LifeSettings(curve="kybernesis"), ["active", "stale", "archived"], id="kybernesis"
        ),
        pytest.param(
            LifeSettings(stale_below=1, archive_below=0), ["stale", "stale", "archived"],
            id="everything is stale",
        ),
    ],
)  # fmt: skip
def test_thresholds_and_curve_are_settings(
    bench: Bench, clock: Any, settings: LifeSettings, states: list[str]
) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    seen = []
    for days in (28, 22, 60):
        clock.advance(days=days)
        retained(bench, settings)
        seen.append(str(bench.state(id)))

    assert seen == states


# clocks that cannot be right


def test_a_clock_that_jumps_ahead_changes_nothing(bench: Bench, clock: Any) -> None:
    id = bench.keep(
        "Clara waits for the plumber.", expires_at=clock() + timedelta(days=2), **REMARK
    )
    before = bench.store.get(id)
    clock.advance(days=500)

    assert retained(bench) == {"clock": 1}
    assert expired(bench) == {"clock": 1}
    assert bench.store.get(id) == before


def test_a_smaller_jump_bins_nothing_and_is_forgotten(bench: Bench, clock: Any) -> None:
    ids = [bench.keep(f"Clara waits for plumber {n}.", **REMARK) for n in range(5)]
    clock.advance(days=200)

    assert retained(bench) == {"archived": 5}
    assert retained(bench) == {}
    assert all(bench.service.restore(id).state == State.ACTIVE for id in ids)


def test_what_a_clock_that_was_ahead_archived_comes_back(bench: Bench, clock: Any) -> None:
    told = [bench.keep("Clara waits for the plumber.", **REMARK)]
    told.append(bench.keep("Bob waits for the plumber.", **REMARK))
    clock.advance(days=300)
    assert retained(bench) == {"archived": 2}
    clock.advance(days=-300)

    assert retained(bench) == {"active": 2}

    assert [bench.state(id) for id in told] == [State.ACTIVE] * 2
    assert bench.service.history(told[0])[0].action == "revived"
    assert retained(bench) == {}


def test_what_a_person_archived_by_a_clock_that_was_ahead_stays_there(
    bench: Bench, clock: Any
) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=300)
    bench.service.update_memory(id, archived=True)
    clock.advance(days=-300)

    assert retained(bench) == {}
    assert bench.state(id) == State.ARCHIVED


def test_a_clock_behind_what_is_stored_changes_nothing(bench: Bench, clock: Any) -> None:
    bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=100)
    bench.keep("Bob repairs cars.", importance=5)
    clock.advance(days=-10)

    assert retained(bench) == {"clock": 1}


# expiry


@pytest.fixture
def lent(bench: Bench, clock: Any) -> Iterator[str]:
    """A memory for three days."""
    yield bench.keep(
        "Clara has lent her bike to Bob.",
        channel="explicit",
        expires_at=clock() + timedelta(days=3),
    )


def test_what_has_expired_goes_into_the_bin(bench: Bench, clock: Any, lent: str) -> None:
    bench.service.update_memory(lent, pinned=True)
    clock.advance(days=2)
    assert expired(bench) == {}
    clock.advance(days=1)

    assert expired(bench, Budget(dry_run=True)) == {"expired": 1}
    assert expired(bench) == {"expired": 1}
    assert expired(bench) == {}
    assert bench.state(lent) == State.DELETED
    assert bench.service.history(lent)[0].action == "expired"


@pytest.mark.parametrize("state", [State.SUPERSEDED, State.QUARANTINED, State.ARCHIVED])
def test_it_goes_into_the_bin_from_every_state(bench: Bench, clock: Any, state: State) -> None:
    id = bench.keep("The locker code is 5566.", state=state, expires_at=clock() + timedelta(days=3))
    clock.advance(days=4)

    assert expired(bench) == {"expired": 1}

    assert bench.state(id) == State.DELETED
    assert expired(bench) == {}


def test_what_had_expired_lasts_once_it_is_restored(bench: Bench, clock: Any, lent: str) -> None:
    clock.advance(days=4)
    expired(bench)

    memory = bench.service.restore(lent)

    assert (memory.state, memory.expires_at) == (State.ACTIVE, None)
    assert expired(bench) == {}
    assert bench.service.recall("who has the bike?").hits[0].memory.id == lent


def test_brought_back_with_a_new_end_it_has_that_end(bench: Bench, clock: Any, lent: str) -> None:
    clock.advance(days=4)
    expired(bench)

    memory = bench.service.update_memory(lent, expires="5d", archived=False)

    assert memory.state == State.ACTIVE
    assert memory.expires_at == clock() + timedelta(days=5)


@pytest.mark.parametrize("state", [State.ACTIVE, State.SUPERSEDED, State.QUARANTINED])
def test_what_expired_by_a_clock_that_was_ahead_is_as_it_was(
    bench: Bench, clock: Any, state: State
) -> None:
    end = clock() + timedelta(days=30)
    id = bench.keep("Clara has lent her bike to Bob.", state=state, expires_at=end)
    clock.advance(days=365)
    assert expired(bench) == {"expired": 1}
    clock.advance(days=-365)

    assert expired(bench, Budget(dry_run=True)) == {state: 1}
    assert expired(bench) == {state: 1}

    assert (bench.state(id), bench.store.get(id).deleted_at) == (state, None)
    assert bench.service.history(id)[0].action == "revived"
    assert expired(bench) == {}
    clock.advance(days=30)
    assert expired(bench) == {"expired": 1}


def test_what_somebody_forgot_by_a_clock_that_was_ahead_stays_forgotten(
    bench: Bench, clock: Any, lent: str
) -> None:
    clock.advance(days=2)
    bench.service.forget(lent)
    clock.advance(days=-2)

    assert expired(bench) == {}
    assert bench.state(lent) == State.DELETED


def test_uses_that_were_only_noted_count(bench: Bench, clock: Any) -> None:
    id = bench.keep("Clara waits for the plumber.", **REMARK)
    clock.advance(days=30)
    bench.store.count_use([id], clock())

    assert retained(bench) == {}


def test_a_merge_of_what_a_person_told_never_fades_either(bench: Bench, clock: Any) -> None:
    bench.keep("Clara grows roses in her garden.", channel="explicit", **REMARK)
    bench.keep("Clara grows tulips in her garden.", **REMARK)
    model = ScriptedModel(lambda prompt: {**all_of_it(prompt), "category": "context"})
    assert bench.consolidate(model)["merged"] == 1
    (merged,) = bench.live()
    for _ in range(3):
        clock.advance(days=130)
        retained(bench, PRUNES)

    assert bench.state(merged.id) == State.ACTIVE


# the bin


def purged(bench: Bench, prune: Prune) -> int:
    counts = Counter[str]()
    purge(bench.store, timedelta(days=90), prune, bench.clock, Budget(), counts)
    return counts["purged"]


def test_the_bin_is_emptied_of_what_a_person_put_there_alone(bench: Bench, clock: Any) -> None:
    faded = bench.keep("Clara waits for the plumber.", **REMARK)
    forgotten = bench.keep("Bob repairs cars.", channel="explicit")
    told = bench.keep("Clara grows roses.", channel="user")
    bench.service.forget(forgotten)
    gone = {"state": State.DELETED, "deleted_at": clock()}
    for id in (faded, told):
        bench.store.update(id, gone, action="faded")
    purged(bench, "off")  # the bin has been looked into
    for _ in range(4):
        clock.advance(days=25)
        purged(bench, "off")

    assert bench.store.memories([faded, forgotten, told]).keys() == {faded, told}
    assert purged(bench, "off") == 0
    assert purged(bench, "kybernesis") == 1
    assert bench.store.memories([faded, forgotten, told]).keys() == {told}
