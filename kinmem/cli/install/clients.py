"""What each client's configuration needs: its hooks, the server for its tools, and their command.

The command starts this very installation of kinmem, from anywhere and at any time.
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

# The timeout of a hook. A hook answers in a tenth of a second; it ends after two seconds, on a busy
# machine after 20.
SECONDS = 30


@dataclass(frozen=True)
class Entry:
    """One entry in one file."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    listed: bool = False
    """Whether `value` is an item of the list at `keys`, rather than what stands there."""
    unset: Mapping[str, Any] = field(default_factory=dict)
    """Further keys, set only if the user has not set them."""
    frame: bool = False
    """Whether it is there only because the client requires it (`version`), and belongs to
    nobody."""


@dataclass(frozen=True)
class Wish:
    """Where to set up a client, and for which Kin."""

    home: Path
    project: Path | None
    """None: all of the user's projects."""
    command: Sequence[str]
    """Starts kinmem; without arguments."""
    kin: str
    memory: Path | None = None
    """The folder of the memories; None: the default."""
    url: str | None = None
    """Address of a server that runs already; None: the client starts its own."""
    token: str = ""
    """What that server asks for."""

    def hook(self, client: str) -> list[str]:
        """Return the command of a hook."""
        return [*self.command, "hook", client, *self._whose]

    def server(self) -> dict[str, Any]:
        """Return the server, as most clients write it: its command, or its address and token."""
        if self.url:
            return {"url": self.url, "headers": {"Authorization": f"Bearer {self.token}"}}
        return {"command": self.command[0], "args": [*self.command[1:], "serve", *self._whose]}

    def typed_server(self) -> dict[str, Any]:
        """Return the same for clients that want its transport named."""
        return {"type": "http" if self.url else "stdio", **self.server()}

    def folder(self, name: str) -> Path:
        """Return a client's own folder, in the project or in the user's home."""
        return (self.project or self.home) / name

    @property
    def _whose(self) -> list[str]:
        """The options that choose the memory: clients do not pass on this shell's environment; some
        do to hooks, but not to servers."""
        kin = [] if self.kin == "default" else ["--kin", self.kin]
        return [*kin, *(["--home", str(self.memory)] if self.memory else [])]


