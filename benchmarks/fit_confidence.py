"""python -m benchmarks.fit_confidence: the constants of kinmem/recall/confidence.py.

Logistic regression by Newton's method on what recall shows for the seen half of our own questions
(benchmarks/own/abstention), for what one Kin of it is asked of another's life, and for
benchmarks/own/everyday: one row for each hit, 1 if it answers. How the judge's verdict counts is
fitted to training/circles/circles-kept.jsonl as well, which the judge has not learned from and
whose questions are untidy. Deterministic. Shared data takes no part in it, but for BELIEVED.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.abstention import ANOTHER_LIFE, LIMIT, NOTES, TALK, halves, with_strange
from benchmarks.baselines import Remembering
from benchmarks.data import ADVERSARIAL, Conversation, Question, own_set
from benchmarks.kins import fresh_kin
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.recall import confidence, pipeline
from kinmem.recall.confidence import (
    BY_MEANING,
    BY_WORDS,
    Evidence,
    Weights,
    evidence,
    odds_of,
    verdict_of,
)

CIRCLES = Path(__file__).parent.parent / "training" / "circles" / "circles-kept.jsonl"
STRANGE = 0.35
"""Weight of a question about another's life: together they count as all others without answer."""
BELIEVED = 0.8
"""Of the coefficient that is found for `lacking`. Only one of 160 answers in the seen half has none
of the kind asked for, so that this is taken for surer than it is: on LoCoMo it is one of 11."""
LACKING = Evidence._fields.index("lacking")
RIDGE = 1.0
"""Pulls the coefficients of standardised features towards 0; 757 questions are not many."""
ROUNDS = 50
BY_MEANING_ALONE = [Evidence._fields.index(name) for name in ("nearness", "behind")]

Row = tuple[Evidence, tuple[float, float] | None, bool, float]
"""Evidence, the judge's verdict, whether it answers, and how much that counts."""
Floats = NDArray[np.float64]


def main() -> None:
    """Print the constants, ready to be pasted."""
    embedder = Remembering(BuiltinEmbedder())
    rows = [row for one in training() for row in rows_of(one, embedder)]
    of_circles = [row for one in circles() for row in rows_of(one, embedder)]
    features = np.array([told for told, _, _, _ in rows], np.float64)
    right = np.array([is_right for _, _, is_right, _ in rows], np.float64)
    weight = np.array([counts for _, _, _, counts in rows], np.float64)
    print("BY_MEANING", *_constants(features, right, weight), sep="\n  ")
    features[:, BY_MEANING_ALONE] = 0.0
    print("BY_WORDS", *_constants(features, right, weight), sep="\n  ")
    read = [row for row in rows + of_circles if row[1] is not None]
    print("READ_BY_MEANING", *_read(read, BY_MEANING), sep="\n  ")
    bare = [(told._replace(nearness=0.0, behind=0.0), *others) for told, *others in read]
    print("READ_BY_WORDS", *_read(bare, BY_WORDS), sep="\n  ")


def training() -> Iterator[Conversation]:
    """What may be learned from."""
    seen = {name for kind in (NOTES, TALK) for name in halves(kind)["seen"]}
    yield from (one for one in with_strange() if one.name in seen)
    yield from own_set()["everyday"]


def circles() -> Iterator[Conversation]:
    """Statements about one circle of people or things, and questions half of which they answer."""
    for number, line in enumerate(CIRCLES.read_text("utf-8").splitlines()):
        circle = json.loads(line)
        ids = [str(at) for at in range(len(circle["statements"]))]
        yield Conversation(
            f"circle {number}",
            ids,
            [{"content": text} for text in circle["statements"]],
            ["one"] * len(ids),
            [
                Question(one["q"], frozenset(map(str, one["answers"])), "circle")
                for one in circle["questions"]
            ],
        )


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
            counts = STRANGE if question.category == ANOTHER_LIFE else 1.0
            yield from ((told, verdict, turn[id] in gold, counts) for id, told, verdict in judged)


@contextmanager
def _watched() -> Iterator[list[tuple[str, Evidence, tuple[float, float] | None]]]:
    """The ids, evidence and verdicts of what recall judges meanwhile."""
    judged: list[tuple[str, Evidence, tuple[float, float] | None]] = []

    def watching(hits: Any, question: Any, found: Any, settings: Any) -> Any:
        told = zip(hits, evidence(hits, question, found), strict=True)
        judged.extend((hit.candidate.id, each, verdict_of(hit.reasons)) for hit, each in told)
        return confidence.judge(hits, question, found, settings)

    setattr(pipeline, "judge", watching)  # noqa: B010 - mypy knows no judge there
    try:
        yield judged
    finally:
        setattr(pipeline, "judge", confidence.judge)  # noqa: B010


def _read(rows: list[Any], weights: Weights) -> Iterable[object]:
    """How the evidence and the verdict are joined, given what the evidence alone says."""
    features = np.array([(odds_of(weights, told), *verdict) for told, verdict, _, _ in rows])
    right = np.array([is_right for _, _, is_right, _ in rows], np.float64)
    weight = np.array([counts for _, _, _, counts in rows], np.float64)
    constant, each = _fitted(features, right, weight, np.zeros(len(right)))
    return round(constant, 2), [round(float(one), 2) for one in each]


def _constants(features: Floats, right: Floats, weight: Floats) -> Iterable[object]:
    """The constant and the coefficients, with that of `lacking` as far as it is believed."""
    _, found = _fitted(features, right, weight, np.zeros(len(right)))
    believed = BELIEVED * found[LACKING]
    others = features.copy()
    others[:, LACKING] = 0.0
    constant, each = _fitted(others, right, weight, believed * features[:, LACKING])
    each[LACKING] = believed
    return round(constant, 2), [round(float(one), 2) for one in each]


def _fitted(features: Floats, right: Floats, weight: Floats, known: Floats) -> tuple[float, Floats]:
    """`known`: what is already known of the logarithm of each row's odds."""
    middle, spread = features.mean(0), features.std(0)
    spread[spread == 0] = np.inf
    standard = np.column_stack([np.ones(len(features)), (features - middle) / spread])
    ridge = RIDGE * np.diag([0.0] + [1.0] * features.shape[1])
    found = np.zeros(standard.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-standard @ found - known))
        slope = standard.T @ (weight * (chance - right)) + ridge @ found
        curve = (standard.T * (weight * chance * (1 - chance))) @ standard + ridge
        found -= np.linalg.solve(curve, slope)
    each = found[1:] / spread
    return float(found[0] - each @ middle), each


if __name__ == "__main__":
    main()
