"""What a sentence of talk is, and whether it is worth being remembered.

A logistic regression over pieces of words, shape and the word tables (features.py), trained by
scripts/train_worth.py from training/talk/. Above it stand vetoes that need no judgement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinmem.models import Category
from kinmem.rules.importance import importance
from kinmem.rules.talk.cues import ASKED_TO_KEEP, STANDING, category_of
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
UNREAL = ("hypothetical", "others_words")
NOTHING = Setting()


class Bar(NamedTuple):
    """From which probability on a sentence is remembered; below that the turn alone is kept."""

    enough: float
    of_answer: float
    """The same for what answers a question: it is short, and the question tells the rest."""
    unreal: float
    """Most that UNREAL may have together: what nobody claims costs more than what is missed."""


ALONE = Bar(enough=0.4, of_answer=0.15, unreal=0.3)
WITH_JUDGE = Bar(enough=0.3, of_answer=0.15, unreal=0.2)
SHARE = 0.5
"""Of the judge in the mean of the log odds. Of the 520 sentences of training/talk/mixed.jsonl, with
neither of the two trained on it, 95.9 % are learned at this bar with 4.9 % junk, and none of the 56
that nobody claims. To learn 92 % costs 12.8 % junk with the regression alone, 7.2 % with the judge
alone and 5.8 % with both."""


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


def judge(text: str) -> Judgement:
    """A statement that stands alone. Never raises."""
    return judgement(text, NOTHING, probabilities([(text, NOTHING)])[0])


def judgement(
    text: str, setting: Setting, found: Mapping[str, float], seen: Mapping[str, float] | None = None
) -> Judgement:
    """The kind of a statement, its category and importance, by the probabilities of its kinds.

    `seen`: as the judge of language gives them, which sees more of the message.
    """
    category, confidence = _category(text, found)
    bar = ALONE
    if seen is not None:
        found, bar = _together(found, seen), WITH_JUDGE
    worth = worth_of(found)
    is_asked = (ASKED_TO_KEEP.match(text) or STANDING.match(text)) is not None
    is_real = sum(found[name] for name in UNREAL) <= bar.unreal
    return Judgement(
        kind=max(found, key=lambda name: found[name]),
        worth=1.0 if is_asked else worth,
        category=category,
        importance=importance(text, category),
        confidence=confidence,
        is_worth=is_asked or is_real and worth >= (bar.of_answer if setting.asked else bar.enough),
    )


def worth_of(found: Mapping[str, float]) -> float:
    """Probability of all kinds together that are worth it."""
    return sum(found[name] for name in KEPT)


def _together(found: Mapping[str, float], seen: Mapping[str, float]) -> dict[str, float]:
    """The mean of the log odds of two judges."""
    odds = {name: seen[name] ** SHARE * found[name] ** (1 - SHARE) for name in KINDS}
    total = sum(odds.values())
    return {name: value / total for name, value in odds.items()}


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
