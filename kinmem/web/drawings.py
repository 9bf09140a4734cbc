"""What the page draws: charts, and the graph of memories, entities, projects and Kins, with what
joins them and where each is.

Templates draw it as SVG. Nothing here is styled.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinmem.knowledge import Picture
from kinmem.models import Memory
from kinmem.models.record import INVERSE, RELATIONS
from kinmem.models.turns import Conflict
from kinmem.text import folded
from kinmem.web.render import address, visible

Kind = Literal["memory", "entity", "project", "kin"]
KINDS: tuple[Kind, ...] = ("memory", "entity", "project", "kin")
# What joins other than links between memories: a relation of two entities, what a memory is about,
# the project it was told in, and the Kin that shares it.
JOINS = (*RELATIONS, "stated", "about", "within", "shared_by")
# Each as it is called when seen from its target; a relation of entities keeps its own words.
FROM_TARGET = {**INVERSE, "about": "told_in", "within": "holds", "shared_by": "shares"}
MOST_NODES, MOST_EDGES = 2000, 5000
MOST_PROJECTS = 100
LABEL, NAME = 120, 60


@dataclass(frozen=True, slots=True)
class Node:
    """Something that is drawn as a dot."""

    id: str
    kind: Kind
    label: str
    """What people see of it; hidden characters are written out."""
    to: str
    """The page about it."""
    tier: str = ""
    """Of a memory."""

    @property
    def name(self) -> str:
        """The label where it stands among others."""
        if len(self.label) <= NAME:
            return self.label
        return f"{self.label[:NAME].rsplit(' ', 1)[0]}…"


@dataclass(frozen=True, slots=True)
class Join:
    """A line between two nodes."""

    source: str
    target: str
    relation: str
    """One of JOINS."""
    told: str = ""
    """How the memories call a relation of two entities."""

    def other(self, id: str) -> str:
        return self.target if id == self.source else self.source

    def seen_from(self, id: str) -> str:
        """Return how it is called at that end: `relation.<name>` of the catalogue."""
        return self.relation if id == self.source else FROM_TARGET.get(self.relation, "stated")


@dataclass(frozen=True)
class Graph:
    """Nodes and the lines between them; each end of a line is a node."""

    nodes: Mapping[str, Node]
    """The best connected first."""
    joins: Sequence[Join]
    is_cut: bool

    @cached_property
    def by_node(self) -> Mapping[str, Sequence[Join]]:
        """The lines at each node that has any."""
        found: dict[str, list[Join]] = defaultdict(list)
        for join in self.joins:
            found[join.source].append(join)
            found[join.target].append(join)
        return found

    @cached_property
    def relations(self) -> Sequence[str]:
        """The relations that there are, in the order of JOINS."""
        known = {join.relation for join in self.joins}
        return [relation for relation in JOINS if relation in known]

    @cached_property
    def places(self) -> Mapping[str, tuple[float, float]]:
        """Where each node is drawn. Takes a second for the largest graph."""
        numbers = {id: number for number, id in enumerate(self.nodes)}
        edges = [(numbers[join.source], numbers[join.target]) for join in self.joins]
        points: Points = positions(len(numbers), edges)
        return {id: (float(points[n, 0]), float(points[n, 1])) for id, n in numbers.items()}

    def kept(self, keep: Callable[[Node], bool], joins: Callable[[Join], bool]) -> "Graph":
        """Return what is left of it: nodes, and those lines whose ends are both left."""
        nodes = {id: node for id, node in self.nodes.items() if keep(node)}
        left = [
            one for one in self.joins if one.source in nodes and one.target in nodes and joins(one)
        ]
        return Graph(nodes, left, self.is_cut)


def graph_of(picture: Picture, conflicts: Iterable[Conflict], kin: str) -> Graph:
    """Return the graph that a Kin sees: entities, projects and other Kins, and as many memories as
    there is room for."""
    others = [*_entities(picture), *_projects(picture.memories), *_kins(picture.memories, kin)]
    others = others[: MOST_NODES // 2]
    room = MOST_NODES - len(others)
    shown = [*map(_memory, picture.memories[:room]), *others]
    joins = [join for join in _joins(picture, conflicts, kin) if join.source != join.target]
    nodes = {node.id: node for node in shown}
    left = [join for join in joins if join.source in nodes and join.target in nodes]
    many = Counter(id for join in left[:MOST_EDGES] for id in (join.source, join.target))
    ranked = dict(sorted(nodes.items(), key=lambda pair: (-many[pair[0]], pair[0])))
    is_cut = picture.is_cut or len(picture.memories) > room or len(left) > MOST_EDGES
    return Graph(ranked, left[:MOST_EDGES], is_cut)


def _memory(memory: Memory) -> Node:
    label = _short(memory.title or memory.content)
    return Node(memory.id, "memory", label, f"/memory/{memory.id}", memory.tier)


def _entities(picture: Picture) -> Iterable[Node]:
    for entity in picture.entities:
        to = address("/memories", subject=entity.name)
        yield Node(_name(entity.key), "entity", _short(entity.name), to)


def _projects(memories: Iterable[Memory]) -> Iterable[Node]:
    counts = Counter(memory.place for memory in memories if memory.place)
    for place, _ in counts.most_common(MOST_PROJECTS):
        label = _short(place.rstrip("/").split("/")[-1])
        yield Node(f"project:{place}", "project", label, address("/memories", place=place))


def _kins(memories: Iterable[Memory], own: str) -> Iterable[Node]:
    for kin in sorted({memory.kin for memory in memories} - {own}):
        yield Node(f"kin:{kin}", "kin", _short(kin), address("/memories", scope="shared"))


def _joins(picture: Picture, conflicts: Iterable[Conflict], kin: str) -> Iterable[Join]:
    """Yield every line, what says most first: there may be no room for all of them."""
    for conflict in conflicts:
        yield Join(conflict.newer, conflict.older, "contradicts")
    for edge in picture.relations:
        yield Join(_name(edge.source), _name(edge.target), "stated", visible(edge.relation))
    for link in picture.links:
        yield Join(link.source, link.target, link.relation)
    for key, ids in picture.about.items():
        for id in ids:
            yield Join(id, _name(key), "about")
    for memory in picture.memories:
        if memory.place:
            yield Join(memory.id, f"project:{memory.place}", "within")
        if memory.kin != kin:
            yield Join(memory.id, f"kin:{memory.kin}", "shared_by")


def _name(key: tuple[str, str]) -> str:
    return f"entity:{key[1]}:{key[0]}"


def _short(text: str) -> str:
    line = " ".join(visible(text[: 2 * LABEL]).split())
    return line if len(line) <= LABEL else f"{line[: LABEL - 1]}…"


def filtered(
    graph: Graph, *, kind: str = "", tier: str = "", relation: str = "", words: str = ""
) -> Graph:
    """Return the part of the graph that was asked for; an empty filter asks for all.

    What carries the `words` is shown with whatever it is joined to, memories of a `tier` with what
    they are about, and a `relation` with its two ends.
    """
    if words:
        wanted = folded(words)
        graph = _around(graph, {id for id, n in graph.nodes.items() if wanted in folded(n.label)})
    if tier:
        graph = graph.kept(lambda node: node.tier in ("", tier), lambda join: True)
        graph = _around(graph, {id for id, node in graph.nodes.items() if node.tier})
    if kind:
        graph = graph.kept(lambda node: node.kind == kind, lambda join: True)
    if relation:
        graph = graph.kept(lambda node: True, lambda join: join.relation == relation)
        graph = graph.kept(lambda node: node.id in graph.by_node, lambda join: True)
    return graph


def _around(graph: Graph, ids: set[str]) -> Graph:
    """Return these nodes with those that are joined to them."""
    near = {join.other(id) for id in ids for join in graph.by_node.get(id, ())}
    return graph.kept(lambda node: node.id in ids | near, lambda join: True)


Points = NDArray[np.float32]
ROUNDS = 90
# Nodes that repel the others at a time: their distances fit into the processor's cache.
BLOCK = 128
SEED = 16
# How strongly everything is drawn to the middle: what is not linked then fills a disc.
GRAVITY = 0.4


def positions(count: int, edges: Sequence[tuple[int, int]]) -> Points:
    """Return x and y of each node, the same for the same graph; two that are linked are about 1
    apart.

    Fruchterman and Reingold's forces (Graph Drawing by Force-directed Placement, 1991): each pair
    repels with 1 / distance, each edge attracts with distance squared, and steps become shorter.
    """
    chance = np.random.default_rng(SEED)
    radius = float(np.sqrt(max(count, 1)))
    points = chance.uniform(-radius, radius, (count, 2)).astype(np.float32)
    ends = np.array([pair for pair in edges if pair[0] != pair[1]], np.int64).reshape(-1, 2)
    for step in np.linspace(radius / 4, 0.02, ROUNDS):
        moves = _repulsion(points) - GRAVITY * points
        _attract(moves, points, ends)
        length = np.linalg.norm(moves, axis=1, keepdims=True)
        points += moves * np.minimum(1.0, np.float32(step) / np.maximum(length, 1e-6))
    return points - points.mean(axis=0) if count else points


def _repulsion(points: Points) -> Points:
    """Return how far all others push each point away. The sum of w (p - q) over all q is taken as
    p sum(w) - w @ q, which needs no array of vectors."""
    squares = (points**2).sum(axis=1)
    pushed = np.empty_like(points)
    for at in range(0, len(points), BLOCK):
        here = points[at : at + BLOCK]
        weights = points @ here.T
        weights *= -2
        weights += squares[:, None]
        weights += squares[None, at : at + BLOCK]
        np.maximum(weights, 0.01, out=weights)
        np.reciprocal(weights, out=weights)
        pushed[at : at + BLOCK] = here * weights.sum(axis=0)[:, None] - weights.T @ points
    return pushed


def _attract(moves: Points, points: Points, ends: NDArray[np.int64]) -> None:
    """Add to the moves what the edges pull."""
    away = points[ends[:, 0]] - points[ends[:, 1]]
    pull = away * np.linalg.norm(away, axis=1, keepdims=True)
    for axis in (0, 1):
        moves[:, axis] -= np.bincount(ends[:, 0], pull[:, axis], len(moves)).astype(np.float32)
        moves[:, axis] += np.bincount(ends[:, 1], pull[:, axis], len(moves)).astype(np.float32)


WIDTH, HEIGHT = 720, 180


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line from left to right, in a box of WIDTH x HEIGHT whose y grows downwards."""

    points: Sequence[Point]
    top: float
    """The value at the upper edge."""

    @property
    def path(self) -> str:
        """As the d of a path."""
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)

    @property
    def area(self) -> str:
        """The same, closed along the lower edge."""
        first, last = self.points[0], self.points[-1]
        return f"{self.path}L{last.x:.1f} {HEIGHT}L{first.x:.1f} {HEIGHT}Z"


def line(pairs: Sequence[tuple[float, float]], top: float) -> Line:
    """Return the line through these pairs of x and value, at least one, in the order of x."""
    first, last = pairs[0][0], pairs[-1][0]
    span, high = (last - first) or 1.0, top or 1.0
    points = [Point((x - first) / span * WIDTH, HEIGHT * (1 - value / high)) for x, value in pairs]
    if len(points) == 1:
        points = [points[0], Point(WIDTH, points[0].y)]
    return Line(points, top)


def rounded_up(value: float) -> int:
    """Return a round number that is not below the value: 1, 2 or 5 times a power of ten."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= value:
                return step * factor
        step *= 10
