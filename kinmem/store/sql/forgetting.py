"""What one Kin's memory holds of a memory that is erased, or of a name, as far as it is found alike
on every engine; and how it is taken out.

Functions with `db` run inside the caller's transaction.
"""

import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from kinmem.errors import MemoryNotFound
from kinmem.language import sentences
from kinmem.models import Memory
from kinmem.store.history import (
    KEYED_NAME,
    REFUSALS,
    Mention,
    Traces,
    erased_call,
    repeated_call,
)
from kinmem.store.sql import link_rows
from kinmem.store.sql.database import Database, Transaction, Words
from kinmem.store.sql.document_rows import SqlDocuments, delta
from kinmem.store.sql.memory_rows import (
    CJK,
    COLUMNS,
    FIELDS,
    IN_NUMBERS,
    IS_LIVE,
    as_text,
    column,
    sound,
)
from kinmem.store.sql.sharing import KinFiles
from kinmem.text import content_terms, words

ERASED = "[erased]"
# Share of an erased memory's content words from which a sentence of a summary is erased with it.
SAYS_IT = 0.6
# Least words of a statement that is looked for in all that was said; characters in scripts without
# spaces.
FEWEST_WORDS = 3
# Characters of its longest word that the database looks for. LIKE refuses a pattern of over 50,000
# bytes, and what is found is read again.
LONGEST_LIKE = 100
IN_TURNS = "(session, turn) IN PAIRED(:turns)"
OF_MEMORIES = "SELECT DISTINCT session, turn FROM repetitions WHERE memory IN LISTED(?)"
# Session and turn.
Turn = tuple[str, str]


def turns_of(db: Transaction | Database, ids: Collection[str]) -> list[Turn]:
    """Return the turns that repeat any of these memories."""
    return db.rows(OF_MEMORIES, (json.dumps(list(ids)),))


def scrub(db: Transaction, index: Words, memory: Memory, repeating: Collection[Turn]) -> None:
    """Blank what its Kin's file still says about an erased memory.

    Blanked as a whole are the turns that it was learned from, the turns that are known to repeat it
    (`repeating`), and those that state the same. Summaries lose the sentences that repeat it, and
    memories of the same turns lose a source context that does.
    """
    id = memory.id
    turns = json.dumps([*_turns_of(memory), *repeating])
    _scrub_contexts(db, index, memory, turns)
    _scrub_turns(db, memory, turns)
    db.run("DELETE FROM repetitions WHERE memory = ?", (id,))
    db.run(
        "UPDATE history SET before = NULL, after = NULL, reason = NULL WHERE memory_id = ?",
        (id,),
    )
    _scrub_calls(db, id)
    link_rows.forget(db, id)
    db.run("DELETE FROM conflicts WHERE newer = :id OR older = :id", {"id": id})
    db.run("DELETE FROM tier_changes WHERE memory_id = :id", {"id": id})
    db.run("DELETE FROM lineage WHERE child = :id", {"id": id})
    db.run("DELETE FROM refusals WHERE :id IN LISTED(refusals.ids)", {"id": id})
    _scrub_shown(db, id)
    db.run("DELETE FROM others_uses WHERE memory = :id", {"id": id})
    db.run("DELETE FROM old_texts WHERE memory_id = :id", {"id": id})


def _scrub_calls(db: Transaction, id: str) -> None:
    """Take the hash of the text out of the names of the calls that have stored it, or have found it
    stored."""
    for (name,) in db.rows(CALLS, (id,)):
        if KEYED_NAME.fullmatch(name):
            bound = {"left": erased_call(name, id), "name": name}
            db.run("UPDATE history SET batch = :left WHERE batch = :name", bound)
    for (mark,) in db.rows(
        "SELECT name FROM marks WHERE name LIKE ?", (repeated_call("key-%", id),)
    ):
        left = erased_call(mark, id)
        db.run("DELETE FROM marks WHERE name = ?", (mark,))
        db.run("INSERT INTO marks (name, value) VALUES (?, 1) ON CONFLICT DO NOTHING", (left,))


CALLS = """
    SELECT DISTINCT h.batch FROM history h
    WHERE h.memory_id = ? AND h.batch LIKE 'key-%' AND (
        h.action = 'created' OR h.action = 'updated' AND NOT EXISTS (
            SELECT 1 FROM history o WHERE o.batch = h.batch AND o.action = 'created'
        )
    )
"""


