"""Rows made of others: what changes one memory, beside its neighbours, which stay true.

The batches pair each change with the memory that it was written for. A judge that saw no others
took the manner of a change for the change: of what stood beside it in the same life it gave up four
in ten (`python -m scripts.judge.neighbours`). The same holds for questions and memories near them.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinmem.learn.occasion import worth_judging
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.llm.judge import BuiltinJudge
from kinmem.llm.relating import ASKS
from scripts.judge.examples import LABELS, VALIDATION, Row, lines

BESIDE_CHANGE, BESIDE_QUESTION = 2, 2
"""Neighbours that each is put beside."""
COUNTS = 0.6
"""How much such a row counts: nobody has looked at it."""
ALIKE = 0.75
"""Cosine, on the scale of Calibration.scaled, from which two memories may be about one thing, so
that one statement may change both."""
LONGEST = 240
"""Characters; what is longer than this is cut before it is judged."""


@dataclass
class _Life:
    """A batch: its memories, and what changes or asks for which of them."""

    memories: list[str] = field(default_factory=list)
    changes: list[tuple[int, str, str]] = field(default_factory=list)
    """The memory's place, what changes it, and the language."""
    questions: list[tuple[int, str, str]] = field(default_factory=list)

    def thinned(self, share: float, chance: random.Random) -> "_Life":
        """Return it with that share of its changes and questions."""
        changes, questions = (
            chance.sample(found, round(share * len(found)))
            for found in (self.changes, self.questions)
        )
        return _Life(self.memories, changes, questions)


def beside_neighbours(most: int, seed: int, *, held: bool = False) -> list[Row]:
    """Return about so many rows at most, of the batches that are trained on or of those that are
    `held` back."""
    lives = {
        batch: life for batch, life in sorted(_lives().items()) if (batch in VALIDATION) is held
    }
    told = sum(len(life.changes) + len(life.questions) for life in lives.values())
    share = min(1.0, most / (BESIDE_CHANGE * max(1, told)))
    chance, embedder = random.Random(seed), BuiltinEmbedder()
    return [
        row
        for batch, life in lives.items()
        for row in _rows(batch, life.thinned(share, chance), embedder)
    ]


def _lives() -> dict[str, _Life]:
    lives: dict[str, _Life] = defaultdict(_Life)
    for folder in ("cards", "groups"):
        for batch, card in lines(folder):
            _add(lives[batch], card["memory"], card)
    for batch, pair in lines("pairs"):
        if pair["label"] in ("replaces", "contradicts"):
            _add(lives[batch], pair["old"], {"lang": pair["lang"], "replaces": [pair["new"]]})
    return lives


def _add(life: _Life, memory: str, card: dict[str, Any]) -> None:
    at, language = len(life.memories), card.get("lang", "en")
    life.memories.append(memory)
    changes = [*card.get("replaces", ()), *card.get("contradicts", ())]
    life.changes += [(at, text, language) for text in changes]
    life.questions += [(at, text, language) for text in card.get("answered", ())]


def _rows(batch: str, life: _Life, embedder: BuiltinEmbedder) -> Iterator[Row]:
    if not (life.changes or life.questions):
        return
    known = np.array(embedder.embed(life.memories))
    like = known @ known.T
    for head, asked, most in (
        ("relation", life.changes, BESIDE_CHANGE),
        ("answers", life.questions, BESIDE_QUESTION),
    ):
        asked = [one for one in asked if len(one[1]) <= LONGEST]
        if not asked:
            continue
        names = ("unrelated", "adds") if head == "relation" else ("unrelated", "about")
        label, other = (LABELS[head].index(name) for name in names)
        cosines = np.array(embedder.embed([text for _, text, _ in asked])) @ known.T
        for (at, text, language), near in zip(asked, cosines, strict=True):
            for beside in _near(text, at, near, like[at], life.memories, embedder)[:most]:
                pair = (beside, text) if head == "relation" else (text, beside)
                yield Row(head, *pair, label, COUNTS, language, batch, (other,))


def _near(
    text: str,
    own: int,
    cosines: Sequence[float],
    like_own: Sequence[float],
    memories: Sequence[str],
    embedder: BuiltinEmbedder,
) -> list[str]:
    """Return the memories that learning would compare with the text, but for its own."""
    scaled = embedder.calibration.scaled
    near = [
        (memories[at], scaled(float(cosines[at])))
        for at in np.argsort(-np.asarray(cosines))[:12]
        if at != own and scaled(float(like_own[at])) < ALIKE and len(memories[at]) <= LONGEST
    ]
    return [near[at][0] for at in worth_judging(text, near)]


def taken_for_changes(rows: Iterable[Row], judge: BuiltinJudge) -> float:
    """Return the share of rows that the judge takes for changes."""
    found = [judge.relations([row.first], row.second or "")[0].replaces >= ASKS for row in rows]
    return sum(found) / max(1, len(found))


if __name__ == "__main__":
    beside = beside_neighbours(1500, 1, held=True)
    asked = [row for row in beside if row.head == "relation"]
    print(f"taken for changes: {taken_for_changes(asked, BuiltinJudge()):.1%} of {len(asked)}")
