"""What models add to one question, all of them within one time; what fails is left out and told."""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from kinmem.errors import ModelError
from kinmem.llm.base import ChatModels
from kinmem.llm.deadline import Deadline, Result, awaited, started
from kinmem.models import Scored
from kinmem.recall.expand import imagined, variations
from kinmem.recall.rerank import rerank
from kinmem.recall.rewrite import Recent, completed, rewritten
from kinmem.rules.talk.followup import needs_context
from kinmem.settings import RecallSettings
from kinmem.store.base import Store
from kinmem.text import folded

logger = logging.getLogger(__name__)

KNOWN_SUBJECTS = 10_000
FOR_VECTORS = 0.5
"""Seconds that whoever thinks leaves of the time for the vectors of what was thought of."""
FOR_A_MODEL = 2.5
"""Seconds that are left for each model which is asked later. Where there are not so many, all have
an equal share, and so have the vectors."""


@dataclass(frozen=True)
class Wording:
    """Another text that is searched for beside the question."""

    text: str
    is_made_up: bool
    """Whether its words may be inventions (HyDE), so that only its meaning is searched for."""


class Helped:
    """The models' part in answering one question."""

    def __init__(
        self,
        models: ChatModels,
        store: Store,
        settings: RecallSettings,
        seconds: float | None,
        today: str,
    ) -> None:
        """`today`: see prompts.today."""
        self._today = today
        self._models = models
        self._store = store
        self._threshold = settings.rewrite_threshold
        self.time = Deadline(min(settings.deadline, seconds or settings.deadline))
        self._asked: list[tuple[str, Future[list[Wording]]]] = []
        self._thinking = self.time
        self._failed: dict[str, None] = {}

    @property
    def degraded(self) -> tuple[str, ...]:
        """The stages that failed or were late, each once: rewrite, multi_query, hyde, rerank."""
        return tuple(self._failed)

    def standalone(self, text: str, recent: Recent) -> str:
        """The question, or what it means within the conversation before it."""
        if not needs_context(text, self._threshold) or not (said := recent()):
            return text
        model = self._models.rewrite
        if model is not None:
            most = self._share(later=self._expands + self._reranks)
            done = self._tried("rewrite", lambda: rewritten(text, said, model, self._today, most))
            if done is not None:
                return done
        return completed(text, said, {folded(subject) for subject in self._subjects()})

    def begin(self, text: str) -> None:
        """Let the models think of other wordings while something else is done."""
        vary, imagine = self._models.multi_query, self._models.hyde
        if not self._expands:
            return
        self._thinking = Deadline(left := self._share(later=self._reranks))
        if vary is not None:
            subjects = self._subjects()
            self._start(
                "multi_query",
                lambda: [
                    Wording(one, False)
                    for one in variations(text, subjects, vary, self._today, left)
                ],
            )
        if imagine is not None:
            self._start("hyde", lambda: [Wording(imagined(text, imagine, self._today, left), True)])

    def wordings(self) -> list[Wording]:
        """What they thought of since `begin`, as far as it came while it can still be used."""
        found: list[Wording] = []
        for stage, future in self._asked:
            found += self._tried(stage, partial(awaited, self._thinking, stage, future)) or []
        return found

    def found(self, search: Callable[[], list[Result]]) -> list[Result]:
        """What a search for the wordings finds; nothing, and told, where the embedder fails."""
        try:
            return search()
        except ModelError as error:
            logger.info("other wordings are left out: %s", error)
            self._failed.update(dict.fromkeys(stage for stage, _ in self._asked))
            return []

    def reranked(self, question: str, scored: list[Scored], limit: int) -> list[Scored]:
        """In the order of the model that reads question and memories together, if there is one."""
        model = self._models.rerank
        if model is None or len(scored) < 2:
            return scored
        done = self._tried("rerank", lambda: rerank(question, scored, limit, model, self.time.left))
        return scored if done is None else done

    @property
    def _expands(self) -> bool:
        return self._models.multi_query is not None or self._models.hyde is not None

    @property
    def _reranks(self) -> bool:
        return self._models.rerank is not None

    def _share(self, later: int) -> float:
        """Seconds for whoever thinks now, with so many models to be asked `later`."""
        left = self.time.left
        return max(left - FOR_VECTORS - FOR_A_MODEL * later, left / (later + 2))

    def _subjects(self) -> list[str]:
        return self._store.subjects("", KNOWN_SUBJECTS)

    def _start(self, stage: str, work: Callable[[], list[Wording]]) -> None:
        self._asked.append((stage, started(work)))

    def _tried(self, stage: str, work: Callable[[], Result]) -> Result | None:
        try:
            return work()
        except ModelError as error:
            logger.info("%s is left out: %s", stage, error)
            self._failed[stage] = None
            return None
