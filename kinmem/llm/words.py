"""The word vectors of multilingual-e5-small, which the judge and the built-in embedder share.

The matrix is memory-mapped, so that a server loads only the rows of words that people use, of 29
MB.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from kinmem.llm.onnx import open_tokenizer
from kinmem.models import Vectors

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
