"""Reachability in a directed graph, stored without its pairs.

Vertices (any integers) have *positions*. Each strongly connected component has one *row*: the set of positions that it
reaches by at least one edge, in few words (see ``kernels.rows``). Positions are numbered in the order in which a
depth-first search leaves the vertices, so what a vertex reaches lies in few intervals, as in a tree cover.

An update works on the affected part: the ancestors of the vertices whose edges changed are split into components again,
and closed from below; where a set comes out as it was, nothing above it is computed again. Values are immutable: a new
one shares the rows that did not change, and the positions. Positions given by updates lie apart from those of their
neighbours, so rows need more intervals then. The graph is built again, which gives new positions, once it takes much
more memory than it may take then, which is the case only if a share of its words was written since the last time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from everlog.engine.kernels import graphs, joins, rows, search
from everlog.engine.kernels.rows import LOW
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, ID_MASK, LARGEST_ID, Column, Keys, Mask, layout_for, sort_unique
from everlog.engine.relation import Relation
from everlog.engine.runs import Run

Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int32]
Vertices = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Item = TypeVar("Item", bound=np.generic)

NOWHERE = -1
"""Position of integers that are no vertex."""

EDGES = replace(layout_for(2, 0), indexed=False)
"""The layout of edges. An index would take half as much memory as the edges of a hierarchy."""

NO_POSITIONS: Positions = np.empty(0, np.int32)

NO_ROW = graphs.NO_ROW

SEGMENT = 1 << 12
"""Half the number of words reserved first for new rows; each further reservation is twice as large."""

LARGEST_SEGMENT = 1 << 22
"""Maximum number of words reserved at a time, unless the rows of one component need more."""

SMALL = 1 << 16
"""Bytes of a graph that is too small for any of the following."""

SPARE = 8
"""Rows are packed once more than one in this many is of no use, edges settled once half as many are; tables grow by
this part.
"""

COUNTED = 32
"""The vertices with edges are counted again once more than one edge in this many was changed."""

RENEWED_AT = 1.4
"""A graph is built again once it takes this many times the memory that it may then take, ..."""

GAINED = 1.1
"""... and this many times the memory that it may take after a further update."""

SPARSE = 8
"""Vertices are numbered by a table, not by sorting, if at least one in this many possible numbers is a vertex."""

LOOKED_UP = 8
"""Build the look-up table once a batch asks for at least 1/N of the vertices."""

SEARCHED = 4
"""Edges followed in a search against their direction, as a multiple of all edges, before the graph is turned around
instead."""

Check = Callable[[], None]


def unlimited() -> None:
    """A check that never raises."""


GROWN = 1.2
"""Until there are this many times the words of the graph when it was built, most words written are not expected to be
saved by building it again, ..."""

DOUBTED = 8
"""... but only one in this many."""

EDGE_BYTES = 8
"""Bytes of an edge in one order; updates sort the edges in a second one."""

FIELDS = 3
"""Numbers in a row of the table: address of the words, sizes, counts."""

Board = tuple[Words, Words, Words]


class RowTable:
    """The rows of several versions of a graph, in one growing table; only the newest version may add to it."""

    def __init__(self, capacity: int) -> None:
        self.table = np.zeros((capacity, FIELDS), np.int64)
        self.table[NO_ROW, 2] = 1
        self.used = 1
        self.segments: list[Words] = []
        self.words = 0

    @property
    def nbytes(self) -> int:
        return self.table.nbytes + sum(segment.nbytes for segment in self.segments)

    def counts(self, rows: Positions | Column) -> Column:
        """Number of positions in each row."""
        return self.table[rows, 2] >> 32

    def weights(self, rows: Positions | Column) -> Column:
        """Number of vertices that share each row, since they are in one component; 1 for the row of those that reach
        nothing.
        """
        return self.table[rows, 2] & LOW

    def sizes(self, rows: Column) -> Column:
        """Number of words of each row."""
        return self.table[rows, 1] & LOW

    def keep(self, words: Words, written: int, since: int) -> None:
        """Add the first ``written`` words, which belong to the rows from ``since`` on, and give back the others if they
        are many.
        """
        if len(words) - written > len(words) >> 4:
            kept = words[:written].copy()
            self.table[since : self.used, 0] += kept.ctypes.data - words.ctypes.data
            words = kept
        self.segments.append(words)
        self.words += written

    def room(self, used: int, more: int) -> RowTable:
        """A table with room for ``more`` rows from ``used`` on: this one, or a larger copy."""
        if used == self.used and used + more <= len(self.table):
            return self
        grown = RowTable(used + max(used // SPARE, more) + 16)
        grown.table[:used] = self.table[:used]
        grown.used, grown.segments, grown.words = used, list(self.segments), self.words
        return grown

    def trim(self) -> None:
        """Give back the room for more rows if it is much."""
        most = self.used + self.used // SPARE + 16
        if len(self.table) > most + self.used // SPARE:
            self.table = self.table[:most].copy()


class GraphUpkeep(NamedTuple):
    """What is known about the memory that a graph takes, and about that of a renewed one."""

    rows: int
    """Number of rows that vertices have."""
    words: int
    """Number of words of these rows."""
    built: int
    """Number of words when the graph was built."""
    written: int = 0
    """Number of words written since the graph was built."""
    idle: int = 0
    """Number of vertices without an edge when they were counted last."""
    sources: int = 0
    """Number of vertices with an edge from them, when they were counted last."""
    targets: int = 0
    """Number of vertices with an edge to them, when they were counted last."""
    changed: int = 0
    """Number of edges inserted and deleted since then."""


class Updated(NamedTuple):
    """A graph after an update, with the positions whose rows changed."""

    graph: Reach
    changed: Positions
    before: Reach
    after: Reach
    """The graph after the update with the positions of the graph before."""
    shrunk: bool
    """Whether edges were deleted."""
    grown: bool
    """Whether edges were inserted."""

    @property
    def renewed(self) -> bool:
        """Whether the graph was built again."""
        return self.graph.vertex_at is not self.after.vertex_at

    @property
    def deleted(self) -> ReachDifference:
        """The pairs that were deleted."""
        return self._difference(self.before, self.after, self.shrunk, self.grown)

    @property
    def inserted(self) -> ReachDifference:
        """The pairs that were inserted."""
        return self._difference(self.after, self.before, self.grown, self.shrunk)

    def _difference(self, left: Reach, right: Reach, some: bool, others: bool) -> ReachDifference:
        changed = self.changed if some else self.changed[:0]
        rows = (left.row_of[changed], right.row_of[changed])
        return ReachDifference(self.after.rows, self.after.vertex_at, changed, *rows, within=not others)


class Local(NamedTuple):
    """A part of a graph that is to be closed; see ``kernels.graphs.close_components``."""

    bounds: Column
    members: Positions
    position: Positions
    offsets: Column
    targets: Positions
    inside: Positions


@dataclass(frozen=True)
class Reach:
    """A directed graph with the set of vertices that each of its vertices reaches.

    >>> graph = Reach.of(np.array([1, 2, 5]), np.array([2, 3, 5]))
    >>> graph.pairs, graph.reaches(np.array([1, 3]), np.array([3, 1])).tolist()
    (4, [True, False])
    """

    vertex_at: Vertices
    """The vertex at each position."""
    places: Positions
    """The positions, in ascending order of the vertices there."""
    row_of: Positions
    """The row of each position."""
    rows: RowTable
    used: int
    edges: Relation
    """Pairs of positions."""
    pairs: int
    """Number of pairs of vertices whose first reaches the second."""
    upkeep: GraphUpkeep
    turned: bool = False
    """Whether each edge leads against the direction in which it was given."""

    @classmethod
    def of(cls, sources: Column, targets: Column, *, either: bool = False, check: Check = unlimited) -> Reach:
        """The graph with these edges. With ``either`` all of them are turned around if that leaves less than half as
        many vertices with an edge, since only these have rows. ``check`` is called now and then, and may raise.
        """
        vertices, numbers = _numbered(np.concatenate([sources, targets]))
        size = len(vertices)
        first, second = numbers[: len(sources)], numbers[len(sources) :]
        counts = _different(first, size), _different(second, size)
        turned = either and _is_turned(*counts)
        keys = sort_unique(second << ID_BITS | first if turned else first << ID_BITS | second)
        offsets = search.leading_offsets(keys, 32, size + 1).astype(np.int64)
        component, order = graphs.strong_components(offsets, keys & ID_MASK)
        places = np.empty(size, np.int32)
        places[order] = np.arange(size, dtype=np.int32)
        placed = np.asarray(places[keys >> ID_BITS], np.int64) << ID_BITS | places[keys & ID_MASK]
        edges = Relation.from_keys(EDGES, placed)
        keys = edges.keys()
        offsets = search.leading_offsets(keys, 32, size + 1).astype(np.int64)
        component = component[order]
        identity = np.arange(size, dtype=np.int32)
        ends = (keys & ID_MASK).astype(np.int32)
        local = Local(_bounds(component), identity, identity, offsets, ends, component[ends])
        kept, row_of = RowTable(len(local.bounds) + 1), np.zeros(size, np.int32)
        everything = np.ones(len(local.bounds) - 1, np.bool_)
        old_row, changed = np.full(len(everything), -1, np.int32), np.zeros(size, np.bool_)
        used = _close(local, old_row, everything, row_of, changed, kept, check)
        kept.table = kept.table[: used + 1].copy()
        upkeep = GraphUpkeep(used - 1, kept.words, kept.words, 0, 0, *(counts[::-1] if turned else counts))
        pairs = int(kept.counts(row_of).sum())
        return cls(_narrow(vertices[order]), places, row_of, kept, used, edges, pairs, upkeep, turned)

    # keeping ------------------------------------------------------------------------------------

    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """The graph as arrays, which must not be changed; :meth:`of_parts` makes the graph from them. Rows are copied
        only if some belong to no vertex, or if they lie in several pieces.
        """
        packed = self if self._is_packed else self._packed()
        table, words = packed.rows.table[: packed.used].copy(), packed.rows.segments[0][: packed.rows.words]
        table[1:, 0] = (table[1:, 0] - words.ctypes.data) >> 3
        return {
            "vertex_at": packed.vertex_at,
            "places": packed.places,
            "row_of": packed.row_of,
            "table": table,
            "words": words,
            "edges": packed.edges.keys(),
            "upkeep": np.array(packed.upkeep),
            "turned": np.array([self.turned]),
        }

    @classmethod
    def of_parts(cls, parts: Mapping[str, npt.NDArray[Any]]) -> Reach:
        """The graph made from such arrays, which stay in use and may be read-only.

        >>> Reach.of_parts(Reach.of(np.array([1, 2]), np.array([2, 3])).parts()).pairs
        3
        """
        table, words = parts["table"], parts["words"]
        kept = RowTable(len(table) + 1)
        kept.table[: len(table)] = table
        kept.table[1 : len(table), 0] = words.ctypes.data + 8 * table[1:, 0]
        kept.used, kept.segments, kept.words = len(table), [words], len(words)
        row_of = parts["row_of"]
        edges = Relation.from_run(Run.of(EDGES, parts["edges"]))
        pairs, turned = int(kept.counts(row_of).sum()), bool(parts["turned"][0])
        upkeep = GraphUpkeep(**dict(zip(GraphUpkeep._fields, parts["upkeep"].tolist(), strict=True)))
        return cls(parts["vertex_at"], parts["places"], row_of, kept, len(table), edges, pairs, upkeep, turned)

    def renumbered(self, ids: Column) -> Reach:
        """The graph with ``ids[i]`` in the place of the term ``i``; vertices are terms in states."""
        vertices = self.vertex_at.astype(np.int64)
        vertices = ids[vertices & ID_MASK] | vertices >> ID_BITS << ID_BITS
        return replace(self, vertex_at=_narrow(vertices), places=np.argsort(vertices).astype(np.int32))

    def __len__(self) -> int:
        return len(self.vertex_at)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self._own_bytes + (self.backwards.nbytes if "backwards" in self.__dict__ else 0)

    @property
    def _own_bytes(self) -> int:
        """Bytes of the arrays without those of the graph that is turned around."""
        held = self.vertex_at.nbytes + self.places.nbytes + self.row_of.nbytes + self.edges.nbytes + self.rows.nbytes
        return held + (self._lookup[1].nbytes if "_lookup" in self.__dict__ else 0)

    # reading ------------------------------------------------------------------------------------

    def positions(self, vertices: Column) -> Positions:
        """The positions of vertices, ``NOWHERE`` for integers that are no vertex."""
        if len(self) and (LOOKED_UP * len(vertices) > len(self) or "_lookup" in self.__dict__):
            width, table = self._lookup
            if len(table):
                return graphs.looked_up(table, width, vertices)
        return graphs.found_at(_frozen(self.vertex_at), _frozen(self.places), vertices)

    @cached_property
    def _lookup(self) -> tuple[int, Positions]:
        """The number of terms, and a table of positions by state and term; only if the table is not much larger than
        the vertices.
        """
        vertices = self.vertex_at.astype(np.int64)
        width, states = _extent(vertices)
        if width * states > SPARSE * len(self):
            return width, NO_POSITIONS
        table = np.full(width * states, NOWHERE, np.int32)
        table[(vertices >> ID_BITS) * width + (vertices & ID_MASK)] = np.arange(len(self), dtype=np.int32)
        return width, table

    @cached_property
    def states(self) -> tuple[int, ...]:
        """The states of vertices: the upper halves of their numbers."""
        if self.vertex_at.dtype == np.int32:
            return (0,) if len(self) else ()
        return tuple(np.unique(self.vertex_at >> ID_BITS).tolist())

    def in_state(self, state: int) -> Positions:
        """The positions of the vertices in a state, in ascending order of the vertices."""
        if self.states == (state,):
            return self.places
        return self.places[self.vertex_at[self.places] >> ID_BITS == state]

    def bitmap_of(self, state: int) -> Words:
        """The bitmap of the positions of the vertices in a state."""
        bits = np.zeros(((len(self) >> 6) + 1) << 6, np.uint8)
        bits[self.in_state(state)] = 1
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def reaches(self, sources: Column, targets: Column) -> Mask:
        """Which sources reach the target at the same index."""
        return rows.reaches(self.rows.table, _frozen(self.row_of), self.positions(sources), self.positions(targets))

    def mutual_counts(self, positions: Positions) -> Column:
        """For each position, the number of vertices that it reaches and that reach it."""
        cyclic = rows.reaches(self.rows.table, _frozen(self.row_of), positions, positions)
        return np.where(cyclic, self.rows.weights(self.rows_of(positions)), 0)

    def rows_of(self, positions: Positions) -> Positions:
        """The rows of positions, negative for ``NOWHERE``."""
        if not len(self):
            return positions
        return np.where(positions >= 0, self.row_of[positions], np.int32(-1))

    def counts(self, wanted: Positions) -> Column:
        """Number of positions in each row."""
        return np.where(wanted >= 0, self.rows.counts(wanted), 0)

    def counts_within(self, wanted: Positions, mask: Words) -> Column:
        """Number of positions in each row that are in a bitmap."""
        return rows.count_within(self.rows.table, wanted, _board(len(self)), mask)

    def expanded(self, wanted: Positions) -> tuple[Column, Column]:
        """The vertices that rows reach: the index of the row among those given, and the vertex."""
        numbers, positions = _expanded(self.rows, wanted, None, len(self), int(self.counts(wanted).sum()))
        return numbers, self.at(positions)

    def reached(self, wanted: Positions) -> Column:
        """All vertices that any of the rows reaches."""
        return self.at(rows.united(self.rows.table, np.unique(wanted), _board(len(self))))

    def at(self, positions: Positions | Column) -> Column:
        """The vertices at positions."""
        return self.vertex_at[positions].astype(np.int64)

    @property
    def vertices(self) -> Column:
        """All vertices, ascending."""
        return self.at(self.places)

    @cached_property
    def backwards(self) -> Reach:
        """The graph with all edges turned around, made at the first use."""
        return self.turned_around()

    def turned_around(self) -> Reach:
        """Compute the graph with all edges turned around, without caching it."""
        known: Reach | None = self.__dict__.get("backwards")
        return known or Reach.of(*reversed(self.edge_vertices()))

    def leading_to(self, positions: Positions) -> tuple[Column, Column] | None:
        """The vertices that reach some positions, found by following edges backwards: the index of the position among
        those given, and the vertex. None once that is more work than turning the graph around.
        """
        spent = self.__dict__.get("_searched", 0)
        patience = SEARCHED * (len(self) + len(self.edges)) - spent
        if "backwards" in self.__dict__ or patience <= 0:
            return None
        deleted = Relation(self.edges.layout, self.edges.tombstones)
        table, tombstones = self.edges.table((1, 0)), deleted.table((1, 0))
        work, numbers, found = graphs.leading_to(table, tombstones, 32, positions, len(self), patience)
        self.__dict__["_searched"] = spent + work
        return None if work > patience else (numbers, self.at(found))

    def edge_vertices(self) -> tuple[Column, Column]:
        """The edges, as pairs of vertices."""
        sources, targets = self.edges.columns()
        return self.at(sources), self.at(targets)

    def oriented(self, edges: tuple[Column, Column]) -> tuple[Column, Column]:
        """Edges in the direction of the graph, given in the direction in which its edges were given."""
        return edges[::-1] if self.turned else edges

    def through(self, edges: tuple[Column, Column], source: int, target: int) -> Iterator[tuple[Column, Column]]:
        """Yield, in blocks, all pairs of vertices in two states that a path through some of these edges of the graph
        connects.
        """
        first, second = self._edges(edges).columns()
        offsets = np.searchsorted(first, np.arange(len(self) + 1))
        starts = np.sort(graphs.ancestors(self.edges.table((1, 0)), 32, first, np.zeros(len(self), np.bool_)))
        starts = starts[self.at(starts) >> ID_BITS == source]
        unwanted, begin = ~self.bitmap_of(target), 0
        boards = _board(len(self)), _board(len(self))
        while begin < len(starts):
            begin, numbers, found = rows.expand_through(
                self.rows.table, _frozen(self.row_of), starts, begin, offsets, second, unwanted, *boards, BLOCK_ROWS
            )
            yield self.at(starts[numbers]), self.at(found)

    # changing -----------------------------------------------------------------------------------

    def updated(
        self,
        deleted: tuple[Column, Column],
        inserted: tuple[Column, Column],
        *,
        either: bool = False,
        check: Check = unlimited,
    ) -> Updated:
        """The graph without some of its edges and with some that it does not have. ``check`` may raise, as in
        :meth:`of`. With ``either`` the graph may come out turned around, or turned back, as if it were built again.
        """
        graph = self._with_vertices(np.concatenate(inserted))
        lost, new = graph._edges(deleted), graph._edges(inserted)
        edges = (graph.edges - lost) | new
        more = new.columns()
        bridging = ~rows.reaches(graph.rows.table, _frozen(graph.row_of), more[0], more[1])
        seeds = np.unique(np.concatenate([lost.columns()[0], more[0][bridging]]))
        upkeep = graph.upkeep._replace(changed=graph.upkeep.changed + len(lost) + len(new))
        if not len(seeds):
            after, moved = graph._with(graph.row_of, graph.rows, graph.used, edges, graph.pairs, upkeep), NO_POSITIONS
        else:
            after, moved = graph._closed_again(edges, graph.edges | new, seeds, upkeep, check)
        found = after._kept_small(either and "backwards" not in self.__dict__, check)
        if "backwards" in self.__dict__:
            turned = self.backwards.updated(deleted[::-1], inserted[::-1], check=check).graph
            found.__dict__["backwards"] = turned
        return Updated(found, moved, graph, after, bool(lost), bool(new))

    def _closed_again(
        self, edges: Relation, every: Relation, seeds: Column, known: GraphUpkeep, check: Check
    ) -> tuple[Reach, Positions]:
        """The graph with other edges, which differ in those of the seeds, and the positions whose rows changed;
        ``every`` has the edges before and after, ``known`` is the upkeep with the changed edges.
        """
        row_of, changed = self.row_of.copy(), np.zeros(len(self), np.bool_)
        local, seeded = _affected(every, edges, seeds, len(self))
        weights = local.bounds[1:] - local.bounds[:-1]
        mine = row_of[local.position[local.members]]
        starts = local.bounds[:-1]
        same = np.minimum.reduceat(mine, starts) == np.maximum.reduceat(mine, starts)
        unchanged = same & (self.rows.weights(mine[starts]) == weights)
        dirty = np.maximum.reduceat(seeded[local.members], starts)
        kept = self.rows.room(self.used, len(weights))
        used = _close(local, np.where(unchanged, mine[starts], np.int32(-1)), dirty, row_of, changed, kept, check)
        kept.trim()
        moved = np.flatnonzero(changed).astype(np.int32)
        pairs = self.pairs + int((kept.counts(row_of[moved]) - kept.counts(self.row_of[moved])).sum())
        return self._with(row_of, kept, used, edges, pairs, self._upkeep(known, kept, moved)), moved

    def _upkeep(self, known: GraphUpkeep, kept: RowTable, moved: Positions) -> GraphUpkeep:
        """The upkeep after an update that gave other rows to some positions and put new ones into the table."""
        unused = np.unique(self.row_of[moved])
        unused = unused[unused != NO_ROW]
        written = int(kept.sizes(np.arange(self.used, kept.used)).sum())
        return known._replace(
            rows=known.rows + kept.used - self.used - len(unused),
            words=known.words + written - int(kept.sizes(unused).sum()),
            written=known.written + written,
        )

    def _with(
        self, row_of: Positions, kept: RowTable, used: int, edges: Relation, pairs: int, upkeep: GraphUpkeep
    ) -> Reach:
        """The graph with other rows and edges, and with the vertices of this one."""
        found = Reach(self.vertex_at, self.places, row_of, kept, used, edges, pairs, upkeep, self.turned)
        if "_lookup" in self.__dict__:
            found.__dict__["_lookup"] = self._lookup
        return found

    def _edges(self, pairs: tuple[Column, Column]) -> Relation:
        sources, targets = (self.positions(side).astype(np.int64) for side in pairs)
        known = (sources >= 0) & (targets >= 0)
        return Relation.from_keys(EDGES, sources[known] << ID_BITS | targets[known])

    def _with_vertices(self, vertices: Column) -> Reach:
        """The graph with more vertices, which get the positions behind all others."""
        new = np.unique(vertices)
        new = new[self.positions(new) == NOWHERE]
        if not len(new):
            return self
        vertex_at = _narrow(np.concatenate([self.vertex_at.astype(np.int64), new]))
        at = np.searchsorted(self.vertex_at[self.places], new)
        places = np.insert(self.places, at, np.arange(len(self), len(vertex_at), dtype=np.int32))
        row_of = np.concatenate([self.row_of, np.full(len(new), NO_ROW, np.int32)])
        rest = self.rows, self.used, self.edges, self.pairs, self.upkeep, self.turned
        return Reach(vertex_at, places, row_of, *rest)

    # staying small ------------------------------------------------------------------------------

    def _kept_small(self, either: bool, check: Check) -> Reach:
        """The graph in a form whose memory is in proportion to that of a graph built of its edges."""
        if self._own_bytes < SMALL:
            return self
        graph = self._settled()
        unused = graph.used - 1 - graph.upkeep.rows, graph.rows.words - graph.upkeep.words
        if SPARE * unused[0] > graph.upkeep.rows or SPARE * unused[1] > graph.upkeep.words:
            graph = graph._packed()
        least = graph._least_bytes(either)
        once = least - graph.edges.nbytes + EDGE_BYTES * len(graph.edges)
        if graph._own_bytes <= max(SMALL, RENEWED_AT * once, GAINED * least):
            return graph
        vertices = graph.edge_vertices()
        if either:
            return Reach.of(*graph.oriented(vertices), either=True, check=check)
        return replace(Reach.of(*vertices, check=check), turned=graph.turned)

    def _settled(self) -> Reach:
        """The graph with edges that have few tombstones, and with vertices counted lately."""
        edges, upkeep = self.edges, self.upkeep
        if 2 * SPARE * sum(map(len, edges.tombstones)) > len(edges):
            edges = edges.settled()
        if COUNTED * upkeep.changed > len(edges):
            size, ends = len(self), edges.columns()
            idle = size - _different(np.concatenate(ends), size)
            sources, targets = (_different(side, size) for side in ends)
            upkeep = upkeep._replace(idle=idle, sources=sources, targets=targets, changed=0)
        if edges is self.edges and upkeep is self.upkeep:
            return self
        return self._with(self.row_of, self.rows, self.used, edges, self.pairs, upkeep)

    def _least_bytes(self, either: bool) -> int:
        """The bytes that the graph may take when it is renewed, with edges in as many orders as now: as many words as
        before for rows that are as old as the graph, and one for each other row. Few words are expected to be saved
        while there are hardly more than when the graph was built.
        """
        known = self.upkeep
        written = known.written if known.words > GROWN * known.built else known.written // DOUBTED
        count, words = known.rows, max(known.rows, known.words - written)
        if either and _is_turned(known.sources, known.targets):
            count = words = min(count, known.targets)
        of_vertices = self.vertex_at.nbytes + self.places.nbytes + self.row_of.nbytes
        unused = of_vertices * known.idle // max(1, len(self)) + self.rows.nbytes
        return self._own_bytes - unused + self.rows.table.itemsize * (FIELDS * count + words)

    def _live(self) -> Column:
        """The rows of vertices, except that of the vertices that reach nothing."""
        marked = np.zeros(self.used, np.bool_)
        marked[self.row_of] = True
        marked[NO_ROW] = False
        return np.flatnonzero(marked)

    @property
    def _is_packed(self) -> bool:
        """Whether the rows are in one piece and each belongs to a vertex."""
        if self.used != self.rows.used or len(self.rows.segments) != 1:
            return False
        return len(self._live()) == self.used - 1

    def _packed(self) -> Reach:
        """The graph with the rows of its vertices alone, in one piece."""
        live = self._live()
        kept, words = RowTable(len(live) + 2), np.empty(int(self.rows.sizes(live).sum()), np.uint64)
        rows.copy_rows(self.rows.table, live, kept.table, words)
        kept.used, kept.segments, kept.words = len(live) + 1, [words], len(words)
        numbers = np.zeros(self.used, np.int32)
        numbers[live] = np.arange(1, len(live) + 1)
        return self._with(numbers[self.row_of], kept, kept.used, self.edges, self.pairs, self.upkeep)


@dataclass(frozen=True)
class ReachDifference:
    """The positions that left rows reach and the right rows beside them do not. They are counted and listed when asked
    for.
    """

    rows: RowTable
    vertex_at: Vertices
    positions: Positions
    left: Positions
    right: Positions
    within: bool = False
    """Whether each right row is within its left row."""

    @cached_property
    def count(self) -> int:
        if self.within:
            return int((self.rows.counts(self.left) - self.rows.counts(self.right)).sum())
        left = int(self.rows.counts(self.left).sum())
        work = _board(len(self.vertex_at)), _board(len(self.vertex_at))
        return left - int(rows.count_common(self.rows.table, self.left, self.right, *work))

    def listed(self) -> tuple[Column, Column]:
        """The pairs of vertices."""
        numbers, found = _expanded(self.rows, self.left, self.right, len(self.vertex_at), self.count)
        sources, targets = self.vertex_at[self.positions[numbers]], self.vertex_at[found]
        return sources.astype(np.int64), targets.astype(np.int64)


def _expanded(kept: RowTable, left: Positions, right: Positions | None, size: int, count: int) -> tuple[Column, Column]:
    """The ``count`` positions that are in left rows and not in the right rows beside them: the index of the row, and
    the position.
    """
    right = np.full(len(left), -1, np.int32) if right is None else right
    numbers, positions = rows.expand_rows(kept.table, left, right, _board(size), _board(size), count)
    return numbers, positions


def _different(numbers: Column, size: int) -> int:
    """The number of distinct values, all of which are below ``size``."""
    seen = np.zeros(size, np.bool_)
    seen[numbers] = True
    return int(np.count_nonzero(seen))


def _is_turned(sources: int, targets: int) -> bool:
    """Whether much fewer vertices have an edge from them when the edges are turned around."""
    return 2 * targets < sources


def _narrow(vertices: Keys) -> Vertices:
    """Vertices in 32 bits if they are all in state 0."""
    return vertices.astype(np.int32) if not len(vertices) or vertices.max() <= LARGEST_ID else vertices


def _frozen(array: npt.NDArray[Item]) -> npt.NDArray[Item]:
    """The array as read-only, so that kernels are compiled for one type whether it is mapped or not."""
    view = array.view()
    view.flags.writeable = False
    return view


def _extent(vertices: Column) -> tuple[int, int]:
    """Upper bounds of the number of terms and of states."""
    return int((vertices & ID_MASK).max()) + 1, int(vertices.max() >> ID_BITS) + 1


def _numbered(vertices: Column) -> tuple[Keys, Column]:
    """The distinct vertices, ascending, and the index among them of each vertex given."""
    if not len(vertices):
        return vertices, vertices
    width, states = _extent(vertices)
    if states * width > SPARSE * len(vertices):
        different = sort_unique(vertices.copy())
        return different, np.searchsorted(different, vertices)
    dense = (vertices >> ID_BITS) * width + (vertices & ID_MASK) if states > 1 else vertices
    seen = np.zeros(states * width, np.bool_)
    seen[dense] = True
    found = np.flatnonzero(seen)
    numbers = np.empty(len(seen), np.int64)
    numbers[found] = np.arange(len(found))
    return (found // width << ID_BITS | found % width if states > 1 else found), numbers[dense]


def _board(size: int) -> Board:
    words = (size >> 6) + 1
    summary = np.zeros((words >> 6) + 3, np.uint64)
    summary[-2] = rows.FAR
    return np.zeros(words, np.uint64), summary, np.zeros((size >> 16) + 1, np.uint64)


def _bounds(component: Positions) -> Column:
    """The starts of the components, given the component of each vertex, ascending."""
    if not len(component):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(component[1:] != component[:-1]) + 1, [len(component)]])


def _affected(every: Relation, edges: Relation, seeds: Column, size: int) -> tuple[Local, Mask]:
    """The ancestors of the seeds by any edge, as a graph with the present edges, and which of them are seeds."""
    marked = np.zeros(size, np.bool_)
    position = np.sort(graphs.ancestors(every.table((1, 0)), 32, seeds, marked))
    number = np.full(size, -1, np.int32)
    number[position] = np.arange(len(position), dtype=np.int32)
    table = edges.table((0, 1))
    matched = search.ranges(table, position.astype(np.int64) << ID_BITS, 1 << ID_BITS, ID_BITS)
    rows, keys = joins.expand(table, *matched, 0, int(matched[2][-1]))
    if edges.tombstones:
        kept = edges.contains(keys)
        rows, keys = rows[kept], keys[kept]
    if len(edges.runs) > 1:
        order = np.argsort(keys)
        rows, keys = rows[order], keys[order]
    offsets = np.searchsorted(rows, np.arange(len(position) + 1))
    targets = (keys & ID_MASK).astype(np.int32)
    component, order = graphs.strong_components(offsets, number[targets])
    inside = np.where(number[targets] >= 0, component[number[targets]], np.int32(-1))
    local = Local(_bounds(component[order]), order, position, offsets, targets, inside)
    return local, np.isin(position, seeds)


def _close(
    local: Local, old_row: Positions, dirty: Mask, row_of: Positions, changed: Mask, kept: RowTable, check: Check
) -> int:
    """Close the components and put their rows into the table; returns the number of rows in it then."""
    components, number, size = len(local.bounds) - 1, 0, SEGMENT
    work = _board(len(row_of))
    largest = sum(len(part) * n for part, n in zip(work, (1, 2, 1), strict=True))
    while number < components:
        size, before = min(2 * size, LARGEST_SEGMENT), kept.used
        out = np.empty(max(size, 2 * largest), np.uint64)
        number, kept.used, written = graphs.close_components(
            number, *local, old_row, dirty, row_of, changed, kept.table, kept.used, work, out
        )
        if written:
            kept.keep(out, written, before)
        check()
    return kept.used
