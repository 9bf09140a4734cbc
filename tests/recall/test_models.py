"""What models add to a recall, and that it does without any of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kinmem.errors import ModelError
from kinmem.llm.base import ChatModel, ChatModels, Reranker
from kinmem.llm.rerankers import ChatReranker, FirstThatCan
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock
from tests.scripted import ScriptedModel

NOTES = (
    "Tom works at the bakery in Lyon.",
    "Tom starts work at 4:30 in the morning.",
    "Ana is allergic to peanuts.",
    "Ana booked the ferry to Sardinia for July.",
    "The dishwasher was repaired in March.",
    "The wifi password is on the fridge.",
)
Opened = Callable[..., Service]


@pytest.fixture
def helped(home: Path, clock: MovableClock) -> Iterator[Opened]:
    """Opens ana's memory with these models, holding NOTES; a recall has so many seconds."""
    with ExitStack() as opened:

        def open_with(seconds: float = 60, **models: ChatModel | Reranker) -> Service:
            chosen = {"KINMEM_HOME": home, "KINMEM_RECALL_DEADLINE": seconds}
            settings = load({"KINMEM_KIN": "ana", **chosen})
            service = Service(
                SqliteStore(home, "ana", clock),
                embedders(settings),
                settings,
                models=ChatModels(**models),  # type: ignore[arg-type]
                clock=clock,
            )
            opened.enter_context(service)
            service.memorize_many(NOTES)
            assert service.settle(60)
            return service

        yield open_with


def contents(service: Service, question: str, **options: Any) -> list[str]:
    return [hit.memory.content for hit in service.recall(question, **options).hits]


def always(reply: Any) -> ScriptedModel:
    return ScriptedModel(lambda prompt: reply)


class Late:
    """A model that answers when nobody waits any more."""

    name = "late"

    def answer(self, prompt: str, shape: Any, *, deadline: float | None = None) -> Any:
        assert deadline is not None
        time.sleep(deadline)
        raise ModelError("too late")

    def scores(self, question: str, texts: Any, *, deadline: float | None = None) -> list[float]:
        return list(self.answer(question, texts, deadline=deadline))


def test_a_follow_up_is_rewritten_from_what_was_said_before(helped: Opened) -> None:
    model = always({"question": "When does Tom start in the morning?"})
    service = helped(rewrite=model)
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)
    service.observe("answer", "s", "1", "He works at a bakery.")

    answer = service.recall("And when does he start?", session="s")

    assert answer.asked == "When does Tom start in the morning?"
    assert answer.hits[0].memory.content == NOTES[1]
    (prompt,) = model.prompts
    assert "user: What do you know about Tom?" in prompt
    assert "assistant: He works at a bakery." in prompt


def test_a_prompt_that_follows_up_is_rewritten_for_its_notes(helped: Opened) -> None:
    model = always({"question": "When does Tom start in the morning?"})
    service = helped(rewrite=model)
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)
    service.observe("answer", "s", "1", "He works at a bakery.")

    notes = service.observe("prompt", "s", "2", "And when does he start?").notes

    assert NOTES[1] in notes
    assert "What do you know about Tom?" in model.prompts[0]


@pytest.mark.parametrize("sign", [r"\ud800", r"\u0000", r"\u202e", r"\udb40\udc41"])
@pytest.mark.parametrize(
    ("stage", "reply"),
    [
        ("rewrite", '{"question": "When does Tom %s start in the morning?"}'),
        ("multi_query", '{"questions": ["When does Tom %s start in the morning?"]}'),
        ("hyde", '{"answer": "Tom starts %s in the morning."}'),
    ],
)
def test_signs_that_cannot_be_stored_come_from_no_model(
    helped: Opened, stage: str, reply: str, sign: str
) -> None:
    service = helped(**{stage: always(reply % sign)})
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)

    answer = service.recall("And when does he start?", session="s")
    told = service.observe("prompt", "s", "2", "And when does he start in the morning?").notes

    assert answer.degraded == ()
    assert NOTES[1] in [hit.memory.content for hit in answer.hits]
    assert NOTES[1] in told
    asked = answer.asked or ""
    assert asked.replace("\ufffd", "").isprintable() and asked.encode()


@pytest.mark.parametrize("sign", ["\ud800", "\0", "\u202e"])
def test_a_question_may_hold_any_sign(helped: Opened, sign: str) -> None:
    service = helped()
    question = f"When does Tom {sign} start in the morning?"

    assert contents(service, question)[0] == NOTES[1]
    assert NOTES[1] in service.observe("prompt", f"s{sign}", "1", question).notes
    assert service.memorize(f"Kim {sign} likes jazz.", subject=f"Kim{sign}", trusted=True).id
    assert len(service.list_memories(subject=f"Kim{sign}").memories) == 1
    assert len(service.forget_about(f"Kim{sign}").memories) == 1


@pytest.mark.parametrize(
    "question", ["What is the wifi password?", "When does Tom start to work at the bakery?"]
)
def test_a_question_that_stands_alone_is_nobodys_business(helped: Opened, question: str) -> None:
    model = always({"question": "something else"})
    service = helped(rewrite=model)
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)

    assert service.recall(question, session="s").asked is None
    assert model.prompts == []


