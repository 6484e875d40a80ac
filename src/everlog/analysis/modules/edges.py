"""Edges: steps along the facts of binary predicates."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.lang.syntax import Predicate


@dataclass(frozen=True, slots=True)
class Edge:
    """A step along a fact of a binary predicate, from the first argument to the second or back.

    >>> Edge(Predicate("e", 2)).inverse
    Edge(predicate=Predicate(name='e', arity=2), inverted=True)
    """

    predicate: Predicate
    inverted: bool = False
    """From the second argument to the first."""

    @property
    def inverse(self) -> Edge:
        return Edge(self.predicate, not self.inverted)

    def turned(self, inverted: bool) -> Edge:
        """The edge or its inverse."""
        return self.inverse if inverted else self
