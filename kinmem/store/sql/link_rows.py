"""What ties memories together, as rows. Links: made and taken back, published, and what becomes of
them when memories go.

A Kin's own file has the links that it has made or found. shared.db has copies of those between
shared memories, each with the Kin that has published it. An end may be in the other file, so links
name memories by id, and who reads them asks both files.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from kinmem.models.record import (
    AUTO,
    INVERSE,
    REFUSED,
    RELATIONS,
    Link,
    linked,
)
from kinmem.store.sql.damage import DamagedRow, Row
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import IN_IDS, as_text, time_text

FIELDS = (
    "source", "target", "relation", "weight", "confidence", "origin", "evidence", "created_at",
    "verified_at",
)  # fmt: skip
ORIGIN, CREATED = FIELDS.index("origin"), FIELDS.index("created_at")
_COLUMNS, _PLACES = ", ".join(FIELDS), ", ".join("?" * len(FIELDS))
_REPLACING = "ON CONFLICT (source, target, relation, kin) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in FIELDS[3:]
)
PUT_NEW = f"INSERT INTO links ({_COLUMNS}) VALUES ({_PLACES}) ON CONFLICT DO NOTHING"
PUT = f"INSERT INTO links ({_COLUMNS}) VALUES ({_PLACES}) {_REPLACING}"
PUBLISH = f"INSERT INTO links ({_COLUMNS}, kin) VALUES ({_PLACES}, ?) {_REPLACING}"
BETWEEN = "((source = :one AND target = :other) OR (source = :other AND target = :one))"
Snapshot = list[dict[str, str | None]]
"""What a person has made of the links of one memory: {id, relation}, relation None: taken back."""


def inherit(db: Transaction, rows: Collection[Row], old: str, heir: str) -> None:
    """Give the links of a superseded memory to the one that supersedes it. The old links stay,
    since it may come back."""
    for row in _handed_on(rows, old, heir):
        db.run(PUT_NEW, row)


def disinherit(db: Transaction, rows: Collection[Row], old: str, heir: str) -> None:
    """Take back the links that `heir` has inherited from a memory that came back; they are
    recognised by their age."""
    for source, target, relation, *_, created, _verified in _handed_on(rows, old, heir):
        db.run(
            "DELETE FROM links WHERE source = ? AND target = ? AND relation = ? AND created_at = ?",
            (source, target, relation, created),
        )


def _handed_on(rows: Collection[Row], old: str, heir: str) -> Iterator[list[Any]]:
    """Yield the rows of links with `heir` in place of `old`, without links between the two."""
    for row in rows:
        ends = [heir if id == old else id for id in row[:2]]
        if ends[0] == ends[1]:  # the two were linked with each other
            continue
        if INVERSE.get(row[2], row[2]) == row[2]:  # in the order of links.linked
            ends.sort()
        yield [*ends, *row[2:]]


def touching(db: Transaction, id: str) -> list[Any]:
    """Return all links of a memory in this file, as rows of FIELDS."""
    return db.rows(
        f"SELECT {', '.join(FIELDS)} FROM links WHERE source = :id"
        f" UNION ALL SELECT {', '.join(FIELDS)} FROM links WHERE target = :id",
        {"id": id},
    )


def publish(id: str, kin: str, source: Transaction, db: Transaction) -> bool:
    """Copy those of a Kin's links of a memory whose other end is shared; returns whether anything
    differed."""
    shared = [row for row in map(tuple, touching(source, id)) if _is_there(db, row, id)]
    known = db.rows(
        f"SELECT {', '.join(FIELDS)} FROM links WHERE source = :id AND kin = :kin"
        f" UNION SELECT {', '.join(FIELDS)} FROM links WHERE target = :id AND kin = :kin",
        {"id": id, "kin": kin},
    )
    if set(shared) == set(known):
        return False
    db.run("DELETE FROM links WHERE :id IN (source, target) AND kin = :kin", {"id": id, "kin": kin})
    db.run_each(PUBLISH, [(*row, kin) for row in shared])
    return True


def _is_there(db: Transaction, row: Row, id: str) -> bool:
    """Return whether the other end of a link is in this file as well."""
    other = row[1] if row[0] == id else row[0]
    return bool(db.value("SELECT 1 FROM memories WHERE id = ?", (other,)))


def of_others(database: Database, kin: str, ids: Collection[str]) -> list[Row]:
    """Return the links that other Kins have published with these memories, as rows of FIELDS."""
    columns = ", ".join(FIELDS)
    rows = database.rows(
        f"SELECT {columns} FROM links WHERE source {IN_IDS} AND kin <> :kin"
        f" UNION SELECT {columns} FROM links WHERE target {IN_IDS} AND kin <> :kin",
        {"ids": json.dumps(list(ids)), "kin": kin},
    )
    return list(rows)


def in_force(own: Collection[Row], others: Collection[Row]) -> list[Row]:
    """Return those links that hold. For each pair, what people said wins over what was found, the
    latest statement over earlier ones, and own findings over others'."""
    pairs: dict[frozenset[str], list[Row]] = defaultdict(list)
    for row in dict.fromkeys([*own, *others]):
        pairs[frozenset(row[:2])].append(row)
    return [row for rows in pairs.values() for row in _in_force(rows)]


