"""Links as rows: made and taken back, and what becomes of them when memories move or go.

In shared.db are those between shared memories, any other is in the Kin's own file. An end may be in
the other file, so links name memories by id, and who reads them asks both files.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.links import INVERSE, REFUSED, RELATIONS, STALE_CONFIDENCE, Asked, Link, linked
from kinmem.models import Memory, Scope
from kinmem.store.sqlite.connection import Row
from kinmem.store.sqlite.queries import as_text, time_text

if TYPE_CHECKING:
    from kinmem.store.sqlite.memory_file import MemoryFile
    from kinmem.store.sqlite.sharing import KinFiles


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
        if INVERSE.get(row[2], row[2]) == row[2]:  # in the order of links.linked
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


Files = Mapping["MemoryFile", apsw.Connection]


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
        files: "KinFiles",
        ends: Callable[..., dict[str, End]],
        taken_apart: Callable[[Collection[str]], set[frozenset[str]]],
    ) -> None:
        """`ends`: see SqliteLinks.ends; `taken_apart`: see Links."""
        self._files = files
        self._ends = ends
        self._taken_apart = taken_apart

    # what people say

    def change(
        self,
        id: str,
        asked: Sequence[Asked],
        if_version: int | None = None,
        *,
        batch: str | None = None,
    ) -> Memory:
        ends = self._ends({one.id for one in asked})
        for one in asked:
            if one.id not in ends:
                raise MemoryNotFound(one.id)

        def edit(dbs: Files, memory: Memory) -> None:
            for one in asked:
                home = self._home(dbs, memory, ends[one.id])
                if one.relation is not None:
                    join(dbs.values(), linked(memory.id, one.id, one.relation), home, at)
                elif take_apart(dbs.values(), memory.id, one.id):
                    refuse(home, memory.id, one.id, at)

        at = self._files.clock()
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

        def edit(dbs: Files, memory: Memory) -> None:
            # What is as it was stays untouched: its other end may be in the bin just now.
            now = snapshot(dbs.values(), id)
            for known in now:
                if known not in links:
                    remove(dbs.values(), id, known)
            for one in links:
                if one in now or one["id"] not in ends:
                    continue
                home = self._home(dbs, memory, ends[one["id"]])
                if one["relation"] is None:
                    take_apart(dbs.values(), id, one["id"])
                    refuse(home, id, one["id"], at)
                else:
                    join(dbs.values(), read_back(id, one["id"], one["relation"]), home, at)

        self._edited(id, edit, None, "undone", batch, reverts)

    def _edited(
        self,
        id: str,
        edit: Callable[[Files, Memory], None],
        if_version: int | None,
        action: str = "linked",
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> Memory:
        """The memory after its links were changed. The history line is in the Kin's own file: it
        may name memories that nobody else is to know of."""
        own = self._files.by_scope["private"]
        with self._files.changing(*self._files) as dbs:
            file, row, old = self._files.mine(dbs, id)
            if if_version is not None and old.version != if_version:
                raise VersionConflict(id, if_version, old.version)
            before = snapshot(dbs.values(), id)
            edit(dbs, old)
            after = snapshot(dbs.values(), id)
            if before == after:
                return old
            new = file.change(dbs[file], row, old, {}, None)
            told = {"links": before}, {"links": after}
            own.note(dbs[own], self._files.clock(), old, action, *told, None, batch, reverts)
            return new

    def _home(self, dbs: Files, memory: Memory, end: End) -> apsw.Connection:
        """Where a link between the two belongs."""
        scope: Scope = "shared" if memory.scope == end.scope == "shared" else "private"
        return dbs[self._files.by_scope[scope]]

    # what upkeep finds

    def add(self, links: Sequence[Link]) -> int:
        ids = {id for link in links for id in link.ends}
        ends, apart = self._ends(ids), self._taken_apart(ids)
        by_scope: dict[Scope, list[Link]] = defaultdict(list)
        for link in links:
            both = [ends[id] for id in link.ends if id in ends]
            is_own = any(end.kin == self._files.kin for end in both)
            if len(both) == 2 and is_own and link.ends not in apart:
                shared = all(end.scope == "shared" for end in both)
                by_scope["shared" if shared else "private"].append(link)
        at, added = self._files.clock(), 0
        for scope, some in by_scope.items():
            with self._files.by_scope[scope].database.writing() as db:
                added += sum(put_found(db, link, at) for link in some)
        return added

    def doubt(self, links: Sequence[Link]) -> None:
        names = json.dumps([(link.source, link.target, link.relation) for link in links])
        which = (
            "origin = 'auto' AND (source, target, relation) IN"
            " (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))"
        )
        for file in self._files:
            if file.database.rows(f"SELECT 1 FROM links WHERE {which} LIMIT 1", (names,)):
                with file.database.writing() as db:
                    db.execute(
                        "UPDATE links SET confidence = confidence / 2, evidence = NULL"
                        f" WHERE {which}",
                        (names,),
                    )

    def drop_stale(self, before: datetime, *, dry_run: bool = False) -> int:
        bound = {"before": time_text(before), "kin": self._files.kin}
        dropped = 0
        for scope, file in self._files.by_scope.items():
            stale = (
                f"origin = 'auto' AND confidence <= {STALE_CONFIDENCE} AND verified_at < :before"
            )
            if scope == "shared":  # others see to theirs
                stale += (
                    " AND EXISTS (SELECT 1 FROM memories WHERE id IN (source, target)"
                    " AND kin = :kin)"
                )
            count = file.database.rows(f"SELECT count(*) FROM links WHERE {stale}", bound)[0][0]
            if count and not dry_run:
                with file.database.writing() as db:
                    db.execute(f"DELETE FROM links WHERE {stale}", bound)
            dropped += int(count)
        return dropped

    def heirs(self, ids: Collection[str]) -> dict[str, str | None]:
        """What each of these memories is superseded by."""
        return {id: end.superseded_by for id, end in self._ends(ids).items()} if ids else {}

    def take_over(self, before: Mapping[str, str | None]) -> None:
        """As edges.inherit and disinherit, for what had these heirs before something was done in
        the shared file: links with private memories are in the Kin's own."""
        own = self._files.by_scope["private"].database
        touched = "SELECT 1 FROM json_each(?) JOIN links ON value IN (source, target) LIMIT 1"
        if before and own.rows(touched, (json.dumps(list(before)),)):
            now = self.heirs(before)
            with own.writing() as db:
                for id in before:
                    if (former := before[id]) and former != now.get(id):
                        disinherit(db, id, former)
                    if heir := now.get(id):
                        inherit(db, id, heir)
