from datetime import UTC, datetime, timedelta

import pytest

from kinmem.models import Candidate, Reasons, Scored
from kinmem.recall.profiles import PROFILES
from kinmem.recall.question import understand
from kinmem.recall.weigh import weigh
from kinmem.settings import RecallSettings

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
WORTH = ("active", None, 1.0, 0.8, 0.0, 0, "", "", None)
BLANK = Candidate("a", "text", None, "fact", None, "assistant", "ana", "private", *WORTH)


def memory(days=0.0, **fields):
    then = (NOW - timedelta(days=days)).isoformat()
    return BLANK._replace(content_updated_at=then, said_at=then, **fields)


def weighed(candidate, profile, question="x", relevance=0.5, **settings):
    scored = [Scored(candidate, relevance, Reasons(relevance))]
    asked = understand(question, frozenset(), NOW)
    return weigh(scored, asked, PROFILES[profile], RecallSettings(**settings), NOW)[0]


# Golden values worked out from KinBot's documentation, with the seeds' factor 1 for
# decisions and 0.3 for preferences instead of the 2 and 0.5 of its code.
@pytest.mark.parametrize(
    ("category", "importance", "days", "decay"),
    [
        pytest.param("fact", 5, 100, 0.9048, id="fact"),
        pytest.param("fact", 10, 365, 0.8332, id="an important fact fades more slowly"),
        pytest.param("decision", 5, 20, 0.8187, id="decision"),
        pytest.param("decision", 5, 100, 0.7, id="never below the floor"),
        pytest.param("fact", 5, 0, 1.0, id="new"),
        pytest.param("fact", 5, -10, 1.0, id="from the future"),
    ],
)
def test_kinbot_decay(category, importance, days, decay):
    one = weighed(memory(days, category=category, importance=importance), "kinbot")

    assert one.reasons.decay == pytest.approx(decay, abs=1e-4)


@pytest.mark.parametrize(
    ("uses", "boost"), [(0, 1), (1, 1.05), (3, 1.1), (10, 1.173), (15, 1.2), (126, 1.349)]
)
def test_kinbot_use(uses, boost):
    assert weighed(memory(recalled_count=uses), "kinbot").reasons.use == pytest.approx(
        boost, abs=1e-3
    )


@pytest.mark.parametrize(
    ("days", "boost"),
    [(0, 1.5), (1, 1.5), (1.01, 1.25), (7, 1.25), (7.01, 1.1), (30, 1.1), (30.01, 1.0)],
)
def test_kinbot_recency(days, boost):
    assert weighed(memory(days), "kinbot").reasons.times_recency == boost
    assert weighed(memory(days), "kinbot", recency_boost=False).reasons.times_recency is None


@pytest.mark.parametrize(
    ("subject", "question", "boosted"),
    [
        ("Al", "where does Al live?", True),
        ("Al", "does he also ski?", False),
        ("José", "what about JOSE?", True),
        ("Ana Maria", "is ana maria in?", True),
    ],
)
def test_a_subject_is_named_in_whole_words(subject, question, boosted):
    one = weighed(memory(subject=subject), "kinbot", question)

    assert (one.reasons.subject == 1.3) is boosted


def test_the_default_lets_nothing_outweigh_a_clearly_better_match():
    best = memory(days=3000, importance=1, category="decision", state="stale", id="best")
    worst = memory(days=0, importance=10, recalled_count=10**6, id="worst")
    scored = [Scored(worst, 0.5, Reasons(0.5)), Scored(best, 0.65, Reasons(0.65))]

    ranked = weigh(
        scored, understand("x", frozenset(), NOW), PROFILES["relevance"], RecallSettings(), NOW
    )

    assert [one.candidate.id for one in ranked] == ["best", "worst"]


@pytest.mark.parametrize(
    ("old", "first"),
    [
        pytest.param(0.50, "new", id="of equals the newer one is first"),
        pytest.param(0.52, "old", id="a slightly better match is first, however old"),
    ],
)
def test_age_only_orders_equals(old, first):
    """Answers grow old with the questions about them: docs/benchmarks.md has what age costs."""
    memories = {"old": memory(days=3000, id="old"), "new": memory(days=0, id="new")}
    scored = [
        Scored(memories[name], score, Reasons(score))
        for name, score in (("old", old), ("new", 0.50))
    ]
    asked = understand("x", frozenset(), NOW)

    ranked = weigh(scored, asked, PROFILES["relevance"], RecallSettings(), NOW)

    assert ranked[0].candidate.id == first


def test_bonuses_do_not_lift_what_is_irrelevant():
    by_user = memory(speaker="user", evidence=0.3)

    assert weighed(by_user, "relevance", relevance=0.01).score < 0.05
    assert weighed(by_user, "relevance", relevance=0.5).score > 0.9


@pytest.mark.parametrize("name", ["recent", "important", "historical", "comprehensive", "balanced"])
def test_keyokus_shares_sum_to_one(name):
    assert sum(PROFILES[name].shares.values()) == pytest.approx(1)
    assert 0 <= weighed(memory(days=10), name).score <= 1


def test_kore_multiplies_relevance_retention_and_importance():
    one = weighed(memory(days=30, importance=6), "kore", relevance=0.8)

    assert one.score == pytest.approx(0.8 * 0.5 * 3 / 5)


@pytest.mark.parametrize("mode", sorted(PROFILES.keys() - {"relevance"}))
def test_what_is_stale_ranks_lower(mode):
    fresh, stale = weighed(memory(10), mode), weighed(memory(10, state="stale"), mode)

    assert stale.score == pytest.approx(0.8 * fresh.score)


def test_in_the_default_staleness_is_bounded_like_all_but_relevance():
    fresh, stale = (weighed(memory(10, state=state), "relevance") for state in ("active", "stale"))

    assert (stale.reasons.worth, stale.score < fresh.score) == (0.9, True)
