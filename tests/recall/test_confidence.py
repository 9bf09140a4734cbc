"""Recall says when it does not know, and how sure it is of what it tells."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from rich.console import Console

from benchmarks.abstention import (
    ANOTHER_LIFE,
    Asked,
    ask,
    calibration_error,
    halves,
    nonsense,
    separation,
    with_strange,
)
from benchmarks.baselines import Remembering
from benchmarks.data import abstention_set
from benchmarks.kins import kin_at
from kinmem.cli.cards import answer_cards
from kinmem.language.sought import answer_test
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.mcp.tool_answers import Recalled, as_json
from kinmem.models import Filters
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.service import Service
from kinmem.wiring.open_home import NoEmbedder
from tests.conftest import MovableClock
from tests.sweeps import WHOLE, sample
from tests.tables import each

Open = Callable[..., Service]
ASKED = Path(__file__).parents[1] / "corpora" / "asked.jsonl"

FAMILY = [
    "Mia started piano lessons with Mrs Okafor, Thursdays at four.",
    "Biscuit is a beagle and afraid of the vacuum cleaner.",
    "Tobias takes the 6:52 train to work now.",
    "Grandpa Sven turned eighty; we gave him a telescope.",
]
KNOWN = "Who teaches Mia the piano?"
UNKNOWN = "How much does Biscuit weigh?"
NONSENSE = "qwxz vbnm"


def told(service: Service) -> Service:
    for statement in FAMILY:
        service.memorize(statement)
    return service


def test_what_is_known_is_told_with_how_sure_it_is(service: Service) -> None:
    answer = told(service).recall(KNOWN)

    assert not answer.abstained
    assert not answer.hits[0].weak
    assert answer.hits[0].memory.content == FAMILY[0]
    assert answer.hits[0].confidence > 0.5
    assert all(0 <= hit.confidence <= 1 for hit in answer.hits)


def test_what_was_never_told_is_not_answered_and_the_nearest_are_weak(service: Service) -> None:
    answer = told(service).recall(UNKNOWN)

    assert answer.abstained
    assert all(hit.weak for hit in answer.hits)
    assert 1 <= len(answer.hits) <= 5
    assert answer.hits[0].memory.content == FAMILY[1]
    assert answer.hits[0].confidence < service.settings.recall.abstain_below


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("We tried a pumpkin bread last autumn and it did not sell", "which experiment flopped?"),
        ("Leila takes over the queue while the user is away", "who covers for me?"),
        ("They report PR-AUC, not ROC", "which metric do we report?"),
        ("My son carries the pen for his peanut allergy", "where's the emergency injector?"),
    ],
)
def test_what_is_stored_is_shown_at_least_as_weak(
    service: Service, memory: str, question: str
) -> None:
    told(service).memorize(memory)

    answer = service.recall(question)

    assert memory in [hit.memory.content for hit in answer.hits]


@pytest.fixture(scope="module")
def home_of_notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which all notes of tests/corpora/asked.jsonl have their vectors."""
    home = tmp_path_factory.mktemp("asked") / ".kinmem"
    with kin_at(home, clock=MovableClock(), KINMEM_KIN="ana", KINMEM_SECRETS="refuse") as service:
        service.memorize_many(one["note"] for one in asked())
        assert service.settle(60)
    return home


