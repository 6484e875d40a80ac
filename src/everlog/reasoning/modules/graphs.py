"""The graphs of closure modules, kept between processes: a graph of an earlier state is brought up to date.

The relations of a module are a function of the facts it reads. So if its graph is known for an earlier state, the
present graph follows from the changes of its inputs since, module after module, as in an update.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from everlog.analysis.modules.hidden import is_intermediate
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.difference import facts_changed, signed_keys
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.match import Engine
from everlog.engine.multiset import Counts
from everlog.engine.reach import Reach
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.changed import RelationChange
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.loops import close_in_rounds
from everlog.reasoning.observers import WithinLimits

NOTHING: Mapping[str, Reach] = MappingProxyType({})


def forms(program: StratifiedProgram) -> frozenset[object]:
    """The parts of a program that graphs and their inputs depend on: modules, and the rules for predicates that only
    modules read.
    """
    hidden = {name for predicate, name in program.external.items() if is_intermediate(predicate)}
    rules = (rule for stratum in program.strata for rule in stratum.rules if rule.head.predicate in hidden)
    return frozenset([*(module.identity for module in program.special), *rules])


def graphs_of(program: StratifiedProgram, facts: FactSet) -> dict[str, Reach]:
    """The graphs of all modules that keep one."""
    modules = map(implementation, program.special)
    known = {module.name: module.graph(facts) for module in modules}
    return {name: graph for name, graph in known.items() if graph is not None}


def derived(
    engine: Engine,
    program: StratifiedProgram,
    inputs: FactSet,
    graphs: Mapping[str, Reach] = NOTHING,
    listed: FactSet = NONE,
) -> FactSet:
    """The facts with those that modules derive from them; known graphs, and listed pairs that are kept in this form,
    are not computed again."""
    for stratum in program.strata:
        inputs = inputs.replaced(derived_by_modules(engine, stratum.special, inputs, graphs, listed))
    return inputs


def derived_by_modules(
    engine: Engine,
    modules: Sequence[SpecialModule],
    facts: FactSet,
    graphs: Mapping[str, Reach] = NOTHING,
    listed: FactSet = NONE,
) -> Mapping[Predicate, Relation]:
    """The relations of the modules of one stratum, which may read each other."""
    made = [implementation(module) for module in modules]
    known = [(each, graph) for each in made if (graph := graphs.get(each.name)) is not None]
    if len(known) == len(modules):
        return {p: r for each, graph in known for p, r in each.restored(facts, graph).items()}
    if len(made) == 1:
        kept = made[0].listed(facts, listed)
        return made[0].derive(facts) if kept is None else kept
    predicates = [predicate for module in modules for predicate in module.predicates]
    closed = as_local(close_in_rounds(engine, modules, RuleSet(()), facts, NONE, WithinLimits(engine, facts)))
    return {predicate: closed.relation(predicate) for predicate in predicates}


@dataclass(frozen=True)
class Derived:
    """Facts with those that modules derive from them, and the difference from earlier facts."""

    facts: FactSet
    gone: FactSet
    fresh: FactSet


def derived_since(engine: Engine, program: StratifiedProgram, old: FactSet, inputs: FactSet) -> Derived:
    """The facts with those of modules, repaired from ``old``, earlier facts with those of modules."""
    read = {predicate for module in program.special for predicate in module.inputs}.difference(program.external)
    changed = facts_changed(old.restricted(read), inputs.restricted(read))
    now = Derived(inputs, _with_sign(changed, -1), _with_sign(changed, 1))
    for stratum in program.strata:
        now = _followed(engine, stratum, old, now)
    return now


def _followed(engine: Engine, stratum: Stratum, old: FactSet, now: Derived) -> Derived:
    """The facts with those of the modules of one stratum, repaired by the changes below it."""
    changed = {*now.gone, *now.fresh}
    if all(changed.isdisjoint(module.inputs) for module in stratum.special):
        own = [predicate for module in stratum.special for predicate in module.predicates]
        return Derived(now.facts.replaced({p: old.relation(p) for p in own}), now.gone, now.fresh)
    ordered = _ordered(stratum.special)
    if ordered is None:
        found = derived_by_modules(engine, stratum.special, now.facts)
        return _with(now, {p: RelationChange.between(old.relation(p), relation) for p, relation in found.items()})
    for module in ordered:
        now = _with(now, implementation(module).repaired(old, now.facts, now.gone, now.fresh))
    return now


def _with(now: Derived, found: Mapping[Predicate, RelationChange]) -> Derived:
    return Derived(
        now.facts.replaced({predicate: change.relation for predicate, change in found.items()}),
        now.gone.replaced({predicate: change.lost for predicate, change in found.items()}),
        now.fresh.replaced({predicate: change.won for predicate, change in found.items()}),
    )


def _ordered(modules: Sequence[SpecialModule]) -> list[SpecialModule] | None:
    """The modules, each after those that it reads; None if some read each other."""
    left, found = list(modules), []
    while left:
        waiting = {predicate for module in left for predicate in module.predicates}
        ready = [m for m in left if waiting.difference(m.predicates).isdisjoint(m.inputs)]
        if not ready:
            return None
        found += ready
        left = [module for module in left if module not in ready]
    return found


def _with_sign(changed: Counts, sign: int) -> FactSet:
    found = {}
    for predicate, multiset in changed.items():
        plus, minus = signed_keys(multiset)
        found[predicate] = Relation.from_run(Run.of(multiset.layout, plus if sign > 0 else minus))
    return FactSet(found)
