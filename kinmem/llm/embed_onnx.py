"""What embedders that run in this process have in common, and the word vectors of the built-in."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration, Purpose, Window
from kinmem.llm.deadline import Deadline
from kinmem.llm.onnx import OnnxModel, open_tokenizer, reason
from kinmem.llm.prompts import pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vector, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FOLDER = Path(__file__).parent / "e5"
_LOADING = Lock()


class Words:
    """The tokenizer, and a vector for each word piece."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._rows = np.load(folder / "words.npy", mmap_mode="r")
        self._scales = np.load(folder / "scales.npy")

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """Return a row per word piece, not of unit length."""
        rows: Vectors = (self._rows[ids] * self._scales[ids, None]).astype(np.float32)
        return rows


def words_of(folder: Path) -> Words:
    """Return the words, loaded once per process. Raises whatever tokenizers and numpy raise."""
    with _LOADING:
        return _loaded(folder)


_loaded = lru_cache(maxsize=1)(Words)


# Texts whose vectors are cached: a conversation asks the same thing several times.
REMEMBERED = 256
# Letters that any model reads whole, however short its word pieces: 128 less two special tokens.
UNREAD = 126
# Ways to make one vector from those of a text's word pieces. There is no padding.
POOLINGS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda words: words.mean(0),
    "cls": lambda words: words[0],
    "max": lambda words: words.max(0),
    "last": lambda words: words[-1],
    "lasttoken": lambda words: words[-1],
}


class OnnxEmbedder:
    """Implements Embedder for a model in files. If `width` is given, vectors must have it."""

    calibration: Calibration

    def __init__(self, model: OnnxModel, width: int | None = None) -> None:
        self.name = model.name
        self._model = model
        self._width = width
        self._remembered = lru_cache(REMEMBERED)(self._vector)

    @property
    def dimension(self) -> int:
        if self._width is None:
            self.embed(["dimension"])
        assert self._width is not None, "embed knows the width once it has answered"
        return self._width

    @property
    def ready(self) -> bool:
        return self._model.loaded

    def warm(self) -> None:
        with suppress(ModelError):  # the next call of embed reports the reason
            self._load(Deadline(None))

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder."""
        return pieces(text, self.window(limit, overlap))

    def window(self, limit: int, overlap: int = 0) -> Window:
        """See Embedder. If there is no tokenizer, each letter counts as a word piece."""
        try:
            room = self._room(self._model.marks())
        except ModelError:
            return Window(limit, UNREAD, len, overlap)
        return Window(limit, room, lambda part: len(self._tokens(part)), overlap)

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """See Embedder. Only the beginning is read of a text that is too long: see pieces."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        time = Deadline(deadline)
        self._load(time)
        return self._embedded(texts, purpose, time)

    def _load(self, time: Deadline) -> None:
        self._model.load(time)

    def _embedded(self, texts: Sequence[str], purpose: Purpose, time: Deadline) -> Vectors:
        opening = self._model.files.openings.get(purpose, "")
        vector = self._remembered if len(texts) == 1 else self._vector
        rows = []
        for text in texts:
            time.check(f"embedding {len(texts)} texts with {self.name}")
            rows.append(vector(opening + text))
        vectors = unit_rows(rows, len(texts), self._width, self.name)
        self._width = vectors.shape[1]
        return vectors

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._model.tokens(text).ids
        return ids

    def _room(self, marks: int) -> int:
        """Return the word pieces left for a text beside the special tokens and the longest
        opening."""
        files = self._model.files
        openings = {len(self._tokens(opening)) for opening in files.openings.values()}
        return files.length - marks - max(openings, default=0)

    def _vector(self, text: str) -> Vector:
        files = self._model.files
        read = self._model.tokens(text)
        read.truncate(files.length - self._model.marks())
        try:
            made = self._model.network.run(self._model.tokenizer.post_process(read, None, True))
            row: Vector = POOLINGS[files.pooling](made) if made.ndim == 2 else made
        except Exception as error:  # onnxruntime documents no common base of its errors
            raise ModelError(f"{self.name} gave no vector: {reason(error)}") from error
        return row
