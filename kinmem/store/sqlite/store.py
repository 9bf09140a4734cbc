"""One Kin's view of two files: its own and the shared one. Never opens another Kin's file."""

import base64
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from kinmem.clock import Clock, utc_now
from kinmem.errors import InvalidInput, MemoryNotFound, StoreError, VersionConflict
from kinmem.models import (
    ROLES,
    Asked,
    Candidate,
    Chunks,
    Coverage,
    Draft,
    Event,
    Filters,
    Found,
    Health,
    Memory,
    Page,
    Pending,
    Scope,
    Vector,
    Vectors,
)
from kinmem.settings import kin_name
from kinmem.store.base import Sort
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.connection import translated
from kinmem.store.sqlite.filters import IS_LIVE, VISIBLE, Allowed, conditions
from kinmem.store.sqlite.health import examine
from kinmem.store.sqlite.rows import COLUMNS, memory_of, time_text
from kinmem.store.sqlite.search import search
from kinmem.text import folded

logger = logging.getLogger(__name__)

SORTS: Mapping[Sort, tuple[str, str]] = {
    "newest": ("m.id", "DESC"),  # uuid7: ids order as the times of storing do
    "oldest": ("m.id", "ASC"),
    "importance": ("coalesce(m.importance, 5)", "DESC"),
    "used": ("m.recalled_count", "DESC"),
}
# The name of a Kin that nobody named is a common word, not a person.
DEFAULT_KIN = "default"
# Each use makes a memory fade 15 % more slowly (Kore); ten years are the most a half-life grows to.
STABILITY_GROWTH = 1.15
MOST_STABLE = 12.0
MOST_KEY = 2**63  # SQLite's integers end here


