"""history, undo and forget --about, as a person types them."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


def test_undo_says_what_it_did_and_how_to_do_it_again(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    kinmem("update", id, "--content", "Bob drinks coffee")

    undone = kinmem("undo")

    assert undone.code == 0
    assert "Bob drinks tea" in undone.out
    again = next(word for word in undone.out.split() if word.startswith("undo-"))
    assert kinmem("undo", again).code == 0
    assert kinmem("show", id, "--json").json["content"] == "Bob drinks coffee"


@pytest.mark.parametrize("meant", ["write", "id", "end of id", "nothing"])
def test_a_write_is_named_in_several_ways(kinmem: Kinmem, memorized: Memorized, meant: str) -> None:
    id = memorized("Bob drinks tea")
    judged = kinmem("show", id, "--json").json["importance"]
    kinmem("update", id, "--importance", "9")
    names = {"write": ["2"], "id": [id], "end of id": [id[-8:]], "nothing": []}

    undone = kinmem("undo", *names[meant], "--json").json

    assert undone["undone"] == [2]
    assert undone["memories"] == [{"id": id, "became": "changed"}]
    assert kinmem("show", id, "--json").json["importance"] == judged


def test_a_dry_run_only_shows_it(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    kinmem("update", id, "--content", "Bob drinks coffee")

    shown = kinmem("undo", "--dry-run")

    assert shown.out.startswith("This would undo")
    assert "as it was: Bob drinks tea" in shown.out
    assert kinmem("show", id, "--json").json["content"] == "Bob drinks coffee"


def test_the_history_tells_what_each_write_said(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    kinmem("update", id, "--content", "Bob drinks coffee")

    told = kinmem("history").out

    assert "Bob drinks tea" in told and "Bob drinks coffee" in told


def test_what_later_writes_build_on_is_refused(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    kinmem("update", id, "--content", "Bob drinks coffee")

    refused = kinmem("undo", "1")

    assert refused.code == 3
    assert refused.err.startswith("conflict: write 1 cannot be undone alone")
    assert kinmem("undo", "1", "--cascade").code == 0
    assert kinmem("list", "--json").json["memories"] == []


def test_history_lists_what_was_done_the_latest_first(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    memorized("Carla plays chess")
    kinmem("update", id, "--pin")

    listed = kinmem("history")
    rows = kinmem("history", "--limit", "2", "--json").json
    rest = kinmem("history", "--before", str(rows["before"]), "--json").json

    assert [line.split()[0] for line in listed.out.splitlines()[1:4]] == ["3", "2", "1"]
    assert [write["write"] for write in rows["writes"]] == [3, 2]
    assert [change["action"] for change in rows["writes"][0]["changes"]] == ["updated"]
    assert [write["write"] for write in rest["writes"]] == [1]


def test_history_of_one_memory_tells_what_changed(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    kinmem("update", id, "--content", "Bob drinks coffee")

    told = kinmem("history", id[-8:])
    lines = kinmem("history", id, "--json").json["history"]

    assert "content Bob drinks tea -> Bob drinks coffee" in told.out
    assert [(line["write"], line["action"]) for line in lines] == [(2, "updated"), (1, "created")]
    assert lines[0]["before"]["content"] == "Bob drinks tea"


def test_a_history_tells_times_as_people_read_them_and_no_notes_of_kinmem(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    id = memorized("Ana is ill")
    assert (
        kinmem("update", id, "--content", "Ana fell yesterday", "--expires", "2099-01-01").code == 0
    )

    (changed, _) = kinmem("history", id).out.splitlines()

    assert "expires at none -> 2099-01-0" in changed
    assert ".000000Z" not in changed and "metadata" not in changed and "{" not in changed


def test_memories_are_shown_as_they_once_stood(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob drinks tea")
    kinmem("update", id, "--content", "Bob drinks coffee")
    kinmem("forget", id)

    (then,) = kinmem("history", "--as-of", "1", "--json").json["memories"]

    assert (then["content"], then["state"]) == ("Bob drinks tea", "active")
    assert "Bob drinks coffee" in kinmem("history", "--as-of", "2").out


def test_forget_about_asks_before_it_erases(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("Zorblax drinks tea")

    refused = kinmem("forget", "--about", "Zorblax")

    assert refused.code == 3
    assert refused.err.startswith("refused:")
    assert len(kinmem("list", "--json").json["memories"]) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "left"), [("n\n", 1), ("y\n", 0)])
def test_on_a_terminal_it_does_what_is_answered(
    kinmem: Kinmem,
    memorized: Memorized,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    left: int,
) -> None:
    memorized("Zorblax drinks tea")
    monkeypatch.setattr(io, "StringIO", Terminal)

    asked = kinmem("forget", "--about", "Zorblax", typed=answer)

    assert "About Zorblax" in asked.out
    assert "Erase all of it for good?" in asked.err
    assert len(kinmem("list", "--json").json["memories"]) == left


def test_forget_about_erases_and_proves_it(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("Zorblax drinks tea")
    memorized("Carla plays chess")

    told = kinmem("forget", "--about", "zorblax", "--yes")

    assert told.code == 0
    assert "nothing of it is left" in told.out
    assert [one["content"] for one in kinmem("list", "--json").json["memories"]] == [
        "Carla plays chess"
    ]
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not any(b"zorblax" in path.read_bytes().lower() for path in files)


def test_a_plan_of_forgetting_can_be_read_by_programs(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Zorblax drinks tea")

    plan = kinmem("forget", "--about", "Zorblax", "--dry-run", "--json").json

    assert [one["id"] for one in plan["memories"]] == [id]
    assert "left" not in plan
    assert len(kinmem("list", "--json").json["memories"]) == 1


@pytest.mark.parametrize(
    "words", [[], ["12345678", "--about", "Bob"], ["12345678", "--dry-run"]], ids=" ".join
)
def test_forget_needs_one_thing_to_forget(kinmem: Kinmem, words: list[str]) -> None:
    assert kinmem("forget", *words).code == 2


HUGE = "9" * 23


@pytest.mark.parametrize(
    "args, code",
    [
        (["undo", "--last", "0"], 2),
        (["undo", "--last", "-1"], 2),
        (["undo", HUGE], 3),
        (["undo", "9" * 5000], 3),
        (["history", "--as-of", HUGE], 3),
        (["history", "--as-of", "-1"], 3),
        (["history", "--before", "-1"], 3),
        (["history", "--limit", "-3"], 3),
        (["history", "--limit", HUGE], 3),
    ],
)
def test_numbers_that_cannot_be_meant_change_nothing(
    kinmem: Kinmem, memorized: Memorized, args: list[str], code: int
) -> None:
    id = memorized("Bob drinks tea")

    refused = kinmem(*args)

    assert refused.code == code
    assert refused.err and "Traceback" not in refused.err
    assert kinmem("show", id, "--json").json["state"] == "active"


@pytest.mark.parametrize("did", ["nothing new", "erased"])
def test_undo_takes_back_nothing_else_after_a_command_that_it_cannot_take_back(
    kinmem: Kinmem, memorized: Memorized, did: str
) -> None:
    boiler = memorized("The boiler pressure must be 1.5 bar")
    gone = memorized("Okafor has the keys")
    if did == "erased":
        kinmem("forget", gone, "--erase", "--yes")
    else:
        kinmem("memorize", "Okafor has the keys")

    asked = kinmem("undo")

    assert asked.code == 3
    assert "changed nothing that can be undone; kinmem undo " in asked.err
    assert ("boiler" if did == "erased" else "Okafor") in asked.err
    assert kinmem("show", boiler, "--json").json["state"] == "active"
    named = asked.err.partition("kinmem undo ")[2].split()[0]
    assert kinmem("undo", named).code == 0


def test_undo_after_undo_takes_back_the_change_before(kinmem: Kinmem, memorized: Memorized) -> None:
    first, second = memorized("The shed is green"), memorized("The gate is 3 m wide")

    assert (kinmem("undo").code, kinmem("undo").code) == (0, 0)

    states = [kinmem("show", id, "--json").json["state"] for id in (first, second)]
    assert states == ["deleted", "deleted"]
