"""The face of kinmem.language: what it offers, and that nobody looks behind it."""

import ast
import inspect
from pathlib import Path

import pytest

from kinmem import language
from tests.tables import each

ROOT = Path(__file__).parent.parent.parent
FACE = ROOT / "kinmem" / "language" / "__init__.py"
CONSTANTS = {"TIMES", "UNIMPORTANT"}


def declared() -> dict[str, str]:
    """The names that a type checker sees, with the modules that define them."""
    (block,) = (
        node
        for node in ast.parse(FACE.read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    )
    return {
        alias.name: (node.module or "").removeprefix("kinmem.language.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_what_is_loaded_late_is_what_is_declared() -> None:
    assert declared() == language._MODULE_OF


@each("name", sorted(declared()))
def test_each_name_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(language, name)

    assert not inspect.ismodule(found)
    assert name in CONSTANTS or inspect.getdoc(found)
    assert name in (language.__doc__ or "") or inspect.isclass(found)


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="kinmem.language has no 'nothing'"):
        language.nothing  # noqa: B018


def test_benchmarks_ask_the_face_as_well() -> None:
    """import-linter sees to the package itself."""
    behind = [
        f"{path.name}: {node.module}"
        for path in (ROOT / "benchmarks").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kinmem.language.")
    ]

    assert behind == []
