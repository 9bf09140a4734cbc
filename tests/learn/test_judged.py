"""The judge of language says what a new statement is to stored ones; vetoes stand above it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.pairs import fate_of
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import State
from kinmem.service import Service
from tests.conftest import MovableClock
from tests.sweeps import sample

CORPORA = Path(__file__).parents[1] / "corpora"
SAME = (
    "Our dog is deaf in the left ear.",
    "our dog can't hear with his left ear",
)
INDIRECT = (
    "I work as a nurse in Ward 7.",
    "handed in my badge on the ward for good, from now on I drive a bus for the city",
)


def told(service: Service, clock: MovableClock, *texts: str) -> list[str]:
    stored = []
    for text in texts:
        stored.append(str(service.memorize(text).id))
        clock.advance(days=60)
    return stored


ATTRIBUTES = [
    ("The server runs Debian.", "The server is now in Frankfurt."),
    ("Our office is in Berlin.", "Our office is now painted green."),
    ("Paul est médecin.", "Paul est maintenant marié."),
    ("Our team has five members.", "Our team now meets on Mondays."),
    ("Clara plays chess.", "Clara works at Ericsson now."),
    ("Marco vive a Roma.", "Marco lavora adesso a Torino."),
]


def rows(name: str, **wanted: str) -> Sequence[dict[str, str]]:
    lines = (CORPORA / name).read_text(encoding="utf-8").splitlines()
    found = map(json.loads, lines)
    return sample([row for row in found if wanted.items() <= row.items()], 5)


def test_what_says_the_same_in_other_words_is_stored_once(service, clock):
    known, again = told(service, clock, *SAME)

    assert again == known


@pytest.mark.parametrize(
    ("known", "new"),
    [
        pytest.param(
            "I'm married to Joanna, she's a vet.",
            "The person the user is married to is Joanna, and Joanna's job is being a vet.",
            id="more words",
        ),
        pytest.param(
            "Forty quid, that's my limit for presents in the Secret Santa, and I drew Wendy.",
            "In the Secret Santa the user has Wendy and won't spend more than £40.",
            id="a number in words",
        ),
        pytest.param(
            "Unser Server steht bei Hetzner und kostet 39 Euro im Monat.",
            "Für den Server, den wir bei Hetzner stehen haben, gehen monatlich 39 Euro weg.",
            id="nouns with a capital",
        ),
    ],
)
def test_only_what_is_exact_stands_above_the_judge(service, clock, known, new):
    first, again = told(service, clock, known, new)
    other, _ = told(service, clock, new.replace("39", "49").replace("40", "50"), "Nothing more.")

    assert again == first
    assert (other == first) is (new == new.replace("39", "49").replace("40", "50"))


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I get up at six", "je me couche à six heures"),
        ("In summer we eat at eight", "en verano abrimos a las 8"),
        ("Backups run every night", "les sauvegardes sont testées chaque nuit"),
        ("My uncle keeps bees behind the garage.", "Hinter der Garage hält mein Onkel Bienen."),
    ],
)
def test_in_two_languages_both_are_kept_and_a_review_lists_them(service, clock, known, new):
    assert len(set(told(service, clock, known, new))) == 2
    service.sleep()

    assert {one.content for one in service.list_memories().memories} == {known, new}
    assert [one.type for one in service.review_memories().issues] == ["duplicate"]


def test_without_the_judge_both_are_kept(service_of: Callable[..., Service], clock):
    service = service_of("ana", KINMEM_JUDGE="off")
    known, again = told(service, clock, *SAME)

    assert again != known
    assert service.get(known).state is State.ACTIVE


def test_a_change_that_shares_no_word_is_noticed(service_of: Callable[..., Service], clock):
    known, new = told(service_of("ana"), clock, *INDIRECT)
    plain = service_of("ben", KINMEM_JUDGE="off")
    kept, beside = told(plain, clock, *INDIRECT)

    service = service_of("ana")
    assert service.get(known).state is State.ACTIVE
    assert service.newer(known) == {known: new}
    assert plain.get(kept).state is State.ACTIVE
    assert plain.newer(kept) == {}
    assert beside != kept


@pytest.mark.parametrize(
    ("known", "new"),
    [
        (
            "The rate limit is 600 requests per minute.",
            "The rate limit is 900 requests per minute.",
        ),
        ("The quota was 40 seats.", "The quota was 60 seats."),
        ("There are 12 chairs.", "There are 14 chairs."),
    ],
)
def test_a_count_behind_a_copula_is_a_value_and_no_name_of_a_thing(service, clock, known, new):
    known, new = told(service, clock, known, new)

    assert service.newer(known) == {known: new}
    assert service.get(known).state is State.ACTIVE


def test_what_a_veto_forbids_is_asked_about_and_never_ended(service, clock):
    known, new = told(service, clock, "We bought a red tandem in May.", "We sold the red tandem.")

    assert service.get(known).state is State.ACTIVE
    assert service.get(new).state is State.ACTIVE


def test_plain_facts_about_oneself_contradict_nothing(service):
    facts = (
        *("I live in Leeds", "I work as a nurse at St James hospital", "I was born in Cork"),
        *("I drive a red Skoda", "I don't eat meat", "I have two children", "I am 41 years old"),
        "I am allergic to shellfish",
    )
    for fact in facts:
        service.memorize(fact)

    assert service.store.decisions.conflicts() == []


def test_now_alone_makes_no_change(service, clock):
    marked = []
    for known, new in ATTRIBUTES:
        older, _ = told(service, clock, known, new)
        marked += service.newer(older)

        assert service.get(older).state is State.ACTIVE
    assert len(marked) <= 6  # each may be asked about; none ends


@pytest.mark.parametrize(
    ("known", "new", "state"),
    [
        pytest.param(
            "Anna is in Berlin", "Anna is now in Hamburg", State.SUPERSEDED, id="another place"
        ),
        pytest.param(
            "Tom works at Siemens", "Tom now works at Bosch", State.SUPERSEDED, id="another firm"
        ),
        pytest.param("Anna is in Berlin", "Anna is now in Marketing", State.ACTIVE, id="unknown"),
        pytest.param("Eva is in Paris", "Eva is now in Acme Corporation", State.ACTIVE, id="kinds"),
    ],
)
def test_a_name_gives_way_only_to_one_that_names_the_same_kind(service, clock, known, new, state):
    older, newer = told(service, clock, known, new)

    assert service.get(older).state is state
    if state is State.ACTIVE:
        assert service.newer(older) == {older: newer}


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Ich wohne in Ulm.", "Ich wohne nicht mehr in Ulm, sondern in Bonn."),
        ("I live in Ulm.", "I no longer live in Ulm but in Bonn."),
        ("I work for Siemens.", "I no longer work for Siemens but for Bosch."),
    ],
)
def test_what_is_so_no_longer_ends_whatever_is_instead(service, clock, known, new):
    older, newer = told(service, clock, known, new)

    assert service.get(older).superseded_by == newer


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I'm allergic to nuts", "I'm allergic to penicillin"),
        ("Ich bin allergisch gegen Nüsse", "Ich bin allergisch gegen Penicillin"),
        ("I take ibuprofen", "I take metformin"),
        ("I play the piano", "I play the cello"),
        ("Ich spreche Französisch", "Ich spreche Polnisch"),
        ("I have a son named Ben", "I have a son named Leo"),
    ],
)
def test_of_what_several_may_hold_nothing_is_asked(service, clock, known, new):
    older, _ = told(service, clock, known, new)

    assert service.newer(older) == {}


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I paid the rent on 2 May", "I paid the rent on 3 June"),
        ("We went to Malta in 2018", "We went to Malta in 2022"),
        ("Ben weighed 4.1 kg on 1 July", "Ben weighed 5.0 kg on 1 August"),
        ("J'ai couru le semi en avril, 1h58.", "J'ai couru le 10 km en septembre, 51 minutes."),
    ],
)
def test_what_was_done_twice_contradicts_nothing(service, clock, known, new):
    older, newer = told(service, clock, known, new)

    assert older != newer
    assert service.newer(older) == {}


def test_the_verdict_tells_how_sure_it_was(service, clock):
    known, _ = told(service, clock, *INDIRECT)

    reasons = [line.reason or "" for line in service.history(known)]
    reasons += [one.reason for one in service.store.decisions.conflicts()]
    assert any("taken its place (0." in reason for reason in reasons)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("We meet weekly with the client", "Each Tuesday we have a weekly client meeting"),
        ("Anna is my sister", "My sister's name is Anna and she lives near"),
    ],
)
def test_what_says_more_is_no_repetition(service, known, new):
    service.memorize(known)

    assert service.memorize(new).status not in ("duplicate_of", "merged_into")


def test_who_names_what_is_corrected_is_not_overruled(service):
    first = service.memorize("I'm allergic to peanuts.")

    stored = service.memorize("I have a peanut allergy.", updates=first.id)

    assert stored.status == "superseded"


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def test_most_paraphrases_are_one_and_minimal_pairs_are_two(embedder):
    fates = {
        label: [fate_of(row["a"], row["b"], embedder) for row in rows("same.jsonl", label=label)]
        for label in ("same", "different")
    }

    assert fates["same"].count("duplicate") >= 0.35 * len(fates["same"])
    assert fates["different"].count("duplicate") <= 0.01 * len(fates["different"])


def test_changes_told_in_other_words_are_noticed_and_what_sounds_like_them_stays(embedder):
    pairs = rows("changes.jsonl")
    fates = {
        label: [
            fate_of(pair["old"], pair["new"], embedder) for pair in pairs if pair["label"] == label
        ]
        for label in ("update", "keep")
    }

    noticed = fates["update"].count("ended") + fates["update"].count("flagged")
    assert noticed >= 0.7 * len(fates["update"])
    assert fates["keep"].count("ended") == 0


def test_look_alikes_are_not_ended(embedder):
    kept = rows("lookalikes.jsonl", label="keep")
    fates = [fate_of(row["old"], row["new"], embedder) for row in kept]

    assert fates.count("ended") <= 0.005 * len(kept)
    assert fates.count("flagged") <= 0.08 * len(kept)


def test_what_a_change_is_about_is_asked_and_no_other_memory_of_the_same_life(service, clock):
    changed, *_ = told(
        service,
        clock,
        "I play wheelchair basketball for the Cardiff Herons, training Tuesdays at 7 pm.",
        "I swim at Maindy pool on Fridays, they've got a pool hoist.",
        "The kids are with me from Wednesday to Saturday, else with their mum Elin.",
    )

    told(
        service,
        clock,
        "Sports hall double-booked us for good, so the Herons practise Thursday nights at 8",
    )

    assert {one.older for one in service.store.decisions.conflicts()} == {changed}


def test_an_undone_edit_doubts_no_memory_in_both_directions(service, clock):
    older, newer = told(
        service,
        clock,
        "Lotta's cello teacher is Herr Baumgartner",
        "Herr Baumgartner moved his studio to Ulm",
    )
    service.update_memory(older, content="Lotta's cello teacher is Frau Winkler")
    service.undo()

    found = service.store.decisions.conflicts()

    assert [(one.newer, one.older) for one in found] == [(newer, older)]
