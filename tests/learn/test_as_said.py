"""Whatever is learned of a turn stands in it word for word, and only what is the speaker's."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kinmem.language.secrets.secrets import redact
from kinmem.language.talk.prose import Prose, own_places
from kinmem.language.talk.statements import in_json
from kinmem.learn.extract import extract
from kinmem.models import Memory
from kinmem.models.turns import Message
from kinmem.service import Service
from kinmem.text import storable
from tests.growth import assert_linear
from tests.sweeps import rounds

TRAINING = Path(__file__).parents[2] / "training" / "talk"
SAID = datetime(2026, 11, 4, 9, tzinfo=UTC)
TURNS = [
    (told["text"], told["before"])
    for path in sorted(TRAINING.glob("*.jsonl"))
    for told in map(json.loads, path.read_text(encoding="utf-8").splitlines())
]
PIECES = [
    "My sister lives in Oslo.",
    "we use tenure_prev, not tenure",
    "ich habe am 18. April Geburtstag",
    "staging is at https://staging.harbor.example/a?b=c and deploys from develop",
    "Always answer in German!",
    "I moved to Porto yesterday",
    "Remember that my landlord is Mr. Weber",
    "I love it - it was so great - and I bought two",
    "She said “I live in Rome. I hate cats.” to me",
    "Can you fix it, please?",
    "```\nI = 5\n```",
    "[photo: a dog]",
    "**Ana** is my boss",
    "https://example.com",
    "Ideally I'd work less, but that's a dream.",
]
JOINTS = [" ", "\n", "\n- ", "\n\n2. ", ", ", " — ", "; ", ": ", "  ", "\n> ", ' "', "\t"]

PARTS = st.lists(
    st.tuples(st.sampled_from(PIECES) | st.text(max_size=40), st.sampled_from(JOINTS)),
    min_size=1,
    max_size=6,
)


def learned(
    service: Service, text: str, before: str | None = None, session: str = "s"
) -> list[Memory]:
    """What is learned of one turn, answering `before`."""
    if before:
        service.record_turn(session, "Hello.", before, turn="0", at=SAID)
    service.record_turn(session, text, "OK.", turn="1", at=SAID)
    service.settle()
    found = service.list_memories(limit=200).memories
    return [one for one in found if one.session == session and one.turn_id == "1"]


def as_stored(text: str) -> list[str]:
    """The text as a turn holds it, and the texts in it if it is a program's."""
    plain = redact(storable(text))[0]
    return [plain, *(one for one, _ in in_json(plain) or ())]


@pytest.mark.slow
def test_what_is_learned_of_real_turns_stands_in_them(service: Service) -> None:
    for number, (text, before) in enumerate(TURNS[:: rounds(1, 320)]):
        for memory in learned(service, text, before, session=f"s{number}"):
            assert any(memory.content in one for one in as_stored(text)), memory.content


