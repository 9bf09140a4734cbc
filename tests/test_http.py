"""The server over HTTP: both transports, and everything that must not get in."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextResourceContents
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from kinmem.http.connection_limits import Steady
from kinmem.http.server import _listen
from kinmem.http.tokens import Tokens
from kinmem.settings import load
from tests.forked import IS_POSSIBLE, Forked
from tests.sweeps import WHOLE

pytestmark = pytest.mark.usefixtures("judge_off")

ROOT = Path(__file__).parent.parent
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
OPEN = {"KINMEM_INSECURE_LOCAL": "on"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content_Type": "application/json"}
ROUTES = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/sse"),
    ("POST", "/messages/?session_id=00000000000040008000000000000000"),
    ("GET", "/health"),
    ("GET", "/nothing"),
    ("OPTIONS", "/mcp"),
]


@dataclass
class Running:
    """A server that listens, its folder, and its tokens by Kin."""

    process: "subprocess.Popen[bytes] | Forked"
    url: str
    home: Path
    tokens: dict[str, str]

    @contextmanager
    def opened(
        self, method: str, path: str, body: Any = None, **headers: str | list[str]
    ) -> Iterator[http.client.HTTPResponse]:
        """The response to a request with these headers; underscores stand for hyphens."""
        parts = urlsplit(self.url)
        assert parts.hostname
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        sent = {"Host": parts.netloc, **ACCEPT, "Content_Length": str(len(data)), **headers}
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                for one in [value] if isinstance(value, str) else value:
                    connection.putheader(name.replace("_", "-"), one)
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before it was read
                connection.endheaders(data)
            with connection.getresponse() as response:
                yield response
        finally:
            connection.close()

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str | list[str]
    ) -> tuple[int, Message, str]:
        """The same, read to its end: status, headers, text."""
        with self.opened(method, path, body, **headers) as response:
            return response.status, response.headers, response.read().decode()

    def status(self, method: str, path: str, body: Any = None, **headers: str | list[str]) -> int:
        return self.ask(method, path, body, **headers)[0]

    def bearer(self, kin: str) -> str:
        return f"Bearer {self.tokens[kin]}"


def text_of(part: object) -> str:
    assert isinstance(part, TextResourceContents)
    return part.text


@contextmanager
def running(home: Path, *kins: str, code: str = "", **environment: str) -> Iterator[Running]:
    """A server on a free port; with tokens for these Kins."""
    tokens = {kin: Tokens(home).add(kin) for kin in kins}
    process = start(home, code, **environment)
    try:
        assert process.stderr
        told = process.stderr.readline().decode()
        found = re.search(r"http://\S+(?=/mcp)", told)
        assert found, told + process.stderr.read().decode()
        yield Running(process, found[0], home, tokens)
    finally:
        process.kill()
        process.wait()
        assert process.stderr
        process.stderr.close()


def start(home: Path, code: str = "", **environment: str) -> "subprocess.Popen[bytes] | Forked":
    given = {
        **os.environ,
        "KINMEM_HOME": str(home),
        "KINMEM_TRANSPORT": "http",
        "KINMEM_PORT": "0",
        **environment,
    }
    if IS_POSSIBLE:
        return Forked(given, code, is_spoken_to=False)
    command = [sys.executable, *(["-c", code] if code else [str(ROOT / "server.py")])]
    return subprocess.Popen(command, cwd=ROOT, env=given, stderr=subprocess.PIPE)


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """On this machine, without tokens."""
    home = tmp_path_factory.mktemp("open")
    names = "memory.example:8443, notes.local"
    with running(home, KINMEM_KIN="ana", KINMEM_ALLOWED_HOSTS=names, **OPEN) as it:
        yield it


@pytest.fixture(scope="module")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Reachable from other machines, with tokens for ana and bob."""
    home = tmp_path_factory.mktemp("closed")
    with running(home, "ana", "bob", KINMEM_HOST="0.0.0.0", KINMEM_JUDGE="off") as it:
        it.url = it.url.replace("0.0.0.0", "127.0.0.1")
        yield it


