"""The documents tell the truth about the tree, the settings, the tools and the commands."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kinmem.mcp.tools import tools
from kinmem.settings import HOME_VARIABLE, knobs

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(path), re.MULTILINE | re.DOTALL)


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(text("README.md").encode()) <= 8_000


def test_a_newcomer_learns_the_words_at_once() -> None:
    assert len(re.findall(r"^\*\*", text("docs/glossary.md"), re.MULTILINE)) <= 30


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_every_page_has_its_place_in_the_site(page: Path) -> None:
    assert f" {page.name}\n" in text("mkdocs.yml")


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
    assert f"| `{variable}` |" in text("docs/settings.md")


@pytest.mark.parametrize("name", [tool.name for tool in tools([]) if tool.listed])
def test_the_readme_names_the_tools_that_are_always_listed(name: str) -> None:
    assert f"| `{name}` |" in text("README.md")


# examples and references


@pytest.mark.parametrize(
    "block", [*blocks("README.md", "json"), *blocks("docs/clients.md", "json")]
)
def test_configurations_are_json_and_start_the_server(block: str) -> None:
    (servers,) = json.loads(block).values()

    assert [*servers] == ["kinmem"]
    assert servers["kinmem"]["args"][-2:] == ["kinmem", "serve"]


def test_the_configuration_of_codex_starts_the_server() -> None:
    (block,) = blocks("docs/clients.md", "toml")
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
    written = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", written)
    paths = re.findall(r"`((?:kinmem|tests|docs|scripts|benchmarks|prompts)/[\w./-]*)`", written)

    missing = [link for link in links if not (document.parent / link).exists()]
    missing += [path for path in paths if not (ROOT / path).exists()]

    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_headings_that_documents_point_at_are_there(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", document.read_text(encoding="utf-8"))

    missing = [
        f"{page}#{heading}"
        for page, heading in links
        if heading not in headings(document.parent / page if page else document)
    ]

    assert missing == []


def headings(page: Path) -> set[str]:
    """As GitHub and the site address them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).strip().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_in_a_document_exists(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    said = re.findall(r"(?:^|`)make\s+([a-z-]+)", document.read_text(encoding="utf-8"), re.M)

    assert set(said) <= targets
