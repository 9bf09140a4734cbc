"""Stage 6: models that see question and memory together read the best candidates once more: the
judge, then the configured re-ranker.

The judge's chance that a memory answers is added to the hybrid score and replaces nothing. Recall
never waits for the judge to load; what it does not read in time keeps its score. It does not read
turns of talk: they answer through their surroundings, and it was trained on statements (own talk
+2.1 / -0.3, the worst conversation 0 / -2.8; an earlier judge on BEAM +1.2 / -1.0, one of four
conversations -2.8 / -4.6, on LoCoMo -0.1 / +0.5).
"""

import math
from collections.abc import Sequence
from itertools import pairwise, takewhile

from kinmem.errors import ModelError
from kinmem.llm.base import Judge, Reranker
from kinmem.llm.deadline import Attempts, Deadline
from kinmem.models import TURN, Candidate, Found, Reasons, Scored
from kinmem.recall.confidence import is_talk
from kinmem.recall.excerpt import passage
from kinmem.text import content_words, estimated_tokens

# Weight of the judge's chance, where a cosine has weight 1. On our own notes, 360 questions,
# nDCG@10 is 87.8 instead of 87.7, the worst Kin -0.9; with 0.1 87.8 and -1.7, with 0.4 87.7 and
# -1.9; the judge alone 70.7, a blend with the chance that it is about the same 87.5 (`python -m
# benchmarks judge`).
WEIGHT = 0.05
# Most candidates that are read of one list.
MOST = 20
# Most tokens that are read for one question, in all lists: about 0.11 ms of CPU time each, at most
# 120 ms together.
ROOM = 1000
# Most tokens that are read of what a prompt touches besides its answers: about 15 memories, 110 ms.
FOR_NOTES = 1000
# Tokens of one text: the passage with most of the question's words.
PASSAGE = 60
# Characters of a text in which that passage is looked for.
LONGEST = 8000
# Characters of a question or prompt that are read.
HEAD = 400
# Tokens that a pair costs in addition to its texts: 2 ms, however short they are.
PAIR = 20
# How a role is named to the judge. A memory is taken as the user's own unless it says otherwise.
ROLES = {"user": None, "assistant": "the assistant", "tool": "a tool"}


class Judging:
    """The judge's work on one question."""

    def __init__(self, judge: Judge | None, question: str, time: Deadline) -> None:
        """`judge` is None if there is none, or if the profile wants none."""
        self._judge = judge if judge is not None and judge.ready else None
        self._question = question[:HEAD]
        self._words = content_words(question)
        self._time = time
        self._left = ROOM

    def leave_off(self) -> None:
        """Read nothing more."""
        self._judge = None

    def read(self, scored: Sequence[Scored], room: int = ROOM) -> list[Scored]:
        """Add to the reasons of each hit that is read `judge`, the chance that it answers, and
        `unrelated`, the chance that it is about something else. Stops when `room` (tokens) or the
        time is used up."""
        found = list(scored)
        end = self._left - room
        for at, one in enumerate(found[:MOST]):
            if self._judge is None or one.reasons.judge is not None:
                continue
            text = read_by_judge(one.candidate, self._words)
            cost = PAIR + estimated_tokens(self._question) + estimated_tokens(text)
            seconds = self._time.left
            if not seconds or cost > self._left - max(end, 0):
                break
            self._left -= cost
            try:
                [verdict] = self._judge.answers(self._question, [text], deadline=seconds)
            except ModelError:
                break
            read = one.reasons._replace(judge=verdict.answers, unrelated=verdict.unrelated)
            found[at] = Scored(one.candidate, one.score, read)
        return found


def judged(
    ranked: list[Scored], found: Found, limit: int, judging: Judging, *, is_counted: bool
) -> list[Scored]:
    """Return the candidates best first, with the judge's bonus for those that it reads: the leading
    ones, and those behind the limit that could still move up before it.

    If the leading candidates are turns of talk, the judge reads nothing from here on. Unless
    `is_counted` in this profile, it reads nothing yet.
    """
    if is_talk([one.candidate for one in ranked[:limit]], found):
        judging.leave_off()
    if not is_counted:
        return ranked
    if len(ranked) < 2:
        return judging.read(ranked)
    least = ranked[limit - 1].score - WEIGHT if len(ranked) > limit else -math.inf
    leading = list(takewhile(lambda one: one.score > least, ranked))
    read = [_with_verdict(one) for one in judging.read(leading)]
    return sorted(read, key=lambda one: (-one.score, one.candidate.id)) + list(
        ranked[len(leading) :]
    )


def read_by_judge(candidate: Candidate, words: Sequence[str]) -> str:
    """Return what the judge reads of a candidate, in the form of its training data: the text, who
    said it and when."""
    content = candidate.content[:LONGEST]
    text = passage(content, words, PASSAGE) or content
    speaker = ROLES.get(candidate.speaker or "user", candidate.speaker)
    by = f"said by {speaker}" if speaker else ""
    is_turn = candidate.id.startswith(TURN)
    is_dated = is_turn or candidate.said_at != candidate.content_updated_at
    day = candidate.said_at[:10] if is_dated else ""
    known = f"{by} on {day}" if by and day else by or day
    return f"{text} ({known})" if known else text


def _with_verdict(one: Scored) -> Scored:
    if one.reasons.judge is None:
        return one
    reasons = one.reasons._replace(judged=WEIGHT * one.reasons.judge)
    return Scored(one.candidate, reasons.total, reasons)


# Multiple of the limit: how many candidates the re-ranker reads (KinBot).
POOL = 3
# Characters that it reads of each (KinBot).
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
    texts = [_read_by_reranker(one.candidate) for one in leading]
    scores = model.scores(question, texts, deadline=deadline)
    if len(scores) > 1 and len(set(scores)) == 1 and scores[0] > 0:
        return list(ranked)
    tie = _tie(scores, leading)
    read = [_reread(one, score, tie) for one, score in zip(leading, scores, strict=True)]
    return sorted(read, key=lambda one: -one.score) + [_reread(one, 0.0, tie) for one in rest]


def _read_by_reranker(candidate: Candidate) -> str:
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
