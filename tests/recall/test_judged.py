"""Recall has the judge read the best, and says so; without it, all is as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinmem.clock import utc_now
from kinmem.llm.base import ChatModels
from kinmem.llm.builtin import BuiltinJudge
from kinmem.llm.deadline import Deadline
from kinmem.models import Answer, Asked, Filters, Reasons, Scored
from kinmem.recall.confidence import likeliest_first
from kinmem.recall.pipeline import Recall, RecentAnswers
from kinmem.recall.question import Request
from kinmem.recall.rerank import MOST, ROOM, Judging, read_by_judge
from kinmem.service import Service
from tests.recall.made import candidate, scored

Open = Callable[..., Service]

FACTS = [
    "Mia started piano lessons with Mrs Okafor, Thursdays at four.",
    "Biscuit is a beagle and afraid of the vacuum cleaner.",
    "Tobias takes the 6:52 train to work now.",
    "The piano was tuned by Mr Brandt.",
]
ASKED = "Who teaches Mia the piano?"


def filled(service: Service) -> Service:
    service.memorize_many(FACTS)
    assert service.settle(60)
    return service


def test_what_the_judge_has_read_says_so_and_adds_up(service: Service) -> None:
    hits = filled(service).recall(ASKED).hits

    assert hits[0].memory.content == FACTS[0]
    assert {"+judge", "judge", "unrelated"} <= hits[0].why.keys()
    assert all(0 <= hit.why["judge"] <= 1 for hit in hits)
    assert all(hit.score == pytest.approx(hit.reasons.total, abs=1e-6) for hit in hits)


def test_without_the_judge_the_order_is_that_of_words_and_meaning(service_of: Open) -> None:
    hits = filled(service_of("bob", KINMEM_JUDGE="off")).recall(ASKED).hits

    assert hits[0].memory.content == FACTS[0]
    assert not any({"+judge", "judge"} & hit.why.keys() for hit in hits)


def test_a_documented_profile_ranks_without_it_and_is_as_sure(service: Service) -> None:
    sure = filled(service).recall(ASKED).hits[0].confidence

    hit = service.recall(ASKED, mode="kinbot").hits[0]

    assert "+judge" not in hit.why
    assert hit.confidence == pytest.approx(sure)


def test_nobody_waits_for_a_judge_that_is_not_loaded(service: Service) -> None:
    store, settings = filled(service).store, service.settings
    judge = BuiltinJudge()
    recall = Recall(
        store, [service.components.embedder], settings, utc_now, ChatModels(judge=judge)
    )

    answer = recall(Request(ASKED, 10, Filters()))

    assert answer.hits[0].memory.content == FACTS[0]
    assert not any("judge" in hit.why for hit in answer.hits)
    assert not answer.degraded
    assert not judge.ready


def test_a_judge_that_cannot_be_loaded_is_done_without(service: Service, tmp_path: Path) -> None:
    store, settings = filled(service).store, service.settings
    judge = BuiltinJudge(tmp_path)
    judge.warm()
    recall = Recall(
        store, [service.components.embedder], settings, utc_now, ChatModels(judge=judge)
    )

    assert recall(Request(ASKED, 10, Filters())).hits[0].memory.content == FACTS[0]


def test_once_it_is_loaded_the_same_question_is_read_anew(service: Service) -> None:
    """Answers of a moment ago are kept; not those that were given without it."""
    judge = BuiltinJudge()
    models = ChatModels(judge=judge)
    recall = Recall(
        filled(service).store, [service.components.embedder], service.settings, utc_now, models
    )
    recent = RecentAnswers(recall, service.store, service.clock, 80)
    assert "judge" not in recent(Request(ASKED, 10, Filters())).hits[0].why

    judge.warm()

    assert "judge" in recent(Request(ASKED, 10, Filters())).hits[0].why


@pytest.mark.parametrize(
    ("question", "times"), [(ASKED, 1), ("And when does she start?", 2)], ids=["whole", "follow-up"]
)
def test_an_answer_of_a_moment_ago_is_kept_unless_it_depends_on_what_was_said(
    service: Service, question: str, times: int
) -> None:
    searched = []

    class Counted(Recall):
        def __call__(self, request: Request, *given: Any, **named: Any) -> Answer:
            searched.append(request.text)
            return super().__call__(request, *given, **named)

    embedders = [service.components.embedder]
    store = filled(service).store
    recall = Counted(store, embedders, service.settings, service.clock, ChatModels())
    recent = RecentAnswers(recall, store, service.clock, 80)

    first, again = (recent(Request(question, 10, Filters())) for _ in range(2))

    assert searched == [question] * times
    assert [hit.memory.id for hit in again.hits] == [hit.memory.id for hit in first.hits]


def test_it_reads_what_fits_its_room_and_ends_with_its_time(service_of: Open) -> None:
    service = service_of("ana", KINMEM_JUDGE="off")  # storing them does not matter here
    texts = [f"Note {at}: " + f"the order of item {at} was changed again, " * 6 for at in range(60)]
    service.memorize_many(texts)
    assert service.settle(60)
    question = "Which order was changed?"
    asked = Asked(["order"], None, "", 0, 60, 60)
    scored = [
        Scored(one, 1.0, Reasons(1.0))
        for one in service.store.index.search(asked, Filters()).candidates
    ]
    assert len(scored) > MOST
    judge = BuiltinJudge()
    judge.warm()

    judging = Judging(judge, question, Deadline(60))
    read = [one for one in judging.read(scored) if one.reasons.judge is not None]
    late = Judging(judge, question + " Say.", Deadline(0)).read(scored)

    assert 0 < len(read) <= MOST
    assert sum(len(read_by_judge(one.candidate, ["order"])) for one in read) / 4 <= ROOM
    assert not any(
        one.reasons.judge is not None for one in judging.read(scored[MOST:])
    )  # its room is used up
    assert not any(one.reasons.judge is not None for one in late)


def test_turns_of_talk_are_not_read(service: Service) -> None:
    """What answers is worded for its neighbours, and the judge has learned from statements."""
    turns = ["Who takes care of the bees?", "My sister Ines does, in Evora.", "How lovely!"]
    around = zip([None, *turns], turns, [*turns[1:], None], strict=False)
    service.memorize_many(
        {"content": turn, "speaker": "Rui", "source_context": "\n".join(filter(None, (a, b)))}
        for a, turn, b in around
    )
    assert service.settle(60)

    hits = service.recall("Who takes care of bees?").hits

    assert hits
    assert not any("judge" in hit.why for hit in hits)


READ = {"judge": 0.5, "unrelated": 0.1}


@pytest.mark.parametrize(
    ("reasons", "order"),
    [
        pytest.param([READ, READ], ["b", "a"], id="read"),
        pytest.param([{}, {}], ["a", "b"], id="not read"),
        pytest.param([READ, {}], ["a", "b"], id="read in part"),
        pytest.param([{**READ, "rerank": 0.9}, READ], ["a", "b"], id="ordered by a model"),
    ],
)
def test_what_is_likelier_to_answer_comes_first_if_the_judge_has_read_all(
    reasons: list[dict[str, float]], order: list[str]
) -> None:
    sure = {"a": 0.04, "b": 0.9}
    hits = [
        scored(candidate(id), score, **told)
        for id, score, told in zip("ab", (0.9, 0.6), reasons, strict=True)
    ]

    ranked, confidences = likeliest_first(hits, list(sure.values()))

    assert [one.candidate.id for one in ranked] == order
    assert confidences == [sure[id] for id in order], "each keeps its own"
    assert all(one.score == pytest.approx(one.reasons.total) for one in ranked)


def test_only_the_default_profile_counts_how_likely_a_hit_answers(service: Service) -> None:
    filled(service)

    assert all("xlikely" in hit.why for hit in service.recall(ASKED).hits)
    assert not any("xlikely" in hit.why for hit in service.recall(ASKED, mode="kore").hits)
