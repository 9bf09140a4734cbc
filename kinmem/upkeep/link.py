"""A step of upkeep: link memories, found by tags, entities and vectors, never by all pairs."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from kinmem.clock import Clock
from kinmem.llm.base import Embedder
from kinmem.models import LIVE, Filters, Memory, Vector
from kinmem.models.record import AUTO, STALE_CONFIDENCE, Link, linked
from kinmem.store.base import Store
from kinmem.store.graph import Origin, Shared
from kinmem.upkeep.entities_and_tags import topics
from kinmem.upkeep.steps import Budget

# Limit for the automatic links of one memory, counting both directions.
PER_MEMORY = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a link from one memory to another."""

    tags: frozenset[str] = frozenset()
    """Shared tags that say what the memories are about (upkeep/entities_and_tags.topics)."""
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


# Age from which the links of a memory are verified, and weak ones that cannot be are dropped.
AUDITED = timedelta(days=7)
# New or edited memories read in one run; 1 to 3 ms each, so usually the time limit ends it first.
NEW_PER_RUN = 10_000
# Memories verified in one run; 100 an hour make 16,800 in seven days.
AUDITS_PER_RUN = 100
# Memories whose candidates are searched for together, and whose links share one transaction.
TOGETHER = 100
NEAREST = 8
# Candidates by tags and entities whose similarity is computed: those that share most.
SHARING = 20


def link(
    store: Store, embedder: Embedder, clock: Clock, budget: Budget, counts: Counter[str]
) -> None:
    """Link own live memories that are new or edited, then verify links not verified for seven days.

    A memory gets at most five automatic links. If an audit finds no more evidence for a link, its
    confidence is halved; stale links are dropped. Links that people have made or removed are left
    alone. Counts seen, linked, doubted and dropped. An interrupted run is continued, newest first.
    No history is written, since all links can be found again.
    """
    rounds, since = store.rounds, clock() - AUDITED
    due = rounds.unseen("linked_at", NEW_PER_RUN)
    due += rounds.due("linked_at", since, AUDITS_PER_RUN)
    for start in range(0, len(due), TOGETHER):
        if budget.is_over():
            break
        part = due[start : start + TOGETHER]
        found = Candidates(store, embedder, part).links()
        counts.update(seen=len(part), linked=len(found.new), doubted=len(found.doubted))
        if not budget.dry_run:
            store.links.add([*found.new, *found.verified])
            store.links.doubt(found.doubted)
            rounds.linked({memory.id: memory.content_hash for memory in part}, clock())
            changed = {id for link in (*found.new, *found.doubted) for id in link.ends}
            store.life.renew(changed)
    counts["dropped"] += store.links.drop_stale(since, dry_run=budget.dry_run)


@dataclass
class Found:
    """Changes to the links of some memories."""

    new: list[Link]
    verified: list[Link]
    doubted: list[Link]