@asynccontextmanager
async def streamable(server: Running, kin: str | None) -> AsyncIterator[Any]:
    headers = {"Authorization": server.bearer(kin)} if kin else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http_client,
        streamable_http_client(f"{server.url}/mcp", http_client=http_client) as streams,
    ):
        yield streams


def sse(server: Running, kin: str | None) -> AbstractAsyncContextManager[Any]:
    headers = {"Authorization": server.bearer(kin)} if kin else {}
    return sse_client(f"{server.url}/sse", headers=headers)


WAYS_IN = pytest.mark.parametrize(
    ("connect", "era"),
    [(streamable, "auto"), (streamable, "legacy"), (sse, "auto"), (sse, "legacy")],
    ids=["http 2026-07-28", "http 2025-11-25", "sse 2026-07-28", "sse 2025-11-25"],
)


@pytest.mark.anyio
@WAYS_IN
async def test_clients_memorize_and_recall_over_each_transport(
    open_server: Running, connect: Callable[..., Any], era: str
) -> None:
    told = anyio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.set()

    async with Client(connect(open_server, None), mode=era) as client:
        content = f"The {connect.__name__} client came by in era {era}"
        stored = await client.call_tool("memorize", {"content": content})
        found = await client.call_tool("recall", {"query": content, "limit": 1})
        names = [{"content": f"{a}{b} sings"} for a in "BCDF" for b in ("al", "em", "il", "od")]
        await client.call_tool("memorize", {"items": names})
        await client.call_tool("review_memories", {}, progress_callback=on_progress)
        with anyio.fail_after(30):
            await told.wait()

    assert not stored.is_error
    assert found.structured_content is not None
    assert found.structured_content["memories"][0]["content"] == content


@pytest.mark.anyio
@WAYS_IN
async def test_a_token_opens_its_own_kins_memory_and_no_other(
    closed_server: Running, connect: Callable[..., Any], era: str
) -> None:
    word = f"secret{connect.__name__}{era}"
    async with Client(connect(closed_server, "ana"), mode=era) as ana:
        await ana.call_tool("memorize", {"content": f"The word is {word}"})
        own = await ana.call_tool("recall", {"query": word})
        stats = await ana.read_resource("kinmem://stats")
    async with Client(connect(closed_server, "bob"), mode=era) as bob:
        foreign = await bob.call_tool("recall", {"query": word})
        foreign_stats = await bob.read_resource("kinmem://stats")

    assert own.structured_content and own.structured_content["memories"]
    assert foreign.structured_content and word not in json.dumps(foreign.structured_content)
    assert json.loads(text_of(stats.contents[0]))["kin"] == "ana"
    assert json.loads(text_of(foreign_stats.contents[0]))["kin"] == "bob"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "localhost@evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8765",
        "memory.example",
        "memory.example:9999",
        "",
        "[::1",
        "localhost/x",
    ],
)
def test_a_foreign_host_is_refused_on_every_route(open_server: Running, host: str) -> None:
    assert {open_server.status(*route, HELLO, Host=host) for route in ROUTES} == {421}


def test_two_hosts_are_refused_on_every_route(open_server: Running) -> None:
    for method, path in ROUTES:
        assert open_server.status(method, path, Host=["localhost", "evil.example"]) in (400, 421)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost:1@evil.example",
        "http://localhost.evil.example",
        "http://evil.example/http://localhost",
        "file://",
        "localhost",
        "",
    ],
)
def test_a_foreign_page_is_refused_on_every_route(open_server: Running, origin: str) -> None:
    for route in ROUTES:
        status, headers, _ = open_server.ask(*route, HELLO, Origin=origin)
        assert status == 403
        assert not [name for name in headers if name.lower().startswith("access-control")]


