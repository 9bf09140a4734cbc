"""The tree of kinmem with a line for each entry, for docs/architecture.md: from its docstrings."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kinmem"
WIDTH = 24
"""Characters before what an entry is."""


def layers() -> list[list[str]]:
    """Entries of kinmem/ from the top down; those of a row do not import each other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        contract
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    return [row.split(" | ") for row in contract["layers"]]


def tree() -> str:
    """A line for each entry of kinmem/, and below a folder a line for each file or folder in it."""
    return "\n".join(line for row in layers() for name in row for line in _entry(name))


def _entry(name: str) -> Iterator[str]:
    path = PACKAGE / name
    if path.is_dir():
        yield f"{name + '/':<{WIDTH}} {_told(path / '__init__.py')}"
        for inner in sorted(path.iterdir()):
            if (inner / "__init__.py").exists():
                yield f"  {inner.name + '/':<{WIDTH - 2}} {_told(inner / '__init__.py')}"
            elif inner.suffix == ".py" and inner.stem != "__init__":
                yield f"  {inner.name:<{WIDTH - 2}} {_told(inner)}"
    else:
        yield f"{name + '.py':<{WIDTH}} {_told(path.with_suffix('.py'))}"


def _told(path: Path) -> str:
    """The first sentence of the file's docstring, in one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(docstring.partition("\n\n")[0].split())
    return first.partition(". ")[0].removesuffix(".")
