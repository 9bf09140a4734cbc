"""Models in the ONNX format with their tokenizers, run in this process on one thread, one text at a
time; what embedders of that kind have in common; and those of the user's choice: `local:` and a
folder, or a model of the hub. They give the same numbers on every processor."""

import os
import re
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate
from math import inf
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

import numpy as np

from kinmem.errors import ModelError
from kinmem.language import Window, pieces
from kinmem.llm.base import Calibration, Purpose
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.model_files import (
    PREFIX,
    SPACE,
    Files,
    Network,
    downloaded,
    files_in,
    fingerprint,
    hub_name,
    letters,
    normalizer,
    open_network,
    open_tokenizer,
)
from kinmem.llm.vectors import (
    ORDERS,
    STATEMENTS,
    UNMEASURED,
    UNRELATED,
    Axis,
    calibrated,
    unit_rows,
)
from kinmem.models import Vector, Vectors

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


Made = TypeVar("Made")

# Seconds that finding a model's files on this machine may take.
NEAR = 1.0


class OnnxModel:
    """A model that is found and loaded by the first caller that needs it, on a thread of its own,
    once."""

    def __init__(
        self, name: str, files: Callable[[], Files], advice: str, again: float | None = None
    ) -> None:
        """`advice` says what to do if it cannot be loaded. For `again`, see Once."""
        self.name = name
        self._advice = advice
        self._files = Once(f"finding the model {name}", lambda: self._made(files), again)
        self._tokenizer = Once(
            f"loading the tokenizer of {name}",
            lambda: self._made(lambda: open_tokenizer(self.files.tokenizer)),
            again,
        )
        self._network = Once(
            f"loading the model {name}",
            lambda: self._made(lambda: open_network(self.files.network)),
            again,
        )

    @property
    def loaded(self) -> bool:
        return self._network.made and self._tokenizer.made

    def load(self, time: Deadline) -> None:
        """Load the model. Raises ModelError with the advice if that fails or takes too long."""
        self._network.get(time)
        self._tokenizer.get(time)

    @property
    def files(self) -> Files:
        """The model's files; waits for them. This and the next two properties raise ModelError."""
        return self._files.get()

    @property
    def tokenizer(self) -> "Tokenizer":
        return self._tokenizer.get()

    @property
    def network(self) -> "Network":
        return self._network.get()

    def marks(self) -> int:
        """Return the number of special tokens around a text.

        Waits for the tokenizer, but for no download.
        """
        self._files.get(Deadline(NEAR))
        return self.tokenizer.num_special_tokens_to_add(False)

    def tokens(self, text: str) -> "Encoding":
        """Encode a text without special tokens and without truncating it."""
        return self.tokenizer.encode(text, add_special_tokens=False)

    def _made(self, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except Unloadable:
            raise
        except Exception as error:  # tokenizers and onnxruntime have no common base for errors
            raise Unloadable(
                f"the model {self.name} cannot be loaded ({reason(error)}); {self._advice}"
            ) from error


class Unloadable(ModelError):
    """A model that cannot be loaded. The message says what to do."""


def run(network: Network, encoding: "Encoding") -> Any:
    """Run a network on one text (or pair) and return the output without the batch axis.

    Raises whatever onnxruntime raises, which documents no common base for its errors.
    """
    tokens = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    fed = {name: np.array([tokens[name]], kind) for name, kind in network.inputs.items()}
    return network.session.run([network.output], fed)[0][0]


def reason(error: Exception) -> str:
    """Return one line about the error, with its type unless we raised it ourselves."""
    first, *_ = str(error).splitlines() or [""]
    return first if isinstance(error, ModelError) else f"{type(error).__name__}: {first}"


FOLDER = Path(__file__).parent / "e5"
_LOADING = Lock()
# Word pieces that mean something of their own: beginning, end, what is none.
BEGIN, END, UNKNOWN = 0, 2, 3
# What any piece is better than, by the logarithm of how frequent it is (SentencePiece).
UNKNOWN_COSTS = 10.0
# Words whose pieces are cached, if they are as short as words are where there are spaces.
KEPT, SHORT = 4096, 32
Span = tuple[int, int]


class Words:
    """The word pieces of a text, and a vector for each.

    They are those that the package tokenizers makes with a Unigram model of the same pieces, which
    takes 52 MB for its tree and four times as long to build it (0.23); this takes 11, and a tenth
    of a millisecond for a sentence instead of half of that.
    """

    def __init__(self, folder: Path) -> None:
        pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._scores = array("d", np.load(folder / "scores.npy").tobytes())
        self._longest = max(map(len, self._numbers))
        self._unknown = min(self._scores) - UNKNOWN_COSTS
        self._normal = normalizer()
        self._known = lru_cache(KEPT)(self._cut)
        self._rows = FileRows(folder / "words.npy")
        self._scales = np.load(folder / "scales.npy")

    def ids(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, without marks."""
        return [number for number, _ in self._pieces(text)]

    def count(self, text: str) -> int:
        """Return the number of word pieces in a text."""
        return len(self._pieces(text))

    def placed(self, text: str) -> tuple[list[int], list[Span]]:
        """Do the same, and say where in the text each piece stands."""
        found = self._pieces(text)
        places = self._letters.encode(text, add_special_tokens=False).offsets
        ends = list(accumulate(length for _, length in found))
        spans = [
            (places[end - length][0], places[end - 1][1])
            for end, (_, length) in zip(ends, found, strict=True)
        ]
        return [number for number, _ in found], spans

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """Return a row per word piece, not of unit length."""
        rows: Vectors = (self._rows.at(ids) * self._scales[ids, None]).astype(np.float32)
        return rows

    @cached_property
    def _letters(self) -> "Tokenizer":
        return letters(self._normal)

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        """Return (number, letters) of each piece."""
        plain = self._normal.normalize_str(text).replace(" ", SPACE)
        words = plain.split(SPACE)
        if plain.startswith(SPACE) or not plain:
            del words[0]
        found: list[tuple[int, int]] = []
        for word in words:
            found += (self._known if len(word) < SHORT else self._cut)(SPACE + word)
        return found

    def _cut(self, word: str) -> list[tuple[int, int]]:
        """Return the most probable pieces; what is none is one piece, however long."""
        best = [(0.0, 0, 0)] + [(-inf, 0, UNKNOWN)] * len(word)  # up to there: score, from, piece
        for start in range(len(word)):
            here = best[start][0]
            is_known = False
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                number = self._numbers.get(word[start:end])
                if number is None:
                    continue
                is_known = is_known or end == start + 1
                if (score := self._scores[number] + here) > best[end][0]:
                    best[end] = score, start, number
            if not is_known and (score := self._unknown + here) > best[start + 1][0]:
                best[start + 1] = score, start, UNKNOWN
        found: list[tuple[int, int]] = []
        end = len(word)
        while end:
            _, start, number = best[end]
            length = end - start
            if number == UNKNOWN and found and found[-1][0] == UNKNOWN:
                length += found.pop()[1]
            found.append((number, length))
            end = start
        return found[::-1]


class FileRows:
    """The rows of a matrix in a .npy file, read when they are asked for.

    If the file is mapped, the system counts 64 kB around each row as memory of the process, in the
    end all of it (23 of 29 MB after eighty questions); read row by row, it stays in the system's
    cache of files. A sentence takes some 20 µs longer.
    """

    def __init__(self, path: Path) -> None:
        self._mapped: np.memmap[Any, Any] = np.load(path, mmap_mode="r")
        self._file = os.open(path, os.O_RDONLY)
        finalize(self, os.close, self._file)

    def at(self, ids: Sequence[int]) -> Any:
        """Return these rows."""
        if not hasattr(os, "pread"):  # Windows
            return self._mapped[ids]
        size, start = self._mapped.strides[0], int(self._mapped.offset)
        data = b"".join(os.pread(self._file, size, start + size * id) for id in ids)
        return np.frombuffer(data, self._mapped.dtype).reshape(len(ids), -1)


def marked(one: Sequence[int], two: Sequence[int] | None = None) -> list[int]:
    """Return the pieces of one text, or two, with marks around them."""
    return [BEGIN, *one, END] + ([] if two is None else [END, *two, END])


def words_of(folder: Path) -> Words:
    """Return the words, loaded once per process. Raises whatever numpy and files raise."""
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
            made = run(self._model.network, self._model.tokenizer.post_process(read, None, True))
            row: Vector = POOLINGS[files.pooling](made) if made.ndim == 2 else made
        except Exception as error:  # onnxruntime documents no common base of its errors
            raise ModelError(f"{self.name} gave no vector: {reason(error)}") from error
        return row


# Seconds until the hub is asked again after a failure.
AGAIN = 60.0
# The fingerprint at the end of a folder's stored name.
STORED = re.compile(r"#[0-9a-f]{8}$")
ADVICE = (
    "export the model to ONNX, e.g. with optimum-cli export onnx, name a folder that has it"
    " (local:/the/folder) in {variable}, or unset that; then start kinmem again"
)

HUB_ADVICE = (
    "it is tried again when it is needed, once a minute at most; or name a folder that has the"
    " model in ONNX form (local:/the/folder) in {variable}"
)


class LocalEmbedder(OnnxEmbedder):
    """Implements Embedder for local:<folder> and local:<model of the hub>."""

    def __init__(self, name: str, *, width: int | None = None) -> None:
        """`width` is the width of this model's vectors in the store; None: the model's own
        width."""
        super().__init__(local_model(name, "MEMORY_EMBEDDING_MODEL"), width)
        self.calibration = UNMEASURED
        """Replaced by a measured one once the model is loaded."""
        self._measured = False

    @property
    def ready(self) -> bool:
        return self._measured and super().ready

    def _load(self, time: Deadline) -> None:
        super()._load(time)
        if not self._measured:  # if two threads measure at once, both get the same result
            memories = self._embedded(UNRELATED, "memory", time)
            questions = self._embedded(UNRELATED, "question", time)
            found = calibrated(memories, questions)
            if found.measured:
                orders, statements = (
                    self._embedded(part, "memory", time) for part in (ORDERS, STATEMENTS)
                )
                found = replace(found, orders=Axis.between(orders, statements))
            self.calibration = found
            self._measured = True


def local_model(name: str, variable: str) -> OnnxModel:
    """Return the model of that name, not loaded yet. `variable` is the setting that names it.

    The stored name of a folder's model contains a fingerprint of its files: other files in the same
    folder are another model, whose vectors must not mix with these.
    """
    found = hub_name(name)
    if found is not None:
        full = f"{PREFIX}:{found}"
        advice = HUB_ADVICE.format(variable=variable)
        return OnnxModel(full, lambda: files_in(downloaded(found)), advice, AGAIN)
    folder = Path(STORED.sub("", name).partition(":")[2]).expanduser().absolute()
    mark = fingerprint(folder)
    full = f"{PREFIX}:{folder}#{mark}" if mark else f"{PREFIX}:{folder}"
    return OnnxModel(full, lambda: files_in(folder), ADVICE.format(variable=variable))
