"""What a person asks not to keep is not learned; it stays in the transcript, as it was said."""

from collections.abc import Callable

import pytest

from kinmem.service import Service

ASKED = [
    "Don't remember this, but my salary is 84,000 euros.",
    "Off the record: we are going to fire Tom in May.",
    "I don't want you to remember this: I'm on antidepressants.",
    "Please don't save this. My brother is in prison in Leeds.",
    "My wife is called Petra. Don't store that.",
    "My PIN is the year of my wedding. Forget I said that.",
    "Behalt das nicht: meine Schwester wohnt jetzt in Graz.",
    "Ich kündige im Juni. Bitte nicht speichern.",
    "Ne retiens pas ceci : je quitte mon travail en juin.",
    "Ma sœur habite à Lyon. Oublie ce que je viens de dire.",
    "No recuerdes esto, pero mi sueldo es de 3.000 euros.",
    "Mi hermana vive en Bilbao. No lo apuntes.",
    "Non ricordare questo, ma il mio stipendio è 2.000 euro.",
    "Não guarde isso, mas o meu salário é de 5 mil.",
    "别记住这个，我的工资是三万。",
    "This is between us and must not be stored: I failed the exam.",
    "(do not store) My sister got arrested in May.",
    "Ich verdiene 61.000, vergiss das bitte gleich wieder.",
    "Das darf nicht gespeichert werden: ich bin krank.",
    "Non ricordartelo, ma ho perso il portafoglio.",
    "这句话不要保存：我欠了很多钱。",
]
NOT_ASKED = [
    "My dog is called Bello, don't forget that.",
    "Please don't remember my old address. I live in Porto now.",
    "Never store passwords in plain text in this project.",
    "Card numbers are secret and must not be stored.",
    "Vergiss das nicht: Krümel braucht jeden Abend eine Tablette.",
    "Forget what I said about the port, the backend listens on port 8081 now.",
]


@pytest.fixture
def kin(service_of: Callable[..., Service]) -> Service:
    return service_of("ana", KINMEM_JUDGE="on")


def learned(kin: Service, *texts: str) -> list[str]:
    for number, text in enumerate(texts):
        kin.record_turn(str(number), text, "OK.", turn="1")
    kin.settle()
    return [one.content for one in kin.list_memories(limit=100).memories]


def test_what_is_not_to_be_kept_is_not_learned(kin: Service) -> None:
    assert learned(kin, *ASKED) == []


def test_it_stays_in_the_transcript(kin: Service) -> None:
    learned(kin, ASKED[0])

    assert [one.text for one in kin.turns("0") if one.role == "user"] == [ASKED[0]]


def test_requests_about_something_else_change_nothing(kin: Service) -> None:
    assert len(learned(kin, *NOT_ASKED)) == len(NOT_ASKED)


def test_the_other_paragraphs_are_learned_and_do_not_quote_it(kin: Service) -> None:
    text = "My salary is 84,000 euros. Don't keep that.\n\nMy dog is called Bello."

    assert learned(kin, text) == ["My dog is called Bello."]
    [memory] = kin.list_memories().memories
    assert "84,000" not in (memory.source_context or "")
