"""Earlier versions of documents, each stored as its difference from a later one.

A small change takes little room, however long the text.
"""

import json
import zlib
from bisect import bisect_left
from datetime import datetime
from typing import TYPE_CHECKING

from kinmem.errors import MemoryNotFound
from kinmem.language import sentences
from kinmem.models import Memory
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import time_text

if TYPE_CHECKING:
    pass


def keep_text(db: Transaction, old: Memory, said: str, new: Memory, says: str) -> None:
    """Store the text of an earlier version as its difference from the present one."""
    change = delta(says, said)
    db.run(
        "DELETE FROM old_texts WHERE memory_id = ? AND content_hash = ?", (new.id, new.content_hash)
    )
    db.run(
        """
        INSERT INTO old_texts (memory_id, content_hash, base, delta, at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (memory_id, content_hash)
            DO UPDATE SET base = excluded.base, delta = excluded.delta, at = excluded.at
        """,
        (old.id, old.content_hash, new.content_hash, change, time_text(new.content_updated_at)),
    )


def old_text(
    kept: dict[str, tuple[str, bytes]], version: str, present: str, text: str, id: str
) -> str:
    """Return the text of a version. `kept` holds base and delta by version; `text` is that of
    `present`."""
    steps = []
    while version != present:
        if version not in kept:
            raise MemoryNotFound(id)
        version, change = kept.pop(version)
        steps.append(change)
    for change in reversed(steps):
        text = applied(text, change)
    return text


def drop_old_texts(database: Database, before: datetime) -> None:
    """Delete the texts of own documents' versions that were replaced before that moment."""
    bound = (time_text(before),)
    if database.rows("SELECT 1 FROM old_texts WHERE at < ? LIMIT 1", bound):
        with database.writing() as db:
            db.run("DELETE FROM old_texts WHERE at < ?", bound)


# Characters compared at once if no sentence ends sooner.
LONGEST = 500


def delta(base: str, text: str) -> bytes:
    """Return what turns `base` into `text`: spans to copy, and words that `base` does not have."""
    head = _common(base, text)
    tail = _common(base[head:][::-1], text[head:][::-1])
    middle, end = text[head : len(text) - tail], len(base) - tail
    steps: list[list[int] | str] = [[0, head], *_steps(base, head, end, middle), [end, len(base)]]
    told = json.dumps([step for step in steps if isinstance(step, str) or step[0] < step[1]])
    return zlib.compress(told.encode())


def applied(base: str, change: bytes) -> str:
    """Return the text that was given to `delta`."""
    steps = json.loads(zlib.decompress(change))
    return "".join(s if isinstance(s, str) else base[s[0] : s[1]] for s in steps)


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning."""
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, True, key=lambda n: one[:n] != other[:n])


def _steps(base: str, start: int, end: int, text: str) -> list[list[int] | str]:
    """Split the text into sentences; those that occur in that span of `base` are copied."""
    known: dict[str, int] = {}
    at = start
    for part in _sentences(base[start:end]):
        known.setdefault(part, at)
        at += len(part)
    steps: list[list[int] | str] = []
    unknown: list[str] = []
    for part in _sentences(text):
        place = known.get(part)
        if place is None:
            unknown.append(part)
            continue
        if unknown:
            steps.append("".join(unknown))
            unknown.clear()
        last = steps[-1] if steps else None
        if isinstance(last, list) and base.startswith(part, last[1]):
            last[1] += len(part)
        else:
            steps.append([place, place + len(part)])
    return [*steps, "".join(unknown)] if unknown else steps


def _sentences(text: str) -> list[str]:
    return [
        part[at : at + LONGEST] for part in sentences(text) for at in range(0, len(part), LONGEST)
    ]
