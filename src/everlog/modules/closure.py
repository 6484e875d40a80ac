"""Closures: the relations of a closure module, from the graph of what feeds it.

Each fact that feeds the module is an edge of the graph, or two; which, a list of *feeds* says. A vertex
is a term in a state of the module; where pairs start with facts from outside, X_Q(x, y), there is an edge from x in
one further state to y in the state Q. So all kinds of closures are reachability in one graph, and an
update of what feeds them is an update of its edges.

A closure that is hardly larger than its edges takes less memory as plain pairs, and is read faster. If it is small as
well, it is kept so, and an update makes the graph first.
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

PLAIN_EDGES = 1 << 14
"""A graph with at most so many edges is not kept if the pairs take less memory; making it again takes milliseconds."""

PAIR, LOOKUP = 8, 4
"""The bytes of a plain pair, and those that a vertex takes in a graph once it has been looked up."""


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
    return _formed(_relations(module, graph, _reach(graph, facts, check)))


def restored(module: Closure, facts: FactSet, reach: Reach) -> dict[Predicate, Relation]:
    """The same if the graph is known."""
    return _relations(module, Graph.of(module, facts), reach)


def rederive(
    module: Closure, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
) -> Mapping[Predicate, Changed]:
    """The same after an update; ``old`` and ``new`` are all facts before and after it, the others what changed."""
    before, graph = Graph.of(module, old), Graph.of(module, new)
    if before.start != graph.start:
        return {p: Changed.between(old.relation(p), relation) for p, relation in derive(module, new, check).items()}
    known = known_graph(module, old)
    reach = _reach(before, old, check) if known is None else known
    lost_edges, new_edges = graph.without_fed(new, graph.edges(gone)), graph.edges(fresh)
    update = reach.updated(reach.oriented(lost_edges), reach.oriented(new_edges), check)
    lost, won = update.lost, update.won
    relations = _relations(module, graph, update.graph)
    kept = relations if known is not None else _formed(relations)
    found = {}
    for predicate, pairs in closed(module, graph, update.graph).items():
        found[predicate] = Changed(kept[predicate], Listed(pairs.difference(lost)), Listed(pairs.difference(won)))
    return found


def known_graph(module: Closure, facts: FactSet) -> Reach | None:
    """The graph of a module, if its pairs are kept in it."""
    bases = (facts.relation(predicate).base for predicate in module.predicates)
    return next((base.graph for base in bases if isinstance(base, Closed)), None)


def _reach(graph: Graph, facts: FactSet, check: Check) -> Reach:
    return Reach.of(*graph.edges(facts), either=True, check=check)


def closed(module: Closure, graph: Graph, reach: Reach) -> dict[Predicate, Closed]:
    """Where the pairs of each predicate of a module are in its graph."""
    states = [(p, module.states.index(p)) for p in module.predicates]
    if reach.turned:
        return {p: Closed(reach, state, graph.start, not module.mirrored) for p, state in states}
    return {p: Closed(reach, graph.start, state, module.mirrored) for p, state in states}


def _relations(module: Closure, graph: Graph, reach: Reach) -> dict[Predicate, Relation]:
    return {predicate: Relation.from_base(pairs) for predicate, pairs in closed(module, graph, reach).items()}


def _formed(relations: dict[Predicate, Relation]) -> dict[Predicate, Relation]:
    """The relations of one graph in the form that takes less memory."""
    bases = [relation.base for relation in relations.values()]
    graph = next(base.graph for base in bases if isinstance(base, Closed))
    pairs = sum(len(relation) for relation in relations.values())
    if len(graph.edges) > PLAIN_EDGES or PAIR * pairs >= graph.nbytes + LOOKUP * len(graph):
        return relations
    return {predicate: relation.plain() for predicate, relation in relations.items()}
