"""Tiers and their reasons by Kybernesis' tables, and the rulings where those contradict."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinmem.models.retention import Standing, at_once, tier_of

FADED = Standing(
    tier="warm",
    reason=None,
    priority=0.1,
    decay=0.9,
    idle_days=50,
    relations=0,
    recent_links=0,
    pinned=False,
    is_tagged=False,
)
"""Nothing speaks for it."""


def standing(**given: Any) -> Standing:
    return FADED._replace(**given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param({"priority": 0.65}, "high_priority", id="priority"),
        pytest.param({"decay": 0.25, "idle_days": 3.9}, "low_decay", id="decay"),
        pytest.param({"idle_days": 3}, "recent_access", id="access"),
        pytest.param({"relations": 6}, "dense_graph", id="relations"),
        pytest.param({"relations": 12, "recent_links": 4}, "active_connections", id="new links"),
        pytest.param({"pinned": True}, "manual_pin", id="pinned"),
    ],
)
def test_one_reason_is_enough_to_be_hot(given: dict[str, Any], reason: str) -> None:
    assert tier_of(standing(**given)) == ("hot", reason)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param({"priority": 0.3}, "moderate_priority", id="priority"),
        pytest.param({"idle_days": 21}, "recently_accessed", id="access"),
        pytest.param({"relations": 3}, "connected_graph", id="relations"),
        pytest.param({"is_tagged": True}, "manual_tags_present", id="tagged by hand"),
    ],
)
def test_one_reason_is_enough_to_be_warm(given: dict[str, Any], reason: str) -> None:
    assert tier_of(standing(**given)) == ("warm", reason)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"priority": 0.64, "idle_days": 5}, "warm", id="priority just below"),
        pytest.param({"relations": 5}, "warm", id="too few relations for hot"),
        pytest.param({"priority": 0.29}, "archive", id="priority just below moderate"),
        pytest.param({"relations": 2}, "archive", id="too few relations for warm"),
    ],
)
def test_thresholds_are_exact(given: dict[str, Any], expected: str) -> None:
    assert tier_of(standing(**given))[0] == expected


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param({"idle_days": 30, "decay": 0.6}, "stale_and_low_priority", id="soft"),
        pytest.param(
            {"idle_days": 44.9, "decay": 0.8}, "stale_and_low_priority", id="not yet cold"
        ),
        pytest.param({"idle_days": 45, "decay": 0.8}, "cold_and_disconnected", id="hard"),
        pytest.param({"idle_days": 45, "decay": 0.79}, "stale_and_low_priority", id="not hard"),
        pytest.param({"relations": 1}, "stale_and_low_priority", id="cold, but not alone"),
        pytest.param({"archived": True, "priority": 0.9}, "archived", id="its state is archived"),
    ],
)
def test_the_archive_has_two_reasons_and_the_state(given: dict[str, Any], reason: str) -> None:
    assert tier_of(standing(**given)) == ("archive", reason)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"idle_days": 29.9}, id="not idle for 30 days"),
        pytest.param({"decay": 0.59}, id="not decayed"),
        pytest.param({"relations": 2, "recent_links": 1}, id="a new link"),
        pytest.param({"priority": 0.2, "idle_days": 25}, id="the example between the tables"),
    ],
)
def test_what_no_table_names_is_warm(given: dict[str, Any]) -> None:
    assert tier_of(standing(**given)) == ("warm", "between_the_rules")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"idle_days": 3.5, "decay": 0.5}, "hot", id="between three and four days"),
        pytest.param({"idle_days": 4, "decay": 0.1}, "warm", id="low decay alone does not hold it"),
        pytest.param({"idle_days": 4, "priority": 0.65}, "hot", id="priority holds it"),
        pytest.param({"idle_days": 40, "pinned": True}, "hot", id="a pin holds it"),
        pytest.param({"idle_days": 40}, "archive", id="straight into the archive"),
    ],
)
def test_hot_ends_after_four_days_without_use(given: dict[str, Any], expected: str) -> None:
    assert tier_of(standing(tier="hot", reason="recent_access", **given))[0] == expected


def test_the_day_between_changes_nothing() -> None:
    """Three days qualify, four demote."""
    between = standing(idle_days=3.5, decay=0.5)

    assert tier_of(between)[0] == "warm"
    assert tier_of(between._replace(tier="hot", reason="recent_access")) == ("hot", "recent_access")


AWAY = standing(tier="archive", reason="stale_and_low_priority", idle_days=40)


@pytest.mark.parametrize(
    ("one", "used", "expected"),
    [
        pytest.param(AWAY._replace(idle_days=0), True, ("warm", "recently_accessed"), id="used"),
        pytest.param(
            AWAY._replace(is_tagged=True), False, ("warm", "manual_tags_present"), id="tag"
        ),
        pytest.param(AWAY, False, ("archive", "stale_and_low_priority"), id="neither"),
        pytest.param(AWAY._replace(archived=True), True, ("archive", "archived"), id="its state"),
        pytest.param(
            AWAY._replace(reason="archived", idle_days=0),
            False,
            ("warm", "recently_accessed"),
            id="its state no longer",
        ),
        pytest.param(standing(idle_days=0), True, ("warm", None), id="warm waits for the sleep"),
    ],
)
def test_the_archive_is_left_at_once(one: Standing, used: bool, expected: tuple[str, str]) -> None:
    assert at_once(one, used=used) == expected


@given(
    one=st.builds(
        Standing,
        tier=st.sampled_from(["hot", "warm", "archive"]),
        reason=st.none(),
        priority=st.floats(0, 1),
        decay=st.floats(0, 1),
        idle_days=st.floats(0, 100),
        relations=st.integers(0, 9),
        recent_links=st.integers(0, 3),
        pinned=st.booleans(),
        is_tagged=st.booleans(),
        archived=st.booleans(),
    )
)
def test_nothing_swings_between_tiers(one: Standing) -> None:
    tier, reason = tier_of(one)

    assert tier_of(one._replace(tier=tier, reason=reason)) == (tier, reason)
