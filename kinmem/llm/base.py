"""What kinmem asks of a model, whoever provides it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kinmem.models import Vectors


@dataclass(frozen=True)
class Calibration:
    """What similarity means to one embedder; 0.7 of one model is not 0.7 of another."""

    noise: float
    """Cosine that 99 of 100 unrelated pairs stay under; below it nearness says nothing."""
    duplicate: float
    """Cosine from which two texts may be the same statement (their atoms must agree as well)."""
    near: float
    """Cosine from which two texts are worth comparing at all."""


class Embedder(Protocol):
    """Turns texts into unit vectors. One instance may be used by many threads."""

    name: str
    """Stored beside every vector it makes, e.g. "builtin/all-MiniLM-L6-v2-int8"."""
    calibration: Calibration

    @property
    def dimension(self) -> int:
        """Width of its vectors. Raises ModelError if it must ask the provider and cannot."""
        ...

    @property
    def ready(self) -> bool:
        """Whether embed answers without first loading something for a noticeable time."""
        ...

    def warm(self) -> None:
        """Load what embed needs, now; called on a background thread. Never raises."""
        ...

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """Consecutive parts of a text, at most `limit` characters each, that the model reads whole.

        A part may repeat whole sentences of the one before, up to `overlap` characters.
        """
        ...

    def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> Vectors:
        """One row per text, in order: float32, unit length, finite. No texts: shape (0, dimension).

        `deadline` is a bound in seconds on the whole call, retries included.
        Raises ModelError if the model is missing, late, or returns anything else.
        """
        ...