@settings(
    max_examples=rounds(200, 16),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(parts=PARTS, speaker=st.sampled_from([None, "Ana"]))
def test_what_is_learned_of_any_turn_stands_in_it(
    service: Service, parts: list[tuple[str, str]], speaker: str | None
) -> None:
    text = "".join(piece + joint for piece, joint in parts)
    if not text.strip():
        return
    observed = service.observe("prompt", f"s{hash(text)}", "1", text, speaker=speaker, at=SAID)
    if observed.status != "stored":
        return
    service.observe("answer", f"s{hash(text)}", "1", "OK.", at=SAID)
    service.settle()
    for memory in service.list_memories(limit=200).memories:
        if memory.session == f"s{hash(text)}":
            assert any(memory.content in one for one in as_stored(text)), memory.content


AS_SAID = [
    "staging is at https://staging.harbor.example and deploys from the develop branch",
    "tenure_prev is the column that we predict with, not tenure",
    "Meine Schwester heiratet am 18. April in Graz.",
    "I ran a marathon in Bonn - it was so great!",
    'we call the old warehouse "the barn", it\'s in Leeds',
    "We decided to move the launch to next month.",
    'Our team is called "Ready, steady, ship!" and we work in Graz.',
]


@pytest.mark.parametrize("text", AS_SAID)
def test_a_sentence_is_kept_whole(service: Service, text: str) -> None:
    assert [memory.content for memory in learned(service, text)] == [text]


NOT_THE_SPEAKERS = [
    'Ticket 48211: "Hi, I\'m Greta, I live in Hamburg and my parcel never came." draft an answer',
    "Ideally I'd work only four days a week, but that's a dream.",
    "If I moved to Rome tomorrow nobody would notice",
    "Imagine I had 10 clients like Dana, I'd be rich",
    "Wenn ich in Italien leben würde, hätte ich einen Zitronenbaum",
    "Si viviera en Madrid, no tendría coche",
    "Bump the version to 2.4.1 and tag it",
    "Rebase the feature branch onto develop and push it",
    "sqlalchemy.exc.NoResultFound: No row was found when one was required",
    "NAME READY STATUS RESTARTS AGE\npayments-7c9f 1/1 Running 0 3d",
    "Who won the 2018 world cup",
    "apply the terraform change for the new bucket",
]


@pytest.mark.parametrize("text", NOT_THE_SPEAKERS)
def test_what_is_no_fact_of_the_speaker_is_not_learned(service: Service, text: str) -> None:
    assert learned(service, text) == []


MAILS = [
    "From: Karl <karl@meier.de>\nSubject: Offer\n\nI live in Kassel and I'm allergic to bees.",
    "Von: Karl Meier\nBetreff: Angebot\n\nIch wohne in Kassel und bin allergisch gegen Bienen.",
    "On Tue, 3 Nov 2026, Lena Roth wrote:\nI moved to Antwerp in March. My new phone is a Pixel.",
    "Le mar. 3 nov. 2026, Lena <l@x.fr> a écrit :\nJ'habite à Lyon et je suis végétarienne.",
    "发件人：王芳 <w@x.cn>\n主题：报价\n\n我住在上海，我对花生过敏。",
]


@pytest.mark.parametrize("mail", MAILS)
def test_a_pasted_mail_is_not_the_speakers(service: Service, mail: str) -> None:
    found = learned(service, f"I prefer short answers to mails.\n\n{mail}")

    assert [memory.content for memory in found] == ["I prefer short answers to mails."]


LETTERS = [
    ("can you shorten this for me?", "Dear Ms Halvorsen,", "I live in Stavanger.", "Kind regards,"),
    ("Was soll ich antworten?", "Hallo zusammen,", "ich wohne jetzt in Bern.", "Viele Grüße"),
    ("résume stp", "Bonjour,", "Nous travaillons avec Norvel.", "Bien cordialement,"),
    ("tradúcelo", "Estimados señores:", "Me llamo Fermín y vivo en Pamplona.", "Un saludo,"),
    ("puoi correggere?", "Gentile signora Moen,", "sono celiaco.", "Cordiali saluti,"),
    ("podes encurtar?", "Cara Leonor,", "moro em Faro.", "Com os melhores cumprimentos,"),
    ("我该怎么回复？", "尊敬的李经理：", "我们公司已经搬到苏州。", "此致\n敬礼"),
]


@pytest.mark.parametrize("parts", LETTERS)
def test_a_pasted_letter_without_a_head_is_not_the_speakers(
    service: Service, parts: tuple[str, ...]
) -> None:
    text = "\n\n".join(parts) + "\nAlex Moen"

    assert learned(service, text) == []


def test_what_stands_behind_a_pasted_letter_is_the_writers_own(service: Service) -> None:
    more = "I take my coffee black and without sugar."
    letter = "\n\n".join(LETTERS[0]) + "\nAlex Moen"

    assert [one.content for one in learned(service, f"{letter}\n\n{more}")] == [more]


@pytest.mark.parametrize(
    "text",
    [
        "fix the footer please, and btw our legal name is Havn Tools AB since the merger",
        "write a birthday card for my niece Ottilie, she turns seven and is mad about tractors",
        "帮我订一家餐厅，我爸爸不能吃辣。",
    ],
)
def test_a_task_that_goes_on_with_a_fact_is_learned_whole(service: Service, text: str) -> None:
    assert [one.content for one in learned(service, text)] == [text]


@pytest.mark.parametrize("asked", ["merk dir bitte:", "Merk dir mal bitte:", "Merke dir,"])
def test_what_is_asked_to_be_kept_in_german_is_kept(service: Service, asked: str) -> None:
    told = "Umzugsfirma heisst Brummer, kommt um 7:30, Ansprechpartner Herr Demir"

    assert [one.content for one in learned(service, f"{asked} {told}")] == [told]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Merk dir, dass ich um 7 aufstehe.", "Merk dir, dass ich um 7 aufstehe."),
        ("Note que le code du portail est le 4471.", "le code du portail est le 4471."),
        ("记住我对芒果过敏", "我对芒果过敏"),
    ],
)
def test_what_is_asked_to_be_kept_is_kept_without_the_request_if_it_stands_alone(
    service: Service, text: str, kept: str
) -> None:
    assert [one.content for one in learned(service, text)] == [kept]


