"""Stage 10: choose what is shown of a hit: its wording at the time asked for, and a part of a long
text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kinmem.errors import MemoryNotFound
from kinmem.language import Periods, sentences
from kinmem.models import Hit, Memory, Scored
from kinmem.store.base import Store
from kinmem.text import estimated_tokens, terms_of

# Rough number of tokens that the fields beside the content take.
FIELDS = 60
LEAST = 40
# Most characters of an earlier version that are shown.
LONGEST = 1200
# How many of its best passages are tried; the first that contains no suspicious instruction is
# shown.
LOOKED_AT = 5
NOT_KEPT = "(changed since; what it said then is not kept any more)"


def hits_of(scored: Sequence[Scored], confidences: Sequence[float], store: Store) -> list[Hit]:
    """Load the memories behind the candidates, in their order; a document comes with the part that
    was found."""
    found = store.memories([one.candidate.id for one in scored])
    told = store.with_present_contexts(list(found.values()))
    memories = {memory.id: memory for memory in told}
    return [
        _hit(memories[one.candidate.id], one, confidence)
        for one, confidence in zip(scored, confidences, strict=True)
        if one.candidate.id in memories
    ]


def shown(
    hits: Sequence[Hit], words: Sequence[str], moment: datetime | None, store: Store, tokens: int
) -> list[Hit]:
    """Return the hits as they were at `moment`, if one is asked for, with excerpts of those that
    are too long."""
    if moment is not None:
        hits = [as_it_was(hit, moment, words, store) for hit in hits]
    return excerpted(hits, words, tokens)


def excerpted(hits: Sequence[Hit], words: Sequence[str], tokens: int) -> list[Hit]:
    """Return the hits, with excerpts if their contents together exceed `tokens` (estimated).

    Short contents stay whole, and the long ones share what is left. An excerpt is the run of whole
    sentences that contains most of the question's words; a sentence is cut only if it is too long
    by itself. For a document, the part that was found counts as the content.
    """
    sizes = [estimated_tokens(_shown(hit)) + FIELDS for hit in hits]
    if sum(sizes) <= tokens:
        return list(hits)
    share = _fair_share(sizes, tokens)
    return [
        hit
        if size <= share
        else replace(hit, excerpt=_passage(_shown(hit), words, max(LEAST, share - FIELDS)))
        for hit, size in zip(hits, sizes, strict=True)
    ]


def passage(content: str, words: Sequence[str], tokens: int) -> str | None:
    """Return the run of whole sentences with most of the words; None if the whole content fits."""
    if estimated_tokens(content) <= tokens:
        return None
    return _passage(content, words, tokens)


def _shown(hit: Hit) -> str:
    """Return the part that was found if the hit is a document, otherwise the whole content."""
    return hit.memory.content if hit.excerpt is None else hit.excerpt


def _fair_share(sizes: Sequence[int], tokens: int) -> int:
    """Return the size to which the largest must shrink so that all fit."""
    left, waiting = tokens, sorted(sizes)
    for at, size in enumerate(waiting):
        share = left // (len(waiting) - at)
        if size > share:
            return share
        left -= size
    return left


def _passage(content: str, words: Sequence[str], tokens: int) -> str:
    parts = sentences(content)
    wanted = {term for word in words for term in terms_of(word)}
    best, best_score = "", -1
    for start in range(len(parts)):
        passage, size = "", 0
        for part in parts[start:]:
            size += estimated_tokens(part)
            if passage and size > tokens:
                break
            passage += part
        score = sum(1 for word in wanted if word in passage.casefold())
        if score > best_score:
            best, best_score = passage, score
        if size <= tokens:
            break
    return best[: 4 * tokens].strip()


def as_it_was(hit: Hit, moment: datetime, words: Sequence[str], store: Store) -> Hit:
    """Restore the wording of that moment, if the content was changed since.

    A memory that describes several periods shows what held at that moment. A document shows the
    part that was found if its version of that time contains it too; otherwise the passage of the
    earlier version with most of the question's words, if that version is kept.
    """
    memory = hit.memory
    if (told := Periods.of(memory.content).on(moment.date())) is not None:
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
    return replace(hit, memory=memory, excerpt=_earlier_passage(text, words), part=None)


def _earlier_passage(text: str, words: Sequence[str]) -> str:
    """Return the passage with most of the words; the first on a tie."""
    from kinmem.language import order_in  # late: a hook does without

    wanted = {term for word in words for term in terms_of(word)}

    def told(passage: str) -> int:
        said = passage.casefold()
        return sum(word in said for word in wanted)

    best = sorted(_passages(text), key=told, reverse=True)[:LOOKED_AT]
    return next((one for one in best if not order_in(one)), NOT_KEPT)


def _passages(text: str) -> Iterator[str]:
    """Yield the paragraphs; long ones in parts that end at a word boundary."""
    for paragraph in text.split("\n\n"):
        rest = paragraph.strip()
        while len(rest) > LONGEST:
            end = rest.rfind(" ", LONGEST // 2, LONGEST)
            end = LONGEST if end < 0 else end
            yield rest[:end]
            rest = rest[end:].strip()
        if rest:
            yield rest


def _hit(memory: Memory, one: Scored, confidence: float) -> Hit:
    part = one.candidate.part
    excerpt = None if part is None else one.candidate.content
    return Hit(memory, one.score, one.reasons, excerpt, part, confidence)
