"""How a question is answered. Each line is a stage in a file of its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kinmem.clock import Clock
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.deadline import Deadline
from kinmem.models import Answer, Asked, Filters, Found, Hit, Memory, Scored, State
from kinmem.prompts import today
from kinmem.recall.confidence import is_talk, judge
from kinmem.recall.conversation import Conversation, Sought
from kinmem.recall.elsewhere import lowered
from kinmem.recall.entities import about, raised
from kinmem.recall.excerpt import excerpted
from kinmem.recall.former import former_first, heirs, led
from kinmem.recall.fuse import fuse
from kinmem.recall.helped import Helped, Wording
from kinmem.recall.join import join
from kinmem.recall.judged import FOR_NOTES, Judging, judged
from kinmem.recall.neighbours import lift
from kinmem.recall.profiles import PROFILES, Profile, profile_named
from kinmem.recall.question import Question, looking_back, understand, unstamped, within
from kinmem.recall.rewrite import Recent
from kinmem.recall.search import Meaning, search, search_beside
from kinmem.recall.sense import sensible
from kinmem.recall.standing import MOST, SURELY, instructed, orders_near, ranked
from kinmem.recall.then import as_it_was
from kinmem.recall.touched import MATCHING, NEAREST, noise_of, sought_in, touched
from kinmem.recall.trim import own_instead, trim, without_copies
from kinmem.recall.weigh import weigh
from kinmem.settings import Settings
from kinmem.store.base import Store

NO_NOISE = -1.0
WEAK = 5
"""Hits below the bar that are shown, at most."""
FAINT = 0.5
"""Of the embedder's noise: where nothing surely answers, what is nearer than that is shown as weak.
Of 72 questions about 25 notes each, four had their answers below the noise."""
FORMERS = 3
"""What is so no longer, by which what is so may be found."""
SURE = 0.6
"""From this confidence on nothing that gave way needs to be asked."""
INSTRUCTIONS = 3
"""Weak hits that are standing instructions, at most."""
ANSWERS_A_PART = frozenset({"+entity", "+words", "+standing wish"})
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
    orders: Mapping[str, float]
    """How much of a standing instruction memories are that may apply, by id."""
    judging: Judging


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
        """Hits, best first, those that hardly answer after the others; none where nothing fits.

        Raises InvalidInput for an unknown mode. `turns`: what was said as well, of that `session`
        or of all.

        `recent` gives the conversation before the question. Models help as far as they are done
        within the setting's time, or `seconds` if that is less; what is not is in `degraded`.
        """
        text = unstamped(text)
        profile = profile_named(mode or self._settings.profile, self._profiles)
        day = today(self._clock().astimezone(self._zone))
        helped = Helped(self._models, self._store, self._settings, seconds, day)
        asked = helped.standalone(text, recent)
        helped.begin(asked)
        question = self._understood(asked, profile)
        filtered = looking_back(question, filters)
        meaning = Meaning(self._embedders, self._store, helped.time)
        inquiry = Inquiry(
            question,
            filtered,
            profile,
            meaning,
            self._about(asked, profile),
            self._orders(question, filtered, meaning, profile),
            Judging(self._models.judge, asked, helped.time),
        )
        found, inquiry = self._search(inquiry)
        scored = self._ranked(inquiry, found, helped)
        if is_talk([one.candidate for one in scored[:limit]], found):
            inquiry = replace(inquiry, judging=Judging(None, asked, helped.time))
        if profile.weighing == "bounded":
            scored = judged(scored, limit, inquiry.judging)
        scored = helped.reranked(asked, scored, limit)
        kept = inquiry.judging.read(trim(scored, limit, self._settings))
        answer = self._answer(inquiry, found, kept)
        answer = self._with_faint(answer, inquiry, found, kept, limit)
        answer = self._with_orders(answer, inquiry, found, limit)
        answer = replace(
            answer,
            asked=asked if asked != text else None,
            degraded=found.degraded + helped.degraded,
        )
        best = max((hit.confidence or 0.0 for hit in answer.hits), default=0.0)
        if best < SURE:
            answer = self._by_former(answer, inquiry, filters, limit)
        if self._is_open(answer):
            answer = self._by_faded(answer, inquiry, limit)
        if not (turns and self._settings.turns):
            return answer
        wanted = looking_back(question, filters)
        sought = Sought(question, wanted, session, profile, inquiry.meaning)
        return self._conversation(answer, sought, limit)

    @property
    def reads(self) -> bool:
        """Whether the judge of language reads what is found, now."""
        return self._models.judge is not None and self._models.judge.ready

    def beside(self, prompt: str, answer: Answer, filters: Filters, seconds: float) -> Answer:
        """The answer to a working prompt, with what it touches beside what answers it. Where all
        is near to all, as in languages that the embedder does not know, that is noise."""
        meaning = Meaning(self._embedders, self._store, Deadline(seconds))
        vectors = meaning.of([prompt])
        vector = None if vectors is None else vectors[0]
        asked = Asked(sought_in(prompt), vector, meaning.embedder.name, NEAREST, MATCHING, MATCHING)
        found = self._store.search(asked, filters)
        chosen = [Scored(one, chance, why) for one, chance, why in touched(prompt, found)]
        chosen = Judging(self._models.judge, prompt, Deadline(seconds)).read(chosen, FOR_NOTES)
        hits = self._read(chosen, [one.score for one in chosen])
        noise = answer.noise if answer.noise < 0 else max(answer.noise, noise_of(found))
        return replace(answer, touched=tuple(hits), noise=noise)

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
            scored = instructed(scored, found, inquiry.orders, formula)
        scored = weigh(scored, inquiry.question, profile, settings, self._clock())
        return lowered(without_copies(scored, self._store.kin), inquiry.filters.here)

    def _answer(self, inquiry: Inquiry, found: Found, kept: Sequence[Scored]) -> Answer:
        """The memories, as they are to be shown: after those that may answer the weak ones."""
        question, moment = inquiry.question, inquiry.filters.as_of
        confidences, abstained, least = judge(kept, question, found, self._settings)
        strong: list[Hit] = []
        weak: list[Hit] = []
        for hit in self._read(kept, confidences):
            is_weak = abstained or hit.confidence < least and not ANSWERS_A_PART & hit.why.keys()
            (weak if is_weak else strong).append(hit)
        hits = former_first(strong, question.until, asked=question.was is not None)
        weak.sort(key=lambda hit: -hit.confidence)
        hits += [replace(hit, weak=True) for hit in weak[:WEAK]]
        if moment:
            hits = [as_it_was(hit, moment, question.words, self._store) for hit in hits]
        return Answer(
            hits=excerpted(hits, question.words, self._settings.tokens),
            abstained=not strong and (bool(weak) or self._knows_something()),
            words=tuple(question.words),
            noise=found.noise,
        )

    def _with_faint(
        self, answer: Answer, inquiry: Inquiry, found: Found, kept: Sequence[Scored], limit: int
    ) -> Answer:
        """Where nothing surely answers, weak hits of what is far behind or below the noise, too.

        Not where the question means nothing, or the time that it asks for is answer enough.
        """
        room = min(limit - len(answer.hits), WEAK - sum(hit.weak for hit in answer.hits))
        sure = any((hit.confidence or 0.0) >= SURE for hit in answer.hits)
        noise = found.noise if found.scale is None else found.scale[0]
        was_read = any("rerank" in one.why for one in kept)
        if sure or was_read or room <= 0 or not self._settings.abstain:
            return answer
        if not 0 <= found.noise <= noise:
            return answer
        fusion = self._settings.fusion or inquiry.profile.fusion
        faint = replace(found, noise=FAINT * noise, threshold=0.0)
        scored = fuse(faint, fusion, self._settings, inquiry.profile.formula)
        scored = weigh(scored, inquiry.question, inquiry.profile, self._settings, self._clock())
        scored = without_copies(scored, self._store.kin)
        known = {one.candidate.id for one in kept}
        others = [one for one in scored if one.candidate.id not in known][:room]
        others = inquiry.judging.read(others)
        confidences, _, _ = judge(others, inquiry.question, found, self._settings)
        hits = [replace(hit, weak=True) for hit in self._read(others, confidences)]
        if moment := inquiry.filters.as_of:
            words = inquiry.question.words
            hits = [as_it_was(hit, moment, words, self._store) for hit in hits]
        return replace(answer, hits=[*answer.hits, *hits])

    def _with_orders(self, answer: Answer, inquiry: Inquiry, found: Found, limit: int) -> Answer:
        """Instructions that the question may fall under, though it has nothing else in common with
        them, as weak hits: where there is no room, in place of the last that hardly answer."""
        if not inquiry.orders or found.scale is None or not 0 <= found.noise <= found.scale[0]:
            return answer
        shown = {hit.memory.id for hit in answer.hits}
        orders = [
            Scored(candidate, 0.0, {"+standing wish": 0.0})
            for candidate, degree in ranked(found, inquiry.orders, inquiry.profile.formula)[:MOST]
            if degree >= SURELY and candidate.id not in shown
        ][:INSTRUCTIONS]
        hits = answer.hits[: limit - len(orders)]
        for hit in answer.hits[len(hits) :]:
            if (hit.confidence or 0.0) >= self._settings.abstain_below:
                hits.append(hit)
        room = orders[: limit - len(hits)]
        confidences, _, _ = judge(room, inquiry.question, found, self._settings)
        weak = [replace(hit, weak=True) for hit in self._read(room, confidences)]
        return replace(answer, hits=[*hits, *weak])

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
        found = self._found(replace(inquiry, filters=ended, entities={}, orders={}))
        if not found.candidates:
            return answer
        fusion = self._settings.fusion or profile.fusion
        scored = fuse(found, fusion, self._settings, profile.formula)
        scored = weigh(scored, inquiry.question, profile, self._settings, self._clock())
        kept = inquiry.judging.read(trim(scored, FORMERS, self._settings))
        confidences, abstained, _ = judge(kept, inquiry.question, found, self._settings)
        if abstained:
            return answer
        formers = self._read(kept, confidences)
        hits = led(heirs(formers, self._store, wanted, moment), answer.hits)
        hits = own_instead(hits, self._store.kin)[:limit]
        return replace(answer, hits=hits, abstained=all(hit.weak for hit in hits))

    def _is_open(self, answer: Answer) -> bool:
        """Whether nothing surely answers."""
        return answer.abstained or not answer.hits

    def _by_faded(self, answer: Answer, inquiry: Inquiry, limit: int) -> Answer:
        """Where nothing else answers, what has faded into the archive does; not what a person put
        there, who wants it kept and not recalled."""
        filters, profile = inquiry.filters, inquiry.profile
        if filters.include_archived or filters.states is not None or filters.as_of:
            return answer
        archived = replace(filters, was=None, states=(State.ARCHIVED,))
        found = self._found(replace(inquiry, filters=archived, entities={}))
        if not found.candidates:
            return answer
        fusion = self._settings.fusion or profile.fusion
        scored = fuse(found, fusion, self._settings, profile.formula)
        scored = weigh(scored, inquiry.question, profile, self._settings, self._clock())
        scored = without_copies(scored, self._store.kin)
        kept = inquiry.judging.read(trim(scored, limit, self._settings))
        confidences, abstained, _ = judge(kept, inquiry.question, found, self._settings)
        came_by = self._store.life.came_by([one.candidate.id for one in kept])
        faded = {id for id, (action, _) in came_by.items() if action == "faded"}
        hits = [hit for hit in self._read(kept, confidences) if hit.memory.id in faded]
        if abstained or not hits:
            return answer
        shown = excerpted(hits, inquiry.question.words, self._settings.tokens)
        return replace(answer, hits=[*shown, *answer.hits][:limit], abstained=False)

    def _understood(self, text: str, profile: Profile) -> Question:
        now = self._clock().astimezone(self._zone)
        return understand(text, self._store.names(), now, profile.formula)

    def _about(self, text: str, profile: Profile) -> Mapping[str, float]:
        """How far entities in the question speak for memories, by id; only where that counts."""
        counts = self._settings.entity_boost > 0 and profile.weighing == "bounded"
        return about(text, self._store.graph, self._clock()) if counts else {}

    def _orders(
        self, question: Question, filters: Filters, meaning: Meaning, profile: Profile
    ) -> Mapping[str, float]:
        """How much of a standing instruction memories are that may apply, by id."""
        if profile.weighing != "bounded" or profile.formula.standing_wish == 0:
            return {}
        vectors = meaning.of([question.bare])
        if vectors is None:
            return {}
        return orders_near(vectors[0], self._store, meaning.embedder, filters)

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
            [*inquiry.entities, *inquiry.orders],
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
