"""What a Kin shares is published as copies in shared.db, which follow their originals.

Whatever changes the original of a shared memory puts it into the outbox, in the same transaction
(migration 7). The copies are brought up to date after that, in a transaction of their own; what is
in the outbox after a crash, or while shared.db cannot be written to, is published by the next write
or opening. Until then others see the copy as it was, never half of a change. Only what differs is
written, so that bringing a memory again changes nothing.
"""

import logging
from dataclasses import replace
from typing import Any, NamedTuple

from kinmem.clock import Clock
from kinmem.errors import StoreError
from kinmem.models import Memory
from kinmem.store.history import COMPUTED
from kinmem.store.sql import document_rows, entity_rows, link_rows
from kinmem.store.sql.database import Transaction
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import RAISE, moment, time_text

# Fields of use and upkeep whose changes do not affect which memories recall finds.
UNNOTICED = COMPUTED - {"auto_tags"} | {"scored_at"}
CHUNKS = "SELECT position, text, metadata FROM chunks WHERE memory = ? ORDER BY position"


class Brought(NamedTuple):
    """What has come of bringing a memory into a file."""

    is_noticed: bool
    """Whether recall could notice a difference."""
    is_told: bool
    """Whether a reader would: the memory is new, or says or is something else."""


def bring(
    source: Transaction, row: int, memory: Memory, file: MemoryFile, db: Transaction
) -> Brought:
    """Let `file` hold a memory as another one does, where its number is `row`."""
    try:
        known = file.find(db, memory.id)
    except StoreError:  # what is here is damaged
        file.delete(db, memory.id)
        known = None
    if known is None:
        here, anew, changed = file.insert_rows(db, [memory])[0], True, {"id"}
    else:
        here, old = known
        anew = old.content != memory.content or _chunks(db, here) != _chunks(source, row)
        if anew:
            file.remove_chunks(db, here)
        changed = file.become(db, here, old, memory)
    if anew:
        _insert_chunks(source, row, memory, file, db, here)
    layer = {"tier": memory.tier, "row": here}
    db.run("UPDATE chunks SET layer = :tier WHERE memory = :row AND layer <> :tier", layer)
    has_vectors = file.vectors.copy(source, row, db, here)
    has_entities = entity_rows.copy(source, row, db, here)
    _copy_summaries(source, row, db, here)
    is_told = bool(changed - UNNOTICED) or anew
    return Brought(is_told or has_vectors or has_entities, is_told)


def _chunks(db: Transaction, row: int) -> list[Any]:
    return db.rows(CHUNKS, (row,))


def _insert_chunks(
    source: Transaction,
    row: int,
    memory: Memory,
    file: MemoryFile,
    db: Transaction,
    here: int,
) -> None:
    """Insert the chunks and their words; their vectors become pending."""
    parts = _chunks(source, row)
    numbers = db.numbers("chunks", len(parts))
    db.run_each(
        "INSERT INTO chunks (id, memory, position, layer, text, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (chunk, here, position, memory.tier, text, metadata)
            for chunk, (position, text, metadata) in zip(numbers, parts, strict=True)
        ],
    )
    file.words.put_parts(
        db,
        [
            (
                chunk,
                memory.content if text is None else text,
                document_rows.passage_of(metadata, memory.holds_back),
            )
            for chunk, (_, text, metadata) in zip(numbers, parts, strict=True)
            if metadata is not None
        ],
    )
    file.vectors.queue(db, numbers)


def _copy_summaries(from_db: Transaction, from_row: int, db: Transaction, row: int) -> None:
    """Copy a memory's summaries from another file, where it has another number."""
    there = _summaries(from_db, from_row)
    if there == _summaries(db, row):
        return
    db.run("DELETE FROM summaries WHERE memory = ?", (row,))
    db.run_each(
        "INSERT INTO summaries (memory, chunk, scope, text, model, tokens, created_at, tier)"
        " SELECT ?, (SELECT id FROM chunks WHERE memory = ? AND position = ?), ?, ?, ?, ?, ?, ?",
        [(row, row, *one) for one in there],
    )


def _summaries(db: Transaction, row: int) -> list[Any]:
    return db.rows(
        """
        SELECT c.position, s.scope, s.text, s.model, s.tokens, s.created_at, s.tier
        FROM summaries s LEFT JOIN chunks c ON c.id = s.chunk WHERE s.memory = ? ORDER BY s.id
        """,
        (row,),
    )


logger = logging.getLogger(__name__)

WAITS = "SELECT 1 FROM outbox LIMIT 1"
# Copies in one transaction; other Kins' writes wait for it.
AT_ONCE = 200


