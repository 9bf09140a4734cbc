"""The names of relations between people and things, as they are stored and as they are told.

Of 20 the names are Keyoku's (lexicon/relations.json); any other lowercase slug is kept as it is.
"""

import re
from collections.abc import Mapping

from kinmem.language.lexicon import by_word, lexicon
from kinmem.models import EntityType, Relation
from kinmem.text import folded

_TABLES = lexicon("relations")
SYMMETRIC = frozenset(_TABLES["symmetric"])
"""Told from either end in the same word."""
INVERSES: Mapping[str, str] = _TABLES["inverses"]
"""The name of the stored direction, and how it is told from the other end."""
TURNED = {told: stored for stored, told in INVERSES.items()}
SAME = by_word(_TABLES["synonyms"].items())
"""What models say instead."""
ENDS: Mapping[str, tuple[EntityType, EntityType]] = {
    relation: (source, target) for relation, (source, target) in _TABLES["ends"].items()
}
"""Of what type source and target are, where the sentence says no more."""


SLUG = 40


def stored_relation(source: str, relation: str, target: str, confidence: float) -> Relation | None:
    """As it is stored: synonyms by one name, inverses turned round, of symmetric relations the end
    first that comes first. None if the relation is no name, or both ends are one."""
    slug = re.sub(r"[^a-z0-9]+", "_", folded(relation)).strip("_")
    slug = SAME.get(slug, slug)
    if not slug or len(slug) > SLUG or folded(source) == folded(target):
        return None
    if slug in TURNED:
        slug, source, target = TURNED[slug], target, source
    if slug in SYMMETRIC and folded(source) > folded(target):
        source, target = target, source
    return Relation(source, slug, target, confidence)


def inverse_relation(relation: str) -> str:
    """What a stored relation is called from its other end; the same with a mark where it has no
    name there."""
    return relation if relation in SYMMETRIC else INVERSES.get(relation, f"<-{relation}")
