"""Models of the user's own choice, run here: `local:` and a folder, or a model of the hub.

The hub is huggingface.co; its own library keeps what it downloads.
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
from kinmem.llm.embed_onnx import OnnxEmbedder
from kinmem.llm.onnx import CONFIGURATION, TOKENIZER, OnnxModel, files_in, fingerprint, reason
from kinmem.llm.vectors import ORDERS, STATEMENTS, Axis
from kinmem.models import Vectors

PREFIX = "local"
DEFAULT = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Kore's: 50 languages, 384 wide, 471 MB in full precision."""
AGAIN = 60.0
"""Seconds until the hub is asked once more."""
STORED = re.compile(r"#[0-9a-f]{8}$")
"""What our names of a folder end with."""
ADVICE = (
    "export the model to ONNX, e.g. with optimum-cli export onnx, name a folder that has it"
    " (local:/the/folder) in {variable}, or unset that; then start kinmem again"
)

HUB_ADVICE = (
    "it is tried again when it is needed, once a minute at most; or name a folder that has the"
    " model in ONNX form (local:/the/folder) in {variable}"
)

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
WANTED = [TOKENIZER, *CONFIGURATION, "model.onnx", "onnx/model.onnx", "*model.onnx_data"]
"""Full precision: right on every processor, which the 8-bit files of the hub are not."""

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
"""Texts of which no two have a subject in common: how near are such texts to this model?"""
# As far above the noise as the built-in model's limits are above its own.
NEAR, DUPLICATE = 0.8125, 0.875
BLIND = 0.98
"""Noise from which a model does not tell texts apart, and nothing can be measured in it."""
UNKNOWN = Calibration(noise=0.5, duplicate=0.95, near=0.85, measured=False)

SHORTEST = -30.0
"""Beyond it the sigmoid is 0 to the last digit, and exp would overflow."""


class LocalReranker:
    """Implements Reranker for a network that makes one number of a question and a text.

    Each pair is read alone: in a batch it would be filled up to the longest, and an 8-bit model
    would score it otherwise beside other texts (embed_onnx.py).
    """

    def __init__(self, name: str) -> None:
        self._model = local_model(name, "MEMORY_RERANK_MODEL")
        self.name = self._model.name

    def warm(self) -> None:
        """Loads it; what is wrong with it is told by scores."""
        with suppress(ModelError):
            self._model.load(Deadline(None))

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker. The first call loads it, and may be late for that reason alone."""
        time = Deadline(deadline)
        self._model.load(time)
        scores = []
        for text in texts:
            time.check(f"re-ranking {len(texts)} texts with {self.name}")
            scores.append(self._score(question, text))
        return scores

    def _score(self, question: str, text: str) -> float:
        """A question has half of what the model reads at most, the text what that leaves."""
        tokenizer = self._model.tokenizer
        room = self._model.files.length - tokenizer.num_special_tokens_to_add(True)
        asked, read = self._model.tokens(question), self._model.tokens(text)
        asked.truncate(room // 2)
        read.truncate(room - len(asked.ids))
        try:
            made = np.ravel(self._model.network.run(tokenizer.post_process(asked, read, True)))
        except Exception as error:  # onnxruntime documents no common base of its errors
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
        """`width` is what vectors of this name have in the store; None: as the model has it."""
        super().__init__(local_model(name, "MEMORY_EMBEDDING_MODEL"), width)
        self.calibration = UNKNOWN
        """Measured once the model is loaded."""
        self._measured = False

    @property
    def ready(self) -> bool:
        return self._measured and super().ready

    def _load(self, time: Deadline) -> None:
        super()._load(time)
        if not self._measured:  # two threads that both do it find the same
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
    """Whether it is the hub's and not on this machine yet."""
    found = _hub_name(name)
    return found is not None and cached(found) is None


def local_model(name: str, variable: str) -> OnnxModel:
    """The model of that name, not loaded yet. `variable`: where it is named.

    A folder's is stored with a fingerprint of its files: others in their place are another model,
    whose vectors do not mix with theirs.
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
    """owner/model; a folder is written with its whole path, or begins with a dot or a tilde."""
    place = name.partition(":")[2] or DEFAULT
    return place if HUB_NAME.fullmatch(place) else None


def cached(name: str) -> Path | None:
    """Its folder, if it was downloaded before; asks nobody."""
    try:
        return _folder(name, cached_only=True)
    except (ImportError, OSError, ValueError):
        return None


def downloaded(name: str) -> Path:
    """Its folder; what is there already is not asked for again. Raises ModelError."""
    found = cached(name)
    if found is not None:
        return found
    try:
        return _folder(name, cached_only=False)
    except ImportError as error:
        raise ModelError("huggingface_hub is not installed: pip install 'kinmem[local]'") from error
    except Exception as error:  # of the library, its HTTP client, or the disk
        first, *_ = str(error).splitlines() or [""]
        raise ModelError(f"{name} is not downloaded, and the hub gave nothing: {first}") from error


def _folder(name: str, *, cached_only: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=cached_only))


def calibrated(memories: Vectors, questions: Vectors) -> Calibration:
    """What similarity means to a model that gives these vectors to texts without a common subject,
    embedded as memories and as questions.

    noise: nine of ten pairs stay under it. The built-in model's, chosen by what recall gains, lies
    there as well (0.18; its texts in seven languages look alike to an English model).
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
