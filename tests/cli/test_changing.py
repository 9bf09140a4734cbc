"""memorize, update, forget, restore."""

import io
import re
from collections.abc import Callable

import pytest

from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


def test_every_detail_given_is_shown_again(kinmem: Kinmem, memorized: Memorized) -> None:
    options = (
        "--category decision --subject billing --importance 7 --scope shared --speaker Ana"
        " --occurred-at 2026-03-01 --tag db --tag money --expires 2099-01-01"
    ).split()
    id = memorized("We use PostgreSQL for billing", *options, "--source-context", "said at lunch")

    shown = kinmem("show", id, "--json").json

    expected = {
        "content": "We use PostgreSQL for billing",
        "category": "decision",
        "subject": "billing",
        "importance": 7,
        "scope": "shared",
        "speaker": "Ana",
        "sourceContext": "said at lunch",
        "manualTags": ["db", "money"],
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["occurredAt"].startswith("2026-03-01")
    assert shown["expiresAt"].startswith("2099-01-02")  # it holds until the day ends
    assert [event["action"] for event in shown["history"]] == ["created"]


def test_a_dash_reads_the_text_from_stdin(kinmem: Kinmem) -> None:
    kinmem("memorize", "-", typed="The first line\nand the second\n")

    (memory,) = kinmem("list", "--json").json["memories"]
    assert memory["content"] == "The first line\nand the second"


def test_what_is_known_is_not_stored_twice(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("Bob is allergic to peanuts")

    again = kinmem("memorize", "bob is allergic to peanuts!")

    assert again.code == 0
    assert "Known already" in again.out
    assert id[-8:] in again.out
    assert len(kinmem("list", "--json").json["memories"]) == 1


def test_update_changes_what_is_named_and_nothing_else(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    id = memorized("The office closes at six", "--subject", "office", "--tag", "work")

    ran = kinmem("update", id, "--content", "The office closes at seven", "--pin", "--json")

    assert ran.json["content"] == "The office closes at seven"
    assert ran.json["pinned"] is True
    assert ran.json["subject"] == "office"
    assert ran.json["tags"] == ["work"]
    assert "closes at six" in kinmem("show", id).out


def test_update_can_empty_a_field(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("The office closes at six", "--subject", "office", "--tag", "work")

    ran = kinmem("update", id, "--clear", "subject", "--clear", "tags", "--json")

    assert "subject" not in ran.json
    assert "tags" not in ran.json


def test_priority_is_set_shown_with_the_standing_and_cleared(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    id = memorized("The office closes at six")
    assert kinmem("update", id, "--priority", "0.9", "--json").json["priority"] == 0.9

    shown, told = kinmem("show", id).out, kinmem("show", id, "--json").json

    for line in (
        r"standing\s+retention\s+100% by the curve kin",
        r"tier\s+warm",
        r"set priority\s+0.9",
    ):
        assert re.search(line, shown)
    assert (told["retention"], told["curve"], told["setPriority"]) == (1, "kin", 0.9)
    assert 0.5 < told["priority"] < 0.9
    assert told["tierChanges"] == []
    assert "priority" not in kinmem("update", id, "--clear", "priority", "--json").json
    assert "between 0 and 1" in kinmem("update", id, "--priority", "2").err


def test_archived_memories_are_recalled_only_on_demand(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    id = memorized("The office closes at six")
    kinmem("update", id, "--archive")

    assert "Nothing fits" in kinmem("recall", "office").out
    assert "closes at six" in kinmem("recall", "office", "--include-archived").out
    kinmem("update", id, "--unarchive")
    assert "closes at six" in kinmem("recall", "office").out


def test_a_change_meant_for_another_version_is_refused(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    id = memorized("The office closes at six")
    kinmem("update", id, "--importance", "3")

    late = kinmem("update", id, "--importance", "9", "--if-version", "1")

    assert late.code == 3
    assert late.err.startswith("conflict: ")


def test_what_is_forgotten_can_be_restored(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("The office closes at six")

    gone = kinmem("forget", id)

    assert f"kinmem restore {id[-8:]}" in gone.out
    assert "Nothing fits" in kinmem("recall", "office").out
    assert "closes at six" in kinmem("list", "--state", "deleted").out
    assert kinmem("restore", id[-8:]).code == 0
    assert "closes at six" in kinmem("recall", "office").out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "options", "left"),
    [
        pytest.param("n\n", ["--erase"], 1, id="asked, refused"),
        pytest.param("y\n", ["--erase"], 0, id="asked, agreed"),
        pytest.param("", ["--erase", "--yes"], 0, id="not asked"),
    ],
)
def test_erasing_asks_on_a_terminal(
    kinmem: Kinmem,
    memorized: Memorized,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    options: list[str],
    left: int,
) -> None:
    id = memorized("The office closes at six")
    monkeypatch.setattr(io, "StringIO", Terminal)

    ran = kinmem("forget", id, *options, typed=answer)

    assert ran.code == (3 if left else 0)
    assert kinmem("show", id).code == (0 if left else 3)


def test_an_id_may_be_given_by_its_end(kinmem: Kinmem, memorized: Memorized) -> None:
    id = memorized("The office closes at six")

    assert kinmem("show", id[-8:].upper(), "--json").json["id"] == id
    assert kinmem("show", id[-6:]).code == 3
