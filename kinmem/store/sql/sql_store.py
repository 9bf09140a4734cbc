"""What all engines share of the store of one Kin, composed of its parts; also lists memories, and
what they contradict."""

import base64
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from kinmem.clock import Clock
from kinmem.errors import InvalidInput
from kinmem.models import ROLES, Damaged, Entity, Event, Filters, Memory, Page
from kinmem.models.turns import Conflict
from kinmem.store.base import Answers
from kinmem.store.memory import Sort
from kinmem.store.sql import entity_rows
from kinmem.store.sql.damage import Row, readable
from kinmem.store.sql.database import Database, kept_states, state_of
from kinmem.store.sql.document_rows import SqlDocuments
from kinmem.store.sql.graph_rows import SqlGraph
from kinmem.store.sql.history_rows import SqlChanges, SqlPast
from kinmem.store.sql.life_rows import SqlLife
from kinmem.store.sql.linked_memories import SqlLinks
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import (
    COLUMNS,
    IS_LIVE,
    PUT_AWAY,
    SAID_AT,
    VISIBLE,
    Allowed,
    memories_of,
    time_text,
)
from kinmem.store.sql.record_rows import SqlTransfer
from kinmem.store.sql.sharing import Files, SqlOthers, with_present_contexts
from kinmem.store.sql.turn_rows import SqlShownNotes, SqlSnapshots, SqlTurns
from kinmem.store.sql.upkeep_rows import SqlJobs, SqlRounds, SqlSummaries
from kinmem.store.sql.writer import MemoryWriter, close_conflict, refuse
from kinmem.text import folded

# The name of a Kin that nobody has named is a common word, not a person.
DEFAULT_KIN = "default"
SORTS: Mapping[Sort, tuple[str, str]] = {
    "newest": ("m.id", "DESC"),  # uuid7: ids order as the times of storing do
    "oldest": ("m.id", "ASC"),
    "importance": ("coalesce(m.importance, 5)", "DESC"),
    "used": ("m.recalled_count", "DESC"),
    "said": (SAID_AT, "ASC"),
}
MOST_KEY = 2**63  # SQLite's integers end here
# Found by the index on places; few memories have one.
SAID_IN_PLACES = f"""
    SELECT m.content_hash, m.scope FROM memories m
    WHERE m.place IS NOT NULL AND NOT (m.place >= '?' AND m.place < '@') AND {IS_LIVE}
    GROUP BY m.content_hash, m.scope HAVING count(DISTINCT m.place) >= :least
"""


