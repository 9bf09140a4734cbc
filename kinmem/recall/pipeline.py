"""How a question is answered. Each line is a stage in a file of its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kinmem.clock import Clock
from kinmem.llm.base import ChatModels, Embedder
from kinmem.models import Answer, Filters, Found, Hit, Memory, Scored, State
from kinmem.recall.confidence import judge
from kinmem.recall.conversation import Conversation, Sought
from kinmem.recall.entities import about, raised
from kinmem.recall.excerpt import excerpted
from kinmem.recall.former import former_first, heirs, led
from kinmem.recall.fuse import fuse
from kinmem.recall.helped import Helped, Wording
from kinmem.recall.join import join
from kinmem.recall.neighbours import lift
from kinmem.recall.profiles import PROFILES, Profile, profile_named
from kinmem.recall.question import Question, looking_back, understand, within
from kinmem.recall.rewrite import Recent
from kinmem.recall.search import Meaning, search, search_beside
from kinmem.recall.sense import sensible
from kinmem.recall.then import as_it_was
from kinmem.recall.trim import trim
from kinmem.recall.weigh import weigh
from kinmem.settings import Settings
from kinmem.store.base import Store

NO_NOISE = -1.0
MISSES = 3
FORMERS = 3
"""What is so no longer, by which what is so may be found."""
SURE = 0.6
"""From this confidence on nothing that gave way needs to be asked."""
ANSWERS_A_PART = frozenset({"+entity", "+words"})
"""Asked for two things, what tells of one is unlikely to answer both: Where do I live, and what is
my dog called? It shares a word or a name with the question."""
NO_MODELS = ChatModels()


@dataclass(frozen=True)
class Inquiry:
    """A question, and with what it is answered."""

    question: Question
    filters: Filters
    profile: Profile
    meaning: Meaning
    entities: Mapping[str, float]
    """How far entities in the question speak for memories, by id."""


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
        self._conversation = Conversation(store, settings.recall, clock)

    def __call__(
        self,
        text: str,
        limit: int,
        filters: Filters,
        mode: str | None = None,
        recent: Recent = list,
        seconds: float | None = None,
        *,
        turns: bool = False,
        session: str | None = None,
    ) -> Answer:
        """Hits, best first; none where nothing fits, or nothing that is likely to answer.

        Raises InvalidInput for an unknown mode. `turns`: what was said as well, of that `session`
        or of all.

        `recent` gives the conversation before the question. Models help as far as they are done
        within the setting's time, or `seconds` if that is less; what is not is in `degraded`.
        """
        profile = profile_named(mode or self._settings.profile, self._profiles)
        helped = Helped(self._models, self._store, self._settings, seconds)
        asked = helped.standalone(text, recent)
        helped.begin(asked)
        question = self._understood(asked, profile)
        inquiry = Inquiry(
            question,
            looking_back(question, filters),
            profile,
            Meaning(self._embedders, self._store, helped.time),
            self._about(asked, profile),
        )
        found, inquiry = self._search(inquiry)
        scored = helped.reranked(asked, self._ranked(inquiry, found, helped), limit)
        answer = self._answer(inquiry, found, trim(scored, limit, self._settings))
        answer = replace(
            answer,
            asked=asked if asked != text else None,
            degraded=found.degraded + helped.degraded,
        )
        best = max((hit.confidence or 0.0 for hit in answer.hits), default=0.0)
        if best < SURE:
            answer = self._by_former(answer, inquiry, filters, limit)
        if not (turns and self._settings.turns):
            return answer
        wanted = looking_back(question, filters)
        sought = Sought(question, wanted, session, profile, inquiry.meaning)
        return self._conversation(answer, sought, limit)

    def _ranked(self, inquiry: Inquiry, found: Found, helped: Helped) -> list[Scored]:
        """What was found, by the question and by its other wordings, the best first."""
        settings, profile, formula = self._settings, inquiry.profile, inquiry.profile.formula
        fusion = settings.fusion or profile.fusion
        scored = fuse(found, fusion, settings, formula)
        if wordings := helped.wordings():
            beside = helped.found(partial(self._beside, inquiry, wordings))
            others = [(trust, fuse(one, fusion, settings, formula)) for trust, one in beside]
            scored = join(scored, others, formula)
        if profile.weighing == "bounded":
            scored = lift(scored, formula)
            scored = raised(scored, found, inquiry.entities, settings.entity_boost, formula)
        return weigh(scored, inquiry.question, profile, settings, self._clock())

    def _answer(self, inquiry: Inquiry, found: Found, kept: Sequence[Scored]) -> Answer:
        """The memories, as they are to be shown; as misses, where they hardly answer."""
        words, moment = inquiry.question.words, inquiry.filters.as_of
        confidences, abstained, least = judge(kept, inquiry.question, found, self._settings)
        question = inquiry.question
        read = self._read(kept, confidences)
        if not abstained:
            read = [
                hit for hit in read if hit.confidence >= least or ANSWERS_A_PART & hit.why.keys()
            ]
        hits = former_first(read, question.until, asked=question.was is not None)
        if moment:
            hits = [as_it_was(hit, moment, words, self._store) for hit in hits]
        abstained = abstained or not hits and self._knows_something()
        if abstained:
            hits = sorted(hits, key=lambda hit: -hit.confidence)[:MISSES]
        shown = excerpted(hits, words, self._settings.tokens)
        return Answer(
            hits=[] if abstained else shown,
            abstained=abstained,
            misses=shown if abstained else [],
            words=tuple(words),
            noise=found.noise,
        )

    def _knows_something(self) -> bool:
        return bool(self._store.page(Filters(), "newest", 1).memories)

    def _by_former(self, answer: Answer, inquiry: Inquiry, wanted: Filters, limit: int) -> Answer:
        """Where nothing answers as well, something that is so no longer may: then what took its
        place does.

        "Am I single?" is answered by "we got married" because "I'm single" gave way to it. That
        fits what is `wanted`; the time that the question names is the former's.
        """
        filters, profile = inquiry.filters, inquiry.profile
        if filters.was or filters.states is not None:
            return answer
        moment = filters.as_of or self._clock()
        ended = replace(filters, as_of=None, states=(State.SUPERSEDED,))
        found = self._found(replace(inquiry, filters=ended, entities={}))
        if not found.candidates:
            return answer
        fusion = self._settings.fusion or profile.fusion
        scored = fuse(found, fusion, self._settings, profile.formula)
        scored = weigh(scored, inquiry.question, profile, self._settings, self._clock())
        kept = trim(scored, FORMERS, self._settings)
        confidences, abstained, _ = judge(kept, inquiry.question, found, self._settings)
        formers = [] if abstained else self._read(kept, confidences)
        hits = led(heirs(formers, self._store, wanted, moment), answer.hits)[:limit]
        return replace(answer, hits=hits, abstained=False, misses=[]) if hits else answer

    def _understood(self, text: str, profile: Profile) -> Question:
        now = self._clock().astimezone(self._zone)
        return understand(text, self._store.names(), now, profile.formula)

    def _about(self, text: str, profile: Profile) -> Mapping[str, float]:
        """How far entities in the question speak for memories, by id; only where that counts."""
        counts = self._settings.entity_boost > 0 and profile.weighing == "bounded"
        return about(text, self._store.graph, self._clock()) if counts else {}

    def _beside(self, inquiry: Inquiry, wordings: Sequence[Wording]) -> list[tuple[float, Found]]:
        return search_beside(
            inquiry.question,
            [(self._understood(one.text, inquiry.profile), one.is_made_up) for one in wordings],
            inquiry.filters,
            self._store,
            inquiry.meaning,
            inquiry.profile,
            self._settings.similarity_threshold,
        )

    def _search(self, inquiry: Inquiry) -> tuple[Found, Inquiry]:
        """Within the time that the question names, if it asks for no more; else wherever. With
        what it was found, the inquiry that found it."""
        narrowed = replace(inquiry, filters=within(inquiry.question, inquiry.filters))
        if narrowed.filters == inquiry.filters:
            return self._found(inquiry), inquiry
        found = self._found(narrowed)
        if found.candidates:  # said then is answer enough, whatever it is about
            return replace(found, noise=NO_NOISE), narrowed
        return self._found(inquiry), inquiry

    def _found(self, inquiry: Inquiry) -> Found:
        found = search(
            inquiry.question,
            inquiry.filters,
            self._store,
            inquiry.meaning,
            inquiry.profile,
            self._settings.similarity_threshold,
            inquiry.entities,
        )
        if not self._settings.abstain:
            return found
        return sensible(inquiry.question, found, inquiry.meaning.embedder)

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
