"""The memory as a graph that can be drawn: some hundred nodes, and the edges between them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kinmem.links import Link
from kinmem.models import Memory
from kinmem.store.base import Store
from kinmem.store.graph import Edge, Key, Known

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
    links = _links(store, known)
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


def _links(store: Store, memories: Collection[str]) -> list[Link]:
    """Those between the memories, each once."""
    links = {
        (link.source, link.target, link.relation): link
        for some in store.links.of(memories).values()
        for link in some
        if link.ends <= set(memories)
    }
    return sorted(links.values(), key=lambda one: (-one.weight, one.source, one.target))
