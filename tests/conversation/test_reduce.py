"""Old tool results get shorter, zone by zone; what the seed documents, case by case."""

import copy
import json
from dataclasses import replace

import pytest

from kinmem.conversation.tool_results import reduce
from kinmem.models.turns import Message
from kinmem.settings import CompactSettings
from tests.conversation.talk import message
from tests.tables import each

LONG = "x" * 1000


def talk(groups: int, result: str = LONG, results: int = 1, tool: str = "grep") -> list[Message]:
    """Turns with a group of tool results each."""
    said = []
    for turn in range(groups):
        said.append(message(turn, f"question {turn}"))
        said += [
            replace(message(turn, result, "tool", str(part)), tool=tool) for part in range(results)
        ]
        said.append(message(turn, f"answer {turn}", "assistant"))
    return said


def results(messages: list[Message]) -> list[str]:
    return [one.text for one in messages if one.role == "tool"]


def collapsed(result: str, tool: str = "grep") -> str:
    return results(reduce(talk(13, result, tool=tool), CompactSettings()))[0]


def test_the_latest_groups_stay_whole_older_are_cut_the_oldest_become_a_line() -> None:
    shorter = results(reduce(talk(15), CompactSettings()))

    assert shorter[13:] == [LONG] * 2
    assert shorter[3:13] == ["x" * 200 + " [truncated]"] * 10
    assert shorter[:3] == ["[grep, 1,000 characters: text]"] * 3


def test_the_results_of_one_turn_in_a_row_are_one_group() -> None:
    shorter = results(reduce(talk(3, results=4), CompactSettings()))

    assert shorter[4:] == [LONG] * 8
    assert all(text.endswith("[truncated]") for text in shorter[:4])


def test_results_that_an_answer_parts_are_two_groups() -> None:
    tool, answer = message(0, LONG, "tool"), message(0, "so far", "assistant")

    shorter = results(reduce([tool, answer, tool, answer, tool], CompactSettings()))

    assert [text == LONG for text in shorter] == [False, True, True]


@pytest.mark.parametrize(
    ("settings", "whole", "cut"),
    [
        pytest.param({"keep_last": 0}, 0, 10, id="none stays whole"),
        pytest.param({"keep_last": 100}, 15, 0, id="more stay whole than there are"),
        pytest.param({"window": 0}, 15, 0, id="window 0 switches it off"),
        pytest.param({"window": 0, "keep_last": 0}, 15, 0, id="off, though none should stay"),
        pytest.param({"keep_last": 1, "window": 3}, 1, 3, id="as they are set"),
        pytest.param({"max_chars": 1000}, 12, 0, id="cut to what they have"),
    ],
)
def test_the_zones_are_settings(settings: dict[str, int], whole: int, cut: int) -> None:
    shorter = results(reduce(talk(15), CompactSettings(**settings)))

    assert shorter.count(LONG) == whole
    assert sum(text.endswith("[truncated]") for text in shorter) == cut


def test_short_results_and_short_texts_stay_as_they_are() -> None:
    messages = talk(15, result="short")

    assert reduce(messages, CompactSettings()) == messages


def test_nothing_is_changed_in_place() -> None:
    messages = talk(15)
    before = copy.deepcopy(messages)

    reduce(messages, CompactSettings())

    assert messages == before


@pytest.mark.parametrize(
    ("result", "line"),
    [
        pytest.param(list(range(1000)), "list of 1,000", id="a list by its length"),
        pytest.param(
            {"a": 1, "b": "x" * 101, "c": [1], "d": {}, "e": True, "f": 2, "g": 3},
            "a: 1, b: text of 101 characters, c: list of 1, d: object of 0, e: true, and 2 more",
            id="an object by its first five keys",
        ),
        pytest.param(
            {"ok": True, "a": "x" * 99, "b": 2, "c": 3, "d": 4, "path": "/src/main.c"},
            f"path: /src/main.c, ok: true, a: {'x' * 99}, b: 2, c: 3, and 1 more",
            id="where a file is stays",
        ),
        pytest.param(
            {"url": "https://example.org/" + "a" * 150},
            "url: https://example.org/" + "a" * 150,
            id="a long place stays whole",
        ),
        pytest.param("x" * 200, "text of 200 characters", id="a long value by its length"),
        pytest.param(
            {"x\ny" * 50: "a\nb"}, "text of 150 characters: a b", id="no line ends, also in keys"
        ),
    ],
)
def test_a_collapsed_result_is_one_line(result: object, line: str) -> None:
    text = json.dumps(result)

    assert collapsed(text) == f"[grep, {len(text):,} characters: {line}]"


@each(
    ("tool", "text", "line"),
    [
        pytest.param("Bash", "one\ntwo", "one two", id="a few lines become one"),
        pytest.param("Bash", "/a/b.c\n" + LONG, "text", id="a long text"),
        pytest.param("Read", "/a/b.c:1\n" + LONG, "text, /a/b.c", id="a file tool keeps the path"),
        pytest.param("Edit", "./b.c is new\n" + LONG, "text, ./b.c", id="a relative one"),
        pytest.param("WebFetch", "https://a.org/b?c\n" + LONG, "text, https://a.org/b?c", id="URL"),
        pytest.param("Read", LONG, "text", id="no path to keep"),
        pytest.param("Bash", "[" * 5000, "text", id="a nest that is too deep"),
        pytest.param("Bash", "9" * 5000, "text", id="a number that is too long"),
    ],
)
def test_a_collapsed_text_is_one_line(tool: str, text: str, line: str) -> None:
    assert collapsed(text, tool) == f"[{tool}, {len(text):,} characters: {line}]"


@pytest.mark.parametrize("text", ["done", "7", "[]", "{}", '{"ok": true}'])
def test_what_is_a_short_line_anyway_stays(text: str) -> None:
    assert collapsed(text) == text


def test_the_name_of_the_file_survives_cutting_and_collapsing() -> None:
    spilled = [
        replace(one, spill="kins/ana-outputs/output-1.txt") if one.role == "tool" else one
        for one in talk(15)
    ]

    shorter = results(reduce(spilled, CompactSettings()))

    assert shorter[0].endswith("text; whole: kins/ana-outputs/output-1.txt]")
    assert shorter[5].endswith(" [truncated] [whole: kins/ana-outputs/output-1.txt]")


@pytest.mark.parametrize(
    ("place", "length"),
    [
        pytest.param(0, 500, id="beside lines"),
        pytest.param(9, 2000, id="after the last line, before the results that are cut"),
        pytest.param(12, None, id="beside results that are cut"),
        pytest.param(44, None, id="the latest"),
    ],
)
def test_long_old_texts_are_squeezed_then_cut(place: int, length: int | None) -> None:
    messages = talk(15)
    text = "a\n\n\n\n\nb  \t  c " + "word " * 1000
    messages[place] = message(0, text)

    shorter = reduce(messages, CompactSettings())[place].text

    if length is None:
        assert shorter == text
    else:
        assert shorter.startswith("a\n\nb c word")
        assert len(shorter) == length + len(" [truncated]")


def test_a_text_that_fits_once_it_is_squeezed_is_not_cut() -> None:
    messages = talk(15)
    messages[9] = message(0, "a" + " " * 3000 + "b")

    assert reduce(messages, CompactSettings())[9].text == "a b"


def test_without_tools_the_latest_two_dozen_texts_stay() -> None:
    messages = [message(number, "word " * 1000) for number in range(30)]

    shorter = reduce(messages, CompactSettings())

    assert [one.text.endswith("[truncated]") for one in shorter] == [True] * 6 + [False] * 24
