"""Cuts a text into parts that a model reads whole; of what is stored each gets its vector."""

import logging
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinmem.errors import ModelError
from kinmem.models import Chunks
from kinmem.sentences import sentences
from kinmem.text import in_first_person

if TYPE_CHECKING:  # an embedder cuts with this module
    from kinmem.llm.base import Embedder

logger = logging.getLogger(__name__)

WORD = re.compile(r"\S+\s*|\s+")
# A long run without a space is an address, code, or a script that needs none.
PUNCTUATED = re.compile(r"(?<=[!-/:-@\[-`{-~、，；：])")
ZERO_WIDTH_JOINER = "\u200d"
LOOK_BACK = 8


@dataclass(frozen=True)
class Window:
    """What a model reads at once: characters as the caller wants it, tokens as the model counts."""

    characters: int
    tokens: int
    count: Callable[[str], int]
    overlap: int = 0
    """Characters that a part may repeat of the one before, in whole sentences."""

    def holds(self, text: str) -> bool:
        return len(text) <= self.characters and self.count(text) <= self.tokens


def pieces(text: str, window: Window) -> list[str]:
    """Consecutive parts that the window holds; only white space between them is lost.

    A text that fits comes back as it is. A part begins with the last sentence of the one before
    where that is short enough for the window's overlap and leaves room for what follows. Cuts fall
    behind sentences, where a sentence is too long behind words, and within a word only if it is
    too long by itself.
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
    """Each way to split is tried on what the one before left too long; letters are the last."""
    if window.holds(text):
        return [text]
    if not splits:
        return _prefixes(text, window)
    split, *finer = splits
    groups = _grouped(split(text), window, window.overlap if split is sentences else 0)
    return [part for group in groups for part in _cut(group, window, tuple(finer))]


def _grouped(parts: list[str], window: Window, overlap: int) -> list[str]:
    """Neighbours joined while the sum of their counts fits; a part that does not stays alone.

    The count of a sum may differ from the sum of the counts: whoever uses a group counts it again.
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
    """As many letters as the window holds, again and again, without parting a letter's accents."""
    parts = []
    while text:
        lengths = range(1, min(len(text), window.characters) + 1)
        fitting = bisect_right(lengths, window.tokens, key=lambda n: window.count(text[:n]))
        end = before_letter(text, max(1, fitting))
        parts.append(text[:end])
        text = text[end:]
    return parts


def before_letter(text: str, end: int) -> int:
    """The last place to cut, a few letters back at most, that leaves no accent or joiner alone."""
    candidates = range(end, max(0, end - LOOK_BACK), -1)
    return next((n for n in candidates if not _joined(text, n)), end)


def _joined(text: str, place: int) -> bool:
    if place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    return ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after).startswith("M")


# Kybernesis' sizes for chat, in characters: parts of at most 800 that repeat up to 80 of the last.
SIZE = 800
OVERLAP = 80
# Any window in use takes so much Latin text; counting its word pieces would cost 40 µs.
SURELY_READ = 250


def chunks_of(content: str, embedder: "Embedder") -> tuple[str, ...]:
    """The parts of a text that get a vector each, in order; a short text is its own only part."""
    if is_surely_one(content):
        return (content,)
    return tuple(embedder.pieces(content, SIZE, OVERLAP))


def is_surely_one(content: str) -> bool:
    """Whether the text is its own only part, whoever embeds it."""
    return len(content) <= SURELY_READ and content.isascii()


def embedded(chunks: Chunks, embedder: "Embedder") -> Chunks:
    """With vectors; without, where the embedder is not there: the worker fills them in."""
    if not embedder.ready:
        return chunks
    try:
        vectors = embedder.embed([in_first_person(text) for text in chunks.texts])
    except ModelError as error:
        logger.warning("stored without vectors for now: %s", error)
        return chunks
    return Chunks(chunks.texts, vectors, embedder.name)
