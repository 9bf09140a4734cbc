"""The real Claude Code against a double of its model: what one session says, the next one is told.

    python -m tests.clients.claude_code        (make claude-code; needs npm)

The client is installed into the cache folder, and works in a home of its own that is deleted
afterwards; kinmem gets there by `kinmem install`. Besides, every hook's input is recorded: its
fields must be those of tests/hooks/recordings/claude.jsonl, which the tests take for the real ones.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.clients.messages_api import Block, Request, call, messages_api, text
from tests.hooks.conftest import recorded

PACKAGE = "@anthropic-ai/claude-code@2.1.329"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kinmem-claude-code"
NOT_INHERITED = ("ANTHROPIC_", "CLAUDE", "KINMEM_", "MEMORY_")
EVENTS = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SubagentStop PreCompact PostCompact"
    " SessionEnd"
).split()
TOOLS = "recall memorize update_memory forget list_memories review_memories".split()
RECALL = "mcp__kinmem__recall"
LEARNING_SECONDS = 60

TOLD = "I moved to Lisbon with my sister Clara. I take my coffee with oat milk, without sugar."
ASKED = "How do I take my coffee? Look it up."
SUMMARY = "The user has moved to Lisbon."
"""What the double says of a conversation that is compacted."""

Check = tuple[str, bool]


def main() -> int:
    """0 if everything is as it should be; each check is one line."""
    claude = installed()
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for what, holds in checks(claude, Path(folder)):
            sys.stdout.write(f"{'✓' if holds else '✗'} {what}\n")
            sys.stdout.flush()
            failed += not holds
    return 1 if failed else 0


def checks(claude: Path, home: Path) -> Iterator[Check]:
    """A session that tells something, one that asks for it, and the second one's compaction."""
    with messages_api(model) as api:
        client = Client(claude, home, api.url)
        client.kinmem("install", "claude-code", "--write")

        client.says(TOLD)
        yield "Claude answers", bool(api.requests)
        yield "all six tools are known to it, no others", tools_in(api.requests[0]) == set(TOOLS)
        yield "recall and memorize are loaded", {"recall", "memorize"} <= loaded_in(api.requests[0])
        yield "the hooks keep the turn", client.kept() == [TOLD, "All right."]
        yield "it is learned", client.learned("Lisbon") and client.learned("oat milk")

        told = len(api.requests)
        session = client.says(ASKED)
        first, *later = api.requests[told:]
        yield "the next session begins with notes", "Lisbon" in notes_in(first, "SessionStart")
        yield "a prompt gets the notes that fit", "oat milk" in notes_in(first, "UserPromptSubmit")
        yield "recall answers when Claude calls it", any(map(found_in, later))

        client.says("/compact", "--resume", session)
        yield "the summary of a compaction is kept", SUMMARY in client.kept()
        yield from fields_checked(client.heard())


def model(request: Request) -> Block:
    """What the double says: a summary if one is asked for, a call of recall, else a word."""
    asked = json.dumps(request["messages"])
    if "<summary>" in asked:
        return text(f"<analysis>One move.</analysis>\n\n<summary>\n{SUMMARY}\n</summary>")
    if ASKED in asked and "tool_result" not in asked:
        return call(RECALL, query="How does the user take their coffee?")
    return text("All right.")


