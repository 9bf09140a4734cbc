"""A client's configuration gets kinmem, keeps everything else, and can be rid of it again."""

import json
import os
import shlex
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinmem.cli.install import ADVICE, CLIENTS, plan, plan_removal, tokens_in, write
from kinmem.cli.install.clients import Wish, entries, started_by
from kinmem.cli.install.json_config import with_entries, without_entries
from kinmem.errors import ConfigError, InvalidInput
from kinmem.hooks.dialects import DIALECTS

COMMAND = ["/opt/kin mem/bin/kinmem"]

CLAUDE_SETTINGS = """{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "permissions": { "allow": ["Bash(git status:*)", "Read(~/notes/**)"], "deny": [] },
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier --write"}]}
        ],
        "Stop": [
            {
                "hooks": [{"type": "command", "command": "say 'é done'"}]
            }
        ]
    },
    "model": "opus"
}
"""
CLAUDE_STATE = (
    '{\n  "numStartups": 41,\n  "mcpServers": {\n    "github": {\n      "type": "http",\n'
    '      "url": "https://api.githubcopilot.com/mcp/"\n    }\n  },\n'
    '  "projects": {"/home/ana": {"history": []}}\n}'
)
CODEX_CONFIG = """# my Codex
model = "gpt-5.4-codex"   # the good one

[mcp_servers.github]
command = "npx"
args = ["-y", "server-github"]

[mcp_servers.github.env]
TOKEN = "x" # secret

# trusted
[projects."/home/ana/shop"]
trust_level = "trusted"
"""
CODEX_HOOKS = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"notify-send done"}]}]}}'
GEMINI_SETTINGS = """{
\t"theme": "GitHub",
\t"mcpServers": {
\t\t"files": { "command": "npx", "args": ["-y", "files"] }
\t},
\t"hooks": {
\t\t"BeforeAgent": [ { "matcher": "*", "hooks": [ { "type": "command", "command": "date" } ] } ]
\t}
}
"""
CURSOR_HOOKS = """{
  "version": 1,
  "hooks": {
    "beforeSubmitPrompt": [
      { "command": "./audit.sh" }
    ],
    "stop": [{ "command": "./sound.sh" }]
  }
}
"""
VSCODE_MCP = (
    '{\r\n  "inputs": [],\r\n  "servers": {\r\n    "files": {"command": "npx"}\r\n  }\r\n}\r\n'
)

