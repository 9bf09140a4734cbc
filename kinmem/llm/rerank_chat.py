"""Re-ranking by a chat model that gives marks."""

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, FiniteFloat

from kinmem.errors import Unusable
from kinmem.llm.base import ChatModel
from kinmem.llm.reply import fitting
from kinmem.prompts import render

QUOTED = 300
"""Characters of each memory that are read (KinBot)."""
BEST = 10.0
UNMARKED = 0.5
"""Of the worst mark: a model that marks the answer alone has said what the others are."""


class Score(BaseModel):
    id: int
    score: FiniteFloat


class Scores(BaseModel):
    """The shape of an answer to prompts/rerank.md."""

    scores: Annotated[list[Score], BeforeValidator(fitting(Score))]


class ChatReranker:
    """Implements Reranker with marks from 0 to 10."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self._model = model

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Of marks given twice the first counts; those of unknown ids do not."""
        lines = [
            json.dumps({"id": number, "text": text[:QUOTED]}, ensure_ascii=False)
            for number, text in enumerate(texts, start=1)
        ]
        prompt = render("rerank", question=question, memories="\n".join(lines))
        reply = self._model.answer(prompt, Scores, deadline=deadline)
        given: dict[int, float] = {}
        for one in reply.scores:
            given.setdefault(one.id, min(max(one.score / BEST, 0.0), 1.0))
        known = [given.get(number) for number in range(1, len(texts) + 1)]
        marks = [score for score in known if score is not None]
        if not marks:
            raise Unusable(f"{self.name} scored none of the memories it was shown")
        unmarked = UNMARKED * min(marks)
        return [unmarked if score is None else score for score in known]
