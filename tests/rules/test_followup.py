"""Which questions only the conversation before them explains, and what it adds to them."""

import pytest

from kinmem.rules.followup import carried_over, needs_context

FOLLOW_UPS = """
And when does he start?
What about Tom?
why?
Yes, exactly.
Does it still leak?
How much did that cost?
Where do they live now?
And in winter?
the same for Bern
Und wann fängt er an?
Was kostet es im Sommer?
Aber warum?
Wohnt sie noch dort?
Et quand commence-t-il ?
Pourquoi ?
Et pour elle ?
¿Y cuándo empieza?
¿Por qué?
¿Dónde vive ella ahora?
E quando comincia?
Dove abita lei adesso?
E quando começa?
Onde ela mora agora?
""".strip().splitlines()

STAND_ALONE = """
When is Tom's birthday?
Where does Ana live?
allergies
What is the wifi password?
Is it raining?
Is there a dentist appointment?
When does Tom start and what does he earn?
Do you think that Ana likes tea?
Wann hat Anna Geburtstag?
Gibt es einen Termin beim Zahnarzt?
Quel est le code de la porte ?
Où habite Claire ?
¿Cuál es la contraseña del wifi?
¿Dónde vive Marta?
Qual è il codice della porta?
Dove abita Giulia?
Qual é a senha do wifi?
Onde mora a Joana?
""".strip().splitlines()


@pytest.mark.parametrize("text", FOLLOW_UPS)
def test_a_follow_up_is_known(text: str) -> None:
    assert needs_context(text, 80)


@pytest.mark.parametrize("text", STAND_ALONE)
def test_a_question_that_stands_alone_is_left_alone(text: str) -> None:
    assert not needs_context(text, 80)


def test_a_long_question_explains_itself() -> None:
    assert not needs_context("And when does he start? " + "It is about the bakery. " * 4, 80)
    assert not needs_context("why?", 0)


@pytest.mark.parametrize(
    ("text", "before", "carried"),
    [
        ("And when does he start?", ["Tom got a job at the bakery."], ["Tom"]),
        ("Where does she live?", ["Ana met Tom's sister Ida.", "How nice!"], ["Ida"]),
        ("Und wann fängt er an?", ["Gestern hat Jonas zugesagt."], ["Jonas"]),
        ("Does it still leak?", ["We repaired the dishwasher."], ["dishwasher", "repaired"]),
        ("What about Tom?", ["When does Ana start at the bakery?"], ["bakery", "start"]),
        ("why?", [], []),
    ],
)
def test_what_was_said_last_is_carried_over(
    text: str, before: list[str], carried: list[str]
) -> None:
    assert carried_over(text, before, {"tom", "ana", "ida", "jonas"}) == carried


@pytest.mark.parametrize(
    "text",
    [
        "SIM card PIN?",
        "E-mail address of Anna Berg?",
        "No-code tools that our team uses",
        "Ma Jones's phone number?",
        "What time is dinner this evening?",
        "Who is the one in charge of payroll?",
    ],
)
def test_words_that_only_look_like_a_follow_up(text: str) -> None:
    assert not needs_context(text, 80)
