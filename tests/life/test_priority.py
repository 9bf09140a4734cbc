"""Priority by Kybernesis' weights."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinmem.models.retention import priority

NOTHING = {
    "importance": 1.0,
    "set_priority": 0.0,
    "uses": 0,
    "relations": 0,
    "idle_days": math.inf,
    "trust": 0.0,
}


def of(**given: Any) -> float:
    return priority(**{**NOTHING, **given})


@pytest.mark.parametrize(
    ("given", "share"),
    [
        pytest.param({"set_priority": 1.0}, 0.4, id="set by a person"),
        pytest.param({"uses": 50}, 0.2, id="use"),
        pytest.param({"relations": 10}, 0.2, id="relations"),
        pytest.param({"idle_days": 0}, 0.1, id="recency"),
        pytest.param({"trust": 1.0}, 0.1, id="source"),
    ],
)
def test_each_part_has_its_documented_weight(given: dict[str, Any], share: float) -> None:
    assert of(**given) - of() == pytest.approx(share)


@pytest.mark.parametrize(
    ("importance", "set_priority", "explicit"),
    [(8, None, 0.8), (None, None, 0.5), (8, 0.0, 0.0), (1, 1.0, 1.0)],
)
def test_importance_stands_for_what_nobody_has_set(
    importance: float | None, set_priority: float | None, explicit: float
) -> None:
    found = of(importance=importance, set_priority=set_priority)

    assert found - of() == pytest.approx(0.4 * explicit)


def test_what_is_new_important_and_often_used_is_high_without_anybody_setting_it() -> None:
    """With the explicit part at zero the documented weights could never reach 0.65."""
    found = of(importance=9, set_priority=None, uses=20, idle_days=0, trust=0.8, relations=4)

    assert found >= 0.65


@given(
    importance=st.one_of(st.none(), st.floats(1, 10)),
    set_priority=st.one_of(st.none(), st.floats(0, 1)),
    uses=st.integers(0, 10**12),
    relations=st.integers(0, 10**9),
    idle_days=st.floats(-100, 1e9),
    trust=st.floats(0, 1),
)
def test_it_stays_between_0_and_1(**given: Any) -> None:
    assert 0 <= priority(**given) <= 1


@pytest.mark.parametrize(("given", "expected"), [(9.0, 1.0), (-9.0, 0.0)])
def test_it_stays_between_0_and_1_whatever_a_file_says(given: float, expected: float) -> None:
    assert of(set_priority=given) == expected
