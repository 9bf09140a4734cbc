"""How a question is answered. Each line is a stage in a file of its name."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kinmem.clock import Clock
from kinmem.llm.base import Embedder
from kinmem.models import Answer, Filters, Found, Hit, Scored
from kinmem.recall.excerpt import excerpted
from kinmem.recall.fuse import fuse
from kinmem.recall.neighbours import lift
from kinmem.recall.profiles import Profile, profile_named
from kinmem.recall.question import Question, understand, within
from kinmem.recall.search import search
from kinmem.recall.trim import trim
from kinmem.recall.weigh import weigh
from kinmem.settings import Settings
from kinmem.store.base import Store

NO_NOISE = -1.0


class Recall:
    """Answers "what do we know about this?" for one Kin."""

    def __init__(
        self, store: Store, embedders: Sequence[Embedder], settings: Settings, clock: Clock
    ) -> None:
        self._store = store
        self._embedders = embedders
        self._settings = settings.recall
        self._zone = settings.general.zone
        self._clock = clock

    def __call__(self, text: str, limit: int, filters: Filters, mode: str | None = None) -> Answer:
        """Hits, best first, none where nothing fits. Raises InvalidInput for an unknown mode."""
        settings = self._settings
        profile = profile_named(mode or settings.profile)
        question = understand(text, self._store.names(), self._clock().astimezone(self._zone))
        found = self._search(question, filters, profile)
        scored = fuse(found, settings.fusion or profile.fusion, settings)
        if profile.weighing == "bounded":
            scored = lift(scored)
        scored = weigh(scored, question, profile, settings, self._clock())
        hits = self._read(trim(scored, limit, settings))
        if filters.as_of:
            hits = [self._as_it_was(hit, filters.as_of) for hit in hits]
        return Answer(
            excerpted(hits, question.words, settings.tokens),
            found.degraded,
            words=tuple(question.words),
            noise=found.noise,
        )

    def _search(self, question: Question, filters: Filters, profile: Profile) -> Found:
        """Within the time that the question names, if it asks for no more; else wherever."""
        threshold = self._settings.similarity_threshold
        narrowed = within(question, filters)
        found = search(question, narrowed, self._store, self._embedders, profile, threshold)
        if narrowed == filters:
            return found
        if found.candidates:  # said then is answer enough, whatever it is about
            return replace(found, noise=NO_NOISE)
        return search(question, filters, self._store, self._embedders, profile, threshold)

    def _as_it_was(self, hit: Hit, moment: datetime) -> Hit:
        """With the wording of that moment, if the content was changed since."""
        memory = hit.memory
        if memory.content_updated_at <= moment:
            return hit
        content = memory.content
        for line in self._store.history(memory.id):  # newest first
            if line.at > moment:
                content = line.before.get("content", content)
        return replace(hit, memory=replace(memory, content=content))

    def _read(self, scored: Sequence[Scored]) -> list[Hit]:
        memories = self._store.memories([one.candidate.id for one in scored])
        return [
            Hit(memories[one.candidate.id], one.score, one.why)
            for one in scored
            if one.candidate.id in memories
        ]
