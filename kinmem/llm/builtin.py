"""The embedder in the package: two 8-bit models with one vector space, run on one thread.

all-MiniLM-L6-v2 reads English, multilingual-e5-small everything else (see Languages).

Measured on one core of a Xeon with VNNI, onnxruntime 1.31, in ms per English text: 0.8 for 12
words, 3 for 60 word pieces, 6.3 for the longest; each text alone (onnx.py says why). Other
languages take two and a half times as long.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import NEAR, NOISE, Calibration, Purpose
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.model_files import Files
from kinmem.llm.onnx import FOLDER as E5
from kinmem.llm.onnx import REMEMBERED, OnnxEmbedder, OnnxModel, reason, session_of, words_of
from kinmem.llm.prompts import pieces
from kinmem.llm.vectors import Axis, Kernel, Probe, unit_rows
from kinmem.models import Vector, Vectors

# Vectors for texts in other languages than English, in the space of the English model.
# multilingual-e5-small puts a sentence and its translations side by side. A linear map from its
# space into that of all-MiniLM-L6-v2, fitted on English texts that both have read, therefore
# carries the other languages over: a Spanish question is compared with German and English memories
# alike, and an English text keeps the vector of the English model.
OPENINGS: dict[Purpose, str] = {"memory": "passage: ", "question": "query: "}
# The order of the maps in map.npy.
MAPS: tuple[Purpose, ...] = ("memory", "question")
# Positions of the multilingual network, in word pieces; more than the English model's longest part.
PLACES = 160
# Units of evidence per nat in foreign.npy.
PER_NAT = 20
# Evidence from which a text counts as not English: odds of three to one. In doubt it is English.
FOREIGN = 34
# Least evidence per word piece. In BEAM, three of 2,913 long English texts with code in them have
# up to 1.3; of texts in other languages, 98 of 100 have 9 or more.
A_PIECE = 3


class Languages:
    """The second half of the built-in embedder, for other languages; loads 22 MB when first
    needed."""

    def __init__(self, name: str, advice: str, folder: Path = E5) -> None:
        self._name, self._advice = name, advice
        self._evidence = Once("loading words", lambda: np.load(folder / "foreign.npy"))
        self._parts = Once(f"loading the languages of {name}", lambda: _Parts(folder))

    @property
    def loaded(self) -> bool:
        return self._parts.made

    def is_foreign(self, ids: Sequence[int], time: Deadline) -> bool:
        """Return whether the text is not English; see the function is_foreign.

        Raises ModelError.
        """
        return is_foreign(ids, self._loaded(self._evidence, time))

    def count(self, word: str) -> int:
        """Return the number of word pieces in a word. Raises ModelError."""
        return int(self._loaded(self._parts, Deadline(None)).count(word))

    def load(self, time: Deadline) -> None:
        """Load the models. Raises ModelError if they cannot be loaded, or not in time."""
        self._loaded(self._parts, time)

    def vector(self, text: str, purpose: Purpose) -> Vector:
        """Return the text's vector in the English space, not of unit length. Raises ModelError."""
        parts = self._loaded(self._parts, Deadline(None))
        try:
            made: Vector = parts.vector(text, purpose)
        except Exception as error:  # tokenizers and onnxruntime have no common base for errors
            raise ModelError(f"{self._name} gave no vector: {reason(error)}") from error
        return made

    def _loaded(self, part: Once[Any], time: Deadline) -> Any:
        try:
            return part.get(time)
        except ModelError:
            raise
        except Exception as error:  # as above
            message = f"{self._name} cannot be loaded ({reason(error)}); {self._advice}"
            raise ModelError(message) from error


def is_foreign(ids: Sequence[int], evidence: np.ndarray) -> bool:
    """Return whether a text is not English, given its word pieces in the English model.

    Adds up the log odds that foreign.npy holds for each piece.
    """
    total = int(evidence[ids].sum(dtype=np.int64))
    return total > max(FOREIGN, A_PIECE * len(ids))


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


