"""Links that people make, the timeline and the picture of the memory, by every way in."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent, TextResourceContents

from kinmem.errors import InvalidInput, MemoryNotFound, VersionConflict
from kinmem.mcp.protocol import build
from kinmem.models import Memory, Note, State
from kinmem.models.record import RELATIONS
from kinmem.models.turns import Batch, Change
from kinmem.service import Service
from kinmem.store.sqlite.store import SqliteStore
from tests.store.soundness import problems


def keep(service: Service, content: str, **fields: Any) -> str:
    """The id of a new memory."""
    stored = service.memorize(content, **fields)
    assert stored.id is not None
    return stored.id


def links(service: Service, id: str) -> list[tuple[str, str]]:
    """What it is linked with, by text."""
    found = service.links(id).get(id, [])
    return sorted((one.relation, one.memory.content) for one in found)


def shared_bytes(service: Service) -> bytes:
    """All that others can open."""
    home = service.settings.home
    return b"".join(path.read_bytes() for path in sorted(home.glob("shared.db*")))


def sound(service: Service) -> None:
    assert isinstance(service.store, SqliteStore)
    assert problems(service.store) == []


@pytest.fixture
def runbook(service: Service) -> str:
    return keep(service, "The runbook says how the gateway is restarted.")


@pytest.fixture
def outage(service: Service) -> str:
    return keep(service, "On Friday the gateway was down for an hour.")


# by hand


def test_a_link_is_read_from_both_ends(service: Service, runbook: str, outage: str) -> None:
    changed = service.update_memory(outage, links=[{"id": runbook, "relation": "references"}])

    assert changed.version == 2
    assert links(service, outage) == [
        ("references", "The runbook says how the gateway is restarted.")
    ]
    assert links(service, runbook) == [
        ("referenced_by", "On Friday the gateway was down for an hour.")
    ]
    assert service.store.get(runbook).version == 1
    sound(service)


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_relation_can_be_said(
    service: Service, runbook: str, outage: str, relation: str
) -> None:
    service.update_memory(outage, links=[{"id": runbook, "relation": relation}])

    ((told, _),) = links(service, outage)
    assert told == relation


def test_said_twice_it_is_one_link_and_no_change(
    service: Service, runbook: str, outage: str
) -> None:
    service.update_memory(outage, links=[{"id": runbook}])
    again = service.update_memory(outage, links=[{"id": runbook}])
    from_there = service.update_memory(runbook, links=[{"id": outage}])

    assert (again.version, from_there.version) == (2, 1)
    assert len(links(service, outage)) == 1


def test_two_memories_can_be_linked_in_two_ways(
    service: Service, runbook: str, outage: str
) -> None:
    service.update_memory(outage, links=[{"id": runbook}, {"id": runbook, "relation": "part_of"}])
    assert [relation for relation, _ in links(service, outage)] == ["part_of", "related_to"]

    service.update_memory(runbook, links=[{"id": outage, "relation": None}])
    assert links(service, outage) == []


@pytest.mark.parametrize("id", ["", "nothing", "01a1fe36-1a97-74e3-9dd5-e42d446ea491"])
def test_unknown_ids_are_refused_and_nothing_is_changed(
    service: Service, runbook: str, outage: str, id: str
) -> None:
    before = service.store.get(outage)

    with pytest.raises((InvalidInput, MemoryNotFound)):
        service.update_memory(outage, importance=9, links=[{"id": runbook}, {"id": id}])

    assert links(service, outage) == []
    assert service.store.get(outage) == before


def test_a_link_is_guarded_by_the_version(service: Service, runbook: str, outage: str) -> None:
    with pytest.raises(VersionConflict):
        service.update_memory(outage, if_version=7, links=[{"id": runbook}])

    both = service.update_memory(outage, if_version=1, importance=8, links=[{"id": runbook}])
    assert (both.importance, both.version) == (8, 3)
    assert len(links(service, outage)) == 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"content": "x" * (9 << 20)}, id="too large"),
        pytest.param({"content": f"The key is sk-ant-api03-{'Ab3' * 30}"}, id="a secret"),
        pytest.param(
            {"content": f"sk-ant-api03-{'Ab3' * 30}\n{'Word text here. ' * 6000}"}, id="a document"
        ),
        pytest.param({"importance": 99}, id="a field"),
    ],
)
def test_what_is_refused_adds_no_links_either(
    service: Service, runbook: str, outage: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        service.update_memory(outage, links=[{"id": runbook}], **changes)

    assert links(service, outage) == []
    assert service.get(outage).version == 1


def test_links_of_an_empty_list_change_nothing(service: Service, outage: str) -> None:
    assert service.update_memory(outage, links=[]).version == 1


@pytest.mark.parametrize("erase", [False, True])
def test_a_link_to_what_is_gone_is_not_shown(
    service: Service, runbook: str, outage: str, erase: bool
) -> None:
    service.update_memory(outage, links=[{"id": runbook}])
    service.forget(runbook, erase=erase)

    assert links(service, outage) == []
    if not erase:
        service.restore(runbook)
        assert len(links(service, outage)) == 1
    sound(service)


def test_erasing_leaves_no_trace_of_the_link(service: Service, runbook: str, outage: str) -> None:
    service.update_memory(outage, links=[{"id": runbook}])
    service.forget(runbook, erase=True)

    rows = service.store.files.own.database.rows("SELECT * FROM links")  # type: ignore[attr-defined]
    assert rows == []


# private and shared


def test_others_private_memories_cannot_be_linked(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    mine, theirs = keep(ana, "The gateway."), keep(ben, "Ben's secret.")

    with pytest.raises(MemoryNotFound) as told:
        ana.update_memory(mine, links=[{"id": theirs}])
    assert "secret" not in str(told.value)


def test_others_shared_memories_can_be_linked_and_not_changed(
    service_of: Callable[..., Service],
) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    mine, theirs = keep(ana, "The gateway."), keep(ben, "The runbook.", scope="shared")
    ana.update_memory(mine, links=[{"id": theirs, "relation": "part_of"}])

    assert links(ana, theirs) == [("has_part", "The gateway.")]
    assert links(ben, theirs) == []
    with pytest.raises(MemoryNotFound):
        ana.update_memory(theirs, links=[{"id": mine}])
    assert theirs.encode() in shared_bytes(ana)
    assert mine.encode() not in shared_bytes(ana)


def test_a_link_between_shared_memories_is_everybodys(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    mine = keep(ana, "The gateway.", scope="shared")
    theirs = keep(ben, "The runbook.", scope="shared")
    ana.update_memory(mine, links=[{"id": theirs, "relation": "part_of"}])
    assert links(ben, theirs) == [("has_part", "The gateway.")]

    ben.update_memory(theirs, links=[{"id": mine, "relation": None}])
    assert links(ana, mine) == []


def test_links_move_with_what_they_join(service_of: Callable[..., Service]) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    a, b, c = (keep(ana, text) for text in ("The gateway.", "The runbook.", "My own doubts."))
    ana.update_memory(a, links=[{"id": b, "relation": "part_of"}, {"id": c}])

    ana.update_memory(b, scope="shared")
    assert links(ben, b) == []
    ana.update_memory(a, scope="shared")
    assert links(ben, b) == [("has_part", "The gateway.")]
    assert links(ben, a) == [("part_of", "The runbook.")]
    assert links(ana, a) == [("part_of", "The runbook."), ("related_to", "My own doubts.")]
    assert c.encode() not in shared_bytes(ana)

    ana.update_memory(a, scope="private")
    assert links(ben, b) == []
    assert links(ana, b) == [("has_part", "The gateway.")]
    assert len(links(ana, a)) == 2
    sound(ana)


# what takes a memory's place, and back


def test_what_supersedes_a_memory_takes_over_its_links(service: Service, runbook: str) -> None:
    old = keep(service, "The staging gateway listens on port 8080.", subject="staging")
    service.update_memory(old, links=[{"id": runbook, "relation": "part_of"}])
    stored = service.memorize(
        "The staging gateway no longer listens on port 8080, it listens on port 9090.",
        subject="staging",
    )
    assert stored.supersedes == (old,)
    assert stored.id is not None

    runbooks = "The runbook says how the gateway is restarted."
    assert links(service, stored.id) == [
        ("part_of", runbooks),
        ("supersedes", "The staging gateway listens on port 8080."),
    ]
    assert len(links(service, runbook)) == 1


def test_a_shared_memory_hands_on_its_private_links_and_takes_them_back(
    service: Service, runbook: str
) -> None:
    part = ("part_of", "The runbook says how the gateway is restarted.")
    old = keep(service, "The staging port is 8080.", subject="staging", scope="shared")
    service.update_memory(old, links=[{"id": runbook, "relation": "part_of"}])
    new = keep(service, "The staging gate has port 9090.", subject="gate", scope="shared")
    gone = {"state": State.SUPERSEDED, "superseded_by": new}
    service.store.apply(Batch(changes=[Change(old, gone, "superseded")]))
    assert part in links(service, new)

    service.restore(old)
    assert links(service, old) == [part]
    assert links(service, new) == []


def test_linking_is_undone_and_redone(service: Service, runbook: str, outage: str) -> None:
    service.update_memory(outage, links=[{"id": runbook, "relation": "part_of"}])
    linked = links(service, outage)
    undone = service.undo()
    assert links(service, outage) == []
    assert links(service, runbook) == []

    assert undone.batch is not None
    service.undo(undone.batch)
    assert links(service, outage) == linked
    sound(service)


def test_taking_apart_is_undone(service: Service, runbook: str, outage: str) -> None:
    service.update_memory(outage, links=[{"id": runbook, "relation": "part_of"}])
    service.update_memory(runbook, links=[{"id": outage, "relation": None}])
    assert links(service, outage) == []

    service.undo()
    assert links(service, outage) == [("part_of", "The runbook says how the gateway is restarted.")]


def test_the_history_tells_of_links(service: Service, runbook: str, outage: str) -> None:
    service.update_memory(outage, links=[{"id": runbook}])

    line = service.history(outage)[0]
    assert line.action == "linked"
    assert line.before == {"links": []}
    assert line.after == {"links": [{"id": runbook, "relation": "related_to"}]}


def test_open_contradictions_are_links(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", KINMEM_CONFLICT_MODE="ask")
    old = keep(service, "The office opens at eight.", subject="office")
    stored = service.memorize("The office opens at nine.", subject="office")
    assert stored.conflicts == (old,)

    assert links(service, old) == [("contradicts", "The office opens at nine.")]


@pytest.mark.anyio
async def test_an_open_contradiction_says_why_it_is_open_and_claims_no_certainty(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana", KINMEM_CONFLICT_MODE="ask")
    old = keep(service, "The office opens at eight.", subject="office")
    service.memorize("The office opens at nine.", subject="office")
    async with Client(build(lambda _: service)) as client:
        found = await client.call_tool("recall", {"query": "The office opens", "explain": True})

    assert found.structured_content is not None
    [linked] = [one["links"][0] for one in found.structured_content["memories"] if one["id"] == old]
    assert linked["relation"] == "contradicts" and "confidence" not in linked
    assert "not clear enough to decide" in linked["undecided"]


# the timeline


def told(memories: list[Memory]) -> list[str]:
    return [memory.content for memory in memories]


@pytest.fixture
def past(service: Service) -> Service:
    """Four things about two subjects in two months, stored out of order."""
    for day, subject, content in (
        ("2026-05-20", "Lyon", "Clara visits Lyon."),
        ("2026-04-02T09:00", "Rome", "Clara lands in Rome."),
        ("2026-04-02T21:00", "rome", "Clara dines in Rome."),
        ("2026-05-21", "Rome", "Clara is back in Rome."),
    ):
        service.memorize_many([Note(content=content, subject=subject, occurred_at=day)])
    service.settle()
    return service


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(
            {},
            [
                "Clara lands in Rome.",
                "Clara dines in Rome.",
                "Clara visits Lyon.",
                "Clara is back in Rome.",
            ],
            id="everything",
        ),
        pytest.param(
            {"subject": "ROME"},
            ["Clara lands in Rome.", "Clara dines in Rome.", "Clara is back in Rome."],
            id="a subject",
        ),
        pytest.param(
            {"day": "2026-04-02"}, ["Clara lands in Rome.", "Clara dines in Rome."], id="a day"
        ),
        pytest.param(
            {"day": "2026-05"}, ["Clara visits Lyon.", "Clara is back in Rome."], id="a month"
        ),
        pytest.param({"subject": "Rome", "day": "2026-05"}, ["Clara is back in Rome."], id="both"),
        pytest.param({"day": "2025"}, [], id="a year without anything"),
    ],
)
def test_what_happened_in_order(past: Service, asked: dict[str, str], expected: list[str]) -> None:
    assert told(past.timeline(**asked).memories) == expected


def test_the_timeline_of_somebody_tells_what_is_about_them(service: Service) -> None:
    keep(service, "Clara Weber works at Nokia.", occurred_at="2026-05-20")
    keep(service, "Otto is married to Clara Weber.", occurred_at="2026-05-19", subject="Otto")
    keep(service, "Otto works at Bosch.", occurred_at="2026-05-18", subject="Otto")
    service.sleep(["entities"])

    assert told(service.timeline("clara weber").memories) == [
        "Otto is married to Clara Weber.",
        "Clara Weber works at Nokia.",
    ]


def test_a_timeline_comes_in_pages(past: Service) -> None:
    found, cursor = [], None
    while True:
        page = past.timeline(limit=3, cursor=cursor)
        found += told(page.memories)
        cursor = page.next_cursor
        if cursor is None:
            break

    assert found == told(past.timeline().memories)


def test_what_was_so_is_told_with_its_end(service: Service, clock: Any) -> None:
    old = keep(service, "The staging gateway listens on port 8080.", subject="staging")
    clock.advance(days=3)
    new = keep(
        service,
        "The staging gateway no longer listens on port 8080, it listens on port 9090.",
        subject="staging",
    )

    first, second = service.timeline("staging").memories
    assert (first.id, first.state, first.superseded_by) == (old, State.SUPERSEDED, new)
    assert first.valid_to == clock()
    assert (second.id, second.valid_to) == (new, None)


def test_a_timeline_counts_as_use(past: Service) -> None:
    shown = past.timeline("Lyon").memories
    past.store.flush_use()

    assert past.store.get(shown[0].id).recalled_count == 1


@pytest.mark.parametrize(
    "asked", [{"day": "yesterdayish"}, {"limit": 0}, {"limit": 201}, {"cursor": "nonsense"}]
)
def test_a_timeline_that_cannot_be_told_is_refused(past: Service, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        past.timeline(**asked)


def test_a_timeline_shows_nobody_elses_private_memories(service_of: Callable[..., Service]) -> None:
    keep(service_of("ben"), "Ben's secret.", occurred_at="2026-05-20")
    keep(service_of("ben"), "Ben's plan.", occurred_at="2026-05-20", scope="shared")

    assert told(service_of("ana").timeline(day="2026-05-20").memories) == ["Ben's plan."]


# over MCP


async def read(client: Client, uri: str) -> dict[str, Any]:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return dict(json.loads(content.text))


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert not result.is_error, block.text
    return dict(json.loads(block.text))


@pytest.mark.anyio
async def test_a_model_links_and_reads_links(service: Service, runbook: str, outage: str) -> None:
    async with Client(build(lambda _: service)) as client:
        changed = await called(
            client,
            "update_memory",
            memory_id=outage,
            links=[{"id": runbook, "relation": "part_of"}],
        )
        expected = {
            "id": runbook,
            "relation": "part_of",
            "content": "The runbook says how the gateway is restarted.",
        }
        assert changed["links"] == [expected]
        assert (await read(client, f"kinmem://memories/{outage}"))["links"] == [expected]

        plain = await called(client, "recall", query="when was the gateway down?")
        told = await called(client, "recall", query="when was the gateway down?", explain=True)
        assert not any("links" in memory for memory in plain["memories"])
        by_id = {memory["id"]: memory.get("links") for memory in told["memories"]}
        assert by_id[outage] == [expected]

        gone = await called(
            client, "update_memory", memory_id=outage, links=[{"id": runbook, "relation": None}]
        )
        assert "links" not in gone


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("links", "why"),
    [
        ([{"id": "nothing"}], "not_found"),
        ([{"id": "nothing", "relation": "friend_of"}], "related_to"),
        ([{"relation": "part_of"}], "id is missing"),
        ([{"id": "nothing", "weight": 1}], "weight"),
    ],
)
async def test_a_model_is_told_what_is_wrong_with_a_link(
    service: Service, outage: str, links: Any, why: str
) -> None:
    async with Client(build(lambda _: service)) as client:
        result = await client.call_tool("update_memory", {"memory_id": outage, "links": links})

    assert result.is_error
    (block,) = result.content
    assert isinstance(block, TextContent) and why in block.text


@pytest.mark.anyio
async def test_timeline_is_listed_when_asked_for(past: Service) -> None:
    async with Client(build(lambda _: past)) as client:
        assert "timeline" not in [tool.name for tool in (await client.list_tools()).tools]
    async with Client(build(lambda _: past, sets=["knowledge"])) as client:
        assert "timeline" in [tool.name for tool in (await client.list_tools()).tools]
        page = await called(client, "timeline", subject="Rome", day="2026-04", limit=1)
        rest = await called(
            client, "timeline", subject="Rome", day="2026-04", cursor=page["nextCursor"]
        )

    assert [memory["content"] for memory in page["memories"]] == ["Clara lands in Rome."]
    assert page["memories"][0]["at"].startswith("2026-04-02T09:00")
    assert [memory["content"] for memory in rest["memories"]] == ["Clara dines in Rome."]
    assert "nextCursor" not in rest


@pytest.mark.anyio
async def test_a_day_is_a_resource(past: Service) -> None:
    async with Client(build(lambda _: past)) as client:
        day = await read(client, "kinmem://timeline/2026-05-20")
        month = await read(client, "kinmem://timeline/2026-05")
        with pytest.raises(MCPError):
            await client.read_resource("kinmem://timeline/someday")

    assert [memory["content"] for memory in day["memories"]] == ["Clara visits Lyon."]
    assert len(month["memories"]) == 2


@pytest.mark.anyio
async def test_the_graph_can_be_drawn(service: Service, runbook: str, outage: str) -> None:
    service.update_memory(outage, links=[{"id": runbook, "relation": "references"}])
    forgotten = keep(service, "The printer is broken.")
    service.forget(forgotten)
    async with Client(build(lambda _: service)) as client:
        graph = await read(client, "kinmem://graph")

    nodes = {node["id"]: node for node in graph["nodes"] if node["kind"] == "memory"}
    assert nodes.keys() == {runbook, outage}
    assert nodes[outage]["label"] == "On Friday the gateway was down for an hour."
    assert nodes[outage]["type"] == "event"
    assert graph["edges"] == [
        {
            "source": outage,
            "target": runbook,
            "relation": "references",
            "weight": 1.0,
            "confidence": 1.0,
        }
    ]
    assert "truncated" not in graph


def test_the_picture_is_bounded_and_shows_the_best_connected(service: Service) -> None:
    ids = [keep(service, f"Parcel {n} holds wool number {n}.") for n in range(8)]
    service.update_memory(ids[3], links=[{"id": ids[5]}, {"id": ids[6]}])

    picture = service.graph(limit=3)

    assert [memory.id for memory in picture.memories][0] == ids[3]
    assert {memory.id for memory in picture.memories} == {ids[3], ids[5], ids[6]}
    assert Counter(link.relation for link in picture.links) == {"related_to": 2}
    assert picture.is_cut
    assert not service.graph().is_cut


@pytest.mark.anyio
async def test_the_graph_shows_whom_memories_are_about(service: Service) -> None:
    about = [
        keep(service, text)
        for text in ("Clara works at Nokia.", "Clara is married to Otto.", "Otto works at Nokia.")
    ]
    service.sleep(["entities"])
    async with Client(build(lambda _: service)) as client:
        graph = await read(client, "kinmem://graph")

    people = {node["label"]: node["id"] for node in graph["nodes"] if node["kind"] == "entity"}
    assert people.keys() == {"Clara", "Nokia", "Otto"}
    told = {(edge["source"], edge["relation"], edge["target"]) for edge in graph["edges"]}
    assert {(people["Clara"], "mentioned_in", id) for id in about[:2]} <= told
    assert (people["Otto"], "works_at", people["Nokia"]) in told
