"""How a question is answered: twelve stages in order; docs/recall.md has a section for each.

The number behind a line is the stage, as given in the first line of the file that the function is
imported from.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinmem.clock import Clock
from kinmem.errors import InvalidInput
from kinmem.language import FollowUp
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.deadline import Attempts, Deadline
from kinmem.models import LIVE, Answer, Asked, Filters, Found, Hit
from kinmem.recall.confidence import judge, likeliest_first, weak_last
from kinmem.recall.conversation import Conversation, Sought
from kinmem.recall.excerpt import hits_of, shown
from kinmem.recall.expand import Expansion
from kinmem.recall.fallback import fall_back, knows_something
from kinmem.recall.fuse import fuse, lift
from kinmem.recall.profiles import PROFILES, Profile
from kinmem.recall.question import (
    Question,
    Recent,
    Request,
    looking_back,
    rewrite,
    understand,
    unstamped,
)
from kinmem.recall.rerank import Judging, judged, rerank
from kinmem.recall.search import Inquiry, Meaning, search
from kinmem.recall.superseded import former_first, newer_first
from kinmem.recall.trim import everywhere_instead, trim, without_copies
from kinmem.recall.weigh import instructed, lowered, weigh
from kinmem.recall.working_prompt import MATCHING, NEAREST, answering, noise_of, sought_in, touched
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import says_here

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

    def __call__(self, request: Request, recent: Recent = list) -> Answer:
        """Return hits, best first, weak ones last; none if nothing fits.

        `recent` returns the conversation before the question. Models that did not finish in time
        are named in `degraded`. Raises InvalidInput for an unknown mode.
        """
        store, models, settings = self._store, self._models, self._settings
        limit, filters = request.limit, request.filters
        profile = self._profile_named(settings.profile if request.mode is None else request.mode)
        attempts = Attempts(min(settings.deadline, request.seconds or settings.deadline))
        now, text = self._clock().astimezone(self._zone), unstamped(request.text)

        asked = rewrite(text, recent, store, models, attempts, now, settings)  # 1
        expansion = Expansion(asked, store, models, attempts, now)  # models write during 1 to 3
        inquiry = self._understood(asked, filters, limit, profile, attempts)  # 1
        question, is_bounded = inquiry.question, profile.weighing == "bounded"
        found, inquiry = search(inquiry)  # 2
        scored = fuse(found, profile, settings)  # 3
        scored = expansion.expand(scored, inquiry, settings)  # 4
        if is_bounded:
            scored = lift(scored, profile.formula)
            scored = instructed(scored, found, profile.formula)
        scored = weigh(scored, question, profile, settings, inquiry.now)  # 5
        scored = without_copies(scored, store.kin)
        scored = lowered(scored, inquiry.filters.here, store.kin, store.others.confirmed)
        scored = judged(scored, found, limit, inquiry.judging, is_counted=is_bounded)  # 6
        scored = rerank(asked, scored, limit, models.rerank, attempts)  # 6
        kept = inquiry.judging.read(trim(scored, limit, settings))  # 7
        confidences, abstained, least = judge(kept, question, found, settings)  # 8
        if is_bounded:
            kept, confidences = likeliest_first(kept, confidences)
        hits = hits_of(kept, confidences, store)
        hits = weak_last(hits, abstained, least, only_here=says_here(text))
        hits = former_first(hits, question.until, asked=question.was is not None)  # 9
        hits = shown(hits, question.words, inquiry.filters.as_of, store, settings.tokens)  # 10
        answer = self._answer(hits, found, question, attempts)
        answer = replace(answer, asked=asked if asked != text else None)
        answer = fall_back(answer, inquiry, found, kept, filters)  # 11
        if not (request.turns and settings.turns):
            return answer
        wanted = looking_back(question, filters)
        sought = Sought(question, wanted, request.session, profile, inquiry.meaning)
        return self._conversation(answer, sought, limit)  # 12

    def _profile_named(self, name: str) -> Profile:
        if name not in self._profiles:
            raise InvalidInput(f"mode {name!r} is none of {', '.join(self._profiles)}")
        return self._profiles[name]

    def _understood(
        self, text: str, filters: Filters, limit: int, profile: Profile, attempts: Attempts
    ) -> Inquiry:
        """Analyse the question and gather what is needed to answer it."""
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
            abstained=is_open and (bool(found.candidates) or knows_something(self._store)),
            words=tuple(question.words),
            noise=found.noise,
            by_time=found.by_time,
            of_past=question.was is not None,
        )

    @property
    def reads(self) -> bool:
        """Whether the judge currently reads hits: there is one, and it is loaded."""
        return self._models.judge is not None and self._models.judge.ready

    def beside(self, prompt: str, answer: Answer, filters: Filters, seconds: float) -> Answer:
        """Add to the answer to a working prompt the memories that the prompt touches.

        In a language that the embedder does not know all texts are near each other; the answer's
        `noise` is raised accordingly.
        """
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
        noise = max(answer.noise, noise_of(found))
        return replace(answer, touched=tuple(hits), noise=noise)


MOST = 500


class RecentAnswers:
    """Recall with a cache of its last 500 answers, which are valid until the store changes."""

    def __init__(self, recall: Recall, store: Store, clock: Clock, threshold: int) -> None:
        """For `threshold`, see language.FollowUp."""
        self._recall = recall
        self._threshold = threshold
        self._store = store
        self._clock = clock
        self._answers: OrderedDict[object, Answer] = OrderedDict()

    def __call__(self, request: Request, recent: Recent = list) -> Answer:
        """Answer from the cache or from recall; see Recall and newer_first.

        Degraded answers and answers that depend on the conversation are not cached. Conflicts are
        looked up each time, since a review may settle one while the answer is cached.
        """
        with self._store.reading():
            if FollowUp(unstamped(request.text)).is_likely(self._threshold):
                answer = self._recall(request, recent)
            else:
                answer = self._kept(request, recent)
            answer = replace(answer, hits=everywhere_instead(answer.hits))
            if answer.of_past:  # conflicts are only about the present
                return answer
            return newer_first(answer, self._store, request.filters, request.limit)

    def _kept(self, request: Request, recent: Recent) -> Answer:
        # Ages and recency change with the minute, everything else with the revision.
        minute = self._clock().replace(second=0, microsecond=0)
        asked = replace(request, seconds=None)
        key = (asked, self._store.revision, minute, self._recall.reads)
        answer = self._answers.get(key)
        if answer is None or self._has_expired(answer):
            answer = self._recall(request, recent)
            if not answer.degraded:
                self._answers[key] = answer
                while len(self._answers) > MOST:
                    self._answers.popitem(last=False)
        return answer

    def beside(self, prompt: str, answer: Answer, filters: Filters, seconds: float) -> Answer:
        """See Recall."""
        return self._recall.beside(prompt, answer, filters, seconds)

    def clear(self) -> None:
        """Drop all cached answers, so that nothing erased stays in memory."""
        self._answers.clear()

    def _has_expired(self, answer: Answer) -> bool:
        told = [hit.memory for hit in answer.hits]
        ends = [memory.expires_at for memory in told]
        ends += [memory.valid_to for memory in told if memory.state in LIVE]
        return any(end is not None and end <= self._clock() for end in ends)
