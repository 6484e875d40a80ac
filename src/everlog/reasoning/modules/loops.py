"""Modules and rules that depend on each other in one stratum: MAT-MOD (thesis, Algorithm 6).

A module of such a stratum reads a hidden predicate that rules of the stratum derive from the module's own facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.algebra import AnyEngine, AnyFactSet, Observer
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.modules.implementation import ModuleState
from everlog.reasoning.modules.kinds import implementation

Oracle = Callable[[AnyFactSet], AnyFactSet]
"""Returns the facts that are not known to hold after an update."""


@dataclass(frozen=True)
class Loops:
    """The modules inside a stratum while its fixpoint is computed; they derive facts in each round.

    Without modules every function returns no facts, at no cost.
    """

    modules: tuple[SpecialModule, ...] = ()
    states: tuple[ModuleState, ...] = ()

    @classmethod
    def of(cls, modules: Iterable[SpecialModule], facts: AnyFactSet) -> Loops:
        """The modules with the facts that feed them."""
        modules = tuple(modules)
        return cls(modules, tuple(implementation(module).in_fixpoint(as_local(facts)) for module in modules))

    @cached_property
    def predicates(self) -> frozenset[Predicate]:
        """The predicates that the modules derive."""
        return frozenset(predicate for module in self.modules for predicate in module.predicates)

    def relations(self) -> FactSet:
        """All facts that the modules derive from the facts they were given."""
        return united_facts(FactSet(state.relations()) for state in self.states)

    def within(self, facts: FactSet) -> FactSet:
        """The facts with those that the modules derive by now."""
        return facts.replaced({p: relation for state in self.states for p, relation in state.relations().items()})

    def added(self, new: AnyFactSet) -> AnyFactSet:
        """Add: hold new facts; returns the pairs that follow only now."""
        return united_facts(state.add(as_local(new)) for state in self.states) if self.states else NONE

    def deleted(self, gone: AnyFactSet, unsupported: Oracle) -> AnyFactSet:
        """Del: the pairs that may be lost with the facts ``gone``, except those that the oracle knows to hold.

        The oracle knows a pair that is explicit or derived outside the module under the hidden name that feeds it.
        """
        if not self.states:
            return NONE
        external = {p: hidden for module in self.modules for p, hidden in module.external.items()}
        inside = {hidden: p for p, hidden in external.items()}
        doomed: AnyFactSet = united_facts(state.delete(as_local(gone)) for state in self.states)
        return unsupported(doomed.renamed(external)).renamed(inside)

    def rederived(self, deleted: AnyFactSet, gone: AnyFactSet, left: AnyFactSet) -> AnyFactSet:
        """Red: the deleted pairs that still follow when the facts ``gone`` are no longer held."""
        if not self.states:
            return NONE
        sets = as_local(deleted), as_local(gone), as_local(left)
        return united_facts(state.rederive(*sets) for state in self.states)


NO_MODULES = Loops()


def close_with_modules(
    engine: AnyEngine,
    modules: Sequence[SpecialModule],
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


def united_facts(parts: Iterable[FactSet]) -> FactSet:
    """Facts of different predicates as one set."""
    return FactSet({predicate: relation for part in parts for predicate, relation in part.items()})