def _in_force(rows: Sequence[Row]) -> Sequence[Row]:
    refused = max((row[CREATED] for row in rows if row[ORIGIN] == REFUSED), default=None)
    said = [row for row in rows if row[ORIGIN] not in (REFUSED, AUTO)]
    if refused is not None:
        said = [row for row in said if row[CREATED] > refused]
    if said or refused is not None:
        return list({row[:3]: row for row in said}.values())
    return rows[:1]


def forget(db: Transaction, id: str) -> None:
    """Delete every link of a memory that is no longer in this file."""
    db.run("DELETE FROM links WHERE source = :id OR target = :id", {"id": id})


def link_of(row: Row) -> Link:
    """Convert a row of FIELDS; it may say that the two were parted."""
    source, target, relation, weight, confidence, origin, evidence, created, verified = row
    if relation not in RELATIONS and origin != REFUSED:
        raise DamagedRow(f"{relation!r} is no relation")
    return Link(
        source,
        target,
        relation,
        weight,
        confidence,
        origin,
        json.loads(evidence) if evidence else {},
        datetime.fromisoformat(created) if created else None,
        datetime.fromisoformat(verified),
    )


def snapshot(db: Transaction, id: str) -> Snapshot:
    """Return the manual links of one memory, sorted by other end and relation."""
    rows = db.rows(
        "SELECT source, target, relation, origin FROM links"
        " WHERE (source = :id OR target = :id) AND origin <> 'auto'",
        {"id": id},
    )
    told: Snapshot = [
        {"id": target if source == id else source, "relation": None}
        if origin == REFUSED
        else {
            "id": target if source == id else source,
            "relation": str(relation) if source == id else INVERSE[str(relation)],
        }
        for source, target, relation, origin in rows
    ]
    return sorted(told, key=lambda one: (one["id"] or "", one["relation"] or ""))


def read_back(id: str, other: str, relation: str) -> Link:
    """Return the link that `relation` names as seen from `id`."""
    if relation in RELATIONS:
        return linked(id, other, relation)
    called = next(name for name, inverse in INVERSE.items() if inverse == relation)
    return linked(other, id, called)


def remove(db: Transaction, id: str, one: Mapping[str, str | None]) -> None:
    """Delete one entry of a snapshot of `id`: a manual link, or the record that it was refused."""
    source, target = sorted((id, str(one["id"])))
    row = [source, target, REFUSED]
    if one["relation"] is not None:
        link = read_back(id, str(one["id"]), one["relation"])
        row = [link.source, link.target, link.relation]
    db.run(
        "DELETE FROM links WHERE source = ? AND target = ? AND relation = ? AND origin <> 'auto'",
        row,
    )


def join(db: Transaction, link: Link, at: datetime, unless: str | None = None) -> None:
    """Store a manual link. It replaces what was found or refused between the two, and earlier
    manual links only if they are not later than `unless`, when others last said something about the
    pair."""
    pair = {"one": link.source, "other": link.target, "unless": unless}
    db.run(
        f"DELETE FROM links WHERE {BETWEEN} AND (origin <> 'manual' OR created_at <= :unless)", pair
    )
    db.run(PUT_NEW, _values(link, at))


def take_apart(db: Transaction, one: str, other: str) -> bool:
    """Delete all links between two memories; returns whether there were any."""
    pair = {"one": one, "other": other}
    return bool(db.rows(f"DELETE FROM links WHERE {BETWEEN} RETURNING 1", pair))


def refuse(db: Transaction, one: str, other: str, at: datetime) -> None:
    """Record that a person does not want two memories linked."""
    source, target = sorted((one, other))
    refused = Link(source, target, REFUSED, 0.0, 0.0, REFUSED)
    db.run(PUT, _values(refused, at))


def put_found(db: Transaction, link: Link, at: datetime) -> bool:
    """Store an automatic link, which replaces an earlier one of its pair; returns whether there was
    none."""
    pair = {"one": link.source, "other": link.target}
    known = db.rows(
        f"DELETE FROM links WHERE {BETWEEN} AND origin = 'auto' RETURNING relation, created_at",
        pair,
    )
    made = min((str(created) for _, created in known), default=time_text(at))
    db.run(PUT_NEW, [*_values(link, at)[:-2], made, time_text(at)])
    return not known


def _values(link: Link, at: datetime) -> list[Any]:
    evidence = as_text(dict(link.evidence)) if link.evidence else None
    named = [getattr(link, name) for name in FIELDS[:6]]
    return [*named, evidence, time_text(at), time_text(at)]


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
