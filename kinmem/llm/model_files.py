"""The files of a model in a folder, as sentence-transformers and the hub lay them out; how they
come from the hub; whether those in the package are the ones that were released; and how they are
opened.

The hub is huggingface.co. Its own library caches what it downloads.
"""

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Purpose
from kinmem.settings.process import give_back

if TYPE_CHECKING:
    from tokenizers import Tokenizer


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
KINDS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
KNOWN = ("input_ids", "attention_mask", "token_type_ids")
# Outputs to read if there are several, by preference; never pooler_output before these.
WANTED = ("sentence_embedding", "last_hidden_state", "token_embeddings", "logits")
# Word pieces that a model reads if its files do not say, and the most that any model reads.
LONGEST = 512
# The known steps from a text to a vector. Leaving out any other step would give wrong vectors.
STEPS = {"Transformer", "Pooling", "Normalize"}
# The known ways to pool the vectors of word pieces into one (onnx.py).
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


# The networks in the package. Hashing one takes a tenth of the time that opening it takes.
SHIPPED = {
    "minilm/model_int8.onnx": "bf395cccca81e1006c62eba846ff88b182a472fa87c86e4747794e84886a5a2a",
    "e5/embedder.onnx": "8abeb820d17532abfe73b71e83167f697e0e94d77832c1cd9eab050967cf1807",
    "e5/judge.onnx": "da058e31f0dcb5a47d3d4f9c45cc076191f92efc7a3da75bd019a45bf78832df",
    "e5/relations.onnx": "20fd2b6cb44d044ceb76936dc8cc03b0170232ce4a956678094208f450c79918",
    "e5/sums.onnx": "3721dd19de9210fd097561fea6ec709261d662a9dae5d6b7709ec08718802925",
}


def check_shipped(path: Path) -> None:
    """Raise ModelError if it is a network of the package, but not the one that was released."""
    expected = SHIPPED.get(f"{path.parent.name}/{path.name}")
    if expected is None or path.parent.parent != Path(__file__).parent:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelError(
            f"{path} is not the file that was released; reinstall kinmem, e.g. with"
            " pip install --force-reinstall kinmem"
        )


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


@dataclass(frozen=True)
class Network:
    """A loaded network and its inputs."""

    session: Any
    inputs: dict[str, Any]
    output: str


def open_network(path: Path) -> Network:
    """Open a network. Raises ModelError if it has inputs other than those of a text."""
    session = session_of(path)
    inputs = {one.name: KINDS.get(one.type) for one in session.get_inputs()}
    strange = [name for name, kind in inputs.items() if name not in KNOWN or kind is None]
    if strange or "input_ids" not in inputs:
        raise ModelError(f"{path} wants {', '.join(inputs)}; known are {', '.join(KNOWN)}")
    outputs = [one.name for one in session.get_outputs()]
    return Network(session, inputs, next((one for one in WANTED if one in outputs), outputs[0]))


CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\u200b\ufeff\u00ad]"
SPACE = "▁"


def normalizer() -> Any:
    """Return what the words of E5 are read as, before they are cut into pieces."""
    from tokenizers import Regex, normalizers

    return normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(CONTROLS), ""),
            normalizers.Replace(Regex(r"\s+"), " "),
        ]
    )


def letters(normal: Any) -> "Tokenizer":
    """Return a tokenizer for which each letter is a piece: it knows where a letter comes from."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({"": 0}, ""))
    made.normalizer = normal
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always"),
            pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated"),
        ]
    )
    return made


def open_tokenizer(path: Path) -> "Tokenizer":
    """Open a tokenizer that neither truncates nor pads."""
    from tokenizers import Tokenizer  # late, as onnxruntime: a call may need no model

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five letters like any others
    return tokenizer


PREFIX = "local"
# Kore's default: 50 languages, 384 wide, 471 MB in full precision.
DEFAULT = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
# Files to download. Full precision is right on every processor; the hub's 8-bit files are not.
DOWNLOADED = [TOKENIZER, *CONFIGURATION, "model.onnx", "onnx/model.onnx", "*model.onnx_data"]


def is_local(name: str) -> bool:
    return name == PREFIX or name.startswith(f"{PREFIX}:")


def needs_download(name: str) -> bool:
    """Return whether it is a model of the hub that is not on this machine yet."""
    found = hub_name(name)
    return found is not None and cached(found) is None


def hub_name(name: str) -> str | None:
    """Return owner/model, or None for a folder, which is written as an absolute path or begins with
    a dot or a tilde."""
    place = name.partition(":")[2] or DEFAULT
    return place if HUB_NAME.fullmatch(place) else None


def cached(name: str) -> Path | None:
    """Return the model's folder if it was downloaded before. Does not use the network."""
    try:
        return _hub_folder(name, cached_only=True)
    except (ImportError, OSError, ValueError):
        return None


def downloaded(name: str) -> Path:
    """Return the model's folder, downloading it if necessary. Raises ModelError."""
    found = cached(name)
    if found is not None:
        return found
    try:
        return _hub_folder(name, cached_only=False)
    except ImportError as error:
        raise ModelError("huggingface_hub is not installed: pip install 'kinmem[local]'") from error
    except Exception as error:  # from the library, its HTTP client, or the disk
        first, *_ = str(error).splitlines() or [""]
        raise ModelError(f"{name} is not downloaded, and the hub gave nothing: {first}") from error


def _hub_folder(name: str, *, cached_only: bool) -> Path:
    # Late: the package is optional.
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return Path(snapshot_download(name, allow_patterns=DOWNLOADED, local_files_only=cached_only))
