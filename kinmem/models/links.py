"""Links between memories, and the changes to them that people ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

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
