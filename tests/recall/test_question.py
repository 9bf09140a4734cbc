from datetime import UTC, datetime

import pytest

from kinmem.recall.question import understand

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