def _scrub_shown(db: Transaction, id: str) -> None:
    """Blank what sessions were shown together with it."""
    shown = "SELECT id, memories FROM shown WHERE (PARSED(memories) ->> ?) IS NOT NULL"
    blocks = db.rows(shown, (id,))
    for block, stored in blocks:
        memories = json.loads(stored)
        del memories[id]
        db.run(
            "UPDATE shown SET text = NULL, memories = ? WHERE id = ?", (as_text(memories), block)
        )


def _scrub_contexts(db: Transaction, index: Words, memory: Memory, turns: str) -> None:
    """Blank what memories of the same turns quote of it, in their words and history as well."""
    beside = db.rows(
        f"""
        SELECT m.rowid, {COLUMNS} FROM memories m
        WHERE m.id != :id AND m.rowid IN (
            SELECT memory FROM memory_turns WHERE {IN_TURNS}
        )
        """,
        {"id": memory.id, "turns": turns},
    )
    wanted = content_terms(memory.content)
    for (row,), other in sound(beside, db.damage):
        ids = {"id": other.id, "row": row}
        if _quotes(other.source_context, wanted):
            db.run("UPDATE memories SET source_context = NULL WHERE rowid = :row", ids)
            index.replace(db, row, replace(other, source_context=None))
        for name in ("before", "after"):
            told = db.rows(
                f"SELECT seq, {name} FROM history"
                f" WHERE memory_id = :id AND (PARSED({name}) ->> 'source_context') IS NOT NULL",
                ids,
            )
            lines = [(seq, json.loads(fields)) for seq, fields in told]
            db.run_each(
                f"UPDATE history SET {name} = ? WHERE seq = ?",
                [
                    (as_text({**fields, "source_context": None}), seq)
                    for seq, fields in lines
                    if _quotes(fields["source_context"], wanted)
                ],
            )


def restates(text: str, statement: str) -> bool:
    """Return whether a text contains a statement word for word. A statement of few words never
    counts, since too many texts contain it."""
    wanted = words(statement)
    said = " ".join(words(text))
    if CJK.search(statement):
        return len("".join(wanted)) >= FEWEST_WORDS and " ".join(wanted) in said
    return len(wanted) >= FEWEST_WORDS and f" {' '.join(wanted)} " in f" {said} "


def _turns_of(memory: Memory) -> list[Turn]:
    """Return the turns that it was learned from."""
    return [(memory.session, turn) for turn in memory.turns] if memory.session else []


def _scrub_turns(db: Transaction, memory: Memory, turns: str) -> None:
    """Blank what was said in these turns or states the same, and what summaries repeat of it."""
    said = db.rows(f"SELECT id, session FROM turns WHERE {IN_TURNS}", {"turns": turns})
    said += _restating(db, memory)
    db.run(
        f"UPDATE turns SET text = :gone, spill = NULL WHERE id {IN_NUMBERS}",
        {"gone": ERASED, "ids": json.dumps([id for id, _ in said])},
    )
    sessions = {session for _, session in said} | {session for session, _ in json.loads(turns)}
    summaries = db.rows(
        "SELECT id, summary FROM snapshots WHERE session IN LISTED(?)",
        (json.dumps(list(sessions)),),
    )
    wanted = content_terms(memory.content)
    for id, summary in summaries:
        parts = [_without(wanted, part) for part in sentences(summary)]
        if ERASED + "\n" in parts:
            db.run("UPDATE snapshots SET summary = ? WHERE id = ?", ("".join(parts), id))


def _restating(db: Transaction, memory: Memory) -> list[tuple[int, str]]:
    """Return (number, session) of other turns that state it, whether it was learned from them or
    not; none if a live memory still states it. Left out is what was said again after it was
    forgotten and waits to be learned from."""
    live = f"SELECT 1 FROM memories m WHERE m.content_hash = ? AND {IS_LIVE}"
    if db.value(live, (memory.content_hash,)):
        return []
    written = memory.content.lower()  # `words` turns a sharp s into two letters
    plain = [word for word in words(memory.content) if word.isascii() and word in written]
    not_since = "AND (learned_at IS NOT NULL OR said_at <= :deleted)" if memory.deleted_at else ""
    rows = db.rows(
        "SELECT id, session, text FROM turns"
        f" WHERE lower(text) LIKE '%' || :word || '%' {not_since}",
        {
            "word": max(plain, key=len, default="")[:LONGEST_LIKE],
            "deleted": column("deleted_at", memory.deleted_at),
        },
    )
    return [(id, session) for id, session, text in rows if restates(text, memory.content)]


