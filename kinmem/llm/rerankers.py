"""Re-rankers: cross-encoders over the network or in this process, chat models, and one as fallback
for another.

Scores are brought to 0 to 1 without changing their order.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import exp, isfinite
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, FiniteFloat

from kinmem.clock import Clock, utc_now
from kinmem.errors import ModelError, Unusable
from kinmem.llm.base import ChatModel, Reranker, warm
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_client import LitellmClient
from kinmem.llm.onnx import local_model, reason, run
from kinmem.llm.prompts import render, today
from kinmem.llm.reply import fitting

# Characters of each memory to read: KinBot's 300, and who said it.
QUOTED = 400
# Share of the lowest mark given to unmarked texts: a model that marks only the answer has said what
# the others are worth.
UNMARKED = 0.5

# Largest logit whose sigmoid differs from 1. If any is larger, all are scaled down.
STEEPEST = 30.0
# Highest marks: what a chat model is asked for, and what some give instead.
SCALES = (10.0, 100.0)


class FirstThatCan:
    """Implements Reranker. If one model fails the next is asked, all within one deadline.

    Each model gets an equal share of the time that is left, so that one that hangs leaves time for
    the next.
    """

    def __init__(self, models: Sequence[Reranker]) -> None:
        self.name = models[0].name
        self._models = models

    def warm(self) -> None:
        """Load what each of them needs."""
        for model in self._models:
            warm(model)

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. If all fail, raises the ModelError of the last."""
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
    """Implements Reranker by asking a chat model for marks from 0 to 10.

    If the model gives marks up to 100 they are read as such; higher marks are a fault.
    """

    def __init__(self, model: ChatModel, now: Clock = utc_now) -> None:
        """`now` returns the time in the user's zone."""
        self._now = now
        self.name = model.name
        self._model = model

    def warm(self) -> None:
        """Load what the chat model needs."""
        warm(self._model)

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Of two marks for a text the first counts; unknown ids are ignored."""
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
        """`name` is what the user calls the model. Raises ConfigError for a compromised litellm."""
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
        """Import litellm, which takes seconds. Asks the provider nothing."""
        self._client.warm()

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Of two scores for a text the first counts; unknown texts are ignored.

        If any score is not between 0 and 1, all are taken for logits.
        """
        return self._client.go(deadline, lambda limit: self._scores(question, texts, limit))

    def _scores(self, question: str, texts: Sequence[str], limit: Deadline) -> list[float]:
        answer = self._client.ask(
            limit,
            query=question,
            documents=list(texts),
            top_n=len(texts),
            return_documents=False,  # litellm's default requests them all
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
    """Return (index, relevance) as the provider gives them, leaving out what is not valid."""
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
    """Return scores between 0 and 1: unchanged if all are, otherwise they are logits, and their
    sigmoid is returned."""
    if all(0 <= score <= 1 for score in scores.values()):
        return dict(scores)
    shrunk = STEEPEST / max(STEEPEST, *map(abs, scores.values()))
    return {at: 1 / (1 + exp(-shrunk * score)) for at, score in scores.items()}


def shared_out(marks: Mapping[int, float]) -> dict[int, float] | None:
    """Scale marks of 0 to 10, or of 0 to 100 if any is above 10, to 0 to 1; None if they are
    neither.

    Some models mark useless texts with -1, so the lowest mark below 0 becomes the zero point.
    """
    worst, most = min([0.0, *marks.values()]), max([0.0, *marks.values()])
    best = next((scale for scale in SCALES if most <= scale), None)
    if best is None or worst < -best:
        return None
    return {at: (mark - worst) / (best - worst) for at, mark in marks.items()}


# Lower bound for a logit: below it the sigmoid is 0 to the last digit, and exp would overflow.
SHORTEST = -30.0


class LocalReranker:
    """Implements Reranker for a network with a single output for a question and a text.

    Each pair is read alone. In a batch it would be padded to the longest, and an 8-bit model would
    score it differently beside other texts (onnx.py).
    """

    def __init__(self, name: str) -> None:
        self._model = local_model(name, "MEMORY_RERANK_MODEL")
        self.name = self._model.name

    def warm(self) -> None:
        """Load the model. If that fails, scores reports the reason."""
        with suppress(ModelError):
            self._model.load(Deadline(None))

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. The first call loads the model, and may be late for that reason alone."""
        time = Deadline(deadline)
        self._model.load(time)
        scores = []
        for text in texts:
            time.check(f"re-ranking {len(texts)} texts with {self.name}")
            scores.append(self._score(question, text))
        return scores

    def _score(self, question: str, text: str) -> float:
        """Score one text.

        The question gets at most half of what the model reads, the text the rest.
        """
        tokenizer = self._model.tokenizer
        room = self._model.files.length - tokenizer.num_special_tokens_to_add(True)
        asked, read = self._model.tokens(question), self._model.tokens(text)
        asked.truncate(room // 2)
        read.truncate(room - len(asked.ids))
        try:
            made = np.ravel(run(self._model.network, tokenizer.post_process(asked, read, True)))
        except Exception as error:  # onnxruntime documents no common base for its errors
            raise ModelError(f"{self.name} gave no score: {reason(error)}") from error
        if len(made) != 1 or not np.isfinite(made[0]):
            raise ModelError(
                f"{self.name} gave no score for a question and a text, but {made[:3].tolist()};"
                " a cross-encoder with one output is needed in MEMORY_RERANK_MODEL"
            )
        return 1 / (1 + exp(-max(SHORTEST, float(made[0]))))
