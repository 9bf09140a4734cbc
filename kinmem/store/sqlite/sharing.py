"""One Kin's two files, its own and the shared one, and memories that move between them.

A move is two transactions: the target's, then the source's. Cut short between them, it leaves an
old copy in the source. The target's table `moves` tells, so that the copy is overlooked until
somebody removes it.
"""

import json
import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from kinmem.clock import Clock
from kinmem.errors import MemoryNotFound, StoreError
from kinmem.models import Filters, Memory, Scope
from kinmem.store.sqlite import link_rows
from kinmem.store.sqlite.connection import Database, translated
from kinmem.store.sqlite.document_parts import carry_texts
from kinmem.store.sqlite.history_rows import Numbers, carry
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.queries import Allowed, View, conditions

logger = logging.getLogger(__name__)

FORGET = "DELETE FROM moves WHERE memory = ?"


class KinFiles:
    """One Kin's view of two files: its own and the shared one. Never opens another Kin's file."""

    def __init__(self, home: Path, kin: str, clock: Clock) -> None:
        """`kins/<kin>.db` and `shared.db` below `home`."""
        self.kin = kin
        self.clock = clock
        self._left: dict[MemoryFile, tuple[tuple[int, ...], list[str]]] = {}
        self.numbers = Numbers(kin)
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.own = MemoryFile(home / "kins" / f"{kin}.db", self.numbers)
        self.by_scope: dict[Scope, MemoryFile] = {"private": self.own}
        try:
            self.shared = self.by_scope["shared"] = MemoryFile(home / "shared.db", self.numbers)
            self.numbers.over(file.database for file in self)
            self.tidy()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[MemoryFile]:
        """The own file, then the shared one."""
        return iter(self.by_scope.values())

    def close(self) -> None:
        """Let go of both."""
        for file in self:
            file.close()

    # what the Kin sees

    def view(self, file: MemoryFile) -> View:
        """Who looks at a file."""
        left = self.left(file)
        return {"kin": self.kin, "left": json.dumps(left) if left else None}

    def left(self, file: MemoryFile) -> list[str]:
        """Ids of what has been moved out of this file and is in it still."""
        revision = tuple(one.revision for one in self)
        known = self._left.get(file)
        if known is None or known[0] != revision:
            other = self.shared if file is self.own else self.own
            known = self._left[file] = revision, left_behind(file, other, self.kin)
        return known[1]

    def sees(self, memory: Memory) -> bool:
        """Whether the Kin sees a memory of one of its files."""
        return memory.kin == self.kin or (
            memory.scope == "shared" and memory.state not in ("deleted", "quarantined")
        )

    def get(self, id: str) -> Memory:
        """A visible memory. Raises MemoryNotFound."""
        # Asked twice: it may have been moved from the second file to the first in between.
        found = self.memories([id]) or self.memories([id])
        if not found:
            raise MemoryNotFound(id)
        return found[id]

    def memories(self, ids: Collection[str]) -> dict[str, Memory]:
        """The visible ones among these, by id."""
        found: dict[str, Memory] = {}
        for file in self:
            if found.keys() >= set(ids) and not self.left(self.own):
                break
            for _, memory in file.by_ids(ids):
                known = found.get(memory.id)
                # Both files hold it after a move that was cut short: the later one counts.
                if self.sees(memory) and (known is None or known.version < memory.version):
                    found[memory.id] = memory
        return found

    def holder(self, id: str) -> tuple[Database, int]:
        """The file of a visible memory, and its number in it. Raises MemoryNotFound."""
        file = self.by_scope[self.get(id).scope]
        for row, _ in file.by_ids([id]):
            return file.database, row
        raise MemoryNotFound(id)

    def allowed(self, filters: Filters) -> Iterator[tuple[MemoryFile, Allowed]]:
        """The files to be asked, and what may be found in each; an unwritten one is not asked."""
        now = self.clock()
        at_hand = filters.here if filters.only_here else None
        anything = replace(filters, scope=None, here=at_hand) == Filters()
        live = not (
            filters.include_archived or filters.as_of or filters.was or filters.states is not None
        )
        for scope, file in self.by_scope.items():
            if filters.scope not in (None, scope):
                continue
            revision, expired = file.outlook(now)
            if revision:
                view = self.view(file)
                where, bound = conditions(filters, view, now)
                plain = anything and not expired and view["left"] is None
                yield file, Allowed(where, bound, plain, live)

    # changing what is the Kin's

    @contextmanager
    def changing(self, *files: MemoryFile) -> Iterator[dict[MemoryFile, apsw.Connection]]:
        """A transaction on each of these files, begun on the own one first.

        So two that move memories in opposite directions never wait for each other.
        """
        with ExitStack() as stack:
            dbs = {file: stack.enter_context(file.changing()) for file in self if file in files}
            if len(dbs) > 1:  # it is one write
                number = self.numbers.next()
                for file in dbs:
                    file.write = number
            yield dbs

    def mine(
        self, dbs: Mapping[MemoryFile, apsw.Connection], id: str
    ) -> tuple[MemoryFile, int, Memory]:
        """The file, row number and present state of a memory of this Kin. Raises MemoryNotFound."""
        found = [(file, *one) for file, db in dbs.items() if (one := file.find(db, id))]
        mine = [one for one in found if one[2].kin == self.kin]
        if not mine:
            raise MemoryNotFound(id)
        return max(mine, key=lambda one: one[2].version)  # two after a move that was cut short

    def file_of(self, id: str) -> MemoryFile:
        """The file that holds a memory of this Kin. Raises MemoryNotFound."""
        memory = self.get(id)
        if memory.kin != self.kin:
            raise MemoryNotFound(id)
        return self.by_scope[memory.scope]

    # moves

    def tidy(self) -> None:
        """Finish moves that were cut short: of two rows with one id the later version stays."""
        ids = {id for file in self for id in marked(file, self.kin)}
        if any(file.database.was_upgraded for file in self):
            ids.update(in_both(self.shared, self.own, self.kin))  # version 1 marked none
        self._finish(ids)

    def finish_moves(self, ids: Collection[str]) -> None:
        """Remove what moves of these have left behind."""
        left = {id for file in self for id in self.left(file)}
        self._finish(left.intersection(ids))

    def _finish(self, ids: Collection[str]) -> None:
        for id in ids:
            try:
                with self.changing(self.own, self.shared) as dbs:
                    finish(id, dbs)
            except StoreError as error:  # it is overlooked until a later change or opening
                logger.warning("an old copy of %s is still there: %s", id, error)

    def end_move(self, memory: Memory) -> None:
        """A memory has been moved, both transactions are done: forget that it was on its way."""
        file = self.by_scope[memory.scope]
        if memory.id in marked(file, self.kin):
            with suppress(StoreError):  # the next opening does it
                ended(file, memory)


