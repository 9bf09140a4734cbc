"""How PostgreSQL says the words of store/sql/database.py, and what else it says otherwise."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kinmem.store.sql.database import Bindings

TEXTS = "json_array_elements_text(CAST({} AS json))"
TABLES = {
    "LISTED": f"(SELECT value FROM {TEXTS} AS listed (value))",
    "NUMBERED": f"(SELECT CAST(value AS bigint) AS value FROM {TEXTS} AS listed (value))",
    "PAIRED": "(SELECT value ->> 0 AS one, value ->> 1 AS other"
    " FROM json_array_elements(CAST({} AS json)) AS listed (value))",
    "PARSED": "CAST({0} AS jsonb)",
    "ALIKE": "(kinmem_folded({0}) = kinmem_folded({1}))",
}
"""By word, with its arguments in place of {}."""
TOKEN = re.compile(
    rf"""
    '(?:[^']|'')*' | --[^\n]* | ::                        # as they are
    | \b(?P<word>{"|".join(TABLES)})\((?P<one>[\w:.?]+)(?:,\ (?P<other>[\w:.?]+))?\)
    | (?P<index>\ BY\ INDEX\ \w+) | (?P<ordered>\bORDERED\ JOIN\b)
    | (?P<key>\bON\ CONFLICT\ \() | (?P<place>\?) | :(?P<name>[a-z_]\w*) | (?P<percent>%)
    """,
    re.VERBOSE,
)


LISTS = re.compile(r"\b(?:LISTED|NUMBERED|PAIRED)\(")
UNKNOWN_CHARACTER = re.compile(
    r"\\u0000|\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]..", re.IGNORECASE
)
"""What JSON can say, and no text in PostgreSQL has: NUL, and half of a character."""


def storable(statement: str, bindings: Bindings) -> Bindings:
    """Return the bindings with lists that PostgreSQL can read; what it cannot store is not there
    either."""
    if not LISTS.search(statement):
        return bindings
    if isinstance(bindings, Mapping):
        return {name: _readable(value) for name, value in bindings.items()}
    return [_readable(value) for value in bindings]


def _readable(value: Any) -> Any:
    if isinstance(value, str) and "\\u" in value and value.startswith("["):
        return UNKNOWN_CHARACTER.sub(r"\\ufffd", value)
    return value


@lru_cache(maxsize=2048)
def spoken(statement: str) -> str:
    """Return a shared statement as psycopg takes it, with PostgreSQL's words. Every unique key
    begins with the Kin."""
    return TOKEN.sub(_spoken, statement)


def _spoken(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "one" | "other" | "word":
            given = (spoken(found["one"]), spoken(found["other"] or ""))
            return TABLES[found["word"]].format(*given)
        case "index":
            return ""
        case "ordered":
            return "JOIN"
        case "key":
            return "ON CONFLICT (kin_id, "
        case "place":
            return "%s"
        case "name":
            return f"%({found['name']})s"
        case _:
            return found.group().replace("%", "%%")


STATE = "SELECT * FROM kinmem_state()"
"""The fields of FileState: migrations/0003_recall.sql."""
