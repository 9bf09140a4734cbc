"""Embedding with a transformer of the user's own choice, run here."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration, Purpose
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.local_model import LocalModel, loaded, pooled, short_name
from kinmem.llm.pieces import Window, pieces
from kinmem.llm.vectors import unit_rows
from kinmem.models import Vector, Vectors

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
UNKNOWN = Calibration(noise=0.5, duplicate=0.95, near=0.85, measured=False)


class LocalEmbedder:
    """Implements Embedder for local:<folder> and local:<model of the hub>."""

    def __init__(self, name: str, *, width: int | None = None) -> None:
        """`width` is what vectors of this name have in the store; None: as the model has it."""
        self.name = short_name(name)
        self.calibration = UNKNOWN
        """Measured once the model is loaded."""
        self._width = width
        self._model = Once(f"loading {self.name}", lambda: self._loaded(name))

    @property
    def dimension(self) -> int:
        if self._width is None:
            self.embed(["dimension"])
        assert self._width is not None, "embed knows the width once it has answered"
        return self._width

    @property
    def ready(self) -> bool:
        return self._model.made

    def warm(self) -> None:
        with suppress(ModelError):  # embed says why, to whoever asks
            self._model.get()

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder. Before the model is loaded it takes each letter for a token."""
        if not self.ready:
            return pieces(text, Window(limit, limit, len, overlap))
        model = self._model.get()
        room = model.longest - 2 - len(model.prompt("passage", "document"))
        return pieces(text, Window(limit, room, model.tokens, overlap))

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """See Embedder. Of a text longer than its window only the beginning is read."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        limit = Deadline(deadline)
        model = self._model.get(limit)
        names = ("query",) if purpose == "question" else ("passage", "document")
        rows = []
        for text in texts:
            limit.check(f"embedding {len(texts)} texts with {self.name}")
            rows.append(_vector(model, model.prompt(*names) + text))
        vectors = unit_rows(rows, len(texts), self._width, self.name)
        self._width = vectors.shape[1]
        return vectors

    def _loaded(self, name: str) -> LocalModel:
        model = loaded(name)
        rows = [_vector(model, text) for text in UNRELATED]
        self.calibration = calibrated(unit_rows(rows, len(rows), self._width, self.name))
        return model


def calibrated(unrelated: Vectors) -> Calibration:
    """What similarity means to a model that gives these vectors to texts without a common subject.

    noise: nine of ten pairs stay under it. The built-in model's, chosen by what recall gains, lies
    there as well (0.18; its texts in seven languages look alike to an English model).
    """
    cosines = [float(a @ b) for a, b in combinations(unrelated, 2)]
    noise = max(0.0, float(np.quantile(cosines, 0.9)))
    return Calibration(noise, noise + DUPLICATE * (1 - noise), noise + NEAR * (1 - noise))


def _vector(model: LocalModel, text: str) -> Vector:
    by_first = bool(model.settings.get("pooling_mode_cls_token"))
    made, mask = model.run(text)
    return pooled(made, mask, by_first=by_first)
