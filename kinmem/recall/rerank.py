"""Stage 5b: the best are read once more, by a model that sees question and memory together."""

from collections.abc import Sequence

from kinmem.llm.base import Reranker
from kinmem.models import Scored

POOL = 3
"""Times the limit: how many are read (KinBot)."""
QUOTED = 512
"""Characters of each that are read (KinBot)."""
TIE = 0.001
"""Of the hybrid score: orders what the model finds equally good."""


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
    read = [_reread(one, score) for one, score in zip(leading, scores, strict=True)]
    return sorted(read, key=lambda one: -one.score) + [_reread(one, 0.0) for one in rest]


def _reread(one: Scored, score: float) -> Scored:
    """The hybrid score's reasons stay: what the model makes of it is one more factor."""
    final = score + TIE * max(one.score, 0.0)
    why = {**one.why, "xrerank": final / one.score} if one.score > 0 else {"+rerank": final}
    return Scored(one.candidate, final, {**why, "rerank": score})
