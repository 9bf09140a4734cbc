"""The server as clients start it: a process that speaks over its standard input and output."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.types import JSONRPCRequest

from kinmem.mcp.stdio import LINE_BYTES, Refused, message
from kinmem.service import Service
from tests.forked import IS_POSSIBLE, Forked
from tests.sweeps import WHOLE, rounds

pytestmark = pytest.mark.usefixtures("judge_off")

ROOT = Path(__file__).parent.parent
SERVER = [sys.executable, str(ROOT / "server.py")]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

PATIENT = """
from kinmem.mcp import stdio
stdio.FINISH_SECONDS = 100.0  # what a first call takes is the machine's affair
import server
server.main()
"""


class Process:
    """The server, its lines as they come, and a client that writes what it likes."""

    def __init__(self, home: Path, *command: str, **environment: str) -> None:
        given = {**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana", **environment}
        self.process: subprocess.Popen[bytes] | Forked
        if command or not IS_POSSIBLE:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                command or SERVER, cwd=ROOT, env=given, stdin=pipe, stdout=pipe, stderr=pipe
            )
        else:
            self.process = Forked(given)
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def send(self, message: Any) -> None:
        """An object as JSON, bytes as they are."""
        assert self.process.stdin
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def next(self, timeout: float = 120) -> dict[str, Any]:
        """The next line that the server writes."""
        line = self._lines.get(timeout=timeout)
        assert line is not None, "the server has ended"
        return line

    def silent(self, seconds: float = 0.3) -> bool:
        """Whether nothing comes for a while."""
        try:
            self._lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def ask(self, id: int | str, method: str, **params: Any) -> dict[str, Any]:
        """A request and its answer; nothing else may come in between."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        answer = self.next()
        assert answer["id"] == id
        return answer

    def shake_hands(self, version: str = "2025-11-25") -> dict[str, Any]:
        """The handshake of the older protocol; what the server says of itself."""
        client = {"name": "raw", "version": "1"}
        answer = self.ask(
            "hello", "initialize", protocolVersion=version, capabilities={}, clientInfo=client
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return dict(answer["result"])

    def call(self, id: int | str, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool gives."""
        return dict(self.ask(id, "tools/call", name=tool, arguments=arguments)["result"])

    def end(self, timeout: float = 60) -> tuple[int, str]:
        """The exit code, and what was logged, once the process has ended."""
        assert self.process.stderr
        code = self.process.wait(timeout)
        return code, self.process.stderr.read().decode()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def run(*command: str, **environment: str) -> Process:
        started.append(Process(home, *command, **environment))
        return started[-1]

    yield run
    for process in started:
        process.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server for all tests that only write odd lines; it must survive every one of them."""
    process = Process(tmp_path_factory.mktemp("running"), KINMEM_JUDGE="off")
    process.shake_hands()
    yield process
    process.close()


# The protocol of 2026-07-28, which a client tries first, and that of 2025-11-25.
ERAS = ["auto", "legacy"]


@pytest.mark.anyio
@pytest.mark.parametrize("eras", [ERAS, *([ERAS[::-1]] if WHOLE else [])], ids=" then ".join)
async def test_a_client_stores_in_one_process_and_finds_it_in_the_next(
    home: Path, eras: list[str]
) -> None:
    env = {"KINMEM_HOME": str(home), "KINMEM_JUDGE": "off"}
    server = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=env, cwd=str(ROOT))
    told = ["Bob plays chess"]
    for era in eras:
        async with Client(server, mode=era) as client:
            stored = await client.call_tool("memorize", {"content": told[-1]})
            found = await client.call_tool("recall", {"query": "Bob"})

        assert not stored.is_error
        assert found.structured_content is not None
        assert {one["content"] for one in found.structured_content["memories"]} == set(told)
        told.append("Bob has a sister")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_handshake_version_is_served(start: Callable[..., Process], version: str) -> None:
    server = start()

    assert server.shake_hands(version)["protocolVersion"] == version
    names = [tool["name"] for tool in server.ask(1, "tools/list")["result"]["tools"]]
    assert names == [
        "recall",
        "memorize",
        "update_memory",
        "forget",
        "list_memories",
        "review_memories",
    ]
    assert server.call(2, "memorize", content="Bob plays chess")["isError"] is False


def test_the_version_without_handshake_is_served(start: Callable[..., Process]) -> None:
    server = start()

    assert (
        "2026-07-28"
        in server.ask(1, "server/discover", _meta=MODERN)["result"]["supportedVersions"]
    )
    listed = server.ask(2, "tools/list", _meta=MODERN)["result"]
    assert (len(listed["tools"]), listed["cacheScope"]) == (6, "public")
    called = server.ask(
        3, "tools/call", name="memorize", arguments={"content": "Bob"}, _meta=MODERN
    )
    assert called["result"]["structuredContent"]["status"] == "created"


@pytest.mark.parametrize(
    ("line", "code", "ids"),
    [
        pytest.param(b'{"jsonrpc": "2.0", "id": 5, "method"', -32700, [None], id="broken JSON"),
        pytest.param(b"hello", -32700, [None], id="no JSON"),
        pytest.param(b"[" * 100_000, -32700, [None], id="deep"),
        pytest.param(
            b'["\\ud83d",' + b"[" * 900 + b"]" * 901, -32700, [None], id="deep, with an escape"
        ),
        pytest.param(b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, [None], id="NaN"),
        pytest.param(b"\xff\xfe{}", -32700, [None], id="not UTF-8"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\xff"}}',
            -32700,
            [7],
            id="not UTF-8 with an id",
        ),
        pytest.param(
            b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]',
            -32600,
            [1, "b"],
            id="batch",
        ),
        pytest.param(b"[]", -32600, [None], id="empty batch"),
        pytest.param(b'"text"', -32600, [None], id="text"),
        pytest.param(b'{"jsonrpc":"2.0","id":8}', -32600, [8], id="no method"),
        pytest.param(b'{"id":9,"method":"ping"}', -32600, [9], id="no jsonrpc"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":10,"method":"ping","params":[1]}', -32600, [10], id="params"
        ),
        pytest.param(b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, [None], id="id true"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, [None], id="id null"),
        pytest.param(b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, [None], id="id 1.5"),
        pytest.param(b'{"jsonrpc":"2.0","id":11,"method":"sing"}', -32601, [11], id="method"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{}}',
            -32602,
            [12],
            id="no name",
        ),
    ],
)
def test_a_line_that_cannot_be_served_is_answered_once_and_the_server_goes_on(
    running: Process, line: bytes, code: int, ids: list[Any]
) -> None:
    running.send(line)
    answers = [running.next() for _ in ids]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [
        (id, code) for id in ids
    ]
    assert running.ask("after", "ping")["result"] == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3)
    ),
    max_leaves=8,
)
ODD = st.one_of(
    st.binary().map(lambda data: data.replace(b"\n", b"")),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {"id": JSON, "method": st.text() | JSON},
        optional={"jsonrpc": st.just("2.0") | JSON, "params": JSON, "result": JSON},
    ).map(lambda value: json.dumps(value).encode()),
)


