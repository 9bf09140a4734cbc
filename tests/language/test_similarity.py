"""The ladder: what may be called the same, what never, and what contradicts."""

import re
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinmem.language.same.lexemes import content_hash, normalised
from kinmem.language.same.similarity import Kinship, Ladder, compare, contains
from tests.growth import assert_linear
from tests.tables import each

LADDER = Ladder()


def pairs(table: str) -> list:
    """Lines of `id: one text | the other` as parameters."""
    rows = [re.split(r" *\| *", row.strip(), maxsplit=1) for row in table.strip().splitlines()]
    return [
        pytest.param(first.split(": ", 1)[1], second, id=first.split(": ", 1)[0])
        for first, second in rows
    ]


# The second says more, or each does: never to be refused as known.
MORE = """
place: Ben plays chess. | Ben plays chess in the park on the hill.
adjective: I drive a car to the office. | I drive an electric car to the office.
compound: I like tea. | I like tea parties.
head noun: She keeps the garden. | She keeps the garden tools.
manner: Ben answers letters from strangers. | Ben answers letters from strangers politely.
a verb that is an article elsewhere: My plants die in winter. | My plants in winter.
another word in a long text: The key for the summer house hangs in the hall near the mirror. | \
The key for the summer house hangs in the hall near the window.
"""

CONTRADICTIONS = """
negation: I like coriander in my soup. | I do not like coriander in my soup.
no longer: Anna works at the bakery. | Anna no longer works at the bakery.
number: We have two dogs at home. | We have three dogs at home.
time: Standup starts at 9:30. | Standup starts at 10:30.
date: The lease ends in March. | The lease ends in April.
birthday: Maria was born on 8 May 1990. | Maria was born on 9 May 1990.
version: The server runs Python 3.11. | The server runs Python 3.12.
opposite: Two-factor login is enabled. | Two-factor login is disabled.
taste: I love big cities. | I hate big cities.
home: Anna lives in Lyon. | Anna lives in Rome.
longer home: I live in Porto now. | I live in New York now.
favourite: My favourite food is pizza. | My favourite food is pasta.
employer: I work at Siemens. | I work at Bosch.
german: Ich mag Koriander. | Ich mag Koriander nicht.
spanish: Ana vive en Lima. | Ana vive en Quito.
french: Je mange de la viande. | Je ne mange pas de viande.
"""

BOTH_TRUE = """
other person: Anna lives in Lyon. | Emma lives in Lyon.
other event: I ran 5 km on Monday and was tired. | I ran 7 km on Tuesday and was tired.
other meal eaten: I ate two eggs. | I ate three eggs.
other thing denied: I like tea with milk. | I do not like fish with lemon.
other thing counted: We have two dogs. | We have three cats.
more taste: I like Lyon. | I like Rome.
relative: My sister lives in Lyon. | My brother does not live in Lyon.
wish: I do not have a dog. | I want a dog.
question: Is the shop open? | The shop is closed.
said twice: The shop is not open. | The shop is closed.
not this day: Anna is not coming on Monday. | Anna is coming on Tuesday.
not that home: I live in Lyon. | I do not live in Rome.
who smokes: Anna does not smoke. | I smoke.
pronoun added: The dog does not bite. | I bite.
one number more: We have a dog. | We have a dog that is 3.
"""


@pytest.mark.parametrize(("one", "other"), pairs(MORE))
def test_what_says_more_is_never_refused_as_known(one, other):
    assert compare(one, other, 0.99, LADDER) in (Kinship.CONTAINED, Kinship.NEAR, Kinship.DIFFERENT)
    assert not contains(one, other)
    assert not contains(other, one)


@each(("one", "other"), pairs(CONTRADICTIONS))
def test_what_cannot_both_be_so_contradicts(one, other):
    assert compare(one, other, 0.8, LADDER) is Kinship.CONTRADICTS
    assert compare(one, other, 0.5, LADDER) is Kinship.DIFFERENT


@each(("one", "other"), pairs(BOTH_TRUE))
def test_what_can_both_be_so_does_not_contradict(one, other):
    assert compare(one, other, 0.8, LADDER) is Kinship.DIFFERENT


def test_a_list_with_one_element_more_contains_the_shorter():
    longer = "I own a cat and a parrot, and I cook."

    assert compare("I own a cat.", longer, 0.9, LADDER) is Kinship.CONTAINED
    assert contains(longer, "I own a cat.")
    assert not contains("I own a cat.", longer)


def test_a_circumstance_restricts_what_is_said():
    assert compare("I ski a lot.", "In winter, I ski a lot.", 0.99, LADDER) is Kinship.NEAR


def test_the_cosine_decides_between_the_same_and_the_near():
    same = ("I have 2 old bikes", "I have two old bikes")

    chosen = Ladder.calibrated(0.2, 0.85, 0.9, chosen=0.95)

    assert [compare(*same, cosine, chosen) for cosine in (0.96, 0.9, 0.8)] == [
        Kinship.DUPLICATE,
        Kinship.CONTAINED,
        Kinship.DIFFERENT,
    ]


