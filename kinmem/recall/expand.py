"""Stage 4: also search for other wordings of the question and for an invented answer (HyDE).

A wording is trusted as far as it is near the question. A hit of a wording is trusted as far as the
wording, or as far as the question itself supports the hit. So a model's inventions change little,
and its good guesses much. Measured with wordings that are the answers and with random ones:
docs/benchmarks.md.
"""

import logging
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from functools import partial

from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import ChatModel, ChatModels
from kinmem.llm.deadline import Attempts, Deadline, awaited, started
from kinmem.llm.prompts import render, today
from kinmem.models import Reasons, Scored
from kinmem.recall.fuse import fuse
from kinmem.recall.profiles import Formula
from kinmem.recall.question import KNOWN_SUBJECTS
from kinmem.recall.search import Inquiry, Wording, search_beside
from kinmem.settings import RecallSettings
from kinmem.store.base import Store

logger = logging.getLogger(__name__)

VARIATIONS = 3
# How many known subjects the prompt mentions: those most similar to the question.
SUBJECTS = 20
LONGEST = 500


class Expansion:
    """Wordings that models write while the question itself is searched for."""

    def __init__(
        self, text: str, store: Store, models: ChatModels, attempts: Attempts, now: datetime
    ) -> None:
        """Start the models at once. `now` is in the Kin's zone."""
        self._attempts = attempts
        self._begun: list[tuple[str, Future[list[Wording]]]] = []
        self._thinking = attempts.time
        if not models.expands:
            return
        self._thinking = Deadline(left := attempts.share(later=models.reranks))
        vary, imagine, day = models.multi_query, models.hyde, today(now)
        if vary is not None:
            subjects = store.subjects("", KNOWN_SUBJECTS)
            self._begin(
                "multi_query",
                lambda: [
                    Wording(one, False) for one in variations(text, subjects, vary, day, left)
                ],
            )
        if imagine is not None:
            self._begin("hyde", lambda: [Wording(imagined(text, imagine, day, left), True)])

    def _begin(self, stage: str, work: Callable[[], list[Wording]]) -> None:
        self._begun.append((stage, started(work)))

    def expand(
        self, scored: Sequence[Scored], inquiry: Inquiry, settings: RecallSettings
    ) -> list[Scored]:
        """Add what is found by the wordings that arrive in time.

        Returns the candidates unchanged if there are no wordings, or if the embedder fails; the
        failure is then noted for every model that took part.
        """
        wordings: list[Wording] = []
        for stage, future in self._begun:
            wait = partial(awaited, self._thinking, stage, future)
            wordings += self._attempts.tried(stage, wait) or []
        if not wordings:
            return list(scored)
        try:
            beside = search_beside(inquiry, wordings)
        except ModelError as error:
            logger.info("other wordings are left out: %s", error)
            self._attempts.note(stage for stage, _ in self._begun)
            return list(scored)
        profile = inquiry.profile
        others = [(near, fuse(found, profile, settings)) for near, found in beside]
        return join(scored, others, profile.formula)


def variations(
    text: str,
    subjects: Sequence[str],
    model: ChatModel,
    day: str,
    deadline: float | None = None,
) -> list[str]:
    """Return at most three wordings, none of them the question itself. Raises ModelError."""
    from rapidfuzz import fuzz, process  # imported late: 90 ms that a hook need not spend

    from kinmem.llm.reply import Variations

    known = process.extract(text, subjects, scorer=fuzz.token_set_ratio, limit=SUBJECTS)
    told = "\n".join(subject for subject, _, _ in known)
    prompt = render("vary", today=day, subjects=told, question=text)
    reply = model.answer(prompt, Variations, deadline=deadline)
    plain = (" ".join(one.split()) for one in reply.questions)
    fit = dict.fromkeys(one for one in plain if 0 < len(one) < LONGEST)
    return [one for one in fit if one.casefold() != text.casefold()][:VARIATIONS]


def imagined(text: str, model: ChatModel, day: str, deadline: float | None = None) -> str:
    """Return a statement that could answer the question (HyDE). Raises ModelError."""
    from kinmem.llm.reply import Imagined  # imported late: 80 ms that a hook need not spend

    prompt = render("imagine", today=day, question=text)
    reply = model.answer(prompt, Imagined, deadline=deadline)
    answer = " ".join(reply.answer.split())
    if not 0 < len(answer) < LONGEST:
        raise Unusable(f"{model.name} gave no statement that can be searched for")
    return answer


def join(
    plain: Sequence[Scored], others: Sequence[tuple[float, Sequence[Scored]]], formula: Formula
) -> list[Scored]:
    """Return one entry per candidate, in no particular order. `expansion` is the most that a single
    wording adds: 0.7 of the candidate's score times the trust in it.

    `others` holds for each wording how near it is to the question (0 to 1), and what it found,
    scored like `plain`. The trust is that nearness times the greater of the nearness and the root
    of the candidate's share of the best plain score.
    """
    best = max((one.score for one in plain if one.score > 0), default=1.0)
    support = {one.candidate.id: math.sqrt(max(one.score, 0.0) / best) for one in plain}
    added: dict[str, tuple[float, Scored]] = {}
    for nearness, found in others:
        for one in found:
            id = one.candidate.id
            trust = nearness * max(nearness, support.get(id, 0.0))
            gain = formula.expansion * trust * one.score
            if gain > added.get(id, (0.0, one))[0]:
                added[id] = gain, one
    joined = {one.candidate.id: one for one in plain}
    for id, (gain, one) in added.items():
        known = joined.get(id) or Scored(one.candidate, 0.0, Reasons())
        reasons = known.reasons._replace(expansion=gain)
        joined[id] = replace(known, score=known.score + gain, reasons=reasons)
    return list(joined.values())
