"""Wrong arguments of every tool: which one was meant, and what it must be."""

from collections.abc import Callable
from typing import Annotated

import pytest
from mcp import Client
from mcp.types import TextContent
from pydantic import BaseModel, Field, ValidationError

from kinmem.http.refusals import OTHER_WORDS, in_short, nearest
from kinmem.mcp.protocol import build
from kinmem.mcp.tools import tools
from kinmem.service import Service

pytestmark = pytest.mark.anyio
SETS = ["turns", "knowledge", "upkeep"]


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("recall", "question", "query"),
        ("recall", "text", "query"),
        ("recall", "top_k", "limit"),
        ("recall", "maxResults", "limit"),
        ("recall", "from", "since"),
        ("recall", "tag", "tags"),
        ("memorize", "text", "content"),
        ("memorize", "memory", "content"),
        ("memorize", "memories", "items"),
        ("memorize", "contents", "content"),
        ("memorize", "date", "occurredAt"),
        ("memorize", "occurred_at", "occurredAt"),
        ("memorize", "type", "category"),
        ("update_memory", "id", "memory_id"),
        ("update_memory", "text", "content"),
        ("update_memory", "version", "if_version"),
        ("forget", "id", "memory_id"),
        ("forget", "memoryId", "memory_id"),
        ("forget", "permanent", "erase"),
        ("list_memories", "order_by", "sort"),
        ("list_memories", "page", "cursor"),
        ("list_memories", "status", "state"),
        ("review_memories", "issues", "apply"),
        ("record_turn", "session_id", "session"),
        ("record_turn", "assistant", "answer"),
        ("explore", "entity", "name"),
        ("explore", "query", "name"),
        ("timeline", "date", "day"),
        ("timeline", "name", "subject"),
        ("sleep", "dryRun", "dry_run"),
        ("sleep", "step", "steps"),
    ],
)
async def test_an_unknown_argument_is_told_with_the_one_that_was_meant(
    service: Service, tool: str, given: str, meant: str
) -> None:
    text = await refusal(service, tool, {given: "x"})

    assert f"there is no argument {given!r}; did you mean {meant!r}?" in text
    assert f"{meant} is missing" not in text


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("recall", {"query": 5}, "query must be text, not a number"),
        ("recall", {"query": "x", "limit": "ten"}, "limit must be a whole number, not text"),
        ("recall", {"query": "x", "limit": 21}, "limit must be at most 20"),
        ("recall", {"query": "x", "limit": -1}, "limit must be at least 1"),
        ("recall", {"query": "x", "tags": "a"}, "tags must be a list, not text"),
        ("recall", {"query": "x", "tags": [1]}, "tags[0] must be text, not a number"),
        ("recall", {"query": "x", "explain": "maybe"}, "explain must be true or false, not text"),
        ("recall", {"query": "x", "category": "facts"}, "category must be one of 'fact', "),
        ("recall", {"query": "x", "colour": 1}, "no argument 'colour'; there are query, limit, "),
        ("memorize", {"content": "x", "importance": "high"}, "importance must be a number, not"),
        ("memorize", {"contents": [{"content": "x"}]}, "did you mean 'items'?"),
        ("memorize", {"items": ["x"]}, "items[0] must be an object, not text"),
        ("memorize", {"items": [{"text": "x"}]}, "'items[0].text'; did you mean 'content'?"),
        ("memorize", {"items": [{"content": "x", "source": "y"}]}, "'sourceContext'?"),
        ("update_memory", {"memory_id": "x", "links": [{"to": "y"}]}, "did you mean 'id'?"),
        (
            "record_turn",
            {"session": "s", "prompt": "p", "tool_outputs": [{"name": "x", "output": "y"}]},
            "did you mean 'tool'?; there is no argument 'tool_outputs[0].output'; did you mean 'te",
        ),
        ("sleep", {"steps": "tag"}, "steps must be a list, not text"),
        ("sleep", {"steps": ["snore"]}, "steps[0] must be one of 'backup', "),
        ("explore", {"name": "Bob", "depth": 3}, "depth must be at most 2"),
    ],
)
async def test_what_an_argument_must_be_is_said_without_pydantics_words(
    service: Service, tool: str, arguments: dict[str, object], told: str
) -> None:
    text = await refusal(service, tool, arguments)

    assert told in text
    assert "valid" not in text.removeprefix("invalid")


class Inner(BaseModel, extra="forbid"):
    content: str


class Outer(BaseModel, extra="forbid"):
    items: Annotated[tuple[Inner, ...], Field(min_length=1)] = (Inner(content="x"),)
    write: Annotated[int, Field(le=2**63 - 1)] = 0
    query: Annotated[str, Field(min_length=1)] = "x"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"write": 2**63}, "write must be at most 9223372036854775807"),
        ({"query": ""}, "query must have at least 1 character"),
        ({"items": []}, "items must have at least 1 item"),
        (
            {"items": [{"content": "x", "foo": 1}]},
            "there is no argument 'items[0].foo'; there are content",
        ),
    ],
)
def test_a_fault_is_told_once_and_where_it_is(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Outer.model_validate(given)

    assert in_short(raised.value, list(Outer.model_fields), Outer) == told


def test_every_word_that_is_understood_stands_for_an_argument_of_some_tool() -> None:
    known = {name for tool in tools(SETS) for name in tool.parameters["properties"]}

    assert set(OTHER_WORDS) - known == {"id", "relation"}  # of the objects in links


@pytest.mark.parametrize("word", ["colour", "zzz", ""])
def test_nothing_is_guessed_where_nothing_is_alike(word: str) -> None:
    assert nearest(word, ["query", "limit"]) is None


async def refusal(service: Service, tool: str, arguments: dict[str, object]) -> str:
    """What a model reads."""
    connect: Callable[..., Client] = Client
    async with connect(build(lambda _: service, sets=SETS)) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text
