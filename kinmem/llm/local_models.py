"""Models of the user's choice that run in this process: `local:` and a folder, or a model of the
hub.

The hub is huggingface.co. Its own library caches what it downloads.
"""

import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from math import exp
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration
from kinmem.llm.deadline import Deadline
from kinmem.llm.model_files import CONFIGURATION, TOKENIZER, files_in, fingerprint
from kinmem.llm.onnx import OnnxEmbedder, OnnxModel, reason, run
from kinmem.llm.vectors import ORDERS, STATEMENTS, Axis
from kinmem.models import Vectors

PREFIX = "local"
# Kore's default: 50 languages, 384 wide, 471 MB in full precision.
DEFAULT = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
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

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
# Files to download. Full precision is right on every processor; the hub's 8-bit files are not.
WANTED = [TOKENIZER, *CONFIGURATION, "model.onnx", "onnx/model.onnx", "*model.onnx_data"]

# Texts of which no two share a subject, to measure how close a model places unrelated texts.
UNRELATED = (
    "The dishwasher was repaired in March.",
    "Ana is allergic to peanuts.",
    "Der Zug nach Wien fährt um acht.",
    "The deployment runs on three servers.",
    "Mi hermana vive en Sevilla.",
    "We planted tomatoes behind the shed.",
    "Le chat dort sur le canapé.",
    "The invoice is due at the end of June.",
    "Tom practises the cello every evening.",
    "A storm took the roof off the barn.",
    "Il museo è chiuso il lunedì.",
    "Her favourite colour is dark green.",
    "The exam covers chapters four to nine.",
    "O cão precisa de uma vacina.",
    "They argued about the price of the boat.",
    "My password manager syncs badly.",
)
# As far above the noise, in proportion, as the built-in embedder's thresholds.
NEAR, DUPLICATE = 0.8125, 0.875
# Noise from which a model cannot tell texts apart, so that nothing can be measured.
BLIND = 0.98
UNKNOWN = Calibration(noise=0.5, duplicate=0.95, near=0.85, measured=False)

# Lower bound for a logit: below it the sigmoid is 0 to the last digit, and exp would overflow.
SHORTEST = -30.0


class LocalReranker:
    """Implements Reranker for a network with a single output for a question and a text.

    Each pair is read alone. In a batch it would be padded to the longest, and an 8-bit model would
    score it differently beside other texts (onnx.py).
    """

    def __init__(self, name: str) -> None:
        self._model = local_model(name, "MEMORY_RERANK_MODEL")
        self.name = self._model.name

    def warm(self) -> None:
        """Load the model. If that fails, scores reports the reason."""
        with suppress(ModelError):
            self._model.load(Deadline(None))

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. The first call loads the model, and may be late for that reason alone."""
        time = Deadline(deadline)
        self._model.load(time)
        scores = []
        for text in texts:
            time.check(f"re-ranking {len(texts)} texts with {self.name}")
            scores.append(self._score(question, text))
        return scores

    def _score(self, question: str, text: str) -> float:
        """Score one text.

        The question gets at most half of what the model reads, the text the rest.
        """
        tokenizer = self._model.tokenizer
        room = self._model.files.length - tokenizer.num_special_tokens_to_add(True)
        asked, read = self._model.tokens(question), self._model.tokens(text)
        asked.truncate(room // 2)
        read.truncate(room - len(asked.ids))
        try:
            made = np.ravel(run(self._model.network, tokenizer.post_process(asked, read, True)))
        except Exception as error:  # onnxruntime documents no common base for its errors
            raise ModelError(f"{self.name} gave no score: {reason(error)}") from error
        if len(made) != 1 or not np.isfinite(made[0]):
            raise ModelError(
                f"{self.name} gave no score for a question and a text, but {made[:3].tolist()};"
                " a cross-encoder with one output is needed in MEMORY_RERANK_MODEL"
            )
        return 1 / (1 + exp(-max(SHORTEST, float(made[0]))))


class LocalEmbedder(OnnxEmbedder):
    """Implements Embedder for local:<folder> and local:<model of the hub>."""

    def __init__(self, name: str, *, width: int | None = None) -> None:
        """`width` is the width of this model's vectors in the store; None: the model's own
        width."""
        super().__init__(local_model(name, "MEMORY_EMBEDDING_MODEL"), width)
        self.calibration = UNKNOWN
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


def is_local(name: str) -> bool:
    return name == PREFIX or name.startswith(f"{PREFIX}:")


def needs_download(name: str) -> bool:
    """Return whether it is a model of the hub that is not on this machine yet."""
    found = _hub_name(name)
    return found is not None and cached(found) is None


def local_model(name: str, variable: str) -> OnnxModel:
    """Return the model of that name, not loaded yet. `variable` is the setting that names it.

    The stored name of a folder's model contains a fingerprint of its files: other files in the same
    folder are another model, whose vectors must not mix with these.
    """
    found = _hub_name(name)
    if found is not None:
        full = f"{PREFIX}:{found}"
        advice = HUB_ADVICE.format(variable=variable)
        return OnnxModel(full, lambda: files_in(downloaded(found)), advice, AGAIN)
    folder = Path(STORED.sub("", name).partition(":")[2]).expanduser().absolute()
    mark = fingerprint(folder)
    full = f"{PREFIX}:{folder}#{mark}" if mark else f"{PREFIX}:{folder}"
    return OnnxModel(full, lambda: files_in(folder), ADVICE.format(variable=variable))


def _hub_name(name: str) -> str | None:
    """Return owner/model, or None for a folder, which is written as an absolute path or begins with
    a dot or a tilde."""
    place = name.partition(":")[2] or DEFAULT
    return place if HUB_NAME.fullmatch(place) else None


def cached(name: str) -> Path | None:
    """Return the model's folder if it was downloaded before. Does not use the network."""
    try:
        return _folder(name, cached_only=True)
    except (ImportError, OSError, ValueError):
        return None


def downloaded(name: str) -> Path:
    """Return the model's folder, downloading it if necessary. Raises ModelError."""
    found = cached(name)
    if found is not None:
        return found
    try:
        return _folder(name, cached_only=False)
    except ImportError as error:
        raise ModelError("huggingface_hub is not installed: pip install 'kinmem[local]'") from error
    except Exception as error:  # from the library, its HTTP client, or the disk
        first, *_ = str(error).splitlines() or [""]
        raise ModelError(f"{name} is not downloaded, and the hub gave nothing: {first}") from error


def _folder(name: str, *, cached_only: bool) -> Path:
    # Late: the package is optional.
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=cached_only))


def calibrated(memories: Vectors, questions: Vectors) -> Calibration:
    """Calibrate a model by its vectors of texts without a common subject, embedded both as memories
    and as questions.

    noise: nine of ten pairs stay below it. The noise level of the built-in embedder, which was
    chosen for the best recall, is the same by this measure (0.18; it counts texts in seven
    languages, which look alike to an English model).
    """
    noise = _noise([float(a @ b) for a, b in combinations(memories, 2)])
    asked = questions @ memories.T
    unrelated = _noise(asked[~np.eye(len(asked), dtype=bool)])
    if noise >= BLIND or unrelated >= BLIND:
        return UNKNOWN
    return Calibration(
        noise,
        duplicate=noise + DUPLICATE * (1 - noise),
        near=noise + NEAR * (1 - noise),
        unrelated=unrelated,
    )


def _noise(cosines: "Sequence[float] | NDArray[np.float32]") -> float:
    return max(0.0, float(np.quantile(cosines, 0.9)))
