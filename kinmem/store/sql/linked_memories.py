"""What links a memory has, and what it could be linked with."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from kinmem.models import THE_USER, Memory
from kinmem.models.links import AUTO, MOST_HOLDERS, Link
from kinmem.store.graph import Key, Origin, Shared
from kinmem.store.sql.damage import Row, readable
from kinmem.store.sql.link_changes import End, LinkChanges
from kinmem.store.sql.link_rows import CREATED, FIELDS, ORIGIN, in_force, link_of, of_others
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import IN_IDS, IS_LIVE, VISIBLE, time_text
from kinmem.store.sql.sharing import Files
from kinmem.text import folded

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


# ORDERED JOIN: with statistics SQLite expects a table of JSON values to be large, and reads all
# tags instead of those asked for.
TAGGED = """
    SELECT tag AS what, memory FROM (
        SELECT DISTINCT what FROM asked WHERE (
            SELECT count(*) FROM (SELECT 1 FROM tags WHERE tag = what LIMIT :most + 1) holders
        ) <= :most
    ) few ORDERED JOIN tags ON tag = what
"""
ABOUT = """
    SELECT what, memory FROM (SELECT DISTINCT what FROM asked) named
    ORDERED JOIN entities e ON e.folded = what ORDERED JOIN memory_entities ON entity = e.id
    WHERE (
        SELECT count(*) FROM (SELECT 1 FROM memory_entities WHERE entity = e.id LIMIT :most + 1)
    ) <= :most
"""
FIRST = "m.source_ref = :source_ref AND m.id < :id ORDER BY m.id"
PREVIOUS = "m.session = :session AND ALIKE(m.subject, :subject) AND m.id < :id ORDER BY m.id DESC"
AUTHOR = (
    "ALIKE(m.subject, :speaker) AND m.category = 'identity' AND NOT EXISTS (SELECT 1"
    " FROM memories o WHERE o.id <> m.id AND ALIKE(o.subject, :speaker)"
    " AND o.category = 'identity' AND o.state IN ('active', 'stale'))"
)


def _without_repeats(id: str, links: Iterable[Link], ends: Mapping[str, End]) -> list[Link]:
    """Leave out links to a superseded memory if the one that supersedes it has the same link."""
    links = list(links)
    told = {(link.other(id), link.seen_from(id)) for link in links}
    return [
        link
        for link in links
        if (ends[link.other(id)].superseded_by, link.seen_from(id)) not in told
    ]
