"""No embedder at all: for whoever cannot wait for one to load, words have to do."""

from collections.abc import Sequence

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration, Purpose
from kinmem.llm.pieces import Window
from kinmem.models import Vectors


class NoEmbedder:
    """Implements Embedder and is never ready."""

    name = "none"
    calibration = Calibration(noise=0.0, duplicate=1.0, near=1.0)
    ready = False

    @property
    def dimension(self) -> int:
        """Raises ModelError: it makes no vectors."""
        raise ModelError("there is no embedder here; words alone are searched")

    def warm(self) -> None:
        """Nothing to load."""

    def window(self, limit: int, overlap: int = 0) -> Window:
        return Window(limit, limit, len, overlap)

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        return [text]

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """Raises ModelError."""
        raise ModelError("there is no embedder here; words alone are searched")
