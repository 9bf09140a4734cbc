"""Links between memories: their kinds, when one is proposed, and its weight (after Kybernesis)."""

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
# Each relation as it is called when seen from the target.
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
MANUAL, AUTO, REFUSED = "manual", "auto", "refused"
# Limit for the links that one call may name.
MOST_LINKS = 100

# Limit for the automatic links of one memory, counting both directions.
PER_MEMORY = 5
# A tag or entity that more memories than this share proposes no links: it is too common to mean
# anything.
MOST_HOLDERS = 50
# Links need more confidence than this to be proposed. A stored link at or below it is dropped a
# week after it was last verified.
STALE_CONFIDENCE = 0.35


@dataclass(frozen=True, slots=True)
class Link:
    """One stored edge: `source` stands in `relation` to `target`."""

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
        """Return the end that is not `id`."""
        return self.target if self.source == id else self.source

    def seen_from(self, id: str) -> str:
        """Return what the relation is called when seen from `id`."""
        return self.relation if self.source == id else INVERSE[self.relation]


def linked(source: str, target: str, relation: str, **fields: Any) -> Link:
    """Build a link in its stored form: `follows` is turned into `precedes`, and a relation that
    reads the same from both ends runs from the lesser id to the greater."""
    if relation == "follows":
        source, target, relation = target, source, "precedes"
    elif INVERSE.get(relation) == relation and source > target:
        source, target = target, source
    return Link(source, target, relation, **fields)


@dataclass(frozen=True, slots=True)
class Asked:
    """A change of links that a person requests.

    With `relation` None, all links with `id` are removed.
    """

    id: str
    relation: str | None


def checked_links(values: Any, memory_id: str) -> list[Asked]:
    """Check the `links` argument of update_memory, a list of objects with id and relation.

    The relation defaults to related_to, and a bare id stands for an object without one. Raises
    InvalidInput.
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
    """The evidence for a link from one memory to another."""

    tags: frozenset[str] = frozenset()
    """Shared tags that say what the memories are about (upkeep/auto_tags.topics)."""
    chosen: frozenset[str] = frozenset()
    """The members of `tags` that a person gave to both memories."""
    entities: frozenset[str] = frozenset()
    cosine: float = 0.0
    is_cited: bool = False
    """The text names the other's id."""
    is_part: bool = False
    """Both come from one document, and the other is the document's first memory."""
    is_next: bool = False
    """It was said after the other, in the same conversation and about the same subject."""
    is_authors: bool = False
    """The other says who wrote this one."""
    chunk: int | None = None
    """Which chunk of the other is nearest, if it has several."""

    def told(self) -> dict[str, Any]:
        """Return the evidence as it is stored with a link, leaving out what is empty."""
        plain = {
            "sharedTags": sorted(self.tags),
            "sharedEntities": sorted(self.entities),
            "similarity": round(self.cosine, 3) if self.cosine > 0 else None,
            "contextChunk": self.chunk,
        }
        return {name: value for name, value in plain.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True)
class Scale:
    """The cosine thresholds of one embedder."""

    related: float
    """Cosine from which a shared tag is more than chance."""
    similar: float
    """Cosine from which two memories say something similar."""

    @classmethod
    def calibrated(cls, noise: float, near: float) -> "Scale":
        """Derive the thresholds from the embedder's noise and near levels.

        `noise` is the cosine that unrelated texts stay below: 0.46 for the built-in embedder.
        """
        return cls(noise + 0.4 * (near - noise), near)


def weight(tags: int, entities: int, cosine: float) -> float:
    """Return the weight of a link, 0 to 1: 0.3 per shared tag, 0.4 per shared entity, 0.3 ×
    cosine."""
    return min(1.0, 0.3 * tags + 0.4 * entities + 0.3 * max(0.0, cosine))


def confidence(tags: int, entities: int, cosine: float) -> float:
    """Return the confidence in a link, 0 to 1.

    Doubt starts at 1. Each shared tag halves it, each shared entity multiplies it by 0.4, and a
    cosine above 0.5 reduces it by the excess.
    """
    return 1.0 - 0.5**tags * 0.4**entities * (1.0 - max(0.0, cosine - 0.5))


def proposed(source: str, target: str, evidence: Evidence, scale: Scale) -> Link | None:
    """Return the link that the evidence supports, seen from `source`, or None if it is too weak.

    The relation is the first that applies of references, part_of, follows, authored_by, similar_to
    and related_to. related_to needs a shared entity, or a tag that a person gave to both: words
    that both happen to use only add weight. A shared document, conversation or author counts as a
    shared entity.
    """
    relation = _relation(evidence, scale)
    if relation is None:
        return None
    if relation == "references":  # certain: the text itself names the id
        return linked(source, target, relation, origin=AUTO, evidence=evidence.told())
    entities = len(evidence.entities) + (relation in ("part_of", "follows", "authored_by"))
    sure = confidence(len(evidence.tags), entities, evidence.cosine)
    if sure <= STALE_CONFIDENCE:
        return None
    return linked(
        source,
        target,
        relation,
        weight=round(weight(len(evidence.tags), entities, evidence.cosine), 4),
        confidence=round(sure, 4),
        origin=AUTO,
        evidence=evidence.told(),
    )


def _relation(evidence: Evidence, scale: Scale) -> str | None:
    if evidence.is_cited:
        return "references"
    if evidence.is_part:
        return "part_of"
    if evidence.is_next:
        return "follows"
    if evidence.is_authors:
        return "authored_by"
    if evidence.cosine >= scale.similar:
        return "similar_to"
    return "related_to" if evidence.entities or evidence.chosen else None


_NAMED = re.compile(r"\[\[([^\[\]\s]{1,100})\]\]")
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)


def cited(text: str) -> frozenset[str]:
    """Return what may be memory ids in the text: [[id]], and any UUID."""
    return frozenset(_NAMED.findall(text)) | {id.lower() for id in _UUID.findall(text)}
