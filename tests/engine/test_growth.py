"""After any history of updates, reachability takes little more memory than if it is built again, at a small cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from everlog.engine.keys import ID_BITS, ID_MASK
from everlog.engine.reach import Reach

Keys = npt.NDArray[np.int64]
History = Iterator[tuple[Keys, Keys]]
"""Edges deleted and inserted by each update; the first update makes the graph."""

NODES, UPDATES = 6_000, 60
NONE: Keys = np.empty(0, np.int64)


def keys(sources: Any, targets: Any) -> Keys:
    return np.asarray(sources, np.int64) << ID_BITS | np.asarray(targets, np.int64)


def sides(edges: Keys) -> tuple[Keys, Keys]:
    return edges >> ID_BITS, edges & ID_MASK


def parts(edges: Keys) -> History:
    """The edges are inserted in order."""
    return ((NONE, part) for part in np.array_split(edges, UPDATES))


def tree(random: np.random.Generator, size: int = NODES) -> Keys:
    """Edges to each node from an earlier one, chosen at random."""
    nodes = np.arange(1, size)
    return keys((random.random(size - 1) * nodes).astype(np.int64), nodes)


def top_down(random: np.random.Generator) -> History:
    return parts(tree(random))


def bottom_up(random: np.random.Generator) -> History:
    return parts(tree(random)[::-1])


def to_the_root(random: np.random.Generator) -> History:
    return parts(keys(*sides(tree(random))[::-1]))


def in_any_order(random: np.random.Generator) -> History:
    return parts(random.permutation(tree(random)))


def two_parents(random: np.random.Generator) -> History:
    edges = np.stack([tree(random), tree(random)], axis=1).ravel()
    return parts(edges[np.sort(np.unique(edges, return_index=True)[1])])


def inner_nodes(random: np.random.Generator) -> History:
    """Edges from p to c are replaced by edges from p to x and from x to c."""
    edges, new = tree(random, NODES // 2), NODES // 2
    yield NONE, edges
    for _ in range(UPDATES):
        picked = random.choice(len(edges), NODES // 2 // UPDATES, replace=False)
        gone, x = edges[picked], np.arange(new, new + len(picked))
        above, below = (keys(sides(gone)[0], x), keys(x, sides(gone)[1]))
        yield gone, np.concatenate([above, below])
        edges, new = np.concatenate([np.delete(edges, picked), above, below]), new + len(picked)


def away_and_back(random: np.random.Generator) -> History:
    edges = tree(random)
    yield NONE, edges
    for _ in range(UPDATES // 2):
        some = random.choice(edges, 2 * NODES // UPDATES, replace=False)
        yield some, NONE
        yield NONE, some


def moved(random: np.random.Generator) -> History:
    """Nodes with all that is below them come under other nodes."""
    edges = tree(random)
    yield NONE, edges
    for _ in range(UPDATES):
        other, picked = tree(random), random.random(len(edges)) < 1 / UPDATES
        picked &= other != edges
        yield edges[picked], other[picked]
        edges = np.where(picked, other, edges)


def other_nodes(random: np.random.Generator) -> History:
    """Leaves go, and new nodes come."""
    top, some = tree(random, NODES // 2), NODES // UPDATES
    leaves = keys(random.integers(0, NODES // 2, NODES // 2), np.arange(NODES // 2, NODES))
    yield NONE, np.concatenate([top, leaves])
    for number in range(UPDATES):
        first = NODES + number * some
        fresh = keys(random.integers(0, NODES // 2, some), np.arange(first, first + some))
        yield leaves[:some], fresh
        leaves = np.concatenate([leaves[some:], fresh])


def shrinking(random: np.random.Generator) -> History:
    edges = random.permutation(np.unique(np.concatenate([tree(random), tree(random)])))
    yield NONE, edges
    yield from ((part, NONE) for part in np.array_split(edges, UPDATES)[: UPDATES * 9 // 10])


def acyclic(random: np.random.Generator) -> History:
    ends = np.sort(random.integers(0, NODES, (NODES * 3 // 2, 2)), axis=1)
    return parts(random.permutation(np.unique(keys(*ends[ends[:, 0] < ends[:, 1]].T))))


def cyclic(random: np.random.Generator) -> History:
    return parts(random.permutation(np.unique(keys(*random.integers(0, NODES, (NODES * 11 // 10, 2)).T))))


def chains_that_meet(random: np.random.Generator) -> History:
    return parts(random.permutation(keys(np.arange(NODES - 1), np.arange(1, NODES))))


SHAPES = (
    top_down,
    bottom_up,
    to_the_root,
    in_any_order,
    two_parents,
    inner_nodes,
    away_and_back,
    moved,
    other_nodes,
    shrinking,
    acyclic,
    cyclic,
    chains_that_meet,
)


@dataclass
class Costs:
    """The words written and the edges read by updates, and by building the graph again."""

    of_updates: int = 0
    of_renewals: int = 0
    ratios: list[float] = field(default_factory=list)


def followed(history: History) -> Costs:
    """Follow the updates, and compare the memory after each with that of a graph built of the same edges."""
    graph, edges, costs = Reach.of(NONE, NONE), NONE, Costs()
    for gone, come in history:
        before = graph
        update = before.updated(*(before.oriented(sides(side)) for side in (gone, come)), either=True)
        edges, graph = np.union1d(np.setdiff1d(edges, gone), come), update.graph
        costs.of_updates += update.after.upkeep.written - before.upkeep.written + len(gone) + len(come)
        costs.of_renewals += update.renewed and graph.upkeep.words + len(edges)
        other = Reach.of(*sides(edges), either=True)
        assert graph.pairs == other.pairs
        costs.ratios.append(graph.nbytes / max(other.nbytes, 1 << 16))
    return costs


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_memory_and_work_are_in_proportion(shape: Callable[[np.random.Generator], History]) -> None:
    costs = followed(shape(np.random.default_rng(1)))
    assert max(costs.ratios) <= 1.5
    assert costs.of_renewals <= 4 * costs.of_updates
