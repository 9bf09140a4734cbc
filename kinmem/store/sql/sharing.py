"""The two files of one Kin: its own with all originals, and the shared one with what others
publish.

A memory keeps, as its source context, the sentence that stood beside it when it was told. Often
that sentence became a memory of its own, which may be forgotten or superseded since; contexts are
given beside what has become of it.
"""

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from kinmem.clock import Clock
from kinmem.errors import MemoryNotFound
from kinmem.language import content_hash, sentences
from kinmem.models import Filters, Memory, State
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import (
    IN_IDS,
    IS_LIVE,
    VISIBLE,
    Allowed,
    View,
    conditions,
    time_text,
)
from kinmem.store.sql.publishing import USE, WAITS, Publisher

# Marks of a Kin's file: whom it does not listen to, and what of others it has confirmed.
MUTED, CONFIRMED = "muted:", "confirmed:"
# By id: how often it was recalled, and when last.
Noted = dict[str, tuple[int, datetime]]


class Uses:
    """Uses that count_use has recorded and flush_use has not written yet."""

    def __init__(self) -> None:
        self._noted: Noted = {}
        self._lock = threading.Lock()

    def count(self, ids: Iterable[str], at: datetime) -> None:
        """Record one more use of each."""
        self._note({id: (1, at)} for id in ids)

    def flush(self, files: "Files") -> list[str]:
        """Write the uses into the originals and others' copies; returns the ids that were written.
        What could not be written stays recorded; unknown ids are dropped."""
        written: list[str] = []
        with self._lock:
            noted, self._noted = self._noted, {}
        try:
            for file in files if noted else ():
                here = _held(file, noted, files.view(file))
                if here:  # a file is locked only if there is something to write
                    _write(file, {id: noted[id] for id in here}, copies=file is files.shared)
                    for id in here:
                        del noted[id]
                    written += here
            noted = {}
        finally:
            self._note([noted])
        return written

    def _note(self, several: Iterable[Noted]) -> None:
        with self._lock:
            for noted in several:
                for id, (more, at) in noted.items():
                    count, last = self._noted.get(id, (0, at))
                    self._noted[id] = (count + more, max(last, at))


def _held(file: MemoryFile, noted: Noted, view: View) -> list[str]:
    rows = file.database.rows(
        f"SELECT m.id FROM memories m WHERE m.id {IN_IDS} AND {VISIBLE}",
        {"ids": json.dumps(list(noted)), **view},
    )
    return [id for (id,) in rows]


def _write(file: MemoryFile, uses: Noted, *, copies: bool) -> None:
    told = [{"id": id, "count": count, "at": time_text(at)} for id, (count, at) in uses.items()]
    with file.database.writing() as db:
        db.run_each(
            "UPDATE memories SET recalled_count = recalled_count + :count, recalled_at = :at"
            " WHERE id = :id",
            told,
        )
        if copies:  # for their authors to collect
            db.run_each(USE, told)


File = TypeVar("File", bound=MemoryFile, covariant=True)


