"""Stage 9: a model that sees question and memory together reads the best candidates once more."""

from collections.abc import Sequence
from itertools import pairwise

from kinmem.llm.base import Reranker
from kinmem.llm.deadline import Attempts
from kinmem.models import Candidate, Reasons, Scored

# Multiple of the limit: how many candidates are read (KinBot).
POOL = 3
# Characters that are read of each (KinBot).
QUOTED = 512
# Most that the hybrid score may add: it orders only what the model scores equally.
TIE = 0.001


def rerank(
    question: str, ranked: list[Scored], limit: int, model: Reranker | None, attempts: Attempts
) -> list[Scored]:
    """Return the candidates in the reranker's order; unchanged if there is no reranker, or if it
    fails."""
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
    """Return the leading 3 x limit in the model's order, then the rest as they were. Raises
    ModelError.

    The model's score replaces the hybrid one, which then only breaks ties. The rest score below all
    of them. If the model gives several memories the same score, above 0, they stay as they were: it
    cannot tell them apart.
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
    """Return who said it, on which day (UTC) and about whom, then the content: without that, "I"
    could be anybody."""
    about = candidate.subject and f"about {candidate.subject}"
    said = (candidate.speaker, candidate.said_at[:10], about)
    context = f" ({candidate.source_context})" if candidate.source_context else ""
    return f"{', '.join(filter(None, said))}: {candidate.content}{context}"[:QUOTED]


def _tie(scores: Sequence[float], leading: Sequence[Scored]) -> float:
    """Return the factor for hybrid scores: it keeps what they add below half of the least
    difference between two of the model's scores."""
    known = sorted(set(scores))
    least = min((b - a for a, b in pairwise(known)), default=1.0)
    return min(TIE, least / 2 / max([1.0, *(one.score for one in leading)]))


def _reread(one: Scored, score: float, tie: float) -> Scored:
    """Keep the hybrid score's reasons and add the model's verdict as one more factor."""
    final = score + tie * max(one.score, 0.0)
    if one.score > 0:
        reasons = one.reasons._replace(times_rerank=final / one.score, rerank=score)
    else:
        reasons = Reasons(plus_rerank=final, rerank=score)
    return Scored(one.candidate, final, reasons)
