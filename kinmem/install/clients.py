"""What each client's configuration gets: its hooks, the server for its tools, and their command.

The command is how this very kinmem is started, as a client can do it from anywhere and at any time.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kinmem.errors import ConfigError, InvalidInput

SECONDS = 30
"""A hook answers in a tenth of a second. It ends after two, on a busy machine after 20."""


@dataclass(frozen=True)
class Entry:
    """One thing in one file."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    listed: bool = False
    """Whether it is an item of the list at `keys`, else it is what stands there."""
    unset: Mapping[str, Any] = field(default_factory=dict)
    """What stands there besides, where nobody has set it."""
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
    memory: Path | None = None
    """Where the memories are; None: where they usually are."""

    def hook(self, client: str) -> list[str]:
        """The command of a hook."""
        return [*self.command, "hook", client, *self._whose]

    def server(self) -> dict[str, Any]:
        """The command that serves, as most clients write it."""
        return {"command": self.command[0], "args": [*self.command[1:], "serve", *self._whose]}

    def folder(self, name: str) -> Path:
        """A client's own folder, in the project or the user's home."""
        return (self.project or self.home) / name

    @property
    def _whose(self) -> list[str]:
        """Clients do not pass on this shell's environment; some do to hooks, but not to servers."""
        kin = [] if self.kin == "default" else ["--kin", self.kin]
        return [*kin, *(["--home", str(self.memory)] if self.memory else [])]


def claude_code(wish: Wish) -> list[Entry]:
    """Commands throughout. A hook that calls the server's own tool waits for a server that starts
    cold with the session, and the first prompt would be lost to its time-out."""
    settings = wish.folder(".claude") / "settings.json"
    first, *rest = wish.hook("claude")
    command = {"type": "command", "command": first, "args": rest, "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact PostCompact SessionEnd".split()
    servers = wish.project / ".mcp.json" if wish.project else wish.home / ".claude.json"
    return [
        *_groups(settings, dict.fromkeys(events, command)),
        Entry(servers, ("mcpServers", "kinmem"), {"type": "stdio", **wish.server()}),
    ]


def codex(wish: Wish) -> list[Entry]:
    """Its server stands in config.toml; its first turn waits for a server that is required."""
    folder = wish.folder(".codex")
    command = {"type": "command", "command": _line(wish.hook("codex")), "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact PostCompact".split()
    ends = {**command, "timeout": 3}  # Codex waits no longer there
    return [
        *_groups(folder / "hooks.json", {**dict.fromkeys(events, command), "SessionEnd": ends}),
        Entry(
            folder / "config.toml",
            ("mcp_servers", "kinmem"),
            wish.server(),
            unset={"required": True, "startup_timeout_sec": 30},
        ),
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
        hooks, servers = wish.home / ".copilot", _applications_folder(wish.home) / "Code" / "User"
    path = hooks / "hooks" / "kinmem.json"
    command = {"type": "command", "command": _line(wish.hook("vscode")), "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact".split()
    return [
        *(Entry(path, ("hooks", event), command, listed=True) for event in events),
        Entry(servers / "mcp.json", ("servers", "kinmem"), {"type": "stdio", **wish.server()}),
    ]


def claude_desktop(wish: Wish) -> list[Entry]:
    """It has no hooks, and no settings of a project."""
    if wish.project:
        raise InvalidInput("claude-desktop has no settings of a project; leave out --project")
    path = _applications_folder(wish.home) / "Claude" / "claude_desktop_config.json"
    return [Entry(path, ("mcpServers", "kinmem"), wish.server())]


CLIENTS: Mapping[str, Callable[[Wish], list[Entry]]] = {
    "claude-code": claude_code,
    "claude-desktop": claude_desktop,
    "codex": codex,
    "gemini": gemini,
    "cursor": cursor,
    "vscode": vscode,
}
ADVICE: Mapping[str, str] = {
    "claude-code": "Start a new session; /hooks and /mcp show what was added.",
    "claude-desktop": "Quit Claude Desktop and start it again. Without hooks its agent must ask.",
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
    if value.get("type") == "mcp_tool":  # of earlier releases
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


def _line(words: Sequence[str]) -> str:
    """The command as a shell reads it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _applications_folder(home: Path) -> Path:
    """Where programs with windows keep their settings."""
    if os.name == "nt":
        return home / "AppData" / "Roaming"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return home / ".config"


CACHE_TAG = "CACHEDIR.TAG"
"""The file by which a folder says that it may be emptied; uv's cache has it, wherever it is."""
PIPX_RUN = (".cache", "pipx")
"""Folders in which pipx keeps what it runs in passing; what it installs is in `venvs`."""


def started_by() -> list[str]:
    """The command without arguments. What uvx or pipx runs in passing is started by them again,
    from where they took it.

    Raises ConfigError if kinmem lies in a cache and nobody knows how it came there.
    """
    folder = Path(sys.prefix)
    if not is_in_passing(folder):
        script = Path(sys.executable).parent / "kinmem"
        return [str(script)] if script.exists() else [sys.executable, "-m", "kinmem"]
    runner, option = ("pipx", "--spec") if _is_of_pipx(folder) else ("uvx", "--from")
    program, source = shutil.which(runner), _source()
    if program is None:
        raise ConfigError(
            f"kinmem runs from a cache, {folder}, which may be emptied; install it to stay, with"
            " `uv tool install` or `pipx install`, and run its `kinmem install`"
        )
    words = [program, "run"] if runner == "pipx" else [program]
    return [*words, *([option, source] if source else []), "kinmem"]


def is_in_passing(folder: Path) -> bool:
    """Whether an environment lies in a cache, as those of uvx and `pipx run` do."""
    return _is_of_pipx(folder) or any((one / CACHE_TAG).exists() for one in folder.parents)


def _is_of_pipx(folder: Path) -> bool:
    return folder.parent.name in PIPX_RUN


def _source() -> str | None:
    """What it was installed from, as --from takes it; None for a package index."""
    try:
        told = distribution("kinmem").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(told)) if told else None


def source_of(direct: dict[str, Any]) -> str:
    """The source that a direct_url.json names: https://packaging.python.org/specifications/direct-url"""
    url = str(direct["url"])
    if version_control := direct.get("vcs_info"):
        revision = version_control.get("requested_revision")
        return f"{version_control['vcs']}+{url}{f'@{revision}' if revision else ''}"
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url
    path = unquote(parts.path)
    return path.lstrip("/") if os.name == "nt" else path
