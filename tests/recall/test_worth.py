"""What importance, use, age, names and times do to a score, in numbers."""

from datetime import timedelta
from typing import Any

import pytest

from kinmem.models import Candidate, Scored
from kinmem.recall.profiles import PROFILES
from kinmem.recall.question import understand
from kinmem.recall.weigh import lowered, weigh
from kinmem.settings import RecallSettings
from tests.recall.made import NOW, candidate, scored

ANA = frozenset({"ana"})


def weighed(
    one: Candidate,
    question: str = "x",
    *,
    profile: str = "relevance",
    score: float = 0.5,
    names: frozenset[str] = frozenset(),
    **settings: Any,
) -> Scored:
    asked = understand(question, names, NOW)
    chosen, given = PROFILES[profile], RecallSettings(**settings)
    return weigh([scored(one, score)], asked, chosen, given, NOW)[0]


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat()


# relevance, the default


@pytest.mark.parametrize(
    ("importance", "factor"),
    [(None, 1.0), (5, 1.0), (4, 0.9**0.25), (8, 1.3**0.25), (1, 0.9), (10, 1.1)],
)
def test_importance_moves_a_score_by_a_tenth_at_most(
    importance: float | None, factor: float
) -> None:
    told = weighed(candidate(importance=importance))

    assert told.reasons.worth == pytest.approx(factor)
    assert told.score == pytest.approx(0.5 * factor)


@pytest.mark.parametrize(("uses", "factor"), [(0, 1.0), (1, 1.05), (3, 1.1), (15, 1.2), (999, 1.2)])
def test_use_counts_up_to_a_bound(uses: int, factor: float) -> None:
    assert weighed(candidate(recalled_count=uses)).reasons.worth == pytest.approx(factor**0.25)


def test_age_takes_less_than_a_hundredth() -> None:
    old = weighed(candidate(category="decision", content_updated_at=days_ago(3000)))
    future = weighed(candidate(category="decision", content_updated_at=days_ago(-3000)))

    assert old.reasons.worth == pytest.approx(0.7**0.02)
    assert future.reasons.worth == 1.0


def test_what_is_stale_counts_less_within_the_bounds() -> None:
    stale = weighed(candidate(state="stale", importance=9, recalled_count=15))

    assert stale.reasons.worth == pytest.approx((1.4 * 1.2) ** 0.25 * 0.8)
    assert stale.reasons.stale is None


@pytest.mark.parametrize(("score", "share"), [(0.5, 1.0), (0.3, 1.0), (0.15, 0.5), (0.0, 0.0)])
def test_evidence_is_added_as_far_as_it_is_relevant(score: float, share: float) -> None:
    assert weighed(candidate(evidence=0.4), score=score).reasons.evidence == pytest.approx(
        0.4 * share
    )
    assert weighed(candidate(evidence=0.0), score=score).reasons.evidence is None


@pytest.mark.parametrize(
    ("speaker", "question", "added"),
    [
        ("user", "what is my plan?", 0.3),
        (None, "what is my plan?", 0.3),
        ("assistant", "what is my plan?", None),
        ("Ben", "what is my plan?", None),
        ("user", "what did you recommend?", None),
    ],
)
def test_what_the_user_said_counts_unless_the_assistants_words_are_asked_for(
    speaker: str | None, question: str, added: float | None
) -> None:
    told = weighed(candidate(speaker=speaker), question)

    assert told.reasons.not_by_assistant == added


@pytest.mark.parametrize(
    ("about", "added"),
    [
        pytest.param({"speaker": "Ana"}, 0.25, id="said by her"),
        pytest.param({"subject": "Ána"}, 0.25, id="about her, with an accent"),
        pytest.param({"kin": "ana", "scope": "shared"}, 0.25, id="shared by her"),
        pytest.param({"kin": "ana", "scope": "private"}, None, id="her own Kin's, private"),
        pytest.param({"subject": "Ben"}, None, id="about somebody else"),
    ],
)
def test_the_one_person_named_counts(about: dict[str, str], added: float | None) -> None:
    told = weighed(candidate(**{"kin": "bob", **about}), "where does Ana work?", names=ANA)

    assert told.reasons.named == added


def test_of_two_persons_named_none_counts() -> None:
    both = frozenset({"ana", "ben"})
    told = weighed(candidate(subject="Ana"), "where did Ana meet Ben?", names=both)

    assert told.reasons.named is None


@pytest.mark.parametrize(("days", "added"), [(6, 0.2), (40, None)])
def test_what_was_said_at_the_time_named_counts(days: float, added: float | None) -> None:
    told = weighed(candidate(said_at=days_ago(days)), "Which fence was Ben at last week?")

    assert told.reasons.then == added


