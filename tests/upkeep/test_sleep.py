"""The sleep cycle: when it runs, by whom, what it leaves behind, and that it can always be cut."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from mcp import Client

from kinmem.errors import InvalidInput, ModelError
from kinmem.llm.base import ChatModels
from kinmem.mcp.protocol import build
from kinmem.models import State
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.disk import COUNTED
from kinmem.store.sqlite.store import SqliteStore
from kinmem.upkeep import pipeline
from kinmem.upkeep.steps import NAMES, Budget, leased
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock
from tests.scripted import ScriptedModel


def kinds(service: Service) -> list[str]:
    return [run.kind for run in service.runs()]


def content_of(home: Path) -> dict[str, list[Any]]:
    """Every row of the memories and of what hangs on them; the count of transactions, which taking
    turns adds to, is none."""
    tables = "memories chunks history summaries entities relations links tier_changes marks runs"
    tables += " embedders pending jobs revision"
    found = {}
    for file in sorted(home.rglob("*.db")):
        db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        for table in tables.split():
            rows = db.execute(f"SELECT * FROM {table}").fetchall()
            found[f"{file.name} {table}"] = [row for row in rows if row[0] != COUNTED]
        db.close()
    return found


# when


def test_a_server_sleeps_when_it_is_idle_and_then_once_an_interval(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    service = service_of("ana")
    assert service.settle(30)
    assert kinds(service) == []

    slept = []
    for minutes in (11, 20, 40, 20, 45):
        clock.advance(minutes=minutes)
        assert service.settle(30)
        slept.append(kinds(service).count("sleep"))

    assert slept == [1, 1, 2, 2, 3]
    assert service.runs(1)[0].seconds.keys() == {*NAMES}


def test_whoever_sleeps_first_does_it_for_all(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    one, other = service_of("ana"), service_of("ana")
    assert one.settle(30) and other.settle(30)
    clock.advance(minutes=11)

    one.sleep()
    assert one.settle(30)
    assert other.settle(30)

    assert kinds(one).count("sleep") == 1
    clock.advance(minutes=61)
    assert other.settle(30)
    assert one.settle(30)
    assert kinds(one).count("sleep") == 2


@pytest.mark.parametrize(("minutes", "expected"), [(0, 0), (10, 3), (10080, 1)])
def test_how_often_is_a_setting(
    service_of: Callable[..., Service], clock: MovableClock, minutes: int, expected: int
) -> None:
    service = service_of("ana", KINMEM_SLEEP_EVERY=minutes)
    assert service.settle(30)
    for _ in range(3):
        clock.advance(hours=2)
        assert service.settle(30)

    assert kinds(service).count("sleep") == expected


def test_a_clock_that_was_put_back_does_not_keep_it_awake(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    service_of("ana", resident=False).sleep()
    clock.advance(days=-3)
    service = service_of("ana")
    assert service.settle(30)
    clock.advance(minutes=11)

    assert service.settle(30)

    assert kinds(service) == ["sleep", "sleep"]


def test_what_an_import_has_left_is_done_in_the_same_night(
    service_of: Callable[..., Service], clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = service_of("ana")
    service.memorize_many(f"The parcel {n} holds wool." for n in range(3))
    assert service.settle(30)

    with monkeypatch.context() as patched:
        patched.setattr(Budget, "part", lambda whole, seconds: Budget(whole.is_over, seconds=0))
        clock.advance(minutes=11)
        first = service.sleep()
    assert {"tag.unfinished", "link.unfinished"} <= first.counts.keys()
    clock.advance(minutes=11)
    assert service.settle(30)

    rest = service.runs(1)[0]
    assert set(rest.seconds) - {"learn"} <= {"entities", "tag", "link"}
    assert rest.counts["tag.seen"] == rest.counts["link.seen"] == 3
    clock.advance(minutes=11)
    assert service.settle(30)
    assert kinds(service) == ["sleep", "sleep"]


# cut short


def test_what_a_killed_process_left_is_done_by_the_next(
    service_of: Callable[..., Service], clock: MovableClock
) -> None:
    first = service_of("ana", resident=False)

    def killed(done: int, total: int, what: str) -> None:
        if what == "prune":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.sleep(progress=killed)
    server = service_of("ana")
    assert server.settle(30)
    clock.advance(minutes=11)
    assert server.settle(30)

    (run,) = server.runs()
    assert list(run.seconds)[:1] == ["learn"]  # it is always listened
    assert list(run.seconds)[1:] == list(NAMES[NAMES.index("prune") :])


def test_a_step_that_fails_is_reported_and_the_others_are_done(
    home: Path, clock: MovableClock
) -> None:
    settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": home})
    models = ChatModels(consolidation=ScriptedModel([ModelError("away")] * 5))
    with Service(
        SqliteStore(home, "ana", clock),
        embedders(settings),
        settings,
        models=models,
        clock=clock,
        resident=False,
    ) as service:
        service.memorize("Clara grows red roses in her garden in Lyon.")
        service.memorize("Clara grows red roses in her large garden in Lyon, in the south.")
        run = service.sleep()

    assert run.problems == ("consolidate: away",)
    assert list(run.seconds) == [*NAMES]


def test_two_at_once_are_impossible_and_the_second_is_told_who_is_at_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PATIENCE", 0.1)
    with leased(service.store.jobs, pipeline.JOB):
        run = service.sleep()

    assert run.seconds == {}
    (problem,) = run.problems
    assert f"process {os.getpid()} on " in problem
    assert kinds(service) == []
    assert service.sleep().problems == ()


# what


def test_only_the_named_steps_are_done_in_their_order(service: Service) -> None:
    run = service.sleep(["housekeeping", "expire"])

    assert list(run.seconds) == ["expire", "housekeeping"]


def test_an_unknown_step_is_refused(service: Service) -> None:
    with pytest.raises(InvalidInput, match="'snore'.*housekeeping"):
        service.sleep(["tag", "snore"])


def test_a_dry_run_counts_and_changes_nothing(
    service_of: Callable[..., Service], clock: MovableClock, home: Path
) -> None:
    service = service_of("ana", KINMEM_COMPRESS="on", KINMEM_PURGE_DAYS=1, resident=False)
    service.memorize("Clara grows red roses in her garden.", expires="2d", tags=["garden"])
    gone = service.memorize("The kettle is broken.").id
    assert gone
    service.forget(gone)
    service.observe("prompt", "s", "1", "I have four bicycles in Lyon.")
    service.observe("answer", "s", "1", "Good.")
    service.sleep(["learn", "embed", "purge"])
    service.memorize_many(["Clara grows red roses in her garden in Lyon, and tulips."])
    service.observe("prompt", "s", "2", "I like trains best.")
    service.observe("answer", "s", "2", "Good.")
    clock.advance(days=3)
    before = content_of(home)

    run = service.sleep(dry_run=True)

    assert content_of(home) == before
    wanted = {"extract.waiting": 2, "expire.expired": 1, "embed.chunks": 1, "purge.purged": 1}
    assert wanted.items() <= run.counts.items()
    assert run.problems == ()
    done = service.sleep()
    assert (done.counts["expire.expired"], done.counts["purge.purged"]) == (1, 1)


def test_a_dry_run_before_anything_else_writes_nothing(
    service_of: Callable[..., Service], home: Path
) -> None:
    service = service_of("ana", resident=False, KINMEM_JUDGE="off")
    service.memorize_many(["Clara grows red roses in her garden.", "Bob repairs cars."])
    assert service.recall("Clara grows red roses").hits
    before = content_of(home)

    run = service.sleep(dry_run=True)

    assert content_of(home) == before
    assert run.counts["embed.chunks"] == 2
    service.store.flush_use()
    assert content_of(home) != before  # the use was still to be noted


@pytest.mark.usefixtures("judge_off")
def test_a_second_run_finds_nothing_to_do(service: Service, clock: MovableClock) -> None:
    for number in range(30):
        service.memorize(f"Clara keeps {number} jars of honey in cellar {number}.")
    clock.advance(days=40)
    service.sleep()

    again = service.sleep()

    assert again.problems == ()
    assert {name: n for name, n in again.counts.items() if not name.endswith(".read")} == {}


# the bin


def test_the_bin_is_emptied_while_a_server_runs_for_weeks(
    service: Service, clock: MovableClock
) -> None:
    ids = [service.memorize(f"Jar {n} holds honey.").id for n in range(3)]
    for id in ids[:2]:
        assert id
        service.forget(id)
    clock.advance(days=89)
    assert service.settle(30)
    assert service.stats().counts["state"][State.DELETED] == 2

    clock.advance(days=2)
    assert service.settle(30)

    assert service.stats().last_sleep is not None
    assert service.stats().counts["state"] == {State.ACTIVE: 1}


def test_a_clock_that_jumps_years_ahead_empties_no_bin(
    service: Service, clock: MovableClock
) -> None:
    gone = service.memorize("The kettle is broken.").id
    assert gone
    service.forget(gone)
    clock.advance(days=3650)

    assert service.sleep().counts["purge.clock"] == 1

    clock.advance(days=-3650)
    assert service.restore(gone).state == State.ACTIVE


def test_a_clock_that_leaps_by_months_empties_no_bin_on_that_day(
    service: Service, clock: MovableClock
) -> None:
    gone, before = (str(service.memorize(f"The {one} is broken.").id) for one in ("cup", "kettle"))
    service.forget(before)
    clock.advance(days=40)
    service.forget(gone)
    service.sleep()
    clock.advance(days=300)

    assert service.sleep(["purge"]).counts["purge.clock"] == 1
    clock.advance(hours=23)
    assert service.sleep(["purge"]).counts["purge.clock"] == 1
    assert service.stats().counts["state"] == {State.DELETED: 2}

    clock.advance(days=-301 + 60)
    assert service.sleep(["purge"]).counts["purge.purged"] == 1
    assert service.restore(gone).state == State.ACTIVE


def test_after_a_long_time_away_the_bin_is_emptied_a_day_later(
    service: Service, clock: MovableClock
) -> None:
    service.forget(str(service.memorize("The kettle is broken.").id))
    clock.advance(days=1)
    service.sleep()
    clock.advance(days=200)
    assert service.sleep(["purge"]).counts["purge.clock"] == 1

    clock.advance(days=1)

    assert service.sleep(["purge"]).counts["purge.purged"] == 1


@pytest.mark.usefixtures("judge_off")
@pytest.mark.parametrize("slept", [True, False], ids=["an empty bin", "no bin yet"])
@pytest.mark.parametrize("days", [100, 300])
def test_a_bin_that_nobody_has_looked_into_is_not_emptied_at_once(
    service: Service, clock: MovableClock, slept: bool, days: int
) -> None:
    told = [str(service.memorize(f"Jar {n} holds honey from hive {n}.").id) for n in range(25)]
    if slept:
        service.sleep()
    for id in told[:20]:
        service.forget(id)
    clock.advance(days=days)

    assert service.sleep().counts["purge.clock"] == 1

    assert service.stats().counts["state"][State.DELETED] == 20
    clock.advance(days=1)
    assert service.sleep(["purge"]).counts["purge.purged"] == 20


# reports


def test_the_report_tells_what_each_step_did_and_how_long_it_took(service: Service) -> None:
    service.memorize_many([f"Jar {n} holds honey from hive {n}." for n in range(5)])
    made = service.sleep()

    (kept,) = service.runs()
    assert (kept.kind, dict(kept.seconds)) == ("sleep", dict(made.seconds))
    assert all(seconds >= 0 for seconds in kept.seconds.values())
    assert json.loads(json.dumps(dict(kept.counts))) == made.counts
    assert service.stats().last_sleep == kept


# over MCP


@pytest.mark.anyio
async def test_the_tool_is_listed_with_its_set_and_tells_how_far_it_is(service: Service) -> None:
    service.memorize("Clara keeps bees in Lyon.")
    told: list[tuple[float, str | None]] = []

    async def heard(done: float, total: float | None, what: str | None) -> None:
        told.append((done, what))

    async with Client(build(lambda _: service, sets=["upkeep"])) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answered = await client.call_tool(
            "sleep", {"steps": ["tag", "expire"]}, progress_callback=heard
        )
        refused = await client.call_tool("sleep", {"steps": ["snore"]})
        dry = await client.call_tool("sleep", {"dry_run": True})

    assert len(tools) == 7
    slept = answered.structured_content or {}
    assert [step["step"] for step in slept["steps"]] == ["expire", "tag"]
    assert slept["steps"][1]["counts"] == {"seen": 1, "changed": 1}
    assert (2.0, "done") in told
    assert refused.is_error
    would = dry.structured_content or {}
    assert (would["dryRun"], len(would["steps"])) == (True, len(NAMES))
    assert not any("counts" in step for step in would["steps"])
    assert any("would" in step for step in would["steps"])
    assert [len(run.seconds) for run in service.runs()] == [2]