def test_a_ladder_belongs_to_its_embedder():
    same = ("I have 2 old bikes", "I have two old bikes")

    assert compare(*same, 0.7, Ladder(duplicate=0.65, near=0.6)) is Kinship.DUPLICATE


def test_the_same_text_needs_no_vector():
    assert compare("Anna lives in Lyon.", "anna  LIVES in Lyon", 0.0, LADDER) is Kinship.SAME_TEXT
    assert compare("Anna lives in Lyon.", "anna lives in Lyon", nan, LADDER) is Kinship.SAME_TEXT


@each(
    ("text", "expected"),
    [
        pytest.param("  Anna\tlives\n in Lyon. ", "anna lives in lyon", id="space and stop"),
        pytest.param("Anna lives in Lyon!!!", "anna lives in lyon", id="exclamation"),
        pytest.param("“Anna lives in Lyon.”", "anna lives in lyon", id="quotes"),
        pytest.param("- Anna lives in Lyon", "anna lives in lyon", id="bullet"),
        pytest.param("Ｌｙｏｎ", "lyon", id="full width"),
        pytest.param("STRASSE", "strasse", id="sharp s"),
        pytest.param("Lyon?", "lyon?", id="a question stays one"),
        pytest.param("-5", "-5", id="a sign is no bullet"),
        pytest.param('5"', '5"', id="inches"),
        pytest.param("cd ..", "cd ..", id="the parent folder"),
        pytest.param("git branch -D", "git branch -D", id="flag"),
        pytest.param("hunteR2", "hunteR2", id="password"),
        pytest.param("TCP/IP", "tcp/ip", id="capitals with a slash"),
        pytest.param("...", "...", id="marks only"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_normalised(text, expected):
    assert normalised(text) == expected
    assert normalised(normalised(text)) == expected


def test_the_hash_is_of_the_normalised_text():
    assert content_hash("Anna lives in Lyon.") == content_hash("anna lives in  lyon")
    assert content_hash("Anna lives in Lyon.") != content_hash("Anna lives in Lyon?")
    assert re.fullmatch("[0-9a-f]{32}", content_hash("\ud800"))


COSINES = st.floats(allow_nan=True, allow_infinity=True)
WORDS = st.lists(
    st.sampled_from(
        "Anna Bob I you not no never 5 two 5% $5 km May Monday 8 2023 , . ? and in from to like"
        " hate lives works worked was is open closed red blue the a sister don't 14:30 pm a/b -v :)"
        " 我 不".split()
    ),
    max_size=12,
).map(" ".join)


@given(WORDS | st.text(), WORDS | st.text(), COSINES)
def test_compare_is_symmetric_and_never_raises(one, other, cosine):
    assert compare(one, other, cosine, LADDER) is compare(other, one, cosine, LADDER)


@given(WORDS | st.text(), COSINES)
def test_equal_texts_are_the_same_text(text, cosine):
    assert compare(text, text, cosine, LADDER) is Kinship.SAME_TEXT


@given(WORDS, WORDS)
def test_what_contains_another_has_all_its_words(whole, part):
    asks = {text.rstrip().endswith("?") for text in (whole, part)}  # a question is no statement
    if contains(whole, part) and contains(part, whole) and len(asks) == 1:
        assert compare(whole, part, 1.0, LADDER) in (Kinship.SAME_TEXT, Kinship.DUPLICATE)


@each("unit", ["a", "a+", "1 ", "-", "!", "a@", "/", "8 may ", "'", "我", "👍"])
def test_time_grows_with_the_length_only(unit):
    def compared(count: int) -> None:
        text = unit * count
        compare(text, text[1:] + "b", 0.99, LADDER)

    assert_linear(compared, 65_536 // len(unit))


@each(
    ("a", "b"),
    [
        pytest.param("The laser has 5 mW", "The laser has 5 MW", id="case of a unit"),
        pytest.param("The area is 10² m", "The area is 102 m", id="a raised digit"),
        pytest.param("Needs 1½ cups", "Needs 11⁄2 cups", id="a fraction"),
        pytest.param("The password is Hunter", "The password is hunter", id="a password"),
        pytest.param("Needs Python >= 3.11", "Needs Python <= 3.11", id="a comparison"),
        pytest.param("Kai is 5' tall", 'Kai is 5" tall', id="feet and inches"),
        pytest.param("Uwe has few friends", "Uwe has a few friends", id="few and a few"),
        pytest.param("Ann smokes?", "Ann smokes", id="asked and said"),
    ],
)
def test_a_sign_can_be_all_the_difference(a: str, b: str) -> None:
    assert content_hash(a) != content_hash(b)
    assert compare(a, b, 0.99, Ladder(duplicate=0.9)) is Kinship.DIFFERENT
