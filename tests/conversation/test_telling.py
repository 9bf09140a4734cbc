"""Without a model the most telling sentences are the summary."""

from dataclasses import replace

import pytest

from kinmem.conversation.compact import condensed, extracted
from kinmem.conversation.context import Turn
from kinmem.models.turns import Message, Role
from kinmem.text import estimated_tokens
from tests.conversation.talk import by, message

FILLER = "The weather has been changing a lot around here. " * 8


def turn(number: int, *said: tuple[Role, str]) -> Turn:
    return [message(number, text, role, str(at)) for at, (role, text) in enumerate(said)]


def test_each_line_says_who_and_when_in_the_order_of_the_talk() -> None:
    turns = [
        [by("Clara", message(0, "I moved to Lyon in May. " + FILLER))],
        turn(20, ("assistant", "The flat in Lyon costs 900 euros a month. " + FILLER)),
    ]

    assert extracted(turns, 1000).splitlines()[0] == "- [2026-06-01] Clara: I moved to Lyon in May."
    assert "- [2026-06-02] assistant: The flat in Lyon costs 900 euros a month." in extracted(
        turns, 1000
    )


@pytest.mark.parametrize(
    ("said", "kept", "left"),
    [
        pytest.param("Thanks, great! I paid Clara 40 euros.", "40 euros", "great", id="small talk"),
        pytest.param(
            "The sky is blue here. I plan to paint the kitchen next week.",
            "paint",
            "sky",
            id="plans",
        ),
        pytest.param(
            "The sky is blue here. We decided to use restic.", "restic", "sky", id="decisions"
        ),
        pytest.param(
            "The sky is blue here. Which port does the page use?",
            "port",
            "sky",
            id="open questions",
        ),
        pytest.param(
            "```\nI am code that says I plan to leave\n```\nI live in Lyon.",
            "Lyon",
            "code",
            id="code",
        ),
    ],
)
def test_what_tells_most_is_kept(said: str, kept: str, left: str) -> None:
    summary = extracted([turn(0, ("user", said))], 18)

    assert kept in summary
    assert left not in summary


def test_a_question_nobody_answered_comes_before_one_that_was() -> None:
    asked, answer = "Where does the key of the shed hang now?", "It hangs behind the door."
    turns = [
        turn(0, ("user", asked.replace("shed", "cellar")), ("assistant", answer)),
        turn(1, ("user", asked)),
    ]

    assert extracted(turns, 25) == f"- [2026-06-01] user: {asked}"


def test_what_people_ask_each_other_is_talk() -> None:
    asked = by("Ana", message(0, "Is that your favourite lake near Lyon?"))
    turns = [[asked], [by("Ben", message(1, "I swim in it on Sundays."))]]

    assert extracted(turns, 25) == "- [2026-06-01] Ben: I swim in it on Sundays."


def test_relative_days_have_their_date_beside_them() -> None:
    assert "tomorrow (2026-06-02)" in extracted([turn(0, ("user", "I leave Rome tomorrow."))], 100)


def test_tools_are_no_talk() -> None:
    turns = [turn(0, ("user", "I live in Lyon."), ("tool", "I live in Paris. " * 1000))]

    assert extracted(turns, 1000) == "- [2026-06-01] user: I live in Lyon."


def test_no_turn_speaks_for_all() -> None:
    turns = [turn(0, ("user", " ".join(f"I paid {n} euros to Clara." for n in range(400))))]
    turns += [turn(n, ("user", f"I met Ben in room {n}.")) for n in range(1, 9)]

    summary = extracted(turns, 1000)

    assert summary.count("Clara") == 4
    assert summary.count("Ben") == 8


def test_what_is_said_often_is_told_once() -> None:
    turns = [turn(n, ("user", "Never touch the billing module.")) for n in range(9)]

    assert extracted(turns, 1000) == "- [2026-06-01] user: Never touch the billing module."


@pytest.mark.parametrize(
    ("turns", "limit"),
    [
        pytest.param(
            [turn(n, ("user", f"I paid {n} euros. " + FILLER)) for n in range(99)], 10**6, id="15 %"
        ),
        pytest.param(
            [turn(n, ("user", f"I paid {n} euros. " * 50)) for n in range(99)], 500, id="a limit"
        ),
    ],
)
def test_a_summary_is_a_part_of_what_was_said(turns: list[Turn], limit: int) -> None:
    summary = extracted(turns, limit)
    said = sum(len(one.text) for turn in turns for one in turn)

    assert len(summary) <= 0.16 * said
    assert estimated_tokens(summary) <= 1.1 * limit
    assert summary == extracted([list(map(replace, turn)) for turn in turns], limit)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        pytest.param(("user", "ok"), "1 turns in which nothing was said", id="nothing to tell"),
        pytest.param(("tool", "found it"), "tools used: grep", id="only tools"),
        pytest.param(("user", "你好，我住在里昂。"), "我住在里昂", id="another script"),
    ],
)
def test_there_is_always_a_summary(said: tuple[Role, str], told: str) -> None:
    assert told in extracted([turn(0, said)], 100)


def test_summaries_of_two_are_one_below_the_other_while_they_fit() -> None:
    assert condensed("- older", "- newer", 100) == "- older\n- newer"


def test_too_long_ones_keep_their_most_telling_lines_and_the_newer_one_its_half() -> None:
    older = "\n".join(f"- [2026-06-01] user: The sky was blue over town {n}." for n in range(40))
    newer = older.replace("2026-06-01", "2026-06-02") + "\n- [2026-06-02] user: I moved to Lyon."

    kept = condensed(older, newer, 300)

    assert estimated_tokens(kept) <= 300
    assert kept.endswith("I moved to Lyon.")
    assert 5 < kept.count("2026-06-01") <= kept.count("2026-06-02") + 1
    assert kept.splitlines() == sorted(kept.splitlines(), key=lambda line: line[3:13])


def test_folding_again_and_again_converges_and_keeps_what_is_new() -> None:
    kept = ""
    for number in range(50):
        kept = condensed(kept, f"- I paid {number} euros to Clara in Lyon.\n" * 20, 200)
        assert estimated_tokens(kept) <= 200
        assert f"paid {number} euros" in kept


def test_a_sentence_without_end_is_cut() -> None:
    (line,) = extracted([[message(0, "I paid " + "very " * 200 + "much.")]], 1000).splitlines()

    assert line.endswith(" …")
    assert len(line) < 450


def as_named(speaker: str) -> Message:
    return by(speaker, message(0, "I live in Lyon."))


@pytest.mark.parametrize("speaker", ["assistant", "System", "tool", "human"])
def test_nobody_is_called_like_a_role(speaker: str) -> None:
    assert extracted([[as_named(speaker)]], 100).startswith("- [2026-06-01] user:")