def test_what_a_browser_marks_as_from_another_site_is_refused(open_server: Running) -> None:
    marked = {"Sec_Fetch_Site": "cross-site"}
    assert {open_server.status(*route, HELLO, **marked) for route in ROUTES} == {403}


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:9000",
        "[::1]:80",
        "memory.example:8443",
        "notes.local:1",
    ],
)
def test_our_own_names_are_served(open_server: Running, host: str) -> None:
    origin = f"http://{host}"

    assert open_server.status("GET", "/health", Host=host, Origin=origin) == 200
    assert open_server.status("POST", "/mcp", HELLO, Host=host, Origin=origin) == 200


def test_health_tells_nothing_but_that_we_live(open_server: Running) -> None:
    assert open_server.ask("GET", "/health")[2] == '{"status":"ok"}'


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer kmk_00000000_x", "Basic YW5hOmFuYQ==", "kmk"],
)
def test_without_a_valid_token_nothing_is_served(
    closed_server: Running, authorization: str | None
) -> None:
    given = {} if authorization is None else {"Authorization": authorization}
    for route in ROUTES:
        if route == ("GET", "/health") and authorization is None:
            continue
        status, headers, _ = closed_server.ask(*route, HELLO, **given)
        assert status == 401
        assert headers["WWW-Authenticate"].startswith('Bearer realm="kinmem"')


def test_health_without_a_token_tells_nothing_but_that_we_live(closed_server: Running) -> None:
    status, _, text = closed_server.ask("GET", "/health")

    assert (status, text) == (200, '{"status":"ok"}')
    assert closed_server.status("POST", "/health", HELLO) == 401
    assert closed_server.status("GET", "/health", Host="evil.example") == 421
    assert closed_server.status("GET", "/health", Origin="https://a.b") == 403


def test_a_session_that_nobody_uses_is_closed(tmp_path: Path) -> None:
    with running(tmp_path, KINMEM_SESSION_MINUTES="0.02", **OPEN) as server:
        opened = [server.ask("POST", "/mcp", HELLO)[1]["mcp-session-id"] for _ in range(3)]
        latest = time.monotonic() + 60
        while {
            server.status("POST", "/mcp", PING, Mcp_Session_Id=session) for session in opened
        } != {404}:
            assert time.monotonic() < latest
            time.sleep(1.5)
        assert server.status("POST", "/mcp", HELLO) == 200


def test_one_session_too_many_takes_the_place_of_the_oldest(tmp_path: Path) -> None:
    code = (
        "import kinmem.http.server as http, runpy, sys\n"
        "http.build_app.__defaults__ = (3,)\n"
        "sys.argv = ['server.py']\n"
        "runpy.run_path('server.py', run_name='__main__')\n"
    )
    with running(tmp_path, code=code, **OPEN) as server:
        opened = [server.ask("POST", "/mcp", HELLO)[1]["mcp-session-id"] for _ in range(7)]
        alive = [
            server.status("POST", "/mcp", PING, Mcp_Session_Id=session) for session in opened[-2:]
        ]
        gone = [
            server.status("POST", "/mcp", PING, Mcp_Session_Id=session) for session in opened[:3]
        ]

    assert (alive, gone) == ([200, 200], [404, 404, 404])


def test_a_token_helps_neither_a_foreign_host_nor_a_foreign_page(closed_server: Running) -> None:
    ana, bob = closed_server.bearer("ana"), closed_server.bearer("bob")

    assert closed_server.status("GET", "/health", Authorization=ana) == 200
    assert closed_server.status("GET", "/health", Authorization=[ana, bob]) == 401
    assert closed_server.status("GET", "/health", Authorization=ana, Host="evil.example") == 421
    assert closed_server.status("GET", "/health", Authorization=ana, Origin="https://a.b") == 403


