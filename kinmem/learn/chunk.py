"""Stage 2 of learning: long texts are cut into parts that the embedder reads whole."""

from kinmem.llm.base import Embedder

# Kybernesis' sizes for chat, in characters: parts of at most 800 that repeat up to 80 of the last.
SIZE = 800
OVERLAP = 80
# Any window in use takes so much Latin text; counting its word pieces would cost 40 µs.
SURELY_READ = 250


def chunks_of(content: str, embedder: Embedder) -> tuple[str, ...]:
    """The parts of a text that get a vector each, in order; a short text is its own only part."""
    if is_surely_one(content):
        return (content,)
    return tuple(embedder.pieces(content, SIZE, OVERLAP))


def is_surely_one(content: str) -> bool:
    """Whether the text is its own only part, whoever embeds it."""
    return len(content) <= SURELY_READ and content.isascii()
