"""An embedder that knows all vectors beforehand: what is measured with it is kinmem alone."""

from collections.abc import Sequence

import numpy as np

from kinmem.language import Window
from kinmem.llm.base import Calibration, Purpose
from kinmem.models import Vector, Vectors


class KnownVectors:
    """Implements Embedder. A text that it does not know has the vector `other`.

    So questions need not be known word for word: recall embeds what is left of one without names.
    """

    name = "benchmarks/known-vectors"
    calibration = Calibration(noise=0.35, duplicate=0.95, near=0.85)
    ready = True

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._row = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors
        self.dimension = vectors.shape[1]
        self.other: Vector = vectors[0]

    def warm(self) -> None:
        """Nothing to load."""

    def window(self, limit: int, overlap: int = 0) -> Window:
        """As long as a text is in characters."""
        return Window(limit, limit, len, overlap)

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """All texts are short here."""
        return [text]

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """Looked up."""
        rows = [self._row.get(text) for text in texts]
        return np.array([self.other if row is None else self._vectors[row] for row in rows])
