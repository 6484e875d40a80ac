"""Reachability in a directed graph, kept without its pairs.

Vertices (any integers) have *positions*; the strongly connected components have one *row* each,
the set of positions they reach by at least one edge, in the smaller of two forms (see
``kernels.graphs``). Positions are given in the order in which a depth-first search leaves the
vertices, so what a vertex reaches lies in few intervals, as in a tree cover.

An update works on the affected part: the ancestors of the vertices whose edges changed are split
into components again, and closed from below; where a set comes out as it was, nothing above it is
touched. Values are immutable: a new one shares the rows that stayed. Positions stay, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.engine.kernels import graphs, joins, search
from everlog.engine.keys import Column, Keys, Mask, layout_for, sort_unique
from everlog.engine.relation import Relation

Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int32]

NOWHERE = -1
"""The position of what is no vertex."""

NO_POSITIONS: Positions = np.empty(0, np.int32)

NO_ROW = 0
"""The row of vertices that reach nothing yet."""

SEGMENT = 1 << 12
LARGEST_SEGMENT = 1 << 22
"""Words that are reserved for new rows at a time, at first and at most."""

REPACKED_FROM = 1 << 16
"""Rows are written anew when more than half of at least so many words are no longer used."""

SPARSE = 8
"""Vertices are numbered by a table of all numbers if one in so many of these is a vertex, otherwise by sorting."""

LOOKED_UP = 8
"""The table is made when as many vertices as one in so many of those there are have to be found at once."""

LOW = (1 << 32) - 1
FIELDS = 5


class Rows:
    """The rows of several versions of a graph, in one growing table; only the newest version may add to it."""

    def __init__(self, capacity: int) -> None:
        self.table = np.zeros((capacity, FIELDS), np.int64)
        self.table[NO_ROW, 2] = graphs.INTERVALS
        self.used = 1
        self.segments: list[Words] = []
        self.words = 0

    def room(self, used: int, more: int) -> Rows:
        """A table in which rows can be put from ``used`` on: this one, or a larger copy."""
        if used == self.used and used + more <= len(self.table):
            return self
        grown = Rows(max(2 * used, used + more) + 16)
        grown.table[:used] = self.table[:used]
        grown.used, grown.segments, grown.words = used, list(self.segments), self.words
        return grown


class Updated(NamedTuple):
    """A graph after an update, and the positions that no longer reach what they reached before it."""

    graph: Reach
    changed: Positions
    before: Reach
    shrunk: bool
    """Whether edges went."""
    grown: bool
    """Whether edges came."""

    @property
    def lost(self) -> Difference:
        """What is no longer reached."""
        return self._difference(self.before, self.graph, self.shrunk, self.grown)

    @property
    def won(self) -> Difference:
        """What is reached only now."""
        return self._difference(self.graph, self.before, self.grown, self.shrunk)

    def _difference(self, left: Reach, right: Reach, some: bool, others: bool) -> Difference:
        changed = self.changed if some else self.changed[:0]
        rows = (left.row_of[changed], right.row_of[changed])
        return Difference(self.graph.rows, self.graph.vertex_at, changed, *rows, within=not others)


class Local(NamedTuple):
    """A part of a graph that is to be closed: see ``kernels.graphs.close_components``."""

    bounds: Column
    members: Positions
    position: Positions
    offsets: Column
    targets: Positions
    inside: Positions


@dataclass(frozen=True)
class Reach:
    """See the module.

    >>> graph = Reach.of(np.array([1, 2, 5]), np.array([2, 3, 5]))
    >>> graph.pairs, graph.reaches(np.array([1, 3]), np.array([3, 1])).tolist()
    (4, [True, False])
    """

    vertices: Keys
    """All vertices, ascending."""
    places: Positions
    """The position of each of them."""
    vertex_at: Keys
    """The vertex at each position."""
    row_of: Positions
    """The row of each position."""
    rows: Rows
    used: int
    edges: Relation
    """Pairs of positions."""
    pairs: int
    """How many pairs of vertices there are whose first reaches the second."""

    @classmethod
    def of(cls, sources: Column, targets: Column) -> Reach:
        """The graph with these edges."""
        vertices, numbers = _numbered(np.concatenate([sources, targets]))
        size = len(vertices)
        keys = sort_unique(numbers[: len(sources)] << 32 | numbers[len(sources) :])
        offsets = search.leading_offsets(keys, 32, size + 1).astype(np.int64)
        component, order = graphs.strong_components(offsets, keys & LOW)
        places = np.empty(size, np.int32)
        places[order] = np.arange(size, dtype=np.int32)
        placed = np.asarray(places[keys >> 32], np.int64) << 32 | places[keys & LOW]
        edges = Relation.from_keys(layout_for(2, size), placed)
        keys = edges.keys()
        offsets = search.leading_offsets(keys, 32, size + 1).astype(np.int64)
        component = component[order]
        identity = np.arange(size, dtype=np.int32)
        ends = (keys & LOW).astype(np.int32)
        local = Local(_bounds(component), identity, identity, offsets, ends, component[ends])
        rows, row_of = Rows(len(local.bounds) + 16), np.zeros(size, np.int32)
        everything = np.ones(len(local.bounds) - 1, np.bool_)
        used = _close(local, np.full(len(everything), -1, np.int32), everything, row_of, np.zeros(size, np.bool_), rows)
        table = rows.table[:used]
        return cls(vertices, places, vertices[order], row_of, rows, used, edges, int((table[:, 3] * table[:, 4]).sum()))

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def nbytes(self) -> int:
        """The memory of everything that is held."""
        arrays = (self.vertices, self.places, self.vertex_at, self.row_of)
        held = sum(a.nbytes for a in arrays) + self.edges.nbytes + self.used * FIELDS * 8 + self.rows.words * 8
        held += self._lookup[1].nbytes if "_lookup" in self.__dict__ else 0
        return held + (self.backwards.nbytes if "backwards" in self.__dict__ else 0)

    # reading ------------------------------------------------------------------------------------

    def positions(self, vertices: Column) -> Positions:
        """Where vertices are; what is none is nowhere."""
        if not len(self.vertices):
            return np.full(len(vertices), NOWHERE, np.int32)
        if LOOKED_UP * len(vertices) > len(self) or "_lookup" in self.__dict__:
            width, table = self._lookup
            if len(table):
                return graphs.looked_up(table, width, vertices)
        at = np.minimum(np.searchsorted(self.vertices, vertices), len(self.vertices) - 1)
        return np.where(self.vertices[at] == vertices, self.places[at], np.int32(NOWHERE))

    @cached_property
    def _lookup(self) -> tuple[int, Positions]:
        """The positions by state and term, if there are not many more of these than vertices: the number of terms,
        and a table."""
        width, states = _extent(self.vertices)
        if width * states > SPARSE * len(self):
            return width, NO_POSITIONS
        table = np.full(width * states, NOWHERE, np.int32)
        table[(self.vertices >> 32) * width + (self.vertices & LOW)] = self.places
        return width, table

    @cached_property
    def states(self) -> tuple[int, ...]:
        """The states that vertices have, which are what is in their upper half."""
        if not len(self.vertices):
            return ()
        upper = self.vertices[[0, -1]] >> 32
        return (int(upper[0]),) if upper[0] == upper[1] else tuple(np.unique(self.vertices >> 32).tolist())

    def in_state(self, state: int) -> Positions:
        """The positions of the vertices in a state."""
        low, high = np.searchsorted(self.vertices, [state << 32, (state + 1) << 32])
        return self.places[low:high]

    def bitmap_of(self, state: int) -> Words:
        """The bitmap of these positions."""
        bits = np.zeros(((len(self) >> 6) + 1) << 6, np.uint8)
        bits[self.in_state(state)] = 1
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def reaches(self, sources: Column, targets: Column) -> Mask:
        """Which of the sources reach the target beside them."""
        return graphs.reaches(self.rows.table, self.row_of, self.positions(sources), self.positions(targets))

    def mutual_counts(self, positions: Positions) -> Column:
        """How many vertices each position reaches that reach it as well."""
        rows = self.rows_of(positions)
        cyclic = graphs.reaches(self.rows.table, self.row_of, positions, positions)
        return np.where(cyclic, self.rows.table[rows, 4], 0)

    def rows_of(self, positions: Positions) -> Positions:
        """The rows of positions, negative for nowhere."""
        if not len(self):
            return positions
        return np.where(positions >= 0, self.row_of[positions], np.int32(-1))

    def counts(self, rows: Positions) -> Column:
        """How many positions rows have."""
        return np.where(rows >= 0, self.rows.table[rows, 3], 0)

    def counts_within(self, rows: Positions, mask: Words) -> Column:
        """How many positions rows have that are in a bitmap."""
        return graphs.count_within(self.rows.table, rows, mask)

    def expanded(self, rows: Positions) -> tuple[Column, Column]:
        """What rows reach: the number of the row among those given, and the vertex."""
        numbers, positions = graphs.expand_rows(self.rows.table, rows, int(self.counts(rows).sum()))
        return numbers, self.vertex_at[positions]

    @cached_property
    def backwards(self) -> Reach:
        """The graph with all edges turned around; made when it is asked for."""
        return Reach.of(*reversed(self.edge_vertices()))

    def edge_vertices(self) -> tuple[Column, Column]:
        """The edges, as vertices."""
        sources, targets = self.edges.columns()
        return self.vertex_at[sources], self.vertex_at[targets]

    # changing -----------------------------------------------------------------------------------

    def updated(self, gone: tuple[Column, Column], come: tuple[Column, Column]) -> Updated:
        """The graph without some of its edges and with some that it does not have."""
        graph = self._with_vertices(np.concatenate(come))._repacked()
        lost, new = graph._edges(gone), graph._edges(come)
        edges = (graph.edges - lost) | new
        more = new.columns()
        bridging = ~graphs.reaches(graph.rows.table, graph.row_of, more[0], more[1])
        seeds = np.unique(np.concatenate([lost.columns()[0], more[0][bridging]]))
        if not len(seeds):
            found, moved = graph._with(graph.row_of, graph.rows, graph.used, edges, graph.pairs), NO_POSITIONS
        else:
            found, moved = graph._closed_again(edges, graph.edges | new, seeds)
        if "backwards" in self.__dict__:
            turned = self.backwards.updated((gone[1], gone[0]), (come[1], come[0])).graph
            found.__dict__["backwards"] = turned
        return Updated(found, moved, graph, bool(lost), bool(new))

    def _closed_again(self, edges: Relation, every: Relation, seeds: Column) -> tuple[Reach, Positions]:
        """The graph with other edges, which differ in those of the seeds, and the positions that changed; ``every`` are
        the edges before and after."""
        row_of, changed = self.row_of.copy(), np.zeros(len(self), np.bool_)
        local, seeded = _affected(every, edges, seeds, len(self))
        weights = local.bounds[1:] - local.bounds[:-1]
        mine = row_of[local.position[local.members]]
        starts = local.bounds[:-1]
        same = np.minimum.reduceat(mine, starts) == np.maximum.reduceat(mine, starts)
        unchanged = same & (self.rows.table[mine[starts], 4] == weights)
        dirty = np.maximum.reduceat(seeded[local.members], starts)
        rows = self.rows.room(self.used, len(weights))
        used = _close(local, np.where(unchanged, mine[starts], np.int32(-1)), dirty, row_of, changed, rows)
        moved = np.flatnonzero(changed).astype(np.int32)
        counts = rows.table[:, 3]
        pairs = self.pairs + int((counts[row_of[moved]] - counts[self.row_of[moved]]).sum())
        return self._with(row_of, rows, used, edges, pairs), moved

    def _with(self, row_of: Positions, rows: Rows, used: int, edges: Relation, pairs: int) -> Reach:
        """A graph of the same vertices."""
        found = Reach(self.vertices, self.places, self.vertex_at, row_of, rows, used, edges, pairs)
        if "_lookup" in self.__dict__:
            found.__dict__["_lookup"] = self._lookup
        return found

    def _edges(self, pairs: tuple[Column, Column]) -> Relation:
        sources, targets = (self.positions(side).astype(np.int64) for side in pairs)
        known = (sources >= 0) & (targets >= 0)
        return Relation.from_columns([sources[known], targets[known]], len(self))

    def _with_vertices(self, vertices: Column) -> Reach:
        """The graph with more vertices, which get the last positions."""
        new = np.unique(vertices)
        new = new[self.positions(new) == NOWHERE]
        if not len(new):
            return self
        places = np.arange(len(self), len(self) + len(new), dtype=np.int32)
        at = np.searchsorted(self.vertices, new)
        row_of = np.concatenate([self.row_of, np.full(len(new), NO_ROW, np.int32)])
        return Reach(
            np.insert(self.vertices, at, new),
            np.insert(self.places, at, places),
            np.concatenate([self.vertex_at, new]),
            row_of,
            self.rows,
            self.used,
            self.edges,
            self.pairs,
        )

    def _repacked(self) -> Reach:
        """The same graph without room for rows that no vertex has."""
        if self.rows.words < REPACKED_FROM and self.used < 2 * len(self) + REPACKED_FROM:
            return self
        table, marked = self.rows.table, np.zeros(self.used, np.bool_)
        marked[self.row_of] = True
        live = np.flatnonzero(marked)
        if 2 * int(table[live, 1].sum()) > self.rows.words and self.used < 2 * len(live) + REPACKED_FROM:
            return self
        numbers = np.cumsum(marked)[self.row_of]
        rows = Rows(len(live) + 16)
        words = np.empty(int(table[live, 1].sum()), np.uint64)
        graphs.copy_rows(table, live, rows.table, words)
        rows.used, rows.segments, rows.words = len(live) + 1, [words], len(words)
        return self._with(numbers.astype(np.int32), rows, rows.used, self.edges, self.pairs)


@dataclass(frozen=True)
class Difference:
    """What positions reach by their left rows and not by their right ones; counted and listed on demand."""

    rows: Rows
    vertex_at: Keys
    positions: Positions
    left: Positions
    right: Positions
    within: bool = False
    """Whether the right rows have nothing that the left ones do not have."""

    @cached_property
    def count(self) -> int:
        if self.within:
            counts = self.rows.table[:, 3]
            return int((counts[self.left] - counts[self.right]).sum())
        return int(self._expanded(-1)[0])

    def listed(self) -> tuple[Column, Column]:
        """The pairs of vertices."""
        _, numbers, found = self._expanded(self.count)
        return self.vertex_at[self.positions[numbers]], self.vertex_at[found]

    def _expanded(self, count: int) -> tuple[int, Column, Column]:
        return graphs.expand_differences(self.rows.table, self.left, self.right, _board(len(self.vertex_at)), count)


def _extent(vertices: Column) -> tuple[int, int]:
    """How many terms and states there may be."""
    return int((vertices & LOW).max()) + 1, int(vertices.max() >> 32) + 1


def _numbered(vertices: Column) -> tuple[Keys, Column]:
    """The different vertices, ascending, and for each of those given its number among them."""
    if not len(vertices):
        return vertices, vertices
    width, states = _extent(vertices)
    if states * width > SPARSE * len(vertices):
        different = sort_unique(vertices.copy())
        return different, np.searchsorted(different, vertices)
    dense = (vertices >> 32) * width + (vertices & LOW) if states > 1 else vertices
    seen = np.zeros(states * width, np.bool_)
    seen[dense] = True
    found = np.flatnonzero(seen)
    numbers = np.empty(len(seen), np.int64)
    numbers[found] = np.arange(len(found))
    return (found // width << 32 | found % width if states > 1 else found), numbers[dense]


def _board(size: int) -> tuple[Words, Words]:
    words = (size >> 6) + 1
    summary = np.zeros((words >> 6) + 3, np.uint64)
    summary[-2] = graphs.FAR
    return np.zeros(words, np.uint64), summary


def _bounds(component: Positions) -> Column:
    """Where the components start, given the component of each vertex, ascending."""
    if not len(component):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(component[1:] != component[:-1]) + 1, [len(component)]])


def _affected(every: Relation, edges: Relation, seeds: Column, size: int) -> tuple[Local, Mask]:
    """The ancestors of the seeds by any edge, as a graph with the edges there are now, and which of them are seeds."""
    marked = np.zeros(size, np.bool_)
    position = np.sort(graphs.ancestors(every.table((1, 0)), 32, seeds, marked))
    number = np.full(size, -1, np.int32)
    number[position] = np.arange(len(position), dtype=np.int32)
    table = edges.table((0, 1))
    matched = search.ranges(table, position.astype(np.int64) << 32, 1 << 32, 32)
    rows, keys = joins.expand(table, *matched, 0, int(matched[2][-1]))
    if edges.gone:
        kept = edges.contains(keys)
        rows, keys = rows[kept], keys[kept]
    if len(edges.runs) > 1:
        order = np.argsort(keys)
        rows, keys = rows[order], keys[order]
    offsets = np.searchsorted(rows, np.arange(len(position) + 1))
    targets = (keys & LOW).astype(np.int32)
    component, order = graphs.strong_components(offsets, number[targets])
    inside = np.where(number[targets] >= 0, component[number[targets]], np.int32(-1))
    local = Local(_bounds(component[order]), order, position, offsets, targets, inside)
    return local, np.isin(position, seeds)


def _close(local: Local, old_row: Positions, dirty: Mask, row_of: Positions, changed: Mask, rows: Rows) -> int:
    """Close the components and put their rows into the table; returns how many rows it has then."""
    components, number, size = len(local.bounds) - 1, 0, SEGMENT
    work = _board(len(row_of))
    while number < components:
        size = min(2 * size, LARGEST_SEGMENT)
        out = np.empty(max(size, len(work[0])), np.uint64)
        number, rows.used, written = graphs.close_components(
            number, *local, old_row, dirty, row_of, changed, rows.table, rows.used, work, out
        )
        if written:
            rows.segments.append(out)
            rows.words += written
    return rows.used
