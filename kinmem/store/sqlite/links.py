"""Links between memories: in shared.db those between shared ones, any other in the Kin's own file.

An end may be in the other file, so links name memories by id, and who reads them asks both files.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import apsw

from kinmem.clock import Clock
from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.models import Memory, Scope
from kinmem.rules.links import (
    AUTO,
    REFUSED,
    STALE_CONFIDENCE,
    Asked,
    Link,
    linked,
)
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.edges import (
    FIELDS,
    disinherit,
    inherit,
    join,
    link_of,
    put_found,
    read_back,
    refuse,
    remove,
    snapshot,
    take_apart,
)
from kinmem.store.sqlite.filters import View
from kinmem.store.sqlite.linked import End, LinkedRows
from kinmem.store.sqlite.rows import time_text

Files = Mapping[Book, apsw.Connection]


class SqliteLinks(LinkedRows):
    """See Links."""

    def __init__(
        self,
        books: Mapping[Scope, Book],
        kin: str,
        clock: Clock,
        view: Callable[[Book], View],
        changing: Callable[..., AbstractContextManager[Files]],
        mine: Callable[[Files, str], tuple[Book, int, Memory]],
    ) -> None:
        self._books = books
        self._kin = kin
        self._clock = clock
        self._view = view
        self._changing = changing
        self._mine = mine

    # reading

    def of(self, ids: Collection[str]) -> dict[str, list[Link]]:
        rows = self._rows(", ".join(FIELDS), ids)
        links = {(row[0], row[1], row[2]): link_of(row) for row in rows if row[5] != REFUSED}
        ends = self._ends({id for link in links.values() for id in link.ends})
        found: dict[str, list[Link]] = defaultdict(list)
        for link in sorted(links.values(), key=lambda link: (-link.weight, -link.confidence)):
            for id in link.ends & ends.keys() & set(ids):
                if link.other(id) in ends:
                    found[id].append(link)
        return {id: _without_repeats(id, some, ends) for id, some in found.items()}

    def taken_apart(self, ids: Collection[str]) -> set[frozenset[str]]:
        rows = self._rows("source, target, origin", ids)
        return {frozenset(row[:2]) for row in rows if row[2] != AUTO}

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

        at = self._clock()
        return self._edited(id, edit, if_version, batch=batch)

    def restore(
        self,
        id: str,
        links: Sequence[Mapping[str, Any]],
        *,
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> None:
        at = self._clock()
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
        own = self._books["private"]
        with self._changing(*self._books.values()) as dbs:
            book, row, old = self._mine(dbs, id)
            if if_version is not None and old.version != if_version:
                raise VersionConflict(id, if_version, old.version)
            before = snapshot(dbs.values(), id)
            edit(dbs, old)
            after = snapshot(dbs.values(), id)
            if before == after:
                return old
            new = book.change(dbs[book], row, old, {}, None)
            told = {"links": before}, {"links": after}
            own.note(dbs[own], self._clock(), old, action, *told, None, batch, reverts)
            return new

    def _home(self, dbs: Files, memory: Memory, end: End) -> apsw.Connection:
        """Where a link between the two belongs."""
        scope: Scope = "shared" if memory.scope == end.scope == "shared" else "private"
        return dbs[self._books[scope]]

    # what upkeep finds

    def add(self, links: Sequence[Link]) -> int:
        ids = {id for link in links for id in link.ends}
        ends, apart = self._ends(ids), self.taken_apart(ids)
        by_scope: dict[Scope, list[Link]] = defaultdict(list)
        for link in links:
            both = [ends[id] for id in link.ends if id in ends]
            is_own = any(end.kin == self._kin for end in both)
            if len(both) == 2 and is_own and link.ends not in apart:
                shared = all(end.scope == "shared" for end in both)
                by_scope["shared" if shared else "private"].append(link)
        at, added = self._clock(), 0
        for scope, some in by_scope.items():
            with self._books[scope].database.writing() as db:
                added += sum(put_found(db, link, at) for link in some)
        return added

    def doubt(self, links: Sequence[Link]) -> None:
        names = json.dumps([(link.source, link.target, link.relation) for link in links])
        which = (
            "origin = 'auto' AND (source, target, relation) IN"
            " (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))"
        )
        for book in self._books.values():
            if book.database.rows(f"SELECT 1 FROM links WHERE {which} LIMIT 1", (names,)):
                with book.database.writing() as db:
                    db.execute(
                        "UPDATE links SET confidence = confidence / 2, evidence = NULL"
                        f" WHERE {which}",
                        (names,),
                    )

    def drop_stale(self, before: datetime, *, dry_run: bool = False) -> int:
        bound = {"before": time_text(before), "kin": self._kin}
        dropped = 0
        for scope, book in self._books.items():
            stale = (
                f"origin = 'auto' AND confidence <= {STALE_CONFIDENCE} AND verified_at < :before"
            )
            if scope == "shared":  # others see to theirs
                stale += (
                    " AND EXISTS (SELECT 1 FROM memories WHERE id IN (source, target)"
                    " AND kin = :kin)"
                )
            count = book.database.rows(f"SELECT count(*) FROM links WHERE {stale}", bound)[0][0]
            if count and not dry_run:
                with book.database.writing() as db:
                    db.execute(f"DELETE FROM links WHERE {stale}", bound)
            dropped += int(count)
        return dropped

    def heirs(self, ids: Collection[str]) -> dict[str, str | None]:
        """What each of these memories is superseded by."""
        return {id: end.superseded_by for id, end in self._ends(ids).items()} if ids else {}

    def take_over(self, before: Mapping[str, str | None]) -> None:
        """As edges.inherit and disinherit, for what had these heirs before something was done in
        the shared file: links with private memories are in the Kin's own."""
        own = self._books["private"].database
        touched = "SELECT 1 FROM json_each(?) JOIN links ON value IN (source, target) LIMIT 1"
        if before and own.rows(touched, (json.dumps(list(before)),)):
            now = self.heirs(before)
            with own.writing() as db:
                for id in before:
                    if (former := before[id]) and former != now.get(id):
                        disinherit(db, id, former)
                    if heir := now.get(id):
                        inherit(db, id, heir)


def _without_repeats(id: str, links: Iterable[Link], ends: Mapping[str, End]) -> list[Link]:
    """Without links to what was superseded by something that is linked just so."""
    links = list(links)
    told = {(link.other(id), link.seen_from(id)) for link in links}
    return [
        link
        for link in links
        if (ends[link.other(id)].superseded_by, link.seen_from(id)) not in told
    ]
