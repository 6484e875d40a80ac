"""Paths: graphs in which each fact of a module is a path of edges, and each edge stands for a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from everlog.engine.closed import Closed, Pairs
from everlog.engine.factset import FactSet
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, ID_MASK, Column, Mask
from everlog.engine.reach import Reach
from everlog.lang.syntax import Predicate


@dataclass(frozen=True)
class Feed:
    """A fact of the predicate is an edge from its first term in one state to its second in another, or the inverse."""

    predicate: Predicate
    inverted: bool
    source: int
    target: int

    def edges(self, facts: FactSet) -> Pairs:
        """The edges of all facts, as vertices."""
        first, second = facts.relation(self.predicate).columns()
        if self.inverted:
            first, second = second, first
        return first | self.source << ID_BITS, second | self.target << ID_BITS

    def edges_of(self, facts: FactSet, terms: Column) -> Iterator[Pairs]:
        """The edges from terms, in blocks, if all vertices are in one state."""
        for numbers, others in facts.relation(self.predicate).matches(1 if self.inverted else 0, terms, BLOCK_ROWS):
            yield terms[numbers], others

    def feeds(self, facts: FactSet, edges: Pairs) -> Mask:
        """Which of the edges some fact stands for."""
        first, second = (side & ID_MASK for side in edges)
        if self.inverted:
            first, second = second, first
        states = (edges[0] >> ID_BITS == self.source) & (edges[1] >> ID_BITS == self.target)
        return states & facts.relation(self.predicate).contains(first << ID_BITS | second)


@dataclass(frozen=True)
class PathGraph:
    """A graph in which the facts of a module are paths. It is made at its first use."""

    feeds: tuple[Feed, ...]
    """The facts that edges stand for."""
    made: Callable[[], Reach]
    placed: Callable[[Reach], Mapping[Predicate, Closed]]
    """Returns the pairs of each predicate in the graph."""

    @cached_property
    def reach(self) -> Reach:
        return self.made()

    @cached_property
    def pairs(self) -> Mapping[Predicate, Closed]:
        return self.placed(self.reach)
