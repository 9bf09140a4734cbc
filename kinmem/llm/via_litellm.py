"""Embeddings of the providers litellm knows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinmem.llm.base import Calibration
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_tamed import Way
from kinmem.llm.pieces import Window, pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vectors

WINDOW = 8191
"""Tokens that OpenAI's models read; a token has at least one character."""

CAREFUL = Calibration(noise=0.5, duplicate=0.95, near=0.85)
"""For models nobody here has measured: which means all of them, so far."""


class LitellmEmbedder:
    """Implements Embedder for a model by litellm's name, e.g. ollama/nomic-embed-text.

    Without `api_base` and `api_key` litellm takes the provider's own from the environment. Three
    failures in a row close the way to the provider for a while, see Breaker.
    """

    calibration = CAREFUL

    def __init__(
        self,
        model: str,
        *,
        dimension: int | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_seconds: float = 10.0,
        batch: int = 64,
        attempts: int = 2,
    ) -> None:
        """Raises ConfigError if the installed litellm is one of the compromised releases."""
        self.name = f"{model}:{dimension}" if dimension else model
        self._width = dimension
        self._batch = batch
        self._way = Way(
            self.name,
            "embedding",
            {"model": model, "dimensions": dimension, "api_base": api_base, "api_key": api_key},
            wanted="vectors",
            advice="check the model's name and the dimension",
            seconds=deadline_seconds,
            attempts=attempts,
        )

    @property
    def dimension(self) -> int:
        if self._width is None:
            self.embed(["dimension"])
        assert self._width is not None, "embed knows the width once it has answered"
        return self._width

    @property
    def ready(self) -> bool:
        return self._way.ready

    def warm(self) -> None:
        """Imports litellm, which takes seconds; asks the provider nothing."""
        self._way.warm()

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder. Whatever the model's tokenizer, no token is shorter than a character."""
        return pieces(text, Window(min(limit, WINDOW), WINDOW, len, overlap))

    def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> Vectors:
        """See Embedder. Without a deadline of its own the call has `deadline_seconds`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        vectors = self._way.go(deadline, lambda limit: self._embed(texts, limit))
        self._width = vectors.shape[1]
        return vectors

    def _embed(self, texts: Sequence[str], limit: Deadline) -> Vectors:
        starts = range(0, len(texts), self._batch)
        batches = [self._rows(list(texts[at : at + self._batch]), limit) for at in starts]
        return unit_rows(np.concatenate(batches), len(texts), self._width, self.name)

    def _rows(self, texts: list[str], limit: Deadline) -> Vectors:
        answer = self._way.ask(limit, input=texts)
        return unit_rows(_in_order(answer), len(texts), self._width, self.name)


def _in_order(answer: Any) -> list[Any]:
    """The vectors in the order of the texts: a provider may number them and answer in another."""
    try:
        items = sorted(answer.data, key=lambda item: int(item["index"]))
        return [item["embedding"] for item in items]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
