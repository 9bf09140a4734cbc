"""Stage 5b: the best are read once more, by a model that sees question and memory together."""

from collections.abc import Sequence
from itertools import pairwise

from kinmem.llm.base import Reranker
from kinmem.models import Scored

POOL = 3
"""Times the limit: how many are read (KinBot)."""
QUOTED = 512
"""Characters of each that are read (KinBot)."""
TIE = 0.001
"""Of the hybrid score at most: orders what the model finds equally good, and nothing else."""


def rerank(
    question: str,
    ranked: Sequence[Scored],
    limit: int,
    model: Reranker,
    deadline: float | None = None,
) -> list[Scored]:
    """The leading 3 x limit in the model's order, then the rest as they were. Raises ModelError.

    Its score replaces the sum; the hybrid one orders equals. What the rest scores is put below.
    """
    leading, rest = ranked[: POOL * limit], ranked[POOL * limit :]
    texts = [one.candidate.content[:QUOTED] for one in leading]
    scores = model.scores(question, texts, deadline=deadline)
    tie = _tie(scores, leading)
    read = [_reread(one, score, tie) for one, score in zip(leading, scores, strict=True)]
    return sorted(read, key=lambda one: -one.score) + [_reread(one, 0.0, tie) for one in rest]


def _tie(scores: Sequence[float], leading: Sequence[Scored]) -> float:
    """Half of the least difference between two scores is the most that a hybrid one may add."""
    known = sorted(set(scores))
    least = min((b - a for a, b in pairwise(known)), default=1.0)
    return min(TIE, least / 2 / max([1.0, *(one.score for one in leading)]))


def _reread(one: Scored, score: float, tie: float) -> Scored:
    """The hybrid score's reasons stay: what the model makes of it is one more factor."""
    final = score + tie * max(one.score, 0.0)
    why = {**one.why, "xrerank": final / one.score} if one.score > 0 else {"+rerank": final}
    return Scored(one.candidate, final, {**why, "rerank": score})
