"""What speaks for a hit, piece by piece, and how sure that makes recall."""

import math
from typing import Any

import pytest

from kinmem.language import Dates
from kinmem.models import TURN, Candidate, Part, Reasons, Scored, State
from kinmem.recall.confidence import (
    BY_MEANING,
    BY_WORDS,
    IF_READ,
    READ_BY_MEANING,
    READ_BY_WORDS,
    Evidence,
    evidence,
    judge,
    odds_of,
    verdict_of,
    weak_last,
)
from kinmem.recall.question import Question, understand
from kinmem.settings import RecallSettings
from tests.recall.made import NOW, candidate, found, hit, scored
from tests.tables import each

SETTINGS = RecallSettings(abstain_below=0.2)
SCALE = (0.1, 0.6)
"""Noise and near: half a unit of cosine between them."""


def asked(text: str, *names: str) -> Question:
    return understand(text, frozenset(names), NOW)


def told_by(
    one: Candidate,
    text: str,
    *others: Candidate,
    names: tuple[str, ...] = (),
    cosines: dict[str, list[float]] | None = None,
    matches: dict[str, float] | None = None,
    **fields: Any,
) -> Evidence:
    said = found([one, *others], cosines, matches, **{"scale": SCALE, **fields})
    return evidence([scored(one, 0.5)], asked(text, *names), said)[0]


BISCUIT = candidate("1", "Biscuit is a beagle and afraid of the vacuum cleaner.", speaker=None)


# nearness


def test_nearness_is_told_on_the_scale_of_the_embedder() -> None:
    far = candidate("2", "Sven has a telescope.")
    near = {"1": [0.35, 0.2], "2": [0.6]}

    assert told_by(BISCUIT, "x", far, cosines=near).nearness == pytest.approx(0.5)
    assert told_by(BISCUIT, "x", far, cosines=near).behind == pytest.approx(0.5)
    assert told_by(far, "x", BISCUIT, cosines=near).behind == 0.0


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"cosines": {"1": [0.05]}}, id="below the noise"),
        pytest.param({"cosines": {"2": [0.6]}}, id="without a vector"),
        pytest.param({"cosines": {"1": [0.6]}, "scale": None}, id="on no known scale"),
    ],
)
def test_what_cannot_be_called_near_is_not(given: dict[str, Any]) -> None:
    assert told_by(BISCUIT, "x", candidate("2"), **given).nearness == 0.0


def test_the_match_is_a_part_of_the_best() -> None:
    other = candidate("2", "A beagle.")

    assert told_by(BISCUIT, "x", other, matches={"2": 8.0, "1": 2.0}).match == 0.25
    assert told_by(BISCUIT, "x", other, matches={"2": 8.0}).match == 0.0
    assert told_by(BISCUIT, "x", other).match == 0.0


# words


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    others = [candidate(str(n), f"The vacuum number {n}.") for n in range(2, 12)]
    rare, common = math.log(1 + 61 / 2), math.log(1 + 61 / 12)

    told = told_by(BISCUIT, "beagle vacuum", *others)
    other = told_by(others[0], "beagle vacuum", *others[1:], BISCUIT)

    assert told.share == pytest.approx(1.0)
    assert other.share == pytest.approx(common / (rare + common))
    assert other.rarest == pytest.approx(rare / (rare + common))
    assert (told.rarest, told.unknown) == (0.0, 0.0)


def test_words_that_nobody_has_are_unknown() -> None:
    known, unknown = math.log(1 + 61 / 2), math.log(1 + 61)

    told = told_by(BISCUIT, "beagle telescope")

    assert told.unknown == told.rarest == pytest.approx(unknown / (known + unknown))


def test_what_only_the_context_says_stands_around_it() -> None:
    one = candidate("1", "He is afraid of it.", source_context="Ana asked about the Vacuum.")

    told = told_by(one, "vacuum")

    assert (told.share, told.around) == (0.0, pytest.approx(1.0))
    assert told_by(candidate("1", "He is afraid of it."), "vacuum").around == 0.0


