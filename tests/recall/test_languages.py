"""What was told in one language is found by a question in another."""

from collections.abc import Callable

import pytest

from kinmem.service import Service

ENGLISH = [
    "I cannot stand horror films.",
    "The rent is 950 euros a month, heating included.",
    "Our dog Bruno is afraid of fireworks.",
    "I left my umbrella on the train.",
]
GERMAN = [
    "Meine Schwester Clara ist gegen Erdnüsse allergisch.",
    "Ich habe meinen Regenschirm im Zug liegen lassen.",
    "Horrorfilme kann ich nicht ausstehen.",
    "Die Miete beträgt 950 Euro im Monat, Heizung inbegriffen.",
    "Unser Hund Bruno fürchtet sich vor Feuerwerk.",
    "Jeden Dienstag schwimme ich vor der Arbeit zwei Kilometer.",
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("¿Qué tipo de cine odio?", GERMAN[2], id="es"),
        pytest.param("Combien est-ce que je paie pour mon appartement ?", GERMAN[3], id="fr"),
        pytest.param("我经常做什么运动？", GERMAN[5], id="zh"),
        pytest.param("Which food must Clara avoid?", GERMAN[0], id="en"),
        pytest.param("Wovor hat das Tier an Silvester Angst?", GERMAN[4], id="de"),
    ],
)
def test_a_german_note_is_found_by_a_question_in_another_language(
    question: str, expected: str, service_of: Callable[..., Service]
) -> None:
    service = service_of("ana")
    service.memorize_many(GERMAN)
    assert service.settle(60)

    answer = service.recall(question)

    assert [hit.memory.content for hit in answer.hits][:1] == [expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("Wie viel zahle ich für meine Wohnung?", ENGLISH[1], id="de"),
        pytest.param("¿Qué tipo de cine odio?", ENGLISH[0], id="es"),
        pytest.param("Che cosa spaventa l'animale a Capodanno?", ENGLISH[2], id="it"),
    ],
)
def test_an_english_note_is_found_by_a_question_in_another_language(
    question: str, expected: str, service_of: Callable[..., Service]
) -> None:
    service = service_of("ana")
    service.memorize_many(ENGLISH)
    assert service.settle(60)

    answer = service.recall(question)

    assert [hit.memory.content for hit in answer.hits][:1] == [expected]


OF_A_HOUSEHOLD = [
    "The boat is named Möwe",
    "I am allergic to penicillin",
    "Our cat is called Miso",
    "Garbage is collected on Mondays",
    "The tent is in the cellar",
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("Wie heißt unsere Katze?", 2, id="de"),
        pytest.param("Wann wird der Müll abgeholt?", 3, id="de, two words"),
        pytest.param("Wogegen bin ich allergisch?", 1, id="de, half of it known"),
        pytest.param("A que sou alérgico?", 1, id="pt, half of it known"),
        pytest.param("Dov'è la tenda?", 4, id="it"),
    ],
)
def test_short_words_of_other_languages_find_at_least_weak_hits(
    question: str, expected: int, service_of: Callable[..., Service]
) -> None:
    service = service_of("ana")
    service.memorize_many(OF_A_HOUSEHOLD)
    assert service.settle(60)

    found = [hit.memory.content for hit in service.recall(question).hits]

    assert OF_A_HOUSEHOLD[expected] in found
