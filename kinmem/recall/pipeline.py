"""How a question is answered: fifteen stages in order; docs/recall.md has a section for each.

The number behind a line is the one that the first line of the stage's file begins with; the file is
the one that the function is imported from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinmem.clock import Clock
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.deadline import Attempts, Deadline
from kinmem.llm.prompts import today
from kinmem.models import Answer, Asked, Filters, Found, Hit
from kinmem.recall.confidence import judge, weak_last
from kinmem.recall.conversation import Conversation, Sought
from kinmem.recall.excerpt import hits_of, shown
from kinmem.recall.expand import Expansion
from kinmem.recall.fallback import fall_back, knows_something
from kinmem.recall.fuse import fuse, lift
from kinmem.recall.judging import Judging, judged
from kinmem.recall.profiles import PROFILES, Profile, profile_named
from kinmem.recall.question import Question, looking_back, understand, unstamped
from kinmem.recall.rerank import rerank
from kinmem.recall.rewrite import Recent, rewrite
from kinmem.recall.search import Inquiry, Meaning, search
from kinmem.recall.standing_instructions import instructed, orders_near
from kinmem.recall.superseded import former_first
from kinmem.recall.trim import trim, without_copies
from kinmem.recall.weigh import lowered, weigh
from kinmem.recall.working_prompt import (
    MATCHING,
    NEAREST,
    answering,
    noise_of,
    sought_in,
    touched,
)
from kinmem.settings import Settings
from kinmem.store.base import Store

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

        `recent` gives the conversation before the question. Models help as far as they are done
        within the setting's time, or `seconds` if that is less; what is not is in `degraded`.
        `turns`: what was said as well, of that `session` or of all. Raises InvalidInput for an
        unknown mode.
        """
        store, models, settings = self._store, self._models, self._settings
        profile = profile_named(mode or settings.profile, self._profiles)
        attempts = Attempts(min(settings.deadline, seconds or settings.deadline))
        day, text = today(self._clock().astimezone(self._zone)), unstamped(text)

        asked = rewrite(text, recent, store, models, attempts, day, settings)  # 1
        expansion = Expansion(asked, store, models, attempts, day)  # thinks while 2 to 4 are done
        inquiry = self._understood(asked, filters, limit, profile, attempts)  # 2
        question, is_bounded = inquiry.question, profile.weighing == "bounded"
        found, inquiry = search(inquiry)  # 3
        scored = fuse(found, profile, settings)  # 4
        scored = expansion.expand(scored, inquiry, settings)  # 5
        if is_bounded:
            scored = lift(scored, profile.formula)
            scored = instructed(scored, found, inquiry.orders, profile.formula)  # 6
        scored = weigh(scored, question, profile, settings, inquiry.now)  # 7
        scored = lowered(without_copies(scored, store.kin), inquiry.filters.here)
        scored = judged(scored, found, limit, inquiry.judging, is_counted=is_bounded)  # 8
        scored = rerank(asked, scored, limit, models.rerank, attempts)  # 9
        kept = inquiry.judging.read(trim(scored, limit, settings))  # 10
        confidences, abstained, least = judge(kept, question, found, settings)  # 11
        hits = weak_last(hits_of(kept, confidences, store), abstained, least)
        hits = former_first(hits, question.until, asked=question.was is not None)  # 12
        hits = shown(hits, question.words, inquiry.filters.as_of, store, settings.tokens)  # 13
        answer = self._answer(hits, found, question, attempts)
        answer = replace(answer, asked=asked if asked != text else None)
        answer = fall_back(answer, inquiry, found, kept, filters)  # 14
        if not (turns and settings.turns):
            return answer
        wanted = looking_back(question, filters)
        sought = Sought(question, wanted, session, profile, inquiry.meaning)
        return self._conversation(answer, sought, limit)  # 15

    def _understood(
        self, text: str, filters: Filters, limit: int, profile: Profile, attempts: Attempts
    ) -> Inquiry:
        """The question taken apart, and with what it is answered."""
        now = self._clock().astimezone(self._zone)
        question = understand(text, self._store.names(), now, profile.formula)
        filters = looking_back(question, filters)
        meaning = Meaning(self._embedders, self._store.index, attempts.time)
        return Inquiry(
            question=question,
            filters=filters,
            limit=limit,
            profile=profile,
            meaning=meaning,
            orders=orders_near(question, filters, self._store, meaning, profile),
            judging=Judging(self._models.judge, text, attempts.time),
            store=self._store,
            settings=self._settings,
            now=now,
        )

    def _answer(
        self, hits: list[Hit], found: Found, question: Question, attempts: Attempts
    ) -> Answer:
        is_open = all(hit.weak for hit in hits)
        return Answer(
            hits=hits,
            degraded=found.degraded + attempts.failed,
            abstained=is_open and (bool(hits) or knows_something(self._store)),
            words=tuple(question.words),
            noise=found.noise,
        )

    @property
    def reads(self) -> bool:
        """Whether the judge of language reads what is found, now."""
        return self._models.judge is not None and self._models.judge.ready

    def beside(self, prompt: str, answer: Answer, filters: Filters, seconds: float) -> Answer:
        """The answer to a working prompt, with what it touches beside what answers it. Where all
        is near to all, as in languages that the embedder does not know, that is noise."""
        meaning = Meaning(self._embedders, self._store.index, Deadline(seconds))
        vectors = meaning.of([prompt])
        vector = None if vectors is None else vectors[0]
        asked = Asked(sought_in(prompt), vector, meaning.embedder.name, NEAREST, MATCHING, MATCHING)
        found = self._store.index.search(asked, filters)
        judging = Judging(self._models.judge, prompt, Deadline(seconds))
        chosen = touched(prompt, found, meaning.embedder.calibration, judging)
        answering_it = answering(prompt, answer.hits)
        known = {hit.memory.id for hit in answering_it}
        others = [one for one in chosen if one.candidate.id not in known]
        hits = answering_it + hits_of(others, [one.score for one in others], self._store)
        noise = answer.noise if answer.noise < 0 else max(answer.noise, noise_of(found))
        return replace(answer, touched=tuple(hits), noise=noise)
