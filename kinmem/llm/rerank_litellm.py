"""Cross-encoders of the providers litellm knows: Cohere, Jina, Voyage and others."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from kinmem.errors import Unusable
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_tamed import Way
from kinmem.llm.marks import likely
from kinmem.llm.rerank_chat import UNMARKED


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
        self._way = Way(
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
        self._way.warm()

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. Of texts scored twice the first counts; unknown ones do not.

        Where a score is not within 0 to 1 all are taken for logits.
        """
        return self._way.go(deadline, lambda limit: self._scores(question, texts, limit))

    def _scores(self, question: str, texts: Sequence[str], limit: Deadline) -> list[float]:
        answer = self._way.ask(
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
