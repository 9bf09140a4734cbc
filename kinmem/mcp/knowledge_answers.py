"""The answers of explore, timeline and the graph, as they are sent."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field

from kinmem.mcp.tool_answers import Memory, Wire, mark_doubtful, stamp
from kinmem.text import cut

if TYPE_CHECKING:
    from kinmem import knowledge, models
    from kinmem.knowledge import Picture
    from kinmem.models.record import Link
    from kinmem.service import Service

# Ids to list of memories that state the same relation.
MOST_IDS = 5
# Characters of a memory that a node shows.
LABEL = 80


class Related(Wire):
    """One relation."""

    of: Annotated[str | None, Field(description="whose it is, if not the one asked for")] = None
    relation: str
    to: str
    type: str
    strength: float
    memory_ids: list[str]
    ended: Annotated[str | None, Field(description="since when no memory in use says so")] = None

    @classmethod
    def told(cls, fact: "knowledge.Relation", service: "Service", name: str | None = None) -> Self:
        return cls(
            of=None if fact.of == name else fact.of,
            relation=fact.relation,
            to=fact.to,
            type=fact.type,
            strength=round(fact.strength, 2),
            memory_ids=list(fact.memories[:MOST_IDS]),
            ended=stamp(fact.ended, service.settings.general.zone),
        )


class Explored(Wire):
    """What is known about somebody or something."""

    name: str
    type: Annotated[
        str, Field(description="subject: no entity, only what memories are filed under")
    ]
    past: Annotated[
        bool | None, Field(description="only superseded or archived memories tell of it")
    ] = None
    aliases: Annotated[list[str] | None, Field(description="other names merged into it")] = None
    called: Annotated[
        dict[str, list[str]] | None, Field(description="by alias: memories that call it so")
    ] = None
    salience: float | None = None
    count: Annotated[int, Field(description="memories about it")]
    first: str | None = None
    last: str | None = None
    relations: list[Related] | None = None
    neighbours: list[Related] | None = None
    memories: list[Memory]
    also: Annotated[list[str] | None, Field(description="others that are called so")] = None
    way: Annotated[list[Related] | None, Field(description="from it to `to`; empty: none")] = None

    @classmethod
    def of(cls, card: "knowledge.Card", way: "knowledge.Way | None", service: "Service") -> Self:
        zone = service.settings.general.zone
        latest = [Memory.listed(memory, service) for memory in card.latest]
        mark_doubtful(latest, service)
        return cls(
            name=card.name,
            type=card.type,
            past=card.is_past or None,
            aliases=list(card.aliases) or None,
            called={alias: list(ids[:MOST_IDS]) for alias, ids in card.called.items()} or None,
            salience=round(card.salience, 2) or None,
            count=card.memories,
            first=stamp(card.first, zone),
            last=stamp(card.last, zone),
            relations=[Related.told(fact, service, card.name) for fact in card.relations] or None,
            neighbours=[Related.told(fact, service) for fact in card.neighbours] or None,
            memories=latest,
            also=list(card.also) or None,
            way=None if way is None else [Related.told(step, service) for step in way.steps],
        )


class Moment(Memory):
    """One memory in the order of time."""

    at: Annotated[str | None, Field(description="when it happened or was said, else stored")] = None
    until: Annotated[str | None, Field(description="it was so until then")] = None
    superseded_by: str | None = None

    @classmethod
    def told(cls, memory: "models.Memory", service: "Service") -> Self:
        zone = service.settings.general.zone
        view = cls.listed(memory, service)
        view.at = stamp(memory.said_at, zone)
        view.until = stamp(memory.valid_to, zone)
        view.superseded_by = memory.superseded_by
        return view


class Timeline(Wire):
    """What happened, the earliest first."""

    memories: list[Moment]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: "models.Page", service: "Service") -> Self:
        moments = [Moment.told(memory, service) for memory in page.memories]
        mark_doubtful(moments, service)
        return cls(memories=moments, next_cursor=page.next_cursor)


class Node(Wire):
    """memory: size it by priority, group it by category or subject. entity: who or what memories
    are about; its id is entity:type:name, its priority the salience."""

    id: str
    kind: str
    label: str
    type: Annotated[str, Field(description="category of a memory, type of an entity")]
    subject: str | None = None
    scope: str | None = None
    source: str | None = None
    state: str | None = None
    tier: str | None = None
    priority: float | None = None
    tags: list[str] | None = None


class Edge(Wire):
    """Between two memories, two entities, or from an entity to a memory about it: mentioned_in."""

    source: str
    target: str
    relation: str
    weight: float = 1.0
    confidence: float = 1.0
    automatic: bool | None = None


class Graph(Wire):
    """Nodes and the edges between them, bounded."""

    nodes: list[Node]
    edges: list[Edge]
    truncated: Annotated[bool | None, Field(description="there is more than this")] = None

    @classmethod
    def of(cls, picture: "Picture", now: datetime) -> Self:
        names = {
            entity.key: f"entity:{entity.key.type}:{entity.key.folded}"
            for entity in picture.entities
        }
        nodes = [_node(memory) for memory in picture.memories]
        nodes += [
            Node(
                id=names[entity.key],
                kind="entity",
                label=entity.name,
                type=entity.key.type,
                priority=round(entity.salience(now), 3),
            )
            for entity in picture.entities
        ]
        edges = [_edge(link) for link in picture.links]
        edges += [
            Edge(source=name, target=id, relation="mentioned_in")
            for key, name in names.items()
            for id in picture.about[key]
        ]
        edges += [
            Edge(
                source=names[fact.source],
                target=names[fact.target],
                relation=fact.relation,
                weight=round(fact.strength(now), 3),
                confidence=round(fact.confidence, 3),
                automatic=True,
            )
            for fact in picture.relations
        ]
        return cls(nodes=nodes, edges=edges, truncated=picture.is_cut or None)


def _edge(link: "Link") -> Edge:
    return Edge(
        source=link.source,
        target=link.target,
        relation=link.relation,
        weight=round(link.weight, 3),
        confidence=round(link.confidence, 3),
        automatic=link.origin == "auto" or None,
    )


def _node(memory: "models.Memory") -> Node:
    return Node(
        id=memory.id,
        kind="memory",
        label=memory.title or cut(memory.content, LABEL),
        type=memory.category,
        subject=memory.subject,
        scope=memory.scope,
        source=memory.source,
        state=memory.state,
        tier=memory.tier,
        priority=None if memory.priority is None else round(memory.priority, 3),
        tags=list(memory.tags) or None,
    )
