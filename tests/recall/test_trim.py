import pytest

from kinmem.models import Candidate, Reasons, Scored
from kinmem.recall.trim import trim
from kinmem.settings import RecallSettings
from tests.tables import each


def scored(*scores):
    blank = Candidate(*["x"] * 8, "active", None, 1.0, 0.8, 0.0, 0, "", "", None)
    return [Scored(blank._replace(id=str(n)), score, Reasons()) for n, score in enumerate(scores)]


@each(
    ("scores", "kept"),
    [
        pytest.param([], 0, id="nothing found"),
        pytest.param([0.0, 0.0], 0, id="nothing scores"),
        pytest.param([-0.1], 0, id="worse than nothing"),
        pytest.param([0.4], 1, id="a single one stays"),
        pytest.param([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 7, id="evenly spaced: all stay"),
        pytest.param([1.0, 1.0, 1.0], 3, id="ties stay together"),
        pytest.param([1.0, 0.9, 0.29, 0.28], 2, id="below the ratio"),
        pytest.param([1.0, 0.7, 0.34, 0.33], 2, id="a cliff: less than half of the one before"),
        pytest.param([1.0, 0.5, 0.3], 3, id="exactly half and exactly the ratio stay"),
        pytest.param([0.016, 0.0158, 0.0156], 3, id="small scores of rank fusion count the same"),
    ],
)
def test_as_many_as_are_worth_it(scores, kept):
    assert len(trim(scored(*scores), 10, RecallSettings())) == kept


def test_the_limit_holds_and_adaptive_k_can_be_switched_off():
    hits = scored(1.0, 0.1, 0.05)

    assert len(trim(hits, 2, RecallSettings(adaptive_k=False))) == 2
    assert len(trim(hits, 10, RecallSettings(adaptive_k=False))) == 3
    assert len(trim(hits, 10, RecallSettings(adaptive_k_min_score_ratio=0))) == 1