class Candidates:
    """Possible links of some memories, and the evidence for them."""

    def __init__(self, store: Store, embedder: Embedder, memories: Sequence[Memory]) -> None:
        self._store = store
        self._embedder = embedder
        self._memories = {memory.id: memory for memory in memories}
        known = embedder.calibration
        self._scale = Scale.calibrated(known.noise, known.near)

    def links(self) -> Found:
        """Return the changes that bring their links up to date."""
        found = Found([], [], [])
        wanted = {id: self._proposals(memory) for id, memory in self._memories.items()}
        held = self._held({end for some in wanted.values() for one in some for end in one.ends})
        for id, some in wanted.items():
            self._sort_in(id, some, found, held)
        return found

    def _sort_in(self, id: str, wanted: Sequence[Link], found: Found, held: Counter[str]) -> None:
        """Sort into links that are confirmed, links that are not, and the best new ones for which
        both ends have room."""
        old = self._linked(id)
        still = {link.other(id) for link in wanted}
        found.verified += [link for link in wanted if link.other(id) in old]
        found.doubted += [link for other, link in old.items() if other not in still]
        made = {link.ends for link in found.new}
        for one in wanted:
            if one.other(id) in old or one.ends in made:
                continue
            if all(held[end] < PER_MEMORY for end in one.ends):
                found.new.append(one)
                held.update(one.ends)

    def _held(self, ids: Collection[str]) -> Counter[str]:
        """Count the automatic links of each."""
        stored = self._store.links.of(ids)
        return Counter(
            {id: sum(link.origin == AUTO for link in some) for id, some in stored.items()}
        )

    def _linked(self, id: str) -> dict[str, Link]:
        """Return the automatic links of a memory by their other end."""
        return {link.other(id): link for link in self._known.get(id, ()) if link.origin == AUTO}

    def _proposals(self, memory: Memory) -> list[Link]:
        """Return the links of one memory that the evidence supports, the most confident first."""
        links = [
            one
            for id, found in self._evidence(memory).items()
            if frozenset((id, memory.id)) not in self._apart
            and (one := proposed(memory.id, id, found, self._scale))
        ]
        return sorted(links, key=lambda one: (-one.confidence, -one.weight, one.other(memory.id)))

    def _evidence(self, memory: Memory) -> dict[str, Evidence]:
        """Return the evidence by the other memory's id; only for memories that may be linked."""
        shared, near = self._sharing.get(memory.id, {}), self._near.get(memory.id, {})
        most = sorted(shared, key=lambda id: (-_amount(shared[id]), id))[:SHARING]
        named = self._named(memory) & self._live
        origin = self._origins.get(memory.id, Origin())
        ids = named.union(most, near)
        cosines = self._cosines(memory.id, ids - near.keys())
        cosines |= {id: (cosine, None) for id, cosine in near.items()}
        cites = cited(memory.content)
        return {
            id: _evidence(id, shared.get(id, NOTHING), cosines.get(id, (0.0, None)), origin, cites)
            for id in ids
        }

    def _named(self, memory: Memory) -> set[str]:
        """Return the ids it is linked with, comes from or cites."""
        origin = self._origins.get(memory.id, Origin())
        of_record = {id for id in (origin.first, origin.previous, origin.author) if id}
        return of_record.union(cited(memory.content), self._linked(memory.id)) - {memory.id}

    @cached_property
    def _known(self) -> dict[str, list[Link]]:
        return self._store.links.of(self._memories)

    @cached_property
    def _apart(self) -> set[frozenset[str]]:
        return self._store.links.taken_apart(self._memories)

    @cached_property
    def _live(self) -> set[str]:
        """The ids above that are live. Those found by sharing or nearness always are."""
        named = {id for memory in self._memories.values() for id in self._named(memory)}
        return {id for id, memory in self._store.memories(named).items() if memory.state in LIVE}

    @cached_property
    def _sharing(self) -> dict[str, dict[str, Shared]]:
        tags = {
            id: {tag: tag in memory.manual_tags for tag in topics(memory.tags)}
            for id, memory in self._memories.items()
        }
        return self._store.links.sharing(tags)

    @cached_property
    def _origins(self) -> dict[str, Origin]:
        return self._store.links.origins(list(self._memories.values()))

    @cached_property
    def _vectors(self) -> dict[str, Vector]:
        return self._store.index.first_vectors(self._embedder.name, list(self._memories))

    @cached_property
    def _near(self) -> dict[str, dict[str, float]]:
        """By id: the cosines of the memories nearest in meaning."""
        nearest = self._store.index.nearest_each(
            list(self._vectors.values()), self._embedder.name, NEAREST, Filters()
        )
        return {
            id: {
                other: cosine
                for other, cosine in found
                if other != id and cosine >= self._scale.related
            }
            for id, found in zip(self._vectors, nearest, strict=True)
        }

    def _cosines(self, id: str, ids: Collection[str]) -> dict[str, tuple[float, int | None]]:
        """Return for each the cosine of its nearest chunk, and which chunk that is if it has
        several."""
        if id not in self._vectors or not ids:
            return {}
        found = self._store.index.cosines(self._vectors[id], self._embedder.name, ids)
        return {
            other: (max(values), values.index(max(values)) if len(values) > 1 else None)
            for other, values in found.items()
            if values
        }


NOTHING = Shared()


def _evidence(
    id: str,
    shared: Shared,
    near: tuple[float, int | None],
    origin: Origin,
    cites: Collection[str],
) -> Evidence:
    return Evidence(
        tags=frozenset(shared.tags),
        chosen=frozenset(shared.chosen),
        entities=frozenset(shared.entities),
        cosine=near[0],
        chunk=near[1],
        is_cited=id in cites,
        is_part=id == origin.first,
        is_next=id == origin.previous,
        is_authors=id == origin.author,
    )


def _amount(shared: Shared) -> float:
    return 0.3 * len(shared.tags) + 0.4 * len(shared.entities)
