"""The same mistakes have the same codes through MCP and through REST, on one server."""

from functools import partial
from typing import Any

import anyio.to_thread
import pytest
from mcp import Client

from tests.rest.conftest import Api
from tests.test_http import streamable

# A tool with arguments, and the request of REST that says the same.
SECRET = "the key is ghp_q7Wv3KzR9mTx2LbN8pYd4HcJ6sFg1AuE5oQi"
MISTAKES: dict[str, tuple[str, dict[str, Any], str, str, Any]] = {
    "nothing to recall": ("recall", {"query": " "}, "POST", "/recall", {"query": " "}),
    "no such mode": (
        *("recall", {"query": "tea", "mode": "x"}),
        *("POST", "/recall", {"query": "tea", "mode": "x"}),
    ),
    "no time": (
        *("recall", {"query": "tea", "since": "someday"}),
        *("POST", "/recall", {"query": "tea", "since": "someday"}),
    ),
    "an unknown argument": (
        *("recall", {"query": "tea", "subjet": "x"}),
        *("POST", "/recall", {"query": "tea", "subjet": "x"}),
    ),
    "no content": ("memorize", {"content": ""}, "POST", "/memories", {"content": ""}),
    "not text": ("memorize", {"content": 5}, "POST", "/memories", {"content": 5}),
    "a secret": ("memorize", {"content": SECRET}, "POST", "/memories", {"content": SECRET}),
    "too important": (
        *("memorize", {"content": "tea", "importance": 11}),
        *("POST", "/memories", {"content": "tea", "importance": 11}),
    ),
    "a subject that is too long": (
        *("memorize", {"content": "tea", "subject": "x" * 300}),
        *("POST", "/memories", {"content": "tea", "subject": "x" * 300}),
    ),
    "an expiry that is over": (
        *("memorize", {"content": "tea", "expires": "2020-01-01"}),
        *("POST", "/memories", {"content": "tea", "expires": "2020-01-01"}),
    ),
    "no such memory to change": (
        *("update_memory", {"memory_id": "nothing", "pinned": True}),
        *("PATCH", "/memories/nothing", {"pinned": True}),
    ),
    "no such memory to forget": (
        *("forget", {"memory_id": "nothing"}),
        *("DELETE", "/memories/nothing", None),
    ),
    "a page that is too long": (
        *("list_memories", {"limit": 201}),
        *("GET", "/memories?limit=201", None),
    ),
    "no cursor": ("list_memories", {"cursor": "x"}, "GET", "/memories?cursor=x", None),
    "no such issue": (
        *("review_memories", {"apply": ["nothing"]}),
        *("POST", "/review", {"apply": ["nothing"]}),
    ),
}


@pytest.mark.anyio
async def test_a_mistake_has_one_code(api: Api) -> None:
    codes: dict[str, tuple[str, str]] = {}
    async with Client(streamable(api.server, "admin"), mode="auto") as client:
        for mistake, (tool, arguments, method, path, body) in MISTAKES.items():
            told = await client.call_tool(tool, arguments)
            assert told.is_error, mistake
            text = told.content[0].text
            answer = await anyio.to_thread.run_sync(partial(api, method, path, body))
            code = answer.json()["error"]["code"]
            codes[mistake] = text.partition(":")[0], code

    assert {one: found for one, found in codes.items() if found[0] != found[1]} == {}
    assert {code for _, code in codes.values()} == {"invalid", "too_large", "not_found"}