def test_equals_stand_in_the_order_in_which_they_were_stored() -> None:
    asked = understand("x", frozenset(), NOW)
    three = [scored(candidate(id), 0.5) for id in ("b", "c", "a")]

    ranked = weigh(three, asked, PROFILES["relevance"], RecallSettings(), NOW)

    assert [one.candidate.id for one in ranked] == ["a", "b", "c"]


# the project at hand


def test_what_belongs_to_another_project_comes_after_what_is_nearly_equal() -> None:
    ranked = lowered(
        [
            scored(candidate("1", place="/other"), 0.50),
            scored(candidate("2", place="/here"), 0.45),
            scored(candidate("3"), 0.44),
            scored(candidate("4", place="/other"), 0.60),
        ],
        ["/here", "/here/too"],
        "ana",
        frozenset,
    )

    assert {one.candidate.id: one.score for one in ranked} == pytest.approx(
        {"4": 0.6 * 0.85, "2": 0.45, "3": 0.44, "1": 0.5 * 0.85}
    )
    assert [one.candidate.id for one in ranked] == ["4", "2", "3", "1"]
    assert [one.reasons.elsewhere for one in ranked] == [0.85, None, None, 0.85]


def test_where_the_project_is_unknown_the_order_stays() -> None:
    given = [scored(candidate("1", place="/other"), 0.1), scored(candidate("2"), 0.5)]

    assert lowered(given, None, "ana", frozenset) == given[::-1]


def test_what_is_trusted_less_comes_after_what_is_nearly_equal() -> None:
    ranked = lowered(
        [
            scored(candidate("1", kin="bob"), 0.50),
            scored(candidate("2", kin="bob"), 0.48),
            scored(candidate("3"), 0.47),
            scored(candidate("4", trust=0.2), 0.55),
        ],
        None,
        "ana",
        lambda: frozenset({"2"}),
    )

    assert {one.candidate.id: one.score for one in ranked} == pytest.approx(
        {"2": 0.48, "3": 0.47, "1": 0.45, "4": 0.44}
    )
    assert [one.reasons.trust for one in ranked] == [None, None, 0.9, 0.8]


# the documented systems


def test_kinbot_multiplies_what_its_documentation_says() -> None:
    told = weighed(
        candidate(category="preference", subject="Ana", importance=10, recalled_count=3),
        "what does Ana prefer?",
        profile="kinbot",
        subject_boost=1.3,
        category_boost=1.2,
    )

    assert told.reasons.times_importance == 1.5
    assert (told.reasons.subject, told.reasons.category) == (1.3, 1.2)
    assert told.score == pytest.approx(0.5 * 1.5 * 1.1 * 1.3 * 1.2 * 1.5)


def test_kinbot_takes_no_importance_as_5_and_no_word_for_a_category() -> None:
    told = weighed(candidate(category="preference"), "where is the key?", profile="kinbot")

    assert told.reasons.times_importance == 1.0
    assert told.reasons.category is None


@pytest.mark.parametrize(
    ("importance", "level"), [(None, 3), (1, 1), (2, 1), (3, 2), (9, 5), (10, 5)]
)
def test_kore_counts_in_fifths(importance: float | None, level: int) -> None:
    told = weighed(candidate(importance=importance), profile="kore")

    assert told.reasons.times_importance == pytest.approx(level / 5)


def test_keyoku_adds_its_signals_up() -> None:
    shares = PROFILES["balanced"].shares
    told = weighed(
        candidate(
            importance=8,
            confidence=0.5,
            content_updated_at=days_ago(30),
            recalled_at=days_ago(1.718281828),
        ),
        profile="balanced",
        score=0.4,
    ).reasons

    assert told.semantic == pytest.approx(shares["semantic"] * 0.4)
    assert told.recency == pytest.approx(shares["recency"] / 2)
    assert told.importance == pytest.approx(shares["importance"] * 0.8)
    assert told.confidence == pytest.approx(shares["confidence"] * 0.5)
    assert told.retention == pytest.approx(shares["retention"] * 0.99366, abs=1e-4)


@pytest.mark.parametrize(("score", "semantic"), [(1.7, 1.0), (-0.2, 0.0)])
def test_keyokus_relevance_stays_between_0_and_1(score: float, semantic: float) -> None:
    told = weighed(candidate(), profile="balanced", score=score)

    assert told.reasons.semantic == PROFILES["balanced"].shares["semantic"] * semantic


def test_without_importance_keyoku_takes_5() -> None:
    told = weighed(candidate(), profile="balanced")

    assert told.reasons.importance == PROFILES["balanced"].shares["importance"] * 0.5
