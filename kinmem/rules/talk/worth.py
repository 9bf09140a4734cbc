"""What a sentence of talk is, and whether it is worth being remembered.

A logistic regression over pieces of words, shape and the word tables (features.py), trained by
scripts/train_worth.py from training/talk/. Above it stand vetoes that need no judgement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kinmem.models import Category
from kinmem.rules.importance import importance
from kinmem.rules.talk.cues import ASKED_TO_KEEP, category_of
from kinmem.rules.talk.features import Setting, pieces
from kinmem.rules.talk.talk import is_own

if TYPE_CHECKING:
    import numpy as np

FILE = Path(__file__).with_name("worth.npz")
KEPT = (
    *("fact", "rule", "decision", "event", "plan"),
    *("relationship", "preference", "knowledge", "identity"),
)
"""Kinds of what is worth it."""
LEFT = (
    *("task", "hypothetical", "question", "others_words", "error", "transient", "feedback"),
    *("table", "log", "paste", "wish", "joke", "smalltalk"),
)
KINDS = (*KEPT, *LEFT)
ENOUGH = 0.4
"""Probability that a sentence is worth it; below that the turn alone is kept."""
ENOUGH_OF_ANSWER = 0.15
"""The same for what answers a question: it is short, and the question tells the rest."""
UNREAL = ("hypothetical", "others_words")
MOST_UNREAL = 0.3
"""Probability of these together: what nobody claims costs more than what is missed."""
ALONE = Setting()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one statement is."""

    kind: str
    """The likeliest of KINDS."""
    worth: float
    """Probability that it is of a kind that is worth remembering."""
    category: Category
    importance: float
    confidence: float
    """In the category; 0.4 to 0.9."""
    is_worth: bool
    """Whether that is enough to remember it."""


def judge(text: str, setting: Setting = ALONE) -> Judgement:
    """The kind of a statement, its category and importance. Never raises."""
    found = probabilities([(text, setting)])[0]
    kind = max(found, key=lambda name: found[name])
    worth = sum(found[name] for name in KEPT)
    is_asked = ASKED_TO_KEEP.match(text) is not None
    least = ENOUGH_OF_ANSWER if setting.asked else ENOUGH
    is_real = sum(found[name] for name in UNREAL) <= MOST_UNREAL
    category, confidence = _category(text, found)
    return Judgement(
        kind=kind,
        worth=1.0 if is_asked else worth,
        category=category,
        importance=importance(text, category),
        confidence=confidence,
        is_worth=is_asked or is_real and worth >= least,
    )


def _category(text: str, found: Mapping[str, float]) -> tuple[Category, float]:
    """As its wording says; where that says nothing, as it is judged."""
    category, confidence = category_of(text, is_own(text))
    kept = max(KEPT, key=lambda name: found[name])
    if kept == "rule" and found["rule"] > 0.5 * sum(found[name] for name in KEPT):
        return "preference", max(confidence, 0.6)
    if category in ("fact", "knowledge", "context", "ephemeral") and kept in CATEGORY_OF:
        return CATEGORY_OF[kept], 0.6
    return category, confidence


CATEGORY_OF: Mapping[str, Category] = {
    "decision": "decision",
    "event": "event",
    "plan": "plan",
    "relationship": "relationship",
    "preference": "preference",
    "identity": "identity",
}


def probabilities(texts: Sequence[tuple[str, Setting]]) -> list[dict[str, float]]:
    """For each text the probability of each of KINDS."""
    import numpy as np

    weights, scale, bias = _model()
    found = []
    for text, setting in texts:
        held = pieces(text, setting)
        values = np.fromiter(held.values(), np.float32, len(held))
        scores = values @ weights[list(held)] * scale + bias
        odds = np.exp(scores - scores.max())
        found.append(dict(zip(KINDS, (odds / odds.sum()).tolist(), strict=True)))
    return found


@cache
def _model() -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    import numpy as np

    with np.load(FILE) as file:
        return file["weights"], file["scale"], file["bias"]
