"""One Kin's view of two files: its own and the shared one. Never opens another Kin's file."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from kinmem.clock import Clock, utc_now
from kinmem.errors import MemoryNotFound, StoreError, VersionConflict
from kinmem.models import (
    ROLES,
    Asked,
    Candidate,
    Chunks,
    Coverage,
    Draft,
    Entity,
    Event,
    Filters,
    Found,
    Health,
    Knowledge,
    Memory,
    Page,
    Pending,
    Scope,
    Vector,
    Vectors,
)
from kinmem.settings import kin_name
from kinmem.store.base import Sort
from kinmem.store.sqlite import entities, parts, repetitions
from kinmem.store.sqlite.batches import LearnedAlready, apply
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.connection import Database, Row, translated
from kinmem.store.sqlite.cursors import SORTS, cursor_of, position
from kinmem.store.sqlite.documents import SqliteDocuments
from kinmem.store.sqlite.filters import IS_LIVE, VISIBLE, Allowed, View, conditions
from kinmem.store.sqlite.forgetting import SqliteForgetting
from kinmem.store.sqlite.graph import SqliteGraph
from kinmem.store.sqlite.health import examine
from kinmem.store.sqlite.housekeeping import keep_house
from kinmem.store.sqlite.journal import SqliteJournal
from kinmem.store.sqlite.life import SqliteLife
from kinmem.store.sqlite.links import SqliteLinks
from kinmem.store.sqlite.moves import ended, finish, in_both, left_behind, marked, move
from kinmem.store.sqlite.numbers import Numbers
from kinmem.store.sqlite.rounds import SqliteRounds
from kinmem.store.sqlite.rows import COLUMNS, memory_of, time_text
from kinmem.store.sqlite.search import search
from kinmem.store.sqlite.summaries import SqliteSummaries
from kinmem.store.sqlite.transcript import SqliteTranscript
from kinmem.store.sqlite.undo import SqlitePast
from kinmem.store.sqlite.uses import Uses
from kinmem.text import folded
from kinmem.turns import Batch, Change

logger = logging.getLogger(__name__)

# The name of a Kin that nobody named is a common word, not a person.
DEFAULT_KIN = "default"
ERASED_TOGETHER = 100


class SqliteStore:
    """See Store. `kins/<kin>.db` and `shared.db` below `home`."""

    def __init__(self, home: Path, kin: str, clock: Clock = utc_now) -> None:
        self.kin = kin_name(kin)
        self._clock = clock
        self._home = home
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._numbers = Numbers(self.kin)
        self._own = Book(home / "kins" / f"{self.kin}.db", self._numbers)
        self._books: dict[Scope, Book] = {"private": self._own}
        self.transcript = SqliteTranscript(self._own, self._books.values(), self.kin, clock)
        self._uses = Uses()
        self._names: tuple[tuple[int, ...], frozenset[str]] = ((), frozenset())
        try:
            self._shared = self._books["shared"] = Book(home / "shared.db", self._numbers)
            self._numbers.over(book.database for book in self._books.values())
            self.journal = SqliteJournal(self._own.database, clock)
            self.forgetting = SqliteForgetting(self, self._own, self._shared)
            self.past = SqlitePast(self._books.values(), self.kin)
            self.documents = SqliteDocuments(self)
            self.summaries = SqliteSummaries(self, clock)
            self.life = SqliteLife(self._books, self._view, self.kin, clock)
            self.links = SqliteLinks(
                self._books, self.kin, clock, self._view, self._changing, self._mine
            )
            self.graph = SqliteGraph(self._books, self.kin, clock, self._view)
            self.rounds = SqliteRounds(self._books.values(), self.kin, self._view)
            self._tidy()
        except BaseException:
            self.close()
            raise

    # writing

    def add(self, drafts: Sequence[Draft], *, batch: str | None = None) -> list[str]:
        ids = [draft.memory.id for draft in drafts]
        for scope, book in self._books.items():
            places = [at for at, draft in enumerate(drafts) if draft.memory.scope == scope]
            if not places:
                continue
            mine = [drafts[at] for at in places]
            self._admit([draft.chunks for draft in mine])
            with book.changing() as db:
                stand = book.add(db, mine, self._clock(), batch=batch)
            for at, id in zip(places, stand, strict=True):
                ids[at] = id
        return ids

    def update(
        self,
        id: str,
        changes: Mapping[str, Any],
        *,
        chunks: Chunks | None = None,
        if_version: int | None = None,
        reason: str | None = None,
        action: str = "updated",
        batch: str | None = None,
        reverts: Sequence[int] = (),
        knowledge: Knowledge | None = None,
    ) -> Memory:
        change = Change(id, changes, action, reason, if_version, chunks, reverts, knowledge)
        source = self._book_of(id)
        target = self._books[changes["scope"]] if "scope" in changes else source
        if chunks is not None:
            self._admit([chunks])
        self._finish_moves([id])
        heirs = self.links.heirs([id] if "superseded_by" in changes else ())
        try:
            with self._changing(source, target) as dbs:
                new = self._change(dbs, change, batch)
        except MemoryNotFound:  # or another process has moved it since it was looked up
            with self._changing(*self._books.values()) as dbs:
                new = self._change(dbs, change, batch)
        self.links.take_over(heirs)
        if "scope" in changes:
            self._end_move(new)
        return new

    def _change(
        self,
        dbs: Mapping[Book, apsw.Connection],
        change: Change,
        batch: str | None,
    ) -> Memory:
        source, row, old = self._mine(dbs, change.id)
        if change.version is not None and old.version != change.version:
            raise VersionConflict(change.id, change.version, old.version)
        fields = change.fields
        changed = {name: value for name, value in fields.items() if getattr(old, name) != value}
        if not changed:
            return old
        now, chunks = self._clock(), change.chunks
        if "state" in changed:
            changed.setdefault("state_at", now)
        if "content_hash" in changed or "content" in changed:  # a document may begin as it did
            changed.setdefault("content_updated_at", now)
        else:
            chunks = None
        new = source.change(dbs[source], row, old, changed, chunks)
        if change.knowledge is not None:
            entities.put(dbs[source], row, change.knowledge, now)
        moved = {name: changed.pop(name) for name in ["scope"] if name in changed}
        why = change.reason, batch, change.reverts
        if changed:  # noted in the source: what it said before a move is nobody else's
            before = {name: getattr(old, name) for name in changed}
            source.note(dbs[source], now, old, change.action, before, changed, *why)
        if moved:
            target = self._books[new.scope]
            move(new, row, source, dbs[source], target, dbs[target])
            target.note(dbs[target], now, new, "moved", {"scope": old.scope}, moved, *why)
            target.commit(dbs[target])  # before the source does: it is always somewhere
        return new

    def _mine(self, dbs: Mapping[Book, apsw.Connection], id: str) -> tuple[Book, int, Memory]:
        """The file, row number and present state of a memory of this Kin. Raises MemoryNotFound."""
        found = [(book, *one) for book, db in dbs.items() if (one := book.find(db, id))]
        mine = [one for one in found if one[2].kin == self.kin]
        if not mine:
            raise MemoryNotFound(id)
        return max(mine, key=lambda one: one[2].version)  # two after a move that was cut short

    @contextmanager
    def _changing(self, *books: Book) -> Iterator[dict[Book, apsw.Connection]]:
        """A transaction on each of these files, begun on the own one first.

        So two that move memories in opposite directions never wait for each other.
        """
        with ExitStack() as stack:
            dbs = {
                book: stack.enter_context(book.changing())
                for book in self._books.values()
                if book in books
            }
            if len(dbs) > 1:  # it is one write
                number = self._numbers.next()
                for book in dbs:
                    book.write = number
            yield dbs

    def apply(self, batch: Batch) -> list[str] | None:
        self._admit([draft.chunks for draft in batch.drafts])
        self._admit([change.chunks for change in batch.changes if change.chunks is not None])
        book = self._books[batch.scope]
        self._finish_moves([change.id for change in batch.changes])
        changes_memories = bool(batch.drafts or batch.changes)
        gone = [one.id for one in batch.changes if "superseded_by" in one.fields]
        heirs = self.links.heirs(gone if batch.scope == "shared" else ())
        try:
            with book.changing() if changes_memories else book.database.writing() as db:
                ids = apply(book, db, batch, self.kin, self._clock())
        except LearnedAlready:
            return None
        self.links.take_over(heirs)
        return ids

    def erase(self, id: str) -> None:
        self._book_of(id)
        if not self._erase([id]):
            raise MemoryNotFound(id)
        self._empty_logs()

    def erase_all(self, ids: Collection[str]) -> int:
        """As erase, for those that are there, in transactions of a hundred; how many."""
        scopes = {id: one.scope for id, one in self.memories(ids).items() if one.kin == self.kin}
        erased = 0
        for scope in self._books:
            mine = [id for id in ids if scopes.get(id) == scope]
            for start in range(0, len(mine), ERASED_TOGETHER):
                erased += self._erase(mine[start : start + ERASED_TOGETHER])
        self._empty_logs()
        return erased

    def _erase(self, ids: Sequence[str], action: str = "erased") -> int:
        """How many were there; all in one file, unless they are moved meanwhile."""
        with self._changing(*self._books.values()) as dbs:
            found = [(book, book.find(dbs[book], id)) for book in dbs for id in ids]
            mine = [(book, one[1]) for book, one in found if one and one[1].kin == self.kin]
            holders = {memory.id: book for book, memory in mine}
            repeating = {id: repetitions.turns_of(dbs[self._own], [id]) for id in holders}
            for memory in {memory.id: memory for _, memory in mine}.values():
                holder = holders[memory.id]
                holder.note(dbs[holder], self._clock(), memory, action, {}, {})
            if holders and self._own.write is not None:
                self._numbers.keep(dbs[self._own], self._own.write)
            # Who holds them comes last: cut short, it can be asked for again.
            for book in sorted(dbs, key=lambda book: book in holders.values()):
                for _, memory in mine:
                    book.delete(dbs[book], memory.id)
                    book.scrub(dbs[book], memory, repeating[memory.id])
                book.commit(dbs[book])
            return len(holders)

    def _empty_logs(self) -> None:
        for book in self._books.values():
            try:
                book.database.truncate_wal()
            except StoreError as error:  # it is erased; only old pages wait a little longer
                logger.warning("what was erased stays in a -wal file for now: %s", error)

    def in_bin(self, before: datetime) -> list[str]:
        return [
            id
            for book in self._books.values()
            for (id,) in book.database.rows(
                "SELECT id FROM memories WHERE deleted_at < ? AND state = 'deleted' AND kin = ?",
                (time_text(before), self.kin),
            )
        ]

    def purge(
        self, before: datetime, limit: int | None = None, spared: Collection[str] = ()
    ) -> int:
        erased = 0
        for id in [id for id in self.in_bin(before) if id not in spared][:limit]:
            erased += self._erase([id], "purged")  # 0: another process purges as well
        if erased:
            self._empty_logs()
        for book in self._books.values():
            parts.drop_old_texts(book.database, self.kin, before)
        return erased

    def count_use(self, ids: Iterable[str], at: datetime) -> None:
        self._uses.count(ids, at)

    def flush_use(self) -> None:
        used = self._uses.flush(self._books.values())
        if used:
            self.life.renew(used, used=True)

    # reading

    def get(self, id: str) -> Memory:
        # Asked twice: it may have been moved from the second file to the first in between.
        found = self.memories([id]) or self.memories([id])
        if not found:
            raise MemoryNotFound(id)
        return found[id]

    def memories(self, ids: Collection[str]) -> dict[str, Memory]:
        found: dict[str, Memory] = {}
        for book in self._books.values():
            for _, memory in book.by_ids(ids):
                known = found.get(memory.id)
                # Both files hold it after a move that was cut short: the later one counts.
                if self._sees(memory) and (known is None or known.version < memory.version):
                    found[memory.id] = memory
        return found

    def page(self, filters: Filters, sort: Sort, limit: int, cursor: str | None = None) -> Page:
        key, order = SORTS[sort]
        after: dict[str, Any] = {}
        beyond = "1"
        if cursor is not None:
            after["key"], after["id"] = position(cursor, sort)
            beyond = f"({key}, m.id) {'<' if order == 'DESC' else '>'} (:key, :id)"
        found: dict[str, Row] = {}
        for book, allowed in self._allowed(filters):
            rows = book.database.rows(
                f"SELECT {key}, {COLUMNS} FROM memories m WHERE {allowed.condition} AND {beyond}"
                f" ORDER BY {key} {order}, m.id {order} LIMIT :limit",
                {**allowed.bound, **after, "limit": limit + 1},
            )
            found |= {row[1]: row for row in rows}
        rows = sorted(found.values(), key=lambda row: row[:2], reverse=order == "DESC")
        memories = [memory_of(row[1:]) for row in rows[:limit]]
        if len(rows) <= limit:
            return Page(memories)
        last = rows[limit - 1]
        return Page(memories, cursor_of(sort, last[0], last[1]))

    def same_statements(self, drafts: Sequence[Draft]) -> list[str | None]:
        own, shared = (
            [None if id in left else id for id in book.same_all(drafts, self.kin)]
            for book, left in ((book, self._left(book)) for book in self._books.values())
        )
        return [mine or theirs for mine, theirs in zip(own, shared, strict=True)]

    def search(self, asked: Asked, filters: Filters) -> Found:
        candidates: dict[str, Candidate] = {}
        cosines: dict[str, list[float]] = {}
        nearest: list[tuple[float, str]] = []
        matches: list[tuple[float, str]] = []
        for book, allowed in self._allowed(filters):
            rows = search(book.database, book.vectors, asked, allowed)
            ids = {row: candidate.id for row, candidate in rows.candidates.items()}
            candidates |= {one.id: one for one in rows.candidates.values()}
            cosines |= {ids[row]: values for row, values in rows.cosines.items()}
            nearest += [(cosine, ids[row]) for row, cosine in rows.nearest]
            matches += [(score, ids[row]) for row, score in rows.matches]
        nearest.sort(key=_worse)
        matches.sort(key=_worse)
        ranked = {id: score for score, id in matches}
        order = list(dict.fromkeys(id for _, id in nearest))
        return Found(list(candidates.values()), cosines, order, ranked)

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        return self.nearest_each([vector], embedder, limit, filters)[0]

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        found: list[list[tuple[float, str]]] = [[] for _ in vectors]
        for book, allowed in self._allowed(filters):
            near = book.vectors.nearest_each(vectors, embedder, limit, allowed)
            ids = _ids(book, {row for rows in near for row, _ in rows})
            for one, rows in zip(found, near, strict=True):
                one += [(cosine, ids[row]) for row, cosine in rows if row in ids]
        return [_best(one) for one in found]

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        result = {}
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT m.rowid, m.id FROM memories m"
                f" WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}",
                {"ids": json.dumps(list(ids)), **self._view(book)},
            )
            names: dict[int, str] = dict(rows)
            for row, values in book.vectors.cosines(vector, embedder, names.keys()).items():
                result[names[row]] = values
        return result

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        return {
            id: vector
            for book in self._books.values()
            for id, vector in book.vectors.first(embedder, ids, self._view(book))
        }

    def changed_since(self, mark: int, scope: Scope, limit: int) -> list[tuple[int, str]]:
        return self._books[scope].vectors.changed_since(mark, limit)

    def names(self) -> frozenset[str]:
        revision, names = self._names
        if revision != self.revision:
            revision = self.revision
            found = {
                folded(name)
                for book in self._books.values()
                for name in _distinct(book, "speaker", self._view(book))
            }
            found |= {
                folded(name) for name in _distinct(self._shared, "kin", self._view(self._shared))
            }
            names = frozenset(found - ROLES - {DEFAULT_KIN})
            self._names = (revision, names)
        return names

    def subjects(self, prefix: str, limit: int) -> list[str]:
        used: dict[str, int] = defaultdict(int)
        for book in self._books.values():
            rows = book.database.rows(
                f"SELECT m.subject, count(*) FROM memories m WHERE {VISIBLE} AND {IS_LIVE}"
                " AND (m.expires_at IS NULL OR m.expires_at > :now)"
                " AND m.subject IS NOT NULL GROUP BY m.subject",
                {**self._view(book), "now": time_text(self._clock())},
            )
            for subject, count in rows:
                used[subject] += count
        wanted = folded(prefix)
        fitting = [subject for subject in used if folded(subject).startswith(wanted)]
        return sorted(fitting, key=lambda subject: (-used[subject], subject))[:limit]

    def places(self) -> list[str]:
        rows = [
            row
            for book in self._books.values()
            for row in book.database.rows(
                f"SELECT DISTINCT m.place FROM memories m WHERE {VISIBLE} AND m.place IS NOT NULL",
                self._view(book),
            )
        ]
        return sorted({place for (place,) in rows if place[0] != "?"})

    def unplaced(self) -> list[Memory]:
        rows = [
            row
            for book in self._books.values()
            for row in book.database.rows(
                f"SELECT {COLUMNS} FROM memories m WHERE m.place >= '?' AND m.place < '@'"
            )
        ]
        return [memory_of(row) for row in rows]

    def set_places(self, places: Mapping[str, str | None]) -> None:
        for book in self._books.values():
            with book.database.writing() as db:
                db.executemany(
                    "UPDATE memories SET place = ? WHERE id = ?",
                    [(place, id) for id, place in places.items()],
                )

    def parents(self, id: str) -> list[str]:
        rows = [
            row
            for book in self._books.values()
            for row in book.database.rows("SELECT parent FROM lineage WHERE child = ?", (id,))
        ]
        return sorted({parent for (parent,) in rows})

    def entities(self, id: str) -> list[Entity]:
        with self._books[self.get(id).scope].database.reading() as db:
            return entities.of(db, id)

    def history(self, id: str, limit: int = 100) -> list[Event]:
        memory = self.get(id)
        moved = id in self._left(self._shared)  # its lines there have gone with it
        lines = [] if moved else self._shared.history(id, limit)
        if memory.kin == self.kin:  # what happened before it was shared is older
            lines += self._own.history(id, limit)
        return lines[:limit]

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        tables = ("state", "scope", "category", "kin", "tier")
        counts: dict[str, dict[str, int]] = {table: {} for table in tables}
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT m.state, m.scope, m.category, m.kin, m.tier, count(*) FROM memories m"
                f" WHERE {VISIBLE} GROUP BY m.state, m.scope, m.category, m.kin, m.tier",
                self._view(book),
            )
            for *keys, count in rows:
                for table, key in zip(counts.values(), keys, strict=True):
                    table[key] = table.get(key, 0) + count
        return counts

    @property
    def revision(self) -> tuple[int, ...]:
        return tuple(book.revision for book in self._books.values())

    # vectors

    def enroll(self, embedder: str, dimension: int) -> None:
        for book in self._books.values():
            book.vectors.enroll(embedder, dimension)

    def _admit(self, parts: Sequence[Chunks]) -> None:
        """Enroll whoever made these vectors, before the transaction that stores them."""
        makers = {(c.embedder, c.vectors.shape[1]) for c in parts if c.vectors is not None}
        for embedder, dimension in makers:
            if embedder is not None:
                self.enroll(embedder, dimension)

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        return [
            Pending(chunk, scope, id, text, bool(fresh))
            for scope, book in self._books.items()
            for chunk, id, text, fresh in book.vectors.pending(embedder, limit)
        ][:limit]

    def is_filled(self, embedder: str) -> bool:
        return all(book.vectors.is_filled(embedder) for book in self._books.values())

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        for scope, book in self._books.items():
            places = [at for at, chunk in enumerate(chunks) if chunk.scope == scope]
            if not places:
                continue
            with book.changing() as db:
                waiting = book.vectors.unfilled(db, embedder, [chunks[at].chunk for at in places])
                places = [at for at in places if chunks[at].chunk in waiting]
                if not places:
                    continue
                filled = [chunks[at].chunk for at in places]
                book.vectors.put(db, embedder, filled, vectors[places])
                parts.note_ingested(db, embedder, filled)

    def unsettled(self, embedder: str, limit: int) -> list[Pending]:
        return [
            Pending(chunk, scope, id, text, True)
            for scope, book in self._books.items()
            for chunk, id, text in book.vectors.unsettled(embedder, self.kin, limit)
        ][:limit]

    def settled(self, ids: Collection[str]) -> None:
        which = {"ids": json.dumps(list(ids)), "kin": self.kin}
        fresh = "id IN (SELECT value FROM json_each(:ids)) AND kin = :kin AND status = 'pending'"
        for book in self._books.values():
            if book.database.rows(f"SELECT 1 FROM memories WHERE {fresh} LIMIT 1", which):
                with book.database.writing() as db:
                    db.execute(f"UPDATE memories SET status = 'ingested' WHERE {fresh}", which)

    def coverage(self) -> list[Coverage]:
        shared = {one.embedder: one for one in self._shared.vectors.coverage()}
        both = [
            replace(
                one,
                done=one.done + other.done,
                total=one.total + other.total,
                of_documents=one.of_documents + other.of_documents,
            )
            for one in self._own.vectors.coverage()
            if (other := shared.get(one.embedder))  # else another Kin has enrolled or retired it
        ]
        return sorted(both, key=lambda one: -one.share)

    def retire(self, embedder: str) -> None:
        for book in self._books.values():
            book.vectors.retire(embedder)

    def health(self) -> list[Health]:
        return [examine(book.database, self._home) for book in self._books.values()]

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        done: Counter[str] = Counter()
        for book in self._books.values():
            done += keep_house(book.database, is_over, dry_run)
        return done

    def close(self) -> None:
        with suppress(StoreError):  # counters are not worth an error at the end
            self.flush_use()
        self.transcript.close()
        for book in self._books.values():
            book.close()

    def files(self) -> list[tuple[Database, View]]:
        """Both files, and who looks at each."""
        return [(book.database, self._view(book)) for book in self._books.values()]

    def holder(self, id: str) -> tuple[Database, int]:
        """The file of a visible memory, and its number in it. Raises MemoryNotFound."""
        book = self._books[self.get(id).scope]
        for row, _ in book.by_ids([id]):
            return book.database, row
        raise MemoryNotFound(id)

    def _left(self, book: Book) -> list[str]:
        """Ids of what has been moved out of this file and is in it still."""
        other = self._shared if book is self._own else self._own
        return left_behind(book, other, self.kin)

    def _view(self, book: Book) -> View:
        left = self._left(book)
        return {"kin": self.kin, "left": json.dumps(left) if left else None}

    def _tidy(self) -> None:
        """Finish moves that were cut short: of two rows with one id the later version stays."""
        ids = {id for book in self._books.values() for id in marked(book, self.kin)}
        if any(book.database.was_upgraded for book in self._books.values()):
            ids.update(in_both(self._shared, self._own, self.kin))  # version 1 marked none
        self._finish(ids)

    def _finish_moves(self, ids: Collection[str]) -> None:
        """Remove what moves of these have left behind."""
        left = {id for book in self._books.values() for id in self._left(book)}
        self._finish(left.intersection(ids))

    def _finish(self, ids: Collection[str]) -> None:
        for id in ids:
            try:
                with self._changing(self._own, self._shared) as dbs:
                    finish(id, dbs)
            except StoreError as error:  # it is overlooked until a later change or opening
                logger.warning("an old copy of %s is still there: %s", id, error)

    def _end_move(self, memory: Memory) -> None:
        book = self._books[memory.scope]
        if memory.id in marked(book, self.kin):
            with suppress(StoreError):  # the next opening does it
                ended(book, memory)

    def _book_of(self, id: str) -> Book:
        """The file that holds a memory of this Kin. Raises MemoryNotFound."""
        memory = self.get(id)
        if memory.kin != self.kin:
            raise MemoryNotFound(id)
        return self._books[memory.scope]

    def _sees(self, memory: Memory) -> bool:
        return memory.kin == self.kin or (
            memory.scope == "shared" and memory.state not in ("deleted", "quarantined")
        )

    def _allowed(self, filters: Filters) -> Iterator[tuple[Book, Allowed]]:
        """The files to be asked, and what may be found in each; an unwritten one is not asked."""
        now = self._clock()
        at_hand = filters.here if filters.only_here else None
        anything = replace(filters, scope=None, here=at_hand) == Filters()
        live = not (
            filters.include_archived or filters.as_of or filters.was or filters.states is not None
        )
        for scope, book in self._books.items():
            if filters.scope not in (None, scope):
                continue
            revision, expired = book.outlook(now)
            if revision:
                view = self._view(book)
                where, bound = conditions(filters, view, now)
                plain = anything and not expired and view["left"] is None
                yield book, Allowed(where, bound, plain, live)


def _worse(ranked: tuple[float, str]) -> float:
    return -ranked[0]


def _best(found: Sequence[tuple[float, str]]) -> list[tuple[str, float]]:
    """(id, its best cosine), best first."""
    best: dict[str, float] = {}
    for cosine, id in sorted(found, key=_worse):
        best.setdefault(id, cosine)
    return list(best.items())


def _ids(book: Book, rows: Collection[int]) -> dict[int, str]:
    return dict(
        book.database.rows(
            "SELECT rowid, id FROM memories WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps(list(rows)),),
        )
    )


def _distinct(book: Book, column: str, view: View) -> list[str]:
    """The values of an indexed column in what the Kin sees.

    By jumping from one to the next: fast where they are few.
    """
    rows = book.database.rows(
        f"""
        WITH RECURSIVE jump(value) AS (
            SELECT min({column}) FROM memories m WHERE {VISIBLE}
            UNION ALL
            SELECT (
                SELECT min({column}) FROM memories m WHERE {column} > jump.value AND {VISIBLE}
            ) FROM jump
            WHERE jump.value IS NOT NULL
        )
        SELECT value FROM jump WHERE value IS NOT NULL
        """,
        view,
    )
    return [value for (value,) in rows]
