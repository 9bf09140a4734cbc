"""Which pairs the judge is shown: those that could matter, and few of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinmem.learn.occasion import MOST_JUDGED, worth_judging
from kinmem.llm.builtin import BuiltinEmbedder

CARDS = Path(__file__).parents[2] / "training" / "cards" / "cards-1.jsonl"


@pytest.mark.parametrize(
    ("near", "asked"),
    [
        pytest.param([], [], id="nothing is near"),
        pytest.param([("My cat is old.", 0.1)], [], id="neither near nor in its words"),
        pytest.param([("My cat is old.", 0.9), ("I live in Graz.", 0.9)], [1, 0], id="by words"),
        pytest.param([("My cat is old.", 0.3), ("I live in Linz.", 1.0)], [1], id="far behind"),
        pytest.param([("我住在北京。", 0.3), ("猫老了", 0.3)], [0, 1], id="no word alike"),
        pytest.param([(f"{at}", 0.9) for at in range(9)], [*range(MOST_JUDGED)], id="not too many"),
    ],
)
def test_those_are_asked_about(near: list[tuple[str, float]], asked: list[int]) -> None:
    assert worth_judging("I live in Linz now.", near) == asked


def test_of_script_without_spaces_parts_of_words_are_compared() -> None:
    assert worth_judging("我住在上海。", [("猫老了。", 0.3), ("我住在北京。", 0.25)]) == [1, 0]


def test_what_could_matter_is_among_them() -> None:
    """Of a hundred memories beside each; a third of the cards is not English."""
    cards = [json.loads(line) for line in CARDS.read_text(encoding="utf-8").splitlines()]
    embedder = BuiltinEmbedder()
    texts = [card["memory"] for card in cards]
    vectors = embedder.embed(texts)
    found, asked = [], []
    for at, card in enumerate(cards[::4]):
        new = [*card["same"][:1], *card["contradicts"][:1], *card["replaces"][:1]]
        for cosines, text in zip(embedder.embed(new) @ vectors.T, new, strict=True):
            scaled = map(embedder.calibration.scaled, map(float, cosines))
            places = worth_judging(text, list(zip(texts, scaled, strict=True)))
            found.append(4 * at in places)
            asked.append(len(places))
    assert np.mean(found) >= 0.93
    assert np.mean(asked) <= 5