def test_what_a_memory_says_itself_is_not_its_context(service: Service) -> None:
    text = "I prefer tea. I always need it hot, can you help me find a cup that keeps it hot?"
    (memory,) = learned(service, text)

    assert (memory.content, memory.source_context) == (text, None)


def test_a_fact_behind_words_of_the_moment_is_learned(service: Service) -> None:
    text = "so something grateful, she turns 40"

    assert [one.content for one in learned(service, text)] == [text]


def test_what_somebody_else_said_is_no_fact_behind_words_of_the_moment(service: Service) -> None:
    assert learned(service, "long day, Mia from the lab told me: I live in Hamburg now") == []


@pytest.mark.parametrize("command", ["go test ./... -race -short", "ruff check ./... --fix"])
def test_dots_in_a_command_end_no_sentence(service: Service, command: str) -> None:
    told = f"We always run `{command}` before a push."

    assert [one.content for one in learned(service, told)] == [told]


@pytest.mark.parametrize(
    "text",
    [
        "mia figlia è celiaca, quindi niente pane normale a casa, hai un'idea per la merenda?",
        "Bernadette ne supporte pas la muscade, on peut mettre quoi à la place ?",
        "unser Kater Moritz braucht seit neuestem Nierendiät, was darf der noch fressen?",
        "we have no car since june, so which supermarket delivers to Leeds LS6?",
        "我妈生日是农历八月初三，今年公历是几号来着？",
        "meine tochter hat ja zöliakie, was kann ich für den kindergeburtstag backen?",
        "desde que Lexi me dejó en septiembre... digo, en octubre, trabajo solo para Babelworks,"
        " ¿cómo aviso al banco?",
    ],
)
def test_a_fact_that_leads_to_a_question_is_learned_whole(service: Service, text: str) -> None:
    assert [one.content for one in learned(service, text)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "If I moved to Porto next year, what would a flat with a balcony cost me there?",
        "So the build is red again, can you look at the log of the last run?",
        "Is my dog called Rex, or is it Max, do you remember?",
        "Who is my dentist, Dr. Klein or Dr. Gross, do you know?",
        "Haben wir eine Katze, oder einen Hund, was steht da?",
        "Was my birthday on 3 May, or on 4 May, do you know?",
        "Translate: Peter likes fish.",
        "Give me sample JSON: a user named Carla who lives in Turin and is allergic to milk",
    ],
)
def test_what_only_leads_to_a_question_or_is_what_a_task_is_done_with_is_not(
    service: Service, text: str
) -> None:
    assert learned(service, text) == []


def test_each_question_and_task_is_looked_into_for_itself(service: Service) -> None:
    asked = "Do I live in Paris as a nurse, or not? Is it Paris, or Lyon? Or in Nice, maybe?"
    task = "Fix the footer, our legal name is Havn Tools AB now."

    assert [one.content for one in learned(service, f"{asked} {task}")] == [task]


def test_a_question_is_no_sequel_of_a_preference(service: Service) -> None:
    text = "I hate long meetings. Before lunch, or after it, what is better?"

    assert [one.content for one in learned(service, text)] == ["I hate long meetings."]


def test_a_task_that_goes_on_with_a_task_is_not(service: Service) -> None:
    text = "now run that against staging, show me the diff, and tell me if it breaks"

    assert learned(service, text) == []


def test_what_somebody_writes_as_a_letter_to_the_assistant_is_theirs(service: Service) -> None:
    text = "Hi there,\n\nI live in Bergen and I'm allergic to wool.\n\nBest,\nSigrid"

    assert any("Bergen" in one.content for one in learned(service, text))


OWN_NOTES = [
    "Subject: biology\nDate: 5 May\nMy teacher is Mrs Kern and I sit in row 3.",
    "From: Vienna\nTo: Graz\nDate: 5 May\nMy teacher is Mrs Kern and I sit in row 3.",
    "Subject: maths\nFrom: 9:00\nTo: 10:00\nMy teacher is Mrs Kern and I sit in row 3.",
    "In 2023 my boss wrote this about me:\nMy teacher is Mrs Kern and I sit in row 3.",
    f"{MAILS[0]}\n\nPlease answer him. My teacher is Mrs Kern and I sit in row 3.",
    f"{MAILS[2]}\n\nSummarize this. My teacher is Mrs Kern and I sit in row 3.\n",
]


