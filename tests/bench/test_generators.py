"""The generators, compared with closed forms by the reference kernels."""

from __future__ import annotations

import numpy as np
import pytest

from bench import generators
from bench.generators import Edges
from bench.reference_kernels import Closure, adjacency, sort_closure, stamp_closure
from bench.workloads import WORKLOADS, dag_s


def close(edges: Edges) -> Closure:
    """The closure by sorting; checks that stamps and tiny blocks have equal results."""
    graph = adjacency(edges[:, 0], edges[:, 1])
    by_sorting, by_stamps = sort_closure(graph), stamp_closure(graph)
    assert (by_sorting.facts, by_sorting.instances) == (by_stamps.facts, by_stamps.instances)
    assert sort_closure(graph, block_keys=7) == by_sorting
    return by_sorting


def pairs_by_search(edges: Edges) -> set[tuple[int, int]]:
    """Reachable pairs by depth-first search."""
    targets: dict[int, list[int]] = {}
    for source, target in edges.tolist():
        targets.setdefault(source, []).append(target)
    found = set()
    for source, direct in targets.items():
        waiting = list(direct)
        while waiting:
            node = waiting.pop()
            if (source, node) not in found:
                found.add((source, node))
                waiting.extend(targets.get(node, []))
    return found


@pytest.mark.parametrize("edges", [1, 2, 40])
def test_chain(edges: int) -> None:
    closure = close(generators.chain(edges))
    assert closure.facts == edges * (edges + 1) // 2
    assert closure.instances == closure.facts
    assert closure.rounds == edges + 1


@pytest.mark.parametrize("side", [1, 2, 9])
def test_grid(side: int) -> None:
    corners = (side + 1) * (side + 2) // 2
    assert close(generators.grid(side)).facts == corners**2 - (side + 1) ** 2


def test_tree_closure_is_the_sum_of_depths() -> None:
    assert close(generators.tree(4, 2, 2)).facts == sum(depth * 2**depth for depth in range(1, 5))


def test_tree_stops_at_its_limit() -> None:
    edges = generators.tree(11, limit=500)
    assert len(edges) == 500
    assert len(np.unique(edges[:, 1])) == 500


def test_random_dag_is_seeded_and_distinct() -> None:
    first, again, other = (generators.random_dag(50, 200, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(np.unique(first, axis=0)) == 200


def test_random_dag_refuses_too_many_edges() -> None:
    with pytest.raises(ValueError, match="fewer than 11 pairs"):
        generators.random_dag(5, 11)


@pytest.mark.parametrize("seed", range(5))
def test_kernels_agree_with_search_on_cyclic_graphs(seed: int) -> None:
    edges = np.unique(np.random.default_rng(seed).integers(0, 30, (60, 2)), axis=0)
    pairs = pairs_by_search(edges)
    degree = np.bincount(edges[:, 0], minlength=30)
    closure = close(edges)
    assert closure.facts == len(pairs)
    assert closure.instances == len(edges) + sum(int(degree[target]) for _, target in pairs)


def test_repeated_edges_count_once() -> None:
    edges = np.array([[0, 1], [1, 2], [0, 1]])
    assert close(edges) == close(edges[:2])


def test_every_child_has_distinct_parents_one_layer_up() -> None:
    edges = generators.generations(8, 4, parents=3, seed=1)
    assert (edges[:, 1] // 8 - edges[:, 0] // 8 == 1).all()
    assert len(np.unique(edges, axis=0)) == len(edges) == 3 * 8 * 3


def test_dag_s_is_the_graph_the_results_speak_of() -> None:
    assert close(dag_s()).facts == WORKLOADS["dag-s-linear"].facts
