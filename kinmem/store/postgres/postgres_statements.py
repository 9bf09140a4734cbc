"""How PostgreSQL says the words of store/sql/database.py, and the plans that the server keeps for
readings: planning one takes as long as running it.

A statement is prepared under a name that is made of its text, once a connection has read it some
times. A pooler may put the next transaction on another connection of the server: there the name
means the same statement, or it is not known, and the message is sent once more. So no pooler needs
to know of it. Where a migration has changed the type of a column, the statement is prepared anew.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from kinmem.store.postgres.pooled_server import (
    PlanIsThere,
    PlanIsUnknown,
    PlanMayBeOutdated,
    StatementIsRefused,
)
from kinmem.store.sql.database import Bindings

if TYPE_CHECKING:
    from psycopg import ClientCursor, Connection

READ_BEFORE = 2
"""How often a connection has read what is worth a plan."""
MOST_KEPT = 100
"""Plans of one connection, of about 100 KB each; the pool replaces a connection each hour."""
# For whatever values come. While a plan is made the tables may be nearly empty, and reading them
# whole the cheapest: kept, it would read the rows of all Kins once there are many.
GENERAL = "; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off"
PLACE = re.compile(r"%(?:\((?P<name>\w+)\)s|s|%)")


class _Kept:
    """What one connection has read: how often, and of what it has a plan."""

    def __init__(self) -> None:
        self.planned: set[str] = set()
        self._read: OrderedDict[str, int] = OrderedDict()

    def is_worth_it(self, name: str) -> bool:
        """Count one more reading; returns whether it has a plan, or is to get one."""
        if name in self.planned:
            return True
        count = self._read.pop(name, 0)
        self._read[name] = count + 1
        while len(self._read) > MOST_KEPT:
            self._read.popitem(last=False)
        return count >= READ_BEFORE and len(self.planned) < MOST_KEPT


_kept: "WeakKeyDictionary[Connection[Any], _Kept]" = WeakKeyDictionary()
_refused: set[str] = set()
"""Names of statements that the server does not prepare."""


class Reading(NamedTuple):
    """A reading statement in a transaction of its own."""

    planning: str
    """The settings that its plan depends on."""
    settings: str
    """All of them."""
    sql: str
    bindings: Bindings

    def planned_anew(self, cursor: "ClientCursor[Any]") -> None:
        """Run it in one message, with a plan for its values."""
        message = f"BEGIN READ ONLY{self.settings};{spoken(self.sql)}\n;COMMIT"
        cursor.execute(message, self.bindings)

    def by_kept_plan(self, cursor: "ClientCursor[Any]") -> None:
        """Run it in one message, with a plan for whatever values come if it is read often."""
        kept = _kept.setdefault(cursor.connection, _Kept())
        name = _prepared(self.planning, self.sql)[0]
        if name in _refused or not kept.is_worth_it(name):
            self.planned_anew(cursor)
            return
        try:
            self._run_prepared(cursor, name in kept.planned)
            kept.planned.add(name)
        except StatementIsRefused:
            cursor.execute("ROLLBACK")
            self.planned_anew(cursor)
            _refused.add(name)  # it runs with literals, so only its types are at fault

    def _run_prepared(self, cursor: "ClientCursor[Any]", is_kept: bool) -> None:
        name, preparing, executing = _prepared(self.planning, self.sql)
        begin = f"BEGIN READ ONLY{self.settings}{GENERAL};"
        end = f"{cursor.mogrify(executing, self.bindings)};COMMIT"
        try:
            try:
                cursor.execute(f"{begin}{'' if is_kept else preparing}{end}".encode())
            except PlanIsThere:
                is_kept = True
                cursor.execute(f"ROLLBACK;{begin}{end}".encode())
            except PlanIsUnknown:
                is_kept = False
                cursor.execute(f"ROLLBACK;{begin}{preparing}{end}".encode())
        except PlanMayBeOutdated:
            if not is_kept:  # a new plan fits the tables: the statement asks for what is not there
                raise
            cursor.execute(f"ROLLBACK;DEALLOCATE {name};{begin}{preparing}{end}".encode())


@lru_cache(maxsize=2048)
def _prepared(planning: str, sql: str) -> tuple[str, str, str]:
    """Return a name, what prepares the statement, and what runs it with literals."""
    places: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found.group() == "%%":
            return "%"
        if found["name"] is None or found.group() not in places:
            places.append(found.group())
            return f"${len(places)}"
        return f"${places.index(found.group()) + 1}"

    text = PLACE.sub(numbered, spoken(sql))
    name = f"kinmem_{blake2b(f'{planning};{text}'.encode(), digest_size=12).hexdigest()}"
    values = f"({', '.join(places)})" if places else ""
    return name, f"PREPARE {name} AS {text}\n;", f"EXECUTE {name}{values}"


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
