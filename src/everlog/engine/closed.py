"""The pairs of a closure as part of a relation: looked up, matched and counted in the graph, listed when asked for.

A vertex is a term in a state (``state << 32 | term``). A pair (x, z) holds if x in the state ``source``
reaches z in the state ``target``; with ``mirrored`` it is the pair (z, x) that holds then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from everlog.engine.keys import BLOCK_ROWS, ID_BITS, ID_MASK, Column, Keys, Mask, layout_for, sort_unique
from everlog.engine.reach import Positions, Reach, ReachDifference, Words
from everlog.engine.relation import Relation
from everlog.engine.runs import Run

Pairs = tuple[Column, Column]


@dataclass(frozen=True)
class Closed:
    """The pairs of one closure that a graph implies. Keys are those of binary facts: first << 32 | second."""

    graph: Reach
    source: int = 0
    target: int = 0
    mirrored: bool = False

    is_counted: ClassVar[bool] = True

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        if self.is_whole:
            return self.graph.pairs
        return int(self._counts(self.graph, self.graph.rows_of(self._starts.astype(np.int32))).sum())

    @cached_property
    def mutual(self) -> int:
        """Number of pairs whose inverse is a pair, too."""
        return int(self.mutual_counts(self.graph.vertices & ID_MASK).sum())

    def mutual_counts(self, terms: Column) -> Column:
        """For each term, the number of its pairs whose inverse is a pair, too; all vertices must be in one state."""
        return self.graph.mutual_counts(self.graph.positions(terms | self.source << ID_BITS))

    @property
    def nbytes(self) -> int:
        return self.graph.nbytes

    @property
    def is_whole(self) -> bool:
        """Whether every pair of vertices that reach each other is a pair of the relation."""
        states = self.graph.states
        return states == (self.source,) and self.source == self.target

    @cached_property
    def _starts(self) -> Positions:
        """The positions of the vertices that pairs start with."""
        return self.graph.in_state(self.source)

    def _mask(self, graph: Reach, state: int) -> Words | None:
        """Bitmap of the positions in a state; None if all positions are."""
        return None if graph.states == (state,) else graph.bitmap_of(state)

    def _counts(self, graph: Reach, rows: Positions, state: int | None = None) -> Column:
        mask = self._mask(graph, self.target if state is None else state)
        return graph.counts(rows) if mask is None else graph.counts_within(rows, mask)

    def contains(self, keys: Keys) -> Mask:
        """Which of the given pairs are in the closure."""
        first, second = keys >> ID_BITS, keys & ID_MASK
        if self.mirrored:
            first, second = second, first
        return self.graph.reaches(first | self.source << ID_BITS, second | self.target << ID_BITS)

    def matches(self, column: int, terms: Column, block: int = BLOCK_ROWS) -> Iterator[tuple[Column, Column]]:
        """Yield, in blocks, all pairs that have the given terms in a column: the number of the term among those given,
        and the term in the other column.
        """
        searched = self._searched(column, terms)
        if searched is not None:
            yield searched
            return
        graph, begin, end = self._direction(column)
        rows = graph.rows_of(graph.positions(terms | begin << ID_BITS if begin else terms))
        yield from self._expanded(graph, rows, end, block)

    def _searched(self, column: int, terms: Column) -> tuple[Column, Column] | None:
        """All matches at once, found by following the edges of the graph backwards; None if the graph leads from this
        column or the terms are too many for that.
        """
        if column == self.lead:
            return None
        begin, end = self.target, self.source
        found = self.graph.leading_to(self.graph.positions(terms | begin << ID_BITS if begin else terms))
        if found is None:
            return None
        numbers, vertices = found
        if self.graph.states != (end,):
            wanted = vertices >> ID_BITS == end
            numbers, vertices = numbers[wanted], vertices[wanted]
        return numbers, (vertices & ID_MASK if end else vertices)

    def _expanded(self, graph: Reach, rows: Positions, end: int, block: int) -> Iterator[tuple[Column, Column]]:
        ends = np.cumsum(graph.counts(rows))
        first = 0
        while first < len(rows):
            done = int(ends[first - 1]) if first else 0
            last = len(rows)
            if ends[-1] - done > block:
                last = max(first + 1, int(np.searchsorted(ends, done + block, side="right")))
            numbers, vertices = graph.expanded(rows[first:last])
            if graph.states != (end,):
                wanted = vertices >> ID_BITS == end
                numbers, vertices = numbers[wanted], vertices[wanted]
            yield (numbers + first if first else numbers), (vertices & ID_MASK if end else vertices)
            first = last

    def match_counts(self, column: int, terms: Column) -> Column:
        """For each term, the number of pairs that have it in a column."""
        searched = self._searched(column, terms)
        if searched is not None:
            return np.bincount(searched[0], minlength=len(terms))
        graph, begin, end = self._direction(column)
        return self._counts(graph, graph.rows_of(graph.positions(terms | begin << ID_BITS)), end)

    def terms(self, column: int) -> Column:
        """The different terms in a column, ascending. The graph is not turned around to find them."""
        forwards = column == self.lead
        if self.is_whole:
            return sort_unique(self.graph.edge_vertices()[0 if forwards else 1] & ID_MASK)
        starts = self.graph.at(self._starts) & ID_MASK
        if forwards:
            return np.sort(starts[self.match_counts(column, starts) > 0])
        reached = self.graph.reached(self.graph.rows_of(self._starts))
        return np.sort(reached[reached >> ID_BITS == self.target] & ID_MASK)

    def blocks(self, column: int = 0, block: int = BLOCK_ROWS) -> Iterator[Keys]:
        """Yield all pairs, in blocks, as keys that lead with a column: pairs with the same lead are in one block, leads
        ascend.

        For any column but :attr:`lead` a graph that is turned around is made, and discarded afterwards.
        """
        graph, begin, end = self._direction(column, keep=False)
        starts = graph.in_state(begin)
        leads = graph.at(starts) & ID_MASK
        for numbers, others in self._expanded(graph, graph.rows_of(starts), end, block):
            yield leads[numbers] << ID_BITS | others

    def sorted_keys(self) -> Keys:
        """All pairs, ascending."""
        return np.concatenate([np.sort(keys) for keys in self.blocks()] or [np.empty(0, np.int64)])

    @property
    def lead(self) -> int:
        """The column whose terms are the sources of the graph's edges."""
        return 1 if self.mirrored else 0

    def _direction(self, column: int, keep: bool = True) -> tuple[Reach, int, int]:
        """The graph that leads from a column to the other one, the state to begin in and the state to end in."""
        if column == self.lead:
            return self.graph, self.source, self.target
        return self.graph.backwards if keep else self.graph.turned_around(), self.target, self.source

    def difference(self, found: ReachDifference) -> ClosedDifference:
        """The pairs of this closure that an update of its graph added or removed."""
        return ClosedDifference(found, self.source, self.target, self.mirrored)


