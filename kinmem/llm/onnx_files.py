"""The files of a model in a folder, laid out as sentence-transformers and the hub lay them out."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinmem.errors import ModelError
from kinmem.llm.base import Purpose

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