def _without(wanted: frozenset[str], part: str) -> str:
    """Return a sentence of a summary, unless it repeats most of what was erased."""
    told = len(wanted.intersection(content_terms(part)))
    return ERASED + "\n" if told >= SAYS_IT * len(wanted) else part


def _quotes(context: str | None, wanted: frozenset[str]) -> bool:
    """Return whether the context, which may be cut short, and the erased text share most of their
    words."""
    for part in (context or "").split(" | "):
        told = content_terms(part)
        least = SAYS_IT * min(len(told), len(wanted))
        if told and wanted and len(told & wanted) >= least:
            return True
    return False


class Version(NamedTuple):
    """What a document said before, as it can be told from old_texts."""

    memory: str
    version: str
    at: str
    text: str
    is_whole: bool
    """Else it can be told no more, and `text` is the words of it that are stored."""


class SqlForgetting:
    """See Forgetting. An engine says how it asks all texts of all tables for a name."""

    def __init__(
        self,
        files: KinFiles[Any],
        documents: SqlDocuments,
        erase: Callable[[Collection[str]], int],
    ) -> None:
        """`erase`: see Forgetting."""
        self._files = files
        self._own = files.own.database
        self._documents = documents
        self.erase = erase

    def traces(self, mention: Mention) -> Traces:
        memories = self._naming(self._own, mention)
        shared = self._naming(self._files.shared.database, mention)
        others = [copy.id for copy in shared if copy.kin != self._files.kin]
        visible = self._files.memories(others).keys()
        return Traces(
            memories,
            sorted(visible),
            self.counts(mention, memories),
            self._spills(mention, memories),
            self._kept(mention),
        )

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        raise NotImplementedError

    def _naming(self, database: Any, mention: Mention) -> list[Memory]:
        """Return the memories of a file that mention the name anywhere, the oldest first."""
        raise NotImplementedError

    def _spills(self, mention: Mention, memories: Sequence[Memory]) -> tuple[str, ...]:
        raise NotImplementedError

    def _kept(self, mention: Mention) -> tuple[str, ...]:
        """Return table.column of those columns in kinmem's own words in which the name occurs,
        sorted."""
        raise NotImplementedError

    def _turns_of(self, memories: Sequence[Memory]) -> str:
        """Return the turns that are blanked with these memories, as the binding of IN_TURNS."""
        learned = [(m.session, turn) for m in memories if m.session for turn in m.turns]
        repeating = turns_of(self._own, [m.id for m in memories])
        return json.dumps([*learned, *repeating])

    def _versions(self) -> Iterator[Version]:
        own: Database = self._own
        rows = own.rows("SELECT memory_id, content_hash, at, delta FROM old_texts")
        for id, version, at, change in rows:
            try:
                text, is_whole = self._documents.text(id, version), True
            except MemoryNotFound:  # the version that it is told by is gone
                text, is_whole = "\n".join(_words_of(change)), False
            yield Version(id, version, at, text, is_whole)

    def _versions_naming(self, mention: Mention) -> int:
        return sum(mention.is_in(version.text) for version in self._versions())

    def _drop_versions(self, mention: Mention) -> None:
        """Drop earlier versions of own documents that name it."""
        naming = {(one.memory, one.version) for one in self._versions() if mention.is_in(one.text)}
        for id in {id for id, _ in naming}:
            self._tell_anew(id, {version for memory, version in naming if memory == id})

    def _tell_anew(self, id: str, dropped: Collection[str]) -> None:
        """Drop these versions of a document. Others that were stored as a difference from them
        become differences from the present text."""
        versions = [one for one in self._versions() if one.memory == id]
        try:
            base = self._files.get(id).content_hash
            text = self._documents.text(id, base)
            kept = [
                (one, delta(text, one.text))
                for one in versions
                if one.is_whole and one.version not in dropped
            ]
        except MemoryNotFound:
            kept = []
        with self._files.own.changing() as db:
            db.run_each(
                "DELETE FROM old_texts WHERE memory_id = ? AND content_hash = ?",
                [(id, one.version) for one in versions],
            )
            db.run_each(
                "INSERT INTO old_texts (memory_id, content_hash, base, delta, at)"
                " VALUES (?, ?, ?, ?, ?)",
                [(id, one.version, base, how, one.at) for one, how in kept],
            )


def _words_of(change: bytes) -> list[str]:
    """Return the texts that a stored difference contains."""
    return [step for step in json.loads(zlib.decompress(change)) if isinstance(step, str)]


