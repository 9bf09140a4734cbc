"""Stage 6b: what memories said at an earlier moment, where they say something else by now."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kinmem.errors import MemoryNotFound
from kinmem.models import Hit
from kinmem.rules.change.periods import so_on
from kinmem.store.base import Store

LONGEST = 1200
"""Characters of an earlier version that are shown."""
LOOKED_AT = 5
"""Passages of it, the best ones, of which the first that gives no orders is shown."""
NOT_KEPT = "(changed since; what it said then is not kept any more)"


def as_it_was(hit: Hit, moment: datetime, words: Sequence[str], store: Store) -> Hit:
    """With the wording of that moment, if the content was changed since.

    One that tells of several times says what was so at that one.
    Of a document that said the same there as well the part that was found; else the passage of the
    earlier version with most of the question's words, if that version is kept.
    """
    memory = hit.memory
    if (told := so_on(moment.date(), memory.content)) is not None:
        return replace(hit, memory=replace(memory, content=told), excerpt=None)
    if memory.content_updated_at <= moment:
        return hit
    said: dict[str, Any] = {
        "content": memory.content,
        "content_hash": memory.content_hash,
        "title": memory.title,
    }
    for line in store.history(memory.id):  # newest first
        if line.at > moment:
            said |= {name: line.before[name] for name in said if name in line.before}
    memory = replace(memory, **said)
    if not memory.is_document:
        return replace(hit, memory=memory)
    try:
        text = store.documents.text(memory.id, memory.content_hash)
    except MemoryNotFound:
        return replace(hit, memory=memory, excerpt=NOT_KEPT, part=None)
    if hit.excerpt is not None and hit.excerpt in text:
        return replace(hit, memory=memory)
    return replace(hit, memory=memory, excerpt=_passage(text, words), part=None)


def _passage(text: str, words: Sequence[str]) -> str:
    """The one with most of the words; the first of equals."""
    from kinmem.rules.orders.instructions import suspicious  # late: a hook does without

    wanted = set(words)

    def told(passage: str) -> int:
        said = passage.casefold()
        return sum(word in said for word in wanted)

    best = sorted(_passages(text), key=told, reverse=True)[:LOOKED_AT]
    return next((one for one in best if not suspicious(one)), NOT_KEPT)


def _passages(text: str) -> Iterator[str]:
    """Paragraphs; long ones in parts that end with a word."""
    for paragraph in text.split("\n\n"):
        rest = paragraph.strip()
        while len(rest) > LONGEST:
            end = rest.rfind(" ", LONGEST // 2, LONGEST)
            end = LONGEST if end < 0 else end
            yield rest[:end]
            rest = rest[end:].strip()
        if rest:
            yield rest