@dataclass(frozen=True)
class ClosedDifference:
    """Pairs inserted or deleted by an update of a graph. They are counted and listed when asked for."""

    found: ReachDifference
    source: int
    target: int
    mirrored: bool

    @cached_property
    def _restricted(self) -> ReachDifference:
        found = self.found
        at = found.vertex_at[found.positions].astype(np.int64) >> ID_BITS == self.source
        if at.all():
            return found
        picked = found.positions[at], found.left[at], found.right[at]
        return ReachDifference(found.rows, found.vertex_at, *picked, found.within)

    @cached_property
    def _single(self) -> bool:
        states = self.found.vertex_at.astype(np.int64) >> ID_BITS
        return bool((states == self.target).all())

    @cached_property
    def count(self) -> int:
        return self._restricted.count if self._single else len(self.keys())

    def keys(self) -> Keys:
        """The pairs, ascending."""
        sources, targets = self._restricted.listed()
        if not self._single:
            wanted = targets >> ID_BITS == self.target
            sources, targets = sources[wanted], targets[wanted]
        first, second = (targets, sources) if self.mirrored else (sources, targets)
        return np.sort((first & ID_MASK) << ID_BITS | second & ID_MASK)


class Listed(Relation):
    """The pairs of a difference as a relation that knows their number and lists them when they are read."""

    def __init__(self, difference: ClosedDifference) -> None:
        self.layout = layout_for(2, 0)
        self.tombstones = ()
        self.base = None
        self._tables = {}
        self._difference = difference

    @cached_property
    def runs(self) -> tuple[Run, ...]:  # type: ignore[override]
        return (Run.of(self.layout, self._difference.keys()),)

    def turned(self) -> Listed:
        """The inverse pairs."""
        return Listed(replace(self._difference, mirrored=not self._difference.mirrored))

    def __len__(self) -> int:
        return self._difference.count

    def __bool__(self) -> bool:
        return len(self) > 0
