"""observe and record_turn: turns as they arrive over MCP, and the context as a resource."""

import json
from collections.abc import Callable
from typing import Any

import anyio.to_thread
import pytest
from mcp import Client, MCPError

from kinmem.mcp.protocol import build
from kinmem.service import Service
from tests.test_tools import ERAS, text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def client_of(service: Service) -> Callable[..., Client]:
    def connect(era: str = "auto", *sets: str) -> Client:
        return Client(build(lambda _: service, sets=sets), mode=era)

    return connect


async def observe(client: Client, **arguments: Any) -> dict[str, Any]:
    """What a hook reads: the text alone."""
    result = await client.call_tool("observe", arguments)
    assert not result.is_error, result.content
    assert result.structured_content is None
    (block,) = result.content
    told: dict[str, Any] = json.loads(text_of(block))
    return told


@ERAS
async def test_observe_is_in_no_list_but_answers(
    client_of: Callable[..., Client], service: Service, era: str
) -> None:
    service.memorize("Bob is allergic to peanuts", subject="Bob")
    async with client_of(era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        prompt = await observe(
            client, event="prompt", session="s", prompt_id="p", text="A peanut cake for Bob?"
        )
        answer = await observe(client, event="answer", session="s", prompt_id="p", text="No.")

    assert "observe" not in listed
    assert len(listed) == 6
    added = prompt["hookSpecificOutput"]
    assert added["hookEventName"] == "UserPromptSubmit"
    assert "allergic to peanuts" in added["additionalContext"]
    assert answer == {}
    assert [message.text for message in service.turns("s")] == ["A peanut cake for Bob?", "No."]


async def test_placeholders_that_a_client_left_empty_count_as_absent(
    client_of: Callable[..., Client], service: Service
) -> None:
    async with client_of() as client:
        await observe(
            client,
            event="prompt",
            session="s",
            prompt_id="${prompt_id}",
            cwd="",
            agent_id="${agent_id}",
            text="Hello there",
        )

    (message,) = service.turns("s")
    assert "$" not in message.turn
    assert message.place is None


@pytest.mark.parametrize(
    "agent",
    [{"agent_id": "a-1", "agent_type": "Explore"}, {"agent_type": ""}],
    ids=["a sub-agent", "the client's own agent"],
)
async def test_sub_agents_are_not_heard(
    client_of: Callable[..., Client], service: Service, agent: dict[str, str]
) -> None:
    async with client_of() as client:
        told = await observe(
            client, event="prompt", session="s", prompt_id="p", text="I live in Lyon", **agent
        )

    assert told == {}
    assert service.turns("s") == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param({"event": "shout", "session": "s", "text": "x"}, "event", id="event"),
        pytest.param({"event": "prompt", "text": "x"}, "session", id="no session"),
        pytest.param({"event": "prompt", "session": "s", "txt": "x"}, "txt", id="unknown"),
    ],
)
async def test_what_cannot_be_meant_is_refused_in_a_sentence(
    client_of: Callable[..., Client], arguments: dict[str, str], told: str
) -> None:
    async with client_of() as client:
        result = await client.call_tool("observe", arguments)

    assert result.is_error
    assert told in text_of(result.content[0])
    assert len(text_of(result.content[0])) < 200


async def test_record_turn_is_listed_on_request_and_keeps_a_whole_turn(
    client_of: Callable[..., Client], service: Service
) -> None:
    turn = {
        "session": "team",
        "prompt": "I prefer trains to planes.",
        "answer": "Noted.",
        "turn_id": "t1",
        "speaker": "Maya",
        "at": "2026-05-08T10:00:00Z",
        "tool_outputs": [{"tool": "search", "text": "3 trains found"}],
    }
    async with client_of("auto", "turns") as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        first = (await client.call_tool("record_turn", turn)).structured_content
        again = (await client.call_tool("record_turn", turn)).structured_content
    await anyio.to_thread.run_sync(service.settle, 60)

    assert listed[-1] == "record_turn"
    assert (first, again) == (
        {"status": "stored", "turnId": "t1"},
        {"status": "known", "turnId": "t1"},
    )
    assert [message.role for message in service.turns("team")] == ["user", "tool", "assistant"]
    (memory,) = service.list_memories().memories
    assert memory.speaker == "Maya"
    assert memory.turn_id == "t1"


async def test_the_context_is_a_resource(
    client_of: Callable[..., Client], service: Service
) -> None:
    service.observe("prompt", "s", "t1", "Let us paint the kitchen blue.")
    async with client_of() as client:
        latest = await client.read_resource("kinmem://context")
        named = await client.read_resource("kinmem://context/s")
        with pytest.raises(MCPError, match="no conversation 'nobody'") as unknown:
            await client.read_resource("kinmem://context/nobody")

    assert "user: Let us paint the kitchen blue." in text_of(latest.contents[0])
    assert text_of(named.contents[0]) == text_of(latest.contents[0])
    assert unknown.value.error.code == -32602


@pytest.mark.parametrize("text", ["/compact", "<command-name>/model</command-name>"])
async def test_what_a_client_says_in_the_users_place_is_not_heard(
    client_of: Callable[..., Client], service: Service, text: str
) -> None:
    async with client_of() as client:
        await observe(client, event="prompt", session="s", prompt_id="p", text=text)
        await observe(
            client, event="prompt", session="s", prompt_id="q", text="wake up", source="schedule"
        )

    assert service.turns("s") == []
