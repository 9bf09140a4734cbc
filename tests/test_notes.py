"""Notes beside a working prompt: rules once, and what a command touches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinmem.recall.working_prompt import MOST_TOLD
from kinmem.service import Service
from kinmem.wiring.open_home import open_conversation

PNPM = "We use pnpm in this repo, never npm or yarn."
TELEPHONE = "The Frankfurt office moves to the second floor."
GERMAN = (
    "Frau Holtmann möchte nur per Brief kontaktiert werden.",
    "Angebote gelten bei uns dreißig Tage.",
    "Die Fräse steht seit dem dritten Mai still.",
    "Tropenhölzer verarbeiten wir nicht mehr.",
    "Der Transporter darf nicht in die Umweltzone.",
    "Die Buchhaltung läuft über Lexware.",
    "Kai hat eine Stauballergie und arbeitet nicht an der Schleifmaschine.",
    "Freitags ist die Werkstatt ab dreizehn Uhr geschlossen.",
    "Eiche hat derzeit zehn Wochen Lieferzeit.",
    "Lackieren lassen wir in Soest.",
)

BREWERY = (
    "The mash tun loses two degrees an hour since the lid cracked.",
    "Hops come from Tettnang and have to be ordered before June.",
    "The excise office wants the stock list by the fifth of each month.",
    "Batch numbers are year, week and tank, for example 2631-4.",
    "Tank 3 has a leaking valve and is only used for water.",
    "Iveta has the key to the cold store.",
    "The label printer takes 62 mm rolls only.",
    "Our wheat beer is not filtered.",
    "Bottles from the Kolin plant break more often than the others.",
    "The brewing log is kept on paper because tablets die of the steam.",
)


@pytest.fixture
def repo(tmp_path: Path) -> str:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return str(tmp_path / "shop")


def notes(service: Service, prompt: str, place: str | None = None, session: str = "s") -> str:
    return service.observe("prompt", session, prompt, prompt, place=place).notes


def lines(told: str) -> list[str]:
    return [line for line in told.splitlines() if line.startswith("- ")]


def test_rules_of_the_place_are_told_once_a_session_whatever_is_asked(
    service: Service, repo: str
) -> None:
    service.memorize(PNPM, category="preference", place=repo)

    first = notes(service, "the frontend needs the date-fns package, please add it", repo)
    second = notes(service, "now sort the imports of the frontend", repo)

    assert PNPM in first
    assert second == ""


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("My sister Mia lives in Lyon and is allergic to peanuts.", id="a fact"),
        pytest.param("We use pnpm in this repo, never npm or yarn.", id="a rule"),
    ],
)
def test_what_was_learned_from_a_prompt_is_no_note_for_it(service: Service, prompt: str) -> None:
    service.observe("prompt", "s", "1", prompt, tell=False)
    assert service.settle(60)
    assert service.list_memories().memories

    assert service.observe("prompt", "s", "1", prompt).notes == ""
    assert prompt.split()[-1] in service.observe("prompt", "other", "1", prompt).notes


def test_an_opening_tells_them_and_a_compacted_session_hears_them_again(
    service: Service, repo: str
) -> None:
    service.memorize(PNPM, category="preference", place=repo)

    assert PNPM in service.opening("s", place=repo)
    assert notes(service, "the frontend needs the date-fns package", repo) == ""
    service.compacted("s")
    assert PNPM in notes(service, "and what about the lock file of the other app", repo)


def test_an_opening_is_told_again_until_something_is_said(service: Service) -> None:
    service.memorize("I am allergic to peanuts.")
    told = service.opening("s")

    again = service.opening("s")
    service.observe("prompt", "s", "1", "Good morning!")

    assert "peanuts" in told and again == told
    assert service.opening("s") == ""


def test_an_opening_tells_a_small_memory_whole(service: Service) -> None:
    for told in (*GERMAN, TELEPHONE):
        service.memorize(told)

    told = service.opening("s")

    assert all(one in told for one in (*GERMAN, TELEPHONE))


def test_of_a_large_memory_an_opening_tells_rules_and_what_is_important(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana", KINMEM_OPENING_TOKENS=250)
    for told in GERMAN:
        service.memorize(told, category="fact", importance=5)
    service.memorize("Never push to main.", category="decision")
    service.memorize("Theo is allergic to peanuts.", importance=9)

    told = service.opening("s")

    assert "Never push" in told
    assert "peanuts" in told
    assert "Stauballergie" in told  # nobody has rated it, and no prompt may be near it
    assert len(lines(told)) == 3


@pytest.mark.parametrize(
    ("prompt", "needed"),
    [
        pytest.param(
            "Plane Kai für die Schleifmaschinen ein", "Schleifmaschine", id="another form"
        ),
        pytest.param(
            "Der Tisch aus Eiche soll in vier Wochen stehen, bestätige das", "Eiche", id="words"
        ),
        pytest.param("Schick Frau Holtmann eine Mail", "Holtmann", id="a name"),
    ],
)
def test_a_german_command_is_told_what_it_touches_and_no_more(
    service: Service, prompt: str, needed: str
) -> None:
    for told in GERMAN:
        service.memorize(told)
    service.settle(30)

    told = lines(notes(service, prompt))

    assert any(needed in line for line in told)
    assert len(told) <= 2


@pytest.mark.parametrize(
    "prompt",
    [
        "Wie hoch ist die Zugspitze?",
        "Erklär mir die Abseitsregel",
        "Wer hat die Zauberflöte komponiert?",
    ],
)
def test_an_unrelated_german_prompt_is_told_nothing(service: Service, prompt: str) -> None:
    for told in GERMAN:
        service.memorize(told)
    service.settle(30)

    assert notes(service, prompt) == ""


@pytest.mark.parametrize(
    ("prompt", "needed"),
    [
        ("Fill 400 litres of the new lager into tank 3 tomorrow morning", "leaking valve"),
        ("Print the bottle labels for the wheat beer on the new rolls", "62 mm"),
        ("Can we print labels of 80 mm for the wheat beer bottles?", "62 mm"),
        ("The mash was much colder than planned again, what went wrong?", "lid cracked"),
    ],
)
def test_work_is_told_the_likeliest_few_even_if_it_is_asked_about(
    service: Service, prompt: str, needed: str
) -> None:
    service.memorize_many(BREWERY)
    service.settle(30)

    told = notes(service, prompt)

    assert needed in told
    assert len(lines(told)) <= MOST_TOLD


@pytest.mark.parametrize(
    "prompt",
    [
        "Write a haiku about the sea",
        "Name three good board games for two people",
        "Translate 'thank you' into Japanese",
        "Erzähl mir einen Witz",
        "Explique-moi la photosynthèse",
        "¿Cuál es el río más largo del mundo?",
        "Raccontami una barzelletta",
        "obrigado, até amanhã",
        "讲个笑话",
    ],
)
def test_what_is_about_the_world_at_large_is_told_nothing(service: Service, prompt: str) -> None:
    service.memorize_many(BREWERY)
    service.settle(30)

    assert notes(service, prompt) == ""


def test_words_alone_find_what_a_command_touches(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", resident=False)
    for told in GERMAN:
        service.memorize(told)

    assert "Holtmann" in notes(service, "Schick Frau Holtmann eine Mail")


def test_a_question_is_told_what_the_judge_knows_to_answer_it(service: Service) -> None:
    """Its only word, "work", says nothing; the nearest memories are others."""
    service.memorize_many(BREWERY)
    service.memorize("I work as a nurse at the General Infirmary.")
    assert service.settle(60)

    assert "General Infirmary" in notes(service, "Where do I work?")


@pytest.mark.parametrize("prompt", ["are you sure?", "what's next?", "does it work?", "why?"])
def test_a_question_that_says_nothing_is_told_nothing(service: Service, prompt: str) -> None:
    service.memorize_many(BREWERY)
    service.memorize("I work as a nurse at the General Infirmary.")
    assert service.settle(60)

    assert notes(service, prompt) == ""


def by_words(service: Service, prompt: str) -> str:
    """The notes of a hook that finds no server."""
    with open_conversation(service.settings) as conversation:
        return conversation.observe("prompt", "s", prompt, prompt).notes


def opening_of(service: Service, prompt: str) -> str:
    return service.opening("s")


QUESTION, COMMAND = (
    "Does Sam rent our spare room?",
    "Fix the heating of the spare room, the radiator valve leaks since Monday.",
)


@pytest.mark.parametrize(
    ("told", "prompt", "category"),
    [
        pytest.param(notes, QUESTION, "fact", id="a question"),
        pytest.param(notes, COMMAND, "fact", id="a command"),
        pytest.param(by_words, QUESTION, "fact", id="a hook without a server"),
        pytest.param(opening_of, "", "fact", id="an opening"),
        pytest.param(notes, "Good morning!", "preference", id="a rule of a session without one"),
    ],
)
def test_the_newer_one_is_told_first_and_the_older_is_marked(
    service_of: Callable[..., Service], told: Callable[..., str], prompt: str, category: Any
) -> None:
    service = service_of("ana", KINMEM_OPENING_TOKENS=250)
    texts = "Sam always rents our spare room.", "Sam moved out, Priyanka has the room now."
    older, newer = (str(service.memorize(text, category=category).id) for text in texts)
    service.update_memory(older, pinned=True)
    for other in BREWERY:
        service.memorize(other)
    assert service.newer(older) == {older: newer}

    first, second = (line for line in lines(told(service, prompt)) if "room" in line)

    assert "Priyanka" in first
    assert "Sam always rents" in second
    assert '(may be out of date, newer: "Sam moved out, Priyanka has the room now.")' in second


def test_what_belongs_to_another_project_puts_nothing_in_doubt(
    service: Service, repo: str, tmp_path: Path
) -> None:
    garage = str(tmp_path / "garage")
    (tmp_path / "garage" / ".git").mkdir(parents=True)
    older = service.memorize("Sam rents our spare room.", importance=9).id
    newer = service.memorize("Sam moved out, Priyanka has the room now.", importance=9).id
    assert older and newer and service.newer(older) == {older: newer}
    service.update_memory(newer, place=garage)

    there, here = (
        service.opening("s", place=garage),
        service.opening("t", place=repo),
    )

    assert "newer" in there and "Priyanka" in there
    assert "newer" not in here and "Priyanka" not in here and "Sam rents" in here


@pytest.mark.parametrize(
    ("told", "asked", "unrelated"),
    [
        pytest.param(
            "我女儿米娅住在里昂。", "我女儿住在哪里？", "请帮我修改这个函数的名字。", id="zh"
        ),
        pytest.param(
            "娘のミアはリヨンに住む。", "ミアはどこに住む？", "関数の名前を変えて。", id="ja"
        ),
    ],
)
def test_a_hook_without_a_server_finds_what_is_written_without_spaces(
    service: Service, told: str, asked: str, unrelated: str
) -> None:
    service.memorize(told)

    assert told in by_words(service, asked)
    with open_conversation(service.settings) as conversation:
        assert conversation.observe("prompt", "t", "1", unrelated).notes == ""


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "UTC"])
def test_what_holds_until_a_day_is_told_to_hold_until_that_day(
    service_of: Callable[..., Service], zone: str
) -> None:
    service = service_of("ana", KINMEM_TZ=zone)
    service.memorize("Customer Obermeier is on the enterprise plan until 30 September 2026.")

    assert "(is so until 30 September 2026)" in service.opening("s")
