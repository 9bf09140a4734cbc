"""Links and the timeline on the command line."""

from collections.abc import Callable

import pytest

from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


@pytest.fixture
def runbook(memorized: Memorized) -> str:
    return memorized("The runbook says how the gateway is restarted")


@pytest.fixture
def outage(memorized: Memorized) -> str:
    options = "--subject gateway --occurred-at 2026-05-08".split()
    return memorized("The gateway was down for an hour", *options)


def test_a_link_is_made_shown_from_both_ends_and_taken_back(
    kinmem: Kinmem, runbook: str, outage: str
) -> None:
    made = kinmem("update", outage, "--link", f"{runbook[-8:]}:references", "--json")
    assert made.code == 0, made.err
    assert [link["relation"] for link in made.json["links"]] == ["references"]

    shown = kinmem("show", runbook)
    assert f"referenced by  {outage[-8:]}  The gateway was down for an hour" in shown.out
    assert kinmem("show", outage, "--json").json["links"][0]["id"] == runbook

    taken = kinmem("update", runbook, "--unlink", outage, "--json")
    assert "links" not in taken.json
    history = kinmem("show", outage).out
    assert "linked by default" in history
    assert "links" not in kinmem("show", outage, "--json").json


def test_a_link_without_relation_is_related_to(kinmem: Kinmem, runbook: str, outage: str) -> None:
    made = kinmem("update", outage, "--link", runbook, "--json")

    assert made.json["links"][0]["relation"] == "related_to"


def test_recall_explained_shows_links(kinmem: Kinmem, runbook: str, outage: str) -> None:
    kinmem("update", outage, "--link", f"{runbook}:part_of")

    explained = kinmem("recall", "when was the gateway down?", "--explain")
    assert f"part of  {runbook[-8:]}" in explained.out
    assert "part of" not in kinmem("recall", "when was the gateway down?").out


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("nothing-of-ours", "no memory"),
        ("00000000", "no memory"),
        ("{runbook}:friend_of", "friend_of"),
        ("{outage}", "itself"),
    ],
)
def test_what_cannot_be_linked_is_refused(
    kinmem: Kinmem, runbook: str, outage: str, link: str, why: str
) -> None:
    ran = kinmem("update", outage, "--link", link.format(runbook=runbook, outage=outage))

    assert ran.code != 0
    assert why in ran.err
    assert "links" not in kinmem("show", outage, "--json").json


def test_the_timeline_of_a_subject_and_of_a_day(
    kinmem: Kinmem, memorized: Memorized, runbook: str, outage: str
) -> None:
    memorized("The gateway was replaced", "--subject", "Gateway", "--occurred-at", "2026-05-07")

    lines = kinmem("timeline", "--subject", "gateway").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["2026-05-07", "2026-05-08"]

    day = kinmem("timeline", "--day", "2026-05-08", "--json").json["memories"]
    assert [(one["id"], one["at"]) for one in day] == [(outage, "2026-05-08")]
    assert "Nothing is remembered" in kinmem("timeline", "--day", "2020").out


def test_what_was_so_once_is_marked(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("The staging port is 8080", "--subject", "staging")
    memorized("The staging port is no longer 8080, it is 9090", "--subject", "staging")

    first, *_ = kinmem("timeline", "--subject", "staging").out.splitlines()[1:]
    assert "(until " in first and "8080" in first


def test_an_unreadable_day_is_refused(kinmem: Kinmem) -> None:
    ran = kinmem("timeline", "--day", "someday")

    assert ran.code != 0
    assert "2026-05-08" in ran.err
