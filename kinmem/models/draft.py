"""What is to be remembered: as a caller says it, and checked, with its chunks and what it knows.
And how long its texts may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kinmem.errors import TooLarge
from kinmem.models.record import Channel, Memory, Vectors
from kinmem.text import size_of

EntityType = Literal["person", "organization", "location", "product", "concept", "event", "other"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A person or thing that memories are about."""

    name: str
    type: EntityType = "other"
    alias: str | None = None
    """Another name that the memory uses for it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How one entity relates to another. Both are given by name, in the stored direction."""

    source: str
    relation: str
    target: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The entities that a text is about, and their relations."""

    entities: tuple[Entity, ...] = ()
    """Includes both ends of every relation."""
    relations: tuple[Relation, ...] = ()
    origin: str = "rules"
    """What extracted the relations: rules, or a model's name."""


# What happens to two statements that cannot both hold; the values of KINMEM_CONFLICT_MODE.
ConflictMode = Literal["keep_existing", "use_new", "merge", "ask", "temporal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a caller wants remembered, not checked yet. Times are text or aware datetimes."""

    content: str
    category: str | None = None
    """None: derived from the words, or fact if they do not say."""
    subject: str | None = None
    importance: float | None = None
    scope: str = "private"
    source_context: str | None = None
    occurred_at: str | datetime | None = None
    """For a turn, when it was said; for anything else, when it happened, if known."""
    tags: tuple[str, ...] = ()
    expires: str | datetime | None = None
    speaker: str | None = None
    channel: Channel = "explicit"
    client: str | None = None
    session: str | None = None
    place: str | None = None
    """The project in which it holds, as a name or a path; None: everywhere."""
    confidence: float = 1.0
    turns: tuple[str, ...] = ()
    """The turns it was learned from, the main one first; at most three."""
    model: str | None = None
    """The model that extracted it; None: rules did, or it was stored directly."""
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    """As a model has extracted them; rules add those they find."""
    quarantine: str | None = None
    """Why it may not be recalled before somebody has reviewed it."""
    trusted: bool = False
    """Whether a person has said that it may be recalled, whatever it reads like."""
    updates: str | None = None
    """Id of the memory that it replaces according to a model; ignored unless the Kin owns that
    memory."""
    only_as_change: bool = False
    """Whether it is worth keeping only if it changes what is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The position of a chunk in its document."""

    start: int
    """In characters. A chunk may repeat the end of the previous one."""
    heading: str = ""
    """The headings above it: "Budget > Priorities"."""
    page: int | None = None
    held: str = ""
    """Why it may not be recalled before somebody has released it; empty: it may be recalled."""

    def __str__(self) -> str:
        page = "" if self.page is None else f"page {self.page}"
        return ", ".join(filter(None, (self.heading, page)))


@dataclass(frozen=True, slots=True)
class Chunks:
    """The parts of one memory's content that are embedded, in order."""

    texts: tuple[str, ...]
    vectors: Vectors | None = None
    """One row per text; None while they are pending."""
    embedder: str | None = None
    """The embedder that made the vectors."""
    places: tuple[Passage, ...] = ()
    """For a document, the position of each text."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked memory with its chunks, not stored yet."""

    memory: Memory
    chunks: Chunks
    knowledge: Knowledge | None = None
    """What was extracted from its content; None: not extracted yet."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk that has no vector of a given embedder yet."""

    chunk: int
    """Key of the chunk in its file."""
    is_own: bool
    """Whether its memory is in the Kin's own file; else it is what another Kin shares."""
    memory_id: str
    text: str
    fresh: bool
    """Whether its memory was stored without being compared by meaning with the memories that
    exist."""


# In bytes of UTF-8. A longer content becomes a document, up to TEXT_BYTES.
CONTENT_BYTES = 64 * 1024
TEXT_BYTES = 8 * 1024 * 1024
SUBJECT_BYTES = 256
CONTEXT_BYTES = 2 * 1024
TAG_BYTES = 64
BATCH_BYTES = 255
KEY_BYTES = 255
REFERENCE_BYTES = 4 * 1024
SIZES = {
    "content": TEXT_BYTES,
    "subject": SUBJECT_BYTES,
    "speaker": SUBJECT_BYTES,
    "source_context": CONTEXT_BYTES,
    "tags": TAG_BYTES,
    "reason": CONTEXT_BYTES,
    "batch": BATCH_BYTES,
    "title": CONTEXT_BYTES,
    "description": CONTENT_BYTES,
    "source_ref": REFERENCE_BYTES,
    "name": REFERENCE_BYTES,
}
# Names of fields as callers know them.
CALLED = {"source_context": "sourceContext", "source_ref": "source"}


def checked_sizes(given: object) -> None:
    """Raise TooLarge for a text above the limit of its field, in a mapping or a record.

    Whatever takes a memory's fields calls it before anything else looks at them: looking for
    secrets in 9 MB takes ten seconds.
    """
    for name, limit in SIZES.items():
        value = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
        texts = value if isinstance(value, list | tuple | set | frozenset) else [value]
        for text in texts:
            if isinstance(text, str) and (size := size_of(text)) > limit:
                raise TooLarge(CALLED.get(name, name), size, limit)


def is_document(content: object) -> bool:
    """Return whether a text is too long for one statement."""
    return isinstance(content, str) and (
        len(content) > CONTENT_BYTES
        or 4 * len(content) > CONTENT_BYTES
        and len(content.encode("utf-8", "replace")) > CONTENT_BYTES
    )


CLIENT_CHARACTERS = 120


def client_name(told: str) -> str | None:
    """Return the name in one line, cut to its length; None if there is none."""
    return " ".join(told.split())[:CLIENT_CHARACTERS] or None
