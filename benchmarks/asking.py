"""One conversation in a Kin, and its questions asked again and again with something changed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from benchmarks.data import ADVERSARIAL, Conversation, Question
from benchmarks.kins import fresh_kin
from benchmarks.scoring import ndcg_at, recall_at
from kinmem.clock import utc_now
from kinmem.llm.base import ChatModels, Embedder
from kinmem.models import Answer, Filters
from kinmem.recall.pipeline import Recall
from kinmem.recall.profiles import PROFILES, Profile
from kinmem.recall.question import Recent, Request
from kinmem.service import Service
from kinmem.settings import Settings, load

NO_MODELS = ChatModels()
UNDATED = "2026-01-01"


class Score(NamedTuple):
    """How well one question was answered."""

    recall: float
    ndcg: float
    ranked: tuple[str, ...]
    """Turns, best first."""


@dataclass(frozen=True)
class Told:
    """A Kin that knows one conversation."""

    kin: Service
    embedder: Embedder
    turns: Mapping[str, str]
    """Ids of memories to ids of turns; of duplicates the first."""
    questions: Sequence[Question]
    """Those that have an answer."""
    texts: Mapping[str, str]
    """Of the turns."""

    def scores(
        self,
        formula: Mapping[str, float] | None = None,
        variables: Mapping[str, object] | None = None,
        models: Callable[[Question], ChatModels] = lambda question: NO_MODELS,
        asked: Callable[[Question], str] = lambda question: question.text,
        recent: Recent = list,
    ) -> list[Score]:
        """One for each question. Nothing that is asked counts as used.

        `formula` and `variables` differ from the defaults; `models` and `asked` may depend on the
        question.
        """
        settings = load(variables or {}, environment={})
        limit = settings.recall.max_relevant
        found = []
        for question in self.questions:
            answer = self.answer(asked(question), settings, models(question), formula, recent)
            ranked = [self.turns[hit.memory.id] for hit in answer.hits]
            gold = question.gold
            found.append(
                Score(recall_at(limit, ranked, gold), ndcg_at(limit, ranked, gold), tuple(ranked))
            )
        return found

    def answer(
        self,
        text: str,
        settings: Settings,
        models: ChatModels = NO_MODELS,
        formula: Mapping[str, float] | None = None,
        recent: Recent = list,
    ) -> Answer:
        """What recall says."""
        profiles = with_formula(formula or {})
        recall = Recall(self.kin.store, [self.embedder], settings, self.kin.clock, models, profiles)
        return recall(Request(text, settings.recall.max_relevant, Filters()), recent)


def with_formula(changes: Mapping[str, Any]) -> Mapping[str, Profile]:
    """The profiles, with something changed in what they have in common."""
    return {
        name: replace(profile, formula=replace(profile.formula, **changes))
        for name, profile in PROFILES.items()
    }


class Calendar:
    """A clock that shows noon of the day that was set last."""

    def __init__(self, day: str) -> None:
        self.day = day

    def __call__(self) -> datetime:
        return datetime.fromisoformat(f"{self.day}T12:00Z")


@contextmanager
def told(
    conversation: Conversation, embedder: Embedder, *, as_it_happened: bool = False
) -> Iterator[Told]:
    """Its turns memorized, with all their vectors: just now, or each on the day it was said."""
    days = [str(note["occurred_at"]) for note in conversation.notes if note["occurred_at"]]
    calendar = Calendar(min(days, default=UNDATED))
    with fresh_kin(embedder, calendar if as_it_happened else utc_now) as kin:
        stored = []
        for day, notes in groupby(conversation.notes, lambda note: note["occurred_at"]):
            calendar.day = day or calendar.day
            stored += kin.memorize_many(list(notes))
        calendar.day = max(days, default=UNDATED)
        if not kin.settle():
            raise SystemExit("the vectors could not be made")
        pairs = list(zip(stored, conversation.ids, strict=True))
        yield Told(
            kin,
            embedder,
            {str(one.id): id for one, id in reversed(pairs)},
            [one for one in conversation.questions if one.category != ADVERSARIAL and one.gold],
            {id: kin.store.get(str(one.id)).content for one, id in pairs},
        )
