"""What the names in a question lead to, in a few lookups by index whatever is in the files.

Of each entity only the latest mentions are looked at, by the numbers of the memories: sorting all
that is said of somebody well known by its time would take longer than the rest of a recall.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from kinmem.models import Scope
from kinmem.rules.names.relation_words import SYMMETRIC
from kinmem.store.graph import Edge, Key, Spoken
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.connection import Row
from kinmem.store.sqlite.filters import SAID_AT, SEEN
from kinmem.text import folded

MOST_SAID = 50
"""Lines about relations of one entity, of the latest memories, from either end."""


class SpokenRows:
    """See Graph, what recall asks."""

    _books: Mapping[Scope, Book]
    _bound: Callable[[Book], dict[str, Any]]

    def spoken_of(self, names: Collection[str], most: int, limit: int) -> list[Spoken]:
        wanted = json.dumps([folded(name) for name in names])
        told: Counter[Key] = Counter()
        for book in self._books.values():
            for plain, type, count in book.database.rows(NAMED, {"names": wanted}):
                told[Key(plain, type)] += count
        keys = sorted(told, key=lambda key: (-told[key], key))[:most]
        latest, edges = self.latest(keys, limit), self._said_of(keys)
        return [Spoken(key, told[key], latest.get(key, ()), edges.get(key, ())) for key in keys]

    def latest(self, keys: Collection[Key], limit: int) -> dict[Key, list[str]]:
        found: dict[Key, list[tuple[str, str]]] = defaultdict(list)
        for book, bound in self._asked(keys):
            for plain, type, id, at in book.database.rows(LATEST, {**bound, "limit": limit}):
                found[Key(plain, type)].append((at, id))
        return {
            key: [id for _, id in sorted(some, reverse=True)[:limit]] for key, some in found.items()
        }

    def _said_of(self, keys: Collection[Key]) -> dict[Key, list[Edge]]:
        """By entity its relations, as the latest memories tell them."""
        told: dict[tuple[Key, str, Key], dict[str, Row]] = defaultdict(dict)
        for book, bound in self._asked(keys):
            for row in book.database.rows(SAID, {**bound, "limit": MOST_SAID}):
                source, target, relation = Key(*row[:2]), Key(*row[2:4]), row[4]
                if relation in SYMMETRIC and source > target:
                    source, target = target, source
                told[source, relation, target][row[5]] = row[6:]
        edges: dict[Key, list[Edge]] = defaultdict(list)
        for (source, relation, target), lines in told.items():
            edge = _edge(source, relation, target, lines)
            for key in {source, target}.intersection(keys):
                edges[key].append(edge)
        return edges

    def _asked(self, keys: Collection[Key]) -> list[tuple[Book, dict[str, Any]]]:
        asked = json.dumps([list(key) for key in keys])
        books = self._books.values() if keys else ()
        return [(book, {**self._bound(book), "keys": asked}) for book in books]


def _edge(source: Key, relation: str, target: Key, lines: Mapping[str, Row]) -> Edge:
    """`lines`: (confidence, when it was read), by the id of the memory that says so."""
    confidences, times = zip(*lines.values(), strict=True)
    names = {source: source.folded, target: target.folded}
    verified = datetime.fromisoformat(max(times))
    return Edge(source, relation, target, names, tuple(lines), max(confidences), verified)


# CROSS JOIN: in this order, whatever statistics there are.
NAMED = """
    SELECT e.folded, e.type, (SELECT count(*) FROM memory_entities WHERE entity = e.id)
    FROM (
        SELECT entities.id FROM json_each(:names) CROSS JOIN entities ON folded = value
        UNION
        SELECT entity FROM json_each(:names) CROSS JOIN memory_entities ON folded = value
    ) named CROSS JOIN entities e ON e.id = named.id
"""
ASKED = """
    WITH asked AS MATERIALIZED (
        SELECT e.id, e.folded, e.type FROM json_each(:keys)
        CROSS JOIN entities e ON e.folded = value ->> 0 AND e.type = value ->> 1
    )
"""
LATEST = f"""{ASKED}
    SELECT asked.folded, asked.type, m.id, {SAID_AT}
    FROM asked CROSS JOIN memories m ON m.rowid IN (
        SELECT memory FROM memory_entities WHERE entity = asked.id
        ORDER BY memory DESC LIMIT :limit
    )
    WHERE {SEEN}
"""
LINES = """
    SELECT r.* FROM asked CROSS JOIN relations r ON r.{0} = asked.id AND r.memory >= (
        SELECT min(memory) FROM (
            SELECT memory FROM relations WHERE {0} = asked.id ORDER BY memory DESC LIMIT :limit
        )
    )
"""
SAID = f"""{ASKED}
    SELECT s.folded, s.type, t.folded, t.type, r.relation, m.id, min(r.confidence, m.confidence),
        r.verified_at
    FROM ({LINES.format("source")} UNION {LINES.format("target")}) r
    CROSS JOIN memories m ON m.rowid = r.memory
    CROSS JOIN entities s ON s.id = r.source CROSS JOIN entities t ON t.id = r.target
    WHERE {SEEN} ORDER BY r.memory DESC
"""
