"""Updates give way, look-alikes never: the pairs of benchmarks/own/updates.txt."""

from collections import defaultdict
from pathlib import Path

import pytest

from kinmem.language.change.clash import clash
from kinmem.language.same.similarity import Ladder

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


def shares(pairs):
    """By what is so of the pairs, the shares that are clear and that are found at all."""
    found = defaultdict(list)
    for truth, known, new in pairs:
        found[truth].append(clash(known, new, 0.8, LADDER))
    return {
        truth: (
            sum(one is not None and one.clear for one in clashes) / len(clashes),
            sum(one is not None for one in clashes) / len(clashes),
        )
        for truth, clashes in found.items()
    }


@pytest.mark.parametrize("pairs", [SUPERSEDING, HELD_BACK], ids=["looked at", "held back"])
def test_most_that_say_so_themselves_give_way_and_nothing_that_sounds_like_it(pairs):
    found = shares(pairs)

    assert found["update"][0] >= 0.6
    assert found["clash"][0] == 0.0
    assert found["clash"][1] >= 0.6
    assert found["lookalike"][0] == 0.0
    assert found["lookalike"][1] <= 0.1


def test_form_alone_finds_most_plain_updates_and_ends_hardly_any_look_alike():
    found = shares(PAIRS)

    assert found["update"][0] >= 0.35
    assert found["update"][1] >= 0.7
    assert found["lookalike"][0] <= 0.01
    assert found["lookalike"][1] <= 0.06


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
