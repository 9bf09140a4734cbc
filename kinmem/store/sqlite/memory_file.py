"""The memories of one file: rows, words, chunks and history lines, always changed together.

Methods that take `db` run inside a transaction of the caller's (Database.writing).
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from kinmem.models import LIVE, Chunks, Draft, Event, Memory, Scope
from kinmem.store.sqlite import (
    chunk_vectors,
    document_parts,
    entity_rows,
    history_rows,
    link_rows,
)
from kinmem.store.sqlite.chunk_vectors import ChunkVectors
from kinmem.store.sqlite.connection import BeforeUpgrade, Database, without_backup
from kinmem.store.sqlite.file_state import state_of
from kinmem.store.sqlite.history_rows import Line, next_write, record
from kinmem.store.sqlite.nearest_chunks import NearestChunks
from kinmem.store.sqlite.queries import (
    COLUMNS,
    FIELDS,
    INSERT,
    IS_LIVE,
    RAISE,
    column,
    insert_words,
    memory_of,
    reindex,
    row_of,
    time_text,
)

INDEXED = frozenset(  # fields that are in the words
    {"content", "subject", "source_context", "speaker", "occurred_at", "title", "description"}
)


class MemoryFile:
    """One database file, whoever's it is."""

    def __init__(
        self, path: Path, kin: str, before_upgrade: BeforeUpgrade = without_backup
    ) -> None:
        """`kin`: who opens it, and is named by the lines of its history."""
        self.database = Database(path, before_upgrade=before_upgrade)
        self.near = NearestChunks(self.database)
        self.vectors = ChunkVectors(self.database, self.near.copies)
        self._kin = kin
        self._write: int | None = None
        """Number of the write that goes on; None: not needed yet."""

    # writing

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """A transaction after which the revision has gone up, if it changed anything."""
        with self.database.writing() as db:
            self._write = None
            before = db.total_changes()
            yield db
            if db.total_changes() != before:
                db.execute(RAISE)

    def add(
        self,
        db: apsw.Connection,
        drafts: Sequence[Draft],
        at: datetime,
        *,
        batch: str | None = None,
    ) -> list[str]:
        """Store what no live memory of the same scope here states yet; the ids under which the
        drafts stand."""
        known = self._known_hashes(db, drafts)
        fresh: dict[str, list[Draft]] = {}
        ids = []
        for draft in drafts:
            memory = draft.memory
            alike = fresh.setdefault(memory.content_hash, [])
            id = None
            if memory.content_hash in known:
                id = self.same(db, memory, in_scope=memory.scope)
            id = id or next((o.memory.id for o in alike if _states_same(memory, o.memory)), None)
            if id is None:
                alike.append(draft)
            ids.append(id or memory.id)
        self._insert(db, [draft for alike in fresh.values() for draft in alike], at, batch)
        return ids

    def _insert(
        self, db: apsw.Connection, drafts: Sequence[Draft], at: datetime, batch: str | None
    ) -> None:
        """New memories with their words, chunks, vectors or pending marks, and history lines."""
        rows = self.insert_rows(db, [draft.memory for draft in drafts])
        self._insert_chunks(
            db, [(row, d.memory.content, d.chunks) for row, d in zip(rows, drafts, strict=True)]
        )
        for row, draft in zip(rows, drafts, strict=True):
            if draft.knowledge is not None:
                entity_rows.put(db, row, draft.knowledge, at)
        made = (draft.memory for draft in drafts)
        self.note_all(db, at, [Line(one.id, "created", {}, record(one)) for one in made], batch)

    def _known_hashes(self, db: apsw.Connection, drafts: Sequence[Draft]) -> set[str]:
        rows: Any = db.execute(
            "SELECT content_hash FROM memories"
            " WHERE content_hash IN (SELECT value FROM json_each(?))",
            (json.dumps([draft.memory.content_hash for draft in drafts]),),
        )
        return {hash for (hash,) in rows}

    def same_all(self, drafts: Sequence[Draft]) -> list[str | None]:
        """For each draft the id of a live memory here that states the same."""
        with self.database.reading() as db:
            known = self._known_hashes(db, drafts)
            return [
                self.same(db, draft.memory) if draft.memory.content_hash in known else None
                for draft in drafts
            ]

    def same(
        self, db: apsw.Connection, memory: Memory, *, in_scope: Scope | None = None
    ) -> str | None:
        """The id of a live memory here that says so, private ones first; see
        Memories.same_statements."""
        return db.execute(  # type: ignore[no-any-return]
            f"""
            SELECT m.id FROM memories m
            WHERE m.content_hash = :hash AND {IS_LIVE}
                AND (:scope IS NULL OR +m.scope = :scope)
                AND (m.expires_at IS NULL OR (m.expires_at > :now AND m.expires_at >= :expires_at))
                AND m.occurred_at IS :occurred_at
                AND (:subject IS NULL OR m.subject = :subject COLLATE ANYCASE)
                AND (:speaker IS NULL OR m.speaker = :speaker COLLATE ANYCASE)
                AND (m.place IS NULL OR m.place = :place)
            ORDER BY m.scope, m.rowid LIMIT 1
            """,
            {
                "hash": memory.content_hash,
                "scope": in_scope,
                "now": time_text(memory.created_at),
                "occurred_at": column("occurred_at", memory.occurred_at),
                "expires_at": column("expires_at", memory.expires_at),
                "subject": memory.subject,
                "speaker": memory.speaker,
                "place": memory.place,
            },
        ).get

    def find(self, db: apsw.Connection, id: str) -> tuple[int, Memory] | None:
        """Row number and memory of an id, in whatever state."""
        row = db.execute(
            f"SELECT m.rowid, {COLUMNS} FROM memories m WHERE m.id = ?", (id,)
        ).fetchone()
        return (row[0], memory_of(row[1:])) if row else None

    def change(
        self,
        db: apsw.Connection,
        row: int,
        old: Memory,
        changes: Mapping[str, Any],
        chunks: Chunks | None,
    ) -> Memory:
        """Set fields, raise the version, keep words and chunks in step; what was made of a former
        text goes. Writes no history line."""
        if "content" in changes or "content_hash" in changes:
            changes = {**changes, "auto_tags": (), "tagged_at": None, "linked_at": None}
            db.execute("DELETE FROM summaries WHERE memory = ?", (row,))
        new = replace(old, **changes, version=old.version + 1)
        said = document_parts.text_of(db, row) if chunks is not None and old.is_document else ""
        names = [*changes, "version"]
        db.execute(
            f"UPDATE memories SET {', '.join(f'{name} = ?' for name in names)} WHERE rowid = ?",
            [*(column(name, getattr(new, name)) for name in names), row],
        )
        if INDEXED & changes.keys():
            reindex(db, row, new)
        if chunks is not None:
            self.remove_chunks(db, row)
            self._insert_chunks(db, [(row, new.content, chunks)])
            db.execute("UPDATE chunks SET layer = ? WHERE memory = ?", (new.tier, row))
            if old.is_document:
                says = (
                    document_parts.joined(zip(chunks.places, chunks.texts, strict=False))
                    or new.content
                )
                document_parts.keep_text(db, old, said, new, says)
        else:
            self._follow(db, row, old, new)
        if old.superseded_by and old.superseded_by != new.superseded_by:
            link_rows.disinherit(db, link_rows.touching(db, new.id), new.id, old.superseded_by)
        if new.superseded_by and old.superseded_by != new.superseded_by:
            link_rows.inherit(db, link_rows.touching(db, new.id), new.id, new.superseded_by)
        return new

    def become(self, db: apsw.Connection, row: int, old: Memory, new: Memory) -> set[str]:
        """Set all fields as another file has them, with words in step, but for those of chunks
        whose text differs; the names of those that were others."""
        names = [name for name in FIELDS if getattr(old, name) != getattr(new, name)]
        if names:
            db.execute(
                f"UPDATE memories SET {', '.join(f'{name} = ?' for name in names)} WHERE rowid = ?",
                [*(column(name, getattr(new, name)) for name in names), row],
            )
        if INDEXED.intersection(names):
            reindex(db, row, new)
        self._follow(db, row, old, new)
        return set(names)

    def _follow(self, db: apsw.Connection, row: int, old: Memory, new: Memory) -> None:
        """Let the words of its chunks, and the copies of its vectors, follow what it has become."""
        if old.holds_back != new.holds_back:
            document_parts.hold(db, row, new.holds_back)
        if (old.state in LIVE) != (new.state in LIVE):
            chunk_vectors.log(db, self._chunks_of(db, row))

    def note(
        self,
        db: apsw.Connection,
        at: datetime,
        memory: Memory,
        action: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        reason: str | None = None,
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> None:
        """Append a history line."""
        self.note_all(db, at, [Line(memory.id, action, before, after, reason, reverts)], batch)

    def note_all(
        self,
        db: apsw.Connection,
        at: datetime,
        noted: Sequence[Line],
        batch: str | None = None,
    ) -> None:
        """Append history lines, all of one write."""
        if self._write is None:
            self._write = next_write(db, self._kin)
        history_rows.append(db, at, self._kin, self._write, noted, batch)

    def delete(self, db: apsw.Connection, id: str) -> int | None:
        """Remove row, words, chunks, vectors and entities, not the history; its number if any."""
        row: int | None = db.execute("SELECT rowid FROM memories WHERE id = ?", (id,)).get
        if row is not None:
            self.remove_chunks(db, row)
            db.execute("DELETE FROM memory_entities WHERE memory = ?", (row,))
            db.execute("DELETE FROM words WHERE rowid = ?", (row,))
            db.execute("DELETE FROM memories WHERE rowid = ?", (row,))
        return row

    # reading

    def by_ids(self, ids: Collection[str]) -> list[tuple[int, Memory]]:
        """Those of the ids that are here, in whatever state."""
        rows = self.database.rows(
            f"SELECT m.rowid, {COLUMNS} FROM memories m"
            " WHERE m.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return [(row[0], memory_of(row[1:])) for row in rows]

    def history(self, id: str, limit: int) -> list[Event]:
        """The lines about one memory, newest first."""
        which = "memory_id = :id ORDER BY seq DESC LIMIT :limit"
        return history_rows.events(self.database, which, {"id": id, "limit": limit})

    @property
    def revision(self) -> int:
        """Goes up with every change."""
        return state_of(self.database).revision

    def outlook(self, now: datetime) -> tuple[int, bool]:
        """The revision, and whether a memory that was not put away has expired or ended."""
        state = state_of(self.database)
        return state.revision, state.first_end is not None and state.first_end <= time_text(now)

    def close(self) -> None:
        """Let go of the file."""
        self.near.copies.close()
        self.database.close()

    def insert_rows(self, db: apsw.Connection, memories: Sequence[Memory]) -> range:
        """New memories with their words, without chunks; the numbers of their rows, in order."""
        first = _next(db, "memories")
        rows = range(first, first + len(memories))
        values = zip(rows, memories, strict=True)
        db.executemany(INSERT, [(row, *row_of(memory)) for row, memory in values])
        insert_words(db, rows, memories)
        return rows

    def _insert_chunks(
        self, db: apsw.Connection, memories: Sequence[tuple[int, str, Chunks]]
    ) -> None:
        """(row, content, chunks) of each; content that is its own only chunk is not repeated."""
        first = _next(db, "chunks")
        values = [
            (row, position, None if text == content else text, metadata)
            for row, content, chunks in memories
            for position, (text, metadata) in enumerate(_with_places(chunks))
        ]
        ids = range(first, first + len(values))
        db.executemany(
            "INSERT INTO chunks (id, memory, position, text, metadata) VALUES (?, ?, ?, ?, ?)",
            [(id, *value) for id, value in zip(ids, values, strict=True)],
        )
        self.vectors.queue(db, ids)
        for _, _, chunks in memories:
            ids, own = ids[len(chunks.texts) :], ids[: len(chunks.texts)]
            document_parts.insert_words(db, zip(own, chunks.texts, chunks.places, strict=False))
            if chunks.vectors is not None and chunks.embedder is not None:
                self.vectors.put(db, chunks.embedder, own, chunks.vectors)

    def _chunks_of(self, db: apsw.Connection, row: int) -> list[int]:
        return [id for (id,) in db.execute("SELECT id FROM chunks WHERE memory = ?", (row,))]

    def remove_chunks(self, db: apsw.Connection, row: int) -> None:
        """With their words and vectors."""
        chunks = self._chunks_of(db, row)
        self.vectors.remove(db, chunks)
        document_parts.remove_words(db, chunks)
        db.execute("DELETE FROM chunks WHERE memory = ?", (row,))


def _with_places(chunks: Chunks) -> list[tuple[str, str | None]]:
    """Each text with what is stored of where it stands."""
    if not chunks.places:
        return [(text, None) for text in chunks.texts]
    places = map(document_parts.passage_text, chunks.places)
    return list(zip(chunks.texts, places, strict=True))


def _next(db: apsw.Connection, table: str) -> int:
    """The number after the greatest that the table ever held; nobody else writes now."""
    greatest: Any = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
    return int(greatest or 0) + 1


def _states_same(new: Memory, known: Memory) -> bool:
    """As MemoryFile.same, for memories of one content_hash that are not stored yet."""
    return (
        new.scope == known.scope
        and new.occurred_at == known.occurred_at
        and known.place in (None, new.place)
        and (new.expires_at, known.expires_at)
        in ((known.expires_at, known.expires_at), (new.expires_at, None))
        and (new.subject is None or new.subject.casefold() == (known.subject or "").casefold())
        and (new.speaker is None or new.speaker.casefold() == (known.speaker or "").casefold())
    )
