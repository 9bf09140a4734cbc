"""The documents tell the truth about the tree, the settings, the tools and the commands."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kinmem.settings import HOME_VARIABLE, knobs
from kinmem.tools import tools

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "-P", *map(str, DOCUMENTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, f"run `make docs`\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("variable", [HOME_VARIABLE, *(knob.variable for knob in knobs())])
def test_every_setting_is_documented(variable: str) -> None:
    assert f"| `{variable}` |" in README


@pytest.mark.parametrize("name", [tool.name for tool in tools(["turns"]) if tool.listed])
def test_every_tool_is_documented(name: str) -> None:
    assert f"| `{name}` |" in README


# the map


def mapped() -> dict[str, set[str]]:
    """Path of every line of the map, and what a folder's line says is in it (after the colon)."""
    (text,) = re.findall(r"<!-- map -->\n```\n(.*?)```\n<!-- /map -->", README, re.DOTALL)
    text = re.sub(r"\n {20,}", " ", text)  # a long line goes on below its description
    found: dict[str, set[str]] = {}
    parents: list[str] = []
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, told = line.strip().partition("  ")
        found["".join(parents[:depth]) + name] = set(told.partition(": ")[2].split())
        parents[depth:] = [name]
    return found


def there(folder: Path) -> set[str]:
    """What git would keep of a folder, as the map names it."""
    ignored = {"__pycache__", ".git", ".venv", ".hypothesis"}
    return {
        path.name + "/" * path.is_dir()
        for path in folder.iterdir()
        if path.name not in ignored and not path.name.endswith("_cache")
    }


def test_the_map_names_every_file_of_the_package() -> None:
    named = {path.removeprefix("kinmem/") for path in mapped() if path.startswith("kinmem/")} - {""}
    named = {path for path in named if "/" not in path.rstrip("/")}

    assert named == there(ROOT / "kinmem") - {"__init__.py", "__main__.py", "py.typed"}


@pytest.mark.parametrize("folder", [path for path in mapped() if re.fullmatch("kinmem/.+/", path)])
def test_the_map_names_what_is_in_each_folder(folder: str) -> None:
    """Modules by their names without .py, folders with their stroke."""
    names = there(ROOT / folder) - {"__init__.py"}

    assert mapped()[folder] == {name.removesuffix(".py") for name in names}


def test_the_map_names_what_lies_beside_the_package() -> None:
    """Every folder, script and example; the page of the project shows what else there is."""
    beside = {name for name in there(ROOT) if re.fullmatch(r"[^.].*(/|\.py|\.json)", name)}

    assert {path for path in mapped() if "/" not in path.rstrip("/")} == beside - {"conftest.py"}


# examples and references


@pytest.mark.parametrize("block", blocks("json"))
def test_configurations_are_json_and_start_the_server(block: str) -> None:
    (servers,) = json.loads(block).values()

    assert [*servers] == ["kinmem"]
    assert servers["kinmem"]["args"][-2:] == ["kinmem", "serve"]


def test_the_configuration_of_codex_starts_the_server() -> None:
    (block,) = blocks("toml")
    server = tomllib.loads(block)["mcp_servers"]["kinmem"]

    assert server["args"] == ["kinmem", "serve"]


def test_the_example_for_claude_desktop_works_as_pasted(tmp_path: Path) -> None:
    """For a checkout in the user's home, whose .venv is there."""
    example = json.loads((ROOT / "claude_desktop_config.example.json").read_text("utf-8"))
    server = example["mcpServers"]["kinmem"]
    checkout = tmp_path / "kinmem"
    checkout.mkdir()
    for name in ("server.py", "kinmem", "prompts"):
        (checkout / name).symlink_to(ROOT / name)
    (checkout / ".venv" / "bin").mkdir(parents=True)
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "claude-desktop", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}

    done = subprocess.run(
        [server["command"], *server["args"]],
        env={**os.environ, **server["env"], "HOME": str(tmp_path)},
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "kinmem"


def test_a_python_without_the_packages_says_what_to_do(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "server.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "make demo" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_documents_point_at_is_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    paths = re.findall(r"`((?:kinmem|tests|docs|scripts|benchmarks|prompts)/[\w./-]*)`", text)

    missing = [link for link in links if not (document.parent / link).exists()]
    missing += [path for path in paths if not (ROOT / path).exists()]

    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_in_a_document_exists(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    said = re.findall(r"(?:^|`)make\s+([a-z-]+)", document.read_text(encoding="utf-8"), re.M)

    assert set(said) <= targets