class SqliteStore:
    """See Store. `kins/<kin>.db` and `shared.db` below `home`."""

    def __init__(self, home: Path, kin: str, clock: Clock = utc_now) -> None:
        self.kin = kin_name(kin)
        self._clock = clock
        self._home = home
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._own = Book(home / "kins" / f"{self.kin}.db")
        self._books: dict[Scope, Book] = {"private": self._own}
        self._uses: dict[str, tuple[int, datetime]] = {}
        self._uses_lock = threading.Lock()
        self._names: tuple[tuple[int, ...], frozenset[str]] = ((), frozenset())
        try:
            self._shared = self._books["shared"] = Book(home / "shared.db")
            self._tidy()
        except BaseException:
            self.close()
            raise

    # writing

    def add(self, drafts: Sequence[Draft]) -> list[str]:
        ids = [draft.memory.id for draft in drafts]
        for scope, book in self._books.items():
            places = [at for at, draft in enumerate(drafts) if draft.memory.scope == scope]
            if not places:
                continue
            mine = [drafts[at] for at in places]
            self._admit([draft.chunks for draft in mine])
            with book.changing() as db:
                for at, id in zip(places, book.add(db, mine, self._clock()), strict=True):
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
    ) -> Memory:
        source = self._book_of(id)
        target = self._books[changes["scope"]] if "scope" in changes else source
        if chunks is not None:
            self._admit([chunks])
        try:
            with self._changing(source, target) as dbs:
                return self._change(dbs, id, changes, chunks, if_version, reason, action)
        except MemoryNotFound:  # or another process has moved it since it was looked up
            with self._changing(*self._books.values()) as dbs:
                return self._change(dbs, id, changes, chunks, if_version, reason, action)

    def _change(
        self,
        dbs: Mapping[Book, apsw.Connection],
        id: str,
        changes: Mapping[str, Any],
        chunks: Chunks | None,
        if_version: int | None,
        reason: str | None,
        action: str,
    ) -> Memory:
        source, row, old = self._mine(dbs, id)
        if if_version is not None and old.version != if_version:
            raise VersionConflict(id, if_version, old.version)
        changed = {name: value for name, value in changes.items() if getattr(old, name) != value}
        if not changed:
            return old
        now = self._clock()
        if "content" in changed:
            changed["content_updated_at"] = now
        else:
            chunks = None
        new = source.change(dbs[source], row, old, changed, chunks)
        moved = {name: changed.pop(name) for name in ["scope"] if name in changed}
        if changed:  # noted in the source: what it said before a move is nobody else's
            before = {name: getattr(old, name) for name in changed}
            source.note(dbs[source], now, old, action, before, changed, reason)
        if moved:
            target = self._books[new.scope]
            target.copy_in(dbs[target], new, source, dbs[source], row)
            if target is self._own:
                _carry_history(dbs[source], dbs[target], id)
            target.note(dbs[target], now, new, "moved", {"scope": old.scope}, moved, reason)
            source.delete(dbs[source], id)
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
            yield {
                book: stack.enter_context(book.changing())
                for book in self._books.values()
                if book in books
            }

    def erase(self, id: str) -> None:
        self._book_of(id)
        with self._changing(*self._books.values()) as dbs:
            holder, _, memory = self._mine(dbs, id)
            holder.note(dbs[holder], self._clock(), memory, "erased", {}, {})
            # Who holds it comes last: cut short, it can be asked for again.
            for book in sorted(dbs, key=lambda book: book is holder):
                book.delete(dbs[book], id)
                book.scrub(dbs[book], id)
                book.commit(dbs[book])
        for book in self._books.values():
            try:
                book.database.truncate_wal()
            except StoreError as error:  # it is erased; only old pages wait a little longer
                logger.warning("what was erased stays in a -wal file for now: %s", error)

    def purge(self, before: datetime) -> int:
        ids = []
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT id FROM memories WHERE deleted_at < ? AND state = 'deleted' AND kin = ?",
                (time_text(before), self.kin),
            )
            ids += [id for (id,) in rows]
        erased = 0
        for id in ids:
            with suppress(MemoryNotFound):  # another process purges as well
                self.erase(id)
                erased += 1
        return erased

    def count_use(self, ids: Iterable[str], at: datetime) -> None:
        with self._uses_lock:
            for id in ids:
                self._uses[id] = (self._uses.get(id, (0, at))[0] + 1, at)

    def flush_use(self) -> None:
        with self._uses_lock:
            uses, self._uses = self._uses, {}
        if not uses:
            return
        bound = [
            (count, time_text(at), MOST_STABLE, STABILITY_GROWTH ** min(count, 100), id)
            for id, (count, at) in uses.items()
        ]
        for book in self._books.values():
            with book.database.writing() as db:
                db.executemany(
                    "UPDATE memories SET recalled_count = recalled_count + ?, recalled_at = ?,"
                    " stability = min(?, stability * ?) WHERE id = ?",
                    bound,
                )

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
        where, bound = conditions(filters, self.kin, self._clock())
        if cursor is not None:
            bound["key"], bound["id"] = _position(cursor, sort)
            where += f" AND ({key}, m.id) {'<' if order == 'DESC' else '>'} (:key, :id)"
        rows = []
        for book in self._reads(filters):
            rows += book.database.rows(
                f"SELECT {key}, {COLUMNS} FROM memories m WHERE {where}"
                f" ORDER BY {key} {order}, m.id {order} LIMIT :limit",
                {**bound, "limit": limit + 1},
            )
        rows.sort(key=lambda row: (row[0], row[1]), reverse=order == "DESC")
        memories = [memory_of(row[1:]) for row in rows[:limit]]
        if len(rows) <= limit:
            return Page(memories)
        last = rows[limit - 1]
        return Page(memories, _cursor(sort, last[0], last[1]))

    def same_statements(self, drafts: Sequence[Draft]) -> list[str | None]:
        own, shared = self._own.same_all(drafts), self._shared.same_all(drafts)
        return [mine or theirs for mine, theirs in zip(own, shared, strict=True)]

    def search(self, asked: Asked, filters: Filters) -> Found:
        allowed = self._allowed(filters)
        candidates: list[Candidate] = []
        cosines: dict[str, list[float]] = {}
        nearest: list[tuple[float, str]] = []
        matches: list[tuple[float, str]] = []
        for book in self._reads(filters):
            rows = search(book.database, book.vectors, asked, allowed)
            ids = {row: candidate.id for row, candidate in rows.candidates.items()}
            candidates += rows.candidates.values()
            cosines |= {ids[row]: values for row, values in rows.cosines.items()}
            nearest += [(cosine, ids[row]) for row, cosine in rows.nearest]
            matches += [(score, ids[row]) for row, score in rows.matches]
        nearest.sort(key=_worse)
        matches.sort(key=_worse)
        ranked = {id: score for score, id in matches}
        return Found(candidates, cosines, [id for _, id in nearest], ranked)

    def nearest(
        self, vector: Vector, embedder: str, limit: int, filters: Filters
    ) -> list[tuple[str, float]]:
        allowed = self._allowed(filters)
        found: list[tuple[float, str]] = []
        for book in self._reads(filters):
            rows = book.vectors.nearest(vector, embedder, limit, allowed)
            ids = _ids(book, [row for row, _ in rows])
            found += [(cosine, ids[row]) for row, cosine in rows if row in ids]
        found.sort(key=_worse)
        best: dict[str, float] = {}
        for cosine, id in found:
            best.setdefault(id, cosine)
        return list(best.items())

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        result = {}
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT m.rowid, m.id FROM memories m"
                f" WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}",
                {"ids": json.dumps(list(ids)), "kin": self.kin},
            )
            names: dict[int, str] = dict(rows)
            for row, values in book.vectors.cosines(vector, embedder, names.keys()).items():
                result[names[row]] = values
        return result

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        return {
            id: vector
            for book in self._books.values()
            for id, vector in book.vectors.first(embedder, ids, self.kin)
        }

    def names(self) -> frozenset[str]:
        revision, names = self._names
        if revision != self.revision:
            revision = self.revision
            found = {
                folded(name)
                for book in self._books.values()
                for name in _distinct(book, "speaker", self.kin)
            }
            found |= {folded(name) for name in _distinct(self._shared, "kin", self.kin)}
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
                {"kin": self.kin, "now": time_text(self._clock())},
            )
            for subject, count in rows:
                used[subject] += count
        wanted = folded(prefix)
        fitting = [subject for subject in used if folded(subject).startswith(wanted)]
        return sorted(fitting, key=lambda subject: (-used[subject], subject))[:limit]

    def history(self, id: str, limit: int = 100) -> list[Event]:
        memory = self.get(id)
        lines = self._shared.history(id, limit)
        if memory.kin == self.kin:  # what happened before it was shared is older
            lines += self._own.history(id, limit)
        return lines[:limit]

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        counts: dict[str, dict[str, int]] = {"state": {}, "scope": {}, "category": {}, "kin": {}}
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT m.state, m.scope, m.category, m.kin, count(*) FROM memories m"
                f" WHERE {VISIBLE} GROUP BY m.state, m.scope, m.category, m.kin",
                {"kin": self.kin},
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
                book.vectors.put(db, embedder, [chunks[at].chunk for at in places], vectors[places])
                db.executemany(
                    "UPDATE memories SET status = 'ingested' WHERE id = ?",
                    [(chunks[at].memory_id,) for at in places if chunks[at].fresh],
                )

    def coverage(self) -> list[Coverage]:
        shared = {one.embedder: one for one in self._shared.vectors.coverage()}
        both = [
            replace(one, done=one.done + other.done, total=one.total + other.total)
            for one in self._own.vectors.coverage()
            if (other := shared.get(one.embedder))  # else another Kin has enrolled or retired it
        ]
        return sorted(both, key=lambda one: -one.share)

    def retire(self, embedder: str) -> None:
        for book in self._books.values():
            book.vectors.retire(embedder)

    def health(self) -> list[Health]:
        return [examine(book.database, self._home) for book in self._books.values()]

    def close(self) -> None:
        with suppress(StoreError):  # counters are not worth an error at the end
            self.flush_use()
        for book in self._books.values():
            book.close()

    def _tidy(self) -> None:
        """Finish moves that were cut short: of two rows with one id the later version stays."""
        rows = self._shared.database.rows("SELECT id FROM memories WHERE kin = ?", (self.kin,))
        mine = [id for (id,) in rows]
        for id in [memory.id for _, memory in self._own.by_ids(mine)] if mine else []:
            with self._changing(self._own, self._shared) as dbs:
                found = {book: book.find(db, id) for book, db in dbs.items()}
                versions = {book: one[1].version for book, one in found.items() if one}
                if len(versions) < 2:  # it was being moved just now
                    continue
                stale = min(versions, key=versions.__getitem__)
                stale.delete(dbs[stale], id)
                if stale is self._shared:
                    dbs[stale].execute("DELETE FROM history WHERE memory_id = ?", (id,))

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

    def _reads(self, filters: Filters) -> Iterator[Book]:
        """The files in which the filters can find anything; an unwritten one is not asked."""
        books = (book for scope, book in self._books.items() if filters.scope in (None, scope))
        return (book for book in books if book.revision)

    def _allowed(self, filters: Filters) -> Allowed:
        where, bound = conditions(filters, self.kin, self._clock())
        plain = replace(filters, scope=None) == Filters() and not self._anything_expired()
        live = not (filters.include_archived or filters.as_of or filters.states is not None)
        return Allowed(where, bound, plain, live)

    def _anything_expired(self) -> bool:
        now = time_text(self._clock())
        return any(
            book.database.rows(
                f"SELECT 1 FROM memories m WHERE m.expires_at <= ? AND {IS_LIVE} LIMIT 1", (now,)
            )
            for book in self._books.values()
        )


