"""Closures: the relations of a closure module, from the graph of what feeds it.

Each fact that feeds the module is an edge of the graph, or two; which, a list of *feeds* says. A vertex
is a term in a state of the module; where pairs start with facts from outside, X_Q(x, y), there is an edge from x in
one further state to y in the state Q. So all kinds of closures are reachability in one graph, and an
update of what feeds them is an update of its edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from everlog.analysis.modules import Closure
from everlog.engine.closed import STATE, TERM, Closed, Listed, Pairs
from everlog.engine.factset import FactSet
from everlog.engine.keys import Mask
from everlog.engine.reach import Check, Reach, unlimited
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.modules.changed import Changed


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
        return first | self.source << STATE, second | self.target << STATE

    def feeds(self, facts: FactSet, edges: Pairs) -> Mask:
        """Which of the edges some fact stands for."""
        first, second = (side & TERM for side in edges)
        if self.inverted:
            first, second = second, first
        states = (edges[0] >> STATE == self.source) & (edges[1] >> STATE == self.target)
        return states & facts.relation(self.predicate).contains(first << STATE | second)


@dataclass(frozen=True)
class Graph:
    """How the relations of a module lie in its graph: the state in which pairs start, and what makes edges."""

    start: int
    feeds: tuple[Feed, ...]

    @classmethod
    def of(cls, module: Closure, facts: FactSet) -> Graph:
        outside = [(state, module.external[p]) for state, p in enumerate(module.states) if p is not None]
        if module.kind == "transitive":
            return cls(0, (Feed(outside[0][1], False, 0, 0),))
        if module.kind == "symmetric-transitive":
            return cls(0, (Feed(outside[0][1], False, 0, 0), Feed(outside[0][1], True, 0, 0)))
        steps = tuple(_steps(module))
        if module.closed and not any(facts.relation(p) for _, p in outside):
            return cls(0, steps)
        start, after = len(module.states), _silent(module)
        first = [Feed(p, module.mirrored, start, t) for state, p in outside for t in after[state]]
        if module.closed:
            first += [Feed(step.predicate, step.inverted, start, step.target) for step in steps]
        return cls(start, (*steps, *first))

    def edges(self, facts: FactSet) -> Pairs:
        pairs = [feed.edges(facts) for feed in self.feeds]
        return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])

    def without_fed(self, facts: FactSet, edges: Pairs) -> Pairs:
        """Those of the edges that no fact stands for."""
        fed = np.zeros(len(edges[0]), np.bool_)
        for feed in self.feeds:
            fed |= feed.feeds(facts, edges)
        return edges[0][~fed], edges[1][~fed]


def _steps(module: Closure) -> Iterator[Feed]:
    after = _silent(module)
    for transition in module.transitions:
        if transition.edge is not None:
            inverted = transition.edge.inverted != module.mirrored
            for target in after[transition.target]:
                yield Feed(transition.edge.predicate, inverted, transition.source, target)


def _silent(module: Closure) -> dict[int, list[int]]:
    """For each state those that transitions without an edge lead to, itself first."""
    after = {}
    for state in range(len(module.states)):
        found = [state]
        for reached in found:
            found += [
                t.target for t in module.transitions if t.edge is None and t.source == reached and t.target not in found
            ]
        after[state] = found
    return after


def derive(module: Closure, facts: FactSet, check: Check = unlimited) -> dict[Predicate, Relation]:
    """The relations of a module, from the facts that feed it; ``check`` is called now and then, and may raise."""
    graph = Graph.of(module, facts)
    return _relations(module, graph, Reach.of(*graph.edges(facts), either=True, check=check))


def restored(module: Closure, facts: FactSet, reach: Reach) -> dict[Predicate, Relation]:
    """The same if the graph is known."""
    return _relations(module, Graph.of(module, facts), reach)


def rederive(
    module: Closure, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
) -> Mapping[Predicate, Changed]:
    """The same after an update; ``old`` and ``new`` are all facts before and after it, the others what changed."""
    before, graph = Graph.of(module, old), Graph.of(module, new)
    bases = {p: base for p in module.predicates if isinstance(base := old.relation(p).base, Closed)}
    if not bases or before.start != graph.start:
        return {p: Changed.between(old.relation(p), relation) for p, relation in derive(module, new, check).items()}
    reach = next(iter(bases.values())).graph
    lost_edges, new_edges = graph.without_fed(new, graph.edges(gone)), graph.edges(fresh)
    update = reach.updated(reach.oriented(lost_edges), reach.oriented(new_edges), check)
    lost, won = update.lost, update.won
    found = {}
    for predicate, relation in _relations(module, graph, update.graph).items():
        base = relation.base
        assert isinstance(base, Closed)
        found[predicate] = Changed(relation, Listed(base.difference(lost)), Listed(base.difference(won)))
    return found


def closed(module: Closure, graph: Graph, reach: Reach) -> dict[Predicate, Closed]:
    """Where the pairs of each predicate of a module are in its graph."""
    states = [(p, module.states.index(p)) for p in module.predicates]
    if reach.turned:
        return {p: Closed(reach, state, graph.start, not module.mirrored) for p, state in states}
    return {p: Closed(reach, graph.start, state, module.mirrored) for p, state in states}


def _relations(module: Closure, graph: Graph, reach: Reach) -> dict[Predicate, Relation]:
    return {predicate: Relation.from_base(pairs) for predicate, pairs in closed(module, graph, reach).items()}