# Columns of a memory that hold what somebody wrote, unchanged.
SAID = (
    *("content", "subject", "source_context", "title", "description"),
    *("manual_tags", "metadata", "source_ref"),
)
# Speakers that are not names.
ROLES = frozenset({"user", "assistant", "tool"})
# Fields of a memory that are blanked only in part: see `changes`.
CHANGES = {
    "session": "removed",
    "turn_id": "removed",
    "place": "removed",
    "speaker": "speaker",
    "metadata": "metadata",
    "ingest_metadata": "told",
}
OTHERS_WORDS = {*SAID, *CHANGES, "auto_tags"}
# Fields of history lines that are in kinmem's own words.
OWN_FIELDS = {*FIELDS, "links", REFUSALS} - OTHERS_WORDS


class Written(NamedTuple):
    """A column that may mention somebody."""

    table: str
    column: str
    change: str
    """The SQL function that returns the text without the name; with DROPPED the row is deleted."""

    @property
    def names_it(self) -> str:
        return f"{self.column} IS NOT {self.change}({self.column})"


# Every column that may, except those that are deleted with their memory. kinmem's own words, such
# as a state, an action, or the name of the Kin or an embedder, are never changed: nothing would
# work without them.
WRITTEN = (
    *(
        Written("memories", name, CHANGES[name])
        for name in ("session", "turn_id", "place", "ingest_metadata")
    ),
    *(Written("turns", column, "removed") for column in ("session", "turn", "part", "place")),
    Written("turns", "speaker", "speaker"),
    Written("turns", "text", "blanked"),
    Written("turns", "problem", "blanked"),
    Written("snapshots", "session", "removed"),
    Written("snapshots", "summary", "blanked"),
    Written("shown", "session", "removed"),
    Written("shown", "turn", "removed"),
    Written("shown", "text", "blanked"),
    Written("history", "before", "line"),
    Written("history", "after", "line"),
    Written("history", "reason", "blanked"),
    Written("history", "batch", "batch"),
    Written("entities", "name", "removed"),
    Written("entities", "folded", "removed"),
    Written("entities", "metadata", "blanked"),
    Written("links", "evidence", "blanked"),
    Written("conflicts", "reason", "blanked"),
    Written("runs", "problems", "blanked"),
)
DROPPED = frozenset({"entities"})
# What is erased together with its memory, or with what was said.
WITH_MEMORIES = frozenset(
    {
        *(("memories", column) for column in (*SAID, "speaker", "auto_tags")),
        *(("chunks", column) for column in ("text", "summary", "metadata")),
        *(("memory_entities", column) for column in ("alias", "folded")),
        ("summaries", "text"),
        ("tags", "tag"),
        *(("memory_turns", column) for column in ("session", "turn")),
        *(("repetitions", column) for column in ("session", "turn")),
        ("turn_chunks", "text"),
    }
)


def changes(mention: Mention) -> dict[str, Callable[[str], str]]:
    """Return the functions that remove the name from a text, by their names in SQL."""
    return {
        "removed": mention.removed,
        "blanked": mention.blanked,
        "speaker": lambda name: name if name in ROLES else mention.removed(name),
        "batch": partial(_batch, mention),
        "line": partial(_line, mention),
        "metadata": partial(_metadata, mention),
        "told": partial(_told, mention),
    }


def _batch(mention: Mention, name: str) -> str:
    """Keep the first word of a batch's name, which says what kind of batch it was."""
    kind, blank, rest = name.partition(" ")
    return kind + blank + mention.removed(rest)


def _line(mention: Mention, stored: str) -> str:
    """Remove the name from a memory's fields in a history line."""
    known = changes(mention)
    fields: dict[str, Any] = json.loads(stored)
    left = {
        name: value
        if value is None or name in OWN_FIELDS
        else _changed(known[CHANGES.get(name, "blanked")], value)
        for name, value in fields.items()
    }
    return stored if left == fields else as_text(left)


def _metadata(mention: Mention, stored: str) -> str:
    """Remove the name from metadata. A document's metadata is in kinmem's own words, see
    documents.pipeline."""
    is_document = {"type", "characters", "parts"} <= json.loads(stored).keys()
    return stored if is_document else mention.blanked(stored)


def _told(mention: Mention, stored: str) -> str:
    """Remove the name from the values of a JSON object whose keys are kinmem's own words."""
    told: dict[str, Any] = json.loads(stored)
    left = {name: _changed(mention.blanked, value) for name, value in told.items()}
    return stored if left == told else as_text(left)


def _changed(change: Callable[[str], str], value: Any) -> Any:
    return change(value) if isinstance(value, str) else json.loads(change(as_text(value)))