@each(
    ("question", "text", "share"),
    [
        pytest.param("beagles", "One beagle", 1.0, id="plural"),
        pytest.param("studied", "She studies law", 1.0, id="times"),
        pytest.param("studies", "A study of law", 1.0, id="several of them"),
        pytest.param("painted", "The painter paints", 1.0, id="person"),
        pytest.param("car", "A scarf", 0.0, id="a short word begins a word"),
        pytest.param("car", "Two cars", 1.0, id="a short word and its plural"),
        pytest.param("bees", "A beekeeper", 1.0, id="short, and without its ending"),
        pytest.param("transcription", "The transcripts", 1.0, id="long ones by their beginning"),
    ],
)
def test_words_are_compared_by_their_beginnings(question: str, text: str, share: float) -> None:
    assert told_by(candidate("1", text), question).share == pytest.approx(share)


def test_a_german_compound_is_found_by_its_end() -> None:
    one = candidate("1", "Der Zweitschlüssel liegt unter dem Topf.")

    assert told_by(one, "Wo ist der Ersatzschlüssel?").share == pytest.approx(1.0)
    assert told_by(one, "Where is the Ersatzschlüssel?").share < 1.0


def test_who_said_it_and_where_it_stands_are_words_of_it_too() -> None:
    part = Part(1, 2, "Budget, page 3", "Annual report")

    assert told_by(candidate("1", "x", subject="Okafor"), "Okafor").share == pytest.approx(1.0)
    assert told_by(candidate("1", "x", speaker="Okafor"), "Okafor").share == pytest.approx(1.0)
    assert told_by(candidate("1", "x", part=part), "annual budget").share == pytest.approx(1.0)


@pytest.mark.parametrize("word", ["yesterday", "Ana", "old"])
def test_times_known_names_and_words_for_a_measure_are_not_looked_for(word: str) -> None:
    question = f"how old is the beagle of Ana since {word}?"

    assert told_by(BISCUIT, question, names=("ana",)).share == pytest.approx(1.0)


# names, numbers, times, kinds


def test_names_that_it_does_not_mention_are_counted() -> None:
    one = candidate("1", "Okafor teaches the piano.")

    assert told_by(one, "Does Okafor know Biscuit?").unnamed == 0.5
    assert told_by(one, "does Okafor teach?").unnamed == 0.0
    assert told_by(one, "Does Okafor know Biscuit?", names=("biscuit",)).unnamed == 0.0
    assert told_by(one, "nothing with a name").unnamed == 0.0


def test_numbers_have_to_be_there_unless_they_are_dates() -> None:
    host = candidate("1", "The host is db17.", source_context="port 8080")

    assert told_by(host, "which host is number 17?").unnumbered == 0.0
    assert told_by(host, "which host has port 8080?").unnumbered == 0.0
    assert told_by(host, "which host has port 9090?").unnumbered == 1.0
    assert told_by(host, "which host was new in 2024?").unnumbered == 0.0
    assert told_by(host, "what was on 14 march?").unnumbered == 0.0
    late = candidate("1", "x " * 310 + "8080")
    assert told_by(late, "which has port 8080?").unnumbered == 1.0


def test_what_was_said_outside_of_the_time_named_is_untimely() -> None:
    question = "what was at the fence last week?"
    assert Dates(question, NOW).asked is not None
    now, then = candidate("1"), candidate("1", said_at="2026-06-10T10:00:00+00:00")
    old = {"said_at": "2025-01-01T10:00:00+00:00"}

    assert told_by(now, question).untimely == 1.0
    assert told_by(then, question).untimely == 0.0
    assert told_by(candidate("1", **old, state=State.SUPERSEDED), question).untimely == 0.0
    assert told_by(candidate("1", **old), "no time at all").untimely == 0.0


def test_an_answer_of_another_kind_is_lacking() -> None:
    question = "How much does Biscuit weigh?"

    assert told_by(BISCUIT, question).lacking == 1.0
    assert told_by(candidate("1", "Biscuit weighs 12 kilos."), question).lacking == 0.0
    assert told_by(candidate("1", "Biscuit " * 100), question).lacking == 0.0
    assert told_by(BISCUIT, "What is Biscuit afraid of?").lacking == 0.0
    weighed = candidate("1", "Biscuit is fat.", source_context="12 kilos, said the vet.")
    assert told_by(weighed, question).lacking == 0.0


def test_turns_of_one_conversation_are_recognised() -> None:
    turn = candidate("2", "It is old.", source_context=f"{BISCUIT.content}\nAna laughed.")

    assert told_by(turn, "x", BISCUIT).turn == 1.0
    assert told_by(candidate("2", "x", source_context="else"), "x", BISCUIT).turn == 0.0
    assert told_by(BISCUIT, "x", turn).turn == 0.0


# how sure


