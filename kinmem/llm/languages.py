"""Vectors for texts in other languages than English, in the space of the English model.

multilingual-e5-small puts a sentence and its translations side by side. A linear map from its space
into that of all-MiniLM-L6-v2, fitted on English texts that both have read, therefore carries the
other languages over: a Spanish question is compared with German and English memories alike, and an
English text keeps the vector of the English model.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Purpose
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.onnx import reason, session_of
from kinmem.llm.words import FOLDER as FOLDER
from kinmem.llm.words import words_of
from kinmem.models import Vector

OPENINGS: dict[Purpose, str] = {"memory": "passage: ", "question": "query: "}
MAPS: tuple[Purpose, ...] = ("memory", "question")
"""As they stand in map.npy."""
PLACES = 160
"""Word pieces that the network has places for; more than the parts that the English model reads."""
PER_NAT = 20
"""What foreign.npy counts in."""
FOREIGN = 34
"""Evidence from which a text is not English: three to one. In doubt it is English."""
A_PIECE = 3
"""At least so much of it a word piece. Of long English texts with code in them three of 2,913 in
BEAM have up to 1.3, of other languages 98 of 100 have 9 and more."""


class Languages:
    """The second half of the built-in embedder; 22 MB more, once it is needed."""

    def __init__(self, name: str, advice: str, folder: Path = FOLDER) -> None:
        self._name, self._advice = name, advice
        self._evidence = Once("loading words", lambda: np.load(folder / "foreign.npy"))
        self._parts = Once(f"loading the languages of {name}", lambda: _Parts(folder))

    @property
    def loaded(self) -> bool:
        return self._parts.made

    def is_foreign(self, ids: Sequence[int], time: Deadline) -> bool:
        """See below. Raises ModelError."""
        return is_foreign(ids, self._loaded(self._evidence, time))

    def count(self, word: str) -> int:
        """Word pieces of a word. Raises ModelError."""
        return int(self._loaded(self._parts, Deadline(None)).count(word))

    def load(self, time: Deadline) -> None:
        """Raises ModelError if it cannot be loaded, or not in time."""
        self._loaded(self._parts, time)

    def vector(self, text: str, purpose: Purpose) -> Vector:
        """In the English space, not of unit length. Raises ModelError."""
        parts = self._loaded(self._parts, Deadline(None))
        try:
            made: Vector = parts.vector(text, purpose)
        except Exception as error:  # neither tokenizers nor onnxruntime has a base of its errors
            raise ModelError(f"{self._name} gave no vector: {reason(error)}") from error
        return made

    def _loaded(self, part: Once[Any], time: Deadline) -> Any:
        try:
            return part.get(time)
        except ModelError:
            raise
        except Exception as error:  # as above
            told = f"{self._name} cannot be loaded ({reason(error)}); {self._advice}"
            raise ModelError(told) from error


def is_foreign(ids: Sequence[int], evidence: np.ndarray) -> bool:
    """Whether a text of these word pieces of the English model is not English.

    Each piece has its own log odds, as foreign.npy holds them.
    """
    told = int(evidence[ids].sum(dtype=np.int64))
    return told > max(FOREIGN, A_PIECE * len(ids))


class _Parts:
    def __init__(self, folder: Path) -> None:
        self._words = words_of(folder)
        self._session = session_of(folder / "embedder.onnx")
        maps = np.load(folder / "map.npy").astype(np.float32)
        self._maps = dict(zip(MAPS, maps, strict=True))

    def count(self, word: str) -> int:
        return len(self._words.tokenizer.encode(word, add_special_tokens=False).ids)

    def vector(self, text: str, purpose: Purpose) -> Vector:
        tokenizer = self._words.tokenizer
        read = tokenizer.encode(OPENINGS[purpose] + text, add_special_tokens=False)
        read.truncate(PLACES - tokenizer.num_special_tokens_to_add(False))
        ids = tokenizer.post_process(read, None, True).ids
        (made,) = self._session.run(["vector"], {"words": self._words.vectors(ids)})
        weights = self._maps[purpose]
        mapped: Vector = made @ weights[:-1] + weights[-1]
        return mapped
