"""The documents tell the truth about the tree, the settings, the tools and the commands.

So do docstrings and comments, as far as a file, a module, a variable or a command is named in them.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import kinmem
from benchmarks.__main__ import BENCHMARKS, OF_EMBEDDERS, OF_SERVERS
from kinmem.cli.app import app
from kinmem.mcp.tools import tools
from kinmem.settings import HOME_VARIABLE, knobs
from tests.sweeps import WHOLE
from tests.tables import each

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


@each("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_every_page_has_its_place_in_the_site(page: Path) -> None:
    assert f" {page.name}\n" in text("mkdocs.yml")


@pytest.mark.skipif(not WHOLE, reason="`make check` says so, which is a part of `make test`")
def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "-P", *map(str, DOCUMENTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, f"run `make docs`\n{done.stdout}{done.stderr}"


@each("variable", [HOME_VARIABLE, *(knob.variable for knob in knobs())])
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
    """For a checkout in the user's home, whose .venv is there; what it is told belongs to no
    project, though the checkout is one."""
    example = json.loads((ROOT / "claude_desktop_config.example.json").read_text("utf-8"))
    server = example["mcpServers"]["kinmem"]
    checkout = tmp_path / "kinmem"
    checkout.mkdir()
    (checkout / ".git").mkdir()
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
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    memorize = {"name": "memorize", "arguments": {"content": "The ferry leaves at noon"}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": memorize}

    with subprocess.Popen(
        [server["command"], *server["args"]],
        env={**os.environ, **server["env"], "HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        for message in (hello, ready, call):
            started.stdin.write(json.dumps(message) + "\n")
        started.stdin.flush()
        # A server whose input has ended finishes what it can within four seconds.
        answers = [json.loads(started.stdout.readline()) for _ in (hello, call)]

    assert answers[0]["result"]["serverInfo"]["name"] == "kinmem"
    with kinmem.open(server["env"]["KINMEM_KIN"]) as memory:
        (memorized,) = memory.list_memories().memories
    assert memorized.place is None


def test_a_python_without_the_packages_says_what_to_do(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "server.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "make demo" in done.stderr and "Traceback" not in done.stderr


@each("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_documents_point_at_is_there(document: Path) -> None:
    written = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", written)
    paths = re.findall(r"`((?:kinmem|tests|docs|scripts|benchmarks|prompts)/[\w./-]*)`", written)

    missing = [link for link in links if not (document.parent / link).exists()]
    missing += [path for path in paths if not (ROOT / path).exists()]

    assert missing == []


@each("document", DOCUMENTS, ids=lambda path: path.name)
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


@each("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_in_a_document_exists(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    said = re.findall(r"(?:^|`)make\s+([a-z-]+)", document.read_text(encoding="utf-8"), re.M)

    assert set(said) <= targets


# names in pages, docstrings and comments

CODE = ("kinmem", "tests", "benchmarks", "scripts")
PACKAGES = [path.parent.name for path in (ROOT / "kinmem").glob("*/__init__.py")]
TOP = "|".join([*CODE, *PACKAGES])
MODULES = TOP.replace("|settings", "")
"""`settings` with a point behind it are those in force, not their package."""
FILES_OF_USERS = {"notes.md", "rooms.md"}
"""In examples of pages."""
BENCHMARKED = {*BENCHMARKS, *OF_EMBEDDERS, *OF_SERVERS, "pairs", "kore", "all"}
NAMES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "files": (
        r"(?<![*\w./~-])(\w[\w./-]*\.(?:py|sql|md))\b",
        lambda name: name in FILES_OF_USERS or any(path.endswith(f"/{name}") for path in files()),
    ),
    "paths": (
        rf"(?<![\w/.-])((?:{TOP})/[\w/-]+\w)(?![\w.*])",
        lambda name: any(base.with_suffix(end).exists() for base in _bases(name) for end in ENDS),
    ),
    "modules": (
        rf"(?<![\w./-])((?:{MODULES})(?:\.[a-zA-Z_]\w*)+)(?!\w|[.][a-z])",
        lambda name: name.endswith(SUFFIXES) or is_name(name),
    ),
    "programs": (r"python -m (\w+(?:\.\w+)+)", lambda name: is_name(name)),
    "variables": (
        r"\b((?:KINMEM|MEMORY|COMPACTING)_[A-Z0-9_]*[A-Z0-9])\b",
        lambda name: name in strings(),
    ),
    "benchmarks": (
        r"(?:python -m benchmarks|`kinmem bench) ([a-z][a-z-]*)",
        lambda name: name in BENCHMARKED,
    ),
    "commands": (r"`(kinmem [a-z][^`]*)", lambda said: is_command(said)),
}
"""How each kind is written, and whether there is such a one."""
ENDS = ("", ".py")
SUFFIXES = (".db", ".json", ".log", ".md", ".py", ".toml", ".txt")


def test_what_is_named_exists() -> None:
    """What a rename leaves behind misleads. One test, since it reads all files."""
    for kind, (pattern, exists) in NAMES.items():
        named = [(place, name) for place, line in prose() for name in re.findall(pattern, line)]

        assert named, kind
        assert [f"{place}: {name}" for place, name in named if not exists(name)] == []


def test_recall_is_told_stage_by_stage() -> None:
    """Its page has a section for each, with the number and the name of the stage's file."""
    sections = re.findall(r"^### (\d+)\. (.*)$", text("docs/recall.md"), re.MULTILINE)
    stages = {
        path.stem.replace("_", " ").capitalize(): found[1]
        for path in (ROOT / "kinmem" / "recall").glob("*.py")
        if (found := re.match(r'"""Stage (\d+):', path.read_text(encoding="utf-8")))
    }

    assert {name: number for number, name in sections} == stages
    assert [number for number, _ in sections] == [str(1 + at) for at in range(len(stages))]


