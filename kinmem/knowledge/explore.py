"""What is known of somebody or something: names, relations, memories, ways between two; a timeline.

Everything here follows from memories that the Kin sees, as they are now.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from kinmem.errors import EntityNotFound, InvalidInput
from kinmem.language import inverse_relation
from kinmem.models import LIVE, Filters, Memory, Page, State
from kinmem.store.base import Store
from kinmem.store.graph import Edge, Key, Known, Reach
from kinmem.text import folded
from kinmem.validation import checked_subject, checked_time

MOST_RELATIONS = 20
MOST_MEMORIES = 10
MOST_LIKE = 3
"""Names that are offered for one that is not known, """
MOST_LOOKED_AT = 1000
"""of so many, the most told of."""
PAST = (State.SUPERSEDED, State.ARCHIVED)
MOST_HOPS = 5
"""Of a way between two (Keyoku)."""
MOST_VISITED = 100
"""Entities that are looked at for a way."""
STRONG = 0.3
"""Strength that a relation needs to be part of a way, or to lead to a neighbour (Keyoku)."""
SELF = frozenset({"i", "me", "myself", "user", "ich", "moi", "yo", "io", "eu"})
"""What people call the one whose memory this is."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation as it is read from one end."""

    of: str
    """Whose it is."""
    relation: str
    to: str
    type: str
    """Of the other end."""
    strength: float
    memories: tuple[str, ...]
    """Ids of those that say so."""
    ended: datetime | None = None
    """Since when it holds no more; None: it holds."""


@dataclass(frozen=True, slots=True)
class Card:
    """An entity, or a subject that is none."""

    name: str
    type: str
    """Of the entity; subject for what memories are only filed under."""
    aliases: tuple[str, ...]
    """Other names, which were merged into this one; the most frequent first."""
    salience: float
    memories: int
    """How many are about it. If it is past, so are they."""
    first: datetime | None
    last: datetime | None
    relations: list[Relation]
    """Its own, what holds first and the strongest first; 20 at most."""
    latest: list[Memory]
    """Of the memories about it, ten at most."""
    neighbours: list[Relation] = field(default_factory=list)
    """Those of the entities it is related to."""
    also: tuple[str, ...] = ()
    """Others that are called so, with their types."""
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By each alias the ids of the memories that call it so, the latest first."""
    is_past: bool = False
    """Whether only superseded and archived memories are about it: nothing told here holds now."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one entity leads to another."""

    source: str
    target: str
    steps: list[Relation]
    """In order; none where no way of five steps is known."""


def explore(store: Store, name: str, now: datetime, *, depth: int = 1) -> Card:
    """What is known about the entity of that name or alias, else about the subject.

    `depth` 2 tells the relations of those it is related to as well, 20 relations in all. Of several
    entities the one that most memories are about. What nothing in use is about any more is told as
    past. Raises EntityNotFound.
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
    """Of the first; `reach` is how far back its relations are told."""
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
    """The shortest way from one to the other over relations of a strength of 0.3 or more, of five
    steps and a hundred entities at most. Raises EntityNotFound."""
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
    """The entities one step away that are new; strong relations lead there first."""
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
    """What is filed under the name, in one of these states; None: what is in use."""
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
    """Known names that have a word of this one, or are spelt nearly so; three at most."""
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
    """From the end that is among the keys; what holds first, the strongest first."""
    told = [_relation(one.source if one.source in keys else one.target, one, now) for one in edges]
    return sorted(
        told, key=lambda one: (one.ended is not None, -one.strength, one.relation, one.to)
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


# A timeline: what happened, in order: of a subject, of a day, a month or a year, or of both.
TIMELINE_STATES = (*LIVE, State.ARCHIVED, State.SUPERSEDED)
"""What was so once is part of what happened; its valid_to says until when."""
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
    """One page of what is visible, by the time when it happened or was said, the earliest first.

    Of a subject is what has it, and what is about somebody or something called so. `day` is a date,
    a month (2026-05), a year, or yesterday; what was superseded since is there as well.
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
    """By which an entity that may be called so is known."""
    found = {one.key.folded for one in store.graph.find([subject])}
    return tuple(sorted({folded(subject), *found}))
