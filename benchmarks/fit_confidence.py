"""python -m benchmarks.fit_confidence: the constants of kinmem/recall/confidence.py.

Logistic regression by Newton's method on what recall shows for the seen half of our own questions
(benchmarks/own/abstention) and for benchmarks/own/everyday: one row for each hit, 1 if it answers.
Deterministic. Shared data takes no part in it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.abstention import LIMIT, NOTES, TALK, halves
from benchmarks.baselines import Remembering
from benchmarks.data import ADVERSARIAL, Conversation, abstention_set, own_set
from benchmarks.kins import fresh_kin
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.recall import confidence, pipeline
from kinmem.recall.confidence import Evidence, evidence

RIDGE = 1.0
"""Pulls the coefficients of standardised features towards 0; 757 questions are not many."""
ROUNDS = 50
BY_MEANING_ALONE = [Evidence._fields.index(name) for name in ("nearness", "behind")]

Row = tuple[Evidence, bool]
Floats = NDArray[np.float64]


def main() -> None:
    """Print the constants, ready to be pasted."""
    embedder = Remembering(BuiltinEmbedder())
    rows = [row for one in training() for row in rows_of(one, embedder)]
    features = np.array([told for told, _ in rows], np.float64)
    right = np.array([is_right for _, is_right in rows], np.float64)
    print("BY_MEANING", *_fitted(features, right), sep="\n  ")
    features[:, BY_MEANING_ALONE] = 0.0
    print("BY_WORDS", *_fitted(features, right), sep="\n  ")


def training() -> Iterator[Conversation]:
    """What may be learned from."""
    seen = {name for kind in (NOTES, TALK) for name in halves(kind)["seen"]}
    yield from (one for one in abstention_set() if one.name in seen)
    yield from own_set()["everyday"]


def rows_of(conversation: Conversation, embedder: Embedder) -> Iterator[Row]:
    """The evidence for every hit of every question, and whether it answers."""
    with fresh_kin(embedder, KINMEM_ABSTAIN=False) as kin, _watched() as judged:
        ids = [one.id for one in kin.memorize_many(conversation.notes)]
        kin.settle()
        turn = dict(zip(ids, conversation.ids, strict=True))
        for question in conversation.questions:
            judged.clear()
            kin.recall(question.text, limit=LIMIT)
            gold = frozenset() if question.category == ADVERSARIAL else question.gold
            yield from ((told, turn[id] in gold) for id, told in judged)


@contextmanager
def _watched() -> Iterator[list[tuple[str, Evidence]]]:
    """The ids and evidence of what recall judges meanwhile."""
    judged: list[tuple[str, Evidence]] = []

    def watching(hits: Any, question: Any, found: Any, settings: Any) -> Any:
        ids = [one.candidate.id for one in hits]
        judged.extend(zip(ids, evidence(hits, question, found), strict=True))
        return confidence.judge(hits, question, found, settings)

    setattr(pipeline, "judge", watching)  # noqa: B010 - mypy knows no judge there
    try:
        yield judged
    finally:
        setattr(pipeline, "judge", confidence.judge)  # noqa: B010


def _fitted(features: Floats, right: Floats) -> Iterable[object]:
    middle, spread = features.mean(0), features.std(0)
    spread[spread == 0] = np.inf
    standard = np.column_stack([np.ones(len(features)), (features - middle) / spread])
    ridge = RIDGE * np.diag([0.0] + [1.0] * features.shape[1])
    found = np.zeros(standard.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-standard @ found))
        slope = standard.T @ (chance - right) + ridge @ found
        curve = (standard.T * (chance * (1 - chance))) @ standard + ridge
        found -= np.linalg.solve(curve, slope)
    each = found[1:] / spread
    return round(float(found[0] - each @ middle), 2), [round(float(one), 2) for one in each]


if __name__ == "__main__":
    main()
