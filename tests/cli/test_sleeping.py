"""sleep and runs: the cycle on demand, step by step, and what it left in writing."""

from kinmem.upkeep.steps import NAMES
from tests.cli.conftest import Kinmem


def test_the_command_tells_each_step(kinmem: Kinmem) -> None:
    kinmem("memorize", "Clara keeps bees in Lyon.")

    some = kinmem("sleep", "tag", "housekeeping")
    all_of_it = kinmem("sleep", "--json")
    again = kinmem("sleep", "--due", "--json")

    assert some.code == 0
    assert [line.split()[0] for line in some.out.splitlines()] == ["step", "tag", "housekeeping"]
    assert list(all_of_it.json["steps"]) == list(NAMES)
    assert list(again.json["steps"]) == ["learn", "embed", "consolidate"]
    shown = kinmem("runs", "--json").json
    assert [run["kind"] for run in shown] == ["cycle", "sleep", "sleep"]


def test_the_command_refuses_an_unknown_step(kinmem: Kinmem) -> None:
    ran = kinmem("sleep", "snore")

    assert ran.code == 3
    assert "'snore'" in ran.err


def test_a_dry_run_of_the_command_is_not_recorded(kinmem: Kinmem) -> None:
    kinmem("memorize", "Clara keeps bees in Lyon.")

    ran = kinmem("sleep", "--dry-run", "--json")

    assert ran.json["would"]["tag.seen"] == 1
    assert "counts" not in ran.json
    assert "would do" in kinmem("sleep", "--dry-run").out
    assert kinmem("runs", "--json").json == []
