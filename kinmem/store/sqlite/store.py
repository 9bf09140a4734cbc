"""The store of one Kin, composed of its parts; also reads memories."""

import base64
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kinmem.clock import Clock, utc_now
from kinmem.errors import InvalidInput, StoreError
from kinmem.models import ROLES, Draft, Entity, Event, Filters, Health, Memory, Page
from kinmem.settings import kin_name
from kinmem.store.memory import Sort
from kinmem.store.sqlite import entity_rows
from kinmem.store.sqlite.connection import BeforeUpgrade, Row, without_backup
from kinmem.store.sqlite.document_parts import SqliteDocuments
from kinmem.store.sqlite.file_state import kept_states
from kinmem.store.sqlite.graph_rows import SqliteGraph
from kinmem.store.sqlite.history_rows import SqlitePast
from kinmem.store.sqlite.life_rows import SqliteLife
from kinmem.store.sqlite.linked_memories import SqliteLinks
from kinmem.store.sqlite.maintenance import SqliteDecisions, SqliteJobs, examine, keep_house
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.name_traces import SqliteForgetting
from kinmem.store.sqlite.queries import (
    COLUMNS,
    IS_LIVE,
    PUT_AWAY,
    SAID_AT,
    VISIBLE,
    memory_of,
    time_text,
)
from kinmem.store.sqlite.search_index import SqliteIndex
from kinmem.store.sqlite.sharing import KinFiles
from kinmem.store.sqlite.turn_rows import SqliteShownNotes, SqliteSnapshots, SqliteTurns
from kinmem.store.sqlite.turn_search import SqliteTranscript
from kinmem.store.sqlite.upkeep_rows import SqliteRounds, SqliteSummaries
from kinmem.store.sqlite.writer import MemoryWriter
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


