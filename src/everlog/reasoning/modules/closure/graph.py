"""The graph of a closure, made from the facts that feed it.

Each fact that feeds the module is one or two edges of the graph; a list of *feeds* defines them. A vertex
is a term in a state of the module; where pairs start with facts from outside, X_Q(x, y), there is an edge from x in
one further state to y in the state Q. So all kinds of closures are reachability in one graph, and a change of the facts
that feed them is a change of its edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from everlog.engine.closed import Closed, Pairs
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column
from everlog.engine.reach import Reach
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.paths import Feed


@dataclass(frozen=True)
class ClosureGraph:
    """The layout of a module's graph: the state in which pairs start, and the facts that are edges."""

    start: int
    feeds: tuple[Feed, ...]

    @classmethod
    def of(cls, module: Closure, facts: FactSet) -> ClosureGraph:
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
        return _joined([feed.edges(facts) for feed in self.feeds])

    def edges_of(self, facts: FactSet, terms: Column) -> Pairs:
        """The edges from terms, if all vertices are in one state."""
        return _joined([edges for feed in self.feeds for edges in feed.edges_of(facts, terms)])

    def without_fed(self, facts: FactSet, edges: Pairs) -> Pairs:
        """The edges that no fact stands for."""
        fed = np.zeros(len(edges[0]), np.bool_)
        for feed in self.feeds:
            fed |= feed.feeds(facts, edges)
        return edges[0][~fed], edges[1][~fed]


def _joined(edges: Sequence[Pairs]) -> Pairs:
    nothing = np.empty(0, np.int64)
    return np.concatenate([nothing, *(e[0] for e in edges)]), np.concatenate([nothing, *(e[1] for e in edges)])


def _steps(module: Closure) -> Iterator[Feed]:
    after = _silent(module)
    for transition in module.transitions:
        if transition.edge is not None:
            inverted = transition.edge.inverted != module.mirrored
            for target in after[transition.target]:
                yield Feed(transition.edge.predicate, inverted, transition.source, target)


def _silent(module: Closure) -> dict[int, list[int]]:
    """Maps each state to the states that transitions without an edge lead to, itself first."""
    after = {}
    for state in range(len(module.states)):
        found = [state]
        for reached in found:
            found += [
                t.target for t in module.transitions if t.edge is None and t.source == reached and t.target not in found
            ]
        after[state] = found
    return after


def closed(module: Closure, graph: ClosureGraph, reach: Reach) -> dict[Predicate, Closed]:
    """Maps each predicate of a module to its pairs in the graph."""
    states = [(p, module.states.index(p)) for p in module.predicates]
    if reach.turned:
        return {p: Closed(reach, state, graph.start, not module.mirrored) for p, state in states}
    return {p: Closed(reach, graph.start, state, module.mirrored) for p, state in states}
