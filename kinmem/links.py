"""Links between memories: their kinds, when one is proposed, how much it weighs (Kybernesis)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from kinmem.errors import InvalidInput

Relation = Literal[
    "related_to",
    "references",
    "part_of",
    "similar_to",
    "precedes",
    "follows",
    "authored_by",
    "supersedes",
    "contradicts",
]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
INVERSE: Mapping[str, str] = {
    "related_to": "related_to",
    "similar_to": "similar_to",
    "contradicts": "contradicts",
    "precedes": "follows",
    "follows": "precedes",
    "references": "referenced_by",
    "part_of": "has_part",
    "authored_by": "author_of",
    "supersedes": "superseded_by",
}
"""What each is called from its other end."""
MANUAL, AUTO, REFUSED = "manual", "auto", "refused"
MOST_LINKS = 100
"""That one call may name."""

PER_MEMORY = 5
"""Automatic links of one memory, at either end."""
MOST_HOLDERS = 50
"""A tag or entity of more memories than this connects nothing: it is what all of them are about."""
STALE_CONFIDENCE = 0.35
"""What is not above it is never proposed, and dropped a week after it was last verified."""


@dataclass(frozen=True, slots=True)
class Link:
    """One edge, as it is stored: `source` is the end of which `relation` is said."""

    source: str
    target: str
    relation: str
    weight: float = 1.0
    confidence: float = 1.0
    origin: str = MANUAL
    evidence: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    verified_at: datetime | None = None

    @property
    def ends(self) -> frozenset[str]:
        return frozenset((self.source, self.target))

    def other(self, id: str) -> str:
        """The end that is not `id`."""
        return self.target if self.source == id else self.source

    def seen_from(self, id: str) -> str:
        """What the relation is called at one end."""
        return self.relation if self.source == id else INVERSE[self.relation]


def linked(source: str, target: str, relation: str, **fields: Any) -> Link:
    """The link in the one form in which it is stored: precedes instead of follows, and what reads
    the same from both ends from the lesser id to the greater."""
    if relation == "follows":
        source, target, relation = target, source, "precedes"
    elif INVERSE.get(relation) == relation and source > target:
        source, target = target, source
    return Link(source, target, relation, **fields)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants done: `relation` None takes back every link with `id`."""

    id: str
    relation: str | None


def checked_links(values: Any, memory_id: str) -> list[Asked]:
    """What update_memory(links=...) was given: objects with id and relation. Raises InvalidInput.

    Without relation it is related_to; a bare id is one without.
    """
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput("links must be a list of objects such as {id, relation}")
    asked = [_checked(value, memory_id) for value in values]
    if len(asked) > MOST_LINKS:
        raise InvalidInput(f"{len(asked)} links in one call; at most {MOST_LINKS}")
    return asked


def _checked(value: Any, memory_id: str) -> Asked:
    value = {"id": value} if isinstance(value, str) else value
    if not isinstance(value, Mapping) or not value.keys() <= {"id", "relation"}:
        raise InvalidInput("a link is an object with id and, if it is not related_to, relation")
    id, relation = value.get("id"), value.get("relation", "related_to")
    if not isinstance(id, str) or not id.strip():
        raise InvalidInput("a link needs the id of the other memory; recall and list tell ids")
    if relation is not None and relation not in RELATIONS:
        raise InvalidInput(
            f"relation {relation!r} is none of {', '.join(RELATIONS)}; null takes the link back"
        )
    if id.strip() == memory_id:
        raise InvalidInput(f"memory {memory_id} cannot be linked to itself")
    return Asked(id.strip(), relation)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a link between two memories."""

    tags: frozenset[str] = frozenset()
    """Shared ones that say what they are about (upkeep/auto_tags.topics)."""
    chosen: frozenset[str] = frozenset()
    """Those of `tags` that a person has given to both."""
    entities: frozenset[str] = frozenset()
    cosine: float = 0.0
    is_cited: bool = False
    """Its text names the other's id."""
    is_part: bool = False
    """Both come from one document, and the other is its first memory."""
    is_next: bool = False
    """It was said after the other, in the same conversation and about the same subject."""
    is_authors: bool = False
    """The other says who wrote it."""
    chunk: int | None = None
    """Which chunk of the other is nearest, where it has several."""

    def told(self) -> dict[str, Any]:
        """As it is kept with a link; what is not there is left out."""
        plain = {
            "sharedTags": sorted(self.tags),
            "sharedEntities": sorted(self.entities),
            "similarity": round(self.cosine, 3) if self.cosine > 0 else None,
            "contextChunk": self.chunk,
        }
        return {name: value for name, value in plain.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines that mean something; they belong to an embedder."""

    related: float
    """From which one shared tag is more than an accident."""
    similar: float
    """From which two memories say something similar."""

    @classmethod
    def calibrated(cls, noise: float, near: float) -> "Scale":
        """Of an embedder for which unrelated texts stay below `noise`: 0.46 for the built-in."""
        return cls(noise + 0.4 * (near - noise), near)


def weight(tags: int, entities: int, cosine: float) -> float:
    """Between 0 and 1: .3 for each shared tag, .4 for each entity, .3 of the similarity."""
    return min(1.0, 0.3 * tags + 0.4 * entities + 0.3 * max(0.0, cosine))


def confidence(tags: int, entities: int, cosine: float) -> float:
    """Between 0 and 1: each shared tag halves the doubt, each entity takes six tenths of it, and so
    does similarity what it has above one half."""
    return 1.0 - 0.5**tags * 0.4**entities * (1.0 - max(0.0, cosine - 0.5))


def proposed(source: str, target: str, found: Evidence, scale: Scale) -> Link | None:
    """The link that the evidence speaks for, from `source`'s side; None: too little.

    The first that holds of references, part_of, follows, authored_by, similar_to, related_to. To be
    related takes a shared entity, or a tag that a person gave to both: words that both happen to
    use only add weight. A common document, conversation or author weighs as a shared entity does.
    """
    relation = _relation(found, scale)
    if relation is None:
        return None
    if relation == "references":  # the text says so itself
        return linked(source, target, relation, origin=AUTO, evidence=found.told())
    entities = len(found.entities) + (relation in ("part_of", "follows", "authored_by"))
    sure = confidence(len(found.tags), entities, found.cosine)
    if sure <= STALE_CONFIDENCE:
        return None
    return linked(
        source,
        target,
        relation,
        weight=round(weight(len(found.tags), entities, found.cosine), 4),
        confidence=round(sure, 4),
        origin=AUTO,
        evidence=found.told(),
    )


def _relation(found: Evidence, scale: Scale) -> str | None:
    if found.is_cited:
        return "references"
    if found.is_part:
        return "part_of"
    if found.is_next:
        return "follows"
    if found.is_authors:
        return "authored_by"
    if found.cosine >= scale.similar:
        return "similar_to"
    return "related_to" if found.entities or found.chosen else None


_NAMED = re.compile(r"\[\[([^\[\]\s]{1,100})\]\]")
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)


def cited(text: str) -> frozenset[str]:
    """What may be ids of memories in a text: [[id]], and any uuid."""
    return frozenset(_NAMED.findall(text)) | {id.lower() for id in _UUID.findall(text)}
