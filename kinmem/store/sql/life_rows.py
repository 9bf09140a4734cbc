"""The life of a Kin's own memories. Read lean, written by the hundred."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from kinmem.models import CATEGORIES, LIVE, Fate, Living, Place, State, TierChange
from kinmem.models.retention import at_once, last_used, rank_of
from kinmem.store.sql.damage import DamagedRow, readable
from kinmem.store.sql.database import Row, StoredVectors, Transaction
from kinmem.store.sql.history_rows import Line
from kinmem.store.sql.memory_rows import IN_IDS, IN_NUMBERS, VISIBLE, moment, time_text
from kinmem.store.sql.sharing import Files

RECENT = timedelta(days=7)
"""How long a link counts as recent; as long as a stale one is kept."""
COLUMNS = """
    m.id, m.scope, m.version, m.category, m.importance, m.trust, m.channel, m.pinned,
    m.manual_tags IS NOT NULL, m.set_priority, m.priority, m.state, m.state_at, m.tier,
    m.tier_reason, m.recalled_count, m.recalled_at, m.created_at, m.content_updated_at,
    m.expires_at, m.scored_at, m.speaker
"""
LIVES = "m.state IN ('active', 'stale', 'archived')"

Links = Mapping[str, int]
"""By id of a memory: how many."""
One = TypeVar("One", Fate, Place)


class SqlLife:
    """See Life."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._own = files.own.database

    def living(
        self, ids: Collection[str] | None = None, *, expired_by: datetime | None = None
    ) -> list[Living]:
        bound: dict[str, Any] = {}
        if expired_by is None:
            where = LIVES
        else:
            where = "m.state <> 'deleted' AND m.expires_at <= :by"
            bound["by"] = time_text(expired_by)
        if ids is not None:
            where += f" AND m.id {IN_IDS}"
            bound["ids"] = json.dumps(list(ids))
        rows = self._own.rows(f"SELECT {COLUMNS} FROM memories m WHERE {where}", bound)
        own = {row[0] for row in rows}
        links, recent = self._links(own, whole=ids is None and expired_by is None)
        return readable(rows, lambda row: _living(row, links, recent), "memories", self._own.damage)

    def binned_after(self, moment: datetime) -> list[Living]:
        where = "m.state = 'deleted' AND m.deleted_at > :after"
        rows = self._own.rows(
            f"SELECT {COLUMNS} FROM memories m WHERE {where}", {"after": time_text(moment)}
        )
        return readable(rows, lambda row: _living(row, {}, {}), "memories", self._own.damage)

    def _links(self, own: Collection[str], *, whole: bool) -> tuple[Links, Links]:
        """Return by id how many links each own memory has, and how many of them are recent. `own`
        are all own memories if `whole`.

        Only links that the Kin has made or found count, and only between memories that are not in
        the bin: what others link with theirs does not affect this Kin's memories.
        """
        edges = self._edges(None if whole else own)
        ends = {id for row in edges for id in row[:2]}
        living = self._ends(ends.difference(own)) | set(own) if whole else self._ends(ends)
        linked: tuple[list[str], list[str]] = ([], [])
        for source, target, is_recent in edges:
            if source in living and target in living:
                linked[is_recent].extend((source, target))
        return Counter(linked[0] + linked[1]), Counter(linked[1])

    def _edges(self, ids: Collection[str] | None) -> list[Row]:
        """Return (source, target, whether it is recent) of the links of these memories, or of
        all."""
        edges = "SELECT source, target, created_at > :since FROM links WHERE origin <> 'refused'"
        if ids is not None:
            edges = f"{edges} AND source {IN_IDS} UNION ALL {edges} AND target {IN_IDS}"
            edges += f" AND source NOT {IN_IDS}"
        since = time_text(self._files.clock() - RECENT)
        return self._own.rows(edges, {"since": since, "ids": json.dumps(list(ids or ()))})

    def _ends(self, ids: Collection[str]) -> set[str]:
        """Return those of these visible memories that are active, stale or archived."""
        return {
            id
            for file in self._files
            if ids
            for (id,) in file.database.rows(
                f"SELECT m.id FROM memories m WHERE m.id {IN_IDS} AND {VISIBLE} AND {LIVES}",
                {"ids": json.dumps(list(ids)), **self._files.view(file)},
            )
        }

    def came_by(self, ids: Collection[str]) -> dict[str, tuple[str, datetime]]:
        rows = self._own.rows(
            f"""
            SELECT memory_id, action, at FROM history WHERE seq IN (
                SELECT max(seq) FROM history
                WHERE memory_id {IN_IDS} AND (PARSED(after) ->> 'state') IS NOT NULL
                GROUP BY memory_id
            )
            """,
            {"ids": json.dumps(list(ids))},
        )
        return dict(readable(rows, _came_by, "history", self._own.damage))

    def to_states(self, fates: Sequence[Fate]) -> int:
        if not fates:
            return 0
        at = self._files.clock()
        with self._files.changing() as db:
            present = _present(db, fates)
            _set_states(db, self._files.own.vectors, present, at)
            self._files.own.note_all(db, at, [_line(fate, at) for fate in present.values()])
            return len(present)

    def to_tiers(self, places: Sequence[Place]) -> int:
        if not places:
            return 0
        with self._files.writing() as db:
            present = _present(db, places)
            _set_tiers(db, present, self._files.clock())
            return len(present)

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
        rows = self._own.rows(
            "SELECT id, at, from_tier, to_tier, reason FROM tier_changes WHERE memory_id = ?"
            " ORDER BY id DESC",
            (id,),
        )
        rows.sort(key=lambda row: str(row[1]), reverse=True)
        return readable(rows, _tier_change, "tier_changes", self._own.damage)


