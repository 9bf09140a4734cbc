"""How memories fade, by every worked example of the systems that the curves come from."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinmem.models import CATEGORIES, Living
from kinmem.models.retention import CURVES, Fading, fading, last_used, retention
from tests.tables import each

ROUNDING = 1e-12
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


def fact(importance=5.0, uses=0, idle=0.0, *, category="fact", age=None, relations=0):
    return Fading(category, importance, uses, idle, idle if age is None else age, relations)


# Kore


@pytest.mark.parametrize(
    ("days", "left"),
    [(0, 1.0), (7, 0.851), (14, 0.724), (30, 0.5), (60, 0.25), (90, 0.125), (120, 0.063)],
)
def test_kore_keeps_what_its_table_for_importance_3_says(days, left):
    assert retention(fact(6, idle=days), "kore") == pytest.approx(left, abs=6e-4)


@pytest.mark.parametrize(
    ("level", "half", "tenth"),
    [(1, 7, 23), (2, 14, 46), (3, 30, 100), (4, 90, 299), (5, 365, 3.3 * 365)],
)
def test_kore_has_a_half_life_for_each_importance(level, half, tenth):
    memory = fact(2 * level)

    assert retention(memory._replace(idle_days=half), "kore") == pytest.approx(0.5)
    assert retention(memory._replace(idle_days=tenth), "kore") == pytest.approx(0.1, abs=3e-3)


def test_kore_importance_is_half_of_ours_rounded_up():
    levels = [retention(fact(i, idle=30), "kore") for i in range(1, 11)]

    assert levels == pytest.approx(
        [retention(fact(2 * math.ceil(i / 2), idle=30), "kore") for i in range(1, 11)]
    )
    assert sorted(set(levels)) == [
        pytest.approx(2 ** (-30 / half)) for half in (7, 14, 30, 90, 365)
    ]


def test_kore_five_uses_double_the_half_life():
    """30 x 1.15^5, in the documentation 60 days rounded."""
    assert retention(fact(6, 5, idle=30 * 1.15**5), "kore") == pytest.approx(0.5)
    assert retention(fact(6, 5, idle=60), "kore") == pytest.approx(0.5, abs=0.01)


def test_kore_growth_has_an_end():
    assert retention(fact(10, 10**9, idle=3650), "kore") == pytest.approx(0.5)


# Keyoku


def test_keyoku_remembers_an_identity_after_200_days_and_10_uses():
    """Stability 365 x 2.2 days; 0.78 in the documentation."""
    assert retention(fact(5, 10, 200, category="identity"), "keyoku") == pytest.approx(
        0.7795, abs=1e-4
    )


@each(
    ("category", "stale", "archived", "gone"),
    [
        ("identity", 439, 840, 1681),
        ("preference", 325, 622, 1243),
        ("relationship", 325, 622, 1243),
        ("event", 144, 276, 553),
        ("activity", 108, 207, 414),
        ("plan", 72, 138, 276),
        ("context", 25, 48, 97),
        ("ephemeral", 3.6, 6.9, 13.8),
    ],
)
def test_keyoku_types_reach_the_thresholds_when_its_stabilities_say(
    category, stale, archived, gone
):
    for days, left in ((stale, 0.3), (archived, 0.1), (gone, 0.01)):
        memory = fact(idle=days, category=category)
        assert retention(memory, "keyoku") == pytest.approx(left, rel=0.02)


# KinBot


@pytest.mark.parametrize(
    ("category", "importance", "expected"),
    [
        ("fact", 5, (0.9990, 0.9900, 0.9704, 0.9048, 0.7000)),
        ("fact", 10, (0.9995, 0.9950, 0.9851, 0.9512, 0.8332)),
        ("preference", 5, (0.9970, 0.9704, 0.9139, 0.7408, 0.7)),
        ("decision", 5, (0.9900, 0.9048, 0.7408, 0.7, 0.7)),
        ("decision", 1, (0.9861, 0.8694, 0.7, 0.7, 0.7)),
    ],
)
def test_kinbot_fades_by_age_down_to_its_floor(category, importance, expected):
    left = [
        retention(fact(importance, category=category, age=days), "kinbot")
        for days in (1, 10, 30, 100, 365)
    ]

    assert left == pytest.approx(expected, abs=6e-5)


def test_kinbot_facts_fade_ten_times_more_slowly_than_decisions():
    decision = retention(fact(category="decision", age=10), "kinbot")

    assert retention(fact(age=100), "kinbot") == pytest.approx(decision)


# Kybernesis: decay is 1 - retention


@pytest.mark.parametrize(
    ("memory", "decay"),
    [
        pytest.param(fact(idle=0, age=0), 0.0, id="new"),
        pytest.param(fact(idle=0, age=400, uses=1), 0.10, id="old and just used"),
        pytest.param(fact(idle=9), 0.25, id="alone for 9 days: the end of low decay"),
        pytest.param(fact(idle=30), 0.60, id="alone for 30 days: soft"),
        pytest.param(fact(idle=57), 0.80, id="alone for 57 days: hard"),
        pytest.param(fact(idle=30, relations=10), 0.38, id="well connected, after 30 days"),
    ],
)
def test_kybernesis_decay_meets_every_value_it_names(memory, decay):
    assert 1 - retention(memory, "kybernesis") == pytest.approx(decay, abs=5e-3)


def test_kybernesis_use_resets_decay():
    stale = fact(idle=60, age=365)

    assert 1 - retention(stale, "kybernesis") > 0.8
    assert 1 - retention(stale._replace(idle_days=0), "kybernesis") == pytest.approx(0.1)


def test_kybernesis_frequent_use_and_relations_slow_decay():
    alone, used, known = fact(idle=30), fact(uses=9, idle=30), fact(idle=30, relations=5)

    for slower in (used, known):
        assert retention(slower, "kybernesis") > retention(alone, "kybernesis")


# kin


@pytest.mark.parametrize(
    ("memory", "left"),
    [
        pytest.param(fact(5, 0, 30), 0.8948, id="a fact after a month"),
        pytest.param(fact(9, 10, 200, category="identity"), 0.8370, id="identity, used"),
        pytest.param(fact(1, 0, 3, category="ephemeral"), 0.1889, id="ephemeral"),
    ],
)
def test_kin_fades_by_category_importance_and_use(memory, left):
    assert retention(memory, "kin") == pytest.approx(left, abs=5e-5)


# all of them


@pytest.mark.parametrize("curve", CURVES)
@given(
    category=st.sampled_from(CATEGORIES),
    importance=st.one_of(st.none(), st.floats(1, 10)),
    uses=st.integers(0, 10**9),
    idle=st.floats(-1000, 1e6),
    age=st.floats(-1000, 1e6),
    relations=st.integers(0, 10**6),
)
def test_every_curve_stays_between_1_and_0_and_only_falls(
    curve, category, importance, uses, idle, age, relations
):
    memory = Fading(category, importance, uses, idle, age, relations)
    later = memory._replace(idle_days=idle + 1, age_days=age + 1)

    assert 0 <= retention(later, curve) <= retention(memory, curve) + ROUNDING <= 1 + ROUNDING


@pytest.mark.parametrize("curve", CURVES)
def test_what_comes_from_the_future_is_fresh(curve):
    assert retention(fact(None, idle=-5), curve) == 1.0


@pytest.mark.parametrize("curve", CURVES)
def test_no_importance_counts_as_5(curve):
    assert retention(fact(None, idle=50), curve) == retention(fact(5, idle=50), curve)


# a stored memory


def living(**given):
    made = {
        "id": "m1", "scope": "private", "version": 1, "category": "fact", "importance": 5,
        "trust": 0.8, "channel": "explicit", "pinned": False, "is_tagged": False,
        "set_priority": None, "priority": None, "state": "active", "state_at": None,
        "tier": "warm", "tier_reason": None, "recalled_count": 0, "recalled_at": None,
        "created_at": NOW - timedelta(days=100), "content_updated_at": NOW - timedelta(days=100),
        "expires_at": None,
    }  # fmt: skip
    return Living(**{**made, **given})


@pytest.mark.parametrize(
    ("given", "idle"),
    [
        pytest.param({}, 100, id="never used: since it was stored"),
        pytest.param({"recalled_at": NOW - timedelta(days=2)}, 2, id="since its last use"),
        pytest.param({"content_updated_at": NOW - timedelta(days=3)}, 3, id="since its last edit"),
        pytest.param({"state_at": NOW - timedelta(days=4)}, 4, id="since it was brought back"),
        pytest.param(
            {"state": "stale", "state_at": NOW - timedelta(days=4)},
            100,
            id="growing stale is no use",
        ),
    ],
)
def test_idle_is_the_time_since_somebody_thought_of_it(given, idle):
    assert fading(living(**given), NOW).idle_days == idle


def test_links_of_the_last_week_count_three_times():
    assert fading(living(links=5, recent_links=2), NOW).relations == 9


@pytest.mark.parametrize(
    ("recalled", "edited", "expected"),
    [
        pytest.param(None, 90, 90, id="edited"),
        pytest.param(20, 90, 20, id="recalled later"),
        pytest.param(95, 90, 90, id="edited later"),
        pytest.param(None, 100, 100, id="only stored"),
    ],
)
def test_it_was_used_last_when_it_was_recalled_edited_or_stored(
    recalled: int | None, edited: int, expected: int
) -> None:
    one = living(
        recalled_at=None if recalled is None else NOW - timedelta(days=recalled),
        content_updated_at=NOW - timedelta(days=edited),
    )

    assert last_used(one) == NOW - timedelta(days=expected)