class SqlStore:
    """See Store. What depends on the engine is added by a class of its own: index, transcript,
    forgetting, health, keep_house."""

    def __init__(self, files: Files) -> None:
        self.kin = files.kin
        self._files = files
        self._names: tuple[tuple[int, ...], frozenset[str]] = ((), frozenset())
        own, clock = files.own.database, files.clock
        self.documents = SqlDocuments(files)
        self.summaries = SqlSummaries(files)
        self.life = SqlLife(files)
        self.rounds = SqlRounds(files)
        self.links = SqlLinks(files)
        self.graph = SqlGraph(files)
        self.turns = SqlTurns(own)
        self.snapshots = SqlSnapshots(own)
        self.shown = SqlShownNotes(own, clock)
        self.jobs = SqlJobs(own, clock)
        self.answers: Answers | None = None
        self.decisions = SqlDecisions(own, clock)
        self.others = SqlOthers(files)
        self.past = SqlPast(own, self.kin)
        self.changes = SqlChanges(files)
        self.transfer = SqlTransfer(files)
        self.writer = writer = MemoryWriter(
            files, self.links.changes, partial(self.life.renew, used=True)
        )
        self.add = writer.add
        self.update = writer.update
        self.apply = writer.apply
        self.erase = writer.erase
        self.in_bin = writer.in_bin
        self.purge = writer.purge
        self.count_use = files.uses.count
        self.flush_use = writer.flush_use
        self.set_places = writer.set_places
        self.get = files.get
        self.memories = files.memories
        self.same_statements = files.own.same_all
        self.with_present_contexts = partial(with_present_contexts, files)
        self.reading = kept_states

    def page(self, filters: Filters, sort: Sort, limit: int, cursor: str | None = None) -> Page:
        key, order = SORTS[sort]
        behind = None if cursor is None else position(cursor, sort)
        found: dict[str, Row] = {}
        for file, allowed in self._files.allowed(filters):
            if filters.ids is not None and found.keys() >= set(filters.ids):
                break
            rows = _listed(file.database, allowed, (key, order), behind, limit + 1)
            found |= {row[1]: row for row in rows}
        rows = sorted(found.values(), key=lambda row: row[:2], reverse=order == "DESC")
        memories = memories_of((row[1:] for row in rows[:limit]), self._files.own.database.damage)
        if len(rows) <= limit:
            return Page(memories)
        last = rows[limit - 1]
        return Page(memories, cursor_of(sort, last[0], last[1]))

    def names(self) -> frozenset[str]:
        revision, names = self._names
        if revision != self.revision:
            revision = self.revision
            own, shared = self._files
            shown = f"NOT {PUT_AWAY}"
            found = {
                *_distinct(own, "speaker", "TRUE"),
                *_distinct(own, "kin", "m.scope = 'shared'"),
                *_distinct(shared, "speaker", shown),  # what own copies say, the originals do
                *_distinct(shared, "kin", shown),
            }
            names = frozenset(set(map(folded, found)) - ROLES - {DEFAULT_KIN})
            self._names = (revision, names)
        return names

    def subjects(self, prefix: str, limit: int) -> list[str]:
        used: dict[str, int] = defaultdict(int)
        rows = self._visible(
            f"SELECT m.subject, count(*) FROM memories m WHERE {VISIBLE} AND {IS_LIVE}"
            " AND (m.expires_at IS NULL OR m.expires_at > :now)"
            " AND m.subject IS NOT NULL GROUP BY m.subject",
            now=time_text(self._files.clock()),
        )
        for subject, count in rows:
            used[subject] += count
        wanted = folded(prefix)
        fitting = [subject for subject in used if folded(subject).startswith(wanted)]
        return sorted(fitting, key=lambda subject: (-used[subject], subject))[:limit]

    def places(self) -> list[str]:
        rows = self._visible(
            f"SELECT DISTINCT m.place FROM memories m WHERE {VISIBLE} AND m.place IS NOT NULL"
        )
        return sorted({place for (place,) in rows if place[0] != "?"})

    def said_in_places(self, least: int) -> list[list[Memory]]:
        groups: dict[tuple[str | None, ...], list[Memory]] = defaultdict(list)
        rows = self._files.own.database.rows(
            f"SELECT {COLUMNS} FROM memories m"
            f" WHERE (m.content_hash, m.scope) IN ({SAID_IN_PLACES}) ORDER BY m.rowid",
            {"least": least},
        )
        for memory in memories_of(rows, self._files.own.database.damage):
            said = (memory.scope, memory.content_hash, memory.speaker, memory.subject)
            groups[said].append(memory)
        return list(groups.values())

    def unplaced(self) -> list[Memory]:
        rows = self._files.own.database.rows(
            f"SELECT {COLUMNS} FROM memories m WHERE m.place >= '?' AND m.place < '@'"
        )
        return memories_of(rows, self._files.own.database.damage)

    def parents(self, id: str) -> list[str]:
        rows = [
            row
            for file in self._files
            for row in file.database.rows("SELECT parent FROM lineage WHERE child = ?", (id,))
        ]
        return sorted({parent for (parent,) in rows})

    def entities(self, id: str) -> list[Entity]:
        database, row = self._files.holder(id)
        with database.reading() as db:
            return entity_rows.of(db, row)

    def history(self, id: str, limit: int = 100, *, before: int | None = None) -> list[Event]:
        self.get(id)
        return self._files.own.history(id, limit, before)  # none of what others share

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        tables = ("state", "scope", "category", "kin", "tier")
        counts: dict[str, dict[str, int]] = {table: {} for table in tables}
        rows = self._visible(
            "SELECT m.state, m.scope, m.category, m.kin, m.tier, count(*) FROM memories m"
            f" WHERE {VISIBLE} GROUP BY m.state, m.scope, m.category, m.kin, m.tier"
        )
        for *keys, count in rows:
            for table, key in zip(counts.values(), keys, strict=True):
                table[key] = table.get(key, 0) + count
        return counts

    def growth(self) -> Mapping[str, int]:
        return self._counted("substr(m.created_at, 1, 10)", "1")

    def by_hour(self) -> Mapping[str, int]:
        return self._counted(
            f"substr({SAID_AT}, 1, 13)", "m.state NOT IN ('deleted', 'quarantined')"
        )

    def _counted(self, key: str, where: str) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for value, count in self._visible(
            f"SELECT {key}, count(*) FROM memories m WHERE {VISIBLE} AND {where} GROUP BY 1"
        ):
            counts[value] += count
        return dict(sorted(counts.items()))

    def _visible(self, sql: str, **bound: Any) -> list[Row]:
        """Return the rows of both files; `sql` reads what is VISIBLE."""
        return [
            row
            for file in self._files
            for row in file.database.rows(sql, {**self._files.view(file), **bound})
        ]

    @property
    def damage(self) -> list[Damaged]:
        return [one for file in self._files for one in file.database.damage]

    @property
    def revision(self) -> tuple[int, ...]:
        return tuple(file.revision for file in self._files)


