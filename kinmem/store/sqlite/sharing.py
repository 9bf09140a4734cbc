"""The two files of one Kin: its own with all originals, and the shared one with what others
publish."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw

from kinmem.clock import Clock
from kinmem.errors import MemoryNotFound
from kinmem.models import Filters, Memory, State
from kinmem.store.sqlite.adoption import adopt
from kinmem.store.sqlite.connection import (
    BeforeUpgrade,
    Database,
    translated,
    without_backup,
)
from kinmem.store.sqlite.memory_file import MemoryFile
from kinmem.store.sqlite.publishing import Publisher
from kinmem.store.sqlite.queries import Allowed, View, conditions


class KinFiles:
    """What one Kin sees of two files: its own and the shared one. Never opens another Kin's
    file."""

    def __init__(
        self, home: Path, kin: str, clock: Clock, before_upgrade: BeforeUpgrade = without_backup
    ) -> None:
        """Open `kins/<kin>.db` and `shared.db` below `home`."""
        self.kin = kin
        self.clock = clock
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.own = MemoryFile(home / "kins" / f"{kin}.db", kin, before_upgrade)
        try:
            self.shared = MemoryFile(home / "shared.db", kin, before_upgrade)
        except BaseException:
            self.own.close()
            raise
        self.copies = Publisher(self.own, self.shared, kin)
        try:
            adopt(self.own, self.shared, kin)
            self.copies.catch_up()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[MemoryFile]:
        """Iterate over the own file, then the shared one."""
        return iter((self.own, self.shared))

    def close(self) -> None:
        """Close both files."""
        for file in self:
            file.close()

    # what the Kin sees

    def view(self, file: MemoryFile) -> View:
        """Return the bindings of VISIBLE for this Kin and file."""
        return {"kin": self.kin, "own": file is self.own}

    def get(self, id: str) -> Memory:
        """Return a visible memory. Raises MemoryNotFound."""
        found = self.memories([id])
        if not found:
            raise MemoryNotFound(id)
        return found[id]

    def memories(self, ids: Collection[str]) -> dict[str, Memory]:
        """Return those of these memories that are visible, by id."""
        found = {memory.id: memory for _, memory in self.own.by_ids(ids)}
        others = [id for id in ids if id not in found]
        for _, copy in self.shared.by_ids(others) if others else ():
            if copy.kin != self.kin and copy.state not in (State.DELETED, State.QUARANTINED):
                found[copy.id] = copy
        return found

    def holder(self, id: str) -> tuple[Database, int]:
        """Return the file of a visible memory, and its number there. Raises MemoryNotFound."""
        file = self.own if self.get(id).kin == self.kin else self.shared
        for row, _ in file.by_ids([id]):
            return file.database, row
        raise MemoryNotFound(id)

    def allowed(self, filters: Filters) -> Iterator[tuple[MemoryFile, Allowed]]:
        """Yield the files to search, with what may be found in each; an empty file is left out."""
        now = self.clock()
        at_hand = filters.here if filters.only_here else None
        anything = replace(filters, scope=None, here=at_hand) == Filters()
        live = not (
            filters.include_archived or filters.as_of or filters.was or filters.states is not None
        )
        for file in self:
            if file is self.shared and filters.scope == "private":
                continue
            revision, expired = file.outlook(now)
            if revision:
                where, bound = conditions(filters, self.view(file), now)
                # The Kin's own copies do no harm here: each ranks as its original does in the own
                # file.
                one_scope = filters.scope is None or file is self.shared
                plain = anything and not expired and one_scope
                yield file, Allowed(where, bound, plain, live)

    # changing what is the Kin's

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """Run a transaction on the own file that raises the revision, then update the copies."""
        with self.own.changing() as db:
            yield db
        self.copies.try_to_publish()

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Do the same as changing for what recall does not notice: the revision stays."""
        with self.own.database.writing() as db:
            yield db
        self.copies.try_to_publish()

    def mine(self, db: apsw.Connection, id: str) -> tuple[int, Memory]:
        """Return row number and memory of an original, in a transaction. Raises MemoryNotFound."""
        found = self.own.find(db, id)
        if found is None:
            raise MemoryNotFound(id)
        return found