class Client:
    """Claude Code in print mode, and kinmem, in one home."""

    def __init__(self, claude: Path, home: Path, url: str) -> None:
        self._claude = claude
        self._place = home / "work"
        self._place.mkdir()
        self._heard = home / "heard.jsonl"
        self._recording = home / "recording.json"
        self._recording.write_text(json.dumps({"hooks": recording_hooks(self._heard)}))
        self._environment = environment(home, url)

    def says(self, prompt: str, *options: str) -> str:
        """One prompt from beginning to end; the session's id."""
        words = [self._claude, "-p", prompt, *options, "--output-format", "json"]
        words += ["--settings", self._recording, "--allowedTools", RECALL]
        return str(json.loads(self._run(words))["session_id"])

    def kinmem(self, *words: str) -> str:
        return self._run([sys.executable, "-m", "kinmem", *words])

    def kept(self) -> list[str]:
        """The texts of the latest session."""
        return [str(one["text"]) for one in json.loads(self.kinmem("turns", "--json"))]

    def learned(self, what: str) -> bool:
        """Whether a memory says so, once the worker is done that the end of a session starts."""
        latest = time.monotonic() + LEARNING_SECONDS
        while time.monotonic() < latest:
            if what in self.kinmem("list", "--json"):
                return True
        return False

    def heard(self) -> list[dict[str, Any]]:
        """The inputs of all hooks so far."""
        return [json.loads(line) for line in self._heard.read_text().splitlines() if line]

    def _run(self, words: list[Any]) -> str:
        done = subprocess.run(
            words,
            env=self._environment,
            cwd=self._place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
        if done.returncode:
            raise SystemExit(f"{words[:3]} failed: {done.stderr or done.stdout}")
        return done.stdout


def installed() -> Path:
    """The client's command, fetched once."""
    quiet = ["--silent", "--no-audit", "--no-fund"]
    subprocess.run(["npm", "install", *quiet, "--prefix", CACHE, PACKAGE], check=True)
    return CACHE / "node_modules" / ".bin" / "claude"


def environment(home: Path, url: str) -> dict[str, str]:
    """Nothing of the user's own client or memory, no other network, and no worker that stays."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(NOT_INHERITED)
    }
    return {
        **inherited,
        "HOME": str(home),
        "NO_PROXY": "127.0.0.1",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "KINMEM_LINGER_MINUTES": "0",
    }


def recording_hooks(file: Path) -> dict[str, Any]:
    """Beside kinmem's: each input becomes a line of the file."""
    hook = {"type": "command", "command": f"{{ cat; echo; }} >>'{file}'"}
    return {event: [{"hooks": [hook]}] for event in EVENTS}


def loaded_in(request: Request) -> set[str]:
    """kinmem's tools that the model may call at once."""
    names = (tool["name"] for tool in request["tools"])
    return {name.removeprefix("mcp__kinmem__") for name in names if "kinmem" in name}


def tools_in(request: Request) -> set[str]:
    """Those, and the ones that Claude Code only names until the model wants them."""
    words = "\n".join(said_in(request)).split()
    named = {word for word in words if word.startswith("mcp__kinmem__")}
    return loaded_in(request) | {name.removeprefix("mcp__kinmem__") for name in named}


def notes_in(request: Request, event: str) -> str:
    """kinmem's block as that hook has put it in."""
    _, _, rest = "\n".join(said_in(request)).partition(f"{event} hook additional context: ")
    block, end, _ = rest.partition("</kinmem-notes>")
    return block if end and block.startswith("<kinmem-notes>") else ""


def said_in(request: Request) -> Iterator[str]:
    for message in request["messages"]:
        content = message["content"]
        blocks = [text(content)] if isinstance(content, str) else content
        yield from (block["text"] for block in blocks if block["type"] == "text")


def found_in(request: Request) -> bool:
    """Whether it brings what recall has found."""
    results = [
        block
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    return any("oat milk" in json.dumps(result) for result in results)


def fields_checked(heard: list[dict[str, Any]]) -> Iterator[Check]:
    """Each input has every field that all recordings of its kind have, and none that none has."""
    known: dict[str, list[set[str]]] = {}
    for given in recorded("claude"):
        known.setdefault(kind(given), []).append(set(given))
    for name in sorted({kind(given) for given in heard}):
        always = set.intersection(*known.get(name, [set()]))
        ever = set.union(*known.get(name, [set()]))
        found = [set(given) for given in heard if kind(given) == name]
        missing = set.union(*(always - fields for fields in found))
        unknown = set.union(*found) - ever
        differs = f": without {sorted(missing)}, with {sorted(unknown)}" * bool(missing | unknown)
        yield f"{name} has the fields that were recorded{differs}", not differs


def kind(given: dict[str, Any]) -> str:
    event = str(given["hook_event_name"])
    return f"{event} ({given['source']})" if event == "SessionStart" else event


if __name__ == "__main__":
    sys.exit(main())
