"""Seeded graphs: every generator returns its edges as an ``(n, 2)`` array of int64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Edges = npt.NDArray[np.int64]


def random_dag(nodes: int, edges: int, seed: int = 0) -> Edges:
    """Distinct pairs ``i < j`` drawn uniformly.

    >>> drawn = random_dag(10, 20, seed=1)
    >>> drawn.shape, bool((drawn[:, 0] < drawn[:, 1]).all())
    ((20, 2), True)
    """
    if edges > nodes * (nodes - 1) // 2:
        raise ValueError(f"{nodes} nodes have fewer than {edges} pairs")
    rng = np.random.default_rng(seed)
    keys = np.empty(0, np.int64)
    while len(keys) < edges:
        ends = np.sort(rng.integers(0, nodes, size=(2 * edges, 2)), axis=1)
        ends = ends[ends[:, 0] < ends[:, 1]]
        keys = np.concatenate([keys, ends[:, 0] * nodes + ends[:, 1]])
        keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
    return np.stack(np.divmod(keys[:edges], nodes), axis=1)


def chain(edges: int) -> Edges:
    """A path with a number of edges; its closure has ``edges * (edges + 1) / 2`` pairs.

    >>> chain(2).tolist()
    [[0, 1], [1, 2]]
    """
    starts = np.arange(edges, dtype=np.int64)
    return np.stack([starts, starts + 1], axis=1)


def grid(side: int) -> Edges:
    """A square grid with edges to the right and down; ``side`` edges along each border.

    >>> len(grid(2))
    12
    """
    width = side + 1
    node = np.arange(width * width, dtype=np.int64).reshape(width, width)
    right = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return np.concatenate([right, down])


def tree(height: int, fewest: int = 2, most: int = 6, seed: int = 0, limit: int = 1 << 20) -> Edges:
    """A tree whose inner nodes have between ``fewest`` and ``most`` children; at most ``limit`` edges.

    >>> tree(2, 2, 2).tolist()
    [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]]
    """
    rng = np.random.default_rng(seed)
    level, edges = np.zeros(1, np.int64), 0
    parents: list[npt.NDArray[np.int64]] = []
    for _ in range(height):
        children = np.repeat(level, rng.integers(fewest, most + 1, size=len(level)))[: limit - edges]
        level = np.arange(edges + 1, edges + 1 + len(children), dtype=np.int64)
        edges += len(children)
        parents.append(children)
    return np.stack([np.concatenate(parents), np.arange(1, edges + 1, dtype=np.int64)], axis=1)


def generations(width: int, depth: int, parents: int = 2, seed: int = 0) -> Edges:
    """Layers of ``width`` people, each with ``parents`` distinct parents drawn from the layer above:
    the family trees of the same-generation program, with several derivations of most answers.

    >>> generations(10, 3).shape
    (40, 2)
    """
    rng = np.random.default_rng(seed)
    picked = rng.random((depth - 1, width, width)).argpartition(parents, axis=2)[:, :, :parents]
    layer = np.arange(depth - 1)[:, None, None]
    child = np.broadcast_to((layer + 1) * width + np.arange(width)[:, None], picked.shape)
    return np.stack([(picked + layer * width).ravel(), child.ravel()], axis=1).astype(np.int64)


def forest(trees: int, size: int, seed: int) -> Edges:
    """Random recursive trees: every node except a tree's first has an earlier node of the tree as parent."""
    random = np.random.default_rng(seed)
    children = np.tile(np.arange(1, size), trees)
    parents = (random.random(len(children)) * children).astype(np.int64)
    tree = np.repeat(np.arange(trees), size - 1) * size
    return np.stack([children + tree, parents + tree], axis=1)