class Publisher:
    """Keeps the copies of one Kin's shared memories equal to their originals."""

    def __init__(self, own: MemoryFile, shared: MemoryFile, kin: str, clock: Clock) -> None:
        self._own = own
        self._shared = shared
        self._kin = kin
        self._clock = clock

    def catch_up(self) -> None:
        """Count what other Kins have recalled, and publish the outbox, as far as possible now."""
        try:
            self.collect_uses()
            self.publish()
        except StoreError as error:
            logger.warning("what was shared is published later: %s", error)

    def try_to_publish(self) -> None:
        """Do the same as publish; what cannot be published now stays in the outbox."""
        try:
            self.publish()
        except StoreError as error:
            logger.warning("what was shared is published later: %s", error)

    def publish(self) -> None:
        """Update the copies of everything in the outbox. Raises StoreError."""
        while self._own.database.rows(WAITS):
            last, withdrawn = self._publish_some()
            with self._own.database.writing() as db:
                db.run("DELETE FROM outbox WHERE seq <= ?", (last,))
                db.run_each("DELETE FROM others_uses WHERE memory = ?", withdrawn)

    def _publish_some(self) -> tuple[int, list[tuple[str]]]:
        """Publish up to AT_ONCE entries of the outbox; returns the number of the last one, and the
        ids whose copies were withdrawn.

        shared.db is locked before the originals are read: of two processes that publish the same
        memory, the later one has read the later version.
        """
        withdrawn: list[tuple[str]] = []
        changed, last = False, 0
        with self._shared.database.writing() as db, self._own.database.snapshot() as source:
            waiting = source.rows("SELECT seq, memory FROM outbox ORDER BY seq LIMIT ?", (AT_ONCE,))
            for seq, id in waiting:
                last = seq
                try:
                    found = self._own.find(source, id)
                except StoreError as error:  # damaged: the copy is the better one
                    logger.warning("%s is not published: %s", id, error)
                    continue
                if found is not None and found[1].scope == "shared":
                    changed |= self._refresh(source, *found, db)
                elif self._withdraw(db, id):
                    withdrawn.append((id,))
                    changed = True
            if changed:
                db.run(RAISE)
        return last, withdrawn

    def _refresh(self, source: Transaction, row: int, original: Memory, db: Transaction) -> bool:
        """Make the copy equal to the original; returns whether recall could notice."""
        if self._author(db, original.id) not in (None, self._kin):
            logger.warning("%s is not shared: another Kin shares a memory of this id", original.id)
            return False
        copy = _with_uses(original, _counted(db, original.id), _counted(source, original.id))
        brought = bring(source, row, copy, self._shared, db)
        if brought.is_told:
            self._tell(db, original.id)
        _publish_parents(source, db, original.id)
        return link_rows.publish(original.id, self._kin, source, db) or brought.is_noticed

    def _withdraw(self, db: Transaction, id: str) -> bool:
        """Delete the copy and everything about it; returns whether there was one."""
        if self._author(db, id) != self._kin:
            return False
        self._shared.delete(db, id)
        link_rows.forget(db, id)
        db.run("DELETE FROM lineage WHERE child = ?", (id,))
        db.run("DELETE FROM others_uses WHERE memory = ?", (id,))
        self._tell(db, id)
        return True

    def _tell(self, db: Transaction, id: str) -> None:
        """Give a memory a new number, by which readers notice what has become of it."""
        db.run("DELETE FROM published WHERE memory = ?", (id,))
        told = (id, self._kin, time_text(self._clock()))
        db.run("INSERT INTO published (memory, kin, at) VALUES (?, ?, ?)", told)

    def _author(self, db: Transaction, id: str) -> str | None:
        """Return the Kin that has published the copy with this id."""
        author = db.value("SELECT kin FROM memories WHERE id = ?", (id,))
        return None if author is None else str(author)

    def collect_uses(self) -> None:
        """Add to the originals how often other Kins have recalled the copies."""
        told = self._shared.database.rows(
            "SELECT u.memory, u.count, u.at FROM others_uses u JOIN memories m ON m.id = u.memory"
            " WHERE m.kin = ?",
            (self._kin,),
        )
        if not told:
            return
        known: dict[str, int] = dict(
            self._own.database.rows("SELECT memory, count FROM others_uses")
        )
        if all(count <= known.get(id, 0) for id, count, _ in told):
            return
        with self._own.database.writing() as db:
            for id, count, at in told:
                more = count - _counted(db, id).times
                if more > 0:
                    db.run(COLLECT, {"more": more, "at": at, "id": id})
                    db.run(
                        "INSERT INTO others_uses (memory, count, at) VALUES (?, ?, ?) ON CONFLICT"
                        " (memory) DO UPDATE SET count = excluded.count, at = excluded.at",
                        (id, count, at),
                    )


COLLECT = """
    UPDATE memories SET recalled_count = recalled_count + :more,
        recalled_at = CASE WHEN recalled_at > :at THEN recalled_at ELSE :at END
    WHERE id = :id
"""
USE = """
    INSERT INTO others_uses (memory, count, at) VALUES (:id, :count, :at)
    ON CONFLICT (memory) DO UPDATE SET count = others_uses.count + excluded.count,
        at = CASE WHEN others_uses.at > excluded.at THEN others_uses.at ELSE excluded.at END
"""
"""Somebody else than the author has recalled a copy."""


class Uses(NamedTuple):
    """Uses by Kins other than the author."""

    times: int = 0
    latest: str = ""


def _counted(db: Transaction, id: str) -> Uses:
    found: Any = db.row("SELECT count, at FROM others_uses WHERE memory = ?", (id,))
    return Uses(*found) if found else Uses()


def _with_uses(original: Memory, by_others: Uses, collected: Uses) -> Memory:
    """Add to a copy's count the uses that its original has not collected yet."""
    more = by_others.times - collected.times
    if more <= 0:
        return original
    latest = max(by_others.latest, time_text(original.recalled_at) if original.recalled_at else "")
    return replace(
        original, recalled_count=original.recalled_count + more, recalled_at=moment(latest)
    )


def _publish_parents(source: Transaction, db: Transaction, id: str) -> None:
    """Record those memories that it was made from and that are shared."""
    parents = source.rows("SELECT parent FROM lineage WHERE child = ?", (id,))
    db.run_each(
        "INSERT INTO lineage (child, parent) SELECT ?, id FROM memories WHERE id = ?"
        " ON CONFLICT DO NOTHING",
        [(id, parent) for (parent,) in parents],
    )
