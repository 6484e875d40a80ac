"""Modules and rules that depend on each other in one stratum: MAT-MOD (thesis, Algorithm 6).

A module of such a stratum reads a hidden predicate that rules of the stratum derive from the module's own facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everlog.analysis.modules.module import SpecialModule
from everlog.engine.algebra import AnyEngine
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.match import RuleSet
from everlog.reasoning.modules.implementation import ModuleState
from everlog.reasoning.modules.kinds import implementation


def close_together(
    engine: AnyEngine, modules: Sequence[SpecialModule], rules: RuleSet, facts: FactSet, delta: FactSet
) -> FactSet:
    """All that follows from ``facts`` and the new facts ``delta`` (MAT-MOD, lines 146 to 155)."""
    facts = facts.extended(delta)
    loops = [implementation(module).in_fixpoint(facts) for module in modules]  # l. 147
    won = FactSet({p: r for loop in loops for p, r in loop.relations().items()})
    while delta or won:  # l. 150
        facts = _with(facts, loops)  # l. 151
        engine.held = facts.count
        engine.limits.check(engine.held)
        arrived = FactSet({**delta, **won})
        found = engine.match(rules, facts, facts, changed=[(arrived, NONE)]).facts(without=facts)  # l. 155
        delta = as_local(found)
        won = together([loop.add(FactSet({**delta, **won})) for loop in loops])
        facts = facts.extended(delta)
    return _with(facts, loops)


def _with(facts: FactSet, loops: Sequence[ModuleState]) -> FactSet:
    """The facts with what the modules derive by now."""
    return facts.replaced({predicate: relation for loop in loops for predicate, relation in loop.relations().items()})


def together(parts: Iterable[FactSet]) -> FactSet:
    """Facts of different predicates as one set."""
    return FactSet({predicate: relation for part in parts for predicate, relation in part.items()})
