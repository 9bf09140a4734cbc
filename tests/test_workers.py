"""Several workers on one database: any answers any request, and none takes anything with it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import psutil
import psycopg
import pytest
from mcp import Client
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kinmem.cli import main
from kinmem.cli.serve import Services
from kinmem.http.connection_limits import ANSWERS
from kinmem.http.metrics import without_contents
from kinmem.http.tokens import tokens_of
from kinmem.service import Service
from kinmem.settings import load
from tests import postgres
from tests.forked import Forked
from tests.test_http import ROOT, Running, start, streamable

pytestmark = pytest.mark.anyio


# The tests kill workers faster than they should die: the pauses would double up to half a minute.
SOON = """
from kinmem.http import workers
workers.FIRST_PAUSE = workers.LONGEST_PAUSE = 0.1
import server
server.main()
"""


def children(server: Running) -> set[int]:
    return {child.pid for child in psutil.Process(server.process.pid).children()}


@contextmanager
def working(home: Path, script: str = SOON, **environment: str) -> Iterator[Running]:
    """Two workers on the database of the tests, and a token for ana."""
    url = postgres.database_url()
    token = tokens_of(load({"KINMEM_HOME": home, "KINMEM_STORE": url})).add("ana", scope="admin")
    chosen = {"KINMEM_STORE": url, "KINMEM_WORKERS": "2", "KINMEM_KIN": "ana", **environment}
    process = start(home, script, KINMEM_JUDGE="off", **chosen)
    try:
        assert process.stderr
        told = process.stderr.readline().decode()
        found = re.search(r"http://\S+(?=/mcp)", told)
        assert found, told + process.stderr.read().decode()
        yield Running(process, found[0], home, {"ana": token})
    finally:
        for pid in [process.pid, *children_of(process)]:  # the parent would start others
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        assert process.stderr
        process.stderr.close()


def children_of(process: "subprocess.Popen[bytes] | Forked") -> list[int]:
    return (
        []
        if process.poll() is not None
        else [c.pid for c in psutil.Process(process.pid).children()]
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with working(tmp_path_factory.mktemp("workers")) as running:
        yield running
    postgres.empty()


def await_two(server: Running, gone: int) -> None:
    """Wait until another worker is there in the place of one that is gone."""
    deadline = time.monotonic() + 60
    while gone in children(server) or len(children(server)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def memorize(server: Running, content: str) -> str:
    """Memorize over a connection of its own, and again until it is acknowledged; the id."""
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "memorize",
            "arguments": {"content": content},
            "_meta": {"idempotencyKey": str(uuid4())},
        },
    }
    while True:
        try:
            status, _, text = server.ask("POST", "/mcp", call, Authorization=server.bearer("ana"))
        except (OSError, http.client.HTTPException):
            continue  # its worker was killed
        if status == 200 and not (answer := _answer(text))["result"].get("isError"):
            return str(answer["result"]["structuredContent"]["id"])
        time.sleep(0.1)


def _answer(text: str) -> Any:
    [line] = [line for line in text.splitlines() if line.startswith("data: {")]
    return json.loads(line.removeprefix("data: "))


async def test_sessions_go_on_though_every_worker_was_replaced(server: Running) -> None:
    async with (
        Client(streamable(server, "ana"), mode="auto") as modern,
        Client(streamable(server, "ana"), mode="legacy") as older,
    ):
        clients = {"modern": modern, "older": older}
        for name, client in clients.items():
            await client.call_tool("memorize", {"content": f"the {name} lamp is in the hall"})
        for worker in children(server):
            os.kill(worker, signal.SIGKILL)
            await anyio.to_thread.run_sync(await_two, server, worker)
        found = {
            name: await patiently(client, f"Where is the {name} lamp?")
            for name, client in clients.items()
        }

    assert "the modern lamp is in the hall" in found["modern"]
    assert "the older lamp is in the hall" in found["older"]


async def patiently(client: Client, question: str) -> str:
    """What is recalled. A kept connection may lead to a worker that is gone."""
    with anyio.fail_after(30):
        while True:
            try:
                return str((await client.call_tool("recall", {"query": question})).content)
            except Exception:
                await anyio.sleep(0.1)


def test_what_was_acknowledged_is_there_though_a_worker_was_killed(server: Running) -> None:
    things = [f"box {number} holds {word}" for number, word in enumerate(WORDS)]
    with ThreadPoolExecutor(8) as clients:
        storing = [clients.submit(memorize, server, thing) for thing in things]
        for _ in range(2):
            next(iter(storing)).result()
            victim = max(children(server))
            os.kill(victim, signal.SIGKILL)
            await_two(server, victim)
        ids = {one.result() for one in storing}

    assert len(ids) == len(things)
    with psycopg.connect(postgres.database_url()) as admin:
        stored = admin.execute("SELECT id FROM kinmem.memories WHERE kin_id <> 0").fetchall()
    assert ids <= {id for (id,) in stored}


WORDS = """
    apples brushes candles dishes envelopes flags gloves hooks irons jars keys lids maps nails oars
    pens quills ropes stamps tools umbrellas vases wires yarns
