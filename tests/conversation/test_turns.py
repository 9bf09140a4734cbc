"""What a turn is, and when the oldest are due."""

from datetime import UTC, datetime

import pytest

from kinmem.conversation.context import batch_and_keep, due, turns_of
from kinmem.models.turns import Message, Role
from kinmem.settings import CompactSettings
from tests.tables import each

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


def said(role: Role, turn: str, text: str = "some words") -> Message:
    return Message(session="s", turn=turn, role=role, text=text, said_at=NOON)


def turns(count: int, text: str = "some words") -> list[list[Message]]:
    return [[said("user", f"t{n}", text)] for n in range(count)]


@each(
    ("messages", "grouped"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(["user a", "tool a", "assistant a"], ["aaa"], id="one turn"),
        pytest.param(["user a", "assistant a", "user b"], ["aa", "b"], id="the next prompt"),
        pytest.param(["user a", "user b", "assistant a"], ["aa", "b"], id="an answer that is late"),
        pytest.param(["user a", "user a", "user b"], ["aa", "b"], id="two prompts of one turn"),
        pytest.param(["user a", "assistant x", "user b"], ["ax", "b"], id="of no prompt"),
        pytest.param(["user a", "tool x", "user b", "tool x"], ["axx", "b"], id="late, of none"),
        pytest.param(["assistant x", "user a"], ["x", "a"], id="before the first prompt"),
    ],
)
def test_a_turn_is_a_prompt_and_everything_until_the_next(
    messages: list[str], grouped: list[str]
) -> None:
    given = [said(role, turn) for role, turn in map(str.split, messages)]  # type: ignore[arg-type]

    assert ["".join(one.turn for one in turn) for turn in turns_of(given)] == grouped


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, (10, 15), id="as documented"),
        pytest.param({"turn_threshold": 25}, (10, 15), id="the same as a threshold"),
        pytest.param({"turn_threshold": 50}, (20, 30), id="a Kin's own splits alike"),
        pytest.param({"turn_threshold": 7}, (2, 5), id="rounded down"),
        pytest.param({"turn_threshold": 2}, (1, 1), id="a batch has one at least"),
        pytest.param(
            {"turn_threshold": 3, "batch_turns": 1000, "min_keep_turns": 1}, (2, 1), id="one stays"
        ),
    ],
)
def test_a_threshold_splits_into_batch_and_what_stays(
    settings: dict[str, int], expected: tuple[int, int]
) -> None:
    assert batch_and_keep(CompactSettings(**settings)) == expected


@pytest.mark.parametrize(
    ("count", "batch"),
    [
        pytest.param(0, 0, id="nothing"),
        pytest.param(25, 0, id="as many as a batch and what stays"),
        pytest.param(26, 10, id="one more"),
        pytest.param(100, 10, id="a backlog goes batch by batch"),
    ],
)
def test_more_turns_than_the_threshold_make_the_oldest_due(count: int, batch: int) -> None:
    assert due(turns(count), CompactSettings()) == batch


@pytest.mark.parametrize(
    ("count", "percent", "expected"),
    [
        pytest.param(3, 75, 0, id="at the share of the window"),
        pytest.param(4, 75, 3, id="above: as many as leave three fifths of it"),
        pytest.param(6, 75, 5, id="further above: more of them"),
        pytest.param(20, 75, 10, id="a batch at most"),
        pytest.param(1, 1, 0, id="never the latest turn"),
        pytest.param(2, 1, 1, id="however few they are"),
        pytest.param(6, 0, 0, id="0 switches it off"),
    ],
)
def test_too_many_tokens_make_turns_due_however_few_they_are(
    count: int, percent: int, expected: int
) -> None:
    settings = CompactSettings(context_window=1000, threshold_percent=percent)

    assert due(turns(count, "x" * 1000), settings) == expected
