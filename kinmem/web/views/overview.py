"""The memory as a whole: the first page (how much is remembered, how it grows, whether all is well,
what waits), and the topology (memories, entities, projects and Kins as a graph and as a table)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, get_args

from starlette.responses import JSONResponse

from kinmem.models import Review, Tier
from kinmem.service import Stats
from kinmem.web.drawings import (
    FROM_TARGET,
    HEIGHT,
    JOINS,
    KINDS,
    MOST_NODES,
    WIDTH,
    Graph,
    Line,
    Node,
    filtered,
    graph_of,
    line,
    rounded_up,
)
from kinmem.web.render import address
from kinmem.web.view import Answer, Asked, Shown, View, number_in
from kinmem.web.views import review_queue

LATEST = 6


class Waiting(NamedTuple):
    """Something that a person has to decide."""

    what: str
    """`waits.<what>` of the catalogue says it."""
    many: int
    to: str


class Growth(NamedTuple):
    """How the memory has grown since its first day."""

    drawn: Line
    first: date
    last: date
    total: int


def show_overview(asked: Asked) -> Answer:
    stats = asked.kept("stats", asked.service.stats)
    growth = asked.kept("growth", asked.service.growth)
    states = stats.counts["state"]
    live = states.get("active", 0) + states.get("stale", 0)
    review, is_looking = review_queue.REVIEWS.glance(asked.service, live)
    return Shown(
        "overview.html",
        {
            "stats": stats,
            "live": live,
            "growth": _growth(growth, asked.now.date()),
            "waiting": _waiting(stats, review),
            "is_looking": is_looking,
            "latest": asked.service.list_memories(limit=LATEST).memories,
            "categories": _ranked(stats.counts["category"]),
            "box": (WIDTH, HEIGHT),
        },
    )


def _growth(days: Mapping[str, int], today: date) -> Growth | None:
    """Return the sum by day, as far back as anything goes."""
    if not days:
        return None
    total = 0
    pairs: list[tuple[int, int]] = []
    for day, count in days.items():
        at = date.fromisoformat(day).toordinal()
        if total and pairs[-1][0] < at - 1:
            pairs.append((at - 1, total))
        total += count
        pairs.append((at, total))
    first = pairs[0][0]
    last = max(today.toordinal(), pairs[-1][0])
    steps = [(first - 1.0, 0.0), *((float(at), float(sum_)) for at, sum_ in pairs)]
    drawn = line([*steps, (float(last), float(total))], rounded_up(total))
    return Growth(drawn, date.fromordinal(first), date.fromordinal(last), total)


def _waiting(stats: Stats, review: Review | None) -> list[Waiting]:
    """Return what waits for a person, as far as a review has looked for it: it finds more
    contradictions than were noticed when they were told."""
    issues = Counter(issue.type for issue in review.issues) if review else Counter()
    conflicts = max(stats.conversations["conflicts"], issues["contradiction"])
    found = [
        Waiting("conflicts", conflicts, "/review"),
        Waiting("duplicates", issues["duplicate"], "/review"),
        Waiting("quarantined", stats.counts["state"].get("quarantined", 0), "/review"),
        Waiting("parked", stats.conversations["parked"], "/review"),
    ]
    return [one for one in found if one.many]


def _ranked(counts: Mapping[str, int]) -> list[tuple[str, int, float]]:
    """Return each name with its count and its share of the greatest, the greatest first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(name, count, count / ranked[0][1]) for name, count in ranked]


OVERVIEW_VIEW = View("overview", "/", show_overview, is_certain=True)


TOPOLOGY, DRAWN = "/topology", "/topology/graph"
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


class Row(NamedTuple):
    """A line of the table."""

    node: Node
    many: int
    ties: Sequence[Tie]


def show_topology(asked: Asked) -> Answer:
    asked.begin()
    whole, filters = _whole(asked), _filters(asked)
    graph = filtered(whole, **filters)
    pages = max(1, -(-len(graph.nodes) // PER_PAGE))
    at = min(max(1, number_in(asked.given("page")) or 1), pages)
    listed = list(graph.nodes.values())[(at - 1) * PER_PAGE : at * PER_PAGE]
    names = {one: asked.language.name("relation", one) for one in (*JOINS, *FROM_TARGET.values())}

    def page(to: int) -> str | None:
        return address(TOPOLOGY, page=to, **filters) if 1 <= to <= pages else None

    return Shown(
        "topology.html",
        {
            "graph": graph,
            "is_empty": not whole.nodes,
            "lines": [_row(graph, node, names) for node in listed],
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

    return asked.kept("graph", made)


def _laid_out(asked: Asked) -> tuple[Graph, Mapping[str, tuple[float, float]]]:
    """Return the same graph and its places, for which two tabs wait together."""

    def made() -> tuple[Graph, Mapping[str, tuple[float, float]]]:
        whole = _whole(asked)
        return whole, whole.places

    return asked.kept("drawn", made)


def _filters(asked: Asked) -> Mapping[str, str]:
    return {name: value for name in FILTERS if (value := asked.given(name))}


def _row(graph: Graph, node: Node, names: Mapping[str, str]) -> Row:
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
    return Row(node, len(joins), ties)


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


TOPOLOGY_VIEW = View("topology", TOPOLOGY, show_topology, is_certain=True, pages={DRAWN: drawn})
