"""What may hold no longer says so wherever it is shown, to people and to programs."""

import pytest

from tests.cli.conftest import Kinmem

OLDER, NEWER = "Sam rents our spare room.", "Sam moved out, Priyanka has the room now."


@pytest.fixture
def ids(kinmem: Kinmem) -> tuple[str, str]:
    older, newer = (kinmem("memorize", text, "--json").json["id"] for text in (OLDER, NEWER))
    return older, newer


def test_whatever_shows_a_memory_names_the_newer_one(kinmem, ids):
    older, newer = ids

    told = kinmem("recall", "Who rents the spare room?", "--json").json["memories"]
    assert [(one["id"], one.get("newer")) for one in told] == [(newer, None), (older, newer)]
    listed = kinmem("list", "--json").json["memories"]
    assert {one["id"]: one.get("newer") for one in listed} == {older: newer, newer: None}
    assert kinmem("show", older, "--json").json["newer"] == newer
    for words in (["timeline"], ["explore", "Sam"]):
        told = {one["id"]: one.get("newer") for one in kinmem(*words, "--json").json["memories"]}
        assert told[older] == newer
        assert "(newer: " in kinmem(*words).out
    assert "newer: " in kinmem("recall", "Who rents the spare room?").out
    assert "(newer: " in kinmem("list").out
    assert f"newer: {newer}" in kinmem("show", older).out


def test_one_answer_to_the_review_clears_the_mark(kinmem, ids):
    [issue] = kinmem("review", "--json").json["issues"]
    kinmem("review", "--refuse", issue["id"])

    listed = kinmem("list", "--json").json["memories"]
    assert [one.get("newer") for one in listed] == [None, None]
    assert "newer: " not in kinmem("list").out
