"""Answers that were given a moment ago, for those who ask the same again."""

from collections import OrderedDict
from dataclasses import replace

from kinmem.clock import Clock
from kinmem.language import is_follow_up, past_in_question
from kinmem.models import LIVE, Answer, Filters
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request, unstamped
from kinmem.recall.rewrite import Recent
from kinmem.recall.superseded import newer_first
from kinmem.recall.trim import everywhere_instead
from kinmem.store.base import Store

MOST = 500


class RecentAnswers:
    """Recall that keeps its last 500 answers, as long as nothing changes."""

    def __init__(self, recall: Recall, store: Store, clock: Clock, threshold: int) -> None:
        """`threshold`: see language.is_follow_up."""
        self._recall = recall
        self._threshold = threshold
        self._store = store
        self._clock = clock
        self._answers: OrderedDict[object, Answer] = OrderedDict()

    def __call__(self, request: Request, recent: Recent = list) -> Answer:
        """See Recall and newer_first. Answers that were degraded, or hang on a conversation, are
        not kept; what is doubtful is looked up each time, since a review settles it."""
        with self._store.reading():
            if is_follow_up(unstamped(request.text), self._threshold):
                answer = self._recall(request, recent)
            else:
                answer = self._kept(request, recent)
            answer = replace(answer, hits=everywhere_instead(answer.hits))
            if past_in_question(request.text, self._clock()) is not None:
                return answer  # how things stood: nothing of that is doubted
            return newer_first(answer, self._store, request.filters, request.limit)

    def _kept(self, request: Request, recent: Recent) -> Answer:
        # Ages and recency change with the minute, all else with the revision.
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
        """Nothing that was erased stays in memory."""
        self._answers.clear()

    def _has_expired(self, answer: Answer) -> bool:
        told = [hit.memory for hit in answer.hits]
        ends = [memory.expires_at for memory in told]
        ends += [memory.valid_to for memory in told if memory.state in LIVE]
        return any(end is not None and end <= self._clock() for end in ends)
