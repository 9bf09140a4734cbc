"""Links that a person or upkeep makes and takes back. See Links, what changes them."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.models import Memory, Scope
from kinmem.models.links import STALE_CONFIDENCE, Asked, Link, linked
from kinmem.store.sql.database import Row, Transaction
from kinmem.store.sql.link_rows import (
    CREATED,
    disinherit,
    in_force,
    inherit,
    join,
    of_others,
    put_found,
    read_back,
    refuse,
    remove,
    snapshot,
    take_apart,
)
from kinmem.store.sql.memory_rows import time_text
from kinmem.store.sql.sharing import Files


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
        asked: Sequence[Asked],
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