NOTHING = Evidence(*[0.0] * 12)
EACH = Evidence(*[number / 13 for number in range(1, 13)])
"""Of each feature another amount, so that no weight stands in for another."""


@pytest.mark.parametrize(("weights", "odds"), [(BY_MEANING, -8.32769), (BY_WORDS, -8.65077)])
def test_the_weights_are_those_that_were_fitted(weights: Any, odds: float) -> None:
    """By benchmarks/fit_confidence.py: a slip in one of them shows here."""
    assert odds_of(weights, EACH) == pytest.approx(odds, abs=1e-4)


@pytest.mark.parametrize("weights", [BY_MEANING, BY_WORDS])
def test_what_speaks_for_it_raises_and_what_speaks_against_it_lowers(weights: Any) -> None:
    base = odds_of(weights, NOTHING)

    assert base == weights.constant < -2
    for name in ("share", "around", "unknown"):
        assert odds_of(weights, NOTHING._replace(**{name: 1.0})) > base
    for name in ("rarest", "unnamed", "unnumbered", "untimely", "lacking"):
        assert odds_of(weights, NOTHING._replace(**{name: 1.0})) < base
    assert odds_of(BY_MEANING, NOTHING._replace(nearness=1.0)) > base + 5


def sureness(*ranked: Scored, question: str = "beagle", **fields: Any) -> tuple[Any, ...]:
    said = found([one.candidate for one in ranked], **{"scale": SCALE, **fields})
    return judge(ranked, asked(question), said, SETTINGS)


def test_the_odds_become_a_probability() -> None:
    one = scored(BISCUIT, 0.5)
    [told] = evidence([one], asked("beagle"), found([BISCUIT], scale=SCALE))

    [sure], _, _ = sureness(one)
    assert sure == pytest.approx(1 / (1 + math.exp(-odds_of(BY_MEANING, told))))
    [by_words], _, _ = sureness(one, scale=None)
    assert by_words == pytest.approx(1 / (1 + math.exp(-odds_of(BY_WORDS, told))))


@pytest.mark.parametrize("scale", [SCALE, None])
def test_what_the_judge_says_is_joined_with_the_evidence(scale: Any) -> None:
    read = READ_BY_MEANING if scale else READ_BY_WORDS
    weights = BY_MEANING if scale else BY_WORDS
    one = scored(BISCUIT, 0.5, judge=0.6, unrelated=0.1)
    [told] = evidence([one], asked("beagle"), found([BISCUIT], scale=scale))

    [sure], _, _ = sureness(one, scale=scale)

    odds = read.constant + read.evidence * odds_of(weights, told)
    odds += read.than_about * math.log(0.6 / 0.3) + read.than_unrelated * math.log(0.6 / 0.1)
    assert sure == pytest.approx(1 / (1 + math.exp(-odds)))


def test_a_verdict_of_nought_is_hardly_any_chance() -> None:
    assert verdict_of(Reasons(judge=0.0, unrelated=1.0)) == (
        pytest.approx(math.log(1e-4 / 1e-4)),
        pytest.approx(math.log(1e-4)),
    )
    assert verdict_of(Reasons(judge=1.0, unrelated=0.0)) == (
        pytest.approx(math.log(1e4)),
        pytest.approx(math.log(1e4)),
    )
    assert verdict_of(Reasons(judge=0.5)) is None
    assert verdict_of(Reasons(unrelated=0.5)) is None


# the bar


ASIDE = candidate("1", "Sven likes his telescope very much indeed.", speaker=None)
STRANGE = "How much does the beagle of the neighbours weigh?"


def least(one: Scored, question: str = STRANGE, **fields: Any) -> float:
    return float(sureness(one, question=question, **fields)[2])


def test_the_bar_is_lower_where_the_judge_has_read() -> None:
    assert least(scored(ASIDE, 0.5)) == pytest.approx(0.2 / 4)
    assert least(scored(ASIDE, 0.5, judge=0.1, unrelated=0.8)) == pytest.approx(0.2 * IF_READ / 4)


@pytest.mark.parametrize(
    ("setting", "bar"), [(0.0, 0.0), (0.2, 0.4), (0.3, 0.5), (0.6, 0.6)], ids=str
)
def test_the_bar_is_twice_as_high_for_turns_up_to_one_half(setting: float, bar: float) -> None:
    turn = scored(ASIDE._replace(id=f"{TURN}1"), 0.5)
    said = found([turn.candidate], scale=SCALE)

    _, _, least = judge([turn], asked(STRANGE), said, RecallSettings(abstain_below=setting))

    assert least == pytest.approx(bar / 4)


