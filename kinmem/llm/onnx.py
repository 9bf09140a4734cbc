"""Models in the ONNX format with their tokenizers, run in this process on one thread, one text at a
time; and what embedders of that kind have in common. They give the same numbers on every
processor."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration, Purpose, Window
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.model_files import Files, check_shipped
from kinmem.llm.prompts import pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vector, Vectors
from kinmem.settings.process import give_back

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


Made = TypeVar("Made")

KINDS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
KNOWN = ("input_ids", "attention_mask", "token_type_ids")
# Outputs to read if there are several, by preference; never pooler_output before these.
WANTED = ("sentence_embedding", "last_hidden_state", "token_embeddings", "logits")

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


@dataclass(frozen=True)
class Network:
    """A loaded network and its inputs."""

    session: Any
    inputs: dict[str, Any]
    output: str

    def run(self, encoding: "Encoding") -> Any:
        """Run the network on one text (or pair) and return the output without the batch axis.

        Raises whatever onnxruntime raises, which documents no common base for its errors.
        """
        tokens = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        fed = {name: np.array([tokens[name]], kind) for name, kind in self.inputs.items()}
        return self.session.run([self.output], fed)[0][0]


def open_network(path: Path) -> Network:
    """Open a network. Raises ModelError if it has inputs other than those of a text."""
    session = session_of(path)
    inputs = {one.name: KINDS.get(one.type) for one in session.get_inputs()}
    strange = [name for name, kind in inputs.items() if name not in KNOWN or kind is None]
    if strange or "input_ids" not in inputs:
        raise ModelError(f"{path} wants {', '.join(inputs)}; known are {', '.join(KNOWN)}")
    outputs = [one.name for one in session.get_outputs()]
    return Network(session, inputs, next((one for one in WANTED if one in outputs), outputs[0]))


def open_tokenizer(path: Path) -> "Tokenizer":
    """Open a tokenizer that neither truncates nor pads."""
    from tokenizers import Tokenizer  # late, as onnxruntime: a call may need no model

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five letters like any others
    return tokenizer


def reason(error: Exception) -> str:
    """Return one line about the error, with its type unless we raised it ourselves."""
    first, *_ = str(error).splitlines() or [""]
    return first if isinstance(error, ModelError) else f"{type(error).__name__}: {first}"


FOLDER = Path(__file__).parent / "e5"
_LOADING = Lock()


class Words:
    """The tokenizer, and a vector for each word piece."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._rows = np.load(folder / "words.npy", mmap_mode="r")
        self._scales = np.load(folder / "scales.npy")

    def count(self, text: str) -> int:
        """Return the number of word pieces in a text."""
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

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


# The product of two matrices of 8-bit numbers, to see how this processor adds.
SUMS = Path(__file__).parent / "e5" / "sums.onnx"


def session_of(path: Path) -> Any:
    """Open the network in a file, to run on one thread. Raises whatever onnxruntime raises, and
    ModelError for a network of the package that was changed."""
    session = _opened(path, slower_sums=not adds_exactly())
    give_back()
    return session


@cache
def adds_exactly() -> bool:
    """Whether this processor adds 8-bit products without cutting off sums that are too large.

    Those without VNNI add them by pairs in 16 bits.
    """
    left, right = np.full((8, 64), 255, np.uint8), np.full((64, 16), 127, np.int8)
    session = _opened(SUMS, slower_sums=False)
    (found,) = session.run(None, {"left": left, "right": right})
    return bool((found == left.astype(np.int32) @ right.astype(np.int32)).all())


def _opened(path: Path, slower_sums: bool) -> Any:
    check_shipped(path)
    # From 1.32 on, onnxruntime reports the machine it runs on to its maker unless this is set.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Sums that were cut off give cosines of .99 to the vectors of other machines, and other
    # verdicts. This avoids them everywhere, and also makes a processor that adds exactly take 1.6
    # times as long (onnxruntime 1.32, EPYC with AVX-512 VNNI), for the same numbers to the bit.
    options.add_session_config_entry("session.x64quantprecision", "1" if slower_sums else "0")
    options.log_severity_level = 4
    # An arena of its own keeps what the longest text took, and is no faster (68 and 66 ms a text).
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(
        path,
        options,
        providers=["CPUExecutionProvider"],
        # The fused kernel takes five times as long as the two it replaces (onnxruntime 1.31), 10 to
        # 17 % of the whole at any length.
        disabled_optimizers=["SkipLayerNormFusion"],
    )