@given(ODD)
def test_any_line_is_a_message_or_refused_with_the_ids_that_can_be_read(line: bytes) -> None:
    try:
        read = message(line)
    except Refused as refused:
        assert refused.answers
        assert all(answer.error.code in (-32600, -32700) for answer in refused.answers)
    else:
        given = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        assert isinstance(read, JSONRPCRequest) == ("id" in given and "method" in given)


def test_half_an_emoji_does_not_cost_the_memory(running: Process) -> None:
    running.send(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memorize",'
        b'"arguments":{"content":"a \\ud83d smile","subject":"\\udc00"}}}'
    )
    assert running.next()["result"]["structuredContent"]["status"] == "created"
    found = running.call(2, "recall", query="\ufffd smile")
    assert found["structuredContent"]["memories"][0]["content"] == "a \ufffd smile"


def test_a_line_far_too_long_is_refused_and_a_long_one_is_read(running: Process) -> None:
    running.send(b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"x" * LINE_BYTES + b'"}')
    assert running.next()["error"]["code"] == -32600
    nine_million = "x" * 9_000_000
    assert "too_large" in running.call(2, "memorize", content=nine_million)["content"][0]["text"]


def test_blank_lines_and_a_byte_order_mark_are_passed_over(running: Process) -> None:
    running.send(b"\r\n \n")
    running.send(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":3,"method":"ping"}\r')
    assert running.next() == {"jsonrpc": "2.0", "id": 3, "result": {}}
    assert running.silent()


def test_five_hundred_calls_at_once_are_all_answered(running: Process) -> None:
    call = {"name": "list_memories", "arguments": {"limit": 1}}
    for id in range(500):
        running.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})
    answered = [running.next()["id"] for _ in range(500)]
    assert sorted(answered) == list(range(500))


