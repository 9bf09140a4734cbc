"""Which links the upkeep proposes, on what evidence, and how sure it is (after Kybernesis)."""

import re
from dataclasses import dataclass
from typing import Any

from kinmem.models.links import AUTO, STALE_CONFIDENCE, Link, linked

# Limit for the automatic links of one memory, counting both directions.
PER_MEMORY = 5


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
