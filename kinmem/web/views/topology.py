"""Topology: memories, entities, projects and Kins as a graph, and the same as a table."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from starlette.responses import JSONResponse

from kinmem.models import Tier
from kinmem.web.drawings import (
    FROM_TARGET,
    JOINS,
    KINDS,
    MOST_NODES,
    Graph,
    Node,
    filtered,
    graph_of,
)
from kinmem.web.render import address
from kinmem.web.view import KEPT, Answer, Asked, Shown, View, number_in

PATH, DRAWN = "/topology", "/topology/graph"
# With up to NAMED connections in each line, these are as long as a list of 50.
PER_PAGE = 25
# Connections that a line of the table names; the rest is counted.
NAMED = 6
FILTERS = ("kind", "tier", "relation", "words")


class Tie(NamedTuple):
    """A connection of a line of the table."""

    words: str
    to: Node
    is_from: bool
    """Whether the memories say it of the other one, in words of their own."""


class Line(NamedTuple):
    """A line of the table."""

    node: Node
    many: int
    ties: Sequence[Tie]


def show(asked: Asked) -> Answer:
    whole, filters = _whole(asked), _filters(asked)
    graph = filtered(whole, **filters)
    pages = max(1, -(-len(graph.nodes) // PER_PAGE))
    at = min(max(1, number_in(asked.given("page")) or 1), pages)
    listed = list(graph.nodes.values())[(at - 1) * PER_PAGE : at * PER_PAGE]
    names = {one: asked.language.name("relation", one) for one in (*JOINS, *FROM_TARGET.values())}

    def page(to: int) -> str | None:
        return address(PATH, page=to, **filters) if 1 <= to <= pages else None

    return Shown(
        "topology.html",
        {
            "graph": graph,
            "is_empty": not whole.nodes,
            "lines": [_line(graph, node, names) for node in listed],
            "filters": filters,
            "choices": {"kind": KINDS, "tier": get_args(Tier), "relation": whole.relations},
            "drawn": address(DRAWN, **filters),
            "previous": page(at - 1),
            "next": page(at + 1),
        },
    )


def _whole(asked: Asked) -> Graph:
    """Return the graph of everything. Its layout is kept with it."""
    service = asked.service

    def made() -> Graph:
        conflicts = service.store.decisions.conflicts()
        return graph_of(service.graph(MOST_NODES), conflicts, service.kin)

    return KEPT.of(service, "graph", made)


def _laid_out(asked: Asked) -> tuple[Graph, Mapping[str, tuple[float, float]]]:
    """Return the same graph and its places, for which two tabs wait together."""

    def made() -> tuple[Graph, Mapping[str, tuple[float, float]]]:
        whole = _whole(asked)
        return whole, whole.places

    return KEPT.of(asked.service, "drawn", made)


def _filters(asked: Asked) -> Mapping[str, str]:
    return {name: value for name in FILTERS if (value := asked.given(name))}


def _line(graph: Graph, node: Node, names: Mapping[str, str]) -> Line:
    """`names` are those of the relations."""
    joins = graph.by_node.get(node.id, ())
    ties = [
        Tie(
            join.told or names[join.seen_from(node.id)],
            graph.nodes[join.other(node.id)],
            bool(join.told) and join.target == node.id,
        )
        for join in joins[:NAMED]
    ]
    return Line(node, len(joins), ties)


def drawn(asked: Asked) -> Answer:
    """Return what the page's script draws: nodes with their places, and lines between them by
    number."""
    whole, places = _laid_out(asked)
    graph = filtered(whole, **_filters(asked))
    numbers = {id: number for number, id in enumerate(graph.nodes)}
    nodes: list[dict[str, Any]] = [
        {
            "kind": node.kind,
            "label": node.label,
            "to": node.to,
            "tier": node.tier,
            "at": [round(length, 2) for length in places[id]],
            "many": (many := len(graph.by_node.get(id, ()))),
            "ties": asked.language.count("graph.lines", many),
        }
        for id, node in graph.nodes.items()
    ]
    lines = [
        [numbers[join.source], numbers[join.target], join.relation, join.told]
        for join in graph.joins
    ]
    return JSONResponse({"nodes": nodes, "lines": lines})


VIEW = View("topology", PATH, show, pages={DRAWN: drawn})
