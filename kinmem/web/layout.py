"""Where the nodes of a graph are drawn: linked ones near each other, all of them apart."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