def _came_by(row: Row) -> tuple[str, tuple[str, datetime]]:
    id, action, at = row
    return id, (action, datetime.fromisoformat(at))


def _tier_change(row: Row) -> TierChange:
    _, at, before, after, reason = row
    return TierChange(datetime.fromisoformat(at), before, after, reason)


def _living(row: Row, links: Links, recent: Links) -> Living:
    (id, scope, version, category, importance, trust, channel, pinned, is_tagged, set_priority,
     priority, state, state_at, tier, reason, uses, used_at, created_at, updated_at, expires_at,
     scored_at, speaker) = row  # fmt: skip
    if category not in CATEGORIES:
        raise DamagedRow(f"{category!r} is no category")
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


def _present(db: Transaction, changes: Sequence[One]) -> dict[int, One]:
    """Return by row number the changes whose memory is still at the version that was read."""
    by_id = {one.memory.id: one for one in changes}
    found = db.rows(
        f"SELECT m.rowid, m.id, m.version FROM memories m WHERE m.id {IN_IDS}",
        {"ids": json.dumps(list(by_id))},
    )
    return {row: by_id[id] for row, id, version in found if version == by_id[id].memory.version}


def _set_states(
    db: Transaction, vectors: StoredVectors, fates: Mapping[int, Fate], at: datetime
) -> None:
    when = time_text(at)
    db.run_each(
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
    chunks = db.rows(
        f"SELECT id FROM chunks WHERE memory {IN_NUMBERS}", {"ids": json.dumps(crossed)}
    )
    vectors.log(db, [chunk for (chunk,) in chunks])


def _line(fate: Fate, at: datetime) -> Line:
    before = {"state": fate.memory.state, "state_at": fate.memory.state_at}
    after: dict[str, Any] = {"state": fate.state, "state_at": fate.since or at}
    if fate.state == State.DELETED:
        before["deleted_at"], after["deleted_at"] = None, at
    elif fate.memory.state == State.DELETED:  # by a line as above, which sets both to one moment
        before["deleted_at"], after["deleted_at"] = fate.memory.state_at, None
    return Line(fate.memory.id, fate.action, before, after, fate.reason)


def _set_tiers(db: Transaction, places: Mapping[int, Place], at: datetime) -> None:
    db.run_each(
        "UPDATE memories SET tier = ?, tier_reason = ?, priority = ? WHERE rowid = ?",
        [(one.tier, one.reason, one.priority, row) for row, one in places.items()],
    )
    moved = {row: one for row, one in places.items() if one.tier != one.memory.tier}
    db.run_each(
        "UPDATE chunks SET layer = ? WHERE memory = ?",
        [(one.tier, row) for row, one in moved.items()],
    )
    db.run_each(
        "INSERT INTO tier_changes (memory_id, from_tier, to_tier, reason, at)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (one.memory.id, one.memory.tier, one.tier, one.reason, time_text(at))
            for one in moved.values()
        ],
    )
