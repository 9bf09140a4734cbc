"""What stood next to a good candidate in the same conversation gains from it."""

import pytest

from kinmem.models import Candidate, Part
from kinmem.recall.fuse import fuse, lift, meaning
from kinmem.recall.profiles import Formula, Fusion, Profile
from kinmem.settings import RecallSettings
from tests.recall.made import candidate, found, scored

FORMULA = Formula(neighbours=0.2, answers=0.15, first_part=0.7, per_ln_parts=0.03)
ASKED = candidate("1", "Where did you park the van?", speaker="Ben")


def answer(content: str, context: str | None = ASKED.content, **fields: str) -> Candidate:
    return candidate("2", content, source_context=context, **{"speaker": "Ana", **fields})


def gains(*ranked: tuple[Candidate, float]) -> dict[str, float]:
    """What each gains; the score is the sum."""
    lifted = lift([scored(one, score) for one, score in ranked], FORMULA)
    before = {one.id: score for one, score in ranked}
    for one in lifted:
        assert one.score == pytest.approx(one.reasons.total)
    return {one.candidate.id: round(one.score - before[one.candidate.id], 6) for one in lifted}


def test_an_answer_gains_from_its_question_and_the_question_from_it() -> None:
    told = answer("Behind the bakery, near the harbour.")

    assert gains((ASKED, 0.5), (told, 0.3)) == {"1": 0.2 * 0.3, "2": 0.35 * 0.5}


def test_only_what_asks_is_answered() -> None:
    stated = candidate("1", "I parked the van.", speaker="Ben")

    assert gains((stated, 0.5), (answer("Good.", stated.content), 0.3))["2"] == 0.2 * 0.5


def test_a_question_that_ends_with_space_still_asks() -> None:
    asked = candidate("1", "Where is it? ", speaker="Ben")

    assert gains((asked, 0.5), (answer("There.", asked.content), 0.3))["2"] == 0.35 * 0.5


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_between_a_person_and_a_model_a_question_gives_no_more_than_a_neighbour(role: str) -> None:
    told = answer("Behind the bakery.", speaker=role)

    assert gains((ASKED, 0.5), (told, 0.3))["2"] == 0.2 * 0.5


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(answer("Behind it.", said_at="2026-06-16T00:00:01"), id="another day"),
        pytest.param(answer("Behind it.", None), id="no context"),
        pytest.param(answer("Behind it.", "Where did you park the vandal?"), id="part of a word"),
        pytest.param(answer("Behind it.", "He said nothing."), id="another context"),
    ],
)
def test_what_did_not_stand_beside_it_gains_nothing(other: Candidate) -> None:
    assert gains((ASKED, 0.5), (other, 0.3)) == {"1": 0.0, "2": 0.0}


def test_case_and_line_breaks_hide_no_quotation() -> None:
    told = answer("There.", "Ben: where did you\n  PARK the van? Ana laughed.")

    assert gains((ASKED, 0.5), (told, 0.3))["2"] > 0


def test_of_a_long_turn_its_beginning_is_quoted() -> None:
    long = candidate("1", "We drove along the coast " * 20 + "to Nice?", speaker="Ben")
    told = answer("Lovely.", long.content[:230])

    assert gains((long, 0.5), (told, 0.3))["2"] > 0


def test_of_two_that_say_the_same_the_later_one_is_meant() -> None:
    first, second = (candidate(id, "Yes, of course.") for id in ("1", "2"))
    follows = candidate("3", "Thank you.", source_context="Yes, of course.")

    assert gains((first, 0.4), (second, 0.5), (follows, 0.1)) == {"1": 0.0, "2": 0.02, "3": 0.1}


def test_one_turn_is_followed_by_one() -> None:
    first = candidate("1", "The ferry was late.")
    second, third = (
        candidate(id, f"Answer {id}", source_context=first.content) for id in ("2", "3")
    )

    assert gains((first, 0.5), (second, 0.1), (third, 0.1)) == {"1": 0.02, "2": 0.1, "3": 0.0}


def test_in_the_middle_the_better_neighbour_counts() -> None:
    first = candidate("1", "The ferry was late.")
    second = candidate("2", "So we took the bus.", source_context=first.content)
    third = candidate("3", "It was full.", source_context=second.content)

    assert gains((first, 0.5), (second, 0.1), (third, 0.3))["2"] == pytest.approx(0.2 * 0.5)
    assert gains((first, 0.3), (second, 0.1), (third, 0.5))["2"] == pytest.approx(0.2 * 0.5)


def test_what_is_worth_nothing_gives_nothing() -> None:
    lifted = lift([scored(ASKED, 0.0), scored(answer("There."), 0.3)], FORMULA)

    assert lifted[1].reasons.neighbours is None


def test_the_order_of_what_is_lifted_stays() -> None:
    lifted = lift([scored(answer("There."), 0.1), scored(ASKED, 0.5)], FORMULA)

    assert [one.candidate.id for one in lifted] == ["2", "1"]


# how near a text of several parts is


def test_the_first_part_says_what_a_long_text_is_about() -> None:
    assert meaning([0.6, 0.2], FORMULA) == pytest.approx(0.6 - 0.03 * 0.6931, abs=1e-4)
    assert meaning([0.2, 0.6], FORMULA) == pytest.approx(0.14 + 0.18 - 0.03 * 0.6931, abs=1e-4)
    assert meaning([0.2, 0.4, 0.6, 0.3], FORMULA) == pytest.approx(0.32 - 0.03 * 1.3863, abs=1e-4)


def test_the_part_of_a_document_has_had_as_many_tries_as_it_has_parts() -> None:
    part = candidate("1", part=Part(2, 8, "", ""))
    profile = Profile("score", "bounded", formula=FORMULA)

    fused = fuse(found([part], {"1": [0.5]}), profile, RecallSettings())

    assert fused[0].score == pytest.approx(0.5 - 0.03 * 2.0794, abs=1e-4)


def test_what_is_far_but_fits_by_words_is_worth_its_words() -> None:
    profile = Profile("score", "bounded", formula=FORMULA)
    far = found([candidate("1"), candidate("2")], {"1": [-0.4]}, {"1": 2.0, "2": 8.0}, noise=0.1)

    fused = {one.candidate.id: one.score for one in fuse(far, profile, RecallSettings())}

    assert fused == pytest.approx({"1": 0.3 * 2 / 8, "2": 0.3})


@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_the_users_threshold_holds_where_it_is_above_the_noise(fusion: Fusion) -> None:
    cosines = {"1": [0.3], "2": [0.5]}
    both = found([candidate("1"), candidate("2")], cosines, noise=0.1, threshold=0.4)

    fused = fuse(both, Profile("x", "bounded", fusion=fusion), RecallSettings())

    assert [one.candidate.id for one in fused] == ["2"]
    assert fused[0].reasons.cosine == (0.5 if fusion == "rrf" else None)


def test_the_settings_fusion_stands_above_the_profiles() -> None:
    one = found([candidate("1")], {"1": [0.5]})
    profile = Profile("x", "bounded", fusion="score")

    assert fuse(one, profile, RecallSettings(fusion="rrf"))[0].score == pytest.approx(1 / 61)
