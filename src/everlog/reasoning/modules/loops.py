"""Modules and rules that depend on each other in one stratum: MAT-MOD (thesis, Algorithm 6).

A module of such a stratum reads a hidden predicate that rules of the stratum derive from the module's own
facts. Its three functions are those of the thesis: ``added`` gives all pairs that new inputs bring,
``doomed`` all pairs that had a path through lost inputs, without those that the oracle knows to hold
(explicit ones, and those with a nonrecursive derivation outside the module), and ``rederived`` those of
them that the inputs left still connect. Add and Red are exact, since the graph is closed each time; Del
must go further than what is really lost, or pairs and inputs that only support each other would stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everlog.analysis.modules import Closure
from everlog.engine.algebra import AnyEngine, AnyFactSet, Observer
from everlog.engine.closed import STATE, TERM, Closed, Listed
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.keys import Keys
from everlog.engine.match import RuleSet
from everlog.engine.reach import Reach
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.modules.closure import ClosureGraph, closed, known_graph

NO_EDGES = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass
class Loop:
    """A closure module in the middle of a fixpoint: its graph so far."""

    module: Closure
    graph: ClosureGraph
    reach: Reach

    @classmethod
    def of(cls, module: Closure, facts: FactSet) -> Loop:
        """The module with the facts that feed it."""
        graph = ClosureGraph.of(module, facts)
        known = known_graph(module, facts)
        return cls(module, graph, Reach.of(*graph.edges(facts)) if known is None else known)

    def relations(self) -> dict[Predicate, Relation]:
        """What the module derives from what it has been given."""
        return {p: Relation.from_base(pairs) for p, pairs in self._closed().items()}

    def _closed(self) -> dict[Predicate, Closed]:
        return closed(self.module, self.graph, self.reach)

    def added(self, inputs: FactSet) -> FactSet:
        """Take in facts; the pairs that follow only now."""
        if inputs.keys().isdisjoint(self.module.inputs):
            return NONE
        update = self.reach.updated(NO_EDGES, self.reach.oriented(self.graph.edges(inputs)))
        self.reach = update.graph
        return FactSet({p: Listed(pairs.difference(update.won)) for p, pairs in self._closed().items()})

    def doomed(self, inputs: FactSet) -> FactSet:
        """All pairs with a path through an edge that some of the facts stand for."""
        if inputs.keys().isdisjoint(self.module.inputs):
            return NONE
        edges = self.graph.edges(inputs)
        return FactSet({p: self._through(pairs, edges) for p, pairs in self._closed().items()})

    def _through(self, pairs: Closed, edges: tuple[Keys, Keys]) -> Relation:
        """The pairs whose start reaches or is the first vertex of an edge, and whose end the second reaches or is."""
        found = [np.empty(0, np.int64)]
        for pair in self.reach.through(self.reach.oriented(edges), pairs.source, pairs.target):
            first, second = pair[::-1] if pairs.mirrored else pair
            found.append((first & TERM) << STATE | second & TERM)
        return Relation.from_keys(Relation.empty(2).layout, np.concatenate(found))

    def without(self, inputs: FactSet, left: FactSet) -> None:
        """Forget facts, unless those that are left stand for the same edges."""
        if not inputs.keys().isdisjoint(self.module.inputs):
            gone = self.graph.without_fed(left, self.graph.edges(inputs))
            self.reach = self.reach.updated(self.reach.oriented(gone), NO_EDGES).graph

    def rederived(self, pairs: FactSet) -> FactSet:
        """Those of the pairs that are still connected."""
        found = {}
        for predicate, held in self._closed().items():
            keys = pairs.relation(predicate).keys()
            found[predicate] = Relation.from_keys(Relation.empty(2).layout, keys[held.contains(keys)])
        return FactSet(found)


Oracle = Callable[[AnyFactSet], AnyFactSet]
"""Returns those of some facts of which it is not known that they hold after an update."""


@dataclass(frozen=True)
class Loops:
    """The modules inside a stratum while its fixpoint is computed: what they add to each round.

    Without modules every function returns no facts, at no cost.
    """

    loops: tuple[Loop, ...] = ()

    @classmethod
    def of(cls, modules: Iterable[Closure], facts: AnyFactSet) -> Loops:
        """The modules with the facts that feed them."""
        return cls(tuple(Loop.of(module, as_local(facts)) for module in modules))

    @cached_property
    def predicates(self) -> frozenset[Predicate]:
        """What the modules derive."""
        return frozenset(predicate for loop in self.loops for predicate in loop.module.predicates)

    def relations(self) -> FactSet:
        """All that the modules derive from what they were given."""
        return FactSet({p: relation for loop in self.loops for p, relation in loop.relations().items()})

    def within(self, facts: FactSet) -> FactSet:
        """The facts with what the modules derive by now."""
        return facts.replaced({p: relation for loop in self.loops for p, relation in loop.relations().items()})

    def added(self, new: AnyFactSet) -> AnyFactSet:
        """Add: take in new facts; the pairs that follow only now."""
        return together(loop.added(as_local(new)) for loop in self.loops) if self.loops else NONE

    def deleted(self, gone: AnyFactSet, unsupported: Oracle) -> AnyFactSet:
        """Del: the pairs that may be lost with facts that are gone, but for those that the oracle knows to hold.

        The oracle knows a pair that is explicit or derived outside the module under the hidden name that feeds it.
        """
        if not self.loops:
            return NONE
        external = {p: hidden for loop in self.loops for p, hidden in loop.module.external.items()}
        inside = {hidden: p for p, hidden in external.items()}
        doomed: AnyFactSet = together(loop.doomed(as_local(gone)) for loop in self.loops)
        return unsupported(doomed.renamed(external)).renamed(inside)

    def forget(self, gone: AnyFactSet, left: AnyFactSet) -> None:
        """Forget facts that are gone, unless those that are left stand for the same edges."""
        for loop in self.loops:
            loop.without(as_local(gone), as_local(left))

    def rederived(self, deleted: AnyFactSet) -> AnyFactSet:
        """Red: those of the deleted pairs that the facts left still connect."""
        return together(loop.rederived(as_local(deleted)) for loop in self.loops) if self.loops else NONE


NO_MODULES = Loops()


def close_together(
    engine: AnyEngine,
    modules: Sequence[Closure],
    rules: RuleSet,
    facts: FactSet,
    delta: FactSet,
    observer: Observer | None = None,
) -> FactSet:
    """All that follows from ``facts`` and the new facts ``delta`` (MAT-MOD, lines 146 to 155)."""
    facts = facts.extended(delta)
    loops = Loops.of(modules, facts)  # l. 147

    def step(delta: FactSet) -> FactSet:
        nonlocal facts
        facts = loops.within(facts)  # l. 151
        found = as_local(engine.match(rules, facts, facts, changed=[(delta, NONE)]).facts(without=facts))  # l. 155
        facts = facts.extended(found)
        pairs = delta.restricted(loops.predicates)
        return FactSet({**found, **as_local(loops.added(FactSet({**found, **pairs})))})

    fixpoint(FactSet({**delta, **loops.relations()}), step, observer)  # l. 150
    return loops.within(facts)


def together(parts: Iterable[FactSet]) -> FactSet:
    """Facts of different predicates as one set."""
    return FactSet({predicate: relation for part in parts for predicate, relation in part.items()})
