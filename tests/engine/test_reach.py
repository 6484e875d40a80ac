"""Compact reachability equals listing the pairs, before and after any sequence of updates."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.engine import reach
from everlog.engine.closed import Closed
from everlog.engine.kernels import rows
from everlog.engine.keys import Column
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


def turned(pairs: set[Pair]) -> set[Pair]:
    return {(b, a) for a, b in pairs}


@given(graphs(), st.booleans(), st.booleans(), st.data())
def test_updates(edges: set[Pair], always: bool, either: bool, data: st.DataObject) -> None:
    """Updates are exact, also if the graph is packed and renewed whenever that may save a byte."""
    graph = Reach.of(*columns(edges))
    pairs = assert_closed(graph, edges)
    node = st.integers(0, 95).map(lambda n: n * 3)
    for _ in range(data.draw(st.integers(0, 5))):
        if data.draw(st.booleans()):
            assert graph.backwards.pairs == graph.pairs
        gone = data.draw(st.sets(st.sampled_from(sorted(edges)), max_size=4)) if edges else set()
        come = data.draw(st.sets(st.tuples(node, node), max_size=4)) - edges
        with pytest.MonkeyPatch.context() as patch:
            if always:
                patch.setattr(reach, "SMALL", 0)
                patch.setattr(reach, "RENEWED_AT", 0)
                patch.setattr(reach, "GAINED", 0)
            given_edges = graph.oriented(columns(gone)), graph.oriented(columns(come))
            update = graph.updated(*given_edges, either=either)
        after = (edges - gone) | come
        found, now = update.graph, closure(after)
        assert_closed(found, turned(after) if found.turned else after)
        if "backwards" in found.__dict__:
            assert_closed(found.backwards, after if found.turned else turned(after))
        assert_closed(graph, turned(edges) if graph.turned else edges)
        for difference, expected in ((update.deleted, pairs - now), (update.inserted, now - pairs)):
            assert difference.count == len(expected)
            listed = set(zip(*(side.tolist() for side in difference.listed()), strict=True))
            assert (turned(listed) if update.after.turned else listed) == expected
        graph, edges, pairs = found, after, now


@given(graphs(), st.data())
def test_parts(edges: set[Pair], data: st.DataObject) -> None:
    """A graph is made again of its arrays, read-only ones too, and can be updated then."""
    node = st.integers(0, 95).map(lambda n: n * 3)
    graph = Reach.of(*columns(edges))
    for _ in range(data.draw(st.integers(1, 3))):
        parts = {name: part.copy() for name, part in graph.parts().items()}
        for part in parts.values():
            part.flags.writeable = False
        again = Reach.of_parts(parts)
        pairs = assert_closed(again, edges)
        gone = data.draw(st.sets(st.sampled_from(sorted(edges)), max_size=4)) if edges else set()
        come = data.draw(st.sets(st.tuples(node, node), max_size=4)) - edges
        update, after = again.updated(columns(gone), columns(come)), (edges - gone) | come
        now = assert_closed(update.graph, after)
        assert (update.deleted.count, update.inserted.count) == (len(pairs - now), len(now - pairs))
        assert_closed(again, edges)
        graph, edges = update.graph, after


def test_parts_are_not_copied_without_need() -> None:
    graph = Reach.of(np.arange(1000), np.arange(1, 1001))
    parts = graph.parts()
    assert np.shares_memory(parts["words"], graph.rows.segments[0])
    assert graph.updated((np.array([3]), np.array([4])), NONE).graph.parts()["words"].size <= parts["words"].size + 2


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


def test_rows_are_packed_when_many_are_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SMALL", 0)
    edges = {(n, n + 1) for n in range(60)}
    graph = Reach.of(*columns(edges))
    for n in range(0, 60, 3):
        graph = graph.updated(columns({(n, n + 1)}), NONE).graph
        graph = graph.updated(NONE, columns({(n, n + 1)})).graph
        assert_closed(graph, edges)
    assert graph.rows.words <= 1.5 * 60


def test_a_long_chain_needs_no_recursion() -> None:
    nodes = np.arange(200_000)
    graph = Reach.of(nodes[:-1], nodes[1:])
    assert graph.pairs == 200_000 * 199_999 // 2
    ring = graph.updated(NONE, (nodes[-1:], nodes[:1])).graph
    assert ring.pairs == 200_000**2
    assert ring.updated((nodes[-1:], nodes[:1]), NONE).graph.pairs == graph.pairs


def kinds_of(graph: Reach) -> set[int]:
    """The kinds of chunks that the rows of a graph have."""
    parts = graph.parts()
    return {
        int(word >> np.uint64(46)) & 3
        for start, sizes, _ in parts["table"][1:].tolist()
        for word in parts["words"][start : start + (sizes & rows.LOW)][-(sizes >> 32) :]
    }


def test_dense_rows_are_bitmaps() -> None:
    random = np.random.default_rng(1)
    edges = {(int(min(a, b)), int(max(a, b))) for a, b in random.integers(0, 250, (1200, 2)) if a != b}
    graph = Reach.of(*columns(edges))
    assert rows.BITMAP in kinds_of(graph)
    assert_closed(graph, edges)


@pytest.fixture(scope="module")
def wide() -> tuple[Reach, Column, Column]:
    """A graph of several chunks: a long chain, random edges beside it, and their ends."""
    random = np.random.default_rng(2)
    chain = np.arange(150_000)
    sides = np.sort(200_000 + random.integers(0, 3_000, (9_000, 2)), axis=1)
    sides = sides[sides[:, 0] < sides[:, 1]]
    sources = np.concatenate([chain[:-1], sides[:, 0], 200_000 + random.integers(0, 3_000, 9_000)])
    targets = np.concatenate([chain[1:], sides[:, 1], random.integers(0, 260_000, 9_000)])
    return Reach.of(sources, targets), sources, targets


def searched(after: dict[int, list[int]], start: int) -> Column:
    """What a vertex of it reaches, by a search; where the chain is met, its rest is reached."""
    found, waiting = np.zeros(300_000, np.bool_), [start]
    while waiting:
        for vertex in after.get(waiting.pop(), ()):
            if vertex < 150_000:
                found[vertex:150_000] = True
            elif not found[vertex]:
                found[vertex] = True
                waiting.append(vertex)
    return np.flatnonzero(found)


@pytest.mark.long
def test_rows_of_several_chunks(wide: tuple[Reach, Column, Column]) -> None:
    graph, sources, targets = wide
    assert kinds_of(graph) == {rows.ONE, rows.FULL, rows.RUNS, rows.BITMAP}
    after: dict[int, list[int]] = {}
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        after.setdefault(source, []).append(target)
    every = np.arange(300_000)
    for start in (0, 1, 70_000, 149_999, *range(200_000, 200_008)):
        expected = searched(after, start)
        numbers, found = graph.expanded(graph.rows_of(graph.positions(np.array([start]))))
        assert np.array_equal(np.sort(found), expected)
        assert not numbers.any()
        assert np.array_equal(np.flatnonzero(graph.reaches(np.full(300_000, start), every)), expected)


def test_updates_of_several_chunks(wide: tuple[Reach, Column, Column]) -> None:
    graph, sources, targets = wide
    cut = (np.array([75_000]), np.array([75_001]))
    less = graph.updated(cut, NONE)
    again = less.graph.updated(NONE, cut)
    kept = (sources != 75_000) | (targets != 75_001)
    fresh = Reach.of(sources[kept], targets[kept])
    assert less.graph.pairs == fresh.pairs
    assert again.graph.pairs == graph.pairs
    assert less.deleted.count == again.inserted.count == graph.pairs - fresh.pairs
    few = np.arange(74_000, 76_000)
    assert np.array_equal(less.graph.reaches(few, few + 500), fresh.reaches(few, few + 500))


@given(graphs(), st.data())
def test_paths_through_edges(edges: set[Pair], data: st.DataObject) -> None:
    some = data.draw(st.sets(st.sampled_from(sorted(edges)), max_size=4)) if edges else set()
    reached = closure(edges)

    def leads(first: int, last: int) -> bool:
        return first == last or (first, last) in reached

    nodes = {node for edge in edges for node in edge}
    expected = {(x, z) for x in nodes for z in nodes if any(leads(x, a) and leads(b, z) for a, b in some)}
    found = list(Reach.of(*columns(edges)).through(columns(some), 0, 0))
    assert {pair for block in found for pair in zip(*(side.tolist() for side in block), strict=True)} == expected


@given(graphs(), st.integers(0, 90))
def test_turned_around(edges: set[Pair], fan: int) -> None:
    """The graph is turned around if then much fewer vertices have an edge."""
    edges = edges | {(300 + n, 0) for n in range(fan)}
    graph, plain = Reach.of(*columns(edges), either=True), Reach.of(*columns(edges))
    starts, ends = ({edge[side] for edge in edges} for side in (0, 1))
    assert graph.turned == (2 * len(ends) < len(starts))
    assert graph.used <= plain.used
    assert_closed(graph, {(b, a) for a, b in edges} if graph.turned else edges)
    for a, b in sorted(edges)[:3]:
        edge = graph.oriented(columns({(a, b)}))
        assert graph.updated(edge, NONE).graph.turned == graph.turned


@given(graphs(), st.booleans())
def test_searching_against_the_direction(edges: set[Pair], patient: bool) -> None:
    """What reaches a vertex is found along the edges, tombstones left out, until that is too much."""
    doomed = {(1001, 1002), (3, 1001)} - edges
    graph = Reach.of(*columns(edges | doomed)).updated(columns(doomed), NONE).graph
    nodes = np.array(sorted({node for edge in edges for node in edge} | {9998}), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reach, "SEARCHED", 1000 if patient else 0)
        found = graph.leading_to(graph.positions(nodes))
    if not patient:
        assert found is None
    else:
        assert found is not None
        pairs = zip(found[1].tolist(), nodes[found[0]].tolist(), strict=True)
        assert sorted(pairs) == sorted(closure(edges))


def test_a_difference_outlives_its_graph() -> None:
    nodes = np.arange(5_000)
    graph = Reach.of(nodes[:-1], nodes[1:])
    update = graph.updated((nodes[2_000:2_001], nodes[2_001:2_002]), NONE)
    lost = update.deleted
    del graph, update
    gc.collect()
    filled = [np.full(50_000, 7, np.uint64) for _ in range(20)]
    assert lost.count == 2_001 * 2_999
    first, second = lost.listed()
    assert (first.max(), second.min(), len(first), len(filled)) == (2_000, 2_001, lost.count, 20)


class Stopped(Exception):
    """Raised in the middle of an update."""


def test_an_update_that_is_stopped_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SEGMENT", 1)
    random = np.random.default_rng(4)
    edges = {(int(min(a, b)), int(max(a, b))) for a, b in random.integers(0, 150, (750, 2)) if a != b}
    graph, calls = Reach.of(*columns(edges)), 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Stopped

    gone = set(sorted(edges)[300:500])
    cut = columns(gone)
    with pytest.raises(Stopped):
        graph.updated(cut, NONE, check=check)
    expected = Reach.of(*columns(edges - gone))
    assert graph.updated(cut, NONE).graph.pairs == expected.pairs
    assert_closed(Reach.of(*columns(edges)), edges)
