"""What imports what, so that the tree can be read from the top down and starts fast."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from scripts.tree import layers

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "kinmem").rglob("*.py"))
LONGEST = 350
"""Lines of a class."""
MOST_ENTRIES = 30
MOST_ROWS = 14
MOST_MODULES = 250
"""250 are wanted; whoever makes them fewer lowers it."""
DRIVERS = {"apsw", "sqlite_vec", "sqlite3"}
SHORT_LINES = 40
STILL_SHORT = frozenset[str]()
"""Modules that belong into their one importer and are not there yet; the list only shrinks."""
STILL_SHARED = frozenset(
    """
    llm.base store.base
    """.split()
)
"""Modules whose name another module has as well; the list only shrinks."""


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All of a module's syntax, which is read once."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path) -> Iterator[str]:
    """Every module that is imported anywhere in the file."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(statement: str) -> set[str]:
    """Top-level packages in memory after the statement."""
    out = python(f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}})")
    return set(out.split())


def test_import_contracts() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        pytest.param(
            "import kinmem", {"litellm", "onnxruntime", "tokenizers", "mcp", "apsw"}, id="package"
        ),
        pytest.param(
            "from kinmem.settings import load; load()",
            {
                "litellm",
                "onnxruntime",
                "tokenizers",
                "mcp",
                "apsw",
                "numpy",
                "rapidfuzz",
                "pydantic",
            },
            id="settings",
        ),
        pytest.param(
            "from kinmem.settings import load\n"
            "from kinmem.wiring.open_home import open_conversation\n"
            "with open_conversation(load()) as talk:\n"
            "    talk.observe('prompt', 's', 't', 'where is the tea kept, in the cellar?')",
            {"litellm", "onnxruntime", "tokenizers", "mcp", "numpy", "rapidfuzz", "pydantic"},
            id="a hook without a server",
        ),
        pytest.param(
            "from kinmem.cli import main\n"
            "sys.argv = ['kinmem', '--help']\n"
            "try: sys.stdout = sys.stderr; main()\n"
            "except SystemExit: pass\n"
            "sys.stdout = sys.__stdout__",
            {"litellm", "onnxruntime", "tokenizers", "mcp", "numpy"},
            id="kinmem --help",
        ),
        pytest.param(
            "import kinmem\nwith kinmem.open('ana') as memory:\n    memory.memorize('tea at four')",
            {"litellm", "mcp", "starlette"},
            id="a memory with the built-in model",
        ),
    ],
)
def test_nothing_heavy_is_loaded_early(statement: str, absent: set[str]) -> None:
    assert loaded_by(statement) & absent == set()


def test_opening_a_memory_prints_nothing() -> None:
    """stdout is the protocol's."""
    code = "import kinmem\nwith kinmem.open('ana') as memory: memory.recall('tea')"

    assert python(code) == ""


@pytest.mark.parametrize("seconds", [0.05, 0.15, 0.25])
def test_a_program_may_end_while_a_model_is_loading(seconds: float) -> None:
    code = (
        "import threading, time\n"
        "from kinmem.llm import deadline\n"
        "from kinmem.llm.builtin import BuiltinEmbedder\n"
        "from kinmem.llm.builtin import BuiltinJudge\n"
        "deadline.LOADED_BY_THE_END = 50\n"  # how long it takes is the machine's affair
        "for model in (BuiltinEmbedder(), BuiltinJudge()):\n"
        "    threading.Thread(target=model.warm, daemon=True).start()\n"
        f"time.sleep({seconds})"
    )

    assert python(code) == ""  # else aborted by the library under the thread


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 matches it wrongly."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+")

    assert [name_of(path) for path in MODULES if possessive.search(path.read_text("utf-8"))] == []


def test_few_modules_know_the_driver() -> None:
    known = ("driver", "connection", "snapshot")
    tokenizer = "store.postgres.postings"
    may_know = {tokenizer, *(f"store.sqlite.{name}" for name in known)}

    do_know = {
        in_package(path)
        for path in MODULES
        if {name.split(".")[0] for name in imported(path)} & DRIVERS
    }

    assert do_know - may_know == set()


def test_imports_are_absolute() -> None:
    relative = {
        name_of(path)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.level
    }

    assert relative == set()


def test_the_tree_can_be_taken_in_at_a_glance() -> None:
    entries = [path for path in (ROOT / "kinmem").iterdir() if path.name != "__pycache__"]

    assert len(entries) <= MOST_ENTRIES
    assert len(layers()) <= MOST_ROWS
    assert len([path for path in MODULES if path.name != "__init__.py"]) <= MOST_MODULES


def test_what_only_a_neighbour_needs_is_in_that_neighbour() -> None:
    """A module earns its file when a reader would look for it by name."""
    importers: dict[str, set[Path]] = {}
    known = {in_package(path) for path in MODULES}
    for path in MODULES:
        for name in own_modules_imported(path, known):
            importers.setdefault(name, set()).add(path)

    short = {
        in_package(path)
        for path in MODULES
        if path.name != "__init__.py"
        and len(path.read_text(encoding="utf-8").splitlines()) < SHORT_LINES
        and [importer.parent for importer in importers.get(in_package(path), ())] == [path.parent]
    }

    assert short - STILL_SHORT == set()


def test_no_two_modules_share_a_name() -> None:
    """Who hears of `life.py` must not have to ask which one."""
    named: dict[str, list[str]] = {}
    for path in MODULES:
        if path.name not in ("__init__.py", "pipeline.py"):
            named.setdefault(path.name, []).append(in_package(path))

    shared = {module for modules in named.values() if len(modules) > 1 for module in modules}

    assert shared - STILL_SHARED == set()


def in_package(path: Path) -> str:
    """A module as its importers name it, without `kinmem.`"""
    parts = path.relative_to(ROOT / "kinmem").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def own_modules_imported(path: Path, known: set[str]) -> Iterator[str]:
    """Those of kinmem that the file imports anywhere, or something of which it does."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            within = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [
                name if name.removeprefix("kinmem.") in known else node.module for name in within
            ]
        else:
            continue
        yield from (name.removeprefix("kinmem.") for name in names if name.startswith("kinmem."))


def test_no_class_is_longer_than_a_reader_can_hold() -> None:
    classes = [node for path in MODULES for node in nodes(path) if isinstance(node, ast.ClassDef)]

    assert [one.name for one in classes if (one.end_lineno or 0) - one.lineno >= LONGEST] == []


def test_every_package_that_is_imported_is_declared() -> None:
    """What another package happens to bring may be gone with its next release."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    lines = [*project["dependencies"], *extras]
    declared = {plain(re.split(r"[<>=!~ ;\[]", line)[0]) for line in lines}
    providers = packages_distributions()
    used = (
        {name.split(".")[0] for path in MODULES for name in imported(path)}
        - sys.stdlib_module_names
        - {"kinmem"}
    )

    missing = {name for name in used if not declared & set(map(plain, providers.get(name, [])))}

    assert missing == set()


def plain(distribution: str) -> str:
    return distribution.lower().replace("_", "-")
