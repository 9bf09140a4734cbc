"""Re-ranking by the first model of several that can."""

from collections.abc import Sequence

from kinmem.errors import ModelError
from kinmem.llm.base import Reranker, warm
from kinmem.llm.deadline import Deadline


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
