"""Re-ranking with a cross-encoder of the user's own choice, run here."""

from collections.abc import Sequence
from contextlib import suppress
from math import exp

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.deadline import Deadline
from kinmem.llm.local_model import local_model
from kinmem.llm.onnx import reason

SHORTEST = -30.0
"""Beyond it the sigmoid is 0 to the last digit, and exp would overflow."""


class LocalReranker:
    """Implements Reranker for a network that makes one number of a question and a text.

    Each pair is read alone: in a batch it would be filled up to the longest, and an 8-bit model
    would score it otherwise beside other texts (embed_onnx.py).
    """

    def __init__(self, name: str) -> None:
        self._model = local_model(name, "MEMORY_RERANK_MODEL")
        self.name = self._model.name

    def warm(self) -> None:
        """Loads it; what is wrong with it is told by scores."""
        with suppress(ModelError):
            self._model.load(Deadline(None))

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. The first call loads it, and may be late for that reason alone."""
        time = Deadline(deadline)
        self._model.load(time)
        scores = []
        for text in texts:
            time.check(f"re-ranking {len(texts)} texts with {self.name}")
            scores.append(self._score(question, text))
        return scores

    def _score(self, question: str, text: str) -> float:
        """A question has half of what the model reads at most, the text what that leaves."""
        tokenizer = self._model.tokenizer
        room = self._model.files.length - tokenizer.num_special_tokens_to_add(True)
        asked, read = self._model.tokens(question), self._model.tokens(text)
        asked.truncate(room // 2)
        read.truncate(room - len(asked.ids))
        try:
            made = np.ravel(self._model.network.run(tokenizer.post_process(asked, read, True)))
        except Exception as error:  # onnxruntime documents no common base of its errors
            raise ModelError(f"{self.name} gave no score: {reason(error)}") from error
        if len(made) != 1 or not np.isfinite(made[0]):
            raise ModelError(
                f"{self.name} gave no score for a question and a text, but {made[:3].tolist()};"
                " a cross-encoder with one output is needed in MEMORY_RERANK_MODEL"
            )
        return 1 / (1 + exp(-max(SHORTEST, float(made[0]))))
