"""A bare day of the month ("on the 22nd") is of the month that is spoken of, or it has no date."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kinmem.models import Memory
from kinmem.service import Service
from tests.conftest import MovableClock

SAID = datetime(2026, 11, 30, 10, tzinfo=UTC)

Told = Callable[..., list[Memory]]


@pytest.fixture
def told(service_of: Callable[..., Service], clock: MovableClock) -> Told:
    """What is learned of messages that somebody sends one after the other, the latest last."""
    clock.now = SAID
    service = service_of("ana", KINMEM_TZ="UTC")

    def learned(*messages: str) -> list[Memory]:
        for number, message in enumerate(messages):
            service.observe("prompt", "s", f"t{number}", message)
            service.observe("answer", "s", f"t{number}", "Noted.")
        service.settle()
        return service.list_memories(sort="oldest").memories

    return learned


def days(memories: list[Memory]) -> dict[str, str]:
    """Each phrase that has a date, and that date."""
    parts = (part for one in memories for part in (one.source_context or "").split(" | "))
    dated = (part.rpartition(": ") for part in parts if part[-1:].isdigit())
    return {phrase: day for phrase, _, day in dated}


@pytest.mark.parametrize(
    ("messages", "phrase", "day"),
    [
        (["My dad's 70th is on March 3rd, the party is on the 7th."], "on the 7th", "2027-03-07"),
        (["Papas 70. Geburtstag ist am 3. März, die Feier ist am 7."], "am 7.", "2027-03-07"),
        (["L'anniversaire de papa est le 3 mars, la fête est le 7."], "le 7", "2027-03-07"),
        (
            ["In March we have the village fair in Dorfen, the parade is on the 14th."],
            "on the 14th",
            "2027-03-14",
        ),
        (["We married on October 3rd and we flew to Bali on the 9th."], "on the 9th", "2026-10-09"),
        (["An Silvester sind wir in Prag, zurück fahren wir am 3."], "am 3.", "2027-01-03"),
        (["Tomorrow I fly to Rome. My flight back is on the 7th."], "on the 7th", "2026-12-07"),
        (["Unser Umzug ist am 20.1., die Schlüssel gibt es am 25."], "am 25.", "2027-01-25"),
    ],
)
def test_a_bare_day_is_of_the_month_that_is_named_before_it(
    messages: list[str], phrase: str, day: str, told: Told
) -> None:
    assert days(told(*messages))[phrase] == day


@pytest.mark.parametrize(
    "message",
    [
        "Our trip starts on the 22nd of December and ends on the 2nd.",
        "Unser Urlaub beginnt am 22.12. und endet am 2.",
        "Nos vacances commencent le 20 décembre et on rentre le 3.",
        "Nuestro viaje empieza el 21 de diciembre y volvemos el 4.",
        "In two weeks I fly to Rome. I fly back on the 7th.",
        "My dad's 70th is on March 3rd. The party is on the 7th.",
        "We fly to Rome in March. I have a dentist appointment on the 7th.",
    ],
)
def test_an_end_that_would_be_before_its_beginning_has_no_date(message: str, told: Told) -> None:
    memories = told(message)

    assert memories
    assert days(memories).keys() <= {"In two weeks"}


def test_behind_a_feast_only_a_day_near_it_has_a_date(told: Told) -> None:
    found = days(
        told("Weihnachten fahren wir zu meinen Eltern nach Graz: hin am 22., zurück am 2.")
    )

    assert found == {"am 22.": "2026-12-22"}


def test_a_month_that_is_over_says_nothing_of_another_sentence(told: Told) -> None:
    found = days(
        told("My sister Eva was born on 3 May 1991. I have a dentist appointment on the 7th.")
    )

    assert found == {"on the 7th": "2026-12-07"}


@pytest.mark.parametrize(
    "message",
    [
        "Version 3.2. broke the importer on Windows, the fix is out on the 18th",
        "I got 9/16 right in the driving test, the next one is on the 18th",
        "J'ai eu 9/16 au code, le prochain est le 18",
        "Version 3.2. hat den Import zerlegt, die neue kommt am 18.",
    ],
)
def test_neither_a_version_nor_a_fraction_names_a_month(message: str, told: Told) -> None:
    assert {*days(told(message)).values()} == {"2026-12-18"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "My dad's 70th is on march 3rd and we are throwing him a party",
            "wait the party is on the 7th, the 3rd is just the birthday",
        ),
        (
            "Papas 70. Geburtstag ist am 3. März",
            "Ach nein, die Feier für Papa ist am 7.",
        ),
        (
            "La boda de mi hermana Lucía es el 3 de marzo",
            "La despedida de soltera de Lucía es el 7",
        ),
    ],
)
def test_a_month_named_in_a_message_before_leaves_a_bare_day_without_a_date(
    first: str, second: str, told: Told
) -> None:
    memories = told(first, second)

    assert memories[-1].content == second
    assert days(memories) == {}


def test_a_month_named_in_a_message_before_confirms_the_next_such_day(told: Told) -> None:
    found = told(
        "Our choir has its concert on December 5th", "I have a dentist appointment on the 18th"
    )

    assert days(found)["on the 18th"] == "2026-12-18"


ARRANGED = [
    "I booked a table at Lucio's on the 18th",
    "They invited us to the wedding on the 18th",
    "We got a slot at the vet on the 18th",
    "Wir haben Karten für die Oper gekauft, am 18.",
    "Sie haben uns zur Hochzeit eingeladen am 18.",
    "J'ai réservé une table au Petit Nice le 18",
    "Compré entradas para el concierto de Rosalía el 18",
    "Nos invitaron a la boda de Marta el 18",
]


@pytest.mark.parametrize("message", ARRANGED)
def test_what_was_arranged_may_be_to_come_and_is_not_dated_to_the_past(
    message: str, told: Told
) -> None:
    (memory,) = told(message)

    assert days([memory]) == {}
    assert memory.occurred_at == SAID


@pytest.mark.parametrize(
    "message",
    [
        "I've got two tickets for Nick Cave on the 18th",
        "We have got an appointment with the notary on the 18th",
        "Ich hab zwei Karten für Nick Cave am 18.",
        "J'ai rendez-vous chez le dentiste le 18",
        "Tengo cita con el dentista el 18",
    ],
)
def test_what_somebody_has_on_a_bare_day_is_to_come(message: str, told: Told) -> None:
    (memory,) = told(message)

    assert {*days([memory]).values()} == {"2026-12-18"}
    assert memory.occurred_at == SAID
