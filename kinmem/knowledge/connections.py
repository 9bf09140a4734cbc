"""What a memory is connected with: its links, what it replaced or contradicts; the graph of all."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from kinmem.links import AUTO, Link
from kinmem.models import Memory, State
from kinmem.store.base import Store
from kinmem.store.graph import Edge, Key, Known

UNSEEN = (State.DELETED, State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Connection:
    """One end of a link, seen from the other."""

    memory: Memory
    """What stands at the other end."""
    relation: str
    """What it is to this memory: see links.RELATIONS, and INVERSE for the other direction."""
    weight: float = 1.0
    confidence: float = 1.0
    is_automatic: bool = False


def connections(store: Store, ids: Collection[str]) -> dict[str, list[Connection]]:
    """Of each of these memories, as far as it has any, those with links first.

    What follows from the memories themselves (superseded, open contradictions) is among them.
    """
    links = store.links.of(ids)
    implied = _implied(store, ids)
    ends = {
        end for some in chain(links.values(), implied.values()) for one in some for end in one.ends
    }
    known = store.memories(ends)
    found = defaultdict(list)
    for id in ids:
        told = set()
        for one in (*links.get(id, ()), *implied.get(id, ())):
            other, relation = known.get(one.other(id)), one.seen_from(id)
            if other is None or other.state in UNSEEN or (other.id, relation) in told:
                continue
            told.add((other.id, relation))
            found[id].append(
                Connection(other, relation, one.weight, one.confidence, one.origin == AUTO)
            )
    return dict(found)


def _implied(store: Store, ids: Collection[str]) -> dict[str, list[Link]]:
    """Links that nobody stores, since the memories and open conflicts say so already."""
    found = defaultdict(list)
    for id, memory in store.memories(ids).items():
        if memory.superseded_by:
            found[id].append(Link(memory.superseded_by, id, "supersedes", origin=AUTO))
        found[id] += [
            Link(id, other, "supersedes", origin=AUTO) for other in store.past.superseded_by([id])
        ]
    for conflict in store.decisions.conflicts():
        for id in {conflict.newer, conflict.older}.intersection(ids):
            found[id].append(Link(conflict.newer, conflict.older, "contradicts", origin=AUTO))
    return found


# The memory as a graph that can be drawn: some hundred nodes, and the edges between them.
MOST_ENTITIES = 200
MOST_EDGES = 5000


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn. Every end of an edge is among the memories, or among the entities."""

    memories: list[Memory]
    """The best connected first."""
    links: list[Link]
    """The weightiest first."""
    entities: list[Known]
    """Those that most of the memories are about first."""
    about: Mapping[Key, Collection[str]]
    """Ids of the memories about each of them."""
    relations: list[Edge]
    """Between the entities."""
    is_cut: bool
    """Whether there is more than this."""


def picture(store: Store, limit: int) -> Picture:
    """At most `limit` live memories, those with the most links and then the highest priority; whom
    two or more of them are about, 200 at most; and what joins them, 5,000 links at most."""
    ids = store.links.densest(limit)
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
    is_cut = len(ids) == limit or len(links) > MOST_EDGES or len(common) > MOST_ENTITIES
    told = [entities[key] for key in common if key in entities]
    return Picture(memories, links[:MOST_EDGES], told, about, relations, is_cut)


def _links_between(store: Store, memories: Collection[str]) -> list[Link]:
    """Those between the memories, each once."""
    links = {
        (link.source, link.target, link.relation): link
        for some in store.links.of(memories).values()
        for link in some
        if link.ends <= set(memories)
    }
    return sorted(links.values(), key=lambda one: (-one.weight, one.source, one.target))
