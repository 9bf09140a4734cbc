"""Cuts texts into chunks that a model reads whole. Each chunk of a stored text gets a vector."""

import logging
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable

from kinmem.errors import ModelError
from kinmem.language import sentences
from kinmem.llm.base import Embedder, Window
from kinmem.models import Chunks
from kinmem.text import in_first_person

logger = logging.getLogger(__name__)

WORD = re.compile(r"\S+\s*|\s+")
# A long run without a space is an address, code, or a script that has no spaces.
PUNCTUATED = re.compile(r"(?<=[!-/:-@\[-`{-~、，；：])")
ZERO_WIDTH_JOINER = "\u200d"
LOOK_BACK = 8


def pieces(text: str, window: Window) -> list[str]:
    """Cut a text into consecutive parts that fit the window. Only white space between parts is
    lost.

    A text that fits is returned as it is. A part begins with the last sentence of the previous part
    if that sentence is within the window's overlap and leaves room for what follows. Cuts fall
    between sentences; in a sentence that is too long, between words; and in a word that is too
    long, between letters.
    """
    if window.holds(text):
        return [text]
    return [part.strip() for part in _cut(text, window, SPLITS) if not part.isspace()]


def _words(text: str) -> list[str]:
    return WORD.findall(text)


def _punctuated(text: str) -> list[str]:
    return [part for part in PUNCTUATED.split(text) if part]


SPLITS: tuple[Callable[[str], list[str]], ...] = (sentences, _words, _punctuated)


def _cut(text: str, window: Window, splits: tuple[Callable[[str], list[str]], ...]) -> list[str]:
    """Try each way to split on what the previous way left too long; letters come last."""
    if window.holds(text):
        return [text]
    if not splits:
        return _prefixes(text, window)
    split, *finer = splits
    groups = _grouped(split(text), window, window.overlap if split is sentences else 0)
    return [part for group in groups for part in _cut(group, window, tuple(finer))]


def _grouped(parts: list[str], window: Window, overlap: int) -> list[str]:
    """Join neighbours while the sum of their counts fits. A part that does not fit stays alone.

    The count of a joined text may differ from the sum, so callers have to count it again.
    """
    groups: list[list[str]] = []
    characters = tokens = 0
    last, last_count = "", 0
    for part in parts:
        count = window.count(part)
        characters += len(part)
        tokens += count
        if not groups or characters > window.characters or tokens > window.tokens:
            repeats = groups and len(groups[-1]) > 1 and len(last) <= overlap
            fits = len(last + part) <= window.characters and last_count + count <= window.tokens
            groups.append([last] if repeats and fits else [])
            characters = sum(map(len, groups[-1])) + len(part)
            tokens = count + (last_count if groups[-1] else 0)
        groups[-1].append(part)
        last, last_count = part, count
    return ["".join(group) for group in groups]


def _prefixes(text: str, window: Window) -> list[str]:
    """Cut off as many letters as the window holds, repeatedly, keeping accents with their
    letters."""
    parts = []
    while text:
        lengths = range(1, min(len(text), window.characters) + 1)
        fitting = bisect_right(lengths, window.tokens, key=lambda n: window.count(text[:n]))
        end = before_letter(text, max(1, fitting))
        parts.append(text[:end])
        text = text[end:]
    return parts


def before_letter(text: str, end: int) -> int:
    """Return the last position up to `end`, at most a few letters back, that separates no accent or
    joiner from its letter."""
    candidates = range(end, max(0, end - LOOK_BACK), -1)
    return next((n for n in candidates if not _is_joined(text, n)), end)


def _is_joined(text: str, place: int) -> bool:
    if place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    return ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after).startswith("M")


# Kybernesis' chunk sizes for chat, in characters: parts of up to 800 that repeat up to 80.
SIZE = 800
OVERLAP = 80
# Every window in use holds this much Latin text, so that counting word pieces (40 µs) is
# unnecessary.
SURELY_READ = 250


def chunks_of(content: str, embedder: Embedder) -> tuple[str, ...]:
    """Return the parts of a text that get a vector each, in order.

    A short text is its own only part.
    """
    if is_surely_one(content):
        return (content,)
    return tuple(embedder.pieces(content, SIZE, OVERLAP))


def is_surely_one(content: str) -> bool:
    """Return whether the text is its own only part with any embedder."""
    return len(content) <= SURELY_READ and content.isascii()


def embedded(chunks: Chunks, embedder: Embedder) -> Chunks:
    """Return the chunks with vectors, or without if the embedder is not ready: the worker adds them
    later."""
    if not embedder.ready:
        return chunks
    try:
        vectors = embedder.embed([in_first_person(text) for text in chunks.texts])
    except ModelError as error:
        logger.warning("stored without vectors for now: %s", error)
        return chunks
    return Chunks(chunks.texts, vectors, embedder.name)
