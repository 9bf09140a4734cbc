"""What a token may do over HTTP, by its scope; and that nobody locks others out."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from kinmem.http.tokens import SCOPES, Scope, Tokens
from kinmem.settings.server_settings import TOOL_SETS
from tests.sweeps import WHOLE
from tests.test_http import HELLO, PING, Running, running

PAGE = Path(__file__).parent.parent / "docs" / "security.md"
ROW = re.compile(r"^\| (tool|resource|prompt) \| `([^`]+)`(?: with `(\w+)`)? \| (\w+) \|$", re.M)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "recall": {"query": "tea"},
    "list_memories": {},
    "review_memories": {},
    "memorize": {"content": "Ana drinks tea"},
    "update_memory": {"memory_id": "nothing", "pinned": True},
    "forget": {"memory_id": "nothing"},
    "record_turn": {"session": "s", "prompt": "hello"},
    "observe": {"event": "prompt", "session": "s", "prompt_id": "p", "text": "hello"},
    "explore": {"name": "nobody"},
    "timeline": {},
    "sleep": {"dry_run": True},
}
MORE: dict[str, Any] = {"erase": True, "apply": ["nothing"], "refuse": ["nothing"]}
PARTS = {"id": "nothing", "number": "1", "name": "nobody", "day": "2026", "session": "s"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = tmp_path_factory.mktemp("scopes")
    made = {scope: Tokens(home).add("ana", scope=scope) for scope in SCOPES}
    with running(home, KINMEM_TOOLS=",".join(TOOL_SETS)) as it:
        it.tokens = made
        yield it


async def refused(client: Client, kind: str, name: str, argument: str) -> bool:
    """Whether the server says that the token's scope is too small for it."""
    try:
        if kind == "resource":
            await client.read_resource(name.format(**PARTS))
        elif kind == "prompt":
            needs = {"question": "why?"} if name == "recall_before_answering" else {}
            await client.get_prompt(name, needs)
        else:
            given = ARGUMENTS[name] | ({argument: MORE[argument]} if argument else {})
            result = await client.call_tool(name, given)
            assert isinstance(result, CallToolResult)
            (part,) = result.content
            assert isinstance(part, TextContent)
            return bool(result.is_error) and part.text.startswith("forbidden: ")
    except MCPError as error:
        return "forbidden: " in str(error)
    return False


@pytest.mark.anyio
@pytest.mark.parametrize("scope", get_args(Scope))
async def test_the_page_says_what_each_scope_may_do(server: Running, scope: Scope) -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    headers = {"Authorization": server.bearer(scope)}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http_client)) as client,
    ):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        resources = {str(one.uri) for one in (await client.list_resources()).resources}
        templates = await client.list_resource_templates()
        resources |= {one.uri_template for one in templates.resource_templates}
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        outcome = {row: await refused(client, *row[:3]) for row in rows}

    def named(kind: str) -> set[str]:
        return {name for of, name, _, _ in rows if of == kind}

    assert named("tool") == tools | {"observe"}
    assert (named("resource"), named("prompt")) == (resources, prompts)
    expected = {row: SCOPES.index(row[3]) > SCOPES.index(scope) for row in rows}
    assert outcome == expected


def test_a_scope_counts_for_each_request_not_for_its_session(server: Running) -> None:
    """The session of a token with more rights helps nobody with less."""
    admin, reader = server.bearer("admin"), server.bearer("read")
    opened = server.ask("POST", "/mcp", HELLO, Authorization=admin)[1]["mcp-session-id"]
    call = {"name": "memorize", "arguments": {"content": "Ana drinks tea"}}
    told = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}

    given = {"Mcp_Session_Id": opened, "Authorization": reader}
    _, _, text = server.ask("POST", "/mcp", told, **given)

    assert "forbidden: " in text


