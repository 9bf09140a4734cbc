"""Connections of memories: links, supersession, contradictions, and the graph of them all."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from kinmem.models import Memory, State
from kinmem.models.links import AUTO, Link
from kinmem.store.base import Store
from kinmem.store.graph import Edge, Key, Known

# Evidence of the link that an open conflict implies.
UNDECIDED = "undecided"
UNSEEN = (State.DELETED, State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Connection:
    """A link as seen from one of its ends."""

    memory: Memory
    """The memory at the other end."""
    relation: str
    """How that memory relates to this one: see links.RELATIONS, and INVERSE for the other
    direction."""
    weight: float = 1.0
    confidence: float | None = 1.0
    """None of an open conflict, which says in words how sure the judge was, if it was asked."""
    is_automatic: bool = False
    undecided: str | None = None
    """Of an open conflict, why a person has to decide."""


def connections(store: Store, ids: Collection[str]) -> dict[str, list[Connection]]:
    """Return the connections of each of these memories that has any, stored links first.

    They include what follows from the memories themselves (superseded, open contradictions).
    """
    links = store.links.of(ids)
    implied = _implied(store, ids)
    ends = {
        end for some in chain(links.values(), implied.values()) for one in some for end in one.ends
    }
    known = store.memories(ends)
    found = defaultdict(list)
    for id in ids:
        seen = set()
        for link in (*links.get(id, ()), *implied.get(id, ())):
            other, relation = known.get(link.other(id)), link.seen_from(id)
            if other is None or other.state in UNSEEN or (other.id, relation) in seen:
                continue
            seen.add((other.id, relation))
            found[id].append(_seen(link, other, relation))
    return dict(found)


def _seen(link: Link, other: Memory, relation: str) -> Connection:
    undecided = link.evidence.get(UNDECIDED)
    confidence = link.confidence if undecided is None else None
    is_automatic = link.origin == AUTO
    return Connection(other, relation, link.weight, confidence, is_automatic, undecided)


def _implied(store: Store, ids: Collection[str]) -> dict[str, list[Link]]:
    """Return links that are not stored because memories and open conflicts already imply them."""
    found = defaultdict(list)
    for id, memory in store.memories(ids).items():
        if memory.superseded_by:
            found[id].append(Link(memory.superseded_by, id, "supersedes", origin=AUTO))
        found[id] += [
            Link(id, other, "supersedes", origin=AUTO) for other in store.past.superseded_by([id])
        ]
    for conflict in store.decisions.conflicts():
        for id in {conflict.newer, conflict.older}.intersection(ids):
            why = {UNDECIDED: conflict.reason}
            link = Link(conflict.newer, conflict.older, "contradicts", origin=AUTO, evidence=why)
            found[id].append(link)
    return found


# The graph that can be drawn: a few hundred nodes, and the edges between them.
MOST_ENTITIES = 200
MOST_EDGES = 5000


@dataclass(frozen=True, slots=True)
class Picture:
    """The nodes and edges to draw.

    Both ends of every edge are among the memories or the entities.
    """

    memories: list[Memory]
    """Best connected first."""
    links: list[Link]
    """Heaviest first."""
    entities: list[Known]
    """Those that most of the memories are about first."""
    about: Mapping[Key, Collection[str]]
    """Ids of the memories about each entity."""
    relations: list[Edge]
    """Relations between the entities."""
    is_cut: bool
    """Whether more exists than is listed."""


def picture(store: Store, limit: int) -> Picture:
    """Return at most `limit` live memories, those with the most links first, then by priority; the
    entities that two or more of them are about, at most 200; and the edges between them, at most
    5,000 links."""
    densest = store.links.densest(limit + 1)
    ids = densest[:limit]
    known = store.memories(ids)
    memories = [known[id] for id in ids if id in known]
    links = _links_between(store, known)
    about = {key: some for key, some in store.links.about(known).items() if len(some) > 1}
    common = sorted(about, key=lambda key: (-len(about[key]), key))
    entities = store.graph.known(common[:MOST_ENTITIES])
    relations = [
        edge
        for edge in store.graph.edges(entities)
        if edge.source in entities and edge.target in entities
    ]
    is_cut = len(densest) > limit or len(links) > MOST_EDGES or len(common) > MOST_ENTITIES
    listed = [entities[key] for key in common if key in entities]
    return Picture(memories, links[:MOST_EDGES], listed, about, relations, is_cut)


def _links_between(store: Store, memories: Collection[str]) -> list[Link]:
    """Return the links between the memories, each once, heaviest first."""
    ids = set(memories)
    links = {
        (link.source, link.target, link.relation): link
        for some in store.links.of(ids).values()
        for link in some
        if link.ends <= ids
    }
    return sorted(links.values(), key=lambda link: (-link.weight, link.source, link.target))
