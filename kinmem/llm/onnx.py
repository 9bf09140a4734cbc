"""A network in the ONNX format with its tokenizer, as both are run here: one thread, one text."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.onnx_files import Files

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Made = TypeVar("Made")

KINDS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
KNOWN = ("input_ids", "attention_mask", "token_type_ids")
WANTED = ("sentence_embedding", "last_hidden_state", "token_embeddings", "logits")
"""The output that is read if there are several, e.g. before pooler_output."""

NEAR = 1.0
"""Seconds in which files are found that are on this machine."""


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
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
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
