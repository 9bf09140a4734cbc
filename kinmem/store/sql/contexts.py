"""Source contexts beside what has become of the memories that say the same.

A memory keeps the sentence that stood beside it when it was told. Often that sentence became a
memory of its own, which may be forgotten or superseded since.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kinmem.language import content_hash, sentences
from kinmem.models import Memory
from kinmem.store.sql.memory_rows import IS_LIVE
from kinmem.store.sql.sharing import Files

ENDED = "(no longer so)"
# Between the parts of a context: a sentence, and what the dates in the statement mean.
BETWEEN = " | "

WAS_SO = f"""
    SELECT content_hash, max(CASE WHEN m.state = 'superseded' THEN 1 ELSE 0 END) FROM memories m
    WHERE content_hash IN LISTED(?) GROUP BY content_hash
    HAVING max(CASE WHEN {IS_LIVE} THEN 1 ELSE 0 END) = 0
"""


def with_present_contexts(files: Files, memories: Sequence[Memory]) -> list[Memory]:
    """See Memories.with_present_contexts."""
    hashes = {
        content_hash(part)
        for memory in memories
        if memory.kin == files.kin
        for part in _parts(memory.source_context or "")
    }
    if not hashes:
        return list(memories)
    rows = files.own.database.rows(WAS_SO, (json.dumps(sorted(hashes)),))
    ended = {hash: bool(was_so) for hash, was_so in rows}
    if not ended:
        return list(memories)
    return [
        replace(memory, source_context=_present(memory.source_context, ended))
        if memory.source_context and memory.kin == files.kin
        else memory
        for memory in memories
    ]


def _parts(context: str) -> Iterator[str]:
    for piece in context.split(BETWEEN):
        yield from filter(None, map(str.strip, sentences(piece)))


def _present(context: str, ended: Mapping[str, bool]) -> str | None:
    pieces = []
    for piece in context.split(BETWEEN):
        parts = [_marked(part, ended) for part in _parts(piece)]
        pieces.append(" ".join(filter(None, parts)))
    return BETWEEN.join(filter(None, pieces)) or None


def _marked(part: str, ended: Mapping[str, bool]) -> str:
    was_so = ended.get(content_hash(part))
    return part if was_so is None else f"{part} {ENDED}" if was_so else ""
