"""Embedding models of the providers that litellm knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinmem.llm.base import Calibration, Purpose, Window
from kinmem.llm.deadline import Deadline
from kinmem.llm.litellm_client import LitellmClient
from kinmem.llm.prompts import pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vectors

# Tokens that OpenAI's models read. A token has at least one character.
WINDOW = 8191

# For models that have not been measured, which so far means all of them.
CAREFUL = Calibration(noise=0.5, duplicate=0.95, near=0.85, measured=False)


@dataclass(frozen=True)
class Manner:
    """How a provider is told the purpose of texts."""

    fields: Mapping[Purpose, Mapping[str, Any]] = field(default_factory=dict)
    """Additional fields of the request."""
    opening: Mapping[Purpose, str] = field(default_factory=dict)
    """What each text begins with."""

    def said(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """Return the part of the request that depends on the texts."""
        opening = self.opening.get(purpose, "")
        return {"input": [_text(opening + text) for text in texts], **self.fields.get(purpose, {})}


PLAIN = Manner()


class LitellmEmbedder:
    """Implements Embedder for a model by litellm's name, e.g. ollama/nomic-embed-text.

    Without `api_base` and `api_key` litellm takes the provider's own from the environment. After
    three failures in a row the provider is not asked for a while (see Breaker).
    """

    calibration = CAREFUL

    def __init__(
        self,
        model: str,
        *,
        name: str | None = None,
        dimension: int | None = None,
        width: int | None = None,
        manner: Manner = PLAIN,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_seconds: float = 10.0,
        batch: int = 64,
        attempts: int = 2,
    ) -> None:
        """`name` is stored beside the vectors. `dimension` is requested from the provider; `width`
        is the known width if none is requested.

        Raises ConfigError if the installed litellm is one of the compromised releases.
        """
        name = name or model
        self.name = f"{name}:{dimension}" if dimension else name
        self._width = dimension or width
        self._manner = manner
        self._batch = batch
        self._client = LitellmClient(
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
        return self._client.ready

    def warm(self) -> None:
        """Import litellm, which takes seconds. Asks the provider nothing."""
        self._client.warm()

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder."""
        return pieces(text, self.window(limit, overlap))

    def window(self, limit: int, overlap: int = 0) -> Window:
        """See Embedder.

        It counts characters, since no token of any tokenizer is shorter than one.
        """
        return Window(min(limit, WINDOW), WINDOW, len, overlap)

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """See Embedder. `deadline` defaults to `deadline_seconds`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        vectors = self._client.go(deadline, lambda limit: self._embed(texts, purpose, limit))
        self._width = vectors.shape[1]
        return vectors

    def _embed(self, texts: Sequence[str], purpose: Purpose, limit: Deadline) -> Vectors:
        starts = range(0, len(texts), self._batch)
        batches = [self._rows(texts[at : at + self._batch], purpose, limit) for at in starts]
        return unit_rows(np.concatenate(batches), len(texts), self._width, self.name)

    def _rows(self, texts: Sequence[str], purpose: Purpose, limit: Deadline) -> Vectors:
        answer = self._client.ask(limit, **self._manner.said(texts, purpose))
        return unit_rows(_in_order(answer), len(texts), self._width, self.name)


def _text(text: str) -> str:
    """Put a space before text that looks like a data: address, which litellm would send to Cohere
    and Jina as a picture."""
    return f" {text}" if text.startswith("data:") else text


def _in_order(answer: Any) -> list[Any]:
    """Return the vectors in the order of the texts, which the provider may number and return in
    another.

    Empty if a number occurs twice or is missing, unless all are 0: then the provider does not
    number.
    """
    try:
        numbers = [int(item["index"]) for item in answer.data]
        if any(numbers) and sorted(numbers) != list(range(len(numbers))):
            return []
        items = sorted(answer.data, key=lambda item: int(item["index"]))
        return [item["embedding"] for item in items]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
