"""Embedding with a transformer of the user's own choice, run here."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kinmem.llm.base import Calibration
from kinmem.llm.deadline import Deadline
from kinmem.llm.embed_onnx import OnnxEmbedder
from kinmem.llm.local_model import local_model
from kinmem.llm.orders import ORDERS, STATEMENTS, Axis
from kinmem.models import Vectors

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