FOLDER = Path(__file__).parent / "minilm"
NAME = "builtin/all-MiniLM-L6-v2-e5-small-int8"
# Name stored beside vectors that were made before other languages had a model. Vectors of English
# texts are the same.
ENGLISH = "builtin/all-MiniLM-L6-v2-int8"
WIDTH = 384
# Word pieces of a text that are read; with the two special tokens, the 128 it was trained with.
WINDOW = 126
ADVICE = "reinstall kinmem with its dependencies, or name another model in MEMORY_EMBEDDING_MODEL"


class EnglishEmbedder(OnnxEmbedder):
    """Reads every text as English."""

    # noise: made-up words stay below 0.2 with any text; real questions that share no word with
    # their answer reach 0.25-0.35. duplicate: if the atoms agree, precision on SICK and STS-B is
    # the same from 0.85 up (1.00 and .98 on its halves); 0.95 would miss 39 % of harmless
    # rewordings, 0.90 misses 15 % (docs/benchmarks.md). These are English. For notes in de, fr, es,
    # it, pt, zh (in brackets: as read by the English model) nine of ten questions stay below .27
    # .26 .31 .29 .25 .35 (.42 .50 .54 .49 .50 .64) with unrelated notes, and 99 of 100 unrelated
    # pairs below .48 .50 .51 .55 .47 .59 (.53 .57 .60 .60 .59 .76). Of pairs that only add to each
    # other at most 5 % reach 0.9 (42 % in zh), of contradictions at most 12 %.
    calibration = Calibration(
        noise=NOISE,
        duplicate=0.9,
        near=NEAR,
        cluster=0.6,
        orders=Axis.read(FOLDER / "orders.npy"),
    )

    def __init__(self, model: OnnxModel) -> None:
        super().__init__(model, WIDTH)


class BuiltinEmbedder(EnglishEmbedder):
    """Implements Embedder without key, network or download. Needs about 100 MB for English."""

    calibration = replace(
        EnglishEmbedder.calibration,
        life=Probe.read(FOLDER / "life.npy"),
        commands=Kernel(FOLDER / "commands.npz"),
        asks=Probe.read(FOLDER / "asks.npy"),
        replies=Probe.read(FOLDER / "replies.npy"),
    )

    def __init__(self, folder: Path = FOLDER, others: Path = E5) -> None:
        files = Files(folder / "model_int8.onnx", folder / "tokenizer.json", length=WINDOW + 2)
        super().__init__(OnnxModel(ENGLISH, lambda: files, ADVICE))
        self.name = NAME
        self.languages = Languages(NAME, ADVICE, others)
        self._remembered_foreign = lru_cache(REMEMBERED)(self.languages.vector)

    @property
    def english(self) -> EnglishEmbedder:
        """The English model alone, as it was before other languages had one."""
        return EnglishEmbedder(self._model)

    def counter(self, text: str) -> Callable[[str], int]:
        """Return a function that counts the word pieces of a word in the model that reads this
        text."""
        if self.languages.is_foreign(self._tokens(text), Deadline(None)):
            return self.languages.count
        return lambda word: len(self._tokens(word))

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder.

        Parts of a foreign text fit both models, because the English one takes a Thai word of any
        length for one piece.
        """
        window = self.window(limit, overlap)
        try:
            if not self.languages.is_foreign(self._tokens(text), Deadline(None)):
                return pieces(text, window)
            self.languages.load(Deadline(None))
        except ModelError:
            return pieces(text, window)
        english, foreign = window.count, self.languages.count
        count = lru_cache(REMEMBERED)(lambda part: max(english(part), foreign(part)))
        return pieces(text, replace(window, count=count))

    def _embedded(self, texts: Sequence[str], purpose: Purpose, time: Deadline) -> Vectors:
        rows = []
        for text in texts:
            time.check(f"embedding {len(texts)} texts with {self.name}")
            if self.languages.is_foreign(self._tokens(text), time):
                self.languages.load(time)
                read = self._remembered_foreign if len(texts) == 1 else self.languages.vector
                rows.append(read(text, purpose))
            else:
                rows.append(self._remembered(text) if len(texts) == 1 else self._vector(text))
        return unit_rows(rows, len(texts), WIDTH, self.name)
