"""Networks in the ONNX format with their tokenizers, run on one thread, one text at a time.

A model's files are laid out as sentence-transformers and the hub lay them out.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Purpose
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.onnx_session import session_of

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Made = TypeVar("Made")

KINDS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
KNOWN = ("input_ids", "attention_mask", "token_type_ids")
# Outputs to read if there are several, by preference; never pooler_output before these.
WANTED = ("sentence_embedding", "last_hidden_state", "token_embeddings", "logits")

# Seconds that finding a model's files on this machine may take.
NEAR = 1.0

# Where to look for the network, in order: full precision before what is derived from it.
PLACES = ("model.onnx", "onnx/model.onnx", "model*.onnx", "onnx/model*.onnx")
TOKENIZER = "tokenizer.json"
CONFIGURATION = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
)
# Word pieces that a model reads if its files do not say, and the most that any model reads.
LONGEST = 512
# The known steps from a text to a vector. Leaving out any other step would give wrong vectors.
STEPS = {"Transformer", "Pooling", "Normalize"}
# The known ways to pool the vectors of word pieces into one (embed_onnx.py).
POOLED = {"mean", "cls", "max", "last", "lasttoken"}
# The names of the purposes in config_sentence_transformers.json.
PROMPTS: Mapping[Purpose, tuple[str, ...]] = {
    "question": ("query",),
    "memory": ("passage", "document"),
}
SAMPLES, SAMPLE = 64, 4096


@dataclass(frozen=True)
class Files:
    """A model's network and tokenizer, and what its configuration says about them."""

    network: Path
    tokenizer: Path
    length: int = LONGEST
    """Word pieces that it reads at once, special tokens included."""
    pooling: str = "mean"
    openings: Mapping[Purpose, str] = field(default_factory=dict)
    """What a text begins with, by purpose."""


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


def files_in(folder: Path) -> Files:
    """Find a model's files in a folder.

    Raises ModelError if something is missing or not supported.
    """
    if not folder.is_dir():
        raise ModelError(f"there is no folder {folder}")
    network = network_in(folder)
    if network is None:
        raise ModelError(f"{folder} has none of {', '.join(PLACES)}")
    if not (folder / TOKENIZER).is_file():
        raise ModelError(f"{folder} has no {TOKENIZER}")
    steps = {str(step["type"]).rpartition(".")[2] for step in _read(folder, "modules.json", [])}
    if steps - STEPS:
        raise ModelError(f"{folder} needs {', '.join(sorted(steps - STEPS))}, which is not known")
    return Files(network, folder / TOKENIZER, _length(folder), _pooling(folder), _openings(folder))


def network_in(folder: Path) -> Path | None:
    """Return the network in the folder: model.onnx if there is one, else the smallest file that
    matches."""
    for place in PLACES:
        found = sorted(folder.glob(place), key=lambda path: path.stat().st_size)
        if found:
            return found[0]
    return None


def fingerprint(folder: Path) -> str | None:
    """Return a hash of the model's files, which is the same for a copy; None if there is no
    network.

    From each file it reads the size and 64 samples of 4 KiB, spread evenly.
    """
    network = network_in(folder) if folder.is_dir() else None
    if network is None:
        return None
    digest = hashlib.sha256()
    for name in (TOKENIZER, *CONFIGURATION):
        if (folder / name).is_file():
            digest.update(name.encode() + _sampled(folder / name))
    beside = sorted(network.parent.glob(f"{network.name}_data"))
    for path in (network, *beside):
        digest.update(_sampled(path))
    return digest.hexdigest()[:8]


def _sampled(path: Path) -> bytes:
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for at in range(SAMPLES):
            file.seek(at * max(0, size - SAMPLE) // (SAMPLES - 1))
            digest.update(file.read(SAMPLE))
    return digest.digest()


def _length(folder: Path) -> int:
    """Return the least length that the model's files state; later positions mean nothing to the
    network."""
    config = _read(folder, "config.json", {})
    places = config.get("max_position_embeddings")
    if isinstance(places, int) and "roberta" in str(config.get("model_type")):
        places -= 2  # RoBERTa counts positions from behind its padding
    lengths = [
        _read(folder, "sentence_bert_config.json", {}).get("max_seq_length"),
        (_read(folder, TOKENIZER, {}).get("truncation") or {}).get("max_length"),
        _read(folder, "tokenizer_config.json", {}).get("model_max_length"),
        places,
    ]
    return min([LONGEST, *(length for length in lengths if isinstance(length, int) and length > 2)])


def _pooling(folder: Path) -> str:
    """Return the pooling: `pooling_mode_mean_tokens: true` means "mean", `pooling_mode: "cls"`
    "cls"."""
    config = _read(folder, "1_Pooling/config.json", {})
    modes = [
        name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for name, value in config.items()
        if name.startswith("pooling_mode_") and value is True
    ]
    if isinstance(config.get("pooling_mode"), str):
        modes.append(config["pooling_mode"])
    if len(modes) > 1 or set(modes) - POOLED:
        raise ModelError(f"{folder} pools by {' and '.join(modes)}, which is not known")
    return modes[0] if modes else "mean"


def _openings(folder: Path) -> dict[Purpose, str]:
    config = _read(folder, "config_sentence_transformers.json", {})
    prompts = config.get("prompts") or {}
    usual = prompts.get(config.get("default_prompt_name") or "", "")
    return {
        purpose: next((prompts[name] for name in names if name in prompts), usual)
        for purpose, names in PROMPTS.items()
    }


def _read(folder: Path, name: str, otherwise: Any) -> Any:
    path = folder / name
    if not path.is_file():
        return otherwise
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, type(otherwise)):
        raise ModelError(f"{path} is no {type(otherwise).__name__}")
    return found