def asked() -> list[dict[str, str]]:
    return [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt", "zh"])
def test_what_shares_a_word_or_its_meaning_is_in_the_list_whatever_time_stands_before_the_question(
    home_of_notes: Path, home: Path, service_of: Open, language: str
) -> None:
    """Property of 42 notes with a question each, among all of them."""
    copytree(home_of_notes, home)
    service = service_of("ana", KINMEM_RECALL_DEADLINE=60)  # the judge reads all it has room for

    for one in (one for one in asked() if one["lang"] == language):
        plain = service.recall(one["question"]).hits
        stamped = service.recall(f"[2023/05/30 (Tue) 23:40] {one['question']}").hits

        weak = [hit.weak for hit in plain]
        assert one["note"] in [hit.memory.content for hit in plain]
        assert weak == sorted(weak)
        assert [(hit.memory.id, hit.weak) for hit in stamped] == [
            (hit.memory.id, hit.weak) for hit in plain
        ]


def test_a_question_that_was_stored_answers_none(service: Service) -> None:
    service.memorize("where did I put the umbrella?")

    found = service.recall("Where did I put the umbrella?")

    assert found.abstained
    assert [hit.weak for hit in found.hits] == [True]


def test_weak_hits_come_after_the_others(service: Service) -> None:
    for question in (KNOWN, UNKNOWN, "Who is afraid?", "Which train does Tobias take?"):
        weak = [hit.weak for hit in told(service).recall(question).hits]

        assert weak == sorted(weak)


def test_an_answer_that_is_sure_has_no_faint_company(service: Service) -> None:
    told(service).memorize("The pen for his peanut allergy is in the bag.")

    answer = service.recall("When does Tobias take the train to work?")

    assert answer.hits[0].confidence > 0.6
    assert FAMILY[3] not in [hit.memory.content for hit in answer.hits]


def test_weak_hits_do_not_count_as_used(service: Service) -> None:
    missed = told(service).recall(UNKNOWN).hits[0].memory

    service.store.flush_use()

    assert service.store.get(missed.id).recalled_count == 0


def test_nonsense_finds_not_even_weak_hits(service: Service) -> None:
    answer = told(service).recall(NONSENSE)

    assert (answer.hits, answer.abstained) == ([], True)


@pytest.mark.parametrize(
    "question",
    ["????", "🦄🦄🦄", "x", "q?", "a b c", "the of and a", "it", "und der die", "no no no"],
)
def test_what_asks_for_nothing_finds_nothing(service: Service, question: str) -> None:
    told(service).memorize("No x, no q: a unicorn of the family is it 🦄.")

    answer = service.recall(question)

    assert (answer.hits, answer.abstained) == ([], True)


@pytest.mark.parametrize("question", ["Where am I?", "room B-4", "B-4", "乌"])
def test_short_questions_that_ask_for_something_find_it(service: Service, question: str) -> None:
    told(service).memorize("Where I am: in room B-4, with 乌龙茶.")

    assert service.recall(question).hits


def test_nonsense_finds_hardly_anything_among_many_memories(service: Service) -> None:
    """The half of our own nonsense that was not looked at; word salads are words."""
    (conversation,) = (one for one in abstention_set() if one.name == halves("notes")["unseen"][0])
    service.memorize_many(note["content"] for note in conversation.notes)
    assert service.settle(60)
    questions = nonsense("unseen")

    answers = {one.text: service.recall(one.text) for one in questions}
    answered = [text for text, answer in answers.items() if not answer.abstained and answer.hits]

    assert len(questions) > 100
    assert len(answered) < 0.1 * len(questions)


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("Error ERR_X41 means that the valve is stuck.", "ERR_X41"),
        ("Error ERR_X41 means that the valve is stuck.", "What is ERR_X41?"),
        ("The test rig is called qux-7 and stands in hall 3.", "qux-7"),
        ("The licence key is KJ8F-22QP-XX9Z.", "KJ8F-22QP-XX9Z"),
        ("Our landlord is Mr. Okafor.", "Okafor?"),
        ("My chess rating is 1543.", "1543"),
        ("I don't eat meat, eggs or dairy.", "Am I vegan?"),
        ("Die Miete beträgt 900 Euro.", "Was kostet die Wohnung?"),
        ("Der Zweitschlüssel hängt hinter dem Boiler.", "Wo ist der Ersatzschlüssel?"),
    ],
)
def test_rare_names_and_words_that_nobody_knows_are_found(
    service: Service, memory: str, question: str
) -> None:
    told(service).memorize(memory)

    assert memory in [hit.memory.content for hit in service.recall(question).hits]


def test_of_an_empty_memory_nothing_is_missed(service: Service) -> None:
    answer = service.recall(KNOWN)

    assert (answer.hits, answer.abstained) == ([], False)


def test_the_nearest_come_by_how_likely_they_answer(service: Service) -> None:
    for question in (UNKNOWN, "What is the surname of Tobias?", "How old is Mrs Okafor's train?"):
        answer = told(service).recall(question)
        sure = [hit.confidence for hit in answer.hits]

        assert sure == sorted(sure, reverse=True)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"KINMEM_ABSTAIN": False}, id="switched off"),
        pytest.param({"KINMEM_ABSTAIN_BELOW": 0.0}, id="nothing is too unlikely"),
    ],
)
def test_it_can_be_told_to_show_whatever_is_nearest(
    service_of: Open, settings: dict[str, object]
) -> None:
    answer = told(service_of("ana", **settings)).recall(UNKNOWN)

    assert not answer.abstained
    assert answer.hits[0].memory.content == FAMILY[1]


@pytest.mark.parametrize("mode", ["kinbot", "kore", "recent", "balanced"])
def test_every_ranking_knows_alike_what_it_does_not_know(service: Service, mode: str) -> None:
    plain = told(service).recall(KNOWN)

    assert service.recall(UNKNOWN, mode=mode).abstained
    hit = next(
        one for one in service.recall(KNOWN, mode=mode).hits if FAMILY[0] in one.memory.content
    )
    assert hit.confidence == pytest.approx(plain.hits[0].confidence, abs=0.05)


def test_the_time_asked_for_is_answer_enough(service: Service) -> None:
    told(service)

    assert service.recall("What did I say today?").hits


