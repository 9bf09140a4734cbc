"""The life of a Kin's own memories in its two files. Read lean, written by the hundred."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, TypeVar

import apsw

from kinmem.models import LIVE, Fate, Living, Place, Scope, State, TierChange
from kinmem.retention import last_used
from kinmem.store.sqlite import chunk_vectors
from kinmem.store.sqlite.connection import Row
from kinmem.store.sqlite.history_rows import Line
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.queries import IN_IDS, VISIBLE, moment, time_text
from kinmem.store.sqlite.sharing import KinFiles
from kinmem.store.upkeep import rank_of
from kinmem.tiers import at_once

RECENT = timedelta(days=7)
"""How long a link counts as recent; as long as a stale one is kept."""
COLUMNS = """
    m.id, m.scope, m.version, m.category, m.importance, m.trust, m.channel, m.pinned,
    m.manual_tags IS NOT NULL, m.set_priority, m.priority, m.state, m.state_at, m.tier,
    m.tier_reason, m.recalled_count, m.recalled_at, m.created_at, m.content_updated_at,
    m.expires_at, m.scored_at, m.speaker
"""
# The plus keeps SQLite from looking up row by row, by an index, what is nearly the whole file.
OWN = """
    +m.kin = :kin AND (:left IS NULL OR m.id NOT IN (SELECT value FROM json_each(:left)))
