"""How long texts may be: those of a memory, with the check that comes before all others, and names
of programs."""

from collections.abc import Mapping

from kinmem.errors import TooLarge
from kinmem.text import size_of

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
