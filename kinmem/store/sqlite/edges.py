"""The rows of links: made and taken back, and what becomes of them when memories move or go.

Functions on a connection, inside a transaction of the caller's.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

import apsw

from kinmem.models import Scope
from kinmem.rules.links import INVERSE, REFUSED, RELATIONS, Link, linked
from kinmem.store.sqlite.connection import Row
from kinmem.store.sqlite.rows import as_text, time_text

FIELDS = (
    "source", "target", "relation", "weight", "confidence", "origin", "evidence", "created_at",
    "verified_at",
)  # fmt: skip
_ROW = f"INTO links ({', '.join(FIELDS)}) VALUES ({', '.join('?' * len(FIELDS))})"
PUT, PUT_NEW = f"INSERT OR REPLACE {_ROW}", f"INSERT OR IGNORE {_ROW}"
BETWEEN = "((source = :one AND target = :other) OR (source = :other AND target = :one))"

Snapshot = list[dict[str, str | None]]
"""What a person has made of the links of one memory: {id, relation}, relation None: taken back."""
Databases = Collection[apsw.Connection]


def inherit(db: apsw.Connection, old: str, heir: str) -> None:
    """What takes a memory's place is linked as it was. The old links stay: it may come back."""
    for row in _handed_on(db, old, heir):
        db.execute(PUT_NEW, row)


def disinherit(db: apsw.Connection, old: str, heir: str) -> None:
    """It has come back: what had its place gives back the links that it had of it, as their age
    tells."""
    for source, target, relation, *_, created, _verified in _handed_on(db, old, heir):
        db.execute(
            "DELETE FROM links WHERE source = ? AND target = ? AND relation = ? AND created_at = ?",
            (source, target, relation, created),
        )


def _handed_on(db: apsw.Connection, old: str, heir: str) -> Iterator[list[Any]]:
    """The links of one memory as another's."""
    for row in touching(db, old):
        ends = [heir if id == old else id for id in row[:2]]
        if ends[0] == ends[1]:  # the two were linked with each other
            continue
        if INVERSE.get(row[2], row[2]) == row[2]:  # in the order of rules/links.linked
            ends.sort()
        yield [*ends, *row[2:]]


def touching(db: apsw.Connection, id: str) -> list[Any]:
    """The rows, as FIELDS, of all links with a memory in this file."""
    return db.execute(
        f"SELECT {', '.join(FIELDS)} FROM links WHERE source = :id"
        f" UNION ALL SELECT {', '.join(FIELDS)} FROM links WHERE target = :id",
        {"id": id},
    ).fetchall()


def carry(id: str, source: apsw.Connection, target: apsw.Connection, scope: Scope) -> None:
    """A memory moves from one file to the other, and with it the links that belong there."""
    stays = "EXISTS (SELECT 1 FROM memories WHERE id = ?)"
    for row in touching(source, id):
        other = row[1] if row[0] == id else row[0]
        if scope == "shared" and not target.execute(f"SELECT {stays}", (other,)).get:
            continue  # the other end is private
        target.execute(PUT, row)
        source.execute(
            "DELETE FROM links WHERE source = ? AND target = ? AND relation = ?", row[:3]
        )


def forget(db: apsw.Connection, id: str) -> None:
    """Drop every link of a memory that is in this file no longer."""
    db.execute("DELETE FROM links WHERE source = :id OR target = :id", {"id": id})


def link_of(row: Row) -> Link:
    """The link that a row of FIELDS holds."""
    source, target, relation, weight, confidence, origin, evidence, created, verified = row
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


def snapshot(dbs: Databases, id: str) -> Snapshot:
    rows = {
        row
        for db in dbs
        for row in db.execute(
            "SELECT source, target, relation, origin FROM links"
            " WHERE (source = :id OR target = :id) AND origin <> 'auto'",
            {"id": id},
        )
    }
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
    """The link that was called so from `id`'s end."""
    if relation in RELATIONS:
        return linked(id, other, relation)
    called = next(name for name, inverse in INVERSE.items() if inverse == relation)
    return linked(other, id, called)


def remove(dbs: Databases, id: str, one: Mapping[str, str | None]) -> None:
    """Delete one row of a snapshot of `id`: a link, or that it was refused."""
    source, target = sorted((id, str(one["id"])))
    row = [source, target, REFUSED]
    if one["relation"] is not None:
        link = read_back(id, str(one["id"]), one["relation"])
        row = [link.source, link.target, link.relation]
    for db in dbs:
        db.execute(
            "DELETE FROM links WHERE source = ? AND target = ? AND relation = ?"
            " AND origin <> 'auto'",
            row,
        )


def join(dbs: Databases, link: Link, home: apsw.Connection, at: datetime) -> None:
    """Store what a person said; it takes the place of what was found or refused."""
    pair = {"one": link.source, "other": link.target}
    for db in dbs:
        db.execute(f"DELETE FROM links WHERE {BETWEEN} AND origin <> 'manual'", pair)
    home.execute(PUT_NEW, _values(link, at))


def take_apart(dbs: Databases, one: str, other: str) -> bool:
    """Take back whatever links two memories; whether anything did."""
    pair = {"one": one, "other": other}
    gone = [
        db.execute(f"DELETE FROM links WHERE {BETWEEN} RETURNING 1", pair).fetchall() for db in dbs
    ]
    return any(gone)


def refuse(home: apsw.Connection, one: str, other: str, at: datetime) -> None:
    """Remember that a person does not want the two linked."""
    source, target = sorted((one, other))
    refused = Link(source, target, REFUSED, 0.0, 0.0, REFUSED)
    home.execute(PUT, _values(refused, at))


def put_found(db: apsw.Connection, link: Link, at: datetime) -> bool:
    """Store an automatic link, the only one of its pair; whether there was none before."""
    pair = {"one": link.source, "other": link.target}
    known: Any = db.execute(
        f"DELETE FROM links WHERE {BETWEEN} AND origin = 'auto' RETURNING relation, created_at",
        pair,
    ).fetchall()
    made = min((str(created) for _, created in known), default=time_text(at))
    db.execute(PUT_NEW, [*_values(link, at)[:-2], made, time_text(at)])
    return not known


def _values(link: Link, at: datetime) -> list[Any]:
    evidence = as_text(dict(link.evidence)) if link.evidence else None
    named = [getattr(link, name) for name in FIELDS[:6]]
    return [*named, evidence, time_text(at), time_text(at)]
