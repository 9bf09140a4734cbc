"""A question is no fact about anybody, and a hedge makes no fact untrue."""

from collections.abc import Callable

import pytest

from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.service import Service


@pytest.fixture
def kin(service_of: Callable[..., Service]) -> Service:
    return service_of("ana", KINMEM_JUDGE="on")


@pytest.mark.usefixtures("judge_off")
@pytest.mark.parametrize(
    "text",
    [
        *("where do I live?", "wo wohne ich?", "¿dónde vivo?", "我住在哪里，多久了？"),
        *(
            "What is my wife's name, and how old is she?",
            "Wie heißt meine Frau, und wie alt ist sie?",
        ),
    ],
)
def test_a_question_is_kept_as_one_that_hardly_matters(service: Service, text: str) -> None:
    stored = service.memorize(text)

    assert (stored.status, stored.category, stored.importance) == ("created", "fact", 1.0)
    assert stored.reason == "this reads as a question; recall answers questions"


@pytest.mark.usefixtures("judge_off")
@pytest.mark.parametrize(
    "text",
    [
        *("I live in Graz, right?", "Who is on call? Tom is.", "Remember that I live in Graz?"),
        *("I'm allergic to nuts, what can I eat?", "Ich bin Vegetarier, was kann ich kochen?"),
        *("J'habite à Lille, quel musée visiter ?", "Vivo en Lima, ¿qué me recomiendas?"),
        *("我住在北京，周末去哪里玩？", "Which train should I take, as I live in Graz now?"),
        "What should I cook, since my daughter is allergic to peanuts?",
    ],
)
def test_what_states_something_is_no_question(service: Service, text: str) -> None:
    assert service.memorize(text).reason is None


def test_what_was_asked_before_is_no_strong_answer(kin: Service) -> None:
    kin.record_turn("1", "what's my wife called?", "I do not know.", turn="1")
    kin.settle()

    hits = kin.recall("what is my wife's name?").hits
    kin.memorize("My wife is called Petra.")
    kin.settle()
    answered = kin.recall("what is my wife's name?").hits

    assert all(hit.weak for hit in hits if hit.memory.content == "what's my wife called?")
    assert answered[0].memory.content == "My wife is called Petra."
    asked = [hit.memory.content == "what's my wife called?" for hit in answered]
    assert not any(asked[:-1])


def test_what_is_told_with_a_hedge_is_learned(kin: Service) -> None:
    told = [
        "Apparently the port is 8081 now.",
        "Looks like we're on Node 22.",
        "Anscheinend ist das Meeting jetzt dienstags.",
        "On dirait que le bureau ferme à 17 h maintenant.",
        "Parece que ahora usamos Redis 7.",
        "看来服务器现在在法兰克福。",
    ]
    for number, text in enumerate([*told, "Looks like it might rain.", "Looks good to me."]):
        kin.record_turn(str(number), text, "OK.", turn="1")
    kin.settle()

    learned = {one.content for one in kin.list_memories().memories}
    assert learned <= set(told)
    assert len(learned) >= len(told) - 1  # the judge is trained, not told


def test_a_name_in_quotation_marks_is_nobodys_words(kin: Service) -> None:
    named = [
        'My favourite book is "The Trial".',
        '"Casa Luna" is where we always stay in Lisbon.',
        "«Le Chat» est le nom de notre bar préféré.",
    ]
    words = ['My boss wrote "Greta lives in Hamburg".', 'Mia schrieb "ich komme später".']
    for number, text in enumerate([*named, *words]):
        kin.record_turn(str(number), text, "OK.", turn="1")
    kin.settle()

    assert {one.content for one in kin.list_memories().memories} == set(named)


def test_a_text_without_spaces_is_cut_so_that_all_of_it_is_read() -> None:
    embedder = BuiltinEmbedder()
    thai = "ผมชื่อสมชายและทำงานเป็นวิศวกรซอฟต์แวร์ที่บริษัทแห่งหนึ่งในกรุงเทพ" * 12

    pieces = embedder.pieces(thai, 800)

    assert "".join(pieces) == thai
    assert max(map(embedder.languages.count, pieces)) <= 150


@pytest.mark.parametrize(
    "text", ["please remember that", "Remember this:", "Ricorda questo.", "请记住"]
)
def test_a_request_to_keep_nothing_is_no_memory(service: Service, text: str) -> None:
    service.record_turn("s", text, "OK.", turn="1")
    service.settle()

    assert service.list_memories().memories == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "The printer wants 80 gram paper. Please remember that!",
            "The printer wants 80 gram paper.",
        ),
        ("The left gate sticks. Remember this, please.", "The left gate sticks."),
        ("Il cancello si blocca. Ricorda questo.", "Il cancello si blocca."),
        ("What is the weather like? Remember that!", None),
    ],
)
def test_a_request_to_keep_it_is_about_the_sentence_before(
    service: Service, text: str, kept: str | None
) -> None:
    service.record_turn("s", text, "OK.", turn="1")
    service.settle()

    stored = [memory.content for memory in service.list_memories().memories]
    assert stored == ([kept] if kept else [])