def test_without_a_model_what_is_left_out_is_carried_over(helped: Opened) -> None:
    service = helped()
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)

    answer = service.recall("And when does he start?")  # the conversation that goes on now

    assert answer.asked == "And when does he start? (Tom)"
    assert answer.hits[0].memory.content == NOTES[1]


def test_of_two_conversations_nobody_knows_which_is_meant(helped: Opened) -> None:
    service = helped()
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)
    service.observe("prompt", "t", "1", "Where is the nearest bakery?", tell=False)

    assert service.recall("And when does he start?").asked is None
    assert service.recall("And when does he start?", session="s").asked is not None


def test_a_conversation_that_is_over_explains_nothing(helped: Opened, clock: MovableClock) -> None:
    service = helped()
    service.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)
    clock.advance(minutes=11)

    assert service.recall("And when does he start?").asked is None


@pytest.mark.parametrize(
    "models",
    [
        {"multi_query": {"questions": ["Ana is allergic to peanuts", "peanut allergy", ""]}},
        {"hyde": {"answer": "Ana must not eat peanuts, since she has an allergy."}},
    ],
    ids=["multi-query", "hyde"],
)
def test_other_wordings_find_what_the_question_does_not(
    helped: Opened, models: dict[str, Any]
) -> None:
    question = "What must the cook keep away from Ana?"
    before = {hit.memory.content: hit.score for hit in helped().recall(question).hits}

    service = helped(**{use: always(reply) for use, reply in models.items()})
    answer = service.recall(question)

    assert answer.hits[0].memory.content == NOTES[2]
    assert answer.hits[0].score > before.get(NOTES[2], 0.0)
    assert answer.hits[0].why["+expansion"] > 0
    assert all(hit.score == pytest.approx(hit.reasons.total, abs=1e-6) for hit in answer.hits)


def test_only_the_subjects_that_fit_are_told(helped: Opened) -> None:
    model = always({"questions": []})
    service = helped(multi_query=model)
    service.memorize_many(
        {"content": f"Box {n} is full.", "subject": f"box number {n}"} for n in range(60)
    )
    service.memorize("Kim likes jazz.", subject="Kim Okafor")

    service.recall("What music does Kim Okafor like?")

    (prompt,) = model.prompts
    assert "Kim Okafor\n" in prompt
    assert prompt.count("box number") < 20


@pytest.mark.parametrize("garbage", ["zxq blorf", "Photosynthesis turns light into sugar.", " "])
def test_wordings_that_have_nothing_to_do_with_it_change_nothing(
    helped: Opened, garbage: str
) -> None:
    questions = ["Where does Tom work?", "What is Ana allergic to?", "Where is the password?"]
    plain = helped()
    wanted = [contents(plain, question) for question in questions]

    service = helped(multi_query=always({"questions": [garbage] * 3}))

    assert [contents(service, question) for question in questions] == wanted


@pytest.mark.parametrize("stage", ["rewrite", "multi_query", "hyde", "rerank"])
@pytest.mark.parametrize("model", ["late", "away", "talks nonsense"])
def test_a_model_that_fails_is_left_out_and_named(helped: Opened, stage: str, model: str) -> None:
    plain = helped()
    plain.observe("prompt", "s", "1", "What do you know about Tom?", tell=False)
    wanted = contents(plain, "And when does he start?", session="s")
    chat: Any = {
        "late": Late(),
        "away": ScriptedModel([ModelError("HTTP 500")] * 9),
        "talks nonsense": ScriptedModel(["no JSON at all"] * 9),
    }[model]
    if stage == "rerank" and model != "late":
        chat = ChatReranker(chat)
    service = helped(2 if model == "late" else 60, **{stage: chat})

    answer = service.recall("And when does he start?", session="s")

    assert answer.degraded == (stage,)
    assert [hit.memory.content for hit in answer.hits] == wanted


def test_what_came_in_time_is_used_though_another_is_late(helped: Opened) -> None:
    question = "What must the cook keep away from Ana?"
    marks = {"scores": [{"id": n, "score": 10 - n} for n in range(1, 10)]}
    variation = always({"questions": ["Ana is allergic to peanuts"]})
    service = helped(4, multi_query=variation, hyde=Late(), rerank=ChatReranker(always(marks)))

    answer = service.recall(question)

    assert answer.degraded == ("hyde",)
    assert answer.hits[0].memory.content == NOTES[2]
    assert answer.hits[0].why["+expansion"] > 0 and answer.hits[0].why["rerank"] == 0.9


