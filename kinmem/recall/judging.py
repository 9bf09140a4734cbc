"""Stage 8: the judge of language reads the best once more, each together with the question.

Its chance that a memory answers is added to the hybrid score and replaces nothing. It is never
waited for while it is not loaded; what it does not read in its time stays as it was. Turns of talk
it does not read: they answer by what stands around them, and it has learned from statements (own
talk +2.1 / -0.3, the worst conversation 0 / -2.8; an earlier judge on BEAM +1.2 / -1.0, one of four
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

WEIGHT = 0.05
"""Of the chance, beside a cosine that counts whole. Own notes, 360 questions, nDCG@10: 87.8 instead
of 87.7, the worst Kin -0.9; at 0.1 87.8 and -1.7, at 0.4 87.7 and -1.9; the judge alone 70.7, a
blend with the chance that it is about the same 87.5 (`python -m benchmarks judge`)."""
MOST = 20
"""Candidates that are read for one list."""
ROOM = 1000
"""Tokens that are read for one question, in all lists: each costs about 0.11 ms of a processor,
and all together at most 120."""
FOR_NOTES = 1000
"""Of what a prompt touches beside what answers it: about 15 memories, 110 ms."""
PASSAGE = 60
"""Tokens of one text: the passage with most of the question's words."""
LONGEST = 8000
"""Characters in which the passage is looked for."""
HEAD = 400
"""Characters of a question or prompt that are read."""
PAIR = 20
"""Tokens that a pair costs beside its texts: 2 ms, however short."""
ROLES = {"user": None, "assistant": "the assistant", "tool": "a tool"}
"""Who a role is, as the judge is told; a memory is the user's own unless it says otherwise."""


class Judging:
    """The judge's part in answering one question."""

    def __init__(self, judge: Judge | None, question: str, time: Deadline) -> None:
        """`judge`: None where there is none, or the profile wants none."""
        self._judge = judge if judge is not None and judge.ready else None
        self._question = question[:HEAD]
        self._words = content_words(question)
        self._time = time
        self._left = ROOM

    def leave_off(self) -> None:
        """Read nothing more."""
        self._judge = None

    def read(self, scored: Sequence[Scored], room: int = ROOM) -> list[Scored]:
        """Those that it reads with `judge` in their reasons, the chance that they answer, and
        `unrelated`, that they are about something else. It ends with its room or its time."""
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
    """Best first, with what the judge adds for those that it reads: of what is behind the limit,
    those that could come before it. Turns of talk it leaves alone from here on.

    Unless that `is_counted` in this profile, it reads nothing yet.
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
    """What is read of it, as in what the judge has learned from: the text, who said it and when."""
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