@contextmanager
def half_open(server: Running, many: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have sent only this."""
    parts = urlsplit(server.url)
    assert parts.hostname and parts.port
    with ExitStack() as stack:
        held = []
        for _ in range(many):
            one = socket.create_connection((parts.hostname, parts.port), timeout=30)
            stack.callback(one.close)
            one.sendall(sent)
            held.append(one)
        yield held


def is_closed(connection: socket.socket) -> bool:
    """Whether the other end has closed it; waits for that as long as its timeout."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


HALF_HEADER = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
HALF_BODY = HALF_HEADER + b"Content-Length: 100\r\n\r\n{"


@pytest.mark.parametrize("sent", [b"", HALF_HEADER, HALF_BODY], ids=["nothing", "header", "body"])
def test_five_hundred_half_open_connections_lock_nobody_out(server: Running, sent: bytes) -> None:
    with half_open(server, 500, sent):
        for _ in range(5):
            assert server.status("GET", "/health") == 200
            given = {"Authorization": server.bearer("read")}
            assert server.status("POST", "/mcp", HELLO, **given) == 200


HURRIED = """
from kinmem.http import connection_limits
connection_limits.HEADER_SECONDS = 1
import server
server.main()
"""


def test_a_header_that_does_not_end_is_closed(tmp_path: Path) -> None:
    """After ten seconds, although more of it keeps coming; also the second of a connection. After
    one second here, but under `make sweeps`."""
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with ExitStack() as stack:
        server = stack.enter_context(running(tmp_path, code="" if WHOLE else HURRIED))
        slow = [
            stack.enter_context(half_open(server, 1, sent))[0]
            for sent in (b"", HALF_HEADER, whole + HALF_HEADER)
        ]
        latest = time.monotonic() + 60
        for one in slow:
            one.settimeout(0.5)
            while not is_closed(one):
                assert time.monotonic() < latest
                with suppress(ConnectionError):
                    one.sendall(b"X" if one is not slow[0] else b"")


def test_one_kin_cannot_take_every_request(server: Running) -> None:
    """Another Kin is served while one holds as many streams as it may."""
    other = Tokens(server.home).add("bob")
    stream = (
        f"GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: {server.bearer('read')}\r\n\r\n"
    )
    with ExitStack() as stack:
        for _ in range(130):
            (one,) = stack.enter_context(half_open(server, 1, stream.encode()))
            one.recv(64)
        mine = server.status("POST", "/mcp", HELLO, Authorization=server.bearer("read"))
        assert mine == 503
        assert server.status("POST", "/mcp", HELLO, Authorization=f"Bearer {other}") == 200


def test_a_kin_with_many_sessions_makes_room_for_another(tmp_path: Path) -> None:
    code = (
        "import kinmem.http.server as http, runpy, sys\n"
        "http.build_app.__defaults__ = (4,)\n"
        "sys.argv = ['server.py']\n"
        "runpy.run_path('server.py', run_name='__main__')\n"
    )
    with running(tmp_path, "ana", "bob", code=code) as server:
        ana, bob = server.bearer("ana"), server.bearer("bob")

        def opened(kin: str) -> str:
            return server.ask("POST", "/mcp", HELLO, Authorization=kin)[1]["mcp-session-id"]

        first = opened(bob)
        for _ in range(8):
            opened(ana)
        given = {"Authorization": bob, "Mcp_Session_Id": first}

        assert server.status("POST", "/mcp", PING, **given) == 200


def kinmem(server: Running, user: Path, *words: str) -> str:
    """What a command prints for a person with that home folder."""
    return subprocess.run(
        [sys.executable, "-m", "kinmem", *words],
        env={**os.environ, "HOME": str(user), "KINMEM_HOME": str(server.home)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.anyio
async def test_a_client_that_was_installed_reaches_the_server(
    server: Running, tmp_path: Path
) -> None:
    words = ["install", "cursor", "--kin", "ana", "--http", f"{server.url}/mcp"]
    assert "TOKEN" in kinmem(server, tmp_path, *words)
    kinmem(server, tmp_path, *words, "--write")
    installed = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["kinmem"]
    async with (
        httpx2.AsyncClient(headers=installed["headers"], timeout=60) as http_client,
        Client(streamable_http_client(installed["url"], http_client=http_client)) as client,
    ):
        stored = await client.call_tool("memorize", {"content": "Ana keeps bees"})

    assert not stored.is_error
    assert "Nothing to change" in kinmem(server, tmp_path, *words)
    kinmem(server, tmp_path, "install", "cursor", "--remove", "--write")
    given = installed["headers"]["Authorization"]
    assert server.status("POST", "/mcp", HELLO, Authorization=given) == 401