def test_a_stage_that_is_late_and_of_no_use_is_named_once(
    helped: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = helped(1, multi_query=always({"questions": ["Ana's allergy"]}), hyde=Late())

    def away(*args: Any, **options: Any) -> None:
        raise ModelError("HTTP 500")

    monkeypatch.setattr("kinmem.llm.onnx.OnnxEmbedder.embed", away)

    answer = service.recall("What must the cook keep away from Ana?")

    assert sorted(answer.degraded) == ["embedding", "hyde", "multi_query"]


def test_all_models_share_one_deadline(helped: Opened) -> None:
    service = helped(1, multi_query=Late(), hyde=Late(), rerank=Late())

    answer = service.recall("Where does Tom work in the morning?")

    assert answer.degraded == ("multi_query", "hyde", "rerank")
    assert answer.hits


def test_the_reranker_orders_and_the_hybrid_score_breaks_ties(helped: Opened) -> None:
    question = "What do we know of Tom and of Ana?"
    plain = contents(helped(), question)
    first = next(at for at, text in enumerate(plain) if at > 0)
    marks = [{"id": first + 1, "score": 9}, *({"id": n, "score": 5} for n in range(1, 20))]

    answer = helped(rerank=ChatReranker(always({"scores": marks}))).recall(question)

    ranked = [hit.memory.content for hit in answer.hits]
    assert ranked[0] == plain[first]
    assert ranked[1:] == [text for text in plain if text != plain[first]][: len(ranked) - 1]
    assert all(hit.score == pytest.approx(hit.reasons.total, abs=1e-6) for hit in answer.hits)


@pytest.mark.parametrize(
    ("marks", "scores"),
    [
        pytest.param([10, 5, 0], [1.0, 0.5, 0.0], id="0 to 10"),
        pytest.param([95, 40, 8], [0.95, 0.4, 0.08], id="0 to 100"),
        pytest.param([9, 1, -1], [10 / 11, 2 / 11, 0.0], id="of no use"),
        pytest.param([101, 5, 0], None, id="beyond every scale"),
        pytest.param([9, 5, -50], None, id="below every scale"),
    ],
)
def test_marks_keep_their_order(marks: list[float], scores: list[float] | None) -> None:
    reply = {"scores": [{"id": n, "score": mark} for n, mark in enumerate(marks, 1)]}
    model = ChatReranker(always(reply))
    if scores is None:
        with pytest.raises(ModelError, match="not from 0 to 10"):
            model.scores("?", NOTES[:3])
    else:
        assert model.scores("?", NOTES[:3]) == pytest.approx(scores)


class Sure:
    """A cross-encoder that finds one thing a little likelier than all else, which is not likely."""

    name = "sure"

    def __init__(self, likeliest: str) -> None:
        self._likeliest = likeliest

    def scores(self, question: str, texts: Any, *, deadline: float | None = None) -> list[float]:
        return [0.0002 if self._likeliest in text else 0.0001 for text in texts]


def test_the_hybrid_score_orders_nothing_but_ties(helped: Opened) -> None:
    question = "What do we know of Tom and of Ana?"
    plain = contents(helped(), question)

    ranked = contents(helped(rerank=Sure(plain[-1])), question)

    assert len(plain) > 1
    assert ranked == [plain[-1], *plain[:-1]][: len(ranked)]


@pytest.mark.parametrize(
    "marks",
    [
        [(1, 9), (1, 0), (1, 3)],
        [(1, 9), (77, 10), (-3, 10), (0, 10)],
        [(1, 900)],
        [(1, 9), (2, -50)],
    ],
    ids=["repeated", "invented", "beyond the scale", "below the scale"],
)
def test_marks_that_make_no_sense_neither_double_nor_lose_a_hit(
    helped: Opened, marks: list[tuple[int, float]]
) -> None:
    question = "What do we know of Tom and of Ana?"
    reply = {"scores": [{"id": id, "score": score} for id, score in marks]}

    ranked = contents(helped(rerank=ChatReranker(always(reply))), question)

    assert len(set(ranked)) == len(ranked) >= 1
    assert ranked[0] == contents(helped(), question)[0]


def test_what_a_model_has_read_is_not_held_back_as_unlikely(helped: Opened) -> None:
    question = "What is the colour of Tom's car?"
    assert helped().recall(question).abstained
    marks = {"scores": [{"id": 1, "score": 9}, *({"id": n, "score": 0} for n in range(2, 9))]}

    answer = helped(rerank=ChatReranker(always(marks))).recall(question)

    strong = [hit.memory.content for hit in answer.hits if not hit.weak]
    assert strong == [NOTES[0]]


def test_what_a_model_has_read_and_found_wanting_is_held_back(helped: Opened) -> None:
    marks = {"scores": [{"id": n, "score": 1} for n in range(1, 9)]}

    answer = helped(rerank=ChatReranker(always(marks))).recall("What is the colour of Tom's car?")

    assert answer.abstained
    assert answer.hits[0].weak


@pytest.mark.parametrize("away", [ChatReranker(ScriptedModel([ModelError("HTTP 503")])), Late()])
def test_a_chat_model_stands_in_for_a_cross_encoder_that_is_away(
    helped: Opened, away: Reranker
) -> None:
    marks = {"scores": [{"id": n, "score": n} for n in range(1, 10)]}
    service = helped(4, rerank=FirstThatCan([away, ChatReranker(always(marks))]))

    answer = service.recall("What do we know of Tom and of Ana?")

    assert answer.degraded == ()
    assert answer.hits[0].why["rerank"] > 0