class KinFiles(Generic[File]):
    """What one Kin sees of two files: its own and the shared one."""

    def __init__(self, own: File, shared: File, kin: str, clock: Clock) -> None:
        self.own = own
        self.shared = shared
        self.kin = kin
        self.clock = clock
        self.copies = Publisher(own, shared, kin, clock)
        self.uses = Uses()
        self._muted: tuple[object, frozenset[str]] | None = None

    def __iter__(self) -> Iterator[File]:
        """Iterate over the own file, then the shared one."""
        return iter((self.own, self.shared))

    # what the Kin sees

    def view(self, file: MemoryFile) -> View:
        """Return the bindings of VISIBLE for this Kin and file."""
        return {"kin": self.kin, "own": file is self.own, "muted": json.dumps(sorted(self.muted))}

    @property
    def muted(self) -> frozenset[str]:
        """The Kins whose shared memories this one does not want to see."""
        revision = self.own.revision
        if self._muted is None or self._muted[0] != revision:
            self._muted = revision, frozenset(marked(self.own.database, MUTED))
        return self._muted[1]

    def get(self, id: str) -> Memory:
        """Return a visible memory. Raises MemoryNotFound."""
        found = self.memories([id])
        if not found:
            raise MemoryNotFound(id)
        return found[id]

    def memories(self, ids: Collection[str]) -> dict[str, Memory]:
        """Return those of these memories that are visible, by id."""
        return {memory.id: memory for _, _, memory in self._visible(ids)}

    def _visible(self, ids: Collection[str]) -> list[tuple[MemoryFile, int, Memory]]:
        """Return those of these memories that are visible, with the file of each and its number
        there."""
        found: list[tuple[MemoryFile, int, Memory]] = []
        found += [(self.own, row, memory) for row, memory in self.own.by_ids(ids)] if ids else []
        others = set(ids).difference(memory.id for _, _, memory in found)
        for row, copy in self.shared.by_ids(others) if others else ():
            is_away = copy.state in (State.DELETED, State.QUARANTINED) or copy.kin in self.muted
            if copy.kin != self.kin and not is_away:
                found.append((self.shared, row, copy))
        return found

    def holder(self, id: str) -> tuple[Database, int]:
        """Return the file of a visible memory, and its number there. Raises MemoryNotFound."""
        for file, row, _ in self._visible([id]):
            return file.database, row
        raise MemoryNotFound(id)

    def allowed(self, filters: Filters) -> Iterator[tuple[File, Allowed]]:
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
                is_muted = file is self.shared and bool(self.muted)
                plain = anything and not expired and one_scope and not is_muted
                yield file, Allowed(where, bound, plain, live)

    # changing what is the Kin's

    @contextmanager
    def changing(self) -> Iterator[Transaction]:
        """Run a transaction on the own file that raises the revision, then update the copies."""
        with self.own.changing() as db:
            yield db
            waits = db.rows(WAITS)
        if waits:
            self.copies.try_to_publish()

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Do the same as changing for what recall does not notice: the revision stays."""
        with self.own.database.writing() as db:
            yield db
            waits = db.rows(WAITS)
        if waits:
            self.copies.try_to_publish()

    def mine(self, db: Transaction, id: str) -> tuple[int, Memory]:
        """Return row number and memory of an original, in a transaction. Raises MemoryNotFound."""
        found = self.own.find(db, id)
        if found is None:
            raise MemoryNotFound(id)
        return found


Files = KinFiles[MemoryFile]


def marked(database: Database, kind: str) -> set[str]:
    """Return what has a mark of this kind."""
    rows = database.rows(
        "SELECT substr(name, :length + 1) FROM marks WHERE substr(name, 1, :length) = :kind",
        {"kind": kind, "length": len(kind)},
    )
    return {name for (name,) in rows}


class SqlOthers:
    """See Others."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def confirm(self, id: str) -> None:
        self._set(CONFIRMED + id)

    def confirmed(self) -> frozenset[str]:
        return frozenset(marked(self._files.own.database, CONFIRMED))

    def mute(self, kin: str) -> None:
        self._set(MUTED + kin)

    def unmute(self, kin: str) -> None:
        with self._files.own.changing() as db:
            db.run("DELETE FROM marks WHERE name = ?", (MUTED + kin,))

    def muted(self) -> frozenset[str]:
        return self._files.muted

    def _set(self, name: str) -> None:
        with self._files.own.changing() as db:
            db.run("INSERT INTO marks (name, value) VALUES (?, 1) ON CONFLICT DO NOTHING", (name,))


ENDED = "(no longer so)"
# Between the parts of a context: a sentence, and what the dates in the statement mean.
BETWEEN = " | "

WAS_SO = f"""
    SELECT content_hash, max(CASE WHEN m.state = 'superseded' THEN 1 ELSE 0 END) FROM memories m
    WHERE content_hash IN LISTED(?) GROUP BY content_hash
    HAVING max(CASE WHEN {IS_LIVE} THEN 1 ELSE 0 END) = 0
"""


def with_present_contexts(files: Files, memories: Sequence[Memory]) -> list[Memory]:
    """See Memories.with_present_contexts."""
    hashes = {
        content_hash(part)
        for memory in memories
        if memory.kin == files.kin
        for part in _parts(memory.source_context or "")
    }
    if not hashes:
        return list(memories)
    rows = files.own.database.rows(WAS_SO, (json.dumps(sorted(hashes)),))
    ended = {hash: bool(was_so) for hash, was_so in rows}
    if not ended:
        return list(memories)
    return [
        replace(memory, source_context=_present(memory.source_context, ended))
        if memory.source_context and memory.kin == files.kin
        else memory
        for memory in memories
    ]


def _parts(context: str) -> Iterator[str]:
    for piece in context.split(BETWEEN):
        yield from filter(None, map(str.strip, sentences(piece)))


def _present(context: str, ended: Mapping[str, bool]) -> str | None:
    pieces = []
    for piece in context.split(BETWEEN):
        parts = [_marked(part, ended) for part in _parts(piece)]
        pieces.append(" ".join(filter(None, parts)))
    return BETWEEN.join(filter(None, pieces)) or None


def _marked(part: str, ended: Mapping[str, bool]) -> str:
    was_so = ended.get(content_hash(part))
    return part if was_so is None else f"{part} {ENDED}" if was_so else ""
