"""Long texts are cut into parts that the embedder reads whole, and each part gets its vector."""

import logging

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.models import Chunks
from kinmem.text import in_first_person

logger = logging.getLogger(__name__)

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


def embedded(chunks: Chunks, embedder: Embedder) -> Chunks:
    """With vectors; without, where the embedder is not there: the worker fills them in."""
    if not embedder.ready:
        return chunks
    try:
        vectors = embedder.embed([in_first_person(text) for text in chunks.texts])
    except ModelError as error:
        logger.warning("stored without vectors for now: %s", error)
        return chunks
    return Chunks(chunks.texts, vectors, embedder.name)