""".split()


def test_a_token_opens_and_closes_every_worker_within_a_second(
    server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("KINMEM_STORE", postgres.database_url())
    monkeypatch.setenv("KINMEM_HOME", str(tmp_path))  # of another machine
    assert main(["token", "add", "ben"]) == 0
    token = capsys.readouterr().out.split()[0]

    def answers(wanted: int) -> bool:
        asked = [
            server.status("GET", "/api/v1/health", Authorization=f"Bearer {token}")
            for _ in range(6)
        ]
        return set(asked) == {wanted}

    await_that(lambda: answers(200))
    assert main(["token", "revoke", token.split("_")[1]]) == 0
    await_that(lambda: answers(401))


def await_that(holds: Any) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_probes_tell_that_it_lives_and_whether_it_can_be_used(server: Running) -> None:
    assert server.ask("GET", "/healthz")[::2] == (200, '{"status":"ok"}')
    assert server.status("GET", "/readyz") == 200
    with psycopg.connect(postgres.database_url(), autocommit=True) as admin:
        admin.execute("INSERT INTO kinmem.schema_version (number) VALUES (9999)")
        try:
            status, _, text = server.ask("GET", "/readyz")
            assert (status, json.loads(text)["error"]["code"]) == (503, "storage_newer")
            assert server.status("GET", "/healthz") == 200
        finally:
            admin.execute("DELETE FROM kinmem.schema_version WHERE number = 9999")


def test_metrics_count_what_all_workers_did_and_hold_no_contents(server: Running) -> None:
    memorize(server, "the cellar sings xyzzy")
    server.status("GET", "/api/v1/memories/xyzzy-in-a-path", Authorization=server.bearer("ana"))
    server.ask("POST", "/mcp", b"{}", Authorization=server.bearer("ana"))

    status, _, text = server.ask("GET", "/metrics")

    assert status == 200
    assert 'kinmem_calls_total{outcome="ok",tool="memorize"}' in text
    assert "xyzzy" not in text
    assert "ana" not in text.replace("management", "")
    forwarded = {"X_Forwarded_For": "203.0.113.9"}
    assert server.status("GET", "/metrics", **forwarded) == 401
    assert server.status("GET", "/metrics", Authorization=server.bearer("ana"), **forwarded) == 200


def worker_of(server: Running, client: http.client.HTTPConnection) -> int | None:
    """The process at the other end of an open connection."""
    port = client.sock.getsockname()[1]
    for worker in children(server):
        with suppress(psutil.NoSuchProcess):  # one that was killed may still have been listed
            ends = [one.raddr for one in psutil.Process(worker).net_connections("tcp")]
            if port in [end.port for end in ends if end]:
                return worker
    return None


def test_a_client_that_keeps_its_connection_comes_to_a_worker_that_is_new(server: Running) -> None:
    url = urlsplit(server.url)
    client = http.client.HTTPConnection(str(url.hostname), url.port, timeout=30)
    old = children(server)
    os.kill(min(old), signal.SIGKILL)
    await_two(server, min(old))
    found, kept = set[int | None](), 0
    deadline = time.monotonic() + 60

    while not found & (children(server) - old):
        assert time.monotonic() < deadline
        client.request("GET", "/healthz")
        if not kept:
            found.add(worker_of(server, client))
        answer = client.getresponse()
        assert answer.read() == b'{"status":"ok"}'
        kept = kept + 1 if answer.getheader("Connection") != "close" else 0
        assert kept < ANSWERS[1]
        assert (client.sock is None) == (kept == 0)
    client.close()


# Nobody is patient, so that a long call is soon told to come again.
IMPATIENT = SOON.replace(
    "import server", "from kinmem.http import lanes; lanes.PATIENCE = 0.5; import server"
)
LONG = "The harbour is closed in winter, as the pilots have told everybody who asked. " * 900


def connected_to(server: Running, worker: int) -> http.client.HTTPConnection:
    """A connection that this worker has accepted."""
    url = urlsplit(server.url)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        client = http.client.HTTPConnection(str(url.hostname), url.port, timeout=30)
        with suppress(ConnectionError, http.client.HTTPException):  # of one that was killed
            client.request("GET", "/healthz")
            accepted = worker_of(server, client)
            if client.getresponse().read() and accepted == worker and client.sock is not None:
                return client
        client.close()
    raise AssertionError(f"{worker} accepts nothing")


def stored_by(server: Running, worker: int) -> dict[str, Any]:
    """What this worker answers to who stores a long text."""
    client = connected_to(server, worker)
    headers = {"Authorization": server.bearer("ana"), "Content-Type": "application/json"}
    client.request("POST", "/api/v1/memories", json.dumps({"content": LONG}), headers)
    answer: dict[str, Any] = json.loads(client.getresponse().read())
    client.close()
    return answer


def stored_in_the_end(server: Running, worker: int) -> dict[str, Any]:
    """The same, as often as its client is told to come again."""
    deadline = time.monotonic() + 60
    while (answer := stored_by(server, worker)).get("error", {}).get("code") == "deadline":
        assert time.monotonic() < deadline
    return answer


def documents() -> int:
    with psycopg.connect(postgres.database_url()) as admin:
        query = "SELECT count(*) FROM kinmem.memories WHERE content_hash IN (SELECT content_hash"
        query += " FROM kinmem.memories WHERE content LIKE 'The harbour is closed in winter%')"
        return int(admin.execute(query).fetchall()[0][0])


@pytest.mark.parametrize("is_killed", [False, True], ids=["goes on", "is killed"])
def test_what_one_worker_has_begun_another_one_answers(tmp_path: Path, is_killed: bool) -> None:
    with working(tmp_path, script=IMPATIENT) as server:
        memorize(server, "the first one opens the store")
        begun, other = children(server)
        with psycopg.connect(postgres.database_url()) as admin:
            admin.execute("LOCK TABLE kinmem.memories IN SHARE MODE")
            told = [stored_by(server, worker) for worker in (begun, other)]
            if is_killed:
                os.kill(begun, signal.SIGKILL)

        stored = stored_in_the_end(server, other)
        again = stored_in_the_end(server, other)

        assert [one["error"]["code"] for one in told] == ["deadline", "deadline"]
        assert stored["status"] == "created"
        assert (again["status"], again["id"]) == ("duplicate_of", stored["id"])
        assert documents() == 1
    postgres.empty()


def test_sse_is_refused_where_several_answer(server: Running) -> None:
    status, _, text = server.ask("GET", "/sse", Authorization=server.bearer("ana"))

    assert status == 501
    assert "/mcp" in json.loads(text)["error"]["message"]


def test_a_signal_lets_calls_be_answered_and_ends_all(tmp_path: Path) -> None:
    with working(tmp_path) as server:
        memorize(server, "the first one opens the store")
        workers = children(server)
        with (
            ThreadPoolExecutor(1) as client,
            psycopg.connect(postgres.database_url()) as admin,
        ):
            admin.execute("LOCK TABLE kinmem.memories IN SHARE MODE")
            answer = client.submit(memorize_once, server)
            await_that(lambda: is_waiting(LAST))
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)  # would end it, if nobody waited for the call
            admin.rollback()

            assert '"isError":false' in answer.result().replace(" ", "")
        assert server.process.wait(20) == 0
        assert not any(psutil.pid_exists(worker) for worker in workers)


LAST = "the last one is answered"


def memorize_once(server: Running) -> str:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "memorize", "arguments": {"content": LAST}},
    }
    status, _, text = server.ask("POST", "/mcp", call, Authorization=server.bearer("ana"))
    assert status == 200
    return text


def is_waiting(content: str) -> bool:
    """Whether a call waits for a lock that stores this, and not what works in the background."""
    with psycopg.connect(postgres.database_url()) as admin:
        found = admin.execute(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database() AND strpos(query, %s) > 0",
            (content,),
        ).fetchone()
    return found is not None


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "KINMEM_STORE"),
        ({"KINMEM_STORE": "postgresql://db/x", "KINMEM_WEB": "on"}, "KINMEM_WEB"),
    ],
    ids=["files", "page"],
)
def test_workers_that_would_not_be_sound_are_refused(
    tmp_path: Path, settings: dict[str, str], told: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kinmem", "serve", "--transport", "http", "--workers", "2"],
        env={**os.environ, "KINMEM_HOME": str(tmp_path), "KINMEM_PORT": "0", **settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert told in done.stderr


def test_traces_tell_neither_what_errors_say_nor_what_is_no_tool_of_ours() -> None:
    sent = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(without_contents(sent, ["recall"])))
    tracer = provider.get_tracer("test")
    for tool in ("recall", "xyzzy"):
        given = {"gen_ai.tool.name": tool, "mcp.method.name": "tools/call", "question": "xyzzy"}
        with (
            suppress(ValueError),
            tracer.start_as_current_span(f"tools/call {tool}", attributes=given),
        ):
            raise ValueError("no memory says xyzzy")

    told = [span.to_json() for span in sent.get_finished_spans()]
    assert [json.loads(one)["name"] for one in told] == ["tools/call recall", "tools/call"]
    assert "xyzzy" not in "".join(told)


def test_a_kin_stays_open_while_it_imports(
    service_of: Callable[..., Service], tmp_path: Path
) -> None:
    service_of("ana").memorize("The cellar is dry")
    service_of("ana").export(tmp_path / "ana.jsonl")
    services = Services(load({"KINMEM_HOME": tmp_path / "elsewhere", "KINMEM_KIN": "ana"}))
    there = services.get()
    assert there.settle(60)

    def much_later(*progress: object) -> None:
        services._used = dict.fromkeys(services._used, -1e9)
        services._close_idle()

    there.import_(tmp_path / "ana.jsonl", progress=much_later)

    assert services.get() is there
    assert there.settle(60)
    much_later()
    assert services.get() is not there
    services.close()