@pytest.mark.parametrize(
    ("question", "abstains"),
    [
        pytest.param(
            "What is the surname of Biscuit's mother in Stockholm?", True, id="hardly any"
        ),
        pytest.param("What is Biscuit afraid of?", False, id="all words"),
        pytest.param("Does Biscuit bark at Tobias?", False, id="some words"),
    ],
)
def test_words_alone_must_be_hardly_any_to_say_that_it_is_not_known(
    service: Service, question: str, abstains: bool
) -> None:
    store = told(service).store
    recall = Recall(store, [NoEmbedder()], service.settings, service.clock)

    answer = recall(Request(question, 10, Filters()))

    assert answer.degraded == ("embedding",)
    assert answer.abstained is abstains


def test_of_a_model_nobody_measured_only_the_words_count(service: Service) -> None:
    class Unmeasured(BuiltinEmbedder):
        calibration = replace(BuiltinEmbedder.calibration, measured=False)

    store = told(service).store
    recall = Recall(store, [Unmeasured()], service.settings, service.clock)
    words = Recall(store, [NoEmbedder()], service.settings, service.clock)

    sure = [hit.confidence for hit in recall(Request(KNOWN, 1, Filters())).hits]

    assert sure == pytest.approx(
        [hit.confidence for hit in words(Request(KNOWN, 1, Filters())).hits], abs=0.1
    )


def test_a_tool_says_in_a_line_that_nothing_answers(service: Service) -> None:
    sent = as_json(Recalled.of(told(service).recall(UNKNOWN), service, explain=False))

    assert sent["abstained"] is True
    assert sent["note"].startswith("Nothing remembered answers this")
    assert sent["memories"][0]["content"] == FAMILY[1]
    assert sent["memories"][0]["weak"] is True
    assert 0 <= sent["memories"][0]["confidence"] < 0.05


MENTIONS = "Wir haben 2019 in Verona geheiratet."


@pytest.mark.parametrize(
    ("question", "is_known"),
    [
        ("did I ever mention Verona?", True),
        ("What did I say about Verona?", True),
        ("What did the user say about Verona?", True),
        ("Did I tell you about Paris?", False),
        ("What did I say about the hotel in Verona?", False),
        ("What did Petra say about Verona?", False),
    ],
)
def test_whatever_was_said_about_it_answers_what_was_said_about_it(
    service: Service, question: str, is_known: bool
) -> None:
    for text in (MENTIONS, "My cousin Petra keeps bees.", "Luca mag keinen Koriander."):
        service.memorize(text)

    answer = service.recall(question)

    assert answer.abstained is not is_known
    assert [hit.memory.content for hit in answer.hits if not hit.weak] == [MENTIONS] * is_known


def test_where_nothing_fits_a_tool_speaks_of_no_weak_memories(service: Service) -> None:
    answer = told(service).recall(KNOWN, since="in 3 days")
    sent = as_json(Recalled.of(answer, service, explain=False))

    assert sent["memories"] == []
    assert "weak" not in sent["note"]


@pytest.mark.parametrize("explain", [True, False])
def test_hits_tell_their_confidence_when_asked_to_explain(service: Service, explain: bool) -> None:
    sent = as_json(Recalled.of(told(service).recall(KNOWN), service, explain))

    assert ("confidence" in sent["memories"][0]) is explain
    assert "weak" not in sent["memories"][0]
    assert not {"abstained", "note"} & set(sent)


def test_the_command_line_shows_weak_hits_as_such(service: Service) -> None:
    console = Console(width=100)
    with console.capture() as shown:
        console.print(*answer_cards(told(service).recall(UNKNOWN), service, explain=False))

    assert "Nothing remembered is likely to answer this. The nearest, weak:" in shown.get()
    assert FAMILY[1] in shown.get()
    assert "%" in shown.get()


