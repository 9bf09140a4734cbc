"""Lets a server work for a while, and looks at what it has taken.

Run as `python -m tests.store.soak <home> <seconds> [<rounds>]`, for as long as both take; prints a
summary as JSON. Several clients' worth of calls go through one pipe; memories come and go, so that
there are never many more.
"""

import json
import random
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from tests.test_stdio import Process

MOST = 150
"""Memories at a time."""
AT_ONCE = 4
SAMPLES = 40
NAMES = "Ana Bob Carla Dora Emil Frida Gustav Hanna Ivan Jana Karl Lena Milan Nora Otto".split()
THINGS = "tea bread honey paper stamps ropes tiles candles buttons maps coins bells".split()


class Client:
    """Sends calls, a few at a time, and counts the answers."""

    def __init__(self, server: Process, seed: int) -> None:
        self._server = server
        self._chance = random.Random(seed)
        self._sent = 0
        self._tools: dict[int, str] = {}
        self._ids: list[str] = []
        self.seconds: list[float] = []
        self.errors: dict[str, int] = {}

    def round(self, at_once: int = AT_ONCE) -> None:
        """A few calls at once."""
        began = time.monotonic()
        for _ in range(at_once):
            self._send(*self._call())
        for _ in range(at_once):
            self._take(self._server.next(60))
        self.seconds.append((time.monotonic() - began) / at_once)

    def _call(self) -> tuple[str, dict[str, Any]]:
        chance = self._chance
        who, what = chance.choice(NAMES), chance.choice(THINGS)
        if len(self._ids) > MOST:
            at = chance.randrange(len(self._ids))
            return "forget", {"memory_id": self._ids.pop(at), "erase": True}
        roll = chance.random()
        if roll < 0.5:
            return "recall", {"query": f"who keeps {what} for {who}?"}
        if roll < 0.8:
            number = chance.randrange(10_000)
            return "memorize", {"content": f"{who} keeps {number} {what} in box {number * 7}"}
        if roll < 0.9 and self._ids:
            changes = {"importance": chance.randint(1, 10)}
            return "update_memory", {"memory_id": chance.choice(self._ids), **changes}
        return "list_memories", {"limit": 20}

    def _send(self, tool: str, arguments: dict[str, Any]) -> None:
        self._sent += 1
        self._tools[self._sent] = tool
        call = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self._sent, "method": "tools/call", "params": call}
        self._server.send(message)

    def _take(self, answer: dict[str, Any]) -> None:
        tool, result = self._tools.pop(answer["id"]), answer["result"]
        if result.get("isError"):
            code = str(result["content"][0]["text"]).split(":")[0]
            self.errors[code] = self.errors.get(code, 0) + 1
        elif tool == "memorize" and result["structuredContent"]["status"] == "created":
            self._ids.append(result["structuredContent"]["id"])


def taken_by(process: int) -> tuple[float, int, int]:
    """MiB in memory, open descriptors and threads of a process (Linux)."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    memory = int(status["VmRSS"].split()[0]) / 1024
    return memory, sum(1 for _ in Path(f"/proc/{process}/fd").iterdir()), int(status["Threads"])


def main(home: Path, seconds: float, rounds: int) -> None:
    server = Process(home, KINMEM_BACKUP_DAILY="off")
    server.shake_hands()
    client = Client(server, 1)
    for _ in range(10):  # models loaded, threads started, as many files open as ever
        client.round(4 * AT_ONCE)
    client.seconds.clear()
    samples = []
    ends = time.monotonic() + seconds
    next_at = time.monotonic()
    while time.monotonic() < ends or len(client.seconds) < rounds:
        client.round()
        if time.monotonic() >= next_at:
            samples.append(taken_by(server.process.pid))
            next_at += seconds / SAMPLES
    logs = max((path.stat().st_size for path in home.rglob("*-wal")), default=0)
    server.close()
    third = max(1, len(samples) // 3)
    early, late = samples[:third], samples[-third:]
    calls = client.seconds
    told = {
        "calls": len(calls) * AT_ONCE,
        "errors": client.errors,
        "memory": [round(median(one[0] for one in part), 1) for part in (early, late)],
        "descriptors": [max(one[1] for one in part) for part in (early, late)],
        "threads": [max(one[2] for one in part) for part in (early, late)],
        "log": logs,
        "milliseconds": [
            round(1000 * median(part), 1)
            for part in (calls[: len(calls) // 3], calls[-len(calls) // 3 :])
        ],
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:4] or [0]))
