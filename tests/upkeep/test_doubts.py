"""How a doubt is told, and that one answer to it loses nothing that still holds."""

from typing import Any

import pytest
from mcp import Client

from kinmem.mcp.protocol import build
from kinmem.models.turns import Batch, Conflict
from kinmem.service import Service
from tests.conftest import MovableClock

pytestmark = pytest.mark.anyio

ODILE = "Our neighbour Odile is from Nantes, looks after the spare key and is allergic to cats"
MOVED = "Odile has moved to Hamburg"


async def answer(service: Service, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(build(lambda _: service)) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def told(service: Service, clock: MovableClock, *texts: str) -> list[str]:
    ids = []
    for text in texts:
        ids.append(str((await answer(service, "memorize", content=text))["id"]))
        clock.advance(hours=1)
    return ids


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        pytest.param(ODILE, MOVED, id="three parts"),
        pytest.param(f"{ODILE}. We have known her for years.", MOVED, id="with a sentence behind"),
        pytest.param(
            "Meine Schwester wohnt in Ulm, ist Ärztin und hat zwei Kinder",
            "Meine Schwester ist nach Kiel gezogen",
            id="German",
        ),
        pytest.param("Papa is 71 and lives in Ghent", "Papa moved to Bruges", id="two parts"),
    ],
)
async def test_what_else_a_sentence_says_is_not_lost_by_applying_a_review(
    service: Service, clock: MovableClock, older: str, newer: str
) -> None:
    ids = await told(service, clock, older, newer)
    doubt = Conflict(ids[1], ids[0], "update", "temporal", "judged", chance=0.72)
    if not service.store.decisions.conflicts():
        service.store.apply(Batch(conflicts=[doubt]))

    [issue] = (await answer(service, "review_memories"))["issues"]
    await answer(service, "review_memories", apply=[issue["id"]])

    assert issue["suggestion"] == "keep"
    assert "says more than the later one is about" in issue["description"]
    assert "both stay" in issue["answers"]["apply"]
    kept = {one["content"]: one for one in (await answer(service, "list_memories"))["memories"]}
    assert kept.keys() == {older, newer}
    assert not any("newer" in one for one in kept.values())
    assert (await answer(service, "review_memories"))["issues"] == []


@pytest.mark.parametrize(("chance", "suggestion"), [(0.26, "keep"), (0.72, "update")])
async def test_both_stay_where_that_is_likelier(
    service: Service, clock: MovableClock, chance: float, suggestion: str
) -> None:
    course, exam = "I take a course in Dutch", "The exam was hard"
    ids = await told(service, clock, course, exam)
    doubt = Conflict(ids[1], ids[0], "update", "temporal", "judged", chance=chance)
    service.store.apply(Batch(conflicts=[doubt]))

    [issue] = (await answer(service, "review_memories"))["issues"]
    await answer(service, "review_memories", apply=[issue["id"]])

    assert issue["suggestion"] == suggestion
    kept = {one["content"] for one in (await answer(service, "list_memories"))["memories"]}
    assert kept == ({course, exam} if suggestion == "keep" else {exam})
    assert (await answer(service, "review_memories"))["issues"] == []


async def test_a_doubt_tells_both_texts_how_likely_it_is_and_what_each_answer_does(
    service: Service, clock: MovableClock
) -> None:
    texts = "I work as a nurse at the hospital.", "I quit the hospital yesterday."
    ids = await told(service, clock, *texts)

    [issue] = (await answer(service, "review_memories"))["issues"]

    [conflict] = service.store.decisions.conflicts()
    assert conflict.chance is not None
    chance = f"({conflict.chance * 100:.0f} % likely)"
    assert issue["description"] == f"The later one may have replaced the earlier {chance}."
    assert list(issue["texts"].items()) == list(zip(ids, texts, strict=True))
    assert issue["answers"]["apply"].startswith("the later memory stays; the earlier one is ended")
    assert "not asked again" in issue["answers"]["refuse"]
    assert issue["answers"].keys() == {"apply", "refuse", "apply with keep"}


async def test_a_memory_in_doubt_names_the_likeliest_newer_one(
    service: Service, clock: MovableClock
) -> None:
    lives, moves, cat = await told(
        service, clock, "Lucía lives in Valencia", "The mill grinds oats", "Ken sings in a choir"
    )
    doubts = [
        Conflict(id, lives, "update", "temporal", "judged", chance=chance)
        for id, chance in {moves: 0.81, cat: 0.36}.items()
    ]
    service.store.apply(Batch(conflicts=doubts))

    assert service.newer(lives) == {lives: moves}


async def test_a_refused_doubt_leaves_no_words_of_one_memory_in_the_history_of_the_other(
    service: Service, clock: MovableClock
) -> None:
    older, newer = await told(
        service, clock, "I work at Bosch. My locker is Zebra77.", "I work at Siemens now."
    )
    if not service.store.decisions.conflicts():
        doubt = Conflict(newer, older, "update", "temporal", "judged", chance=0.72)
        service.store.apply(Batch(conflicts=[doubt]))
    [issue] = (await answer(service, "review_memories"))["issues"]
    assert "Zebra77" in issue["description"]

    await answer(service, "review_memories", refuse=[issue["id"]])

    assert "kept" in [event.action for event in service.history(newer)]
    assert "Zebra77" not in str(service.history(newer))