@each(
    ("question", "text", "holds"),
    [
        pytest.param("How many hens are there?", "We keep hens.", False, id="no number"),
        pytest.param(
            "How many hens are there?", "We keep nine hens.", True, id="a number in words"
        ),
        pytest.param("What colour is it?", "It is fast.", False, id="no colour"),
        pytest.param("What colour is it?", "It is #C2410C.", True, id="a colour by code"),
        pytest.param(
            "Who wrote to Jake?", "Jake got a letter.", False, id="only the one asked about"
        ),
        pytest.param("Who wrote to Jake?", "Jake, Ollie sent a letter.", True, id="another name"),
        pytest.param("How long does it run?", "It runs well.", False, id="no span"),
        pytest.param("How long does it run?", "Until Easter.", True, id="a span"),
        pytest.param(
            "What is her phone number?", "She has a phone.", False, id="no number to call"
        ),
        pytest.param("What is his surname?", "He is Tom Reid.", True, id="a name"),
        pytest.param("What is his surname?", "He starts in May.", False, id="a month is no name"),
        pytest.param("How much does she weigh?", "She paid 20 euros.", False, id="only money"),
        pytest.param("How much does she weigh?", "She weighs 41 kg.", True, id="a mass"),
        pytest.param("What does he earn?", "He earns 17.50 an hour.", True, id="money per hour"),
        pytest.param("What is the rent?", "It opens at 9:30.", False, id="only a time of day"),
        pytest.param("How many hens are there?", "We moved in 2023.", False, id="only a year"),
        pytest.param("How many hours do I sleep?", "I slept seven hours.", True, id="hours"),
        pytest.param("How tall is Ben?", "Ben turned nine years old.", False, id="only an age"),
        pytest.param("When is the wedding?", "They will marry.", False, id="no time"),
        pytest.param("When is the wedding?", "They marry next month.", True, id="some time"),
        pytest.param(
            "What is her phone number?", "She lives at number 12.", False, id="too few digits"
        ),
        pytest.param("Wie viele Hühner gibt es?", "Wir halten Hühner.", False, id="keine Zahl"),
        pytest.param("Wie viele Hühner gibt es?", "Es sind neun Hühner.", True, id="Zahl"),
        pytest.param("Combien coûte le pain ?", "Du pain, le mardi.", False, id="aucun prix"),
        pytest.param("¿De qué color es el coche?", "El coche es viejo.", False, id="sin color"),
        pytest.param("Di che colore è l'auto?", "L'auto è rossa.", True, id="un colore"),
        pytest.param("Quantos anos tem a Ana?", "A Ana faz 40 anos.", True, id="uma idade"),
    ],
)
def test_an_answer_is_of_the_kind_that_is_asked_for(question: str, text: str, holds: bool) -> None:
    test = answer_test(question)

    assert test is not None
    assert test(text) is holds


@pytest.mark.parametrize(
    "question",
    [
        "Where does she live?",
        "Why?",
        "What will he do with her phone number?",
        "What did I rent in Oslo?",
        "Why did she choose those colours?",
        "Was ist passiert?",
    ],
)
def test_of_other_questions_any_text_may_be_the_answer(question: str) -> None:
    assert answer_test(question) is None


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("Unser Lieferwagen ist dunkelgrün.", "Welche Farbe hat der Lieferwagen?"),
        ("Le loyer de l'atelier est de 840 euros par mois.", "Combien coûte l'atelier ?"),
        ("Soy alérgico a las avellanas.", "¿A qué soy alérgico?"),
        ("La nostra gatta Mina ha avuto tre cuccioli.", "Quanti cuccioli ha avuto Mina?"),
        ("O Júlio trabalha como cozinheiro no hotel.", "Onde trabalha o Júlio?"),
    ],
)
def test_what_is_known_in_another_language_is_not_withheld(
    service: Service, memory: str, question: str
) -> None:
    told(service).memorize(memory)

    answer = service.recall(question)

    assert memory in [hit.memory.content for hit in answer.hits]


def test_what_was_asked_of_another_life_is_often_not_answered() -> None:
    """Of a Kin that was held back: hardly anything there speaks of it."""
    name = halves("notes")["unseen"][0]
    (conversation,) = (one for one in with_strange() if one.name == name)
    strange = [one for one in conversation.questions if one.category == ANOTHER_LIFE]
    asked = list(
        ask(replace(conversation, questions=sample(strange, 3)), Remembering(BuiltinEmbedder()))
    )

    assert len(asked) > 30
    assert not any(one.has_answer for one in asked)
    assert sum(one.silent for one in asked) / len(asked) > 0.2


def test_our_own_questions_are_enough_and_half_have_no_answer() -> None:
    questions = [question for one in abstention_set() for question in one.questions]

    assert sum(bool(question.gold) for question in questions) >= 300
    assert sum(not question.gold for question in questions) >= 300
    assert all(
        question.gold <= set(one.ids) for one in abstention_set() for question in one.questions
    )


def test_on_unseen_questions_confidence_means_what_it_says() -> None:
    """A Kin that was held back, in `make sweeps` all four: see docs/benchmarks.md."""
    unseen = halves("notes")["unseen"] if WHOLE else ["chalk"]
    embedder = Remembering(BuiltinEmbedder())
    asked: list[Asked] = []
    for conversation in abstention_set():
        if conversation.name in unseen:
            asked += ask(conversation, embedder)

    assert separation(asked) > 0.68
    assert calibration_error([one for each in asked for one in each.shown]) < 0.06
    answerable = [one for one in asked if one.has_answer]
    assert sum(one.silent for one in answerable) / len(answerable) < 0.08
    silent = [one for one in asked if one.silent]
    assert sum(not one.has_answer for one in silent) / len(silent) > 0.7
    assert len(silent) > 10