@pytest.mark.parametrize(
    ("one", "given"),
    [
        pytest.param(ASIDE, {"scale": None}, id="by words alone"),
        pytest.param(ASIDE._replace(speaker="Ben"), {}, id="something that was said"),
        pytest.param(ASIDE, {"question": "Wie viel wiegt der Hund des Nachbarn?"}, id="German"),
    ],
)
def test_where_evidence_is_weak_anything_may_stand_beside(
    one: Candidate, given: dict[str, Any]
) -> None:
    assert least(scored(one, 0.5), **given) == 0.0


def test_what_is_too_unlikely_is_withheld_unless_something_vouches_for_it() -> None:
    def abstains(one: Scored, question: str = STRANGE, **fields: Any) -> bool:
        return bool(sureness(one, question=question, **fields)[1])

    assert abstains(scored(ASIDE, 0.5))
    assert not abstains(scored(ASIDE, 0.5), by_time=True)
    assert not abstains(scored(ASIDE, 0.5, rerank=0.3))
    assert abstains(scored(ASIDE, 0.5, rerank=0.29))
    brought_up = Scored(ASIDE, 0.5, Reasons(expansion=0.4))
    assert not abstains(brought_up)
    assert abstains(Scored(ASIDE, 0.5, Reasons(meaning=0.1, expansion=0.4)))
    assert abstains(Scored(ASIDE, 0.5, Reasons(words=0.1, expansion=0.4)))
    assert abstains(Scored(ASIDE, 0.5, Reasons(expansion=0.4, semantic=0.1)))


@pytest.mark.parametrize(
    ("text", "is_called"),
    [
        ("Telesc?", True),
        ("tel", True),
        ("scope", False),
        ("telescope Sven", True),
        ("telescope Ben", False),
        ("telescope Sven likes indeed", False),
    ],
)
def test_a_question_that_is_nothing_but_words_calls_what_has_them(
    text: str, is_called: bool
) -> None:
    _, abstained, _ = sureness(scored(ASIDE, 0.5), question=text, cosines={"1": [0.0]})

    assert abstained is not is_called


def test_nothing_found_is_not_too_unlikely() -> None:
    assert sureness() == ([], False, pytest.approx(0.2 / 4))


def test_with_abstaining_off_the_nearest_is_shown() -> None:
    said = found([ASIDE], scale=SCALE)
    settings = RecallSettings(abstain_below=0.9, abstain=False)

    assert judge([scored(ASIDE, 0.5)], asked(STRANGE), said, settings)[1:] == (False, 0.0)


# weak hits


def test_below_the_bar_hits_are_weak_and_the_likeliest_come_first() -> None:
    hits = [hit("1", sure=0.01), hit("2", sure=0.5), hit("3", sure=0.04), hit("4", sure=0.05)]

    ordered = weak_last(hits, False, 0.05)

    assert [(one.memory.id, one.weak) for one in ordered] == [
        ("2", False),
        ("4", False),
        ("3", True),
        ("1", True),
    ]


def test_what_answers_a_part_is_not_weak_unless_all_are() -> None:
    part = hit("1", sure=0.01)
    by_words = Reasons(0.5, 0.2)
    part = type(part)(part.memory, 0.5, by_words, confidence=0.01)
    linear = type(part)(part.memory, 0.5, by_words._replace(semantic=0.2), confidence=0.01)
    wish = type(part)(part.memory, 0.5, Reasons(0.5, standing_wish=0.1), confidence=0.01)

    assert not weak_last([part], False, 0.05)[0].weak
    assert not weak_last([wish], False, 0.05)[0].weak
    assert weak_last([linear], False, 0.05)[0].weak
    assert weak_last([part], True, 0.05)[0].weak


def test_what_only_asks_is_weak_however_sure() -> None:
    asks = hit("1", "where did I put the umbrella?", sure=0.9)
    tells = hit("2", "I put it there. Remember?", sure=0.9)

    assert [one.weak for one in weak_last([asks, tells], False, 0.05)] == [False, True]


def test_no_more_than_five_weak_hits_are_shown() -> None:
    hits = [hit(str(n), sure=n / 100) for n in range(9)]

    assert [one.memory.id for one in weak_last(hits, True, 0.5)] == ["8", "7", "6", "5", "4"]
