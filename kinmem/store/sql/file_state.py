"""The state of a file, by which changes are recognised: read in one statement, and once during one
recall.

It consists of numbers that an engine finds at the end of an index. What is cached in memory is
valid as long as they stay the same.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from kinmem.store.sql.database import Database


class Enrolled(NamedTuple):
    """An embedder whose vectors the file stores."""

    number: int
    dimension: int
    is_filled: bool
    """Whether every chunk of a memory has its vector."""
    turns_are_filled: bool


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of one file at one moment."""

    revision: int
    """Increases with every change that recall could notice."""
    first_change: int
    """Number of the oldest entry that is still in vector_log."""
    last_change: int
    last_memory: int
    """The highest number of a memory; together with last_chunk it tells how many chunks a memory
    has."""
    last_chunk: int
    has_documents: bool
    """Whether the word index has chunks of documents."""
    last_turn_vector: int
    turn_vectors_lost: int
    has_turns: bool
    """Whether the word index has anything that was said; if not, none of it can be found."""
    has_open_conflicts: bool
    first_end: str | None
    """When the first of the live memories expires or ends, in the format of time_text."""
    embedders: Mapping[str, Enrolled]


_Kept = dict[Database, tuple[int, FileState]]
_kept: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextmanager
def kept_states() -> Iterator[None]:
    """Read each file's state only once in this thread during the block, unless the thread
    writes."""
    if _kept.get() is not None:
        yield
        return
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def state_of(database: Database) -> FileState:
    """Return the state of the file now, or within kept_states when it was first requested."""
    kept = _kept.get()
    known = kept.get(database) if kept is not None else None
    if known is not None and known[0] == database.writes:
        return known[1]
    writes = database.writes
    state = _read(database)
    if kept is not None:
        kept[database] = writes, state
    return state


def embedder_of(database: Database, name: str) -> tuple[int, int] | None:
    """Return number and dimension of an enrolled embedder."""
    if _kept.get() is not None:
        known = state_of(database).embedders.get(name)
        return None if known is None else known[:2]
    rows = database.rows("SELECT id, dimension FROM embedders WHERE name = ?", (name,))
    return (rows[0][0], rows[0][1]) if rows else None


def _read(database: Database) -> FileState:
    [(*numbers, embedders)] = database.rows(database.state_query)
    revision, first, last, memory, chunk, documents, vector, lost, turns, *more = numbers
    conflicts, *ends = more
    return FileState(
        revision=revision,
        first_change=first or 0,
        last_change=last or 0,
        last_memory=memory or 0,
        last_chunk=chunk or 0,
        has_documents=bool(documents),
        last_turn_vector=vector or 0,
        turn_vectors_lost=lost,
        has_turns=bool(turns),
        has_open_conflicts=bool(conflicts),
        first_end=min(filter(None, ends), default=None),
        embedders={
            name: Enrolled(number, dimension, bool(filled), bool(turns))
            for name, number, dimension, filled, turns in json.loads(embedders)
        },
    )
