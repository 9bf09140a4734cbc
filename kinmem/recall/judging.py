"""Stage 8: the judge reads the best candidates once more, each together with the question.

The judge's chance that a memory answers is added to the hybrid score and replaces nothing. Recall
never waits for the judge to load; what it does not read in time keeps its score. It does not read
turns of talk: they answer through their surroundings, and it was trained on statements (own talk
+2.1 / -0.3, the worst conversation 0 / -2.8; an earlier judge on BEAM +1.2 / -1.0, one of four
conversations -2.8 / -4.6, on LoCoMo -0.1 / +0.5).
"""

import math
from collections.abc import Sequence
from itertools import takewhile

from kinmem.errors import ModelError
from kinmem.llm.base import Judge
from kinmem.llm.deadline import Deadline
from kinmem.models import TURN, Candidate, Found, Scored
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
            text = told(one.candidate, self._words)
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


def told(candidate: Candidate, words: Sequence[str]) -> str:
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
