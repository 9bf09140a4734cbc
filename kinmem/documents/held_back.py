"""Documents of which a part is held back, and what changes when a person releases it.

Held back is what reads like instructions to a model.
"""

from typing import Any

from kinmem.models import HELD_BACK, Memory, State
from kinmem.text import cut

HELD = "(everything in it reads like instructions to a model)"
OPENING = 1000
"""Characters of a document that its memory holds as content; all of it is in the chunks."""


def opening(text: str) -> str:
    """The content of the memory of a document that begins so."""
    return cut(text.strip(), OPENING)


def released(memory: Memory, text: str) -> dict[str, Any]:
    """What is to be changed of a memory that says this, so that all of it may be recalled."""
    fields: dict[str, Any] = {"state": State.ACTIVE}
    if memory.is_document:
        told = {name: one for name, one in memory.ingest_metadata.items() if name != HELD_BACK}
        fields["ingest_metadata"] = told
        if memory.content == HELD:
            fields["content"] = opening(text)
    return fields