"""
LIVES = "m.state IN ('active', 'stale', 'archived')"

Links = Mapping[str, int]
"""By id of a memory: how many."""
One = TypeVar("One", Fate, Place)
_of = attrgetter("memory.scope")


class SqliteLife:
    """See Life."""

    def __init__(self, files: KinFiles) -> None:
        self._files = files

    def living(
        self, ids: Collection[str] | None = None, *, expired_by: datetime | None = None
    ) -> list[Living]:
        bound: dict[str, Any] = {"kin": self._files.kin}
        where = OWN
        if expired_by is None:
            where += f" AND {LIVES}"
        else:
            where += " AND m.state <> 'deleted' AND m.expires_at <= :by"
            bound["by"] = time_text(expired_by)
        if ids is not None:
            where += f" AND m.id {IN_IDS}"
            bound["ids"] = json.dumps(list(ids))
        rows = [
            row
            for file in self._files
            for row in file.database.rows(
                f"SELECT {COLUMNS} FROM memories m WHERE {where}",
                {**bound, **self._files.view(file)},
            )
        ]
        own = {row[0] for row in rows}
        links, recent = self._links(own, whole=ids is None and expired_by is None)
        return [_living(row, links, recent) for row in rows]

    def binned_after(self, moment: datetime) -> list[Living]:
        bound = {"kin": self._files.kin, "after": time_text(moment)}
        where = f"{OWN} AND m.state = 'deleted' AND m.deleted_at > :after"
        return [
            _living(row, {}, {})
            for file in self._files
            for row in file.database.rows(
                f"SELECT {COLUMNS} FROM memories m WHERE {where}",
                {**bound, **self._files.view(file)},
            )
        ]

    def _links(self, own: Collection[str], *, whole: bool) -> tuple[Links, Links]:
        """Of own memories, all of them if `whole`: how many links count, and how many recent ones.

        Those between living own memories, and in the own file those with what others share: what
        others link with theirs in shared.db moves nobody else's memory.
        """
        edges = {
            scope: self._edges(file, None if whole else own)
            for scope, file in self._files.by_scope.items()
        }
        ends = {id for some in edges.values() for row in some for id in row[:2]}
        mine, theirs = self._ends(ends.difference(own) if whole else ends)
        mine = mine.union(own) if whole else mine
        counted: dict[Scope, set[str]] = {"private": mine | theirs, "shared": mine}
        linked: tuple[list[str], list[str]] = ([], [])
        for scope, some in edges.items():
            for source, target, is_recent in some:
                if source in counted[scope] and target in counted[scope]:
                    linked[is_recent].extend((source, target))
        return Counter(linked[0] + linked[1]), Counter(linked[1])

    def _edges(self, file: MemoryFile, ids: Collection[str] | None) -> list[Row]:
        """(source, target, whether it is recent) of the links of these memories in one file."""
        edges = "SELECT source, target, created_at > :since FROM links WHERE origin <> 'refused'"
        if ids is not None:
            edges = f"{edges} AND source {IN_IDS} UNION ALL {edges} AND target {IN_IDS}"
            edges += f" AND source NOT {IN_IDS}"
        since = time_text(self._files.clock() - RECENT)
        return file.database.rows(edges, {"since": since, "ids": json.dumps(list(ids or ()))})

    def _ends(self, ids: Collection[str]) -> tuple[set[str], set[str]]:
        """Those of these memories that live: own ones, and what others share."""
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for file in self._files if ids else ():
            for id, is_own in file.database.rows(
                f"SELECT m.id, m.kin = :kin FROM memories m WHERE m.id {IN_IDS} AND {VISIBLE}"
                f" AND {LIVES}",
                {"ids": json.dumps(list(ids)), **self._files.view(file)},
            ):
                found[bool(is_own)].add(id)
        return found[True], found[False]

    def came_by(self, ids: Collection[str]) -> dict[str, tuple[str, datetime]]:
        # SQLite takes the other columns from the row of the max.
        rows = [
            row
            for file in self._files
            for row in file.database.rows(
                f"""
                SELECT max(seq), at, memory_id, action FROM history
                WHERE memory_id {IN_IDS} AND after ->> '$.state' IS NOT NULL GROUP BY memory_id
                """,
                {"ids": json.dumps(list(ids))},
            )
        ]
        rows.sort(key=lambda row: str(row[1]))  # what was shared has lines in both files
        return {id: (action, datetime.fromisoformat(at)) for _, at, id, action in rows}

    def to_states(self, fates: Sequence[Fate]) -> int:
        at, done = self._files.clock(), 0
        for file, part in self._parts(fates):
            with file.changing() as db:
                present = _present(db, part)
                _set_states(db, present, at)
                file.note_all(db, at, [_line(fate, at) for fate in present.values()])
                done += len(present)
        return done

    def to_tiers(self, places: Sequence[Place]) -> int:
        at, done = self._files.clock(), 0
        for file, part in self._parts(places):
            with file.database.writing() as db:
                present = _present(db, part)
                _set_tiers(db, present, at)
                done += len(present)
        return done

    def renew(self, ids: Collection[str], *, used: bool = False) -> None:
        now = self._files.clock()
        places, woken = [], []
        for one in self.living(ids):
            worth, standing = rank_of(one, now)
            tier, reason = at_once(standing, used=used)
            if (tier, reason, worth) != (one.tier, one.tier_reason, one.priority):
                places.append(Place(one, tier, reason, worth))
            if used and one.state == State.STALE:
                woken.append(Fate(one, State.ACTIVE, "revived", "used", last_used(one)))
        if places:  # first: a new state raises the version
            self.to_tiers(places)
        if woken:
            self.to_states(woken)

    def tier_changes(self, id: str) -> list[TierChange]:
        rows = [
            row
            for file in self._files
            for row in file.database.rows(
                "SELECT at, from_tier, to_tier, reason FROM tier_changes WHERE memory_id = ?"
                " ORDER BY id DESC",
                (id,),
            )
        ]
        rows.sort(key=lambda row: str(row[0]), reverse=True)
        return [
            TierChange(datetime.fromisoformat(at), before, after, reason)
            for at, before, after, reason in rows
        ]

    def _parts(self, changes: Sequence[One]) -> list[tuple[MemoryFile, list[One]]]:
        """By file, those that have any."""
        parts = [
            (file, [one for one in changes if _of(one) == scope])
            for scope, file in self._files.by_scope.items()
        ]
        return [(file, part) for file, part in parts if part]


def _living(row: Row, links: Links, recent: Links) -> Living:
    (id, scope, version, category, importance, trust, channel, pinned, is_tagged, set_priority,
     priority, state, state_at, tier, reason, uses, used_at, created_at, updated_at, expires_at,
     scored_at, speaker) = row  # fmt: skip
    return Living(
        id,
        scope,
        version,
        category,
        importance,
        trust,
        channel,
        bool(pinned),
        bool(is_tagged),
        set_priority,
        priority,
        state,
        moment(state_at),
        tier,
        reason,
        uses,
        moment(used_at),
        datetime.fromisoformat(created_at),
        datetime.fromisoformat(updated_at),
        moment(expires_at),
        links.get(id, 0),
        recent.get(id, 0),
        moment(scored_at),
        speaker,
    )


def _present(db: apsw.Connection, changes: Sequence[One]) -> dict[int, One]:
    """By row number those whose memory is still at the version it was read at."""
    by_id = {one.memory.id: one for one in changes}
    versions = json.dumps({id: one.memory.version for id, one in by_id.items()})
    found: Any = db.execute(
        "SELECT m.rowid, m.id FROM json_each(?) JOIN memories m ON m.id = key"
        " WHERE m.version = value",
        (versions,),
    )
    return {row: by_id[id] for row, id in found}


def _set_states(db: apsw.Connection, fates: Mapping[int, Fate], at: datetime) -> None:
    when = time_text(at)
    db.executemany(
        "UPDATE memories SET state = ?, state_at = ?, deleted_at = ?, version = version + 1"
        " WHERE rowid = ?",
        [
            (
                one.state,
                time_text(one.since or at),
                when if one.state == State.DELETED else None,
                row,
            )
            for row, one in fates.items()
        ],
    )
    crossed = [r for r, one in fates.items() if (one.memory.state in LIVE) != (one.state in LIVE)]
    chunks: Any = db.execute(
        f"SELECT id FROM chunks WHERE memory {IN_IDS}", {"ids": json.dumps(crossed)}
    ).fetchall()
    chunk_vectors.log(db, [chunk for (chunk,) in chunks])


def _line(fate: Fate, at: datetime) -> Line:
    before = {"state": fate.memory.state, "state_at": fate.memory.state_at}
    after: dict[str, Any] = {"state": fate.state, "state_at": fate.since or at}
    if fate.state == State.DELETED:
        before["deleted_at"], after["deleted_at"] = None, at
    elif fate.memory.state == State.DELETED:  # by a line as above, which sets both to one moment
        before["deleted_at"], after["deleted_at"] = fate.memory.state_at, None
    return Line(fate.memory.id, fate.action, before, after, fate.reason)


def _set_tiers(db: apsw.Connection, places: Mapping[int, Place], at: datetime) -> None:
    db.executemany(
        "UPDATE memories SET tier = ?, tier_reason = ?, priority = ? WHERE rowid = ?",
        [(one.tier, one.reason, one.priority, row) for row, one in places.items()],
    )
    moved = {row: one for row, one in places.items() if one.tier != one.memory.tier}
    db.executemany(
        "UPDATE chunks SET layer = ? WHERE memory = ?",
        [(one.tier, row) for row, one in moved.items()],
    )
    db.executemany(
        "INSERT INTO tier_changes (memory_id, from_tier, to_tier, reason, at)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (one.memory.id, one.memory.tier, one.tier, one.reason, time_text(at))
            for one in moved.values()
        ],
    )
