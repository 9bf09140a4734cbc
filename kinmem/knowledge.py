"""What is known of people and things, and how memories hang together: names, relations and paths of
an entity; timelines; links, supersession and contradictions; the graph of them all.

Everything here is derived from the memories that the Kin can see, as they are now.
"""

import difflib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import chain

from kinmem.errors import EntityNotFound, InvalidInput
from kinmem.language import inverse_relation
from kinmem.models import LIVE, Filters, Memory, Page, State
from kinmem.models.record import AUTO, Link
from kinmem.models.turns import Conflict
from kinmem.store.base import Store
from kinmem.store.graph import Edge, Key, Known, Reach
from kinmem.text import folded
from kinmem.validation import checked_subject, checked_time

MOST_RELATIONS = 20
MOST_MEMORIES = 10
# Similar names to suggest for an unknown one.
MOST_LIKE = 3
# Entities to search for similar names, those with the most memories first.
MOST_LOOKED_AT = 1000
PAST = (State.SUPERSEDED, State.ARCHIVED)
# Most steps in a path between two entities (Keyoku).
MOST_HOPS = 5
# Most entities to visit in search of a path.
MOST_VISITED = 100
# Strength that a relation needs to be part of a path, or to lead to a neighbour (Keyoku).
STRONG = 0.3
# Words by which people name the user whose memory this is.
SELF = frozenset({"i", "me", "myself", "user", "ich", "moi", "yo", "io", "eu"})


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation as read from one of its ends."""

    of: str
    """The name at this end."""
    relation: str
    to: str
    type: str
    """Type of the entity at the other end."""
    strength: float
    memories: tuple[str, ...]
    """Ids of the memories that state it."""
    ended: datetime | None = None
    """When it ceased to hold; None: it holds."""


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of an entity, or of a subject that is no entity."""

    name: str
    type: str
    """Type of the entity; "subject" for a name that memories are only filed under."""
    aliases: tuple[str, ...]
    """Other names that were merged into this one, the most frequent first."""
    salience: float
    memories: int
    """Number of memories about it; past ones only if the card is past."""
    first: datetime | None
    last: datetime | None
    relations: list[Relation]
    """Its own relations: those that hold first, then the strongest; at most 20."""
    latest: list[Memory]
    """The latest memories about it; at most ten."""
    neighbours: list[Relation] = field(default_factory=list)
    """Relations of the entities it is related to."""
    also: tuple[str, ...] = ()
    """Other entities of that name, with their types."""
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For each alias the ids of the memories that use it, the latest first."""
    is_past: bool = False
    """Whether only superseded and archived memories are about it, so that nothing on the card holds
    now."""


@dataclass(frozen=True, slots=True)
class Way:
    """A path from one entity to another."""

    source: str
    target: str
    steps: list[Relation]
    """In order; empty if no path of at most five steps is known."""


def explore(store: Store, name: str, now: datetime, *, depth: int = 1) -> Card:
    """Return what is known about the entity with that name or alias, else about the subject.

    With `depth` 2 the relations of its neighbours are added, up to 20 relations in all. Of several
    entities the one with the most memories is taken. If nothing in use is about it any more, the
    card shows the past. Raises EntityNotFound.
    """
    if depth not in (1, 2):
        raise InvalidInput(f"depth {depth} is neither 1 nor 2")
    wanted = _wanted(name)
    if found := store.graph.find([wanted]):
        return _card(store, found, now, "once", depth)
    if card := _subject(store, wanted):
        return card
    if found := store.graph.find([wanted], "ever"):
        return _card(store, found, now, "ever")
    if card := _subject(store, wanted, PAST):
        return card
    raise EntityNotFound(name, _like(store, wanted))


def _card(
    store: Store, found: Sequence[Known], now: datetime, reach: Reach, depth: int = 1
) -> Card:
    """Build the card of the first entity found. `reach` is how far back its relations go."""
    known, *others = found
    is_past = reach == "ever"
    shown: Reach = "ever" if is_past else "now"
    relations = _seen([known.key], store.graph.edges([known.key], reach), now)
    next_to = _neighbours(store, known.key, now) if depth == 2 else []
    about = store.graph.memories([known.key], MOST_MEMORIES, shown)
    return Card(
        known.name,
        known.key.type,
        known.aliases,
        0.0 if is_past else known.salience(now),
        known.memories,
        known.first,
        known.last,
        relations[:MOST_RELATIONS],
        _latest(store, about),
        next_to[: MOST_RELATIONS - len(relations[:MOST_RELATIONS])],
        tuple(f"{other.name} ({other.key.type})" for other in others),
        store.graph.called(known.key, shown),
        is_past,
    )


def way(store: Store, source: str, target: str, now: datetime) -> Way:
    """Return the shortest path between two entities over relations of strength 0.3 or more, with at
    most five steps and a hundred visited entities. Raises EntityNotFound."""
    start, goal = _entity(store, source), _entity(store, target)
    came: dict[Key, Edge | None] = {start.key: None}
    frontier = [start.key]
    for _ in range(MOST_HOPS):
        if goal.key in came or not frontier:
            break
        frontier = _further(store, frontier, came, now)
    steps: list[Relation] = []
    at = goal.key
    while (edge := came.get(at)) is not None:
        before = edge.other(at)
        steps.insert(0, _relation(before, edge, now))
        at = before
    return Way(start.name, goal.name, steps)


def _further(
    store: Store, frontier: Collection[Key], came: dict[Key, Edge | None], now: datetime
) -> list[Key]:
    """Return the new entities one step away, those with strong relations first."""
    reached = []
    edges = store.graph.edges(frontier)
    for edge in sorted(edges, key=lambda one: -one.strength(now)):
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            is_new = here in frontier and there not in came and len(came) < MOST_VISITED
            if is_new and edge.strength(now) >= STRONG:
                came[there] = edge
                reached.append(there)
    return reached


def _wanted(name: str) -> str:
    wanted = checked_subject(name)
    if wanted is None:
        raise InvalidInput("name is empty; say whom or what")
    return "the user" if wanted.casefold() in SELF else wanted


def _entity(store: Store, name: str) -> Known:
    wanted = _wanted(name)
    found = store.graph.find([wanted]) or store.graph.find([wanted], "ever")
    if not found:
        raise EntityNotFound(name, _like(store, wanted))
    return found[0]


def _subject(store: Store, name: str, states: tuple[State, ...] | None = None) -> Card | None:
    """Return a card of the memories filed under the name in these states; None: those in use."""
    memories = store.page(Filters(subject=name, states=states), "newest", MOST_MEMORIES).memories
    if not memories:
        return None
    times = [memory.said_at for memory in memories]
    return Card(
        name,
        "subject",
        (),
        0.0,
        len(memories),
        min(times),
        max(times),
        [],
        memories,
        is_past=states is not None,
    )


def _like(store: Store, name: str) -> list[str]:
    """Return known names that share a word with this one or are spelt similarly; at most three."""
    wanted = folded(name)
    known = {one.key.folded: one.name for one in store.graph.most_told(MOST_LOOKED_AT)}
    words = set(wanted.split())
    near = [plain for plain in known if words & set(plain.split())]
    near += difflib.get_close_matches(wanted, known, MOST_LIKE)
    return [known[plain] for plain in dict.fromkeys(near)][:MOST_LIKE]


def _neighbours(store: Store, key: Key, now: datetime) -> list[Relation]:
    near = {edge.other(key) for edge in store.graph.edges([key]) if edge.strength(now) >= STRONG}
    edges = store.graph.edges(near) if near else []
    return _seen(near, [edge for edge in edges if key not in (edge.source, edge.target)], now)


def _seen(keys: Collection[Key], edges: Collection[Edge], now: datetime) -> list[Relation]:
    """Return the relations as seen from the given entities: those that hold first, then the
    strongest."""
    ends = [(edge.source if edge.source in keys else edge.target, edge) for edge in edges]
    return sorted(
        (_relation(key, edge, now) for key, edge in ends),
        key=lambda seen: (seen.ended is not None, -seen.strength, seen.relation, seen.to),
    )


def _relation(key: Key, edge: Edge, now: datetime) -> Relation:
    other = edge.other(key)
    is_target = key != edge.source
    return Relation(
        edge.names[key],
        inverse_relation(edge.relation) if is_target else edge.relation,
        edge.names[other],
        other.type,
        edge.strength(now),
        edge.memories,
        edge.ended,
    )


def _latest(store: Store, ids: Collection[str]) -> list[Memory]:
    found = store.memories(ids)
    return [found[id] for id in ids if id in found]


# Timelines: what happened, in order, to a subject, on a day, in a month or year, or both.
# What once held is part of what happened. Its valid_to says until when.
TIMELINE_STATES = (*LIVE, State.ARCHIVED, State.SUPERSEDED)
MOST_ON_PAGE = 200


def timeline(
    store: Store,
    now: datetime,
    zone: tzinfo,
    *,
    subject: str | None = None,
    day: str | datetime | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page:
    """Return one page of visible memories by the time they happened or were said, the earliest
    first.

    `subject` finds memories that have it and memories about an entity of that name. `day` is a
    date, a month (2026-05), a year, or yesterday. Memories superseded since then are included.
    """
    if not 1 <= limit <= MOST_ON_PAGE:
        raise InvalidInput(f"limit {limit} is not between 1 and {MOST_ON_PAGE}")
    subject = checked_subject(subject)
    filters = Filters(
        subject=subject,
        about=() if subject is None else _names(store, subject),
        since=checked_time(day, "day", zone, now=now),
        until=checked_time(day, "day", zone, end=True, now=now),
        states=TIMELINE_STATES,
    )
    return store.page(filters, "said", limit, cursor)


def _names(store: Store, subject: str) -> tuple[str, ...]:
    """Return the folded names of entities that the subject may mean."""
    found = {one.key.folded for one in store.graph.find([subject])}
    return tuple(sorted({folded(subject), *found}))


UNSEEN = (State.DELETED, State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Connection:
    """A link as seen from one of its ends."""

    memory: Memory
    """The memory at the other end."""
    relation: str
    """How that memory relates to this one: see record.RELATIONS, and INVERSE for the other
    direction."""
    weight: float = 1.0
    confidence: float | None = 1.0
    """Of an open conflict its chance, None if the form of the texts tells it."""
    is_automatic: bool = False
    undecided: str | None = None
    """Of an open conflict, why a person has to decide."""


def connections(store: Store, ids: Collection[str]) -> dict[str, list[Connection]]:
    """Return the connections of each of these memories that has any, stored links first.

    They include what follows from the memories themselves (superseded, open contradictions).
    """
    links = store.links.of(ids)
    implied = _implied(store, ids)
    ends = {end for one in chain.from_iterable(links.values()) for end in one.ends} | {
        end for one, _ in chain.from_iterable(implied.values()) for end in one.ends
    }
    known = store.memories(ends)
    found = defaultdict(list)
    for id in ids:
        seen = set()
        stored = ((link, None) for link in links.get(id, ()))
        for link, conflict in (*stored, *implied.get(id, ())):
            other, relation = known.get(link.other(id)), link.seen_from(id)
            if other is None or other.state in UNSEEN or (other.id, relation) in seen:
                continue
            seen.add((other.id, relation))
            found[id].append(_connection(link, other, relation, conflict))
    return dict(found)


def _connection(link: Link, other: Memory, relation: str, conflict: Conflict | None) -> Connection:
    confidence = link.confidence if conflict is None else conflict.chance
    undecided = None if conflict is None else conflict.reason
    is_automatic = link.origin == AUTO
    return Connection(other, relation, link.weight, confidence, is_automatic, undecided)


Implied = tuple[Link, Conflict | None]
"""A link, and the open conflict that it is."""


def _implied(store: Store, ids: Collection[str]) -> dict[str, list[Implied]]:
    """Return links that are not stored because memories and open conflicts already imply them."""
    found: dict[str, list[Implied]] = defaultdict(list)
    for id, memory in store.memories(ids).items():
        if memory.superseded_by:
            found[id].append((Link(memory.superseded_by, id, "supersedes", origin=AUTO), None))
        for other in store.past.superseded_by([id]):
            found[id].append((Link(id, other, "supersedes", origin=AUTO), None))
    for conflict in store.decisions.conflicts():
        for id in {conflict.newer, conflict.older}.intersection(ids):
            link = Link(conflict.newer, conflict.older, "contradicts", origin=AUTO)
            found[id].append((link, conflict))
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