@cache
def prose() -> list[tuple[str, str]]:
    """(where, line) of pages, docstrings and comments; numbered migrations never change."""
    found = []
    for path in (path for path in DOCUMENTS if path.name != "CHANGELOG.md"):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [(f"{path.name}:{1 + at}", line) for at, line in enumerate(lines)]
        found += [
            (path.name, f"`{line}`") for line in "".join(blocks(str(path), "sh")).splitlines()
        ]
    found += explanations_and_words()[0]
    for path in (path for folder in CODE for path in (ROOT / folder).rglob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [(path.name, line) for line in lines if line.startswith("#")]
    return found


@cache
def explanations_and_words() -> tuple[list[tuple[str, str]], set[str]]:
    """(where, line) of docstrings and comments of all programs, and the words of the texts that
    they use: both from one reading, which takes seconds."""
    explained: list[tuple[str, str]] = []
    words: set[str] = set()
    for path in (path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(code)))
        alone = {id(said): said for said in _texts_alone(nodes)}
        lines = [*_docstrings(alone.values()), *_comments(code)]
        explained += [(f"{path.relative_to(ROOT)}:{at}", line) for at, line in lines]
        for node in nodes:
            if isinstance(node, ast.Constant) and id(node) not in alone:
                words.update(re.findall(r"\w+", str(node.value)))
    return explained, words


def _docstrings(texts: Iterable[ast.Constant]) -> Iterator[tuple[int, str]]:
    for said in texts:
        for at, line in enumerate(str(said.value).splitlines()):
            yield said.lineno + at, line


def _texts_alone(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


STRING_OR_COMMENT = re.compile(
    r"""(\"{3}|'{3})(?:\\.|[^\\])*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<comment>#[^\n]*)""",
    re.DOTALL,
)
"""`tokenize` finds the same, and takes eleven times as long."""


def _comments(code: str) -> Iterator[tuple[int, str]]:
    line, seen = 1, 0
    for match in STRING_OR_COMMENT.finditer(code):
        if match["comment"]:
            line += code.count("\n", seen, match.start())
            seen = match.start()
            yield line, match["comment"]


@cache
def files() -> list[str]:
    """Of the repository, each with a leading slash."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."]
    return [f"/{path.relative_to(ROOT)}" for top in folders for path in top.rglob("*.*")] + [
        f"/{path.name}" for path in ROOT.iterdir()
    ]


@cache
def strings() -> set[str]:
    """Words of the texts that programs use, and not of those that explain them."""
    found = re.findall(r"\w+", (ROOT / "Makefile").read_text(encoding="utf-8"))
    return {*found, *explanations_and_words()[1]}


def _bases(name: str) -> tuple[Path, Path]:
    return ROOT / name, ROOT / "kinmem" / name


@cache
def words_of(module: Path) -> frozenset[str]:
    code = module.read_text("utf-8") if module.exists() else ""
    return frozenset(re.findall(r"\w+", code))


def is_name(dotted: str) -> bool:
    """Whether it is a module, or something whose name stands in one."""
    for base in _bases(dotted.replace(".", "/")):
        rest: list[str] = []
        while not (base.is_dir() or base.with_suffix(".py").exists()) and base != ROOT:
            rest.append(base.name)
            base = base.parent
        module = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
        is_inside = base != ROOT and (base.name != "kinmem" or dotted.startswith("kinmem."))
        if is_inside and words_of(module).issuperset(rest):
            return True
    return False


@cache
def commands() -> Any:
    return get_command(app)


def is_command(said: str) -> bool:
    """Whether there is such a command, with such options."""
    command = commands()
    known = {name for one in command.params for name in one.opts} | {"--help"}
    for word in said.partition("#")[0].split()[1:]:
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
            known |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        elif word.startswith("--"):
            if word.partition("=")[0] not in known:
                return False
        elif hasattr(command, "commands") and re.fullmatch(r"[a-z-]+", word):
            return False
    return True
