"""A network in the ONNX format with its tokenizer, as both are run here: one thread, one text.

The files of a model are laid out as sentence-transformers and the hub lay them out.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Purpose
from kinmem.llm.deadline import Deadline, Once

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Made = TypeVar("Made")

KINDS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
KNOWN = ("input_ids", "attention_mask", "token_type_ids")
WANTED = ("sentence_embedding", "last_hidden_state", "token_embeddings", "logits")
"""The output that is read if there are several, e.g. before pooler_output."""

NEAR = 1.0
"""Seconds in which files are found that are on this machine."""

PLACES = ("model.onnx", "onnx/model.onnx", "model*.onnx", "onnx/model*.onnx")
"""Where its network is, the likeliest first: full precision before what is derived from it."""
TOKENIZER = "tokenizer.json"
CONFIGURATION = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
)
LONGEST = 512
"""Word pieces of a text that a model reads which says nothing about it, and most read at most."""
STEPS = {"Transformer", "Pooling", "Normalize"}
"""What makes a vector of a text; a model with another step would give others without it."""
POOLED = {"mean", "cls", "max", "last", "lasttoken"}
"""Ways to make one vector of those of its word pieces (embed_onnx.py)."""
PROMPTS: Mapping[Purpose, tuple[str, ...]] = {
    "question": ("query",),
    "memory": ("passage", "document"),
}
"""What they are called in config_sentence_transformers.json."""
SAMPLES, SAMPLE = 64, 4096


@dataclass(frozen=True)
class Files:
    """A model's network and tokenizer, and what its configuration says of them."""

    network: Path
    tokenizer: Path
    length: int = LONGEST
    """Word pieces it reads at once, its own marks among them."""
    pooling: str = "mean"
    openings: Mapping[Purpose, str] = field(default_factory=dict)
    """What a text begins with, by its purpose."""


class OnnxModel:
    """Found, opened and loaded by whoever asks first, on a thread of its own; each only once."""

    def __init__(
        self, name: str, files: Callable[[], Files], advice: str, again: float | None = None
    ) -> None:
        """`advice`: what to do if it cannot be loaded. `again`: see Once."""
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
        """Raises ModelError, with the advice, if it cannot be loaded, or not in time."""
        self._network.get(time)
        self._tokenizer.get(time)

    @property
    def files(self) -> Files:
        """Waits for them. This and the next two raise ModelError."""
        return self._files.get()

    @property
    def tokenizer(self) -> "Tokenizer":
        return self._tokenizer.get()

    @property
    def network(self) -> "Network":
        return self._network.get()

    def marks(self) -> int:
        """How many word pieces stand around a text. Waits for the tokenizer, not for a download."""
        self._files.get(Deadline(NEAR))
        return self.tokenizer.num_special_tokens_to_add(False)

    def tokens(self, text: str) -> "Encoding":
        """Without the marks around a text, and not cut."""
        return self.tokenizer.encode(text, add_special_tokens=False)

    def _made(self, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except Unloadable:
            raise
        except Exception as error:  # neither tokenizers nor onnxruntime has a base of its errors
            raise Unloadable(
                f"the model {self.name} cannot be loaded ({reason(error)}); {self._advice}"
            ) from error


class Unloadable(ModelError):
    """Says what to do."""


@dataclass(frozen=True)
class Network:
    """A loaded network, and what it is fed."""

    session: Any
    inputs: dict[str, Any]
    output: str

    def run(self, encoding: "Encoding") -> Any:
        """What it makes of one text (or pair), without the axis of the batch.

        Raises whatever onnxruntime does, which documents no common base of its errors.
        """
        tokens = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        fed = {name: np.array([tokens[name]], kind) for name, kind in self.inputs.items()}
        return self.session.run([self.output], fed)[0][0]


def open_network(path: Path) -> Network:
    """Raises ModelError if it wants to be fed something else than texts."""
    session = session_of(path)
    inputs = {one.name: KINDS.get(one.type) for one in session.get_inputs()}
    strange = [name for name, kind in inputs.items() if name not in KNOWN or kind is None]
    if strange or "input_ids" not in inputs:
        raise ModelError(f"{path} wants {', '.join(inputs)}; known are {', '.join(KNOWN)}")
    outputs = [one.name for one in session.get_outputs()]
    return Network(session, inputs, next((one for one in WANTED if one in outputs), outputs[0]))


def session_of(path: Path) -> Any:
    """The network of a file, run on one thread. Raises whatever onnxruntime does."""
    # From 1.32 on, it reports to its maker what machine it runs on unless this is set before.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Processors without VNNI add products of 8 bits in 16 and cut off what is too large: cosine .99
    # to the vectors of other machines, and other verdicts. Exact sums cost them half as much again.
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        path,
        options,
        providers=["CPUExecutionProvider"],
        # Its fused kernel takes five times as long as the two it replaces (onnxruntime 1.31):
        # 10 to 17 % of the whole, whatever the length.
        disabled_optimizers=["SkipLayerNormFusion"],
    )


def open_tokenizer(path: Path) -> "Tokenizer":
    """It neither cuts nor fills up."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five letters like any others
    return tokenizer


def reason(error: Exception) -> str:
    """One line of it; what we raised ourselves needs no type."""
    first, *_ = str(error).splitlines() or [""]
    return first if isinstance(error, ModelError) else f"{type(error).__name__}: {first}"


def files_in(folder: Path) -> Files:
    """Raises ModelError if something is missing or cannot be followed."""
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
    """Of several that are no model.onnx the smallest."""
    for place in PLACES:
        found = sorted(folder.glob(place), key=lambda path: path.stat().st_size)
        if found:
            return found[0]
    return None


def fingerprint(folder: Path) -> str | None:
    """Another one for other files, the same for a copy; None if there is no network.

    Of large files samples are read: 64 of 4 KiB, spread over them, and the size.
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
    """The least of what its files say; places beyond it have no meaning to the network."""
    config = _read(folder, "config.json", {})
    places = config.get("max_position_embeddings")
    if isinstance(places, int) and "roberta" in str(config.get("model_type")):
        places -= 2  # its places are counted from behind the padding
    told = [
        _read(folder, "sentence_bert_config.json", {}).get("max_seq_length"),
        (_read(folder, TOKENIZER, {}).get("truncation") or {}).get("max_length"),
        _read(folder, "tokenizer_config.json", {}).get("model_max_length"),
        places,
    ]
    return min([LONGEST, *(one for one in told if isinstance(one, int) and one > 2)])


def _pooling(folder: Path) -> str:
    """`pooling_mode_mean_tokens: true` says "mean", `pooling_mode: "cls"` says "cls"."""
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
