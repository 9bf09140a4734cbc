"""The embedder that comes with kinmem: all-MiniLM-L6-v2 in 8 bits, run on one thread.

Measured on one core of a Xeon with VNNI, onnxruntime 1.31, in ms per text: 0.8 for 12 words, 3 for
60 word pieces, 6.3 for the longest; each text alone. Batches of 8 texts of like length would save
another 8 to 13 %, but the model scales its activations by all that is in a batch: the same text
among others came out at cosines down to 0.977 to itself, too much beside a limit for duplicates of
0.95. Alone it is the same vector every time, as near to the unquantised model, and needs half the
memory.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration, Purpose
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.onnx import opened, reason, tokenizer_of
from kinmem.llm.pieces import Window, pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vector, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FOLDER = Path(__file__).parent / "minilm"
NAME = "builtin/all-MiniLM-L6-v2-int8"
WIDTH = 384
WINDOW = 126
"""Word pieces of a text it reads; with the two marks around them the 128 it was trained with."""
START, END = 101, 102
"""The marks [CLS] and [SEP] in its vocabulary."""
REMEMBERED = 256
"""Texts whose vectors are kept; a conversation asks the same thing several times."""


class BuiltinEmbedder:
    """Implements Embedder without key, network or download. English first; needs about 100 MB."""

    name = NAME
    dimension = WIDTH
    # noise: made-up words stay below 0.2 with any text; real questions whose answer shares no word
    # with them reach 0.25-0.35. duplicate: with the atoms agreeing, precision on SICK and STS-B is
    # the same from 0.85 up (1.00 and .98 on its halves), and 0.95 would miss 39 % of harmless
    # rewordings, 0.90 15 % (docs/benchmarks.md).
    calibration = Calibration(noise=0.2, duplicate=0.9, near=0.85)

    def __init__(self, folder: Path = FOLDER) -> None:
        self._tokenizer = Once("loading the built-in tokenizer", lambda: _tokenizer(folder))
        self._session = Once("loading the built-in embedding model", lambda: _session(folder))
        self._remembered = lru_cache(REMEMBERED)(self._vector)

    @property
    def ready(self) -> bool:
        return self._session.made and self._tokenizer.made

    def warm(self) -> None:
        with suppress(ModelError):  # embed says why, to whoever asks
            self._load(Deadline(None))

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder. Without its tokenizer it takes each letter for a word piece."""
        try:
            self._tokenizer.get()
        except ModelError:
            return pieces(text, Window(limit, WINDOW, len, overlap))
        return pieces(text, Window(limit, WINDOW, lambda part: len(self._tokens(part)), overlap))

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """See Embedder; purposes are one to it.

        Of a text longer than its window only the beginning is read: see pieces.
        """
        if not texts:
            return np.empty((0, WIDTH), np.float32)
        time = Deadline(deadline)
        self._load(time)
        vector = self._remembered if len(texts) == 1 else self._vector
        rows = []
        for text in texts:
            time.check(f"embedding {len(texts)} texts with {NAME}")
            rows.append(vector(text))
        return unit_rows(rows, len(texts), WIDTH, NAME)

    def _load(self, time: Deadline) -> None:
        self._session.get(time)
        self._tokenizer.get(time)

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.get().encode(text, add_special_tokens=False).ids
        return ids

    def _vector(self, text: str) -> Vector:
        ids = np.array([[START, *self._tokens(text)[:WINDOW], END]], np.int64)
        fed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        try:
            (vectors,) = self._session.get().run(["v"], fed)
        except Exception as error:  # onnxruntime documents no common base of its errors
            raise ModelError(f"{NAME} gave no vector: {reason(error)}") from error
        row: Vector = vectors[0]
        return row


def _tokenizer(folder: Path) -> "Tokenizer":
    try:
        return tokenizer_of(folder / "tokenizer.json")
    except Exception as error:  # tokenizers raises bare Exception
        raise _unusable(error) from error


def _session(folder: Path) -> Any:
    try:
        return opened(folder / "model_int8.onnx")
    except Exception as error:  # onnxruntime documents no common base of its errors
        raise _unusable(error) from error


def _unusable(error: Exception) -> ModelError:
    return ModelError(
        f"the built-in embedding model cannot be loaded ({reason(error)}); reinstall kinmem with"
        " its dependencies, or name another model in MEMORY_EMBEDDING_MODEL"
    )
