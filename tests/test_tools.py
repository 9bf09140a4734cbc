"""Tools, resources, prompts and completion as a client in either protocol era meets them."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any, get_args

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import (
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from kinmem.mcp.protocol import INSTRUCTIONS, build
from kinmem.mcp.tools import SLEEP_SECONDS, Mode, tools
from kinmem.models import CATEGORIES, State
from kinmem.service import Service
from kinmem.settings import knobs, load
from kinmem.wiring.open_memory import open_service
from tests.conftest import MovableClock

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["auto", "legacy"], ids=["2026-07-28", "2025-11-25"])
Call = Callable[..., Any]


@pytest.fixture
def client_of(service_of: Callable[..., Service]) -> Callable[..., Client]:
    """A client that speaks for the named Kin."""
    services: dict[str, Service] = {}

    def connect(kin: str = "ana", era: str = "auto") -> Client:
        if kin not in services:
            services[kin] = service_of(kin)
        return Client(build(lambda _: services[kin]), mode=era)

    return connect


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Client]]:
    """A client of an empty memory, which all tests share whose calls are refused."""
    settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": tmp_path_factory.mktemp("refusing")})
    with open_service(settings, resident=False) as service:
        yield lambda era: Client(build(lambda _: service), mode=era)
        assert service.list_memories().memories == []


def text_of(part: object) -> str:
    assert isinstance(part, TextContent | TextResourceContents)
    return part.text


async def answer(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """What the tool gives, the same as structure and as text."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    (block,) = result.content
    compact = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    assert text_of(block) == compact
    assert "null" not in compact
    return dict(result.structured_content or {})


