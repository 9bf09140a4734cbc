"""Finds where a file repeats a memory or mentions a name, and removes it there.

Functions with `db` run inside the caller's transaction.
"""

import json
from collections.abc import Collection
from dataclasses import replace

from kinmem.language import sentences
from kinmem.models import Memory
from kinmem.store.history import KEYED_NAME, erased_call, repeated_call
from kinmem.store.sql import link_rows
from kinmem.store.sql.database import Database, Transaction, Words
from kinmem.store.sql.memory_rows import CJK, COLUMNS, IN_NUMBERS, IS_LIVE, as_text, column, sound
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
