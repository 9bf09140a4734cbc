"""What a sentence of talk is, and whether it is worth being remembered.

A logistic regression over pieces of words, and shape (features.py), trained by
scripts/train_worth.py from training/talk/. Above it stand vetoes that need no judgement.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from kinmem.language.sentence_borders import sentences
from kinmem.language.talk.features import Setting, pieces
from kinmem.language.talk.statements import ASKED_TO_KEEP, asks
from kinmem.language.talk.wording import Wording
from kinmem.language.weight import Weight
from kinmem.models import Category
from kinmem.text import words

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
ALONE_STANDING = Setting()


class Bar(NamedTuple):
    """From which probability on a sentence is remembered; below that the turn alone is kept."""

    enough: float
    of_answer: float
    """The same for what answers a question: it is short, and the question tells the rest."""
    unreal: float
    """Most that UNREAL may have together: what nobody claims costs more than what is missed."""


ALONE = Bar(enough=0.33, of_answer=0.1, unreal=0.3)
WITH_JUDGE = Bar(enough=0.35, of_answer=0.25, unreal=0.25)
"""Of twelve conversations by another writer that nobody had looked at, with open-talk learned,
93.8 % of what is worth it is learned with 7 % junk, 88.9 and 13.7 % without the judge at .4; ALONE
is lower because short plain facts ("Sofia is a dentist.") are missed from .4 on. What is not
learned is still found as a turn."""
SHARE = 0.5
"""Of the regression in the mean of the log odds; the judge has the rest. A regression over the
judge's 22 chances and the shape of the sentence did worse than the judge alone."""
TOLD_TO_KEEP = 0.9
"""Confidence in the category of what is asked to be kept."""


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

    @property
    def is_unreal(self) -> bool:
        """Whether it is hypothetical, or somebody else's words."""
        return self.kind in UNREAL


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely it is that a statement is of each of KINDS."""

    of: Mapping[str, float]

    @property
    def worth(self) -> float:
        """That it is of a kind that is worth remembering."""
        return sum(self.of[kind] for kind in KEPT)

    @property
    def sureness(self) -> float:
        """How far that is, in log odds, from what would just be kept."""
        return abs(_log_odds(self.worth) - _log_odds(ALONE.enough))

    def judgement(
        self, text: str, setting: Setting, seen: Mapping[str, float] | None = None
    ) -> Judgement:
        """The kind of the statement, its category and importance. `seen`: the chances that the
        judge of language gives, which sees more of the message."""
        found, bar = (self, ALONE) if seen is None else (self._with(seen), WITH_JUDGE)
        of, worth = found.of, found.worth
        is_asked = ASKED_TO_KEEP.match(text) is not None
        is_real = sum(of[kind] for kind in UNREAL) <= bar.unreal
        category = _category(max(KEPT, key=lambda kind: of[kind]))
        enough = bar.of_answer if setting.asked else bar.enough
        return Judgement(
            kind=max(of, key=lambda kind: of[kind]),
            worth=1.0 if is_asked else worth,
            category=category,
            importance=Weight(text).importance(category),
            confidence=TOLD_TO_KEEP if is_asked else min(TOLD_TO_KEEP, max(0.4, worth)),
            is_worth=is_asked or is_real and worth >= enough,
        )

    def _with(self, seen: Mapping[str, float]) -> "Chances":
        """The mean of the log odds of both."""
        odds = {kind: self.of[kind] ** SHARE * seen[kind] ** (1 - SHARE) for kind in KINDS}
        total = sum(odds.values())
        return Chances({kind: value / total for kind, value in odds.items()})


def appraise(text: str, seen: Mapping[str, float] | None = None) -> Judgement:
    """A statement that stands alone; for `seen`, see Chances.judgement. Never raises."""
    return kinds([(text, ALONE_STANDING)])[0].judgement(text, ALONE_STANDING, seen)


def only_asks(text: str) -> bool:
    """Whether every sentence of it is a question, and none asks to keep something."""
    parts = [one.strip() for one in sentences(text) if words(one)]
    return bool(parts) and not any(map(_states, parts))


def _states(text: str) -> bool:
    if ASKED_TO_KEEP.match(text):
        return True
    if not asks(text):
        return appraise(text).kind != "question"
    return Wording(text).states_besides


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))


def _category(kind: str) -> Category:
    return "preference" if kind == "rule" else cast(Category, kind)


def kinds(texts: Sequence[tuple[str, Setting]]) -> list[Chances]:
    """For each text, with what stands around it, how likely it is of each of KINDS."""
    import numpy as np

    weights, scale, bias = _model()
    found = []
    for text, setting in texts:
        held = pieces(text, setting)
        values = np.fromiter(held.values(), np.float32, len(held))
        scores = values @ weights[list(held)] * scale + bias
        odds = np.exp(scores - scores.max())
        found.append(Chances(dict(zip(KINDS, (odds / odds.sum()).tolist(), strict=True))))
    return found


@cache
def _model() -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    import numpy as np

    with np.load(FILE) as file:
        return file["weights"], file["scale"], file["bias"]
