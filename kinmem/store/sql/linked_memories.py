"""The links of a Kin's memories: those that each has, what people and upkeep change, and what a
memory could be linked with."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.models import THE_USER, Memory, Scope
from kinmem.models.record import AUTO, MOST_HOLDERS, STALE_CONFIDENCE, Link, LinkChange, linked
from kinmem.store.graph import Key, Origin, Shared
from kinmem.store.sql.damage import readable
from kinmem.store.sql.database import Row, Transaction
from kinmem.store.sql.link_rows import (
    ABOUT,
    AUTHOR,
    CREATED,
    FIELDS,
    FIRST,
    ORIGIN,
    PREVIOUS,
    TAGGED,
    disinherit,
    in_force,
    inherit,
    join,
    link_of,
    of_others,
    put_found,
    read_back,
    refuse,
    remove,
    snapshot,
    take_apart,
)
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import IN_IDS, IS_LIVE, VISIBLE, time_text
from kinmem.store.sql.sharing import Files
from kinmem.text import folded


class End(NamedTuple):
    """A memory at an end of a link."""

    id: str
    kin: str
    scope: Scope
    state: str
    superseded_by: str | None


class LinkChanges:
    """See Links, what changes them."""

    def __init__(
        self,
        files: Files,
        ends: Callable[..., dict[str, End]],
        taken_apart: Callable[[Collection[str]], set[frozenset[str]]],
    ) -> None:
        """`ends`: see SqlLinks.ends; `taken_apart`: see Links."""
        self._files = files
        self._ends = ends
        self._taken_apart = taken_apart

    # what people say

    def change(
        self,
        id: str,
        asked: Sequence[LinkChange],
        if_version: int | None = None,
        *,
        batch: str | None = None,
    ) -> Memory:
        ends = self._ends({one.id for one in asked})
        for one in asked:
            if one.id not in ends:
                raise MemoryNotFound(one.id)
        others = self._said_by_others(id)

        def edit(db: Transaction) -> None:
            for one in asked:
                theirs = others.get(one.id, [])
                latest = max((row[CREATED] for row in theirs), default=None)
                at = self._after(latest)
                if one.relation is not None:
                    join(db, linked(id, one.id, one.relation), at, latest)
                elif take_apart(db, id, one.id) or in_force([], theirs):
                    refuse(db, id, one.id, at)

        return self._edited(id, edit, if_version, batch=batch)

    def restore(
        self,
        id: str,
        links: Sequence[Mapping[str, Any]],
        *,
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> None:
        at = self._files.clock()
        ends = self._ends({str(one["id"]) for one in links}, also_gone=True)

        def edit(db: Transaction) -> None:
            # What is as it was stays untouched: its other end may be in the bin just now.
            now = snapshot(db, id)
            for known in now:
                if known not in links:
                    remove(db, id, known)
            for one in links:
                if one in now or one["id"] not in ends:
                    continue
                if one["relation"] is None:
                    take_apart(db, id, one["id"])
                    refuse(db, id, one["id"], at)
                else:
                    join(db, read_back(id, one["id"], one["relation"]), at)

        self._edited(id, edit, None, "undone", batch, reverts)

    def _said_by_others(self, id: str) -> dict[str, list[Row]]:
        """Return the links of a memory that others have published, as rows of FIELDS by the other
        end."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in of_others(self._files.shared.database, self._files.kin, [id]):
            found[row[1] if row[0] == id else row[0]].append(row)
        return found

    def _after(self, latest: str | None) -> datetime:
        """Return a time later than `latest`: now, if possible. Of two statements about a pair the
        later one holds."""
        now = self._files.clock()
        if latest is None or latest < time_text(now):
            return now
        return datetime.fromisoformat(latest) + timedelta(microseconds=1)

    def _edited(
        self,
        id: str,
        edit: Callable[[Transaction], None],
        if_version: int | None,
        action: str = "linked",
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> Memory:
        """Change the links of an own memory with `edit`, as a new version with a history line.
        Returns the memory; writes no line if nothing has changed."""
        own = self._files.own
        with self._files.changing() as db:
            row, old = self._files.mine(db, id)
            if if_version is not None and old.version != if_version:
                raise VersionConflict(id, if_version, old.version)
            before = snapshot(db, id)
            edit(db)
            after = snapshot(db, id)
            if before == after:
                return old
            new = own.change(db, row, old, {}, None)
            told = {"links": before}, {"links": after}
            own.note(db, self._files.clock(), old, action, *told, None, batch, reverts)
            return new

    # what upkeep finds

    def add(self, links: Sequence[Link]) -> int:
        ids = {id for link in links for id in link.ends}
        ends, apart = self._ends(ids), self._taken_apart(ids)
        found = []
        for link in links:
            both = [ends[id] for id in link.ends if id in ends]
            is_own = any(end.kin == self._files.kin for end in both)
            if len(both) == 2 and is_own and link.ends not in apart:
                found.append(link)
        if not found:
            return 0
        with self._files.writing() as db:
            return sum(put_found(db, link, self._files.clock()) for link in found)

    def doubt(self, links: Sequence[Link]) -> None:
        found = self._files.own.database.rows(
            "SELECT source, target, relation FROM links"
            " WHERE origin = 'auto' AND (source, target) IN PAIRED(:pairs)",
            {"pairs": json.dumps([(link.source, link.target) for link in links])},
        )
        doubted = {(link.source, link.target, link.relation) for link in links}.intersection(found)
        if doubted:
            with self._files.writing() as db:
                db.run_each(
                    "UPDATE links SET confidence = confidence / 2, evidence = NULL"
                    " WHERE origin = 'auto' AND source = ? AND target = ? AND relation = ?",
                    sorted(doubted),
                )

    def drop_stale(self, before: datetime, *, dry_run: bool = False) -> int:
        bound = {"before": time_text(before)}
        stale = f"origin = 'auto' AND confidence <= {STALE_CONFIDENCE} AND verified_at < :before"
        count = self._files.own.database.rows(f"SELECT count(*) FROM links WHERE {stale}", bound)
        dropped = int(count[0][0])
        if dropped and not dry_run:
            with self._files.writing() as db:
                db.run(f"DELETE FROM links WHERE {stale}", bound)
        return dropped

    def heirs(self, ids: Collection[str]) -> dict[str, str | None]:
        """Return by id what each of these memories is superseded by; None: by nothing."""
        return {id: end.superseded_by for id, end in self._ends(ids).items()}

    def take_over(self, before: Mapping[str, str | None]) -> None:
        """Hand on links that others have published with these memories, or take them back, as
        inherit and disinherit do. `before` says what each was superseded by before the change."""
        rows = of_others(self._files.shared.database, self._files.kin, before)
        if not rows:
            return
        now = self.heirs(before)
        with self._files.writing() as db:
            for id in before:
                theirs = [row for row in rows if id in row[:2]]
                if (former := before[id]) and former != now.get(id):
                    disinherit(db, theirs, id, former)
                if heir := now.get(id):
                    inherit(db, theirs, id, heir)


UNSEEN = "m.state NOT IN ('deleted', 'quarantined')"
"""Of one's own: what is in the bin, or held back, is linked with nothing."""


class SqlLinks:
    """See Links. They name memories by id, and either file may hold these."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.changes = LinkChanges(files, self.ends, self.taken_apart)
        self.change = self.changes.change
        self.restore = self.changes.restore
        self.add = self.changes.add
        self.doubt = self.changes.doubt
        self.drop_stale = self.changes.drop_stale

    def of(self, ids: Collection[str]) -> dict[str, list[Link]]:
        links = readable(self._in_force(ids), link_of, "links", self._files.own.database.damage)
        ends = self.ends({id for link in links for id in link.ends})
        found: dict[str, list[Link]] = defaultdict(list)
        for link in sorted(links, key=lambda link: (-link.weight, -link.confidence)):
            for id in link.ends & ends.keys() & set(ids):
                if link.other(id) in ends:
                    found[id].append(link)
        return {id: _without_repeats(id, some, ends) for id, some in found.items()}

    def taken_apart(self, ids: Collection[str]) -> set[frozenset[str]]:
        own, others = self._rows(ids)
        return {frozenset(row[:2]) for row in (*own, *others) if row[ORIGIN] != AUTO}

    def degrees(self, ids: Collection[str], since: datetime) -> dict[str, tuple[int, int]]:
        rows = self._in_force(ids)
        ends = self.ends({id for row in rows for id in row[:2]})
        pairs: dict[tuple[str, str], bool] = {}
        for row in rows:
            source, target, at = row[0], row[1], row[CREATED]
            if all(id in ends and ends[id].state != "superseded" for id in (source, target)):
                pairs[source, target] = pairs.get((source, target), False) or at >= time_text(since)
        counts: dict[str, tuple[int, int]] = {}
        wanted = set(ids)
        for pair, is_recent in pairs.items():
            for id in wanted.intersection(pair):
                edges, recent = counts.get(id, (0, 0))
                counts[id] = (edges + 1, recent + is_recent)
        return counts

    def densest(self, limit: int) -> list[str]:
        counts: dict[str, int] = defaultdict(int)
        for file in self._files:
            others = "origin <> 'refused' AND (:own OR kin <> :kin)"
            for id, count in file.database.rows(
                f"SELECT id, count(*) FROM (SELECT source AS id FROM links WHERE {others}"
                f" UNION ALL SELECT target FROM links WHERE {others})"
                " GROUP BY id ORDER BY 2 DESC LIMIT :limit",
                {"limit": 2 * limit, **self._files.view(file)},
            ):
                counts[id] += count
        worths: dict[str, float] = {}
        for file in self._files:
            rows = file.database.rows(
                "SELECT m.id, coalesce(m.priority, m.importance / 10, 0.5) FROM memories m"
                f" WHERE {VISIBLE} AND {IS_LIVE} AND m.id {IN_IDS}"
                " UNION SELECT * FROM (SELECT m.id, coalesce(m.priority, m.importance / 10, 0.5)"
                f" FROM memories m WHERE {VISIBLE} AND {IS_LIVE} ORDER BY 2 DESC, 1 DESC"
                " LIMIT :limit)",
                {"ids": json.dumps(list(counts)), "limit": limit, **self._files.view(file)},
            )
            worths |= dict(rows)
        return sorted(worths, key=lambda id: (-counts[id], -worths[id], id))[:limit]

    def about(self, ids: Collection[str]) -> dict[Key, list[str]]:
        found: dict[Key, list[str]] = defaultdict(list)
        for file in self._files:
            for name, type, id in file.database.rows(
                f"""
                SELECT e.folded, e.type, m.id FROM LISTED(:ids) asked
                JOIN memories m ON m.id = asked.value
                JOIN memory_entities ON memory = m.rowid JOIN entities e ON e.id = entity
                WHERE {VISIBLE}
                """,
                {"ids": json.dumps(list(ids)), **self._files.view(file)},
            ):
                found[Key(name, type)].append(id)
        return dict(found)

    def sharing(self, tags: Mapping[str, Mapping[str, bool]]) -> dict[str, dict[str, Shared]]:
        found: dict[str, dict[str, Shared]] = defaultdict(lambda: defaultdict(Shared))
        asked = [(id, tag) for id, some in tags.items() for tag in some]
        about = [row for file in self._files for row in self._named(file, tags)]
        for file in self._files:
            for id, other, tag, is_theirs in self._holding(file, asked, TAGGED):
                found[id][other].tags.add(tag)
                if is_theirs and tags[id][tag]:
                    found[id][other].chosen.add(tag)
            for id, other, entity, _ in self._holding(file, about, ABOUT):
                found[id][other].entities.add(entity)
        return {id: dict(some) for id, some in found.items()}

    def _named(self, file: MemoryFile, ids: Collection[str]) -> list[Row]:
        """Return (id, folded name) for the entities of these memories, without the user and without
        who speaks in them."""
        rows = file.database.rows(
            f"""
            SELECT m.id, e.folded, m.speaker FROM LISTED(:ids) asked
            ORDERED JOIN memories m ON m.id = asked.value
            ORDERED JOIN memory_entities ON memory = m.rowid
            ORDERED JOIN entities e ON e.id = entity
            WHERE {VISIBLE}
            """,
            {"ids": json.dumps(list(ids)), **self._files.view(file)},
        )
        return [
            (id, named)
            for id, named, speaker in rows
            if named not in (THE_USER, folded(speaker or ""))
        ]

    def _holding(self, file: MemoryFile, asked: Sequence[Row], which: str) -> list[Row]:
        """Return (asked id, other id, tag or entity, whether it is a manual tag of the other one)
        for live visible memories. What more than MOST_HOLDERS have is left out. `which` is TAGGED
        or ABOUT."""
        if not asked:
            return []
        return file.database.rows(
            f"""
            WITH asked AS MATERIALIZED (
                SELECT one AS id, other AS what FROM PAIRED(:asked) pairs
            ), held AS MATERIALIZED ({which})
            SELECT asked.id, m.id, asked.what,
                m.manual_tags IS NOT NULL AND asked.what IN LISTED(m.manual_tags)
            FROM asked
            ORDERED JOIN held ON held.what = asked.what
            ORDERED JOIN memories m ON m.rowid = held.memory
            WHERE m.id <> asked.id AND {VISIBLE} AND {IS_LIVE}
                AND (m.expires_at IS NULL OR m.expires_at > :now)
            """,
            {
                "asked": json.dumps(asked),
                "most": MOST_HOLDERS,
                "now": time_text(self._files.clock()),
                **self._files.view(file),
            },
        )

    def origins(self, memories: Sequence[Memory]) -> dict[str, Origin]:
        found: dict[str, Origin] = {}
        for memory in memories:
            origin = Origin(
                self._one(FIRST, memory) if memory.source_ref else None,
                self._one(PREVIOUS, memory) if memory.session and memory.subject else None,
                self._one(AUTHOR, memory) if memory.speaker and memory.source_ref else None,
            )
            if origin != Origin():
                found[memory.id] = origin
        return found

    def _one(self, condition: str, memory: Memory) -> str | None:
        """Return the id of a live visible memory that a condition finds for another one, an own one
        if possible; None if there is none."""
        bound = {
            "id": memory.id,
            "session": memory.session,
            "subject": memory.subject,
            "speaker": memory.speaker,
            "source_ref": memory.source_ref,
        }
        for file in self._files:
            rows = file.database.rows(
                f"SELECT m.id FROM memories m WHERE {VISIBLE} AND {IS_LIVE} AND m.id <> :id"
                f" AND {condition} LIMIT 1",
                {**bound, **self._files.view(file)},
            )
            if rows:
                return str(rows[0][0])
        return None

    def _in_force(self, ids: Collection[str]) -> list[Row]:
        """Return the links of these memories that hold, as rows of FIELDS."""
        return in_force(*self._rows(ids))

    def _rows(self, ids: Collection[str]) -> tuple[list[Row], list[Row]]:
        """Return all rows of FIELDS with these memories: own ones, and those that others have
        published."""
        columns = ", ".join(FIELDS)
        own = self._files.own.database.rows(
            f"SELECT {columns} FROM links WHERE source {IN_IDS}"
            f" UNION SELECT {columns} FROM links WHERE target {IN_IDS}",
            {"ids": json.dumps(list(ids))},
        )
        return own, of_others(self._files.shared.database, self._files.kin, ids)

    def ends(self, ids: Collection[str], *, also_gone: bool = False) -> dict[str, End]:
        """Return those of these memories that may be at the end of a link the Kin sees, by id.
        `also_gone` includes own ones in the bin or in quarantine."""
        return {
            row[0]: End(*row)
            for file in self._files
            for row in file.database.rows(
                "SELECT m.id, m.kin, m.scope, m.state, m.superseded_by FROM memories m"
                f" WHERE m.id {IN_IDS} AND {VISIBLE}{'' if also_gone else f' AND {UNSEEN}'}",
                {"ids": json.dumps(list(ids)), **self._files.view(file)},
            )
        }


def _without_repeats(id: str, links: Iterable[Link], ends: Mapping[str, End]) -> list[Link]:
    """Leave out links to a superseded memory if the one that supersedes it has the same link."""
    links = list(links)
    told = {(link.other(id), link.seen_from(id)) for link in links}
    return [
        link
        for link in links
        if (ends[link.other(id)].superseded_by, link.seen_from(id)) not in told
    ]
