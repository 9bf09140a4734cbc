"""Models that are asked for one answer, all of them within one time: what fails is left out."""

import logging
from collections.abc import Callable, Iterable

from kinmem.errors import ModelError
from kinmem.llm.deadline import Deadline, Result

logger = logging.getLogger(__name__)

FOR_VECTORS = 0.5
"""Seconds that whoever thinks leaves of the time for the vectors of what was thought of."""
FOR_A_MODEL = 2.5
"""Seconds that are left for each model which is asked later. Where there are not so many, all have
an equal share, and so have the vectors."""


class Attempts:
    """The time that is left for models, and those that failed."""

    def __init__(self, seconds: float) -> None:
        self.time = Deadline(seconds)
        self._failed: dict[str, None] = {}

    @property
    def failed(self) -> tuple[str, ...]:
        """The stages that failed or were late, each once."""
        return tuple(self._failed)

    def share(self, later: int) -> float:
        """Seconds for whoever thinks now, with so many models to be asked `later`."""
        left = self.time.left
        return max(left - FOR_VECTORS - FOR_A_MODEL * later, left / (later + 2))

    def tried(self, stage: str, work: Callable[[], Result]) -> Result | None:
        """What the work returns; None, and noted, where a model fails."""
        try:
            return work()
        except ModelError as error:
            logger.info("%s is left out: %s", stage, error)
            self._failed[stage] = None
            return None

    def note(self, stages: Iterable[str]) -> None:
        """That nothing came of these."""
        self._failed.update(dict.fromkeys(stages))