def sparse_component(nodes: int, surplus: float, seed: int) -> Edges:
    """A connected graph: a random spanning tree, and random edges numbering ``surplus`` times those of the tree.

    >>> len(sparse_component(11, 0.1, seed=1))
    11
    """
    random = np.random.default_rng(seed)
    children = np.arange(1, nodes)
    parents = (random.random(nodes - 1) * children).astype(np.int64)
    more = random.integers(0, nodes, size=(8 * nodes, 2))
    more = more[more[:, 0] > more[:, 1]]
    keys = np.concatenate([children * nodes + parents, more[:, 0] * nodes + more[:, 1]])
    first = np.sort(np.unique(keys, return_index=True)[1])
    return np.stack(np.divmod(keys[first][: nodes - 1 + round(surplus * (nodes - 1))], nodes), axis=1)


def random_graph(nodes: int, edges: int, seed: int) -> Edges:
    """At most ``edges`` directed edges between random nodes; an edge that is drawn twice counts once.

    >>> random_graph(100, 20, seed=1).shape[1]
    2
    """
    return distinct(np.random.default_rng(seed).integers(0, nodes, size=(edges, 2)))


def distinct(rows: Edges) -> Edges:
    """The distinct rows of one or two columns, sorted.

    >>> distinct(np.array([[2, 1], [1, 5], [2, 1]])).tolist()
    [[1, 5], [2, 1]]
    """
    width = int(rows.max(initial=0)) + 1
    keys = np.sort(rows[:, 0] if rows.shape[1] == 1 else rows[:, 0] * width + rows[:, 1])
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    return keys[:, None] if rows.shape[1] == 1 else np.stack(np.divmod(keys, width), axis=1)


def category_graph(nodes: int, edges: int, levels: int = 18, spread: float = 0.005, seed: int = 0) -> Edges:
    """Categories and their broader categories, as in an encyclopedia: about ``edges`` edges (child, parent).

    Most categories are in the middle levels. Each has a position among the topics of its level and one or more
    parents near that position, mostly one level up; one parent in a hundred is further away, on any level above. In
    some topics, a parent is also below one of its children, which makes small components.

    >>> graph = category_graph(10_000, 40_000)
    >>> bool(36_000 < len(graph) < 41_000), int(graph.max())
    (True, 9999)
    """
    random = np.random.default_rng(seed)
    depth = np.arange(levels)
    share = np.exp(-0.5 * ((depth - 0.55 * levels) / (0.17 * levels)) ** 2)
    size = np.maximum(1, share / share.sum() * nodes).astype(np.int64)
    size[np.argmax(size)] += nodes - size.sum()
    start, level = np.cumsum(size) - size, np.repeat(depth, size)
    place = np.concatenate([np.sort(random.random(width)) for width in size])
    below = np.arange(size[0], nodes)
    child = np.sort(np.concatenate([below, random.choice(below, max(0, edges - len(below)))]))
    far = random.random(len(child)) < 0.01
    steps = np.minimum(random.geometric(0.8, len(child)), level[child])
    steps = np.where(far, random.integers(1, level[child] + 1), steps)
    above = level[child] - steps
    beside = random.standard_normal(len(child)) * np.where(far, 30 * spread, spread)
    parent = start[above] + ((place[child] + beside) % 1.0 * size[above]).astype(np.int64)
    topics = max(1, nodes // 1_000)
    tangled = np.minimum(0.08, 0.006 * random.exponential(1, topics) ** 2)
    back = (steps == 1) & (random.random(len(child)) < tangled[(place[child] * topics).astype(np.int64)])
    upwards, downwards = np.stack([child, parent], axis=1), np.stack([parent[back], child[back]], axis=1)
    return distinct(np.concatenate([upwards, downwards]))


def clustered_dag(nodes: int, edges: int, cluster: int, seed: int) -> Edges:
    """At most ``edges`` edges to smaller nodes of the same cluster; a cluster has ``cluster`` nodes.

    >>> drawn = clustered_dag(100, 50, 10, seed=1)
    >>> bool((drawn[:, 0] > drawn[:, 1]).all()), bool((drawn[:, 0] // 10 == drawn[:, 1] // 10).all())
    (True, True)
    """
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, cluster, size=(edges, 2)), axis=1)[:, ::-1]
    ends = ends[ends[:, 0] > ends[:, 1]]
    return distinct(ends + random.integers(0, nodes // cluster, size=len(ends))[:, None] * cluster)