@pytest.mark.parametrize("text", OWN_NOTES)
def test_the_writers_own_notes_are_no_mail(service: Service, text: str) -> None:
    (memory,) = learned(service, text)

    assert "My teacher is Mrs Kern and I sit in row 3." in memory.content


def test_the_order_behind_a_mail_is_the_writers_own(service: Service) -> None:
    order = "Bitte antworte ihm, dass ich montags nie kann, weil ich Klavier unterrichte."

    assert order in Prose(f"{MAILS[1]}\n\n{order}").own
    assert "Kassel" not in Prose(f"{MAILS[1]}\n\n{order}").own


@pytest.mark.parametrize("line", ["1 ", "wrote 1: ", "from: 1 ", "1 a écrit "])
def test_a_long_line_of_numbers_is_read_in_linear_time(line: str) -> None:
    def read(count: int) -> None:
        text = line * count
        own_places(text)
        extract([Message(session="s", turn="1", role="user", text=text, said_at=SAID)], (), UTC)

    assert_linear(read, 1_000_000 // len(line))


def test_two_places_are_no_mail(service: Service) -> None:
    text = "From: Vienna\nTo: Graz\nI prefer trains to planes."

    assert "I prefer trains" in learned(service, text)[0].content


FACTS_TOO = [
    ("use `make test-fast`, don't run the whole suite", None, "preference"),
    ("redis db 3 for that, db 0 is celery", None, None),
    ("payment terms 30 days, but Brightleaf gets 14", None, None),
    ("The default branch is main", None, None),
    ("Wood, oak.", "Tiles or wood?", "decision"),
]


@pytest.mark.parametrize(("text", "before", "category"), FACTS_TOO)
def test_rules_told_as_orders_and_short_facts_are_learned(
    service: Service, text: str, before: str | None, category: str | None
) -> None:
    (memory,) = learned(service, text, before)

    assert memory.content == text
    assert category in (None, memory.category)
    assert (before or "") in (memory.source_context or "")


@pytest.mark.parametrize(
    ("before", "context"),
    [
        ("Understood.", None),
        ("The bakery belongs to your aunt.", "The bakery belongs to your aunt."),
    ],
)
def test_what_explains_nobody_is_no_context(
    service: Service, before: str, context: str | None
) -> None:
    (memory,) = learned(service, "Her name is Lotte, she speaks Dutch and French.", before)

    assert memory.source_context == context


def test_a_programs_message_is_read(service: Service) -> None:
    told = {"type": "decision", "text": "We choose EcoBox Srl for the packaging.", "id": 4}

    (memory,) = learned(service, json.dumps(told))

    assert (memory.content, memory.category) == (told["text"], "decision")


@pytest.mark.parametrize(
    "text", ["Yesterday I met Priya at the station in Graz.", "昨天我在车站见到了小王。"]
)
def test_a_resolved_date_stands_beside_the_text(service: Service, text: str) -> None:
    (memory,) = learned(service, text)

    assert memory.content == text
    assert memory.occurred_at is not None
    assert memory.occurred_at.date().isoformat() == "2026-11-03"
    assert "2026-11-03" in (memory.source_context or "")


def test_what_one_is_told_to_remember_is_kept(service: Service) -> None:
    (memory,) = learned(service, "Remember that if it rains the cellar floods.")

    assert memory.content == "if it rains the cellar floods."


@pytest.fixture
def service(service_of: Callable[..., Service]) -> Service:
    return service_of("ana")


@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        ("Please write everything in British English.", "Not the US landing page, obviously."),
        ("Quiero respuestas cortas, sin rollos.", "Cuando sea algo legal explícamelo todo."),
    ],
)
def test_a_rule_is_learned_with_its_exception(service: Service, rule: str, exception: str) -> None:
    (memory,) = learned(service, f"{rule} {exception}")
    assert memory.content == f"{rule} {exception}"


def test_what_only_stands_behind_a_rule_is_not_learned_with_it(service: Service) -> None:
    rule = "I never push without showing the diff."
    (memory,) = learned(service, f"{rule} Ugh, I'm so tired today.")
    assert memory.content == rule