def claude_code(wish: Wish) -> list[Entry]:
    """Use commands for all hooks.

    A hook that calls the server's own tool would wait for a server that starts with the session,
    and the first prompt would be lost to its timeout.
    """
    settings = wish.folder(".claude") / "settings.json"
    first, *rest = wish.hook("claude")
    command = {"type": "command", "command": first, "args": rest, "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact PostCompact SessionEnd".split()
    servers = wish.project / ".mcp.json" if wish.project else wish.home / ".claude.json"
    return [
        *_groups(settings, dict.fromkeys(events, command)),
        Entry(servers, ("mcpServers", "kinmem"), wish.typed_server()),
    ]


def codex(wish: Wish) -> list[Entry]:
    """Put the server into config.toml. One that Codex starts is required, so the first turn waits
    for it; one that runs elsewhere may be away, and Codex goes on without it."""
    folder = wish.folder(".codex")
    may_be_away = {"required": False} if wish.url else {}
    command = {"type": "command", "command": _line(wish.hook("codex")), "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact PostCompact".split()
    ends = {**command, "timeout": 3}  # Codex waits no longer at the end of a session
    return [
        *_groups(folder / "hooks.json", {**dict.fromkeys(events, command), "SessionEnd": ends}),
        Entry(
            folder / "config.toml",
            ("mcp_servers", "kinmem"),
            _renamed(wish.server(), headers="http_headers") | may_be_away,
            unset={"required": True, "startup_timeout_sec": 30},
        ),
    ]


def gemini(wish: Wish) -> list[Entry]:
    """Put everything into one file. Times are in milliseconds."""
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
        Entry(settings, ("mcpServers", "kinmem"), _renamed(wish.server(), url="httpUrl")),
    ]


def cursor(wish: Wish) -> list[Entry]:
    """Use flat lists and a version."""
    folder = wish.folder(".cursor")
    command = {"command": _line(wish.hook("cursor")), "timeout": SECONDS}
    events = "sessionStart beforeSubmitPrompt afterAgentResponse preCompact sessionEnd".split()
    return [
        Entry(folder / "hooks.json", ("version",), 1, frame=True),
        *(Entry(folder / "hooks.json", ("hooks", event), command, listed=True) for event in events),
        Entry(folder / "mcp.json", ("mcpServers", "kinmem"), wish.server()),
    ]


def vscode(wish: Wish) -> list[Entry]:
    """Put the hooks into a file of our own, which the agent finds by its folder."""
    if wish.project:
        hooks, servers = wish.project / ".github", wish.project / ".vscode"
    else:
        hooks, servers = wish.home / ".copilot", _applications_folder(wish.home) / "Code" / "User"
    path = hooks / "hooks" / "kinmem.json"
    command = {"type": "command", "command": _line(wish.hook("vscode")), "timeout": SECONDS}
    events = "SessionStart UserPromptSubmit Stop PreCompact".split()
    return [
        *(Entry(path, ("hooks", event), command, listed=True) for event in events),
        Entry(servers / "mcp.json", ("servers", "kinmem"), wish.typed_server()),
    ]


def claude_desktop(wish: Wish) -> list[Entry]:
    """Add the server only: there are no hooks, and no settings of a project."""
    if wish.project:
        raise InvalidInput("claude-desktop has no settings of a project; leave out --project")
    if wish.url:
        raise InvalidInput("claude-desktop starts its servers itself; leave out --http")
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
# What the user has to know or do next.
ADVICE: Mapping[str, str] = {
    "claude-code": "Start a new session; /hooks and /mcp show what was added.",
    "claude-desktop": "Quit Claude Desktop and start it again. Without hooks its agent must ask.",
    "codex": "Codex skips new hooks until you trust them: type /hooks once.",
    "gemini": "Start a new session; /hooks and /mcp show what was added.",
    "cursor": "Cursor takes notes at the start of a session only; later its agent must ask.",
    "vscode": "Hooks are a preview in VS Code; it takes notes at the start of a session only.",
}


def entries(client: str, wish: Wish) -> list[Entry]:
    """Return everything the client needs. Raises InvalidInput for an unknown client."""
    if client not in CLIENTS:
        raise InvalidInput(f"no client is called {client!r}; there are {', '.join(CLIENTS)}")
    return CLIENTS[client](wish)


def is_ours(value: Any) -> bool:
    """Return whether kinmem has added the hook, for any Kin and from any place."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "mcp_tool":  # the hook of earlier releases
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


# Keys of a server that the client starts, and of one that runs already. It is either.
STARTED, CALLED = {"command", "args"}, {"url", "httpUrl", "headers", "http_headers"}


def kept_beside(value: Mapping[str, Any], there: Any) -> dict[str, Any]:
    """Return what may stay of a server's entry beside the new value."""
    stale = CALLED if "command" in value else STARTED if CALLED & value.keys() else set()
    found = there if isinstance(there, dict) else {}
    return {key: member for key, member in found.items() if key not in stale}


def _renamed(server: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in server.items()}


def _line(words: Sequence[str]) -> str:
    """Return the command as a shell reads it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _applications_folder(home: Path) -> Path:
    """Return the folder in which desktop programs keep their settings."""
    if os.name == "nt":
        return home / "AppData" / "Roaming"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return home / ".config"


# The file that marks a folder as a cache; uv's cache has it, wherever it is.
CACHE_TAG = "CACHEDIR.TAG"
# Folders in which pipx keeps what it runs temporarily; what it installs is in `venvs`.
PIPX_RUN = (".cache", "pipx")


def started_by() -> list[str]:
    """Return the command that starts kinmem, without arguments.

    If uvx or `pipx run` started it temporarily, the command starts it the same way, from the same
    source. Raises ConfigError if kinmem lies in a cache and the program that put it there is
    missing.
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
    """Return whether an environment lies in a cache, as those of uvx and `pipx run` do."""
    return _is_of_pipx(folder) or any((above / CACHE_TAG).exists() for above in folder.parents)


def _is_of_pipx(folder: Path) -> bool:
    return folder.parent.name in PIPX_RUN


def _source() -> str | None:
    """Return what kinmem was installed from, in the form that --from takes; None for a package
    index."""
    try:
        origin = distribution("kinmem").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(origin)) if origin else None


def source_of(direct: dict[str, Any]) -> str:
    """Return the source in a direct_url.json:
    https://packaging.python.org/specifications/direct-url"""
    url = str(direct["url"])
    if version_control := direct.get("vcs_info"):
        revision = version_control.get("requested_revision")
        return f"{version_control['vcs']}+{url}{f'@{revision}' if revision else ''}"
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url
    path = unquote(parts.path)
    return path.lstrip("/") if os.name == "nt" else path
