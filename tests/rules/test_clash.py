"""Updates give way, look-alikes never: the pairs of benchmarks/own/updates.txt."""

from pathlib import Path

import pytest

from kinmem.rules.change.clash import clash
from kinmem.rules.same.similarity import Ladder

CORPORA = Path(__file__).parent / "corpora"
LADDER = Ladder(duplicate=0.9, near=0.85, related=0.4)
PAIRS = [
    line.split(" | ")
    for line in (Path(__file__).parents[2] / "benchmarks/own/updates.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if line and not line.startswith("#")
]


SUPERSEDING, HELD_BACK = (
    [line.split(" | ") for line in half.splitlines() if " | " in line and line[0] != "#"]
    for half in (CORPORA / "superseding.txt").read_text(encoding="utf-8").split("## held back")
)


@pytest.mark.parametrize(("truth", "known", "new"), SUPERSEDING)
def test_what_is_so_no_longer_gives_way_and_what_sounds_like_it_does_not(truth, known, new):
    found = clash(known, new, 0.8, LADDER)

    assert {
        "update": found is not None and found.clear,
        "clash": found is not None,
        "lookalike": found is None or not found.clear,
    }[truth]


def test_pairs_that_were_not_looked_at_fare_nearly_as_well():
    found = [(truth, clash(known, new, 0.8, LADDER)) for truth, known, new in HELD_BACK]
    updates = [one is not None and one.clear for truth, one in found if truth == "update"]

    assert sum(updates) >= 19
    assert len(updates) == 21
    assert all(one for truth, one in found if truth == "clash")
    assert not any(one and one.clear for truth, one in found if truth == "lookalike")


def fates(kind):
    found = [clash(known, new, 0.8, LADDER) for truth, known, new in PAIRS if truth == kind]
    clear = sum(one is not None and one.clear for one in found)
    return clear / len(found), len(found)


def test_most_updates_are_clear():
    share, count = fates("update")

    assert count >= 120
    assert share >= 0.8


def test_look_alikes_are_not():
    share, count = fates("lookalike")

    assert count >= 200
    assert share <= 0.03


@pytest.mark.parametrize(
    ("known", "new", "kind"),
    [
        pytest.param("Anna lives in Lyon", "Anna lives in Rome", "contradiction", id="other value"),
        pytest.param("Anna lives in Lyon", "Anna now lives in Rome", "update", id="with a cue"),
        pytest.param("I like tea", "I no longer like tea", "update", id="ended"),
        pytest.param("I no longer like tea", "I like tea", "contradiction", id="begun again"),
        pytest.param(
            "Anna lives in Lyon and plays chess", "Anna lives in Rome", "partial", id="says more"
        ),
    ],
)
def test_the_kind_tells_how_they_exclude_each_other(known, new, kind):
    assert clash(known, new, 0.8, LADDER).kind == kind


@pytest.mark.parametrize(
    ("known", "new"),
    [
        pytest.param("I have a dog", "I have a cat now", id="having adds up"),
        pytest.param("I speak French", "I speak German now", id="speaking adds up"),
        pytest.param("Tom no longer works here", "Anna works here", id="somebody else"),
        pytest.param("I drink coffee", "I also drink tea", id="also"),
        pytest.param("The party is outside", "If it rains, the party is inside", id="if"),
        pytest.param("Is the shop open?", "The shop is closed", id="a question"),
    ],
)
def test_both_may_be_so(known, new):
    assert clash(known, new, 0.9, LADDER) is None


def test_what_is_unrelated_does_not_clash():
    assert clash("Anna lives in Lyon", "Anna lives in Rome", 0.3, LADDER) is None
