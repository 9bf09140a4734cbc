"""One Kin's view of two files: its own and the shared one. Never opens another Kin's file."""

import base64
import binascii
import json
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from kinmem.clock import Clock, utc_now
from kinmem.errors import InvalidInput, MemoryNotFound, StoreError, VersionConflict
from kinmem.models import (
    Candidate,
    Chunks,
    Coverage,
    Draft,
    Event,
    Filters,
    Match,
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
from kinmem.store.sqlite.filters import IS_LIVE, SAID_AT, VISIBLE, conditions
from kinmem.store.sqlite.rows import COLUMNS, memory_of, time_text
from kinmem.store.sqlite.words import ROLES
from kinmem.text import folded

SORTS: Mapping[Sort, tuple[str, str]] = {
    "newest": ("m.id", "DESC"),  # uuid7: ids order as the times of storing do
    "oldest": ("m.id", "ASC"),
    "importance": ("coalesce(m.importance, 5)", "DESC"),
    "used": ("m.recalled_count", "DESC"),
}
CANDIDATE = ", ".join(SAID_AT if name == "said_at" else f"m.{name}" for name in Candidate._fields)
# The name of a Kin that nobody named is a common word, not a person.
DEFAULT_KIN = "default"
# Each use makes a memory fade 15 % more slowly (Kore); ten years are the most a half-life grows to.
STABILITY_GROWTH = 1.15
MOST_STABLE = 12.0


class SqliteStore:
    """See Store. `kins/<kin>.db` and `shared.db` below `home`."""

    def __init__(self, home: Path, kin: str, clock: Clock = utc_now) -> None:
        self.kin = kin_name(kin)
        self._clock = clock
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._own = Book(home / "kins" / f"{self.kin}.db")
        try:
            self._shared = Book(home / "shared.db")
        except StoreError:
            self._own.close()
            raise
        self._books: dict[Scope, Book] = {"private": self._own, "shared": self._shared}
        # A move holds both files' write locks; one at a time, or two could wait for each other.
        self._moving = threading.Lock()
        self._uses: dict[str, tuple[int, datetime]] = {}
        self._uses_lock = threading.Lock()
        self._names: tuple[tuple[int, ...], frozenset[str]] = ((), frozenset())
        self._tidy()

    # writing

    def add(self, drafts: Sequence[Draft]) -> list[str]:
        ids = [draft.memory.id for draft in drafts]
        for scope, book in self._books.items():
            places = [at for at, draft in enumerate(drafts) if draft.memory.scope == scope]
            if not places:
                continue
            mine = [drafts[at] for at in places]
            for draft in mine:
                book.vectors.admit(draft.chunks)
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
        scope = changes.get("scope")
        changes = {name: value for name, value in changes.items() if name != "scope"}
        with self._moving:
            source = self._book_of(id)
            if scope is None or self._books[scope] is source:
                return self._change(source, id, changes, chunks, if_version, reason, action)
            if changes:
                memory = self._change(source, id, changes, chunks, if_version, reason, action)
                if_version = memory.version
            return self._move(source, id, scope, if_version, reason)

    def _change(
        self,
        book: Book,
        id: str,
        changes: Mapping[str, Any],
        chunks: Chunks | None,
        if_version: int | None,
        reason: str | None,
        action: str,
    ) -> Memory:
        if chunks is not None:
            book.vectors.admit(chunks)
        with book.changing() as db:
            row, old = self._mine(book.find(db, id), id)
            if if_version is not None and old.version != if_version:
                raise VersionConflict(id, if_version, old.version)
            changed = {
                name: value for name, value in changes.items() if getattr(old, name) != value
            }
            if not changed:
                return old
            now = self._clock()
            if "content" in changed:
                changed["content_updated_at"] = now
            new = book.change(db, row, old, changed, chunks if "content" in changed else None)
            before = {name: getattr(old, name) for name in changed}
            book.note(db, now, new, action, before, changed, reason)
        return new

    def _move(
        self, source: Book, id: str, scope: Scope, if_version: int | None, reason: str | None
    ) -> Memory:
        """Insert in the target, commit, delete in the source; meanwhile nobody can change it."""
        target = self._books[scope]
        now = self._clock()
        with source.changing() as from_db:
            row, old = self._mine(source.find(from_db, id), id)
            if if_version is not None and old.version != if_version:
                raise VersionConflict(id, if_version, old.version)
            new = replace(old, scope=scope, version=old.version + 1)
            with target.changing() as db:
                target.copy_in(db, new, source, from_db, row)
                target.note(db, now, new, "moved", {"scope": old.scope}, {"scope": scope}, reason)
                if scope == "private":
                    _carry_history(from_db, db, id)
            source.delete(from_db, id)
        return new

    def erase(self, id: str) -> None:
        with self._moving:
            self._book_of(id)
            for book in self._books.values():
                with book.changing() as db:
                    found = book.find(db, id)
                    if found and found[1].kin == self.kin:
                        book.note(db, self._clock(), found[1], "erased", {}, {})
                        book.delete(db, id)
                    book.scrub(db, id)
                book.database.truncate_wal()

    def purge(self, before: datetime) -> int:
        ids = []
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT id FROM memories WHERE deleted_at < ? AND state = 'deleted' AND kin = ?",
                (time_text(before), self.kin),
            )
            ids += [id for (id,) in rows]
        for id in ids:
            self.erase(id)
        return len(ids)

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
            (count, time_text(at), MOST_STABLE, STABILITY_GROWTH**count, id)
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
        found = self.memories([id])
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

    def candidates(self, ids: Collection[str]) -> list[Candidate]:
        wanted = json.dumps(list(ids))
        found: dict[str, Candidate] = {}
        for book in self._books.values():
            for row in book.database.rows(
                f"SELECT {CANDIDATE} FROM memories m"
                f" WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}",
                {"ids": wanted, "kin": self.kin},
            ):
                found[row[0]] = Candidate._make(row)
        return list(found.values())

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

    def nearest(self, vector: Vector, embedder: str, limit: int, filters: Filters) -> list[str]:
        allowed, bound = self._allowed(filters)
        found: list[tuple[float, str]] = []
        for book in self._reads(filters):
            rows = book.vectors.nearest(vector, embedder, limit, allowed, bound)
            ids = _ids(book, [row for row, _ in rows])
            found += [(cosine, ids[row]) for row, cosine in rows if row in ids]
        found.sort(key=lambda near: -near[0])
        return list(dict.fromkeys(id for _, id in found))

    def cosines(
        self, vector: Vector, embedder: str, ids: Collection[str]
    ) -> dict[str, list[float]]:
        result = {}
        for book in self._books.values():
            rows = book.database.rows(
                "SELECT rowid, id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            names: dict[int, str] = dict(rows)
            for row, values in book.vectors.cosines(vector, embedder, names.keys()).items():
                result[names[row]] = values
        return result

    def first_vectors(self, embedder: str, ids: Collection[str]) -> dict[str, Vector]:
        return {
            id: vector
            for book in self._books.values()
            for id, vector in book.vectors.first(embedder, ids)
        }

    def matching(self, words: Sequence[str], limit: int, filters: Filters) -> list[Match]:
        where, bound = conditions(filters, self.kin, self._clock())
        found = [
            Match(id, score)
            for book in self._reads(filters)
            for id, score in book.matching(words, limit, where, bound)
        ]
        return sorted(found, key=lambda match: -match.score)

    def names(self) -> frozenset[str]:
        revision, names = self._names
        if revision != self.revision:
            revision = self.revision
            found = {
                folded(name) for book in self._books.values() for name in _distinct(book, "speaker")
            }
            found |= {folded(name) for name in _distinct(self._shared, "kin")}
            names = frozenset(found - ROLES - {DEFAULT_KIN})
            self._names = (revision, names)
        return names

    def subjects(self, prefix: str, limit: int) -> list[str]:
        used: dict[str, int] = defaultdict(int)
        for book in self._books.values():
            rows = book.database.rows(
                f"SELECT m.subject, count(*) FROM memories m WHERE {VISIBLE} AND {IS_LIVE}"
                " AND m.subject IS NOT NULL GROUP BY m.subject",
                {"kin": self.kin},
            )
            for subject, count in rows:
                used[subject] += count
        wanted = folded(prefix)
        fitting = [subject for subject in used if folded(subject).startswith(wanted)]
        return sorted(fitting, key=lambda subject: (-used[subject], subject))[:limit]

    def history(self, id: str, limit: int = 100) -> list[Event]:
        memory = self.get(id)
        books = self._books.values() if memory.kin == self.kin else [self._shared]
        lines = [line for book in books for line in book.history(id, limit)]
        return sorted(lines, key=lambda line: line.at, reverse=True)[:limit]

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
                book.vectors.put(db, embedder, [chunks[at].chunk for at in places], vectors[places])
                db.executemany(
                    "UPDATE memories SET status = 'ingested' WHERE id = ?",
                    [(chunks[at].memory_id,) for at in places if chunks[at].fresh],
                )

    def coverage(self) -> list[Coverage]:
        total: dict[str, Coverage] = {}
        for book in self._books.values():
            for one in book.vectors.coverage():
                known = total.get(one.embedder, Coverage(one.embedder, one.dimension, 0, 0))
                total[one.embedder] = replace(
                    known, done=known.done + one.done, total=known.total + one.total
                )
        return sorted(total.values(), key=lambda one: -one.share)

    def retire(self, embedder: str) -> None:
        for book in self._books.values():
            book.vectors.retire(embedder)

    def close(self) -> None:
        with suppress(StoreError):  # counters are not worth an error at the end
            self.flush_use()
        for book in self._books.values():
            book.close()

    def _tidy(self) -> None:
        """Finish moves that were cut short: of two rows with one id the later version stays."""
        mine = self._shared.database.rows("SELECT id FROM memories WHERE kin = ?", (self.kin,))
        twice = self._own.by_ids([id for (id,) in mine]) if mine else []
        for _, own in twice:
            shared = self._shared.by_ids([own.id])[0][1]
            loser = self._own if own.version < shared.version else self._shared
            with loser.changing() as db:
                loser.delete(db, own.id)

    def _book_of(self, id: str) -> Book:
        """The file that holds a memory of this Kin. Raises MemoryNotFound."""
        for book in self._books.values():
            if any(memory.kin == self.kin for _, memory in book.by_ids([id])):
                return book
        raise MemoryNotFound(id)

    def _mine(self, found: tuple[int, Memory] | None, id: str) -> tuple[int, Memory]:
        if found is None or found[1].kin != self.kin:
            raise MemoryNotFound(id)
        return found

    def _sees(self, memory: Memory) -> bool:
        return memory.kin == self.kin or (
            memory.scope == "shared" and memory.state not in ("deleted", "quarantined")
        )

    def _reads(self, filters: Filters) -> Iterator[Book]:
        """The files in which the filters can find anything."""
        return (book for scope, book in self._books.items() if filters.scope in (None, scope))

    def _allowed(self, filters: Filters) -> tuple[str | None, dict[str, Any]]:
        """As conditions, but None where the copy in memory needs no list of what is allowed."""
        where, bound = conditions(filters, self.kin, self._clock())
        plain = replace(filters, scope=None) == Filters()
        return (None if plain and not self._anything_expired() else where), bound

    def _anything_expired(self) -> bool:
        now = time_text(self._clock())
        return any(
            book.database.rows(
                f"SELECT 1 FROM memories m WHERE m.expires_at <= ? AND {IS_LIVE} LIMIT 1", (now,)
            )
            for book in self._books.values()
        )


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


def _distinct(book: Book, column: str) -> list[str]:
    """The values of an indexed column by jumping from one to the next: fast where they are few."""
    rows = book.database.rows(
        f"""
        WITH RECURSIVE jump(value) AS (
            SELECT min({column}) FROM memories
            UNION ALL
            SELECT (SELECT min({column}) FROM memories WHERE {column} > jump.value) FROM jump
            WHERE jump.value IS NOT NULL
        )
        SELECT value FROM jump WHERE value IS NOT NULL
        """
    )
    return [value for (value,) in rows]


def _cursor(sort: Sort, key: Any, id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([sort, key, id]).encode()).decode().rstrip("=")


def _position(cursor: str, sort: Sort) -> tuple[Any, str]:
    try:
        made_for, key, id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, binascii.Error):
        made_for, key, id = None, None, None
    if made_for != sort or not isinstance(id, str) or not isinstance(key, str | int | float):
        raise InvalidInput("cursor is not one that list_memories gave for this sort; leave it out")
    return key, id
