"""A cache of recent answers, for a question that is asked again within the minute."""

from collections import OrderedDict
from dataclasses import replace

from kinmem.clock import Clock
from kinmem.language import Dates, FollowUp
from kinmem.models import LIVE, Answer, Filters
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request, unstamped
from kinmem.recall.rewrite import Recent
from kinmem.recall.superseded import newer_first
from kinmem.recall.trim import everywhere_instead
from kinmem.store.base import Store

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
            if Dates(request.text, self._clock()).asked_of_past is not None:
                # The question is about a past date, and conflicts are only about the present.
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
