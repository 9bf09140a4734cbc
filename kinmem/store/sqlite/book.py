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

from kinmem.models import LIVE, Chunks, Draft, Event, Memory
from kinmem.store.sqlite import edges, entities, lines, parts, repetitions, summaries, vectors
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import IN_IDS, IS_LIVE
from kinmem.store.sqlite.lines import Line, record
from kinmem.store.sqlite.numbers import Numbers
from kinmem.store.sqlite.repetitions import Turn
from kinmem.store.sqlite.rows import (
    COLUMNS,
    INSERT,
    column,
    memory_of,
    row_of,
    time_text,
)
from kinmem.store.sqlite.vectors import ChunkVectors
from kinmem.store.sqlite.words import CJK, indexed
from kinmem.text import content_words, sentences, words

ERASED = "[erased]"
SAYS_IT = 0.6
"""Share of an erased memory's content words from which a sentence of a summary goes with it."""
FEWEST_WORDS = 3
"""Of a statement that is looked for in all that was said; characters in scripts without blanks."""
IN_TURNS = "(session, turn) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:turns))"
RAISE = "UPDATE revision SET number = number + 1"
INDEXED = frozenset(
    {"content", "subject", "source_context", "speaker", "occurred_at", "title", "description"}
)


class Book:
    """One database file, whoever's it is."""

    def __init__(self, path: Path, numbers: Numbers) -> None:
        """`numbers`: those of the writes of whoever opens it."""
        self.database = Database(path)
        self.vectors = ChunkVectors(self.database)
        self._numbers = numbers
        self.write: int | None = None
        """Number of the transaction that goes on; None: not needed yet."""

    # writing

    @contextmanager
    def changing(self) -> Iterator[apsw.Connection]:
        """A transaction after which the revision has gone up, if it changed anything.

        The Kin's own file is locked before any other (numbers.py).
        """
        with self._numbers.taking(self.database), self.database.writing() as db:
            self.write = None
            before = db.total_changes()
            yield db
            if db.in_transaction and db.total_changes() != before:
                db.execute(RAISE)

    def commit(self, db: apsw.Connection) -> None:
        """Make durable what a block of `changing` has done so far; it must do no more."""
        db.execute(RAISE)
        db.execute("COMMIT")

    def add(
        self,
        db: apsw.Connection,
        drafts: Sequence[Draft],
        at: datetime,
        *,
        batch: str | None = None,
    ) -> list[str]:
        """Store what no live memory of its Kin here states yet; the ids under which the drafts
        stand."""
        known = self._known_hashes(db, drafts)
        fresh: dict[str, list[Draft]] = {}
        ids = []
        for draft in drafts:
            memory = draft.memory
            alike = fresh.setdefault(memory.content_hash, [])
            id = self.same(db, memory, memory.kin) if memory.content_hash in known else None
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
        rows = self._insert_rows(db, [draft.memory for draft in drafts])
        self._insert_chunks(
            db, [(row, d.memory.content, d.chunks) for row, d in zip(rows, drafts, strict=True)]
        )
        for row, draft in zip(rows, drafts, strict=True):
            if draft.knowledge is not None:
                entities.put(db, row, draft.knowledge, at)
        made = (draft.memory for draft in drafts)
        self.note_all(db, at, [Line(one.id, "created", {}, record(one)) for one in made], batch)

    def _known_hashes(self, db: apsw.Connection, drafts: Sequence[Draft]) -> set[str]:
        rows: Any = db.execute(
            "SELECT content_hash FROM memories"
            " WHERE content_hash IN (SELECT value FROM json_each(?))",
            (json.dumps([draft.memory.content_hash for draft in drafts]),),
        )
        return {hash for (hash,) in rows}

    def same_all(self, drafts: Sequence[Draft], kin: str) -> list[str | None]:
        """For each draft the id of a live memory of this Kin here that states the same."""
        with self.database.reading() as db:
            known = self._known_hashes(db, drafts)
            return [
                self.same(db, draft.memory, kin) if draft.memory.content_hash in known else None
                for draft in drafts
            ]

    def same(self, db: apsw.Connection, memory: Memory, kin: str) -> str | None:
        """The id of a live memory of this Kin here that says so; see Store.same_statements."""
        return db.execute(  # type: ignore[no-any-return]
            f"""
            SELECT m.id FROM memories m
            WHERE m.content_hash = :hash AND +m.kin = :kin AND {IS_LIVE}
                AND (m.expires_at IS NULL OR (m.expires_at > :now AND m.expires_at >= :expires_at))
                AND m.occurred_at IS :occurred_at
                AND (:subject IS NULL OR m.subject = :subject COLLATE ANYCASE)
                AND (:speaker IS NULL OR m.speaker = :speaker COLLATE ANYCASE)
                AND (m.place IS NULL OR m.place = :place)
            ORDER BY m.rowid LIMIT 1
            """,
            {
                "hash": memory.content_hash,
                "kin": kin,
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
        said = parts.text_of(db, row) if chunks is not None and old.is_document else ""
        names = [*changes, "version"]
        db.execute(
            f"UPDATE memories SET {', '.join(f'{name} = ?' for name in names)} WHERE rowid = ?",
            [*(column(name, getattr(new, name)) for name in names), row],
        )
        if INDEXED & changes.keys():
            db.execute("DELETE FROM words WHERE rowid = ?", (row,))
            self._insert_words(db, [row], [new])
        if chunks is not None:
            self._remove_chunks(db, row)
            self._insert_chunks(db, [(row, new.content, chunks)])
            db.execute("UPDATE chunks SET layer = ? WHERE memory = ?", (new.tier, row))
            if old.is_document:
                says = parts.joined(zip(chunks.places, chunks.texts, strict=False)) or new.content
                parts.keep_text(db, old, said, new, says)
        else:
            if old.holds_back != new.holds_back:
                parts.hold(db, row, new.holds_back)
            if (old.state in LIVE) != (new.state in LIVE):
                vectors.log(db, self._chunks_of(db, row))
        if old.superseded_by and old.superseded_by != new.superseded_by:
            edges.disinherit(db, new.id, old.superseded_by)
        if new.superseded_by and old.superseded_by != new.superseded_by:
            edges.inherit(db, new.id, new.superseded_by)
        return new

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
        if self.write is None:
            self.write = self._numbers.next()
        lines.append(db, at, self._numbers.kin, self.write, noted, batch)

    def delete(self, db: apsw.Connection, id: str) -> int | None:
        """Remove row, words, chunks, vectors and entities, not the history; its number if any."""
        row: int | None = db.execute("SELECT rowid FROM memories WHERE id = ?", (id,)).get
        if row is not None:
            self._remove_chunks(db, row)
            db.execute("DELETE FROM memory_entities WHERE memory = ?", (row,))
            db.execute("DELETE FROM words WHERE rowid = ?", (row,))
            db.execute("DELETE FROM memories WHERE rowid = ?", (row,))
        return row

    def scrub(self, db: apsw.Connection, memory: Memory, repeating: Collection[Turn]) -> None:
        """Blank what the history and other tables still say about an erased memory.

        The turns it was learned from, that are known to be `repeating` it, or that state the same
        are blanked as a whole; summaries lose what repeats it, and what was learned beside it the
        context that does.
        """
        id = memory.id
        turns = json.dumps([*_turns_of(memory), *repeating])
        self._scrub_contexts(db, memory, turns)
        _scrub_turns(db, memory, turns)
        repetitions.forget(db, id)
        db.execute(
            "UPDATE history SET before = NULL, after = NULL, reason = NULL WHERE memory_id = ?",
            (id,),
        )
        edges.forget(db, id)
        db.execute("DELETE FROM conflicts WHERE newer = :id OR older = :id", {"id": id})
        db.execute("DELETE FROM tier_changes WHERE memory_id = :id", {"id": id})
        db.execute("DELETE FROM lineage WHERE child = :id", {"id": id})
        db.execute(
            "DELETE FROM refusals WHERE EXISTS"
            " (SELECT 1 FROM json_each(refusals.ids) WHERE value = :id)",
            {"id": id},
        )
        db.execute(  # what a session was shown of it
            "UPDATE shown SET text = NULL, memories = json_remove(memories, :path)"
            " WHERE EXISTS (SELECT 1 FROM json_each(shown.memories) WHERE key = :id)",
            {"id": id, "path": f'$."{id}"'},
        )
        db.execute("DELETE FROM moves WHERE memory = :id", {"id": id})
        db.execute("DELETE FROM old_texts WHERE memory_id = :id", {"id": id})

    def _scrub_contexts(self, db: apsw.Connection, memory: Memory, turns: str) -> None:
        """What memories of the same turns quote of it, with the words and history of that."""
        beside: Any = db.execute(
            f"""
            SELECT m.rowid, {COLUMNS} FROM memories m
            WHERE m.kin = :kin AND m.id != :id AND m.rowid IN (
                SELECT memory FROM memory_turns WHERE {IN_TURNS}
            )
            """,
            {"kin": memory.kin, "id": memory.id, "turns": turns},
        ).fetchall()
        wanted = set(content_words(memory.content))
        for row, *columns in beside:
            other = memory_of(columns)
            ids = {"id": other.id, "row": row}
            if _quotes(other.source_context, wanted):
                db.execute("UPDATE memories SET source_context = NULL WHERE rowid = :row", ids)
                db.execute("DELETE FROM words WHERE rowid = :row", ids)
                self._insert_words(db, [row], [replace(other, source_context=None)])
            for name in ("before", "after"):
                told: Any = db.execute(
                    f"SELECT seq, {name} ->> '$.source_context' FROM history"
                    f" WHERE memory_id = :id AND {name} ->> '$.source_context' IS NOT NULL",
                    ids,
                ).fetchall()
                db.executemany(
                    f"UPDATE history SET {name} = json_replace({name}, '$.source_context', NULL)"
                    " WHERE seq = ?",
                    [(seq,) for seq, context in told if _quotes(context, wanted)],
                )

    def copy_in(
        self,
        db: apsw.Connection,
        memory: Memory,
        source: "Book",
        from_db: apsw.Connection,
        row: int,
    ) -> None:
        """Take over a memory from another file under the same id, with all that belongs to it."""
        self.delete(db, memory.id)  # left by a move that was cut short
        new_row = self._insert_rows(db, [memory])[0]
        entities.copy(from_db, row, db, new_row)
        rows: list[Any] = from_db.execute(
            "SELECT position, layer, text, metadata, id FROM chunks WHERE memory = ?"
            " ORDER BY position",
            (row,),
        ).fetchall()
        for position, layer, text, metadata, old_chunk in rows:
            chunk: Any = db.execute(
                "INSERT INTO chunks (memory, position, layer, text, metadata)"
                " VALUES (?, ?, ?, ?, ?) RETURNING id",
                (new_row, position, layer, text, metadata),
            ).get
            if metadata is not None:
                said = memory.content if text is None else text
                place = parts.passage_of(metadata, memory.holds_back)
                parts.insert_words(db, [(chunk, said, place)])
            self.vectors.queue(db, [chunk])
            self.vectors.take_over(db, chunk, source.vectors, from_db, old_chunk)
        summaries.copy(from_db, row, db, new_row)

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
        return lines.events(self.database, which, {"id": id, "limit": limit})

    @property
    def revision(self) -> int:
        """Goes up with every change."""
        return int(self.database.rows("SELECT number FROM revision")[0][0])

    def outlook(self, now: datetime) -> tuple[int, bool]:
        """The revision, and whether a memory that was not put away has expired or ended."""
        revision, expired = self.database.rows(
            f"""
            SELECT number, EXISTS (
                SELECT 1 FROM memories m WHERE m.expires_at <= :now AND {IS_LIVE}
            ) OR EXISTS (
                SELECT 1 FROM memories m WHERE m.valid_to <= :now AND {IS_LIVE}
            ) FROM revision
            """,
            {"now": time_text(now)},
        )[0]
        return revision, bool(expired)

    def close(self) -> None:
        """Let go of the file."""
        self.vectors.close()
        self.database.close()

    def _insert_rows(self, db: apsw.Connection, memories: Sequence[Memory]) -> range:
        """The numbers of the new rows, in order."""
        first = _next(db, "memories")
        rows = range(first, first + len(memories))
        values = zip(rows, memories, strict=True)
        db.executemany(INSERT, [(row, *row_of(memory)) for row, memory in values])
        self._insert_words(db, rows, memories)
        return rows

    def _insert_words(
        self, db: apsw.Connection, rows: Sequence[int], memories: Sequence[Memory]
    ) -> None:
        values = zip(rows, memories, strict=True)
        db.executemany(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, ?)",
            [(row, *indexed(memory)) for row, memory in values],
        )

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
            parts.insert_words(db, zip(own, chunks.texts, chunks.places, strict=False))
            if chunks.vectors is not None and chunks.embedder is not None:
                self.vectors.put(db, chunks.embedder, own, chunks.vectors)

    def _chunks_of(self, db: apsw.Connection, row: int) -> list[int]:
        return [id for (id,) in db.execute("SELECT id FROM chunks WHERE memory = ?", (row,))]

    def _remove_chunks(self, db: apsw.Connection, row: int) -> None:
        chunks = self._chunks_of(db, row)
        self.vectors.remove(db, chunks)
        parts.remove_words(db, chunks)
        db.execute("DELETE FROM chunks WHERE memory = ?", (row,))


def _with_places(chunks: Chunks) -> list[tuple[str, str | None]]:
    """Each text with what is stored of where it stands."""
    if not chunks.places:
        return [(text, None) for text in chunks.texts]
    places = map(parts.passage_text, chunks.places)
    return list(zip(chunks.texts, places, strict=True))


def restates(text: str, statement: str) -> bool:
    """Whether a text says a statement word for word; one of few words is in too many texts."""
    wanted = words(statement)
    said = " ".join(words(text))
    if CJK.search(statement):
        return len("".join(wanted)) >= FEWEST_WORDS and " ".join(wanted) in said
    return len(wanted) >= FEWEST_WORDS and f" {' '.join(wanted)} " in f" {said} "


def _turns_of(memory: Memory) -> list[Turn]:
    """Where it was learned."""
    return [(memory.session, turn) for turn in memory.turns] if memory.session else []


def _scrub_turns(db: apsw.Connection, memory: Memory, turns: str) -> None:
    """What was said in these turns, or says the same, and what summaries repeat of it."""
    said: Any = db.execute(
        f"SELECT id, session FROM turns WHERE {IN_TURNS}", {"turns": turns}
    ).fetchall()
    said += _restating(db, memory)
    db.execute(
        f"UPDATE turns SET text = :gone, spill = NULL WHERE id {IN_IDS}",
        {"gone": ERASED, "ids": json.dumps([id for id, _ in said])},
    )
    sessions = {session for _, session in said} | {session for session, _ in json.loads(turns)}
    summaries: Any = db.execute(
        "SELECT id, summary FROM snapshots WHERE session IN (SELECT value FROM json_each(?))",
        (json.dumps(list(sessions)),),
    ).fetchall()
    wanted = set(content_words(memory.content))
    for id, summary in summaries:
        parts = [_without(wanted, part) for part in sentences(summary)]
        if ERASED + "\n" in parts:
            db.execute("UPDATE snapshots SET summary = ? WHERE id = ?", ("".join(parts), id))


def _restating(db: apsw.Connection, memory: Memory) -> list[tuple[int, str]]:
    """(number, session) of turns that say it elsewhere, learned from it or not; none where a live
    memory says it still, nor what was said anew after it was forgotten and is to be learned."""
    live = f"SELECT 1 FROM memories m WHERE m.content_hash = ? AND m.kin = ? AND {IS_LIVE}"
    if db.execute(live, (memory.content_hash, memory.kin)).get:
        return []
    written = memory.content.lower()  # a sharp s is two letters in `words`
    plain = [word for word in words(memory.content) if word.isascii() and word in written]
    rows = db.execute(
        "SELECT id, session, text FROM turns WHERE instr(lower(text), :word)"
        " AND (:deleted IS NULL OR learned_at IS NOT NULL OR said_at <= :deleted)",
        {
            "word": max(plain, key=len, default=""),
            "deleted": column("deleted_at", memory.deleted_at),
        },
    )
    return [(id, session) for id, session, text in rows if restates(text, memory.content)]


def _without(wanted: set[str], part: str) -> str:
    """A sentence of a summary, unless it says most of what was erased."""
    told = len(wanted.intersection(content_words(part)))
    return ERASED + "\n" if told >= SAYS_IT * len(wanted) else part


def _quotes(context: str | None, wanted: set[str]) -> bool:
    """Whether most of a context was erased, or it says most of that; it may be cut short."""
    for part in (context or "").split(" | "):
        told = set(content_words(part))
        least = SAYS_IT * min(len(told), len(wanted))
        if told and wanted and len(told & wanted) >= least:
            return True
    return False


def _next(db: apsw.Connection, table: str) -> int:
    """The number after the greatest that the table ever held; nobody else writes now."""
    greatest: Any = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
    return int(greatest or 0) + 1


def _states_same(new: Memory, known: Memory) -> bool:
    """As Book.same, for memories of one content_hash that are not stored yet."""
    return (
        new.occurred_at == known.occurred_at
        and known.place in (None, new.place)
        and (new.expires_at, known.expires_at)
        in ((known.expires_at, known.expires_at), (new.expires_at, None))
        and (new.subject is None or new.subject.casefold() == (known.subject or "").casefold())
        and (new.speaker is None or new.speaker.casefold() == (known.speaker or "").casefold())
    )