def test_a_revoked_token_stops_working_at_once(closed_server: Running) -> None:
    tokens = Tokens(closed_server.home)
    text = tokens.add("ana", days=1)
    assert closed_server.status("GET", "/health", Authorization=f"Bearer {text}") == 200

    tokens.revoke(text.split("_")[1])
    assert closed_server.status("GET", "/health", Authorization=f"Bearer {text}") == 401


def test_a_session_belongs_to_the_kin_that_opened_it(closed_server: Running) -> None:
    ana, bob = closed_server.bearer("ana"), closed_server.bearer("bob")
    session = closed_server.ask("POST", "/mcp", HELLO, Authorization=ana)[1]["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    for kin, status in ((bob, 404), (ana, 200)):
        given = {"Authorization": kin, "Mcp_Session_Id": session}
        assert closed_server.status("POST", "/mcp", listing, **given) == status


def test_an_sse_stream_takes_messages_only_from_the_kin_that_opened_it(
    closed_server: Running,
) -> None:
    ana, bob = closed_server.bearer("ana"), closed_server.bearer("bob")
    with closed_server.opened("GET", "/sse", Authorization=ana) as stream:
        path = endpoint(stream)
        for kin, status in ((bob, 404), (ana, 202)):
            assert closed_server.status("POST", path, HELLO, Authorization=kin) == status


def endpoint(stream: http.client.HTTPResponse) -> str:
    """Where an SSE stream wants its messages."""
    assert stream.readline() == b"event: endpoint\r\n"
    return stream.readline().decode().removeprefix("data: ").strip()


def test_the_first_start_makes_a_token_and_shows_it_once(tmp_path: Path) -> None:
    with running(tmp_path, KINMEM_KIN="ana") as server:
        assert server.process.stderr
        told = [server.process.stderr.readline().decode() for _ in range(3)]
        token = told[1].strip()
        assert "ana" in told[0] and token.startswith("kmk_")
        assert server.status("GET", "/nothing") == 401
        assert server.status("GET", "/nothing", Authorization=f"Bearer {token}") == 404
        (tmp_path / "tokens.json").write_text("{")
        assert server.status("GET", "/nothing", Authorization=f"Bearer {token}") == 503
        (tmp_path / "tokens.json").unlink()
        assert server.status("GET", "/nothing") == 401
    assert (tmp_path / "tokens.json").exists() is False


def test_a_later_start_shows_no_token(tmp_path: Path) -> None:
    token = Tokens(tmp_path).add("ana")
    with running(tmp_path) as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.stderr
        assert b"kmk_" not in server.process.stderr.read()

    assert Tokens(tmp_path).verify(token) is not None
    assert len(Tokens(tmp_path).tokens()) == 1


@pytest.mark.parametrize(
    ("host", "told"),
    [("0.0.0.0", b"KINMEM_INSECURE_LOCAL"), ("::", b"KINMEM_INSECURE_LOCAL")],
)
def test_an_address_that_others_reach_is_never_open(tmp_path: Path, host: str, told: bytes) -> None:
    process = start(tmp_path, KINMEM_HOST=host, **OPEN)
    _, said = process.communicate(timeout=30)

    assert process.returncode == 1
    assert said.startswith(b"config: ") and told in said


def test_a_server_that_nobody_could_use_does_not_start(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    tokens.revoke(tokens.add("ana").split("_")[1])
    process = start(tmp_path)
    _, said = process.communicate(timeout=30)

    assert process.returncode == 1
    assert said.startswith(b"config: ") and b"kinmem token add" in said


def test_another_account_of_this_machine_gets_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert server.status("POST", "/mcp", HELLO) == 401


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start(tmp_path, KINMEM_PORT=str(taken.getsockname()[1]))
        _, told = process.communicate(timeout=30)

    assert process.returncode == 1
    assert told.startswith(b"config: cannot listen on") and told.count(b"\n") == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"\xff", 400), (b"[]", 400), (b"x" * 9_000_000, 413)],
    ids=["broken", "bytes", "batch", "too long"],
)
def test_a_body_that_is_no_message_is_refused(
    open_server: Running, body: bytes, status: int
) -> None:
    assert open_server.status("POST", "/mcp", body) == status


