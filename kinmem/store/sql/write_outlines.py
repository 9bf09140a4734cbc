"""What the latest writes did, without reading each line of one that changed thousands of
memories."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from kinmem.models import Event
from kinmem.store.history import Outline
from kinmem.store.sql.database import Database
from kinmem.store.sql.history_rows import LARGEST, events

# Lines of one write that are read; of more, the latest are.
MOST_LINES = 100
# One step down the index for each write: DISTINCT reads every line.
NUMBERS = """
    WITH RECURSIVE latest (number) AS (
        SELECT max(write) FROM history WHERE kin = :kin AND write < :before
        UNION ALL
        SELECT (SELECT max(h.write) FROM history h WHERE h.kin = :kin AND h.write < latest.number)
        FROM latest WHERE latest.number IS NOT NULL
    )
    SELECT number FROM latest WHERE number IS NOT NULL LIMIT :limit
"""
SIZES = """
    SELECT write, count(*) FROM history WHERE kin = :kin AND write IN NUMBERED(:writes)
    GROUP BY write
"""
ACTIONS = """
    SELECT action, count(*) FROM history WHERE kin = :kin AND write = :write GROUP BY action
"""
MEMORIES = "SELECT count(DISTINCT memory_id) FROM history WHERE kin = :kin AND write = :write"
REVERTS = """
    SELECT memory_id, reverts FROM history
    WHERE kin = :kin AND write = :write AND reverts IS NOT NULL
"""


def outlines(database: Database, kin: str, limit: int, before: int | None) -> list[Outline]:
    """See Past.outlines."""
    bound = {"kin": kin, "before": LARGEST if before is None else before, "limit": limit}
    numbers = [number for (number,) in database.rows(NUMBERS, bound)]
    sizes: dict[int, int] = dict(database.rows(SIZES, {"kin": kin, "writes": json.dumps(numbers)}))
    small = [number for number in numbers if sizes[number] <= MOST_LINES]
    lines = _lines_of(database, kin, small)
    return [
        _outline(number, lines.get(number, []))
        if sizes[number] <= MOST_LINES
        else _outline_of_long(database, kin, number)
        for number in numbers
    ]


def _lines_of(database: Database, kin: str, writes: Sequence[int]) -> Mapping[int, list[Event]]:
    which = "kin = :kin AND write IN NUMBERED(:writes) ORDER BY seq DESC"
    found: dict[int, list[Event]] = {}
    for line in events(database, which, {"kin": kin, "writes": json.dumps(writes)}):
        found.setdefault(line.write, []).append(line)
    return found


def _outline(number: int, lines: Sequence[Event]) -> Outline:
    reverts = frozenset((line.memory_id, write) for line in lines for write in line.reverts)
    many = len({line.memory_id for line in lines})
    return Outline(number, lines, Counter(line.action for line in lines), many, reverts)


def _outline_of_long(database: Database, kin: str, number: int) -> Outline:
    of_write = {"kin": kin, "write": number}
    which = "kin = :kin AND write = :write ORDER BY seq DESC LIMIT :limit"
    reverts = (
        (memory, write)
        for memory, written in database.rows(REVERTS, of_write)
        for write in json.loads(written)
    )
    return Outline(
        number,
        events(database, which, {**of_write, "limit": MOST_LINES}),
        Counter(dict(database.rows(ACTIONS, of_write))),
        database.rows(MEMORIES, of_write)[0][0],
        frozenset(reverts),
    )
