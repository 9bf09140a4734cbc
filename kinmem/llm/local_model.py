"""A transformer in ONNX form from a folder or the Hugging Face hub: found, read and run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.onnx import opened, reason, tokenizer_of
from kinmem.models import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PREFIX = "local"
DEFAULT = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Kore's model, of more than 50 languages: 384 numbers, 470 MB to load."""
FILES = ("model_quantized.onnx", "model_int8.onnx", "model.onnx")
"""What a model's file may be called, in the folder or its `onnx`; smaller ones first."""
HUB_FILES = ("*.json", "onnx/model.onnx", "model.onnx", "1_Pooling/config.json")
LONGEST = 512
"""Tokens, where the model does not say."""
HUB_SECONDS = 5


def is_local(name: str) -> bool:
    """Whether a name in the settings means a model that runs here: local, local:<where>."""
    return name == PREFIX or name.startswith(f"{PREFIX}:")


def short_name(name: str) -> str:
    """local/<the folder's or the model's own name>, as it is stored beside vectors."""
    return f"{PREFIX}/{Path(_where(name)).name}"


def _where(name: str) -> str:
    return name.partition(":")[2].strip() or DEFAULT


@dataclass(frozen=True)
class LocalModel:
    """A model and its tokenizer, loaded."""

    name: str
    session: Any
    reader: "Tokenizer"
    """Cuts off what the model does not read."""
    counter: "Tokenizer"
    settings: Mapping[str, Any]
    """Of its configuration files: max_seq_length, prompts, pooling_mode_cls_token ..."""

    @classmethod
    def of(cls, name: str, model: Path, folder: Path) -> "LocalModel":
        """Raises whatever onnxruntime, tokenizers and json do."""
        settings = _told(folder)
        reader, counter = (tokenizer_of(folder / "tokenizer.json") for _ in range(2))
        reader.enable_truncation(_longest(settings))
        return cls(name, opened(model), reader, counter, settings)

    @property
    def longest(self) -> int:
        """Tokens it reads, marks included."""
        return _longest(self.settings)

    def prompt(self, *names: str) -> str:
        """What stands before a text of this kind, as E5 and others were trained with."""
        prompts = self.settings.get("prompts") or {}
        return next((str(prompts[name]) for name in names if prompts.get(name)), "")

    def tokens(self, text: str) -> int:
        """How many it has, without marks."""
        return len(self.counter.encode(text, add_special_tokens=False).ids)

    def run(
        self, text: str, other: str | None = None
    ) -> tuple[list["np.ndarray[Any, Any]"], "np.ndarray[Any, Any]"]:
        """What the model gives for a text, or for two together, and the attention mask."""
        encoding = self.reader.encode(text, other)
        given = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        wanted = [one.name for one in self.session.get_inputs()]
        fed = {name: np.array([given[name]], np.int64) for name in wanted if name in given}
        try:
            made = self.session.run(None, fed)
        except Exception as error:  # onnxruntime documents no common base of its errors
            raise ModelError(f"{self.name} cannot read a text: {reason(error)}") from error
        return made, np.array(given["attention_mask"], np.float32)


def loaded(name: str) -> LocalModel:
    """The model of that name in the settings. Raises ModelError that says what is missing."""
    where = Path(_where(name)).expanduser()
    folder = where if where.is_dir() else _downloaded(_where(name))
    found = [folder / part / file for file in FILES for part in ("", "onnx")]
    model = next((path for path in found if path.is_file()), None)
    if model is None or not (folder / "tokenizer.json").is_file():
        raise ModelError(
            f"{folder} has no tokenizer.json beside a {' or '.join(FILES)}; export the model to"
            " ONNX, e.g. with optimum-cli export onnx, and name that folder"
        )
    try:
        return LocalModel.of(short_name(name), model, folder)
    except Exception as error:  # neither library documents a common base of its errors
        raise ModelError(f"the model in {folder} cannot be loaded: {reason(error)}") from error


def _downloaded(repository: str) -> Path:
    """From the hub's cache, else from the hub. A path that is no folder is looked for nowhere."""
    if repository.startswith(("/", ".", "~")) or repository.count("/") != 1:
        raise ModelError(
            f"there is no folder {repository}; name one that has a model in ONNX form, or a model"
            f" of the Hugging Face hub, such as {PREFIX}:{DEFAULT}"
        )
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ModelError(
            "models of the hub need kinmem[local]; install that, or name a folder"
        ) from error
    try:
        return Path(
            snapshot_download(repository, allow_patterns=list(HUB_FILES), etag_timeout=HUB_SECONDS)
        )
    except Exception as error:  # of whichever network library it uses
        raise ModelError(
            f"{repository} is not on this machine and cannot be downloaded ({reason(error)}); once"
            " there is a network it is, or name a folder that has the model in ONNX form"
        ) from error


def _longest(settings: Mapping[str, Any]) -> int:
    told = settings.get("max_seq_length") or settings.get("max_position_embeddings")
    return min(int(told or LONGEST), LONGEST)


def _told(folder: Path) -> dict[str, Any]:
    """All that its configuration files say, the later ones of the list over the earlier."""
    told: dict[str, Any] = {}
    for name in (
        "config.json",
        "1_Pooling/config.json",
        "config_sentence_transformers.json",
        "sentence_bert_config.json",
    ):
        path = folder / name
        if path.is_file():
            told |= json.loads(path.read_text("utf-8"))
    return told


def pooled(made: Sequence["np.ndarray[Any, Any]"], mask: Any, *, by_first: bool) -> Vectors:
    """One vector of a text: what the model gives as such, else its first or its mean token."""
    whole = next((one for one in made if one.ndim == 2), None)
    if whole is not None:
        return np.asarray(whole[0], np.float32)
    tokens = made[0][0]
    if by_first:
        return np.asarray(tokens[0], np.float32)
    return np.asarray((tokens * mask[:, None]).sum(0) / mask.sum(), np.float32)
