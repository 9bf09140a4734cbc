"""Stage 7: long memories are shown in part where the answer would grow too long."""

from collections.abc import Sequence
from dataclasses import replace

from kinmem.models import Hit
from kinmem.text import estimated_tokens, sentences

# What the fields beside the content take, roughly, in tokens.
FIELDS = 60
LEAST = 40


def excerpted(hits: Sequence[Hit], words: Sequence[str], tokens: int) -> list[Hit]:
    """The hits, with excerpts where their contents together exceed `tokens`, estimated.

    Short contents stay whole; the long ones share what is left. An excerpt is the run of whole
    sentences with most of the question's words in it, cut only where one sentence is too long. Of
    a document the part that was found stands for the content.
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
    """The run of whole sentences with most of the words; None where all of it fits."""
    if estimated_tokens(content) <= tokens:
        return None
    return _passage(content, words, tokens)


def _shown(hit: Hit) -> str:
    """Of a document the part that was found, else all of it."""
    return hit.memory.content if hit.excerpt is None else hit.excerpt


def _fair_share(sizes: Sequence[int], tokens: int) -> int:
    """The size to which the largest must shrink so that all fit."""
    left, waiting = tokens, sorted(sizes)
    for at, size in enumerate(waiting):
        share = left // (len(waiting) - at)
        if size > share:
            return share
        left -= size
    return left


def _passage(content: str, words: Sequence[str], tokens: int) -> str:
    parts = sentences(content)
    wanted = set(words)
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
