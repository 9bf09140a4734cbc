"""How much a memory matters by its words, against the levels of Kore's documentation."""

import math

import pytest

from kinmem.language.salience import PRIOR, Weight
from kinmem.models import CATEGORIES
from tests.tables import each


def level(text: str, category: str) -> int:
    """On Kore's scale: 1 low, 2 normal, 3 important, 4 high, 5 critical."""
    return math.ceil(Weight(text).importance(category) / 2)


@each(
    ("text", "category", "expected"),
    [
        pytest.param("I'm tired.", "ephemeral", 1, id="small talk is low"),
        pytest.param("The tests are green so far.", "context", 2, id="a passing state is normal"),
        pytest.param("I own two cats.", "fact", 3, id="a fact is important"),
        pytest.param(
            "The project runs on Python 3.11 with Flask.", "context", 3, id="so is a detail of it"
        ),
        pytest.param("I prefer tea.", "preference", 4, id="a preference is high"),
        pytest.param("My sister Anna is a vet.", "relationship", 4, id="so is a close person"),
        pytest.param(
            "Never commit passwords to the repository.", "decision", 5, id="security is critical"
        ),
        pytest.param(
            "We decided to never deploy the billing service on Fridays, because in March 2023 the"
            " production database was down for 6 hours.",
            "decision",
            5,
            id="so is a decision about how things are built",
        ),
    ],
)
def test_levels_are_those_of_kore(text, category, expected):
    assert level(text, category) == expected


PLAIN = "The new house stands near the old mill by the river"


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(f"{PLAIN} and has {'many more rooms ' * 12}.", id="length"),
        pytest.param(f"{PLAIN}, which is critical.", id="a specific word"),
        pytest.param(f"{PLAIN} 42.", id="a number"),
        pytest.param(f"{PLAIN} in Graz.", id="a name"),
        pytest.param(f"{PLAIN}, deadline to be fixed.", id="a time"),
        pytest.param(f"{PLAIN} without a fence.", id="a negation"),
    ],
)
def test_each_signal_raises_it(more):
    assert Weight(more).importance("fact") > Weight(PLAIN).importance("fact")


def test_the_category_is_a_signal_too():
    values = {category: Weight("It is so.").importance(category) for category in CATEGORIES}

    assert values == PRIOR


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("We ate maize porridge with honey.", "We ate plain porridge with honey."),
        ("I tokenize the words of the text.", "I separate the words of the text."),
        ("The secretary keeps the monkeys fed.", "The postman keeps the rabbits fed."),
        ("The passwordless house has a keyhole.", "The cosy house has a cellar."),
        ("I neverland as a tale enjoy.", "I fairyland as a tale enjoy."),
    ],
)
def test_keywords_count_as_whole_words_only(text, same):
    assert Weight(text).importance("fact") == Weight(same).importance("fact")


@each("text", ["", "?", "never " * 5000, "Immer wichtig: kein Zucker, Allergie!"])
@each("category", CATEGORIES)
def test_it_stays_between_one_and_ten(text, category):
    assert 1 <= Weight(text).importance(category) <= 10


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Nie ohne Helm fahren", "Mit dem Helm fahren"),
        ("Le mot de passe est secret", "Le mot du jour est court"),
        ("La scadenza è domani", "La cena è pronta"),
        ("El plazo es el viernes", "El plato es el verde"),
        ("O prazo é amanhã", "O prato é azul"),
    ],
)
def test_other_languages_have_signals_too(text, plain):
    assert Weight(text).importance("fact") > Weight(plain).importance("fact")
