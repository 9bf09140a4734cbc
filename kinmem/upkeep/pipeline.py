"""The memories of a Kin become better ones: the steps, and with whom they work."""

from collections import Counter

from kinmem.clock import Clock
from kinmem.llm.base import ChatModel, Embedder
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.compress import compress
from kinmem.upkeep.consolidate import consolidate
from kinmem.upkeep.prune import prune
from kinmem.upkeep.recalibrate import recalibrate


class Upkeep:
    """Steps that may be repeated at any time; each is a file of its name."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        model: ChatModel | None,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._model = model
        self._settings = settings
        self._clock = clock

    def consolidate(self, without_model: bool | None, counts: Counter[str]) -> None:
        """Similar memories become one, by the model if there is one; without, if KINMEM_COMPRESS
        or the caller says so. What was done is added to `counts`, also before it fails."""
        settings, clock = self._settings, self._clock
        if self._model is not None:
            consolidate(self._store, self._embedder, self._model, settings, clock, counts)
        if settings.upkeep.compress if without_model is None else without_model:
            compress(self._store, self._embedder, settings, clock, counts)

    def recalibrate(self) -> Counter[str]:
        return recalibrate(self._store, self._clock)

    def prune(self) -> Counter[str]:
        return prune(self._store, self._clock)
