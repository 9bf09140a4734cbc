"""How a question is answered. Each line is a stage in a file of its name."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from kinmem.clock import Clock
from kinmem.llm.base import ChatModels, Embedder
from kinmem.models import Answer, Filters, Found, Hit, Memory, Scored, State
from kinmem.recall.confidence import judge
from kinmem.recall.entities import about, raised
from kinmem.recall.excerpt import excerpted
from kinmem.recall.former import former_first, heirs
from kinmem.recall.fuse import fuse
from kinmem.recall.helped import Helped, Wording
from kinmem.recall.join import join
from kinmem.recall.neighbours import lift
from kinmem.recall.profiles import PROFILES, Profile, profile_named
from kinmem.recall.question import Question, looking_back, understand, within
from kinmem.recall.rewrite import Recent
from kinmem.recall.search import Meaning, search, search_beside
from kinmem.recall.trim import trim
from kinmem.recall.weigh import weigh
from kinmem.settings import Settings
from kinmem.store.base import Store

NO_NOISE = -1.0
MISSES = 3
FORMERS = 3
"""What is so no longer, by which what is so may be found."""
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
        entities = self._about(asked, profile)
        wanted = filters
        filters = looking_back(question, filters)
        found, filters = self._search(question, filters, profile, meaning, entities)
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
            scored = raised(scored, found, entities, settings.entity_boost, formula)
        scored = weigh(scored, question, profile, settings, self._clock())
        scored = helped.reranked(asked, scored, limit)
        kept = trim(scored, limit, settings)
        confidences, abstained = judge(kept, question, found, settings)
        hits = former_first(self._read(kept, confidences))
        if filters.as_of:
            hits = [self._as_it_was(hit, filters.as_of) for hit in hits]
        shown = excerpted(hits[:MISSES] if abstained else hits, question.words, settings.tokens)
        answer = Answer(
            [] if abstained else shown,
            found.degraded + helped.degraded,
            abstained=abstained,
            misses=shown if abstained else [],
            asked=asked if asked != text else None,
            words=tuple(question.words),
            noise=found.noise,
        )
        if shown and not abstained:
            return answer
        return self._by_former(answer, question, filters, wanted, profile, meaning)

    def _by_former(
        self,
        answer: Answer,
        question: Question,
        filters: Filters,
        wanted: Filters,
        profile: Profile,
        meaning: Meaning,
    ) -> Answer:
        """Where nothing answers, something that is so no longer may: then what took its place does.

        "Am I single?" is answered by "we got married" because "I'm single" gave way to it. That
        fits what is `wanted`; the time that the question names is the former's.
        """
        settings = self._settings
        if filters.was or filters.states is not None:
            return answer
        moment = filters.as_of or self._clock()
        ended = replace(filters, as_of=None, states=(State.SUPERSEDED,))
        found = search(
            question, ended, self._store, meaning, profile, settings.similarity_threshold
        )
        scored = fuse(found, settings.fusion or profile.fusion, settings, profile.formula)
        scored = weigh(scored, question, profile, settings, self._clock())
        kept = trim(scored, FORMERS, settings)
        confidences, abstained = judge(kept, question, found, settings)
        formers = [] if abstained else self._read(kept, confidences)
        hits = heirs(formers, self._store, wanted, moment) if formers else []
        return replace(answer, hits=hits, abstained=False, misses=[]) if hits else answer

    def _understood(self, text: str, profile: Profile) -> Question:
        now = self._clock().astimezone(self._zone)
        return understand(text, self._store.names(), now, profile.formula)

    def _about(self, text: str, profile: Profile) -> Mapping[str, float]:
        """How far entities in the question speak for memories, by id; only where that counts."""
        counts = self._settings.entity_boost > 0 and profile.weighing == "bounded"
        return about(text, self._store.graph, self._clock()) if counts else {}

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
        self,
        question: Question,
        filters: Filters,
        profile: Profile,
        meaning: Meaning,
        also: Collection[str],
    ) -> tuple[Found, Filters]:
        """Within the time that the question names, if it asks for no more; else wherever. With
        what it was found, the filters it was found with."""
        threshold = self._settings.similarity_threshold
        narrowed = within(question, filters)
        found = search(question, narrowed, self._store, meaning, profile, threshold, also)
        if narrowed == filters:
            return found, filters
        if found.candidates:  # said then is answer enough, whatever it is about
            return replace(found, noise=NO_NOISE), narrowed
        found = search(question, filters, self._store, meaning, profile, threshold, also)
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
            _hit(memories[one.candidate.id], one, confidence)
            for one, confidence in zip(scored, confidences, strict=True)
            if one.candidate.id in memories
        ]


def _hit(memory: Memory, one: Scored, confidence: float) -> Hit:
    """Of a document the part that was found is shown."""
    part = one.candidate.part
    excerpt = None if part is None else one.candidate.content
    return Hit(memory, one.score, one.why, excerpt, part, confidence)
