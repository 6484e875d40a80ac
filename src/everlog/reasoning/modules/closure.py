"""Closures: the relations of a closure module, from the graph of what feeds it.

Each fact that feeds the module is an edge of the graph, or two; which, a list of *feeds* says. A vertex
is a term in a state of the module; where pairs start with facts from outside, X_Q(x, y), there is an edge from x in
one further state to y in the state Q. So all kinds of closures are reachability in one graph, and an
update of what feeds them is an update of its edges.

A closure that is hardly larger than its edges is kept as plain pairs instead (see ``modules.plain``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from everlog.analysis.modules import Closure
from everlog.engine.closed import Closed, Listed, Pairs
from everlog.engine.factset import FactSet
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, ID_MASK, Column, Mask
from everlog.engine.reach import Check, Reach, unlimited
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules import plain
from everlog.reasoning.modules.changed import RelationChange


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
class ClosureGraph:
    """How the relations of a module lie in its graph: the state in which pairs start, and what makes edges."""

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
        """Those of the edges that no fact stands for."""
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
    graph = ClosureGraph.of(module, facts)
    reach = _reach(graph, facts, check)
    relations = _relations(module, graph, reach)
    if _only(module, graph) and plain.are_smaller(reach):
        return {predicate: relation.plain() for predicate, relation in relations.items()}
    return relations


def restored(module: Closure, facts: FactSet, reach: Reach) -> dict[Predicate, Relation]:
    """The same if the graph is known."""
    return _relations(module, ClosureGraph.of(module, facts), reach)


def listed_pairs(module: Closure, facts: FactSet, listed: FactSet) -> dict[Predicate, Relation] | None:
    """The same if the pairs are listed, and may be kept so."""
    graph = ClosureGraph.of(module, facts)
    predicate = _only(module, graph)
    if predicate is None or predicate not in listed:
        return None
    pairs = listed.relation(predicate)
    return {predicate: pairs} if len(pairs) <= _most_pairs(graph, facts) else None


def rederive(
    module: Closure, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited
) -> Mapping[Predicate, RelationChange]:
    """The same after an update; ``old`` and ``new`` are all facts before and after it, the others what changed."""
    before, graph = ClosureGraph.of(module, old), ClosureGraph.of(module, new)
    if before.start != graph.start:
        return {
            p: RelationChange.between(old.relation(p), relation) for p, relation in derive(module, new, check).items()
        }
    known = known_graph(module, old)
    lost_edges, new_edges = graph.without_fed(new, graph.edges(gone)), graph.edges(fresh)
    changed = _plain_update(module, graph, old, new, lost_edges, new_edges, check) if known is None else None
    if changed is not None:
        return changed
    reach = _reach(before, old, check) if known is None else known
    update = reach.updated(reach.oriented(lost_edges), reach.oriented(new_edges), check)
    lost, won = update.lost, update.won
    found = {}
    for predicate, pairs in closed(module, graph, update.graph).items():
        kept = Relation.from_base(pairs)
        found[predicate] = RelationChange(kept, Listed(pairs.difference(lost)), Listed(pairs.difference(won)))
    return found


def known_graph(module: Closure, facts: FactSet) -> Reach | None:
    """The graph of a module, if its pairs are kept in it."""
    bases = (facts.relation(predicate).base for predicate in module.predicates)
    return next((base.graph for base in bases if isinstance(base, Closed)), None)


def _reach(graph: ClosureGraph, facts: FactSet, check: Check) -> Reach:
    return Reach.of(*graph.edges(facts), either=True, check=check)


def closed(module: Closure, graph: ClosureGraph, reach: Reach) -> dict[Predicate, Closed]:
    """Where the pairs of each predicate of a module are in its graph."""
    states = [(p, module.states.index(p)) for p in module.predicates]
    if reach.turned:
        return {p: Closed(reach, state, graph.start, not module.mirrored) for p, state in states}
    return {p: Closed(reach, graph.start, state, module.mirrored) for p, state in states}


def _relations(module: Closure, graph: ClosureGraph, reach: Reach) -> dict[Predicate, Relation]:
    return {predicate: Relation.from_base(pairs) for predicate, pairs in closed(module, graph, reach).items()}


def _only(module: Closure, graph: ClosureGraph) -> Predicate | None:
    """The predicate of a module whose graph has one state."""
    return module.predicates[0] if len(module.states) == 1 and graph.start == 0 else None


def _most_pairs(graph: ClosureGraph, facts: FactSet) -> int:
    """How many pairs of a graph with one state may be kept plain."""
    return plain.most_pairs(sum(len(facts.relation(feed.predicate)) for feed in graph.feeds))


def _plain_update(
    module: Closure, graph: ClosureGraph, old: FactSet, new: FactSet, lost: Pairs, won: Pairs, check: Check
) -> Mapping[Predicate, RelationChange] | None:
    """What becomes of plain pairs; None if there are none, or if they are better kept in their graph from now on."""
    predicate = _only(module, graph)
    if predicate is None:
        return None
    pairs, most = old.relation(predicate), _most_pairs(graph, new)
    if len(won[0]) > len(pairs) or len(pairs) > most:
        return None
    changed = plain.updated(pairs, module.mirrored, lost, won, partial(graph.edges_of, new), most, check)
    return None if changed is None else {predicate: changed}
