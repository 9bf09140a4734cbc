"""The memories of one file: rows, words, chunks and history lines, always changed together.

Methods that take `db` run inside a transaction of the caller's (Database.writing).
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from kinmem.errors import StoreError
from kinmem.models import LIVE, Chunks, Draft, Event, Memory, Scope
from kinmem.models.record import days_meant
from kinmem.store.sql import document_rows, entity_rows, history_rows, link_rows
from kinmem.store.sql.damage import DamagedRow
from kinmem.store.sql.database import Database, StoredVectors, Transaction, Words, state_of
from kinmem.store.sql.document_rows import keep_text
from kinmem.store.sql.history_rows import Line, next_write, record
from kinmem.store.sql.memory_rows import (
    ALL,
    COLUMNS,
    FIELDS,
    INSERT,
    IS_LIVE,
    RAISE,
    column,
    memory_of,
    row_of,
    sound,
    time_text,
)

INDEXED = frozenset(  # fields that are in the words
    {"content", "subject", "source_context", "speaker", "occurred_at", "title", "description"}
)


class MemoryFile:
    """One database file, whoever's it is."""

    def __init__(self, database: Database, words: Words, vectors: StoredVectors, kin: str) -> None:
        """`kin` opens the file, and is the one that new history lines name."""
        self.database = database
        self.words = words
        self.vectors = vectors
        self._kin = kin
        self._write: int | None = None
        """Number of the write that goes on; None: not needed yet."""

    # writing

    @contextmanager
    def changing(self) -> Iterator[Transaction]:
        """Run a transaction that raises the revision if it has changed anything."""
        with self.database.writing() as db:
            self._write = None
            before = db.changes
            yield db
            if db.changes != before:
                db.run(RAISE)

    def add(
        self,
        db: Transaction,
        drafts: Sequence[Draft],
        at: datetime,
        *,
        batch: str | None = None,
    ) -> list[str]:
        """Store those drafts that no live memory of the same scope states yet. Returns an id for
        each draft: its own, or that of the memory with the same statement."""
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
        self, db: Transaction, drafts: Sequence[Draft], at: datetime, batch: str | None
    ) -> None:
        """Insert new memories with words, chunks, vectors, entities and history lines. Chunks
        without a vector are pending."""
        rows = self.insert_rows(db, [draft.memory for draft in drafts])
        self.insert_chunks(
            db, [(row, d.memory.content, d.chunks) for row, d in zip(rows, drafts, strict=True)]
        )
        for row, draft in zip(rows, drafts, strict=True):
            if draft.knowledge is not None:
                entity_rows.put(db, row, draft.knowledge, at)
        made = (draft.memory for draft in drafts)
        self.note_all(db, at, [Line(one.id, "created", {}, record(one)) for one in made], batch)

    def _known_hashes(self, db: Transaction, drafts: Sequence[Draft]) -> set[str]:
        """Return those content hashes of the drafts that some memory here has."""
        rows = db.rows(
            "SELECT content_hash FROM memories WHERE content_hash IN LISTED(?)",
            (json.dumps([draft.memory.content_hash for draft in drafts]),),
        )
        return {hash for (hash,) in rows}

    def same_all(self, drafts: Sequence[Draft]) -> list[str | None]:
        """See Memories.same_statements."""
        with self.database.reading() as db:
            known = self._known_hashes(db, drafts)
            return [
                self.same(db, draft.memory) if draft.memory.content_hash in known else None
                for draft in drafts
            ]

    def same(self, db: Transaction, memory: Memory, *, in_scope: Scope | None = None) -> str | None:
        """Return the id of a live memory here with the same statement, a private one if possible;
        None if there is none. See Memories.same_statements."""
        rows = db.rows(
            f"""
            SELECT m.id, m.content, m.source_context FROM memories m
            WHERE m.content_hash = :hash AND {IS_LIVE}
                AND (:scope IS NULL OR m.scope = :scope)
                AND (m.expires_at IS NULL OR (m.expires_at > :now AND m.expires_at >= :expires_at))
                AND m.occurred_at IS NOT DISTINCT FROM :occurred_at
                AND (:subject IS NULL OR ALIKE(m.subject, :subject))
                AND (:speaker IS NULL OR ALIKE(m.speaker, :speaker))
                AND (m.place IS NULL OR m.place = :place)
            ORDER BY m.scope, m.rowid
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
        )
        days = memory.days_meant
        alike = (id for id, *said in rows if not days or days_meant(*said) == days)
        return next(alike, None)

    def find(self, db: Transaction, id: str) -> tuple[int, Memory] | None:
        """Return row number and memory of an id, in any state; None if it is not here."""
        row = db.row(f"SELECT m.rowid, {COLUMNS} FROM memories m WHERE m.id = ?", (id,))
        if row is None:
            return None
        try:
            return row[0], memory_of(row[1:])
        except DamagedRow as error:
            db.damage.note("memories", id, str(error))
            raise StoreError(
                f"memory {id} is damaged: {error}; kinmem doctor --repair brings it back",
                "storage_damaged",
            ) from error

    def change(
        self,
        db: Transaction,
        row: int,
        old: Memory,
        changes: Mapping[str, Any],
        chunks: Chunks | None,
    ) -> Memory:
        """Set fields and raise the version by one; returns the changed memory.

        Words and chunks follow. New content drops what was derived from the old one: summaries,
        automatic tags, links found. Writes no history line.
        """
        if "content" in changes or "content_hash" in changes:
            changes = {**changes, "auto_tags": (), "tagged_at": None, "linked_at": None}
            db.run("DELETE FROM summaries WHERE memory = ?", (row,))
        new = replace(old, **changes, version=old.version + 1)
        said = document_rows.text_of(db, row) if chunks is not None and old.is_document else ""
        names = [*changes, "version"]
        db.run(
            f"UPDATE memories SET {', '.join(f'{name} = ?' for name in names)} WHERE rowid = ?",
            [*(column(name, getattr(new, name)) for name in names), row],
        )
        if INDEXED & changes.keys():
            self.words.replace(db, row, new)
        if chunks is not None:
            self.remove_chunks(db, row)
            self.insert_chunks(db, [(row, new.content, chunks)])
            db.run("UPDATE chunks SET layer = ? WHERE memory = ?", (new.tier, row))
            if old.is_document:
                says = (
                    document_rows.joined(zip(chunks.places, chunks.texts, strict=False))
                    or new.content
                )
                keep_text(db, old, said, new, says)
        else:
            self._follow(db, row, old, new)
        if old.superseded_by and old.superseded_by != new.superseded_by:
            link_rows.disinherit(db, link_rows.touching(db, new.id), new.id, old.superseded_by)
        if new.superseded_by and old.superseded_by != new.superseded_by:
            link_rows.inherit(db, link_rows.touching(db, new.id), new.id, new.superseded_by)
        return new

    def become(self, db: Transaction, row: int, old: Memory, new: Memory) -> set[str]:
        """Set all fields to those that another file has; returns the names of those that differed.
        The words of the memory follow, those of its chunks only if it holds back other parts."""
        names = [name for name in FIELDS if getattr(old, name) != getattr(new, name)]
        if names:
            db.run(
                f"UPDATE memories SET {', '.join(f'{name} = ?' for name in names)} WHERE rowid = ?",
                [*(column(name, getattr(new, name)) for name in names), row],
            )
        if INDEXED.intersection(names):
            self.words.replace(db, row, new)
        self._follow(db, row, old, new)
        return set(names)

    def _follow(self, db: Transaction, row: int, old: Memory, new: Memory) -> None:
        """Update the words of chunks that may be held back, and log the vectors of a memory that
        became live or ceased to be."""
        if old.holds_back != new.holds_back:
            document_rows.hold(db, self.words, row, new.holds_back)
        if (old.state in LIVE) != (new.state in LIVE):
            self.vectors.log(db, self._chunks_of(db, row))

    def note(
        self,
        db: Transaction,
        at: datetime,
        memory: Memory,
        action: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        reason: str | None = None,
        batch: str | None = None,
        reverts: Sequence[int] = (),
    ) -> None:
        """Append one history line."""
        self.note_all(db, at, [Line(memory.id, action, before, after, reason, reverts)], batch)

    def note_all(
        self,
        db: Transaction,
        at: datetime,
        noted: Sequence[Line],
        batch: str | None = None,
    ) -> None:
        """Append history lines; all that one transaction appends belong to one write."""
        if self._write is None:
            self._write = next_write(db, self._kin)
        history_rows.append(db, at, self._kin, self._write, noted, batch)

    def delete(self, db: Transaction, id: str) -> int | None:
        """Delete a memory with its words, chunks, vectors and entities, but not its history.
        Returns its row number; None if it is not here."""
        row: int | None = db.value("SELECT rowid FROM memories WHERE id = ?", (id,))
        if row is not None:
            self.remove_chunks(db, row)
            db.run("DELETE FROM memory_entities WHERE memory = ?", (row,))
            self.words.remove(db, row)
            db.run("DELETE FROM memories WHERE rowid = ?", (row,))
        return row

    # reading

    def by_ids(self, ids: Collection[str]) -> list[tuple[int, Memory]]:
        """Return (row number, memory) of those ids that are here, in any state and in no particular
        order."""
        rows = self.database.rows(
            f"SELECT m.rowid, {COLUMNS} FROM memories m WHERE m.id IN LISTED(?)",
            (json.dumps(list(ids)),),
        )
        return [(first[0], memory) for first, memory in sound(rows, self.database.damage)]

    def history(self, id: str, limit: int, before: int | None = None) -> list[Event]:
        """Return the lines about one memory, newest first, at most `limit`."""
        return history_rows.about(self.database, id, limit, ALL if before is None else before)

    @property
    def revision(self) -> int:
        """Increases with every change that recall could notice."""
        return state_of(self.database).revision

    def outlook(self, now: datetime) -> tuple[int, bool]:
        """Return the revision, and whether a live memory has expired or ended by now."""
        state = state_of(self.database)
        return state.revision, state.first_end is not None and state.first_end <= time_text(now)

    def insert_rows(self, db: Transaction, memories: Sequence[Memory]) -> range:
        """Insert memories with their words, without chunks; returns their row numbers in order."""
        rows = db.numbers("memories", len(memories))
        values = zip(rows, memories, strict=True)
        db.run_each(INSERT, [(row, *row_of(memory)) for row, memory in values])
        self.words.put(db, rows, memories)
        return rows

    def insert_chunks(self, db: Transaction, memories: Sequence[tuple[int, str, Chunks]]) -> None:
        """Insert chunks, given as (row number, content, chunks) of each memory. The text of a chunk
        that is the whole content is not stored twice."""
        values = [
            (row, position, None if text == content else text, metadata)
            for row, content, chunks in memories
            for position, (text, metadata) in enumerate(_with_places(chunks))
        ]
        ids = db.numbers("chunks", len(values))
        db.run_each(
            "INSERT INTO chunks (id, memory, position, text, metadata) VALUES (?, ?, ?, ?, ?)",
            [(id, *value) for id, value in zip(ids, values, strict=True)],
        )
        self.vectors.queue(db, ids)
        for _, _, chunks in memories:
            ids, own = ids[len(chunks.texts) :], ids[: len(chunks.texts)]
            self.words.put_parts(db, zip(own, chunks.texts, chunks.places, strict=False))
            if chunks.vectors is not None and chunks.embedder is not None:
                self.vectors.put(db, chunks.embedder, own, chunks.vectors)

    def _chunks_of(self, db: Transaction, row: int) -> list[int]:
        return [id for (id,) in db.rows("SELECT id FROM chunks WHERE memory = ?", (row,))]

    def remove_chunks(self, db: Transaction, row: int) -> None:
        """Delete the chunks of a memory with their words and vectors."""
        chunks = self._chunks_of(db, row)
        self.vectors.remove(db, chunks)
        self.words.remove_parts(db, chunks)
        db.run("DELETE FROM chunks WHERE memory = ?", (row,))


def _with_places(chunks: Chunks) -> list[tuple[str, str | None]]:
    """Return (text, stored place) of each chunk; the place is None in memories that are no
    documents."""
    if not chunks.places:
        return [(text, None) for text in chunks.texts]
    places = map(document_rows.passage_text, chunks.places)
    return list(zip(chunks.texts, places, strict=True))


def _states_same(new: Memory, known: Memory) -> bool:
    """Do the same as MemoryFile.same for two memories with one content_hash that are not stored
    yet."""
    return (
        new.scope == known.scope
        and new.occurred_at == known.occurred_at
        and new.days_meant in (frozenset(), known.days_meant)
        and known.place in (None, new.place)
        and (new.expires_at, known.expires_at)
        in ((known.expires_at, known.expires_at), (new.expires_at, None))
        and (new.subject is None or new.subject.casefold() == (known.subject or "").casefold())
        and (new.speaker is None or new.speaker.casefold() == (known.speaker or "").casefold())
    )