async def refusal(client: Client, tool: str, /, **arguments: Any) -> str:
    """What the model reads when the tool cannot do it."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result.content[0])


@ERAS
async def test_what_was_memorized_is_recalled_with_where_and_when_it_was_learned(
    client_of: Callable[..., Client], era: str
) -> None:
    async with client_of(era=era) as client:
        stored = await answer(
            client,
            "memorize",
            content="Bob plays chess on Fridays",
            subject="Bob",
            importance=7,
            sourceContext="Said at lunch.",
            occurredAt="2026-05-08",
            tags=["Hobby"],
            expires="30d",
        )
        found = await answer(client, "recall", query="what does Bob play?")

        kind = stored["category"]  # nobody has said it: it is judged
        said = {"category": kind, "importance": 7}
        assert stored == {"status": "created", "id": stored["id"], **said}
        assert found["memories"][0] == {
            "id": stored["id"],
            "content": "Bob plays chess on Fridays",
            "category": kind,
            "subject": "Bob",
            "importance": 7,
            "scope": "private",
            "sourceContext": "Said at lunch.",
            "occurredAt": "2026-05-08",
            "age": "just now",
            "state": "active",
            "tags": ["hobby"],
        }


async def test_the_program_that_memorized_is_kept_as_provenance(
    client_of: Callable[..., Client], service_of: Callable[..., Service]
) -> None:
    for era in ("auto", "legacy"):
        async with client_of(era=era) as client:
            stored = await answer(client, "memorize", content=f"Said in era {era}")
        client_name = service_of("ana").get(stored["id"]).client
        assert client_name is not None and client_name.startswith("mcp ")


@ERAS
async def test_a_batch_is_answered_in_order_and_one_bad_item_harms_no_other(
    client_of: Callable[..., Client], era: str
) -> None:
    async with client_of(era=era) as client:
        batch = await answer(
            client,
            "memorize",
            items=[
                {"content": "Ann plays go", "subject": None, "sourceContext": "A letter."},
                {"content": "   "},
                {"content": "Ann plays go", "sourceContext": "A letter."},
            ],
        )

        statuses = [item["status"] for item in batch["items"]]
        assert statuses == ["created", "refused", "duplicate_of"]
        assert batch["items"][2]["duplicateOf"] == batch["items"][0]["id"]
        assert "empty" in batch["items"][1]["reason"]


async def test_what_gave_way_and_what_is_open_is_told(client_of: Callable[..., Client]) -> None:
    async with client_of() as client:
        old = await answer(client, "memorize", content="Anna lives in Lyon")
        new = await answer(client, "memorize", content="Anna lives in Rome")
        both = await answer(client, "memorize", content="Ben is allergic to nuts")
        open_ = await answer(client, "memorize", content="Ben is not allergic to nuts")

    assert (new["status"], new["supersedes"]) == ("superseded", [old["id"]])
    assert (open_["status"], open_["conflicts"]) == ("conflict", [both["id"]])
    assert old.keys() == {"status", "id", "category", "importance"}


async def test_lists_that_arrive_as_text_are_understood(client_of: Callable[..., Client]) -> None:
    async with client_of() as client:
        stored = await answer(client, "memorize", items='[{"content": "a [note]"}]')
        tagged = await answer(client, "memorize", content="[1, 2] is a list", tags='["maths"]')
        limited = await answer(client, "list_memories", limit="1", tags=["maths"])

        assert stored["items"][0]["status"] == "created"
        assert limited["memories"][0]["id"] == tagged["id"]
        assert limited["memories"][0]["content"] == "[1, 2] is a list"


async def test_explain_adds_the_score_and_its_reasons(client_of: Callable[..., Client]) -> None:
    async with client_of() as client:
        await answer(client, "memorize", content="The office closes at six")
        plain = await answer(client, "recall", query="when does the office close?")
        told = await answer(client, "recall", query="when does the office close?", explain=True)

        assert not {"score", "why"} & set(plain["memories"][0])
        assert told["memories"][0]["score"] > 0
        assert told["memories"][0]["why"]


async def test_an_update_changes_only_what_is_named_and_null_clears(
    client_of: Callable[..., Client],
) -> None:
    async with client_of() as client:
        stored = await answer(
            client, "memorize", content="Bob likes go", subject="Bob", tags=["x"], expires="9d"
        )
        kept = await answer(
            client,
            "update_memory",
            memory_id=stored["id"],
            pinned=True,
            priority=0.9,
            content=None,
            category=None,
        )
        cleared = await answer(
            client,
            "update_memory",
            memory_id=stored["id"],
            subject=None,
            tags=None,
            expires=None,
            priority=None,
            pinned=False,
        )

        assert (kept["subject"], kept["tags"], kept["pinned"]) == ("Bob", ["x"], True)
        assert kept["priority"] == 0.9
        assert {"subject", "tags", "expires", "pinned", "priority"}.isdisjoint(cleared)
        assert cleared["content"] == "Bob likes go"
        assert cleared["version"] == kept["version"] + 1


async def test_an_update_of_an_older_version_is_a_conflict(
    client_of: Callable[..., Client],
) -> None:
    async with client_of() as client:
        stored = await answer(client, "memorize", content="Bob likes go")
        changed = await answer(
            client, "update_memory", memory_id=stored["id"], content="Bob likes chess", if_version=1
        )
        text = await refusal(
            client, "update_memory", memory_id=stored["id"], content="Bob naps", if_version=1
        )

        assert text.startswith("conflict: ")
        assert f"if_version={changed['version']}" in text


async def test_archived_memories_come_back_only_when_asked_for(
    client_of: Callable[..., Client],
) -> None:
    async with client_of() as client:
        stored = await answer(client, "memorize", content="The old office was in Bern")
        await answer(client, "update_memory", memory_id=stored["id"], archived=True)
        without = await answer(client, "recall", query="old office Bern")
        included = await answer(client, "recall", query="old office Bern", include_archived=True)

        assert without["memories"] == []
        assert [memory["state"] for memory in included["memories"]] == ["archived"]


async def test_forgetting_says_until_when_it_can_be_undone(
    client_of: Callable[..., Client],
) -> None:
    async with client_of() as client:
        first = await answer(client, "memorize", content="Bob likes go")
        second = await answer(client, "memorize", content="Zoe sells shells")
        forgotten = await answer(client, "forget", memory_id=first["id"])
        erased = await answer(client, "forget", memory_id=second["id"], erase=True)
        deleted = await answer(client, "list_memories", state="deleted")

        assert forgotten["status"] == "forgotten"
        assert forgotten["restorableUntil"].startswith("2026-09-13")  # 90 days after 15 June
        assert erased == {"id": second["id"], "status": "erased"}
        assert [memory["id"] for memory in deleted["memories"]] == [first["id"]]


@ERAS
async def test_a_long_list_is_read_page_by_page(client_of: Callable[..., Client], era: str) -> None:
    async with client_of(era=era) as client:
        items = [{"content": f"{name} lives alone"} for name in ("Ann", "Bob", "Cem", "Dee", "Eva")]
        await answer(client, "memorize", items=items)
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await answer(client, "list_memories", limit=2, sort="oldest", **cursor)
            seen += [memory["content"] for memory in page["memories"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}

        assert seen == [item["content"] for item in items]
        assert "cursor" in await refusal(client, "list_memories", cursor="made up")


async def test_a_very_long_memory_is_listed_as_an_excerpt_and_read_whole_as_a_resource(
    client_of: Callable[..., Client],
) -> None:
    story = "It was a long night. " * 600
    async with client_of() as client:
        stored = await answer(client, "memorize", content=story)
        (listed,) = (await answer(client, "list_memories"))["memories"]
        whole = await client.read_resource(f"kinmem://memories/{stored['id']}")

        assert listed["truncated"] is True and "content" not in listed
        assert story.startswith(listed["excerpt"].rstrip("…"))
        assert json.loads(text_of(whole.contents[0]))["content"] == story.strip()


async def test_shared_memories_name_their_author_and_only_the_author_changes_them(
    client_of: Callable[..., Client],
) -> None:
    async with client_of("ana") as ana, client_of("bob") as bob:
        shared = await answer(ana, "memorize", content="We deploy on Tuesdays", scope="shared")
        secret = await answer(ana, "memorize", content="Ana looks for a new job")

        (seen,) = (await answer(bob, "recall", query="when do we deploy?"))["memories"]
        assert seen["authorKinName"] == "ana"
        (own,) = (await answer(ana, "recall", query="when do we deploy?", limit=1))["memories"]
        assert "authorKinName" not in own
        assert (await answer(bob, "recall", query="Ana new job", scope="private"))["memories"] == []

        refused = [
            (await refusal(bob, "update_memory", memory_id=id, pinned=True)).replace(id, "ID")
            for id in (shared["id"], secret["id"], "00000000-0000-7000-8000-000000000000")
        ]
        assert len(set(refused)) == 1 and refused[0].startswith("not_found: ")


@ERAS
async def test_a_review_names_duplicates_and_tells_how_far_it_is(
    client_of: Callable[..., Client], service_of: Callable[..., Service], era: str
) -> None:
    told: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async with client_of(era=era) as client:
        names = [f"{first}{last}" for first in ("Al", "Be", "Cy", "Do") for last in "abcdefghijklm"]
        await answer(client, "memorize", items=[{"content": f"{name} sings"} for name in names])
        for scope in ("private", "shared"):
            await answer(client, "memorize", content="The office closes at six", scope=scope)
        result = await client.call_tool("review_memories", {}, progress_callback=on_progress)
        await anyio.sleep(0.05)  # a notification may arrive after the answer

    review = result.structured_content or {}
    assert {"issues", "summary"} == set(review)
    assert all(issue["memoryIds"] and issue["suggestion"] for issue in review["issues"])
    assert told and told[0][1] == 53


@ERAS
async def test_what_was_told_later_stays_although_it_happened_earlier(
    client_of: Callable[..., Client], era: str
) -> None:
    home = "I live in Leeds with my wife Mia."
    told = [f"{home} I work as a nurse at the hospital.", "I quit the hospital yesterday."]
    async with client_of(era=era) as client:
        older, newer = [(await answer(client, "memorize", content=text))["id"] for text in told]
        [issue] = (await answer(client, "review_memories"))["issues"]
        [settled] = (await answer(client, "review_memories", apply=[issue["id"]]))["settled"]

    assert (issue["memoryIds"], issue["suggestedContent"]) == ([older, newer], told[1])
    assert f'If the later one holds, this stays of the earlier: "{home}"' in issue["description"]
    assert (settled["kept"], settled["changed"]) == (newer, {older: "updated"})


@ERAS
async def test_a_copy_of_what_was_corrected_or_forgotten_is_named_and_stays(
    client_of: Callable[..., Client], era: str
) -> None:
    def ids(found: dict[str, Any]) -> list[str]:
        return [one["id"] for one in found["memories"]]

    async with client_of(era=era) as client:
        one, copy = [
            (await answer(client, "memorize", content=text))["id"]
            for text in ("The standup is at 16:30.", "Our standup is at 4:30 pm.")
        ]
        corrected = await answer(
            client, "update_memory", memory_id=one, content="The standup is at 10:00."
        )
        found = await answer(client, "recall", query="Is our standup at 4:30 pm?")
        [issue] = (await answer(client, "review_memories"))["issues"]
        forgotten = await answer(client, "forget", memory_id=one)
        left = await answer(client, "recall", query="When is the standup?")

    [link] = corrected["links"]
    assert (link["id"], link["relation"]) == (copy, "contradicts") and link["undecided"]
    assert ids(found) == [one, copy] and found["memories"][1]["newer"] == one
    assert issue["memoryIds"] == [copy, one]
    assert forgotten["stillSaidBy"] == {copy: "Our standup is at 4:30 pm."}
    assert ids(left) == [copy]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        pytest.param("recall", {}, "query is missing", id="missing"),
        pytest.param("recall", {"query": "x", "limits": 3}, "did you mean 'limit'?", id="unknown"),
        pytest.param(
            "memorize", {"content": "x", "source_context": "y"}, "'sourceContext'", id="wrong case"
        ),
        pytest.param("recall", {"query": "x", "kin": "bob"}, "no argument 'kin'", id="another kin"),
        pytest.param(
            "recall", {"query": "x", "limit": 0}, "limit must be at least 1", id="out of range"
        ),
        pytest.param("recall", {"query": ["x"]}, "query must be text, not a list", id="type"),
        pytest.param("recall", {"query": "x", "mode": "best"}, "'relevance'", id="enum"),
        pytest.param("recall", {"query": " \n"}, "query is empty", id="empty"),
        pytest.param("recall", {"query": "x" * 9000}, "too_large: query has 9,000", id="too large"),
        pytest.param("recall", {"query": "x", "since": "soon"}, "2026-05-08", id="absurd date"),
        pytest.param("memorize", {}, "either content", id="nothing"),
        pytest.param(
            "memorize", {"content": "x", "items": [{"content": "y"}]}, "either content", id="both"
        ),
        pytest.param("memorize", {"items": []}, "items must have at least 1", id="no items"),
        pytest.param(
            "memorize", {"items": [{"content": "y"}] * 101}, "at most 100", id="too many items"
        ),
        pytest.param(
            "memorize", {"items": [{"contnt": "y"}]}, "did you mean 'content'?", id="bad item"
        ),
        pytest.param("memorize", {"content": "x" * 8_388_609}, "too_large: content", id="huge"),
        pytest.param(
            "forget", {"memory_id": "m9"}, "(a whole id has 36 characters)", id="short id"
        ),
        pytest.param("update_memory", {"memory_id": "m9"}, "nothing to change", id="no change"),
        pytest.param("memorise", {"content": "x"}, "did you mean 'memorize'?", id="near a tool"),
        pytest.param("remember", {"content": "x"}, "there are recall, memorize,", id="no tool"),
    ],
)
@ERAS
async def test_a_bad_call_is_told_in_one_short_sentence_what_to_correct(
    connect: Callable[[str], Client], era: str, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async with connect(era) as client:
        text = await refusal(client, tool, **arguments)

    assert told in text
    assert text.split(":")[0] in ("invalid", "too_large", "not_found")
    assert "\n" not in text and "pydantic" not in text and len(text) < 300


async def test_a_crash_tells_nothing_of_the_inside(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: str | None) -> Service:
        raise RuntimeError("/secret/path and content")

    async with Client(build(broken)) as client:
        text = await refusal(client, "recall", query="x")

    assert text.startswith("internal: ") and "secret" not in text
    assert "RuntimeError" in caplog.text


async def test_what_a_model_sees_of_all_tools_stays_under_6000_characters(
    client_of: Callable[..., Client],
) -> None:
    async with client_of() as client:
        listed = (await client.list_tools()).tools
    visible = [
        tool.model_dump(
            by_alias=True,
            exclude_none=True,
            include={"name", "title", "description", "input_schema"},
        )
        for tool in listed
    ]
    text = json.dumps(visible, ensure_ascii=False, separators=(",", ":"))

    assert len(text) < 6000
    assert "anyOf" not in text and "null}" not in text and "$ref" not in text
    assert all(len(tool.description or "") < 280 for tool in listed)
    assert all(tool.input_schema["additionalProperties"] is False for tool in listed)
    assert all(tool.output_schema for tool in listed)
    properties = [schema for tool in listed for schema in tool.input_schema["properties"].values()]
    assert not any("title" in schema for schema in properties)


async def test_tools_say_what_they_do_to_the_memory_and_two_are_always_loaded() -> None:
    hints = {tool.name: tool.annotations for tool in tools()}
    reading = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    destroying = {name for name, hint in hints.items() if hint and hint.destructive_hint}

    assert reading == {"recall", "list_memories"}
    assert destroying == {"update_memory", "forget", "review_memories"}
    assert all(hint and hint.open_world_hint is False for hint in hints.values())
    assert [tool.name for tool in tools() if tool.meta] == ["recall", "memorize"]


def test_the_choices_a_model_has_are_those_of_the_service() -> None:
    schemas = {tool.name: tool.parameters["properties"] for tool in tools()}

    assert schemas["memorize"]["category"]["enum"] == list(CATEGORIES)
    assert schemas["list_memories"]["state"]["enum"] == list(State)
    (profiles,) = (get_args(knob.kind) for knob in knobs() if knob.name == "profile")
    assert get_args(Mode) == profiles == tuple(schemas["recall"]["mode"]["enum"])


@ERAS
async def test_the_client_is_told_who_we_are_and_how_to_use_us(
    client_of: Callable[..., Client], era: str
) -> None:
    async with client_of(era=era) as client:
        assert client.server_info and client.server_info.name == "kinmem"
        assert client.server_info.version
        assert client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS.encode()) < 1000


@ERAS
async def test_resources_show_a_memory_and_the_state_of_all(
    client_of: Callable[..., Client], era: str
) -> None:
    async with client_of(era=era) as client:
        stored = await answer(client, "memorize", content="Bob likes go", tags=["hobby"])
        one = await client.read_resource(f"kinmem://memories/{stored['id']}")
        stats = await client.read_resource("kinmem://stats")

        memory = json.loads(text_of(one.contents[0]))
        assert (memory["content"], memory["tags"], memory["version"]) == (
            "Bob likes go",
            ["hobby"],
            1,
        )
        counts = json.loads(text_of(stats.contents[0]))["counts"]
        assert (counts["state"], counts["tier"]) == ({"active": 1}, {"warm": 1})
        for uri in ("kinmem://memories/m9", "kinmem://memories/..%2Fx", "kinmem://nothing"):
            with pytest.raises(MCPError) as error:
                await client.read_resource(uri)
            assert error.value.error.code == -32602


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("timeline/bogus", "invalid: day: 'bogus' is not a date or time; write a date such as"),
        ("timeline/2026-13", "a month such as 2026-05, a year"),
        ("memories/m9", "not_found: no memory of yours has the id 'm9'"),
        ("memories/m9/chunks/1", "not_found: no memory"),
        ("memories/m9/chunks/first", "invalid: a chunk has a whole number"),
        ("entities/Nobody", "not_found: nothing is known by the name 'Nobody'"),
        ("entities/%20", "invalid: name is empty"),
        ("entities/" + "x" * 300, "too_large: "),
        ("nothing", "Unknown resource"),
    ],
)
@ERAS
async def test_a_resource_that_cannot_be_meant_is_an_invalid_parameter(
    connect: Callable[[str], Client], era: str, address: str, told: str
) -> None:
    async with connect(era) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"kinmem://{address}")

    assert refused.value.error.code == -32602
    assert told in refused.value.error.message
    assert refused.value.error.data == {"uri": f"kinmem://{address}"}


async def test_a_chunk_that_is_not_there_is_an_invalid_parameter(
    client_of: Callable[..., Client],
) -> None:
    async with client_of() as client:
        stored = await answer(client, "memorize", content="Bob likes go")
        with pytest.raises(MCPError, match="has no chunk 9") as refused:
            await client.read_resource(f"kinmem://memories/{stored['id']}/chunks/9")

    assert refused.value.error.code == -32602


async def test_everything_can_be_read_as_an_export_unless_it_is_too_much(
    client_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client_of() as client:
        stored = await answer(client, "memorize", content="Bob likes go")
        content = (await client.read_resource("kinmem://export")).contents[0]
        monkeypatch.setattr("kinmem.mcp.protocol.MOST_EXPORTED", 100)
        with pytest.raises(MCPError, match="kinmem export FILE"):
            await client.read_resource("kinmem://export")

    header, memory = map(json.loads, text_of(content).splitlines())
    assert (content.mime_type, header["counts"]["memory"]) == ("application/jsonl", 1)
    assert memory["memory"]["id"] == stored["id"]


async def test_the_statistics_tell_times_as_the_wire_does_and_nothing_that_is_not_there(
    client_of: Callable[..., Client], service_of: Callable[..., Service]
) -> None:
    async with client_of() as client:
        before = json.loads(text_of((await client.read_resource("kinmem://stats")).contents[0]))
        service_of("ana").sleep(["tag"])
        after = json.loads(text_of((await client.read_resource("kinmem://stats")).contents[0]))

    assert "last_sleep" not in before
    assert after["last_sleep"]["started_at"] == "2026-06-15T12:00:00+00:00"


@ERAS
async def test_prompts_are_filled_in_and_bad_arguments_refused(
    client_of: Callable[..., Client], era: str
) -> None:
    async with client_of(era=era) as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        asked = await client.get_prompt("recall_before_answering", {"question": "Who is Bob?"})
        tidy = await client.get_prompt("tidy_memory")

        assert names == ["recall_before_answering", "remember_session", "tidy_memory"]
        assert text_of(asked.messages[0].content).endswith("Question: Who is Bob?")
        assert "review_memories" in text_of(tidy.messages[0].content)
        for name, arguments, told in (
            ("recall_before_answering", {}, "question"),
            ("tidy_memory", {"subjects": "x"}, "did you mean 'subject'?"),
            ("sing", {}, "sing"),
        ):
            with pytest.raises(MCPError, match=told) as error:
                await client.get_prompt(name, arguments)
            assert error.value.error.code == -32602


@ERAS
async def test_subjects_and_ids_are_completed(client_of: Callable[..., Client], era: str) -> None:
    async with client_of(era=era) as client:
        stored = await answer(client, "memorize", content="Bob likes go", subject="Bob")
        await answer(client, "memorize", content="Zoe sells shells", subject="Zoe")
        subjects = await client.complete(
            PromptReference(name="tidy_memory"), {"name": "subject", "value": "b"}
        )
        ids = await client.complete(
            ResourceTemplateReference(uri="kinmem://memories/{id}"),
            {"name": "id", "value": stored["id"]},
        )

        assert subjects.completion.values == ["Bob"]
        assert ids.completion.values == [stored["id"]]


async def test_ages_and_times_are_told_as_people_say_them(
    client_of: Callable[..., Client], clock: MovableClock
) -> None:
    async with client_of() as client:
        await answer(client, "memorize", content="Bob likes go", occurredAt="2026-06-01T14:30Z")
        clock.advance(days=3)
        (memory,) = (await answer(client, "recall", query="Bob go"))["memories"]

        assert memory["age"] == "3d ago"
        assert memory["occurredAt"].startswith("2026-06-01T")


async def test_memorize_tells_how_far_a_document_and_a_batch_are(
    client_of: Callable[..., Client],
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    document = "\n\n".join(f"# Part {n}\n\nThe pump {n} stands in room {n}." for n in range(3000))
    items = [{"content": f"The valve {n} is in hall {n}."} for n in range(40)]
    async with client_of() as client:
        for given in ({"content": document}, {"items": items}):
            result = await client.call_tool("memorize", given, progress_callback=on_progress)
            assert not result.is_error
        await anyio.sleep(0.05)  # a notification may arrive after the answer

    assert {message for _, _, message in told} == {"characters read", "memories"}
    assert (40, 40, "memories") in told


async def test_a_sleep_that_takes_long_goes_on_and_says_so(
    service_of: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SLEEP_SECONDS <= 45  # clients give up after 60
    monkeypatch.setattr("kinmem.mcp.tools.SLEEP_SECONDS", 0.0)
    service = service_of("ana")
    sleep, may_begin = service.sleep, threading.Event()

    def held_up(*arguments: Any, **named: Any) -> Any:
        may_begin.wait(60)
        return sleep(*arguments, **named)

    monkeypatch.setattr(service, "sleep", held_up)
    async with Client(build(lambda _: service, sets=["upkeep"])) as client:
        told = await answer(client, "sleep", steps=["tag"])

    may_begin.set()
    assert told["steps"] == [] and "goes on in the background" in told["goingOn"]
    with anyio.fail_after(60):
        while not any("tag" in run.seconds for run in service.runs()):
            await anyio.sleep(0.05)


async def test_a_sleep_that_is_soon_done_tells_what_it_did(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana")
    async with Client(build(lambda _: service, sets=["upkeep"])) as client:
        told = await answer(client, "sleep", steps=["tag"])

    assert [step["step"] for step in told["steps"]] == ["tag"] and "goingOn" not in told


def open_objects(schema: Any, path: str = "") -> list[str]:
    """Where a schema allows more, or less, than it names; or has what strict mode lacks."""
    if isinstance(schema, list):
        return [one for part in schema for one in open_objects(part, path)]
    if not isinstance(schema, dict):
        return []
    found = [path] if "default" in schema else []
    if schema.get("type") in ("object", ["object", "null"]):
        named = set(schema.get("properties", ()))
        is_closed = schema.get("additionalProperties") is False
        found += [] if is_closed and named and set(schema["required"]) == named else [path]
    return found + [
        one for key, part in schema.items() for one in open_objects(part, f"{path}/{key}")
    ]


async def test_strict_schemas_leave_nothing_open_and_null_means_absent(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana")
    server = build(lambda _: service, sets=["turns", "knowledge", "upkeep"], strict=True)
    async with Client(server) as client:
        listed = (await client.list_tools()).tools
        named = {tool.name: dict.fromkeys(tool.input_schema["properties"]) for tool in listed}
        assert len(listed) == 10
        assert {tool.name: open_objects(tool.input_schema) for tool in listed} == dict.fromkeys(
            named, []
        )

        content = "Bob plays chess on Fridays"
        memorize = {**named["memorize"], "content": content, "subject": "Bob", "tags": ["hobby"]}
        stored = await answer(client, "memorize", **memorize)
        update = {**named["update_memory"], "memory_id": stored["id"], "importance": 7}
        changed = await answer(client, "update_memory", **update)
        assert (changed["subject"], changed["tags"], changed["importance"]) == ("Bob", ["hobby"], 7)
        item = dict.fromkeys(
            next(tool for tool in listed if tool.name == "memorize").input_schema["properties"][
                "items"
            ]["items"]["properties"]
        )
        given = {**named["memorize"], "items": [{**item, "content": "Clara keeps bees"}]}
        assert (await answer(client, "memorize", **given))["items"][0]["status"] == "created"
        found = await answer(client, "recall", **{**named["recall"], "query": "chess"})
        assert found["memories"][0]["content"] == content
        assert (await answer(client, "list_memories", **named["list_memories"]))["memories"]
        await answer(client, "review_memories", **named["review_memories"])
        forget = {**named["forget"], "memory_id": stored["id"]}
        assert (await answer(client, "forget", **forget))["status"] == "forgotten"
