"""How long a client waits for its list of tools, from starting the server on."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.report import Table, Target

ROOT = Path(__file__).parents[1]
ROUNDS = 15
SHORT_ROUNDS = 3
MOST = 1.15
MS = 1000.0
SECONDS = 60
"""After which a server that has not ended is killed."""

BARE = """
from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
def add(a: int, b: int) -> int:
    \"\"\"Add two numbers.\"\"\"
    return a + b


server.run("stdio")
"""
BARE_NAME = "bare server with one tool"
SERVERS: Mapping[str, Sequence[str]] = {
    BARE_NAME: (sys.executable, "-c", BARE),
    "python server.py": (sys.executable, "server.py"),
    "python -m kinmem serve": (sys.executable, "-m", "kinmem", "serve"),
}

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmarks", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """All servers turn about; the first round only warms the disk."""
    seconds: dict[str, list[float]] = {name: [] for name in SERVERS}
    with tempfile.TemporaryDirectory(prefix="kinmem-bench-") as home:
        environment = _environment(home)
        for _ in range(1 + (SHORT_ROUNDS if short else ROUNDS)):
            for name, command in SERVERS.items():
                seconds[name].append(_start(command, environment))
    spent = {name: (median(times[1:]), min(times[1:])) for name, times in seconds.items()}
    bare, bare_least = spent[BARE_NAME]
    rows, targets = [], []
    for name, (middle, least) in spent.items():
        rows.append((name, middle * MS, least * MS, middle / bare, least / bare_least))
        if name != BARE_NAME:
            what = f"cold start of {name} / {BARE_NAME}"
            targets.append(Target(what, middle / bare, MOST))
    columns = ("server", "median, ms", "least, ms", "ratio", "of the least")
    note = (
        "From spawning the process to the answer to tools/list over stdio;"
        f" {len(seconds[BARE_NAME]) - 1} times, turn about. The least time is the one that other"
        " programs disturbed least."
    )
    return [Table("Cold start", columns, rows, note)], targets


def _start(command: Sequence[str], environment: Mapping[str, str]) -> float:
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        _say(process, INITIALIZE)
        _answer(process, 1)
        _say(process, INITIALIZED, LIST)
        _answer(process, 2)
        waited = time.perf_counter() - started
        process.stdin.close()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
    return waited


def _say(process: "subprocess.Popen[bytes]", *messages: object) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
    process.stdin.flush()


def _answer(process: "subprocess.Popen[bytes]", id: int) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == id:
            if "result" not in message:
                raise SystemExit(f"the server refused: {message}")
            return
    raise SystemExit("the server ended before it answered")


def _environment(home: str) -> dict[str, str]:
    """None of the caller's settings; kinmem from this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KINMEM_")}
    return kept | {"KINMEM_HOME": home, "PYTHONPATH": str(ROOT)}
