"""Re-ranking by a chat model that gives marks."""

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, FiniteFloat

from kinmem.clock import Clock, utc_now
from kinmem.errors import Unusable
from kinmem.llm.base import ChatModel, warm
from kinmem.llm.marks import shared_out
from kinmem.llm.reply import fitting
from kinmem.prompts import render, today

QUOTED = 400
"""Characters of each memory that are read; KinBot's 300, and who said it."""
UNMARKED = 0.5
"""Of the worst mark: a model that marks the answer alone has said what the others are."""


class Score(BaseModel):
    id: int
    score: FiniteFloat


class Scores(BaseModel):
    """The shape of an answer to prompts/rerank.md."""

    scores: Annotated[list[Score], BeforeValidator(fitting(Score))]


class ChatReranker:
    """Implements Reranker with marks from 0 to 10; those of a model that gives up to 100 instead
    are taken as such, and beyond that as a fault."""

    def __init__(self, model: ChatModel, now: Clock = utc_now) -> None:
        """`now`: in the user's own zone."""
        self._now = now
        self.name = model.name
        self._model = model

    def warm(self) -> None:
        """Loads what the chat model needs."""
        warm(self._model)

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Of marks given twice the first counts; those of unknown ids do not."""
        lines = [
            json.dumps({"id": number, "text": text[:QUOTED]}, ensure_ascii=False)
            for number, text in enumerate(texts, start=1)
        ]
        day = today(self._now())
        prompt = render("rerank", today=day, question=question, memories="\n".join(lines))
        reply = self._model.answer(prompt, Scores, deadline=deadline)
        given: dict[int, float] = {}
        for one in reply.scores:
            if 1 <= one.id <= len(texts):
                given.setdefault(one.id, one.score)
        if not given:
            raise Unusable(f"{self.name} scored none of the memories it was shown")
        shares = shared_out(given)
        if shares is None:
            raise Unusable(f"{self.name} gave marks that are not from 0 to 10")
        unmarked = UNMARKED * min(shares.values())
        return [shares.get(number, unmarked) for number in range(1, len(texts) + 1)]
