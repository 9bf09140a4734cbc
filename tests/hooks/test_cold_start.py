"""A session's first prompt while the server starts cold beside it, on a machine that is busy.

Short here. `python -m tests.hooks.test_cold_start 20` is what the numbers of docs/benchmarks.md
were measured with.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kinmem.cli.install import plan
from kinmem.service import Service
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service
from tests.sweeps import rounds

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "kinmem"]
FACT = "The staging database of the shop is called {name}-staging"
PROMPT = "What is the staging database of the shop called?"
BUSY = 2 * (os.cpu_count() or 1)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "claude-code", "version": "2"},
    },
}


def test_the_first_prompt_is_kept_and_gets_its_notes(tmp_path: Path) -> None:
    count = rounds(20, 1)
    rivals = rounds(BUSY, 1)  # the other tests keep the machine busy as well
    assert sessions(tmp_path, count, rivals) == (count, count)


def sessions(folder: Path, count: int, rivals: int = BUSY) -> tuple[int, int]:
    """Of so many first prompts, each in a new home: how many were stored, and got their note."""
    stored = noted = 0
    with busy(rivals):
        for number in range(count):
            home = folder / f"home{number}"
            name = f"heron{number}"
            with memory_in(home) as memory:
                memory.memorize(FACT.format(name=name))
            answer = first_prompt(folder / f"user{number}", home)
            noted += f"{name}-staging" in answer
            with memory_in(home) as memory:
                stored += [turn.text for turn in memory.turns("first")] == [PROMPT]
    return stored, noted


def first_prompt(user: Path, home: Path) -> str:
    """What Claude Code is answered: it starts the server and calls its hooks at the same time."""
    changes = {
        one.path.name: one.after
        for one in plan("claude-code", user, None, COMMAND, "default", home)
    }
    servers, settings = (
        json.loads(str(changes[name])) for name in (".claude.json", "settings.json")
    )
    server = servers["mcpServers"]["kinmem"]
    with subprocess.Popen(
        [server["command"], *server["args"]],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        told = ""
        for event in ("SessionStart", "UserPromptSubmit"):
            (group,) = settings["hooks"][event]
            (hook,) = group["hooks"]
            told += called(hook, event)
        process.stdin.close()
    return told


def called(hook: dict[str, Any], event: str) -> str:
    """What a hook says, as Claude Code takes it: nothing, when it is late."""
    given = {"session_id": "first", "hook_event_name": event, "cwd": str(ROOT)}
    if event == "UserPromptSubmit":
        given |= {"prompt": PROMPT, "prompt_id": "p1"}
    words = [hook["command"], *hook["args"]]
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            input=json.dumps(given).encode(),
            capture_output=True,
            timeout=hook["timeout"],
        )
    except subprocess.TimeoutExpired:
        return ""
    return str(json.loads(done.stdout).get("hookSpecificOutput", {}).get("additionalContext", ""))


def memory_in(home: Path) -> Service:
    settings = load({"KINMEM_HOME": home, "KINMEM_LINGER_MINUTES": 0})
    return open_service(settings, resident=False)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """That many processes that do nothing but compute."""
    work = [sys.executable, "-c", "while True: pass"]
    idlers = [subprocess.Popen(work) for _ in range(processes)]
    try:
        yield
    finally:
        for one in idlers:
            one.kill()
            one.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:  # servers linger
        count = int(sys.argv[1])
        print(*sessions(Path(place), count), "of", count)  # noqa: T201
