"""The graph of the topology view: what is in it, what filters leave, and where it is drawn."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np

from kinmem.web.drawings import Graph, Join, Node, filtered, graph_of, positions
from kinmem.web.view import LONGEST, Kept
from kinmem.web.views.overview import _row
from tests.web.conftest import Site
from tests.web.test_memory_views import stored


def node(id: str, kind: str = "memory", tier: str = "") -> Node:
    return Node(id, kind, f"the {id}", f"/{id}", tier)  # type: ignore[arg-type]


GRAPH = Graph(
    {
        "tea": node("tea", tier="hot"),
        "cup": node("cup", tier="archive"),
        "Maya": node("Maya", "entity"),
        "home": node("home", "project"),
    },
    [
        Join("tea", "cup", "part_of"),
        Join("tea", "Maya", "about"),
        Join("cup", "home", "within"),
    ],
    is_cut=False,
)


def test_linked_nodes_are_near_each_other_and_none_lies_upon_another() -> None:
    rings = [(at, (at + 1) % 10 + at // 10 * 10) for at in range(100) if at % 10 < 9]
    points = positions(100, rings)
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    joined = np.mean([far[a, b] for a, b in rings])

    assert joined < far.mean() / 3
    assert (far + 9 * np.eye(100)).min() > 0.05
    assert np.array_equal(points, positions(100, rings))


def test_a_graph_of_nothing_and_one_of_a_single_node_have_places() -> None:
    assert positions(0, []).shape == (0, 2)
    assert positions(1, [(0, 0)]).tolist() == [[0.0, 0.0]]


def test_filters_leave_what_belongs_together() -> None:
    assert set(filtered(GRAPH).nodes) == set(GRAPH.nodes)
    assert set(filtered(GRAPH, words="TÉA").nodes) == {"tea", "cup", "Maya"}
    assert set(filtered(GRAPH, tier="archive").nodes) == {"cup", "home"}
    assert set(filtered(GRAPH, kind="memory").nodes) == {"tea", "cup"}
    assert set(filtered(GRAPH, relation="about").nodes) == {"tea", "Maya"}
    assert len(filtered(GRAPH, relation="about").joins) == 1
    assert filtered(GRAPH, kind="kin").nodes == {}


def test_a_line_is_called_from_both_ends() -> None:
    part, about, _ = GRAPH.joins

    assert (part.seen_from("tea"), part.seen_from("cup")) == ("part_of", "has_part")
    assert (about.seen_from("tea"), about.seen_from("Maya")) == ("about", "told_in")


def test_memories_entities_and_projects_are_in_the_graph(site: Site, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    place = str(tmp_path)
    first = stored(site, "Maya lives in Lyon since May", subject="Maya", place=place)
    second = stored(site, "Maya lives in Berlin now", subject="Maya")
    service = site.service
    graph = graph_of(service.graph(), service.store.decisions.conflicts(), service.kin)

    assert {one.kind for one in graph.nodes.values()} == {"memory", "entity", "project"}
    told = {(one.source, one.target, one.relation) for one in graph.joins}
    assert (first, f"project:{place}", "within") in told
    assert {(one, "about") for one in (first, second)} <= {(a, how) for a, _, how in told}
    assert all(one.source in graph.nodes and one.target in graph.nodes for one in graph.joins)


def test_what_is_kept_is_made_anew_after_a_change_and_after_a_while(site: Site) -> None:
    now, made = [0.0], []
    kept = Kept(lambda: now[0])

    def make() -> int:
        made.append(1)
        return len(made)

    stored(site, "The kettle is on the stove")
    assert site.service.settle(60)  # what is done in the background changes something as well
    assert [kept.of(site.service, "x", make) for _ in range(3)] == [1, 1, 1]
    stored(site, "The pan is on the stove")
    assert kept.of(site.service, "x", make) == 2
    now[0] += LONGEST + 1
    assert kept.of(site.service, "x", make) == 3


def test_what_two_ask_for_at_once_is_made_once(site: Site) -> None:
    kept, made = Kept(lambda: 0.0), []
    begun, go_on = threading.Event(), threading.Event()

    def make() -> int:
        made.append(1)
        begun.set()
        go_on.wait(60)
        return len(made)

    with ThreadPoolExecutor(2) as tabs:
        first = tabs.submit(kept.of, site.service, "x", make)
        assert begun.wait(60)
        second = tabs.submit(kept.of, site.service, "x", make)
        wait([second], 0.05)
        go_on.set()
        assert (first.result(60), second.result(60)) == (1, 1)


def test_a_stated_relation_is_said_from_its_source() -> None:
    graph = Graph(
        {"Ana": node("Ana", "entity"), "Acme": node("Acme", "entity")},
        [Join("Ana", "Acme", "stated", "works at")],
        is_cut=False,
    )

    assert [_row(graph, graph.nodes[id], {}).ties[0].is_from for id in graph.nodes] == [
        False,
        True,
    ]


def test_what_is_drawn_says_what_it_counts(site: Site) -> None:
    stored(site, "Maya lives in Lyon since May", subject="Maya")
    stored(site, "Maya lives in Berlin now", subject="Maya")
    with site.client() as client:
        nodes = client.get("/topology/graph").json()["nodes"]

    assert {node["ties"] for node in nodes if node["many"] == 2} == {"2 connections"}
    assert all(node["ties"].startswith(f"{node['many']} connection") for node in nodes)


def test_a_picture_with_room_for_all_is_not_cut(site: Site) -> None:
    for n in range(3):
        stored(site, f"Shelf {n} holds {n} cups")
    count = len(site.service.graph().memories)

    assert not site.service.graph(count).is_cut
    assert site.service.graph(count - 1).is_cut
