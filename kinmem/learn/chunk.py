"""Stage 2 of learning: long texts are cut into parts that the embedder reads whole."""

from collections.abc import Sequence

from kinmem.llm.base import Embedder
from kinmem.text import sentences

# Kybernesis' sizes for chat, in characters: parts of about 800 that repeat up to 80 of the last.
SIZE = 800
OVERLAP = 80
# Any window in use takes so much Latin text; counting its word pieces would cost 40 µs.
SURELY_READ = 250


def chunks_of(content: str, embedder: Embedder) -> tuple[str, ...]:
    """The parts of a text that get a vector each, in order; a short text is its own only part.

    Parts end with sentences. A sentence longer than SIZE is a part of its own, cut further where
    the embedder's window is smaller. Neighbouring parts share whole sentences up to OVERLAP.
    """
    if len(content) <= SURELY_READ and content.isascii():
        return (content,)
    parts = [content] if len(content) <= SIZE else _packed(sentences(content))
    return tuple(piece for part in parts for piece in embedder.pieces(part, SIZE) if piece.strip())


def _packed(units: Sequence[str]) -> list[str]:
    parts: list[list[str]] = [[]]
    for unit in units:
        if parts[-1] and sum(map(len, parts[-1])) + len(unit) > SIZE:
            parts.append(_tail(parts[-1], SIZE - len(unit)))
        parts[-1].append(unit)
    return ["".join(part).strip() for part in parts]


def _tail(part: Sequence[str], room: int) -> list[str]:
    """The last sentences of a part that the next one repeats."""
    size = 0
    for at in range(len(part) - 1, 0, -1):
        size += len(part[at])
        if size > min(OVERLAP, room):
            return list(part[at + 1 :])
    return []
