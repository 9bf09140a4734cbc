from datetime import UTC, datetime

import pytest

from kinmem.recall.question import understand, unstamped
from kinmem.service import Service
from kinmem.text import in_first_person

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("What did Caroline research?", "What did research?"),
        ("What is Caroline's dog called?", "What is dog called?"),
        ("Will the office close early?", "Will the office close early?"),
        ("what would caroline like?", "what would caroline like?"),
        ("Caroline?", "Caroline?"),
    ],
)
def test_known_names_are_not_embedded(question, bare):
    assert understand(question, frozenset({"caroline"}), NOW).bare.strip("?") == bare.strip("?")


def test_names_of_several_words_and_accents_are_known():
    names = frozenset({"ana maria", "jose"})

    assert understand("Does Ana Maria know José?", names, NOW).named == {"ana maria", "jose"}


def test_words_about_the_asking_are_not_searched_for():
    question = understand(
        "Can you list the different aspects we discussed about my budget?", frozenset(), NOW
    )

    assert question.words == ["budget"]


def test_a_question_of_function_words_keeps_them():
    assert understand("who are you?", frozenset(), NOW).words == ["who", "are", "you"]


@pytest.mark.parametrize(
    ("question", "of_user"),
    [
        ("Which database did I choose?", True),
        ("Can you tell me which database I use?", True),
        ("What did you recommend for the database?", False),
        ("Give me a summary of the project", False),
    ],
)
def test_whose_words_answer(question, of_user):
    assert understand(question, frozenset(), NOW).of_user is of_user


@pytest.mark.parametrize(
    "before",
    [
        "[2023/05/30 (Tue) 23:40] ",
        "2023-05-30T23:40:00Z ",
        "[23:40] ",
        "[2023-05-30] user: ",
        "(30.05.2023, 23:40:11) Ana: ",
        "user: ",
        "<2023-05-30 23:40> **Human:** ",
    ],
)
def test_a_stamp_or_a_label_before_a_question_changes_nothing(
    service: Service, before: str
) -> None:
    service.memorize("I graduated with a degree in Business Administration")
    service.memorize("The dog is called Biscuit")
    question = "What degree did I graduate with?"

    plain, stamped = service.recall(question), service.recall(before + question)

    assert not stamped.abstained
    assert [(hit.memory.id, hit.confidence, hit.weak) for hit in stamped.hits] == [
        (hit.memory.id, pytest.approx(hit.confidence), hit.weak) for hit in plain.hits
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Biscuit: how old is he?",
        "2023-05-30: what happened?",
        "[2023-05-30]",
        "14:30 meeting with whom?",
        "(see above) what is it",
    ],
)
def test_what_may_be_asked_about_stays_in_the_question(text: str) -> None:
    assert unstamped(text) == text


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("where do I study?", "The user studies at Leiden University"),
        ("where does the user study?", "I study at Leiden University"),
        ("what is the name of my dog?", "The user's dog is called Biscuit"),
    ],
)
def test_the_user_and_i_are_one(service: Service, question: str, memory: str) -> None:
    service.memorize("Bob plays the cello")
    service.memorize(memory)

    answer = service.recall(question)

    assert not answer.abstained
    assert answer.hits[0].memory.content == memory


def test_the_user_of_a_compound_is_nobody() -> None:
    assert in_first_person("the user table has a column") == "the user table has a column"


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("postg", "We run Postgres 16 in Frankfurt"),
        ("Vaill", "The boiler is a Vaillant ecoTEC"),
    ],
)
def test_a_single_word_may_be_the_beginning_of_one(
    service: Service, question: str, memory: str
) -> None:
    service.memorize("The dog is called Biscuit")
    service.memorize(memory)

    hits = service.recall(question).hits

    assert [hit.memory.content for hit in hits if not hit.weak] == [memory]
