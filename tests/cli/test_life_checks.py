"""Kybernesis' five troubles: each is provoked, found, and told with what helps."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
import sqlite_vec

from kinmem.cli.memory_checks import Check, life
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.service import Service
from kinmem.wiring.open_memory import embedders
from tests.cli.conftest import Kinmem
from tests.conftest import MovableClock

pytestmark = pytest.mark.usefixtures("judge_off")

Open = Callable[..., Service]

SUBJECTS = "bees trains violins glaciers recipes telescopes".split()


UNRELATED = """
    Ladder Walrus Sonata Cement Yoghurt Comet Lawyer Tulip Shipwreck Algebra Mitten Volcano Zebra
    Passport Cheese Orbit Glove Cactus Sermon Turbine Pancake Bishop Gravel Dolphin
"""


def found(service: Service) -> dict[str, Check]:
    (embedder, *_) = embedders(service.settings, service.store.index.coverage())
    return {check.name: check for check in life(service, embedder)}


def filled(service: Service, count: int = 24) -> list[str]:
    notes = [
        f"Clara wrote {number} letters about {SUBJECTS[number % 6]} to the museum in Lyon."
        for number in range(count)
    ]
    ids = [stored.id for stored in service.memorize_many(notes)]
    return [id for id in ids if id]


def test_a_memory_that_is_looked_after_has_none_of_them(
    service_of: Open, clock: MovableClock
) -> None:
    service = service_of("ana", resident=False)
    filled(service)
    service.sleep()
    clock.advance(days=5)
    service.sleep()

    checks = found(service)

    assert {check.status for check in checks.values()} == {"ok"}
    assert {*checks} == {
        "tags", "tiers", "links", "summaries", "search by words", "search by meaning"
    }  # fmt: skip


def test_what_was_stored_a_moment_ago_is_no_trouble(service_of: Open) -> None:
    service = service_of("ana", resident=False)
    filled(service)

    assert {check.status for check in found(service).values()} <= {"ok"}


def test_a_small_young_memory_is_told_why_all_is_hot(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    filled(service, 12)
    service.sleep()

    at_once = found(service)
    clock.advance(hours=3)
    later = found(service)

    for checks in (at_once, later):
        assert {check.status for check in checks.values()} == {"ok"}
        assert checks["tiers"].told == (
            "12 hot; all were stored in the last four days, which keeps what was sorted hot"
        )
    assert "all 12 are new" in at_once["upkeep"].told
    assert "upkeep" not in later


def test_a_small_memory_that_is_used_is_told_so_without_complaint(
    service_of: Open, clock: MovableClock
) -> None:
    service = service_of("ana", resident=False)
    ids = filled(service, 12)
    clock.advance(days=6)
    for id in ids:
        service.get(id)
    service.sleep()

    tiers = found(service)["tiers"]

    assert (tiers.status, tiers.remedy) == ("ok", None)
    assert tiers.told.startswith("12 hot; 12 of the hot ones were used in the last three days")


def test_a_small_memory_that_nobody_has_sorted_since_is_a_trouble(
    service_of: Open, clock: MovableClock
) -> None:
    service = service_of("ana", resident=False)
    filled(service, 12)
    service.sleep()
    clock.advance(days=10)

    tiers = found(service)["tiers"]

    assert (tiers.status, tiers.remedy) == ("warning", "kinmem sleep tier")
    assert tiers.told == "12 hot; that step ran last on 2026-06-15 12:00 UTC"
    service.sleep(["tier"])
    assert found(service)["tiers"].status == "ok"


@pytest.mark.parametrize(
    ("every", "why"),
    [(0, "KINMEM_SLEEP_EVERY is 0"), (60, "has not run yet")],
    ids=["switched off", "no server was open for long"],
)
def test_memories_that_are_not_tagged(
    service_of: Open, clock: MovableClock, every: int, why: str
) -> None:
    service = service_of("ana", resident=False, KINMEM_SLEEP_EVERY=every)
    filled(service)
    clock.advance(hours=3)

    tags = found(service)["tags"]

    assert tags.status == "warning"
    assert why in tags.told
    assert tags.remedy == "kinmem sleep tag"
    service.sleep(["tag"])
    assert found(service)["tags"].status == "ok"


def test_all_memories_stuck_in_the_hot_tier(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    ids = filled(service)
    for _ in range(5):  # a program that reads everything every day
        clock.advance(days=1)
        for id in ids:
            service.get(id)
        service.sleep()

    tiers = found(service)["tiers"]

    assert tiers.status == "warning"
    assert "used in the last three days" in tiers.told
    assert "--sort used" in str(tiers.remedy)
    clock.advance(days=6)
    assert "tier" in str(found(service)["tiers"].remedy)
    service.sleep(["tier"])
    assert found(service)["tiers"].status == "ok"


def test_all_memories_pinned_to_the_hot_tier(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    for id in filled(service):
        service.update_memory(id, pinned=True)
    clock.advance(days=6)
    service.sleep()

    tiers = found(service)["tiers"]

    assert (tiers.status, "manual_pin" in tiers.told) == ("warning", True)
    assert "--unpin" in str(tiers.remedy)


def test_relations_that_were_not_looked_for(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    filled(service)
    service.sleep(["embed", "tag"])
    clock.advance(hours=3)

    links = found(service)["links"]

    assert links.status == "warning"
    assert "never looked at" in links.told
    assert links.remedy == "kinmem sleep tag link"
    service.sleep(["tag", "link"])
    assert found(service)["links"].status == "ok"


def test_memories_that_have_nothing_in_common(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    for noun in UNRELATED.split():
        service.memorize(f"{noun}.")
    service.sleep()
    clock.advance(hours=3)

    links = found(service)["links"]

    assert (links.status, "name nobody" in links.told) == ("warning", True)
    assert "--link" in str(links.remedy)


def test_poor_search_results_by_words(service_of: Open, home: Path) -> None:
    """The word index has lost what the memories say; meaning is in order, and told apart."""
    service = service_of("ana", resident=False)
    filled(service)
    service.sleep()
    with opened(home / "kins" / "ana.db") as db:
        db.execute("DELETE FROM words")

    checks = found(service)

    assert checks["search by words"].status == "error"
    assert "0 of 8" in checks["search by words"].told
    assert checks["search by meaning"].status == "ok"


def test_poor_search_results_by_meaning(service_of: Open, home: Path) -> None:
    """The vectors are of another model than the one that embeds the questions."""
    service = service_of("ana", resident=False)
    ids = filled(service)
    service.sleep()
    with opened(home / "kins" / "ana.db") as db:
        other = BuiltinEmbedder().embed([f"tax form number {number}" for number in range(len(ids))])
        rows = db.execute("SELECT chunk FROM vectors_1 ORDER BY chunk").fetchall()
        for (chunk,), vector in zip(rows, other, strict=True):
            db.execute("DELETE FROM vectors_1 WHERE chunk = ?", (chunk,))
            db.execute("INSERT INTO vectors_1 VALUES (?, ?)", (chunk, vector.tobytes()))

    checks = found(service)

    assert checks["search by meaning"].status == "error"
    assert "reembed --drop" in str(checks["search by meaning"].remedy)
    assert checks["search by words"].status == "ok"


def test_summaries_that_are_missing(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    long = " ".join(
        f"On day {day} Clara counted {day * 7} bees near the river." for day in range(60)
    )
    service.memorize(long)
    service.sleep(["learn"])
    clock.advance(hours=3)

    missing = found(service)["summaries"]

    assert (missing.status, missing.remedy) == ("warning", "kinmem sleep summaries")
    service.sleep(["summaries"])
    assert found(service)["summaries"].status == "ok"


def test_a_step_that_failed_is_named_with_its_reason(service_of: Open, clock: MovableClock) -> None:
    service = service_of("ana", resident=False)
    filled(service)
    run = service.sleep(["learn"])
    failed = type(run)(
        kind="sleep",
        started_at=clock.now,
        finished_at=clock.now,
        counts={},
        seconds={"tag": 0.1},
        problems=("tag: the disk is full",),
    )
    service.store.jobs.record(failed)
    clock.advance(hours=3)

    assert "the disk is full" in found(service)["tags"].told


@pytest.mark.usefixtures("no_self_test")
def test_the_doctor_looks_at_them(kinmem: Kinmem, service_of: Open) -> None:
    service = service_of("default", resident=False)
    filled(service)
    service.sleep()

    checks = {check["name"]: check for check in kinmem("doctor", "--json").json["checks"]}

    assert {"search by words", "search by meaning"} <= checks.keys()


def opened(path: Path) -> apsw.Connection:
    """The file as it is, to damage it."""
    db = apsw.Connection(str(path))
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    db.set_busy_timeout(int(timedelta(seconds=5).total_seconds() * 1000))
    return db