def test_a_header_that_is_too_large_is_refused(open_server: Running) -> None:
    assert open_server.status("GET", "/health", X_Padding="x" * 33_000) == 431
    assert open_server.status("GET", "/health", X_Padding="x" * 30_000) == 200


@pytest.mark.parametrize(
    ("is_whole", "status"), [(True, 200), (False, 408)], ids=["whole", "never ends"]
)
@pytest.mark.anyio
async def test_a_body_that_trickles_is_ended(is_whole: bool, status: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = await Request(scope, receive).body()
        await PlainTextResponse(body)(scope, receive, send)

    sent: list[Any] = []
    blocks = [b"a", b"b"]

    async def receive() -> dict[str, Any]:
        if not blocks:
            await anyio.sleep_forever()
        block = blocks.pop(0)
        return {"type": "http.request", "body": block, "more_body": bool(blocks) or not is_whole}

    async def send(message: Any) -> None:
        sent.append(message)

    request = {"type": "http", "method": "POST", "headers": []}
    await Steady(app, 5.0 if is_whole else 0.05)(request, receive, send)

    assert sent[0]["status"] == status


def test_a_form_from_a_page_is_no_message(open_server: Running) -> None:
    assert open_server.status("POST", "/mcp", HELLO, Content_Type="text/plain") in (400, 415)


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_no_log_holds_contents_tokens_or_session_ids(tmp_path: Path, level: str) -> None:
    secret = "the chest opens with 4711"
    call = {"name": "memorize", "arguments": {"contnt": secret}}
    right = {"name": "memorize", "arguments": {"content": secret}}
    with running(tmp_path, "ana", "bob", KINMEM_LOG_LEVEL=level) as server:
        ana = {"Authorization": server.bearer("ana")}
        session = server.ask("POST", "/mcp", HELLO, **ana)[1]["mcp-session-id"]
        told = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": right}
        assert server.status("POST", "/mcp", told, Mcp_Session_Id=session, **ana) == 200
        foreign = {"Authorization": server.bearer("bob"), "Mcp_Session_Id": session}
        assert server.status("POST", "/mcp", told, **foreign) == 404
        with server.opened("GET", "/sse", **ana) as stream:
            path = endpoint(stream)
            server.ask("POST", path, {"jsonrpc": "2.0", "id": 1, "metod": secret}, **ana)
            server.ask("POST", path, HELLO, **ana)
            server.ask(
                "POST", path, {**HELLO, "id": 2, "method": "tools/call", "params": call}, **ana
            )
            server.ask("POST", path, HELLO, Authorization=server.bearer("bob"))
            time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.stderr
        logged = server.process.stderr.read().decode()

        assert server.process.wait(60) == 0
        assert "Failed to parse message" in logged
        assert "credential does not match" in logged
        stream_id = path.partition("session_id=")[2]
        hidden = ["4711", session, stream_id, str(UUID(stream_id)), *server.tokens.values()]
        assert [one for one in hidden if one in logged] == []


@pytest.mark.parametrize("name", [signal.SIGTERM, *([signal.SIGINT] if WHOLE else [])])
def test_a_signal_ends_the_server_although_a_stream_is_open(
    tmp_path: Path, name: signal.Signals
) -> None:
    with running(tmp_path, **OPEN) as server, server.opened("GET", "/sse") as stream:
        endpoint(stream)
        server.process.send_signal(name)

        assert server.process.wait(60) == 0


def test_an_answer_waits_for_no_acknowledgement() -> None:
    """Header and body are two packets: without TCP_NODELAY each answer takes 40 ms more."""
    settings = load({"KINMEM_HOST": "127.0.0.1", "KINMEM_PORT": 0}).server
    with _listen(settings) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
