"""Modules that take part in the rounds of a stratum (thesis, Algorithm 6, MAT-MOD).

A module that depends on rules of its own stratum reads a hidden predicate that they derive from the module's facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    def of(cls, modules: Iterable[SpecialModule], facts: AnyFactSet, new: AnyFactSet = NONE) -> Loops:
        """The modules with the facts that feed them, new facts among them."""
        modules = tuple(modules)
        if not modules:
            return NO_MODULES
        given = as_local(facts).extended(as_local(new))
        return cls(modules, tuple(implementation(module).in_fixpoint(given) for module in modules))

    @cached_property
    def predicates(self) -> frozenset[Predicate]:
        """The predicates that the modules derive."""
        return frozenset(predicate for module in self.modules for predicate in module.predicates)

    def relations(self) -> FactSet:
        """All facts that the modules derive from the facts they were given."""
        return united_facts(FactSet(state.relations()) for state in self.states)

    def within(self, facts: AnyFactSet) -> AnyFactSet:
        """The facts with those that the modules derive by now, in the forms of the modules."""
        if not self.states:
            return facts
        return as_local(facts).replaced({p: r for state in self.states for p, r in state.relations().items()})

    def extended(self, facts: AnyFactSet, new: AnyFactSet) -> AnyFactSet:
        """The facts with new ones; new facts of the modules are among those that the modules derive by now."""
        if self.states:
            new = new.restricted(predicate for predicate in new if predicate not in self.predicates)
        return self.within(facts.extended(new))

    def added(self, new: AnyFactSet, before: AnyFactSet = NONE) -> AnyFactSet:
        """Add: hold new facts, and those of ``before`` that modules derive; returns the facts that follow only now."""
        if not self.states:
            return NONE
        given = as_local(new | before.restricted(self.predicates))
        return united_facts(state.add(given) for state in self.states)

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
    modules: Iterable[SpecialModule],
    rules: RuleSet,
    facts: AnyFactSet,
    new: AnyFactSet,
    observer: Observer,
) -> AnyFactSet:
    """All facts that follow from ``facts`` and ``new`` by rules and modules (thesis, Algorithm 6, lines 146 to 155).

    Unlike there, a module is given what the rules find in the same round, which saves rounds.
    """
    inside = Loops.of(modules, facts, new)  # l. 147

    def step(delta: AnyFactSet) -> AnyFactSet:
        nonlocal facts
        facts = inside.extended(facts, delta)  # l. 151
        found = engine.match(rules, facts, facts, [(delta, NONE)]).facts(without=facts)  # l. 155
        return found | inside.added(found, delta)  # l. 155

    fixpoint(new | inside.relations(), step, observer)  # l. 149 and 150
    return inside.within(facts)


def united_facts(parts: Iterable[FactSet]) -> FactSet:
    """Facts of different predicates as one set."""
    return FactSet({predicate: relation for part in parts for predicate, relation in part.items()})
