"""A record does not change once it is made: who changes one makes another."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kinmem"
CHANGING = set(
    """
    Exchange Found Import Loading Moved Page PagesImport Part Served Session Shared _Copy
    """.split()
)
"""Those that count or collect something as long as they last."""


def test_records_do_not_change() -> None:
    changing = {name for path in PACKAGE.rglob("*.py") for name in _changing(path)}

    assert changing == CHANGING


def _changing(path: Path) -> Iterator[str]:
    """The dataclasses of a module that are not frozen."""
    text = path.read_text(encoding="utf-8")
    if "@dataclass" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            for made in map(ast.unparse, node.decorator_list):
                if made.startswith("dataclass") and "frozen=True" not in made:
                    yield node.name
