"""Re-rankers that are asked over a network: cross-encoders, chat models, and one after the other.

What they give is brought to 0 to 1 without a change of order.
"""

import json
from collections.abc import Mapping, Sequence
from math import exp, isfinite
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, FiniteFloat

from kinmem.clock import Clock, utc_now
from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import ChatModel, Reranker, warm
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_client import LitellmClient
from kinmem.llm.prompts import render, today
from kinmem.llm.reply import fitting

QUOTED = 400
"""Characters of each memory that are read; KinBot's 300, and who said it."""
UNMARKED = 0.5
"""Of the worst mark: a model that marks the answer alone has said what the others are."""

STEEPEST = 30.0
"""Logit whose sigmoid can still be told from 1: whatever is beyond makes all of them smaller."""
SCALES = (10.0, 100.0)
"""Best marks: what a chat model is asked for, and what some give nevertheless."""


class FirstThatCan:
    """Implements Reranker; the next one is asked if one fails, all within one deadline.

    Each has an equal share of what those before it have left: one that hangs leaves the next time.
    """

    def __init__(self, models: Sequence[Reranker]) -> None:
        self.name = models[0].name
        self._models = models

    def warm(self) -> None:
        """Loads what each of them needs."""
        for model in self._models:
            warm(model)

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Raises the last one's ModelError."""
        limit = Deadline(deadline)
        *others, last = self._models
        for left, model in zip(range(len(self._models), 1, -1), others, strict=True):
            try:
                return model.scores(question, texts, deadline=deadline and limit.left / left)
            except ModelError:
                limit.check("re-ranking")
        return last.scores(question, texts, deadline=deadline and limit.left)


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


class CrossEncoder:
    """Implements Reranker for a model by litellm's name, e.g. cohere/rerank-v3.5."""

    def __init__(
        self,
        model: str,
        *,
        name: str | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_seconds: float = 10.0,
        attempts: int = 2,
    ) -> None:
        """`name`: what the user calls it. Raises ConfigError for a compromised litellm."""
        self.name = name or model
        self._client = LitellmClient(
            self.name,
            "rerank",
            {"model": model, "api_base": api_base, "api_key": api_key},
            wanted="scores",
            advice="check the model's name, and that it is one that re-ranks",
            seconds=deadline_seconds,
            attempts=attempts,
        )

    def warm(self) -> None:
        """Imports litellm, which takes seconds; asks the provider nothing."""
        self._client.warm()

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Of texts scored twice the first counts; unknown ones do not.

        Where a score is not within 0 to 1 all are taken for logits.
        """
        return self._client.go(deadline, lambda limit: self._scores(question, texts, limit))

    def _scores(self, question: str, texts: Sequence[str], limit: Deadline) -> list[float]:
        answer = self._client.ask(
            limit,
            query=question,
            documents=list(texts),
            top_n=len(texts),
            return_documents=False,  # litellm asks for them all unless it is told
        )
        given: dict[int, float] = {}
        for index, score in _results(answer):
            if index < len(texts):
                given.setdefault(index, score)
        if not given:
            raise Unusable(f"{self.name} scored none of the memories it was shown")
        given = likely(given)
        unmarked = UNMARKED * min(given.values())
        return [given.get(at, unmarked) for at in range(len(texts))]


def _results(answer: Any) -> list[tuple[int, float]]:
    """(index, relevance) as the provider gives them; those that are none are left out."""
    found = []
    for one in getattr(answer, "results", None) or []:
        try:
            index, score = one["index"], float(one["relevance_score"])
        except (KeyError, TypeError, ValueError):
            continue
        if isinstance(index, int) and index >= 0 and isfinite(score):
            found.append((index, score))
    return found


def likely(scores: Mapping[int, float]) -> dict[int, float]:
    """A cross-encoder's scores: as they are if all are within 0 to 1, else they are logits, of
    which this is the sigmoid."""
    if all(0 <= score <= 1 for score in scores.values()):
        return dict(scores)
    shrunk = STEEPEST / max(STEEPEST, *map(abs, scores.values()))
    return {at: 1 / (1 + exp(-shrunk * score)) for at, score in scores.items()}


def shared_out(marks: Mapping[int, float]) -> dict[int, float] | None:
    """Marks of 0 to 10 as shares of the best, of 0 to 100 if any is over 10; None: of neither.

    Some mark with -1 what is of no use: what lies below 0 moves the worst mark there.
    """
    worst, most = min([0.0, *marks.values()]), max([0.0, *marks.values()])
    best = next((scale for scale in SCALES if most <= scale), None)
    if best is None or worst < -best:
        return None
    return {at: (mark - worst) / (best - worst) for at, mark in marks.items()}