def test_calls_in_hand_are_answered_when_the_input_ends(start: Callable[..., Process]) -> None:
    server = start(sys.executable, "-c", PATIENT)
    server.shake_hands()
    call = {"name": "memorize", "arguments": {"content": "the last word"}}
    server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert server.process.stdin
    server.process.stdin.close()

    assert server.next(60)["result"]["structuredContent"]["status"] == "created"
    assert server.end(40) == (0, "")  # no longer than the call takes


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_in_good_order(
    start: Callable[..., Process], service_of: Callable[..., Service], name: signal.Signals
) -> None:
    server = start()
    server.shake_hands()
    server.call(1, "memorize", content="Bob plays chess")
    server.process.send_signal(name)

    assert server.end() == (0, "")
    found = service_of("ana", resident=False).recall("Bob").hits
    assert [hit.memory.content for hit in found] == ["Bob plays chess"]


@pytest.mark.parametrize("delay", [0.0, 0.15, 0.4])
def test_a_signal_during_the_start_ends_it_without_a_word(
    start: Callable[..., Process], delay: float
) -> None:
    server = start()
    time.sleep(delay)
    server.process.send_signal(signal.SIGTERM)
    code, logged = server.end()

    assert (code, logged) in ((0, ""), (-signal.SIGTERM, ""))  # before Python runs our first line


def test_a_client_that_stops_reading_cannot_keep_the_server_alive(home: Path) -> None:
    process = subprocess.Popen(
        SERVER,
        cwd=ROOT,
        env={**os.environ, "KINMEM_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin and process.stdout
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    lines += [{"jsonrpc": "2.0", "id": id, "method": "tools/list"} for id in range(1, 40)]
    for line in lines:  # the answers, 13 kB each, fill the pipe that nobody reads
        process.stdin.write(json.dumps(line).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()  # it may take seconds to start, and cannot be asked to end before
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)

    assert process.wait(60) == 0  # it would wait for its client for ever
    process.stdin.close()
    process.stdout.close()


def test_what_other_code_prints_misses_the_wire(home: Path, start: Callable[..., Process]) -> None:
    noisy = (
        "import os, sys, threading;"
        "from kinmem.mcp.protocol import build; from kinmem.cli.serve import Services;"
        "from kinmem.settings import load; from kinmem.mcp.stdio import serve_stdio;"
        "services = Services(load());"
        "get = lambda kin: (print('noise'), os.system('echo more noise'), services.get(kin))[2];"
        "serve_stdio(build(get), services.close)"
    )
    server = start(sys.executable, "-c", noisy)
    server.shake_hands()
    server.call(1, "memorize", content="Bob plays chess")
    assert server.process.stdin
    server.process.stdin.close()

    code, logged = server.end()
    assert code == 0 and "noise" in logged


def test_nothing_heavy_is_loaded_before_the_tools_are_listed(start: Callable[..., Process]) -> None:
    watched = (
        "import sys;"
        "from kinmem.cli.serve import Services; from kinmem.settings import load;"
        "from kinmem.mcp.protocol import build; import kinmem.mcp.stdio;"
        "build(Services(load()).get);"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'litellm', 'apsw', 'sqlite_vec', 'typer'};"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", watched], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_a_setting_that_cannot_be_meant_is_told_in_one_line(start: Callable[..., Process]) -> None:
    server = start(KINMEM_TRANSPRT="stdio")
    code, told = server.end()

    assert code == 1
    assert told.startswith("config: ") and "KINMEM_TRANSPORT" in told and told.count("\n") == 1


@pytest.mark.slow
def test_nothing_answered_is_lost_when_the_server_is_killed(start: Callable[..., Process]) -> None:
    answered: set[str] = set()
    for round in range(0, 10, rounds(1, 5)):
        server = start()
        server.shake_hands()
        kept = server.call("list", "list_memories", limit=200)["structuredContent"]["memories"]
        assert answered <= {memory["id"] for memory in kept}
        for n in range(12):
            call = {"name": "memorize", "arguments": {"content": f"{round}th round, {n}th note"}}
            server.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call})
        for _ in range(round):  # the others are cut off somewhere on their way
            answered.add(server.next()["result"]["structuredContent"]["id"])
        server.process.kill()
        server.process.wait()
