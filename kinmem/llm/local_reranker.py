"""Re-ranking with a cross-encoder of the user's own choice, run here."""

import math
from collections.abc import Sequence

from kinmem.errors import ModelError
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.local_model import loaded, short_name


class LocalReranker:
    """Implements Reranker for local:<folder> and local:<model of the hub> with one output."""

    def __init__(self, name: str) -> None:
        self.name = short_name(name)
        self._model = Once(f"loading {self.name}", lambda: loaded(name))

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker."""
        limit = Deadline(deadline)
        model = self._model.get(limit)
        found = []
        for text in texts:
            limit.check(f"re-ranking {len(texts)} memories with {self.name}")
            made, _ = model.run(question, text)
            if not made or made[0].shape != (1, 1) or not math.isfinite(made[0][0, 0]):
                raise ModelError(
                    f"{self.name} gave no score for a question and a text; a cross-encoder with"
                    " one output is needed"
                )
            found.append(1 / (1 + math.exp(-float(made[0][0, 0]))))
        return found
