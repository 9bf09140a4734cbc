"""The statements in store/sql run on every engine: none of them uses what only SQLite has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import kinmem
from kinmem.store.sqlite.driver import spoken
from tests.tables import each

SHARED = sorted((Path(kinmem.__file__).parent / "store" / "sql").glob("*.py"))
SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|WHERE|FROM|JOIN|ORDER BY|AND|OR|LIMIT)\b")
ONLY_SQLITE = re.compile(
    r"""
    INSERT\ OR | UPDATE\ OR | \bREPLACE\ INTO | \bPRAGMA\b | \bGLOB\b | \bMATCH\b
    | \bINDEXED\ BY\b | \bCROSS\ JOIN\b[^,]*\bON\b | \bNOTNULL\b | \bISNULL\b
    | \bIS\ (NOT\ )?(:\w+|\w+\.\w+) | \bCOLLATE\ (NOCASE|BINARY|RTRIM)\b
    | \b(json_each|json_tree|json_extract|json_group_array|json_group_object|json_replace
        |json_remove|json_set|json_array|iif|ifnull|instr|group_concat|total|changes
        |last_insert_rowid|typeof|julianday|strftime|unixepoch|randomblob|printf)\(
    | \bsqlite_\w+ | \b(min|max)\([^()]*,[^()]*\) | ->>\ '\$ | \bvec_\w+ | \bbm25\b
    | \b(words|turn_words)\.rowid\b | \bLIMIT\ -1\b | \bWHERE\ 1\b | \bAND\ 1\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def statements(path: Path) -> Iterator[str]:
    """Every piece of a text in the module that looks like SQL, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(_part(value) for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if id(node) not in told and SQL.search(text):
            yield text


def _part(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else "x"


@each("path", SHARED, ids=lambda path: path.name)
def test_no_shared_statement_uses_what_only_sqlite_has(path: Path) -> None:
    foreign = [
        (word.group(), text) for text in statements(path) for word in ONLY_SQLITE.finditer(text)
    ]

    assert foreign == []


def test_the_statements_are_found() -> None:
    """Else the test above could not fail."""
    assert sum(len(list(statements(path))) for path in SHARED) > 200


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR REPLACE INTO marks VALUES (?)",
        "SELECT 1 FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))",
        "UPDATE x SET at = max(at, :at)",
        "SELECT 1 FROM x WHERE a IS :a",
        "SELECT after ->> '$.state' FROM history",
        "SELECT a FROM x LIMIT -1",
    ],
)
def test_what_only_sqlite_has_is_recognised(statement: str) -> None:
    assert ONLY_SQLITE.search(statement)


@pytest.mark.parametrize(
    ("shared", "sqlite"),
    [
        pytest.param(
            "SELECT 1 FROM memories m WHERE m.id IN LISTED(:ids)",
            "SELECT 1 FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids))",
            id="a list of texts",
        ),
        pytest.param(
            "DELETE FROM chunks WHERE id IN NUMBERED(?)",
            "DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
            id="a list of numbers",
        ),
        pytest.param(
            "SELECT 1 FROM turns WHERE (session, turn) IN PAIRED(:turns)",
            "SELECT 1 FROM turns WHERE (session, turn) IN"
            " (SELECT value ->> 0 AS one, value ->> 1 AS other FROM json_each(:turns))",
            id="a list of pairs",
        ),
        pytest.param(
            "SELECT 1 FROM a ORDERED JOIN b ON b.x = a.x",
            "SELECT 1 FROM a CROSS JOIN b ON b.x = a.x",
            id="the order of a join",
        ),
        pytest.param(
            "SELECT 1 FROM turns BY INDEX turns_to_learn",
            "SELECT 1 FROM turns INDEXED BY turns_to_learn",
            id="an index",
        ),
    ],
)
def test_sqlite_says_it_in_its_own_words(shared: str, sqlite: str) -> None:
    assert spoken(shared) == sqlite
