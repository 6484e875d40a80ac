"""Steps of modules by paths: a fact of a closure is proved by a shortest path of edges, each of which is a fact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np

from everlog.engine.kernels import paths, rows, search
from everlog.engine.keys import ID_BITS, ID_MASK, Column
from everlog.engine.reach import Positions, Reach
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.query.explain.steps import FoundSteps
from everlog.query.explain.subject import ModulePaths, Subject
from everlog.query.explain.table import Facts

MOST_PATHS = 20
"""Maximum number of paths found for each fact if all proofs are requested."""

PATIENCE = 10_000
"""Maximum number of steps in the search for other paths."""


@dataclass(frozen=True)
class PathFinder:
    """A graph with the arrays that the search for paths needs; ``both_ways`` is whether every edge has its inverse."""

    reach: Reach
    hashes: Column
    both_ways: bool = False

    def shortest(self, sources: Column, targets: Column) -> tuple[Column, Column]:
        """A shortest path from each source to its target: the offset of each path, and the vertices on all of them."""
        begin, end = self.reach.positions(sources), self.reach.positions(targets)
        bounds, places = paths.shortest_paths(
            self.reach.rows.table, self.row_of, *self.ahead, *self.behind, begin, end, self.rank
        )
        return bounds, self.reach.at(places)

    @cached_property
    def row_of(self) -> Positions:
        """Read-only, so that kernels see one type whether the graph is mapped or not."""
        view = self.reach.row_of.view()
        view.flags.writeable = False
        return view

    @cached_property
    def _edges(self) -> Relation:
        return Relation.from_run(self.reach.edges.run())

    @cached_property
    def ahead(self) -> tuple[Column, Column]:
        """The offset of the following positions of each position, and these positions."""
        return self._adjacent((0, 1))

    @cached_property
    def behind(self) -> tuple[Column, Column]:
        """The offset of the preceding positions of each position, and these positions."""
        return self.ahead if self.both_ways else self._adjacent((1, 0))

    def _adjacent(self, order: tuple[int, int]) -> tuple[Column, Column]:
        keys = self._edges.run().keys(order)
        return search.leading_offsets(keys, ID_BITS, len(self.reach) + 1).astype(np.int64), keys & ID_MASK

    @cached_property
    def rank(self) -> Column:
        """The order of positions by the hash of the term there, then by state."""
        vertices = self.reach.at(np.arange(len(self.reach)))
        rank = np.empty(len(vertices), np.int64)
        rank[np.lexsort((vertices >> ID_BITS, self.hashes[vertices & ID_MASK]))] = np.arange(len(vertices))
        return rank


@dataclass(frozen=True)
class Paths:
    """The graph of a module, prepared for the search for paths."""

    subject: Subject
    of: ModulePaths

    def steps(self, facts: Facts, predicate: Predicate, numbers: Column) -> FoundSteps:
        """A shortest path for each fact that has a path other than the fact itself."""
        first, second = facts.columns(predicate, numbers)
        pairs = self.of.graph.pairs[predicate]
        sources, targets = (second, first) if pairs.mirrored else (first, second)
        bounds, vertices = self._finder.shortest(sources | pairs.source << ID_BITS, targets | pairs.target << ID_BITS)
        return self._found(facts, numbers, bounds, vertices, pairs.mirrored)

    def several(self, facts: Facts, predicate: Predicate, numbers: Column) -> tuple[FoundSteps, bool]:
        """The shortest paths for each of a few facts, up to :data:`MOST_PATHS`, and whether these are all."""
        pairs, graph = self.of.graph.pairs[predicate], self.of.graph.reach
        owners: list[int] = []
        found: list[list[int]] = []
        complete = True
        for number, first, second in zip(numbers, *facts.columns(predicate, numbers), strict=True):
            ends = (second, first) if pairs.mirrored else (first, second)
            at = [np.array([t | s << ID_BITS]) for t, s in zip(ends, (pairs.source, pairs.target), strict=True)]
            source, target = (int(graph.positions(each)[0]) for each in at)
            mine, all_of_them = self._simple(source, target)
            complete &= all_of_them
            owners += [int(number)] * len(mine)
            found += mine
        bounds = np.concatenate([[0], np.cumsum([len(path) for path in found])]).astype(np.int64)
        vertices = graph.at(np.array([at for path in found for at in path], np.int64))
        return self._found(facts, np.array(owners, np.int64), bounds, vertices, pairs.mirrored), complete

    def _simple(self, source: int, target: int) -> tuple[list[list[int]], bool]:
        """Paths that visit no position twice, shortest first, then by rank, and whether these are all; the search ends
        after :data:`PATIENCE` steps."""
        offsets, following = self._finder.ahead
        left = self._distances(source, target)
        found: list[list[int]] = []
        queue: list[tuple[int, tuple[int, ...], list[int]]] = [(0, (), [source])]
        for _ in range(PATIENCE):
            if not queue or len(found) == MOST_PATHS:
                break
            _, ranks, path = heappop(queue)
            if len(path) > 1 and path[-1] == target:
                found.append(path)
                continue
            for v in following[offsets[path[-1]] : offsets[path[-1] + 1]].tolist():
                if v in left and (v not in path or (v == target == source)):
                    further = (*ranks, int(self._finder.rank[v]))
                    heappush(queue, (len(path) + left[v], further, [*path, v]))
        return found, not queue and len(left) < PATIENCE

    def _distances(self, source: int, target: int) -> dict[int, int]:
        """The distances to the target from positions that the source reaches."""
        offsets, preceding = self._finder.behind
        known = {target: 0}
        level = np.array([target])
        while len(level) and len(known) < PATIENCE:
            spans = [preceding[offsets[v] : offsets[v + 1]] for v in level.tolist()]
            level = np.unique(np.concatenate(spans))
            graph = self._finder.reach
            inside = rows.reaches(graph.rows.table, self._finder.row_of, np.full(len(level), source), level)
            level = level[inside & ~np.isin(level, list(known))]
            far = max(known.values()) + 1
            known.update(dict.fromkeys(level.tolist(), far))
        return known

    def _found(self, facts: Facts, numbers: Column, bounds: Column, vertices: Column, mirrored: bool) -> FoundSteps:
        """Paths as steps, with their edges in the order from the first term to the second."""
        sizes = np.maximum(np.diff(bounds) - 1, 0)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        owner = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(owner)) - offsets[owner]
        if mirrored:
            within = sizes[owner] - 1 - within
        at = bounds[owner] + within
        body = self._edges(facts, vertices[at], vertices[at + 1])
        own = (sizes == 0) | ((sizes == 1) & (body[np.minimum(offsets[:-1], max(0, len(body) - 1))] == numbers))
        kept = ~own
        return FoundSteps(
            self.of.module, numbers[kept], np.concatenate([[0], np.cumsum(sizes[kept])]), body[np.repeat(kept, sizes)]
        )

    def _edges(self, facts: Facts, sources: Column, targets: Column) -> Column:
        """The facts of edges; for each edge, the fact of the first feed that has it."""
        edges = (targets, sources) if self.of.graph.reach.turned else (sources, targets)
        found = np.full(len(sources), -1, np.int64)
        for feed in self.of.graph.feeds:
            mine = np.flatnonzero((found < 0) & feed.feeds(self.subject.with_hidden, edges))
            if len(mine):
                terms = [side[mine] & ID_MASK for side in edges]
                columns = terms[::-1] if feed.inverted else terms
                found[mine] = facts.numbers(self.subject.shown(feed.predicate), columns, len(mine))
        return found

    @cached_property
    def _finder(self) -> PathFinder:
        return PathFinder(self.of.graph.reach, self.subject.hashes)
