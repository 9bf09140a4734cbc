"""Entities and relations of one Kin's view of two files, each counted over what it sees there."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from kinmem import language
from kinmem.models import LIVE, Knowledge, Memory
from kinmem.store.graph import MOST_ALIASES, Edge, Key, Known, Named, Reach, Surroundings
from kinmem.store.sql import entity_rows
from kinmem.store.sql.damage import readable
from kinmem.store.sql.database import Row
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import (
    COLUMNS,
    IS_LIVE,
    SAID_AT,
    SEEN,
    VISIBLE,
    memories_of,
    time_text,
)
from kinmem.store.sql.sharing import Files
from kinmem.text import folded

REACHES: Mapping[Reach, str] = {
    "now": SEEN,
    "once": f"{VISIBLE} AND (m.state = 'superseded' OR {IS_LIVE})",
    "ever": f"{VISIBLE} AND (m.state IN ('superseded', 'archived') OR {IS_LIVE})",
}
OWN = "m.kin = :kin AND m.state NOT IN ('deleted', 'quarantined')"


class SqlGraph:
    """See Graph."""

    def __init__(self, files: Files) -> None:
        self._files = files

    # writing

    def unread(self, limit: int) -> list[Memory]:
        rows = self._files.own.database.rows(
            f"SELECT {COLUMNS} FROM memories m BY INDEX memories_to_read"
            f" WHERE m.entities_read = 0 AND {OWN} ORDER BY m.rowid DESC LIMIT :limit",
            {"kin": self._files.kin, "limit": limit},
        )
        return memories_of(rows, self._files.own.database.damage)

    def keep(self, read: Mapping[str, tuple[int, Knowledge]]) -> int:
        kept = 0
        with self._files.changing() as db:
            for id, (version, knowledge) in read.items():
                row = db.value(
                    "SELECT rowid FROM memories WHERE id = ? AND version = ?", (id, version)
                )
                if row is not None:
                    entity_rows.put(db, row, knowledge, self._files.clock())
                    kept += 1
        return kept

    def merge(self, kept: Key, gone: Key) -> bool:
        with self._files.changing() as db:
            numbers = [
                db.value("SELECT id FROM entities WHERE folded = ? AND type = ?", key)
                for key in (kept, gone)
            ]
            if None in numbers:
                return False
            entity_rows.merge(db, *numbers)
        return True

    # reading

    def find(self, names: Collection[str], reach: Reach = "now") -> list[Known]:
        wanted = json.dumps([folded(name) for name in names])
        found = self._known(
            f"""
            e.folded IN LISTED(:names) OR e.id IN (
                SELECT entity FROM memory_entities a JOIN memories m ON m.rowid = a.memory
                WHERE a.folded IN LISTED(:names) AND {REACHES[reach]})
            """,
            {"names": wanted},
            reach,
        )
        return sorted(found.values(), key=lambda one: (-one.memories, one.key))

    def known(self, keys: Collection[Key]) -> dict[Key, Known]:
        return self._known(OF_KEYS.format("e"), {"keys": _as_json(keys)})

    def most_told(self, limit: int) -> list[Known]:
        counts: Counter[Key] = Counter()
        for file in self._files:
            rows = file.database.rows(
                f"""
                SELECT e.folded, e.type, count(*) AS told FROM memory_entities a
                JOIN entities e ON e.id = a.entity JOIN memories m ON m.rowid = a.memory
                WHERE {SEEN} GROUP BY e.id, e.folded, e.type ORDER BY told DESC LIMIT :limit
                """,
                {**self._bound(file), "limit": limit},
            )
            for plain, type, told in rows:
                counts[Key(plain, type)] += told
        found = self.known([key for key, _ in counts.most_common(limit)])
        return sorted(found.values(), key=lambda one: (-one.memories, one.key))

    def edges(self, keys: Collection[Key], reach: Reach = "now") -> list[Edge]:
        told: dict[tuple[Key, str, Key], list[_Told]] = defaultdict(list)
        names: dict[Key, str] = {}
        for file in self._files:
            bound = {**self._bound(file), "keys": _as_json(keys)}
            rows = file.database.rows(EDGES.format(REACHES[reach]), bound)
            for row, line in readable(rows, _told, "relations", file.database.damage):
                source, target = Key(*row[:2]), Key(*row[3:5])
                names |= {source: row[2], target: row[5]}
                is_symmetric = row[6] == language.inverse_relation(row[6])
                if is_symmetric and source > target:  # stored by the names of that memory
                    source, target = target, source
                told[source, row[6], target].append(line)
        return sorted(
            (_edge(*triple, names, lines) for triple, lines in told.items()),
            key=lambda one: (one.ended is not None, -len(one.memories), one.source, one.target),
        )

    def memories(self, keys: Collection[Key], limit: int, reach: Reach = "now") -> list[str]:
        found = {
            id: said_at
            for file in self._files
            for id, said_at in file.database.rows(
                f"""
                SELECT DISTINCT m.id, {SAID_AT} FROM entities e
                JOIN memory_entities a ON a.entity = e.id JOIN memories m ON m.rowid = a.memory
                WHERE {OF_KEYS.format("e")} AND {REACHES[reach]}
                ORDER BY 2 DESC, 1 DESC LIMIT :limit
                """,
                {**self._bound(file), "keys": _as_json(keys), "limit": limit},
            )
        }
        return sorted(found, key=lambda id: (found[id], id), reverse=True)[:limit]

    def called(self, key: Key, reach: Reach = "now") -> dict[str, list[str]]:
        told: dict[str, list[str]] = defaultdict(list)
        for file in self._files:
            for alias, id in file.database.rows(
                f"""
                SELECT a.alias, m.id FROM entities e
                JOIN memory_entities a ON a.entity = e.id JOIN memories m ON m.rowid = a.memory
                WHERE {OF_KEYS.format("e")} AND a.alias IS NOT NULL AND {REACHES[reach]}
                ORDER BY m.id DESC
                """,
                {**self._bound(file), "keys": _as_json([key])},
            ):
                told[alias].append(id)
        return {alias: sorted(ids, reverse=True) for alias, ids in told.items()}

    def names(self, limit: int) -> Sequence[Named]:
        file = self._files.own
        bound = self._bound(file)
        memories: dict[int, set[int]] = defaultdict(set)
        subjects: dict[int, set[str]] = defaultdict(set)
        who: dict[int, Row] = {}
        for id, plain, type, name, memory, subject in file.database.rows(
            f"""
            SELECT e.id, e.folded, e.type, e.name, a.memory, m.subject FROM memory_entities a
            JOIN entities e ON e.id = a.entity JOIN memories m ON m.rowid = a.memory
            WHERE {SEEN} ORDER BY a.memory DESC LIMIT :limit
            """,
            {**bound, "limit": limit},
        ):
            who[id] = (plain, type, name)
            memories[id].add(memory)
            if subject:
                subjects[id].add(folded(subject))
        relations: dict[int, set[tuple[str, str, bool]]] = defaultdict(set)
        for source, target, relation, one, other in file.database.rows(
            f"""
            SELECT r.source, r.target, r.relation, s.folded, t.folded FROM relations r
            JOIN entities s ON s.id = r.source JOIN entities t ON t.id = r.target
            JOIN memories m ON m.rowid = r.memory WHERE {SEEN}
            """,
            bound,
        ):
            relations[source].add((relation, other, False))
            relations[target].add((relation, one, True))
        return [
            Named(
                Key(plain, type),
                name,
                Surroundings(
                    frozenset(memories[id]), frozenset(subjects[id]), frozenset(relations[id])
                ),
            )
            for id, (plain, type, name) in who.items()
        ]

    def _known(
        self, which: str, bound: Mapping[str, str], reach: Reach = "now"
    ) -> dict[Key, Known]:
        told: dict[Key, list[Row]] = defaultdict(list)
        for file in self._files:
            rows = file.database.rows(
                KNOWN.format(which, REACHES[reach]), {**self._bound(file), **bound}
            )
            for plain, type, *row in rows:
                told[Key(plain, type)].append(tuple(row))
        damage = self._files.own.database.damage
        named = [(key.folded, key, rows) for key, rows in _as_one(told).items()]
        return dict(readable(named, _summed_of, "entities", damage))

    def _bound(self, file: MemoryFile) -> dict[str, Any]:
        return {**self._files.view(file), "now": time_text(self._files.clock())}


OF_KEYS = "({0}.folded, {0}.type) IN PAIRED(:keys)"
KNOWN = f"""
    SELECT e.folded, e.type, e.name, min(a.alias), count(*), min({SAID_AT}), max({SAID_AT}),
        sum(coalesce(m.importance, 5))
    FROM entities e JOIN memory_entities a ON a.entity = e.id JOIN memories m ON m.rowid = a.memory
    WHERE ({{}}) AND {{}} GROUP BY e.id, e.folded, e.type, e.name, a.folded
    """
# Two lookups by index; OR would read all relations.
EDGES = f"""
    SELECT s.folded, s.type, s.name, t.folded, t.type, t.name, r.relation, m.id,
        CASE WHEN r.confidence < m.confidence THEN r.confidence ELSE m.confidence END,
        r.verified_at, m.state,
        coalesce(m.valid_to, m.state_at, m.content_updated_at)
    FROM (
        SELECT r.* FROM entities e JOIN relations r ON r.source = e.id WHERE {OF_KEYS.format("e")}
        UNION
        SELECT r.* FROM entities e JOIN relations r ON r.target = e.id WHERE {OF_KEYS.format("e")}
    ) r JOIN entities s ON s.id = r.source JOIN entities t ON t.id = r.target
    JOIN memories m ON m.rowid = r.memory WHERE {{}} ORDER BY r.verified_at DESC, m.id DESC
    """


class _Told:
    """One memory that says so."""

    def __init__(
        self, memory: str, confidence: float, verified_at: str, state: str, until: str
    ) -> None:
        self.memory = memory
        self.confidence = confidence
        self.verified_at = datetime.fromisoformat(verified_at)
        self.holds = state in LIVE
        self.until = datetime.fromisoformat(until)


def _told(row: Row) -> tuple[Row, _Told]:
    return row, _Told(*row[7:])


def _edge(
    source: Key, relation: str, target: Key, names: Mapping[Key, str], lines: Sequence[_Told]
) -> Edge:
    """Join the memories that state a relation. Only those that hold count, unless none of them
    does."""
    holding = [one for one in lines if one.holds]
    counted = holding or lines
    return Edge(
        source,
        relation,
        target,
        {source: names[source], target: names[target]},
        tuple(dict.fromkeys(one.memory for one in counted)),
        max(one.confidence for one in counted),
        max(one.verified_at for one in counted),
        None if holding else max(one.until for one in counted),
    )


def _as_one(told: Mapping[Key, list[Row]]) -> dict[Key, list[Row]]:
    """Join entities that one file has with the type `other` and the other file with exactly one
    more type."""
    types: dict[str, set[str]] = defaultdict(set)
    for key in told:
        types[key.folded].add(key.type)
    joined: dict[Key, list[Row]] = defaultdict(list)
    for key, rows in told.items():
        named = types[key.folded] - {"other"}
        if key.type == "other" and len(named) == 1:
            key = Key(key.folded, next(iter(named)))  # type: ignore[arg-type]
        joined[key] += rows
    return joined


def _summed_of(row: Row) -> tuple[Key, Known]:
    _, key, rows = row
    return key, _summed(key, rows)


def _summed(key: Key, rows: Iterable[Row]) -> Known:
    aliases: Counter[str] = Counter()
    names: Counter[str] = Counter()
    count, worth = 0, 0.0
    times: list[datetime] = []
    for name, alias, number, first, last, importance in rows:
        names[name] += number
        if alias:
            aliases[alias] += number
        count += number
        worth += importance
        times += [datetime.fromisoformat(first), datetime.fromisoformat(last)]
    called = tuple(alias for alias, _ in aliases.most_common(MOST_ALIASES))
    name = names.most_common(1)[0][0]
    return Known(
        key,
        name,
        called,
        count,
        min(times),
        max(times),
        worth / count,
    )


def _as_json(keys: Collection[Key]) -> str:
    return json.dumps([list(key) for key in keys])