def move(
    new: Memory, row: int, source: MemoryFile, source_db: Any, target: MemoryFile, db: Any
) -> None:
    """Put a memory into the target and take it out of the source; commits neither.

    `row` is its number in the source.
    """
    target.copy_in(db, new, source_db, row)
    db.execute(
        "INSERT OR REPLACE INTO moves (memory, kin, version) VALUES (?, ?, ?)",
        (new.id, new.kin, new.version),
    )
    if new.scope == "private":
        carry(source_db, db, new.id)  # what was shared leaves no texts behind
        carry_texts(source_db, db, new.id)
    link_rows.carry(new.id, source_db, db, new.scope)
    source.delete(source_db, new.id)
    source_db.execute(FORGET, (new.id,))  # it had come from where it goes


def ended(file: MemoryFile, memory: Memory) -> None:
    """Both transactions are done: there is no old copy."""
    with file.database.writing() as db:
        db.execute(f"{FORGET} AND version <= ?", (memory.id, memory.version))


def marked(file: MemoryFile, kin: str) -> dict[str, int]:
    """Ids and versions of memories that may have left an old copy in the other file."""
    rows = file.database.rows("SELECT memory, version FROM moves WHERE kin = ?", (kin,))
    return dict(rows)


def left_behind(file: MemoryFile, other: MemoryFile, kin: str) -> list[str]:
    """Ids of the copies in a file that have been moved to the other one."""
    moved = marked(other, kin)
    if not moved:
        return []
    rows = file.database.rows(
        "SELECT m.id FROM json_each(?) JOIN memories m ON m.id = key WHERE m.version < value",
        (json.dumps(moved),),
    )
    return [id for (id,) in rows]


def in_both(one: MemoryFile, other: MemoryFile, kin: str) -> list[str]:
    """Ids that both files hold; takes as long as reading all that the Kin shares."""
    rows = one.database.rows("SELECT id FROM memories WHERE kin = ?", (kin,))
    return [memory.id for _, memory in other.by_ids([id for (id,) in rows])]


def finish(id: str, dbs: dict[MemoryFile, apsw.Connection]) -> None:
    """Of two copies the later version stays. Its file forgets the move last."""
    versions = {file: one[1].version for file, db in dbs.items() if (one := file.find(db, id))}
    for db in dbs.values():
        db.execute(FORGET, (id,))
    if len(versions) < 2:  # somebody else was faster
        return
    stale = min(versions, key=versions.__getitem__)
    scope: Any = dbs[stale].execute("SELECT scope FROM memories WHERE id = ?", (id,)).get
    stale.delete(dbs[stale], id)
    if scope == "shared":
        dbs[stale].execute("DELETE FROM history WHERE memory_id = ?", (id,))
        link_rows.forget(dbs[stale], id)
    stale.commit(dbs[stale])
