"""What each client's configuration gets: its hooks, and the server for its tools."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinmem.errors import InvalidInput

SECONDS = 5
"""A hook answers in a tenth of a second, and ends itself after two."""


@dataclass(frozen=True)
class Entry:
    """One thing in one file."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    listed: bool = False
    """Whether it is an item of the list at `keys`, else it is what stands there."""
    frame: bool = False
    """Only there because the client asks for it (`version`); nobody's own."""


@dataclass(frozen=True)
class Wish:
    """Where a client is to be set up, and for whom."""

    home: Path
    project: Path | None
    """None: for all of the user's projects."""
    command: Sequence[str]
    """How kinmem is started, without its arguments."""
    kin: str

    def hook(self, client: str) -> list[str]:
        """The command of a hook."""
        return [*self.command, "hook", client, *self._kin]

    def server(self) -> dict[str, Any]:
        """The command that serves, as most clients write it."""
        return {"command": self.command[0], "args": [*self.command[1:], "serve", *self._kin]}

    def folder(self, name: str) -> Path:
        """A client's own folder, in the project or the user's home."""
        return (self.project or self.home) / name

    @property
    def _kin(self) -> list[str]:
        return [] if self.kin == "default" else ["--kin", self.kin]


def claude_code(wish: Wish) -> list[Entry]:
    """Prompts and answers go straight to the server that is running; a hook of this kind cannot be
    used at the start of a session, when it is not yet, nor should it be at the end."""
    settings = wish.folder(".claude") / "settings.json"
    first, *rest = wish.hook("claude")
    command = {"type": "command", "command": first, "args": rest, "timeout": SECONDS}
    handlers: dict[str, dict[str, Any]] = {
        "SessionStart": command,
        "UserPromptSubmit": _observe("prompt", cwd="${cwd}", source="${source}", text="${prompt}"),
        "Stop": _observe("answer", cwd="${cwd}", text="${last_assistant_message}"),
        "PreCompact": command,
        "PostCompact": command,
        "SessionEnd": command,
    }
    servers = wish.project / ".mcp.json" if wish.project else wish.home / ".claude.json"
    return [
        *_groups(settings, handlers),
        Entry(servers, ("mcpServers", "kinmem"), {"type": "stdio", **wish.server()}),
    ]


def codex(wish: Wish) -> list[Entry]:
    """Its server stands in config.toml."""
    folder = wish.folder(".codex")
    command = {"type": "command", "command": _line(wish.hook("codex")), "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact PostCompact".split()
    ends = {**command, "timeout": 3}  # Codex waits no longer there
    return [
        *_groups(folder / "hooks.json", {**dict.fromkeys(events, command), "SessionEnd": ends}),
        Entry(folder / "config.toml", ("mcp_servers", "kinmem"), wish.server()),
    ]


def gemini(wish: Wish) -> list[Entry]:
    """One file for both; times are in milliseconds."""
    settings = wish.folder(".gemini") / "settings.json"
    command = {
        "name": "kinmem",
        "type": "command",
        "command": _line(wish.hook("gemini")),
        "timeout": SECONDS * 1000,
    }
    events = "SessionStart BeforeAgent AfterAgent PreCompress SessionEnd".split()
    return [
        *_groups(settings, dict.fromkeys(events, command)),
        Entry(settings, ("mcpServers", "kinmem"), wish.server()),
    ]


def cursor(wish: Wish) -> list[Entry]:
    """Flat lists, and a version."""
    folder = wish.folder(".cursor")
    command = {"command": _line(wish.hook("cursor")), "timeout": SECONDS}
    events = "sessionStart beforeSubmitPrompt afterAgentResponse preCompact sessionEnd".split()
    return [
        Entry(folder / "hooks.json", ("version",), 1, frame=True),
        *(Entry(folder / "hooks.json", ("hooks", event), command, listed=True) for event in events),
        Entry(folder / "mcp.json", ("mcpServers", "kinmem"), wish.server()),
    ]


def vscode(wish: Wish) -> list[Entry]:
    """Hooks in a file of our own, which the agent finds by its folder."""
    if wish.project:
        hooks, servers = wish.project / ".github", wish.project / ".vscode"
    else:
        hooks, servers = wish.home / ".copilot", _vscode_user_folder(wish.home)
    path = hooks / "hooks" / "kinmem.json"
    command = {"type": "command", "command": _line(wish.hook("vscode")), "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact".split()
    return [
        *(Entry(path, ("hooks", event), command, listed=True) for event in events),
        Entry(servers / "mcp.json", ("servers", "kinmem"), {"type": "stdio", **wish.server()}),
    ]


CLIENTS: Mapping[str, Callable[[Wish], list[Entry]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "cursor": cursor,
    "vscode": vscode,
}
ADVICE: Mapping[str, str] = {
    "claude-code": "Start a new session; /hooks and /mcp show what was added.",
    "codex": "Codex skips new hooks until you trust them: type /hooks once.",
    "gemini": "Start a new session; /hooks and /mcp show what was added.",
    "cursor": "Cursor takes notes at the start of a session only; later its agent must ask.",
    "vscode": "Hooks are a preview in VS Code; it takes notes at the start of a session only.",
}
"""What the user has to know or do next."""


def entries(client: str, wish: Wish) -> list[Entry]:
    """Everything the client gets. Raises InvalidInput for a client that kinmem does not know."""
    if client not in CLIENTS:
        raise InvalidInput(f"no client is called {client!r}; there are {', '.join(CLIENTS)}")
    return CLIENTS[client](wish)


def is_ours(value: Any) -> bool:
    """Whether a hook is one that kinmem has added, for whichever Kin and from wherever."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "mcp_tool":
        return (value.get("server"), value.get("tool")) == ("kinmem", "observe")
    command, args = value.get("command"), value.get("args", [])
    if not isinstance(command, str) or not isinstance(args, list):
        return False
    words = [*command.replace('"', " ").replace("'", " ").split(), *map(str, args)]
    return any(word == "hook" and "kinmem" in " ".join(words[:n]) for n, word in enumerate(words))


def _groups(path: Path, handlers: Mapping[str, dict[str, Any]]) -> list[Entry]:
    return [
        Entry(path, ("hooks", event), {"hooks": [handler]}, listed=True)
        for event, handler in handlers.items()
    ]


def _observe(event: str, **fields: str) -> dict[str, Any]:
    """Claude Code calls the tool of a server itself, and fills in what the hook would be sent."""
    given = {"event": event, "session": "${session_id}", "prompt_id": "${prompt_id}", **fields}
    tool = {"type": "mcp_tool", "server": "kinmem", "tool": "observe", "timeout": SECONDS}
    return {**tool, "input": given}


def _line(words: Sequence[str]) -> str:
    """The command as a shell reads it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _vscode_user_folder(home: Path) -> Path:
    if os.name == "nt":
        return home / "AppData" / "Roaming" / "Code" / "User"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    return home / ".config" / "Code" / "User"
