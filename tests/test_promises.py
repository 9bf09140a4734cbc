"""Whether every promise of docs/reliability.md and docs/security.md names a test that exists."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("docs/reliability.md", "docs/security.md")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def promises(page: str) -> Iterator[list[str]]:
    """The cells of each row that promises something: not a heading, not the line below one, and
    not of another table."""
    _, _, table = (ROOT / page).read_text(encoding="utf-8").partition("| promise |")
    for line in table.partition("\n\n")[0].splitlines()[1:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not cells[0].startswith(("**", "---")):
            yield cells


@cache
def functions_in(path: Path) -> set[str]:
    """The names of the tests in a file; none where there is no such file."""
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_promise_names_a_test_that_exists(page: str) -> None:
    rows = list(promises(page))
    assert rows
    for row in rows:
        assert len(row) == 3, f"promise, figure and test are wanted: {row}"
        named = TEST.findall(row[2])
        assert named, f"no test: {row[0]}"
        for file, name in named:
            assert name in functions_in(ROOT / file), f"{row[0]}: {file}::{name} does not exist"


@pytest.mark.parametrize("page", [*PAGES, "SECURITY.md", "docs/encryption.md", "docs/tools.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    """Also outside of the table of promises, as in the threat model."""
    text = (ROOT / page).read_text(encoding="utf-8")

    named = {(file, name) for file, name in TEST.findall(text)}
    assert {one for one in named if one[1] not in functions_in(ROOT / one[0])} == set()