class SqliteStore:
    """See Store. Uses `kins/<kin>.db` and `shared.db` below `home`."""

    def __init__(
        self,
        home: Path,
        kin: str,
        clock: Clock = utc_now,
        before_upgrade: BeforeUpgrade = without_backup,
    ) -> None:
        self.kin = kin_name(kin)
        self._home = home
        self._names: tuple[tuple[int, ...], frozenset[str]] = ((), frozenset())
        self.files = files = KinFiles(home, self.kin, clock, before_upgrade)
        own = files.own.database
        self.index = SqliteIndex(files)
        self.documents = SqliteDocuments(files)
        self.summaries = SqliteSummaries(files)
        self.life = SqliteLife(files)
        self.rounds = SqliteRounds(files)
        self.links = SqliteLinks(files)
        self.graph = SqliteGraph(files)
        self.turns = SqliteTurns(own)
        self.snapshots = SqliteSnapshots(own)
        self.shown = SqliteShownNotes(own, clock)
        self.transcript = SqliteTranscript(files)
        self.jobs = SqliteJobs(own, clock)
        self.decisions = SqliteDecisions(own, clock)
        self.past = SqlitePast(files)
        writer = MemoryWriter(files, self.links.changes, partial(self.life.renew, used=True))
        self.forgetting = SqliteForgetting(files, self.documents, writer.erase_all)
        self.add = writer.add
        self.update = writer.update
        self.apply = writer.apply
        self.erase = writer.erase
        self.in_bin = writer.in_bin
        self.purge = writer.purge
        self.count_use = writer.count_use
        self.flush_use = writer.flush_use
        self.set_places = writer.set_places
        self.get = files.get
        self.memories = files.memories
        self.reading = kept_states

    def page(self, filters: Filters, sort: Sort, limit: int, cursor: str | None = None) -> Page:
        key, order = SORTS[sort]
        after: dict[str, Any] = {}
        beyond = "1"
        if cursor is not None:
            after["key"], after["id"] = position(cursor, sort)
            beyond = f"({key}, m.id) {'<' if order == 'DESC' else '>'} (:key, :id)"
        found: dict[str, Row] = {}
        for file, allowed in self.files.allowed(filters):
            if filters.ids is not None and found.keys() >= set(filters.ids):
                break
            rows = file.database.rows(
                f"SELECT {key}, {COLUMNS} FROM memories m WHERE {allowed.condition} AND {beyond}"
                f" ORDER BY {key} {order}, m.id {order} LIMIT :limit",
                {**allowed.bound, **after, "limit": limit + 1},
            )
            found |= {row[1]: row for row in rows}
        rows = sorted(found.values(), key=lambda row: row[:2], reverse=order == "DESC")
        memories = [memory_of(row[1:]) for row in rows[:limit]]
        if len(rows) <= limit:
            return Page(memories)
        last = rows[limit - 1]
        return Page(memories, cursor_of(sort, last[0], last[1]))

    def same_statements(self, drafts: Sequence[Draft]) -> list[str | None]:
        return self.files.own.same_all(drafts)

    def names(self) -> frozenset[str]:
        revision, names = self._names
        if revision != self.revision:
            revision = self.revision
            own, shared = self.files
            shown = f"NOT {PUT_AWAY}"
            found = {
                *_distinct(own, "speaker", "1"),
                *_distinct(own, "kin", "m.scope = 'shared'"),
                *_distinct(shared, "speaker", shown),  # what own copies say, the originals do
                *_distinct(shared, "kin", shown),
            }
            names = frozenset(set(map(folded, found)) - ROLES - {DEFAULT_KIN})
            self._names = (revision, names)
        return names

    def subjects(self, prefix: str, limit: int) -> list[str]:
        used: dict[str, int] = defaultdict(int)
        for file in self.files:
            rows = file.database.rows(
                f"SELECT m.subject, count(*) FROM memories m WHERE {VISIBLE} AND {IS_LIVE}"
                " AND (m.expires_at IS NULL OR m.expires_at > :now)"
                " AND m.subject IS NOT NULL GROUP BY m.subject",
                {**self.files.view(file), "now": time_text(self.files.clock())},
            )
            for subject, count in rows:
                used[subject] += count
        wanted = folded(prefix)
        fitting = [subject for subject in used if folded(subject).startswith(wanted)]
        return sorted(fitting, key=lambda subject: (-used[subject], subject))[:limit]

    def places(self) -> list[str]:
        rows = [
            row
            for file in self.files
            for row in file.database.rows(
                f"SELECT DISTINCT m.place FROM memories m WHERE {VISIBLE} AND m.place IS NOT NULL",
                self.files.view(file),
            )
        ]
        return sorted({place for (place,) in rows if place[0] != "?"})

    def said_in_places(self, least: int) -> list[list[Memory]]:
        groups: dict[tuple[str | None, ...], list[Memory]] = defaultdict(list)
        rows = self.files.own.database.rows(
            f"SELECT {COLUMNS} FROM memories m"
            f" WHERE (m.content_hash, m.scope) IN ({SAID_IN_PLACES}) ORDER BY m.rowid",
            {"least": least},
        )
        for memory in map(memory_of, rows):
            said = (memory.scope, memory.content_hash, memory.speaker, memory.subject)
            groups[said].append(memory)
        return list(groups.values())

    def unplaced(self) -> list[Memory]:
        rows = self.files.own.database.rows(
            f"SELECT {COLUMNS} FROM memories m WHERE m.place >= '?' AND m.place < '@'"
        )
        return [memory_of(row) for row in rows]

    def parents(self, id: str) -> list[str]:
        rows = [
            row
            for file in self.files
            for row in file.database.rows("SELECT parent FROM lineage WHERE child = ?", (id,))
        ]
        return sorted({parent for (parent,) in rows})

    def entities(self, id: str) -> list[Entity]:
        database, row = self.files.holder(id)
        with database.reading() as db:
            return entity_rows.of(db, row)

    def history(self, id: str, limit: int = 100) -> list[Event]:
        self.get(id)
        return self.files.own.history(id, limit)  # none of what others share

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        tables = ("state", "scope", "category", "kin", "tier")
        counts: dict[str, dict[str, int]] = {table: {} for table in tables}
        for file in self.files:
            rows = file.database.rows(
                "SELECT m.state, m.scope, m.category, m.kin, m.tier, count(*) FROM memories m"
                f" WHERE {VISIBLE} GROUP BY m.state, m.scope, m.category, m.kin, m.tier",
                self.files.view(file),
            )
            for *keys, count in rows:
                for table, key in zip(counts.values(), keys, strict=True):
                    table[key] = table.get(key, 0) + count
        return counts

    @property
    def revision(self) -> tuple[int, ...]:
        return tuple(file.revision for file in self.files)

    def health(self) -> list[Health]:
        return [examine(file.database, self._home) for file in self.files]

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        done: Counter[str] = Counter()
        if not dry_run:
            self.files.copies.catch_up()
        for file in self.files:
            done += keep_house(file.database, is_over, dry_run)
        return done

    def close(self) -> None:
        with suppress(StoreError):  # counters are not worth an error on closing
            self.flush_use()
        self.transcript.close()
        self.files.close()


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
            "cursor is none that an earlier page of just this listing gave; leave it out"
        )
    return key, id
