"""Compact reachability equals listing the pairs, before and after any sequence of updates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.engine import reach
from everlog.engine.closed import Closed
from everlog.engine.reach import Reach

Pair = tuple[int, int]
NONE = (np.empty(0, np.int64), np.empty(0, np.int64))


def columns(edges: set[Pair]) -> tuple[np.ndarray, np.ndarray]:
    ordered = sorted(edges)
    return np.array([a for a, _ in ordered], np.int64), np.array([b for _, b in ordered], np.int64)


def closure(edges: set[Pair]) -> set[Pair]:
    after: dict[int, set[int]] = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)
    found = set()
    for a, first in after.items():
        seen, waiting = set(first), list(first)
        while waiting:
            for b in after.get(waiting.pop(), set()) - seen:
                seen.add(b)
                waiting.append(b)
        found |= {(a, b) for b in seen}
    return found


def assert_closed(graph: Reach, edges: set[Pair]) -> set[Pair]:
    """Every way to read the graph gives the closure of the edges."""
    expected, pairs = closure(edges), Closed(graph)
    assert graph.pairs == len(pairs) == len(expected)
    keys = pairs.sorted_keys()
    assert set(zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True)) == expected
    assert (np.diff(keys) > 0).all()
    nodes = np.array(sorted({n for edge in edges for n in edge} | {9999}), np.int64)
    every = np.array([(a << 32) | b for a in nodes.tolist() for b in nodes.tolist()], np.int64)
    assert pairs.contains(every).tolist() == [(k >> 32, k & 0xFFFFFFFF) in expected for k in every.tolist()]
    for column in (0, 1):
        found = {
            (int(nodes[i]), o) if column == 0 else (o, int(nodes[i]))
            for rows, others in pairs.matches(column, nodes, block=7)
            for i, o in zip(rows.tolist(), others.tolist(), strict=True)
        }
        assert found == expected
        counts = [sum(pair[column] == n for pair in expected) for n in nodes.tolist()]
        assert pairs.match_counts(column, nodes).tolist() == counts
    return expected


@st.composite
def graphs(draw: st.DrawFn) -> set[Pair]:
    """Random edges, a long chain, a ring, or all of them; node numbers have gaps."""
    size = draw(st.integers(1, 90))
    node = st.integers(0, size - 1).map(lambda n: n * 3)
    edges = draw(st.sets(st.tuples(node, node), max_size=40))
    if draw(st.booleans()):
        edges |= {(3 * n, 3 * n + 3) for n in range(draw(st.integers(0, size)))}
    if draw(st.booleans()):
        ring = draw(st.lists(node, min_size=1, max_size=9, unique=True))
        edges |= set(zip(ring, ring[1:] + ring[:1], strict=True))
    return edges


@given(graphs(), st.data())
def test_updates(edges: set[Pair], data: st.DataObject) -> None:
    graph = Reach.of(*columns(edges))
    pairs = assert_closed(graph, edges)
    node = st.integers(0, 95).map(lambda n: n * 3)
    for _ in range(data.draw(st.integers(0, 5))):
        gone = data.draw(st.sets(st.sampled_from(sorted(edges)), max_size=4)) if edges else set()
        come = data.draw(st.sets(st.tuples(node, node), max_size=4)) - edges
        update = graph.updated(columns(gone), columns(come))
        after = (edges - gone) | come
        now = assert_closed(update.graph, after)
        assert_closed(graph, edges)
        for difference, expected in ((update.lost, pairs - now), (update.won, now - pairs)):
            assert difference.count == len(expected)
            assert set(zip(*(side.tolist() for side in difference.listed()), strict=True)) == expected
        graph, edges, pairs = update.graph, after, now


def test_every_edge_one_by_one() -> None:
    """Edges are taken away until none is left, and put back; merging and splitting components on the way."""
    random = np.random.default_rng(3)
    edges = {(int(a), int(b)) for a, b in random.integers(0, 40, (90, 2))}
    graph, left = Reach.of(*columns(edges)), set(edges)
    order = sorted(edges)
    random.shuffle(order)
    for a, b in order:
        edge = {(int(a), int(b))}
        graph, left = graph.updated(columns(edge), NONE).graph, left - edge
        assert graph.pairs == len(closure(left))
    assert graph.pairs == 0
    for a, b in order:
        edge = {(int(a), int(b))}
        graph, left = graph.updated(NONE, columns(edge)).graph, left | edge
        assert graph.pairs == len(closure(left))


def test_rows_are_written_anew_when_most_are_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "REPACKED_FROM", 1)
    edges = {(n, n + 1) for n in range(60)}
    graph = Reach.of(*columns(edges))
    for n in range(0, 60, 3):
        graph = graph.updated(columns({(n, n + 1)}), NONE).graph
        graph = graph.updated(NONE, columns({(n, n + 1)})).graph
        assert_closed(graph, edges)
    assert graph.rows.words <= 4 * 60


def test_a_long_chain_needs_no_recursion() -> None:
    nodes = np.arange(200_000)
    graph = Reach.of(nodes[:-1], nodes[1:])
    assert graph.pairs == 200_000 * 199_999 // 2
    ring = graph.updated(NONE, (nodes[-1:], nodes[:1])).graph
    assert ring.pairs == 200_000**2
    assert ring.updated((nodes[-1:], nodes[:1]), NONE).graph.pairs == graph.pairs


def test_dense_rows_are_bitmaps() -> None:
    random = np.random.default_rng(1)
    edges = {(int(min(a, b)), int(max(a, b))) for a, b in random.integers(0, 500, (3000, 2)) if a != b}
    graph = Reach.of(*columns(edges))
    assert (graph.rows.table[: graph.used, 2] >= 0).any()
    assert_closed(graph, edges)
