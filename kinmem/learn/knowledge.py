"""Stage 1b of learning: whom and what a memory is about, by a model's finding and by rules."""

from collections.abc import Mapping
from typing import Any

from kinmem.language.names.entities import together
from kinmem.llm.naming import Naming
from kinmem.models import Knowledge, Memory, Note


def knowledge_of(note: Note, memory: Memory, naming: Naming) -> Knowledge:
    """What a note says of people and things. Of a model's findings the names are taken as they are;
    rules add the relations whose wording leaves no doubt."""
    found = naming(memory.content, memory.speaker, memory.subject)
    if note.model is None:
        by_rules = () if naming.ready else note.entities
        return together([*by_rules, *found.entities], [*note.relations, *found.relations])
    ends = {name for one in found.relations for name in (one.source, one.target)}
    named = [one for one in found.entities if one.name in ends]
    origin = note.model if note.relations else found.origin
    return together([*note.entities, *named], [*note.relations, *found.relations], origin)


def reread(memory: Memory, fields: Mapping[str, Any], naming: Naming) -> Knowledge | None:
    """What a memory says once these fields are changed; None if its content stays."""
    if "content" not in fields:
        return None
    return naming(fields["content"], memory.speaker, fields.get("subject", memory.subject))
