"""The facts of closures: relations are reachability in one graph, or plain pairs.

A closure that is hardly larger than its edges is kept as plain pairs (:mod:`.plain`). Costs: deriving takes one pass
over what feeds the closure, and the closure of its condensed graph (:mod:`everlog.engine.reach`); a repair takes the
pairs that the changed edges make reachable or unreachable, component by component; pairs are listed only where they are
read.
"""

from __future__ import annotations

from functools import partial

from everlog.engine.closed import Closed, Listed, Pairs
from everlog.engine.factset import FactSet
from everlog.engine.reach import Check, Reach, unlimited
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.changed import RelationChange
from everlog.reasoning.modules.closure import plain
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.closure.graph import ClosureGraph, closed
from everlog.reasoning.modules.closure.state import ClosureState
from everlog.reasoning.modules.implementation import Changes, ModuleImplementation, Relations
from everlog.reasoning.modules.paths import PathGraph


class ClosureImplementation(ModuleImplementation[Closure]):
    """Derives and repairs the relations of a closure."""

    def derive(self, facts: FactSet, check: Check = unlimited) -> Relations:
        graph = ClosureGraph.of(self.module, facts)
        return self._kept(graph, _reach(graph, facts, check))

    def repaired(self, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet, check: Check = unlimited) -> Changes:
        """The relations after an update of the graph, or of the plain pairs. If the graph has other states than before,
        the relations are derived anew.
        """
        before, graph = ClosureGraph.of(self.module, old), ClosureGraph.of(self.module, new)
        if before.start != graph.start:
            return super().repaired(old, new, gone, fresh, check)
        known = self.graph(old)
        lost_edges, new_edges = graph.without_fed(new, graph.edges(gone)), graph.edges(fresh)
        changed = self._plain_update(graph, old, new, lost_edges, new_edges, check) if known is None else None
        if changed is not None:
            return changed
        reach = _reach(before, old, check) if known is None else known
        update = reach.updated(reach.oriented(lost_edges), reach.oriented(new_edges), either=True, check=check)
        lost, won = update.deleted, update.inserted
        kept = self._kept(graph, update.graph) if update.renewed else self._relations(graph, update.graph)
        return {
            predicate: RelationChange(kept[predicate], Listed(pairs.difference(lost)), Listed(pairs.difference(won)))
            for predicate, pairs in closed(self.module, graph, update.after).items()
        }

    def in_fixpoint(self, facts: FactSet) -> ClosureState:
        graph = ClosureGraph.of(self.module, facts)
        known = self.graph(facts)
        return ClosureState(self.module, graph, Reach.of(*graph.edges(facts)) if known is None else known)

    # Between processes ------------------------------------------------------------------------------

    def graph(self, facts: FactSet) -> Reach | None:
        bases = (facts.relation(predicate).base for predicate in self.module.predicates)
        return next((base.graph for base in bases if isinstance(base, Closed)), None)

    def restored(self, facts: FactSet, graph: Reach) -> Relations:
        return self._relations(ClosureGraph.of(self.module, facts), graph)

    def listed(self, facts: FactSet, pairs: FactSet) -> Relations | None:
        graph = ClosureGraph.of(self.module, facts)
        predicate = self._only(graph)
        if predicate is None or predicate not in pairs:
            return None
        relation = pairs.relation(predicate)
        return {predicate: relation} if len(relation) <= _most_pairs(graph, facts) else None

    # Explanations -----------------------------------------------------------------------------------

    def paths(self, facts: FactSet) -> PathGraph:
        graph = ClosureGraph.of(self.module, facts)

        def made() -> Reach:
            known = self.graph(facts)
            return _reach(graph, facts, unlimited) if known is None else known

        return PathGraph(graph.feeds, made, partial(closed, self.module, graph))

    # helpers ----------------------------------------------------------------------------------------

    def _relations(self, graph: ClosureGraph, reach: Reach) -> Relations:
        return {p: Relation.from_base(pairs) for p, pairs in closed(self.module, graph, reach).items()}

    def _kept(self, graph: ClosureGraph, reach: Reach) -> Relations:
        """The relations in the graph, or as plain pairs if these are smaller than the graph, which is new."""
        relations = self._relations(graph, reach)
        if self._only(graph) and plain.are_smaller(reach):
            return {predicate: relation.plain() for predicate, relation in relations.items()}
        return relations

    def _only(self, graph: ClosureGraph) -> Predicate | None:
        """The predicate of the module, if its graph has one state."""
        return self.module.predicates[0] if len(self.module.states) == 1 and graph.start == 0 else None

    def _plain_update(
        self, graph: ClosureGraph, old: FactSet, new: FactSet, lost: Pairs, won: Pairs, check: Check
    ) -> Changes | None:
        """The change of plain pairs; None if there are no plain pairs, or if a graph takes less memory after the
        update.
        """
        predicate = self._only(graph)
        if predicate is None:
            return None
        pairs, most = old.relation(predicate), _most_pairs(graph, new)
        if len(won[0]) > len(pairs) or len(pairs) > most:
            return None
        changed = plain.updated(pairs, self.module.mirrored, lost, won, partial(graph.edges_of, new), most, check)
        return None if changed is None else {predicate: changed}


def _reach(graph: ClosureGraph, facts: FactSet, check: Check) -> Reach:
    return Reach.of(*graph.edges(facts), either=True, check=check)


def _most_pairs(graph: ClosureGraph, facts: FactSet) -> int:
    """The maximum number of pairs of a graph with one state that may be kept plain."""
    return plain.most_pairs(sum(len(facts.relation(feed.predicate)) for feed in graph.feeds))