FILES: dict[str, dict[str, str]] = {
    "claude-code": {".claude/settings.json": CLAUDE_SETTINGS, ".claude.json": CLAUDE_STATE},
    "codex": {".codex/config.toml": CODEX_CONFIG, ".codex/hooks.json": CODEX_HOOKS},
    "gemini": {".gemini/settings.json": GEMINI_SETTINGS},
    "cursor": {".cursor/hooks.json": CURSOR_HOOKS},
    "vscode": {".vscode/mcp.json": VSCODE_MCP},
    "claude-desktop": {".config/Claude/claude_desktop_config.json": CLAUDE_STATE},
}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A home folder without any configuration."""
    folder = tmp_path / "ana"
    folder.mkdir()
    return folder


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, user: Path) -> str:
    """Each client, with a configuration that its user has written."""
    name = str(request.param)
    for path, text in FILES[name].items():
        (user / path).parent.mkdir(parents=True, exist_ok=True)
        (user / path).write_bytes(text.encode())
    return name


def install(
    client: str,
    user: Path,
    kin: str = "default",
    command: list[str] = COMMAND,
    memory: Path | None = None,
) -> int:
    project = user if client == "vscode" else None
    changes = plan(client, user, project, command, kin, memory)
    write(changes)
    return len(changes)


def remove(client: str, user: Path) -> int:
    changes = plan_removal(client, user, user if client == "vscode" else None)
    write(changes)
    return len(changes)


def files(user: Path) -> dict[str, bytes]:
    """Every file but the copies."""
    return {
        path.relative_to(user).as_posix(): path.read_bytes()
        for path in sorted(user.rglob("*"))
        if path.is_file() and not path.name.endswith(".before-kinmem")
    }


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_removing_gives_back_every_byte(client: str, user: Path) -> None:
    before = files(user)

    assert install(client, user) and files(user) != before
    assert remove(client, user)
    assert files(user) == before


def test_where_nothing_was_nothing_is_left(user: Path) -> None:
    for name in CLIENTS:
        assert install(name, user) >= 1
        assert files(user)
        assert remove(name, user) >= 1
        assert files(user) == {}


def test_a_second_time_changes_nothing(client: str, user: Path) -> None:
    install(client, user)
    before = files(user)

    assert install(client, user) == 0
    assert files(user) == before
    remove(client, user)
    assert remove(client, user) == 0


def test_another_command_or_kin_replaces_the_old(client: str, user: Path) -> None:
    before = files(user)
    install(client, user, command=["/old/bin/kinmem"])
    install(client, user, "bob")

    text = b"".join(files(user).values()).decode()
    assert "/old/bin" not in text
    assert "bob" in text
    remove(client, user)
    assert files(user) == before


def test_what_others_added_later_stays(client: str, user: Path) -> None:
    install(client, user)
    for path in user.rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.rstrip().removesuffix("}") + ', "later": {"a": 1}}', encoding="utf-8")
    remove(client, user)

    text = b"".join(files(user).values()).decode()
    assert '"later": {"a": 1}' in text
    assert "kinmem" not in text


def test_each_hook_of_a_client_is_one_that_kinmem_understands(client: str, user: Path) -> None:
    install(client, user, "bob")
    commands = [
        [handler["command"], *handler["args"]]
        if "args" in handler
        else shlex.split(handler["command"])
        for entry in entries(client, Wish(user, None, COMMAND, "bob"))
        if entry.listed
        for handler in entry.value.get("hooks", [entry.value])
        if "command" in handler
    ]

    assert commands or client == "claude-desktop"
    for command in commands:
        assert command[:2] == [*COMMAND, "hook"]
        assert command[2] in DIALECTS
        assert command[3:] == ["--kin", "bob"]


def test_claude_code_is_wired_as_recommended(user: Path) -> None:
    install("claude-code", user)

    hooks = read(user / ".claude/settings.json")["hooks"]
    ours = {"type": "command", "command": COMMAND[0], "args": ["hook", "claude"], "timeout": 30}
    assert all(groups == [{"hooks": [ours]}] for groups in hooks.values())
    assert set(hooks) == {
        *("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd")
    }
    server = read(user / ".claude.json")["mcpServers"]["kinmem"]
    assert server == {"type": "stdio", "command": COMMAND[0], "args": ["serve"]}


def test_hooks_and_server_use_one_memory(client: str, user: Path) -> None:
    before = files(user)
    install(client, user, memory=Path("/data/team memory"))

    wish = Wish(user, user if client == "vscode" else None, COMMAND, "default")
    hooks = sum(entry.listed for entry in entries(client, wish))
    text = b"".join(files(user).values()).decode()
    assert text.count("/data/team memory") == hooks + 1
    install(client, user)
    assert "/data/team memory" not in b"".join(files(user).values()).decode()
    remove(client, user)
    assert files(user) == before


def test_the_tool_hooks_of_an_earlier_release_go(user: Path) -> None:
    install("claude-code", user)
    path = user / ".claude/settings.json"
    wanted = read(path)
    old = json.loads(json.dumps(wanted))
    for event in ("UserPromptSubmit", "Stop"):
        tool = {"type": "mcp_tool", "server": "kinmem", "tool": "observe", "input": {}}
        old["hooks"][event] = [{"hooks": [tool]}]
    path.write_text(json.dumps(old))

    install("claude-code", user)

    assert read(path) == wanted


# how it is started


@pytest.fixture
def running_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    """The command of a kinmem whose environment is that folder, with those programs on PATH."""

    def started(folder: Path, *programs: str, source: dict[str, Any] | None = None) -> list[str]:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "kinmem").touch()
        tools = tmp_path / "tools"
        tools.mkdir()
        for name in programs:
            (tools / name).write_text("#!/bin/sh\n")
            (tools / name).chmod(0o755)
        told = json.dumps(source) if source else None
        package = type("Package", (), {"read_text": staticmethod(lambda name: told)})
        monkeypatch.setattr("kinmem.cli.install.clients.distribution", lambda name: package)
        monkeypatch.setattr("sys.prefix", str(folder))
        monkeypatch.setattr("sys.executable", str(folder / "bin" / "python"))
        monkeypatch.setenv("PATH", str(tools))
        return [word.replace(str(tools), "") for word in started_by()]

    return started


SOURCES = [
    ({"url": "file:///home/ana/kin%20mem", "dir_info": {}}, "/home/ana/kin mem"),
    (
        {"url": "file:///tmp/kinmem-1-py3-none-any.whl", "archive_info": {}},
        "/tmp/kinmem-1-py3-none-any.whl",
    ),
    (
        {"url": "https://example.org/k.git", "vcs_info": {"vcs": "git", "commit_id": "a1"}},
        "git+https://example.org/k.git",
    ),
    (
        {
            "url": "ssh://git@example.org/k",
            "vcs_info": {"vcs": "git", "requested_revision": "v2", "commit_id": "a1"},
        },
        "git+ssh://git@example.org/k@v2",
    ),
    (
        {"url": "https://example.org/kinmem.whl", "archive_info": {}},
        "https://example.org/kinmem.whl",
    ),
]


@pytest.mark.parametrize(("source", "told"), SOURCES)
def test_what_uvx_was_started_from_is_carried_on(
    running_in: Callable[..., list[str]], tmp_path: Path, source: dict[str, Any], told: str
) -> None:
    (tmp_path / "mycache").mkdir()
    (tmp_path / "mycache" / "CACHEDIR.TAG").touch()
    folder = tmp_path / "mycache" / "archive-v0" / "x1"

    assert running_in(folder, "uvx", source=source) == ["/uvx", "--from", told, "kinmem"]


def test_what_pipx_runs_in_passing_is_run_by_it_again(
    running_in: Callable[..., list[str]], tmp_path: Path
) -> None:
    source = {"url": "file:///home/ana/kinmem", "dir_info": {}}
    found = running_in(tmp_path / "pipx" / ".cache" / "ab12", "pipx", source=source)

    assert found == ["/pipx", "run", "--spec", "/home/ana/kinmem", "kinmem"]


def test_of_an_index_the_name_is_enough(
    running_in: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "CACHEDIR.TAG").touch()

    assert running_in(tmp_path / "e" / "x1", "uvx") == ["/uvx", "kinmem"]


def test_a_path_in_a_cache_is_never_written(
    running_in: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "CACHEDIR.TAG").touch()

    with pytest.raises(ConfigError, match="uv tool install"):
        running_in(tmp_path / "e" / "x1")


def test_what_is_installed_to_stay_is_started_by_its_path(
    running_in: Callable[..., list[str]], tmp_path: Path
) -> None:
    folder = tmp_path / "uv" / "tools" / "kinmem"

    assert running_in(folder, "uvx") == [str(folder / "bin" / "kinmem")]


def test_a_project_gets_files_of_its_own(user: Path, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    for name in CLIENTS:
        if name != "claude-desktop":
            write(plan(name, user, project, COMMAND, "default"))

    with pytest.raises(InvalidInput, match="leave out --project"):
        plan("claude-desktop", user, project, COMMAND, "default")
    assert files(user) == {}
    assert set(files(project)) == {
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/hooks.json",
        ".cursor/hooks.json",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        ".github/hooks/kinmem.json",
        ".mcp.json",
        ".vscode/mcp.json",
    }


def test_codex_keeps_its_comments(user: Path) -> None:
    (user / ".codex").mkdir()
    config = user / ".codex/config.toml"
    config.write_text(CODEX_CONFIG)
    install("codex", user)

    text = config.read_text()
    assert text.startswith(CODEX_CONFIG)
    table = tomllib.loads(text)["mcp_servers"]["kinmem"]
    assert table == {
        "command": COMMAND[0],
        "args": ["serve"],
        "required": True,
        "startup_timeout_sec": 30,
    }


def test_what_a_user_added_to_our_server_stays(user: Path) -> None:
    install("codex", user, command=["/old/kinmem"])
    install("gemini", user, command=["/old/kinmem"])
    config, gemini = user / ".codex/config.toml", user / ".gemini/settings.json"
    config.write_text(
        config.read_text().replace("sec = 30", "sec = 90") + "\n[mcp_servers.kinmem.env]\nA = '1'\n"
    )
    document = read(gemini)
    document["mcpServers"]["kinmem"]["env"] = {"A": "1"}
    gemini.write_text(json.dumps(document))
    install("codex", user)
    install("gemini", user)

    table = tomllib.loads(config.read_text())["mcp_servers"]["kinmem"]
    assert table == {
        "command": COMMAND[0],
        "args": ["serve"],
        "required": True,
        "startup_timeout_sec": 90,
        "env": {"A": "1"},
    }
    assert read(gemini)["mcpServers"]["kinmem"]["env"] == {"A": "1"}
    assert remove("codex", user) == 2
    assert not config.exists()


def test_a_hook_that_a_user_moved_into_a_group_is_found(user: Path) -> None:
    (user / ".claude").mkdir()
    ours = {"type": "command", "command": "uvx kinmem hook claude"}
    theirs = {"type": "command", "command": "say hook kinmem"}
    groups = [{"matcher": "", "hooks": [theirs, ours]}, {"matcher": "x", "hooks": [ours]}]
    (user / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": groups}}))
    remove("claude-code", user)

    left = read(user / ".claude/settings.json")
    assert left == {"hooks": {"Stop": [{"matcher": "", "hooks": [theirs]}]}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param('{\n  // mine\n  "a": 1\n}', "comment at line 2", id="line comment"),
        pytest.param('{"a": 1 /* mine */}', "comment at line 1", id="block comment"),
        pytest.param('{"a": [1,\n],}', "line 2", id="trailing comma"),
        pytest.param('{"a": 1', "line 1", id="cut off"),
        pytest.param("[1]", "no object", id="a list"),
        pytest.param('{"hooks": []}', "no object", id="hooks of another kind"),
        pytest.param('{"hooks": {"Stop": {}}}', "no list", id="event of another kind"),
        pytest.param("{} {}", "follows", id="two documents"),
        pytest.param("{'a': 1}", "line 1", id="other quotes"),
    ],
)
def test_what_would_be_destroyed_is_refused(user: Path, text: str, why: str) -> None:
    (user / ".claude").mkdir()
    (user / ".claude/settings.json").write_text(text)

    with pytest.raises(ConfigError, match=why):
        plan("claude-code", user, None, COMMAND, "default")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[mcp_servers]\nkinmem = { command = 'x' }\n", id="inline"),
        pytest.param("mcp_servers.kinmem.command = 'x'\n", id="dotted"),
        pytest.param("mcp_servers = { a = { command = 'x' } }\n", id="closed table"),
        pytest.param("[mcp_servers.kinmem]\ncommand = '''\nx'''\n", id="over lines"),
        pytest.param("a = = 1", id="no TOML"),
    ],
)
def test_toml_that_cannot_be_changed_by_lines_is_refused(user: Path, text: str) -> None:
    (user / ".codex").mkdir()
    (user / ".codex/config.toml").write_text(text)

    with pytest.raises(ConfigError, match="by hand"):
        plan("codex", user, None, COMMAND, "default")


def test_an_unknown_client_is_refused(user: Path) -> None:
    with pytest.raises(InvalidInput, match="claude-code, claude-desktop, codex"):
        plan("emacs", user, None, COMMAND, "default")


def test_every_client_has_its_advice() -> None:
    assert set(ADVICE) == set(CLIENTS)


# writing


def test_the_old_file_stays_beside_the_new_one(user: Path) -> None:
    (user / ".gemini").mkdir()
    path = user / ".gemini/settings.json"
    path.write_text(GEMINI_SETTINGS)
    path.chmod(0o600)
    install("gemini", user)

    copy = path.with_name("settings.json.before-kinmem")
    assert copy.read_text() == GEMINI_SETTINGS
    assert {stat.S_IMODE(file.stat().st_mode) for file in (path, copy)} == {0o600}
    assert len(list(path.parent.iterdir())) == 2


def test_a_link_stays_a_link(user: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text(CURSOR_HOOKS)
    (user / ".cursor").mkdir()
    (user / ".cursor/hooks.json").symlink_to(real)
    install("cursor", user)

    assert (user / ".cursor/hooks.json").is_symlink()
    assert "kinmem" in real.read_text()


def test_a_file_that_changed_since_is_not_written(user: Path) -> None:
    (user / ".gemini").mkdir()
    path = user / ".gemini/settings.json"
    path.write_text(GEMINI_SETTINGS)
    changes = plan("gemini", user, None, COMMAND, "default")
    path.write_text("{}")

    with pytest.raises(ConfigError, match="try again"):
        write(changes)
    assert path.read_text() == "{}"


def test_a_file_that_is_no_text_is_refused(user: Path) -> None:
    (user / ".gemini").mkdir()
    (user / ".gemini/settings.json").write_bytes(b"\xff\xfe{}")

    with pytest.raises(ConfigError, match="cannot be read"):
        plan("gemini", user, None, COMMAND, "default")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_folder_without_rights_is_told(user: Path) -> None:
    user.chmod(0o500)

    with pytest.raises(ConfigError, match="cannot be written"):
        install("gemini", user)


# any file at all

KEYS = st.sampled_from(["hooks", "mcpServers", "kinmem", "Stop", "a", 'é"\\\n', ""])
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("kinmem hook x")
DOCUMENTS = st.dictionaries(
    KEYS.filter(lambda key: key not in ("hooks", "mcpServers")),
    st.recursive(
        LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=8
    ),
    max_size=4,
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "Other"]),
    st.lists(
        st.fixed_dictionaries(
            {
                "hooks": st.lists(
                    st.just({"type": "command", "command": "say"}), min_size=1, max_size=2
                )
            },
            optional={"matcher": st.just("*")},
        ),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
)
SERVERS = st.dictionaries(st.sampled_from(["a", "b"]), st.just({"command": "x"}), min_size=1)


@settings(max_examples=150, deadline=None)
@given(
    DOCUMENTS.filter(bool),
    st.none() | HOOKS,
    st.none() | SERVERS,
    st.sampled_from([None, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_file_keeps_what_is_in_it(
    document: dict[str, Any], hooks: Any, servers: Any, indent: Any, ascii_only: bool
) -> None:
    document |= {"hooks": hooks} if hooks else {}
    document |= {"mcpServers": servers} if servers else {}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    wanted = entries("gemini", Wish(Path("/h"), None, COMMAND, "default"))

    added = with_entries(text, wanted)

    assert with_entries(added, wanted) == added
    assert json.loads(added)["mcpServers"]["kinmem"]["command"] == COMMAND[0]
    assert without_entries(added, wanted) == text


ODD_FILES: list[tuple[str, str, str | None]] = [
    ("claude-code", ".claude/settings.json", '{\n  "hooks": {}\n}\n'),
    ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": []}, "model": "opus"}'),
    ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": [{"hooks": []}]}}\n\n'),
    ("claude-code", ".claude/settings.json", '{"hooks": {"A": []}, "x": 1, "hooks": {}}'),
    ("claude-code", ".claude/settings.json", '\ufeff{\r\n\t"model": "opus"\r\n}'),
    ("claude-code", ".claude/settings.json", ""),
    ("claude-code", ".claude/settings.json", "{}"),
    ("claude-code", ".claude.json", '{"mcpServers": {}}'),
    ("cursor", ".cursor/hooks.json", '{"hooks": {}}'),
    ("cursor", ".cursor/hooks.json", '{"version": 1, "hooks": {"stop": []}}'),
    ("cursor", ".cursor/hooks.json", '{"mine": true}'),
    ("codex", ".codex/config.toml", 'model = "gpt"'),
    ("codex", ".codex/config.toml", 'model = "gpt"\n\n\n'),
    ("codex", ".codex/config.toml", "# nothing yet"),
    ("codex", ".codex/config.toml", "[mcp_servers]\r\n"),
    ("gemini", ".gemini/settings.json", '{"hooks":{"BeforeAgent":[]}}'),
    ("vscode", ".vscode/mcp.json", '{"servers":{},"inputs":[]}'),
    *((name, "", None) for name in CLIENTS),
]


def everything(user: Path) -> dict[str, bytes | None]:
    """Every file and folder, the copies too."""
    return {
        path.relative_to(user).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(user.rglob("*"))
    }


@pytest.mark.parametrize(("client", "name", "text"), ODD_FILES)
def test_however_odd_a_file_is_it_comes_back(
    user: Path, client: str, name: str, text: str | None
) -> None:
    if text is not None:
        (user / name).parent.mkdir(exist_ok=True)
        (user / name).write_bytes(text.encode())
    before = everything(user)

    install(client, user)
    install(client, user, "ana", ["/new/bin/kinmem"])  # an upgrade on the way
    remove(client, user)

    assert everything(user) == before


def test_the_copy_stays_the_one_without_kinmem(client: str, user: Path) -> None:
    before = files(user)
    install(client, user)
    install(client, user, "ana", ["/new/bin/kinmem"])

    for path, text in before.items():
        assert (user / f"{path}.before-kinmem").read_bytes() == text


def test_what_a_user_changes_meanwhile_stays(user: Path) -> None:
    settings_file = user / ".claude" / "settings.json"
    settings_file.parent.mkdir()
    settings_file.write_text('{"model": "opus", "hooks": {"Stop": []}}')
    install("claude-code", user)
    settings_file.write_text(settings_file.read_text().replace("opus", "sonnet"))

    remove("claude-code", user)

    assert read(settings_file)["model"] == "sonnet" and "kinmem" not in settings_file.read_text()
    assert "opus" in (user / ".claude" / "settings.json.before-kinmem").read_text()


URL = "http://127.0.0.1:8765/mcp"
SECRET = "kmk_00000000_" + "a" * 43


def connect(client: str, user: Path, token: str = SECRET) -> None:
    project = user if client == "vscode" else None
    write(plan(client, user, project, COMMAND, url=URL, token=token))


def test_a_server_that_runs_is_reached_with_a_token(client: str, user: Path) -> None:
    """Not by Claude Desktop, which starts its servers itself."""
    if client == "claude-desktop":
        with pytest.raises(InvalidInput, match="--http"):
            connect(client, user)
        return
    before = files(user)
    install(client, user)  # to be replaced
    connect(client, user)

    holding = [path for path in user.rglob("*") if path.is_file() and SECRET in path.read_text()]
    (path,) = holding
    assert URL in path.read_text() and '"serve"' not in path.read_text()
    assert f"Bearer {SECRET}" in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert tokens_in(client, user, user if client == "vscode" else None) == {SECRET}
    install(client, user)
    assert URL not in path.read_text() and "serve" in path.read_text()
    connect(client, user)
    remove(client, user)
    assert files(user) == before


def test_codex_keeps_what_its_user_has_set_when_the_server_changes(user: Path) -> None:
    install("codex", user)
    config = user / ".codex" / "config.toml"
    config.write_text(
        config.read_text().replace("[mcp_servers.kinmem]", "[mcp_servers.kinmem]\nenabled = false")
    )
    connect("codex", user)

    server = tomllib.loads(config.read_text())["mcp_servers"]["kinmem"]
    assert server == {
        "url": URL,
        "http_headers": {"Authorization": f"Bearer {SECRET}"},
        "enabled": False,
        "required": False,  # it may be away
        "startup_timeout_sec": 30,
    }