def _worse(ranked: tuple[float, str]) -> float:
    return -ranked[0]


def _carry_history(from_db: Any, db: Any, id: str) -> None:
    """What was shared and is private again leaves no texts behind in the shared file."""
    lines = from_db.execute(
        "DELETE FROM history WHERE memory_id = ?"
        " RETURNING at, kin, memory_id, action, before, after, reason, batch",
        (id,),
    ).fetchall()
    db.executemany(
        "INSERT INTO history (at, kin, memory_id, action, before, after, reason, batch)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        lines,
    )


def _ids(book: Book, rows: Sequence[int]) -> dict[int, str]:
    return dict(
        book.database.rows(
            "SELECT rowid, id FROM memories WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps(list(rows)),),
        )
    )


def _distinct(book: Book, column: str, kin: str) -> list[str]:
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
        {"kin": kin},
    )
    return [value for (value,) in rows]


def _cursor(sort: Sort, key: Any, id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([sort, key, id]).encode()).decode().rstrip("=")


def _position(cursor: str, sort: Sort) -> tuple[Any, str]:
    try:
        made_for, key, id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        made_for, key, id = None, None, None
    fitting = (
        isinstance(key, str) and key.isascii()
        if sort in ("newest", "oldest")
        else isinstance(key, int | float) and abs(key) < MOST_KEY
    )
    if made_for != sort or not fitting or not isinstance(id, str) or not id.isascii():
        raise InvalidInput("cursor is not one that list_memories gave for this sort; leave it out")
    return key, id
