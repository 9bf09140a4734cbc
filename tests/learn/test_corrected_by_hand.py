"""Who corrects a memory by hand has the last word about it."""

from typing import Any

import pytest
from mcp import Client

from kinmem.mcp.protocol import build
from kinmem.service import Service
from tests.conftest import MovableClock

pytestmark = pytest.mark.anyio

OLDER, NEWER = "Sam rents our spare room.", "Sam moved out, Priyanka has the room now."


async def answer(service: Service, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(build(lambda _: service)) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def doubts(service: Service) -> dict[str, str | None]:
    """By the text of each memory, the text that may have replaced it."""
    told = {one["id"]: one for one in (await answer(service, "list_memories"))["memories"]}
    texts = {id: one["content"] for id, one in told.items()}
    return {one["content"]: texts.get(one.get("newer", "")) for one in told.values()}


async def memorized(service: Service, clock: MovableClock, *texts: str) -> str:
    """The id of the first of these, which are told on one day after the other."""
    ids = []
    for text in texts:
        ids.append((await answer(service, "memorize", content=text))["id"])
        clock.advance(days=1)
    return str(ids[0])


@pytest.fixture
async def older(service: Service, clock: MovableClock) -> str:
    """The id of a memory that another made doubtful."""
    id = await memorized(service, clock, OLDER, NEWER)
    assert await doubts(service) == {OLDER: NEWER, NEWER: None}
    return id


async def test_an_edited_memory_is_in_doubt_no_longer_until_the_edit_is_undone(
    service: Service, clock: MovableClock, older: str
) -> None:
    text = "Sam rented our spare room until May."
    await answer(service, "update_memory", memory_id=older, content=text)
    edited = await doubts(service)
    asked = (await answer(service, "review_memories"))["issues"]
    clock.advance(hours=1)
    undone = service.undo()
    taken_back = await doubts(service)
    [again] = (await answer(service, "review_memories"))["issues"]
    clock.advance(hours=1)
    service.undo(undone.batch)
    redone = await doubts(service)

    assert edited == redone == {text: None, NEWER: None}
    assert asked == []
    assert taken_back == {OLDER: NEWER, NEWER: None}
    assert again["memoryIds"][0] == older


async def test_an_edit_that_still_contradicts_is_the_newer_of_both(
    service: Service, clock: MovableClock
) -> None:
    nine, eight, ten = (f"The office opens at {hour}." for hour in ("nine", "eight", "ten"))
    older = await memorized(service, clock, nine, eight)

    await answer(service, "update_memory", memory_id=older, content=ten)
    edited = await doubts(service)
    [issue] = (await answer(service, "review_memories"))["issues"]
    clock.advance(hours=1)
    service.undo()

    assert edited == {ten: None, eight: ten}
    assert issue["memoryIds"][1] == older
    assert await doubts(service) == {nine: eight, eight: None}


async def test_the_day_on_which_something_was_said_does_not_date_what_it_is_changed_to(
    service: Service, clock: MovableClock
) -> None:
    service.record_turn("s", "I live in Ghent with my wife Inés.", "Noted.", at="2026-03-01")
    service.sleep()
    [learned] = (await answer(service, "list_memories"))["memories"]
    given = await answer(service, "memorize", content="We visited Graz.", occurredAt="2026-04-02")
    moved = await answer(
        service, "update_memory", memory_id=learned["id"], content="I live in Borgerhout with Inés."
    )
    spelt = await answer(
        service, "update_memory", memory_id=given["id"], content="We visited Linz."
    )
    dated = await answer(
        service,
        "update_memory",
        memory_id=learned["id"],
        content="I have lived in Borgerhout with Inés.",
        occurredAt="2026-05-01",
    )
    clock.advance(hours=1)

    assert learned["occurredAt"] == "2026-03-01"
    assert "occurredAt" not in moved
    assert spelt["occurredAt"] == "2026-04-02"
    assert dated["occurredAt"] == "2026-05-01"


@pytest.mark.parametrize(
    "text", ["The office opens at nine", "the office opens at nine.", "«The office opens at nine.»"]
)
async def test_another_stop_case_or_quote_is_no_new_word(
    service: Service, clock: MovableClock, text: str
) -> None:
    nine, eight, ten = (f"The office opens at {hour}." for hour in ("nine", "eight", "ten"))
    older = await memorized(service, clock, nine, eight)

    await answer(service, "update_memory", memory_id=older, content=text)
    edited = await doubts(service)
    clock.advance(hours=1)
    await answer(service, "update_memory", memory_id=older, content=ten)
    reworded = await doubts(service)
    clock.advance(hours=1)
    service.undo()

    assert edited == {text: eight, eight: None}
    assert reworded == {ten: None, eight: ten}
    assert await doubts(service) == edited


async def test_a_date_that_somebody_gave_stays_whatever_the_text_becomes(
    service: Service, clock: MovableClock
) -> None:
    service.record_turn("s", "I live in Ghent with my wife Inés.", "Noted.", at="2026-03-01")
    service.sleep()
    [learned] = (await answer(service, "list_memories"))["memories"]
    await answer(service, "update_memory", memory_id=learned["id"], occurredAt="2026-05-01")
    told = {}
    for text in (
        "I live in Borgerhout with Inés.",
        "We share a flat near the river.",
        "On 2026-02-03 I moved to Lier.",
        "Our flat is in Mechelen.",
    ):
        clock.advance(days=1)
        edited = await answer(service, "update_memory", memory_id=learned["id"], content=text)
        told[text] = edited.get("occurredAt")

    assert list(told.values()) == ["2026-05-01", "2026-05-01", "2026-02-03", None]


@pytest.mark.parametrize(
    ("said", "was", "edited", "is_kept"),
    [
        ("I live in Graz with my wife Inés.", "Graz", "Gratz", True),
        ("I live in Graz with my wife Inés.", "Graz", "Linz", False),
        ("My sister Hanna works at the hospital.", "Hanna", "Hannah", True),
        ("My desk at work is in room 4512.", "4512", "4513", False),
        ("My guitar lesson always begins at nine.", "nine", "five", False),
        ("It is possible to reach my mother at noon.", "possible", "impossible", False),
    ],
)
async def test_a_corrected_spelling_leaves_the_date_of_what_was_said(
    service: Service, clock: MovableClock, said: str, was: str, edited: str, is_kept: bool
) -> None:
    service.record_turn("s", f"Please remember: {said}", "Noted.", at="2026-03-01")
    service.sleep()
    [learned] = (await answer(service, "list_memories"))["memories"]
    text = learned["content"].replace(was, edited)
    spelt = await answer(service, "update_memory", memory_id=learned["id"], content=text)
    clock.advance(hours=1)
    reworded = await answer(
        service, "update_memory", memory_id=learned["id"], content="The roof needs new tiles."
    )

    assert learned["occurredAt"] == "2026-03-01"
    assert spelt.get("occurredAt") == ("2026-03-01" if is_kept else None)
    assert reworded.get("occurredAt") is None
