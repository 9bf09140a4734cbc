"""Stage 9: the best are read once more, by a model that sees question and memory together."""

from collections.abc import Sequence
from itertools import pairwise

from kinmem.llm.base import Reranker
from kinmem.llm.deadline import Attempts
from kinmem.models import Candidate, Reasons, Scored

POOL = 3
"""Times the limit: how many are read (KinBot)."""
QUOTED = 512
"""Characters of each that are read (KinBot)."""
TIE = 0.001
"""Of the hybrid score at most: orders what the model finds equally good, and nothing else."""


def rerank(
    question: str, ranked: list[Scored], limit: int, model: Reranker | None, attempts: Attempts
) -> list[Scored]:
    """In the order of the model that reads question and memories together, if there is one."""
    if model is None or len(ranked) < 2:
        return ranked
    seconds = attempts.time.left
    done = attempts.tried("rerank", lambda: reread(question, ranked, limit, model, seconds))
    return ranked if done is None else done


def reread(
    question: str,
    ranked: Sequence[Scored],
    limit: int,
    model: Reranker,
    deadline: float | None = None,
) -> list[Scored]:
    """The leading 3 x limit in the model's order, then the rest as they were. Raises ModelError.

    Its score replaces the sum; the hybrid one orders equals. What the rest scores is put below.
    Several memories that it marks alike, and not as useless, stay as they were: it knows nothing.
    """
    leading, rest = ranked[: POOL * limit], ranked[POOL * limit :]
    texts = [_told(one.candidate) for one in leading]
    scores = model.scores(question, texts, deadline=deadline)
    if len(scores) > 1 and len(set(scores)) == 1 and scores[0] > 0:
        return list(ranked)
    tie = _tie(scores, leading)
    read = [_reread(one, score, tie) for one, score in zip(leading, scores, strict=True)]
    return sorted(read, key=lambda one: -one.score) + [_reread(one, 0.0, tie) for one in rest]


def _told(candidate: Candidate) -> str:
    """Who said it, on which day (UTC) and about whom, then what: else "I" could be anybody."""
    about = candidate.subject and f"about {candidate.subject}"
    said = (candidate.speaker, candidate.said_at[:10], about)
    context = f" ({candidate.source_context})" if candidate.source_context else ""
    return f"{', '.join(filter(None, said))}: {candidate.content}{context}"[:QUOTED]


def _tie(scores: Sequence[float], leading: Sequence[Scored]) -> float:
    """Half of the least difference between two scores is the most that a hybrid one may add."""
    known = sorted(set(scores))
    least = min((b - a for a, b in pairwise(known)), default=1.0)
    return min(TIE, least / 2 / max([1.0, *(one.score for one in leading)]))


def _reread(one: Scored, score: float, tie: float) -> Scored:
    """The hybrid score's reasons stay: what the model makes of it is one more factor."""
    final = score + tie * max(one.score, 0.0)
    if one.score > 0:
        reasons = one.reasons._replace(times_rerank=final / one.score, rerank=score)
    else:
        reasons = Reasons(plus_rerank=final, rerank=score)
    return Scored(one.candidate, final, reasons)
