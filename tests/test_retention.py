import pytest

from kinmem.retention import Fading, retention


@pytest.mark.parametrize(
    ("curve", "memory", "left"),
    [
        pytest.param("kore", Fading("fact", 6, 0, 7), 0.851, id="kore: importance 3, a week"),
        pytest.param("kore", Fading("fact", 6, 0, 30), 0.5, id="kore: one half-life"),
        pytest.param("kore", Fading("fact", 5, 0, 120), 0.0625, id="kore: four half-lives"),
        pytest.param(
            "keyoku", Fading("identity", 5, 10, 200), 0.7795, id="keyoku: the seed's example"
        ),
        pytest.param("kin", Fading("fact", 5, 0, 30), 0.8948, id="kin: a fact after a month"),
        pytest.param("kin", Fading("identity", 9, 10, 200), 0.8370, id="kin: identity, used"),
        pytest.param("kin", Fading("ephemeral", 1, 0, 3), 0.1889, id="kin: ephemeral"),
        pytest.param("kin", Fading("fact", None, 0, -5), 1.0, id="from the future: fresh"),
        pytest.param("kore", Fading("fact", 10, 10**9, 0), 1.0, id="used beyond counting"),
    ],
)
def test_golden_values(curve, memory, left):
    assert retention(memory, curve) == pytest.approx(left, abs=5e-4)
