"""How a question is answered. Each line is a stage in a file of its name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from kinmem.clock import Clock
from kinmem.llm.base import ChatModels, Embedder
from kinmem.models import Answer, Filters, Found, Hit, Scored
from kinmem.recall.confidence import judge
from kinmem.recall.excerpt import excerpted
from kinmem.recall.fuse import fuse
from kinmem.recall.helped import Helped, Wording
from kinmem.recall.join import join
from kinmem.recall.neighbours import lift
from kinmem.recall.profiles import PROFILES, Profile, profile_named
from kinmem.recall.question import Question, understand, within
from kinmem.recall.rewrite import Recent
from kinmem.recall.search import Meaning, search, search_beside
from kinmem.recall.trim import trim
from kinmem.recall.weigh import weigh
from kinmem.settings import Settings
from kinmem.store.base import Store

NO_NOISE = -1.0
MISSES = 3
NO_MODELS = ChatModels()


class Recall:
    """Answers "what do we know about this?" for one Kin."""

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        settings: Settings,
        clock: Clock,
        models: ChatModels = NO_MODELS,
        profiles: Mapping[str, Profile] = PROFILES,
    ) -> None:
        self._store = store
        self._embedders = embedders
        self._models = models
        self._profiles = profiles
        self._settings = settings.recall
        self._zone = settings.general.zone
        self._clock = clock

    def __call__(
        self,
        text: str,
        limit: int,
        filters: Filters,
        mode: str | None = None,
        recent: Recent = list,
        seconds: float | None = None,
    ) -> Answer:
        """Hits, best first; none where nothing fits, or nothing that is likely to answer.

        Raises InvalidInput for an unknown mode.

        `recent` gives the conversation before the question. Models help as far as they are done
        within the setting's time, or `seconds` if that is less; what is not is in `degraded`.
        """
        settings = self._settings
        profile = profile_named(mode or settings.profile, self._profiles)
        helped = Helped(self._models, self._store, settings, seconds)
        asked = helped.standalone(text, recent)
        helped.begin(asked)
        question = self._understood(asked, profile)
        meaning = Meaning(self._embedders, self._store, helped.time)
        found, filters = self._search(question, filters, profile, meaning)
        fusion = settings.fusion or profile.fusion
        formula = profile.formula
        scored = fuse(found, fusion, settings, formula)
        if wordings := helped.wordings():
            beside = helped.found(
                partial(self._beside, question, wordings, filters, profile, meaning)
            )
            others = [(trust, fuse(one, fusion, settings, formula)) for trust, one in beside]
            scored = join(scored, others, formula)
        if profile.weighing == "bounded":
            scored = lift(scored, formula)
        scored = weigh(scored, question, profile, settings, self._clock())
        scored = helped.reranked(asked, scored, limit)
        kept = trim(scored, limit, settings)
        confidences, abstained = judge(kept, question, found, settings)
        hits = self._read(kept, confidences)
        if filters.as_of:
            hits = [self._as_it_was(hit, filters.as_of) for hit in hits]
        shown = excerpted(hits[:MISSES] if abstained else hits, question.words, settings.tokens)
        return Answer(
            [] if abstained else shown,
            found.degraded + helped.degraded,
            abstained=abstained,
            misses=shown if abstained else [],
            asked=asked if asked != text else None,
            words=tuple(question.words),
            noise=found.noise,
        )

    def _understood(self, text: str, profile: Profile) -> Question:
        now = self._clock().astimezone(self._zone)
        return understand(text, self._store.names(), now, profile.formula)

    def _beside(
        self,
        question: Question,
        wordings: Sequence[Wording],
        filters: Filters,
        profile: Profile,
        meaning: Meaning,
    ) -> list[tuple[float, Found]]:
        return search_beside(
            question,
            [(self._understood(one.text, profile), one.is_made_up) for one in wordings],
            filters,
            self._store,
            meaning,
            profile,
            self._settings.similarity_threshold,
        )

    def _search(
        self, question: Question, filters: Filters, profile: Profile, meaning: Meaning
    ) -> tuple[Found, Filters]:
        """Within the time that the question names, if it asks for no more; else wherever. With
        what it was found, the filters it was found with."""
        threshold = self._settings.similarity_threshold
        narrowed = within(question, filters)
        found = search(question, narrowed, self._store, meaning, profile, threshold)
        if narrowed == filters:
            return found, filters
        if found.candidates:  # said then is answer enough, whatever it is about
            return replace(found, noise=NO_NOISE), narrowed
        found = search(question, filters, self._store, meaning, profile, threshold)
        return found, filters

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

    def _read(self, scored: Sequence[Scored], confidences: Sequence[float]) -> list[Hit]:
        memories = self._store.memories([one.candidate.id for one in scored])
        return [
            Hit(memories[one.candidate.id], one.score, one.why, confidence=confidence)
            for one, confidence in zip(scored, confidences, strict=True)
            if one.candidate.id in memories
        ]