def _distinct(file: MemoryFile, column: str, condition: str) -> list[str]:
    """Return the values of an indexed column. Jumps from one value to the next, which is fast if
    they are few."""
    rows = file.database.rows(
        f"""
        WITH RECURSIVE jump(value) AS (
            SELECT min({column}) FROM memories m WHERE {condition}
            UNION ALL
            SELECT (
                SELECT min({column}) FROM memories m WHERE {column} > jump.value AND {condition}
            ) FROM jump
            WHERE jump.value IS NOT NULL
        )
        SELECT value FROM jump WHERE value IS NOT NULL
        """
    )
    return [value for (value,) in rows]


def cursor_of(sort: Sort, key: Any, id: str) -> str:
    """Return the cursor for what follows the row with this key and id."""
    return base64.urlsafe_b64encode(json.dumps([sort, key, id]).encode()).decode().rstrip("=")


def position(cursor: str, sort: Sort) -> tuple[Any, str]:
    """Return key and id of the row after which to continue. Raises InvalidInput."""
    try:
        made_for, key, id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        made_for, key, id = None, None, None
    fitting = (
        isinstance(key, str) and key.isascii()
        if sort in ("newest", "oldest", "said")
        else isinstance(key, int | float) and abs(key) < MOST_KEY
    )
    if made_for != sort or not fitting or not isinstance(id, str) or not id.isascii():
        raise InvalidInput(
            "cursor is none that an earlier page of just this listing gave; leave it out",
            "no_such_page",
        )
    return key, id


def _listed(
    database: Database,
    allowed: Allowed,
    by: tuple[str, str],
    behind: Sequence[Any] | None,
    most: int,
) -> list[Row]:
    """Return so many rows behind that key and id, or all that follow: a damaged one ends
    nothing."""
    key, order = by
    found: list[Row] = []
    while (wanted := most - len(found)) > 0:
        beyond, after = "TRUE", {}
        if behind is not None:
            beyond = f"({key}, m.id) {'<' if order == 'DESC' else '>'} (:key, :id)"
            after = {"key": behind[0], "id": behind[1]}
        # Numbers of rows are sorted, not whole rows: thousands may have been stored at one moment.
        rows = database.rows(
            f"SELECT {key}, {COLUMNS} FROM memories m WHERE m.rowid IN"
            f" (SELECT m.rowid FROM memories m WHERE {allowed.condition} AND {beyond}"
            f" ORDER BY {key} {order}, m.id {order} LIMIT :limit)"
            f" ORDER BY {key} {order}, m.id {order}",
            {**allowed.bound, **after, "limit": wanted},
        )
        found += [row for row in rows if bytes not in map(type, row[:2])]
        if not rows or (len(rows) < wanted and not len(database.damage)):
            break
        behind = rows[-1][:2]
    return found


def _refused(row: Row) -> frozenset[str]:
    return frozenset(json.loads(row[0]))


def _conflict(row: Row) -> Conflict:
    id, newer, older, kind, mode, reason, status, chance, at = row
    moment = datetime.fromisoformat(at)
    return Conflict(newer, older, kind, mode, reason, status, moment, id, chance)


class SqlDecisions:
    """See Decisions."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def conflicts(self, *, all: bool = False) -> list[Conflict]:
        if not all and not state_of(self._database).has_open_conflicts:
            return []
        rows = self._database.rows(
            "SELECT id, newer, older, kind, mode, reason, status, chance, at FROM conflicts"
            " WHERE :all OR status = 'open' ORDER BY id DESC",
            {"all": all},
        )
        return readable(rows, _conflict, "conflicts", self._database.damage)

    def close_conflict(self, id: int, status: str) -> None:
        with self._database.writing() as db:
            close_conflict(db, id, status)

    def refuse(self, kind: str, ids: Collection[str]) -> None:
        with self._database.writing() as db:
            refuse(db, kind, ids, self._clock())

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        rows = self._database.rows("SELECT ids FROM refusals WHERE kind = ?", (kind,))
        damage = self._database.damage
        return frozenset(readable(rows, _refused, "refusals", damage))
