"""Closures in a fixpoint: the graph so far, with Add, Del and Red (thesis, Algorithms 8 to 13, on graphs).

Add and Red are exact, since the graph is closed each time. Del gives all pairs with a path through an edge that is
lost, since pairs and inputs that only support each other would stay otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everlog.engine.closed import Closed, Listed
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import ID_BITS, ID_MASK, Keys
from everlog.engine.reach import Reach
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.closure.graph import ClosureGraph, closed
from everlog.reasoning.modules.implementation import ModuleState

NO_EDGES = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass
class ClosureState(ModuleState):
    """The graph of a closure during a fixpoint."""

    module: Closure
    graph: ClosureGraph
    reach: Reach

    def relations(self) -> dict[Predicate, Relation]:
        return {p: Relation.from_base(pairs) for p, pairs in self._closed().items()}

    def _closed(self) -> dict[Predicate, Closed]:
        return closed(self.module, self.graph, self.reach)

    def add(self, facts: FactSet) -> FactSet:
        if facts.keys().isdisjoint(self.module.inputs):
            return NONE
        update = self.reach.updated(NO_EDGES, self.reach.oriented(self.graph.edges(facts)), either=True)
        self.reach = update.graph
        found = closed(self.module, self.graph, update.after)
        return FactSet({p: Listed(pairs.difference(update.inserted)) for p, pairs in found.items()})

    def delete(self, facts: FactSet) -> FactSet:
        """All pairs with a path through an edge that one of the facts stands for."""
        if facts.keys().isdisjoint(self.module.inputs):
            return NONE
        edges = self.graph.edges(facts)
        return FactSet({p: self._through(pairs, edges) for p, pairs in self._closed().items()})

    def _through(self, pairs: Closed, edges: tuple[Keys, Keys]) -> Relation:
        """The pairs whose start reaches or is the first vertex of an edge, and whose end the second reaches or is."""
        found = [np.empty(0, np.int64)]
        for pair in self.reach.through(self.reach.oriented(edges), pairs.source, pairs.target):
            first, second = pair[::-1] if pairs.mirrored else pair
            found.append((first & ID_MASK) << ID_BITS | second & ID_MASK)
        return Relation.from_keys(Relation.empty(2).layout, np.concatenate(found))

    def rederive(self, overdeleted: FactSet, gone: FactSet, left: FactSet) -> FactSet:
        if not gone.keys().isdisjoint(self.module.inputs):
            edges = self.graph.without_fed(left, self.graph.edges(gone))
            self.reach = self.reach.updated(self.reach.oriented(edges), NO_EDGES, either=True).graph
        found = {}
        for predicate, held in self._closed().items():
            keys = overdeleted.relation(predicate).keys()
            found[predicate] = Relation.from_keys(Relation.empty(2).layout, keys[held.contains(keys)])
        return FactSet(found)
