import pytest

from kinmem.models import Candidate, Found
from kinmem.recall.fuse import fuse, meaning
from kinmem.recall.profiles import Profile
from kinmem.settings import RecallSettings

BY_SCORE = Profile("by score", "bounded")
BY_RANK = Profile("by rank", "bounded", fusion="rrf")
BLANK = Candidate(*["x"] * 8, "active", None, 1.0, 0.8, 0.0, 0, "", "", None)


def found(cosines, matches, noise=0.2):
    ids = dict.fromkeys([*cosines, *matches])
    near = sorted(cosines, key=lambda id: -max(cosines[id]))
    return Found([BLANK._replace(id=id) for id in ids], cosines, near, matches, noise)


def scores(fused):
    return {one.candidate.id: one.score for one in fused}


def test_score_fusion_adds_three_tenths_of_the_best_match():
    fused = fuse(found({"a": [0.6], "b": [0.5]}, {"b": 8.0, "c": 4.0}), BY_SCORE, RecallSettings())

    assert scores(fused) == pytest.approx({"a": 0.6, "b": 0.8, "c": 0.15})


def test_rank_fusion_gives_kinbots_golden_values():
    settings = RecallSettings(fts_boost=0.5)

    fused = fuse(found({"a": [0.9], "b": [0.5]}, {"a": 9.0, "c": 1.0}), BY_RANK, settings)

    assert scores(fused) == pytest.approx({"a": 1.5 / 61, "b": 1 / 62, "c": 0.5 / 62}, abs=1e-7)


@pytest.mark.parametrize("profile", [BY_SCORE, BY_RANK], ids=lambda one: one.fusion)
def test_meaning_below_the_noise_speaks_for_nothing(profile):
    fused = fuse(found({"a": [0.19], "b": [0.21]}, {}), profile, RecallSettings())

    assert scores(fused).keys() == {"b"}


@pytest.mark.parametrize("profile", [BY_SCORE, BY_RANK], ids=lambda one: one.fusion)
def test_without_vectors_the_words_answer_alone(profile):
    fused = fuse(found({}, {"a": 3.0, "b": 1.5}), profile, RecallSettings())

    ranked = sorted(scores(fused), key=scores(fused).__getitem__, reverse=True)
    assert ranked == ["a", "b"]


def test_more_parts_do_not_make_a_memory_nearer():
    assert meaning([0.5]) == 0.5
    assert meaning([0.5, 0.1, 0.1, 0.1]) < 0.5
    assert meaning([0.1, 0.9]) < 0.9


def test_nothing_found_is_nothing():
    assert fuse(found({}, {}), BY_SCORE, RecallSettings()) == []
    assert fuse(found({}, {}), BY_RANK, RecallSettings()) == []
