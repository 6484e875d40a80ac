"""Conversions between the facts that users see and those that reasoning keeps. The explicit facts of a module's
predicate feed the module under a hidden name.


Outside, a predicate of a module has its explicit facts, its counters of outside derivations and all its pairs.
Inside, the first two belong to the hidden predicate, and the pairs are in the form the module gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from everlog.analysis.modules.hidden import is_intermediate
from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.match import Engine
from everlog.engine.rules import RuleSet
from everlog.engine.state import State
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import C, F, Materialisation, Trace
from everlog.reasoning.modules.graphs import derived, derived_by_modules, derived_since, graphs_of
from everlog.reasoning.modules.kinds import implementation


def outward(program: StratifiedProgram, materialisation: Materialisation[F, C]) -> Materialisation[F, C]:
    """A materialisation as users see it."""
    if not program.external:
        return materialisation
    seen, inside = _seen(program), bridged(program)
    nr, rec = (
        None if counts is None else counts.restricted({p for p in counts if p not in inside}).renamed(seen)
        for counts in (materialisation.nr, materialisation.rec)
    )
    facts = visible(program, materialisation.facts)
    return replace(materialisation, explicit=materialisation.explicit.renamed(seen), facts=facts, nr=nr, rec=rec)


def visible(program: StratifiedProgram, facts: F) -> F:
    """The facts without those of hidden predicates."""
    hidden = set(program.external.values())
    return facts.restricted(p for p in facts if p not in hidden) if hidden else facts


def external(program: StratifiedProgram, facts: FactSet) -> FactSet:
    """The facts of hidden predicates, under the names that users see."""
    seen = _seen(program)
    return facts.restricted(seen).renamed(seen)


def _seen(program: StratifiedProgram) -> dict[Predicate, Predicate]:
    """Maps each hidden predicate to the one that users see."""
    return {hidden: predicate for predicate, hidden in program.external.items() if not is_intermediate(predicate)}


def bridged(program: StratifiedProgram) -> frozenset[Predicate]:
    """The hidden predicates that users do not see under any name; their facts follow from the others."""
    return frozenset(hidden for predicate, hidden in program.external.items() if is_intermediate(predicate))


def bridges(program: StratifiedProgram) -> Iterator[tuple[RuleSet, RuleSet]]:
    """The rules that derive :func:`bridged` predicates, nonrecursive and recursive ones."""
    inside = bridged(program)
    for stratum in program.strata if inside else ():
        parts = (stratum.nonrecursive, stratum.recursive)
        nonrecursive, recursive = ([rule for rule in part if rule.head.predicate in inside] for part in parts)
        if nonrecursive or recursive:
            yield RuleSet(nonrecursive), RuleSet(recursive)


@dataclass(frozen=True)
class UserView:
    """A materialisation as users see it, and the known parts of the form in which reasoning keeps it.

    The state is one that a store has: facts of generated predicates are not listed. ``known`` gives
    an earlier state with the graphs of closures, if there is one.
    """

    state: State
    instances: int = 0
    trace: Trace | None = None
    known: Callable[[], State | None] = lambda: None

    @property
    def seen(self) -> Materialisation:
        """The materialisation that users see, without facts of generated predicates."""
        state = self.state
        return Materialisation(state.explicit, state.facts, state.nr, state.rec, self.trace, self.instances)

    def fitted(self, universe: int) -> UserView:
        """The view in layouts that hold ids below ``universe``."""
        fitted = self.seen.fitted(universe)
        if fitted.facts is self.state.facts:
            return self
        state = replace(self.state, explicit=fitted.explicit, facts=fitted.facts, nr=fitted.nr, rec=fitted.rec)
        return replace(self, state=state, trace=fitted.trace)

    def inward(self, engine: Engine, program: StratifiedProgram) -> Materialisation:
        """The materialisation that reasoning keeps, with the relations of modules in their own form.

        Costs the change since the earlier state if everything is known; otherwise modules derive their relations again.
        """
        seen, names = self.seen, program.external
        if not names:
            return seen
        facts = self._facts(engine, program)
        nr, rec = (None if counts is None else counts.renamed(names) for counts in (seen.nr, seen.rec))
        for nonrecursive, recursive in bridges(program):
            nr = None if nr is None else nr + engine.match(nonrecursive, facts, facts, phase="opening").counts()
            rec = None if rec is None else rec + engine.match(recursive, facts, facts, phase="opening").counts()
        return replace(seen, explicit=seen.explicit.renamed(names), facts=facts, nr=nr, rec=rec)

    def _facts(self, engine: Engine, program: StratifiedProgram) -> FactSet:
        state = self.state
        known = self.known() if state.fed else None
        if known is not None and known.fed:
            earlier = inputs(engine, program, known.facts, known.external)
            before = derived(engine, program, earlier, known.graphs, known.facts)
            return derived_since(engine, program, before, inputs(engine, program, state.facts, state.external)).facts
        fed = fed_by(program, state)
        if fed is not None:
            return derived(engine, program, inputs(engine, program, state.facts, fed), listed=state.facts)
        return _fed_again(engine, program, state)


def fed_by(program: StratifiedProgram, state: State) -> FactSet | None:
    """The facts that feed modules: explicit ones, and those with an outside derivation; None if that is not known."""
    if state.fed:
        return state.external
    if state.nr is None or state.rec is None:
        return state.external if state.generated.issuperset(_seen(program).values()) else None
    found = state.explicit.restricted(program.external)
    for counts in (state.nr, state.rec):
        found = found | FactSet({p: counts[p].relation() for p in program.external if p in counts})
    return found.replaced({p: state.external.relation(p) for p in state.generated})


def inputs(engine: Engine, program: StratifiedProgram, facts: FactSet, fed: FactSet) -> FactSet:
    """All facts except those that modules derive; facts that feed modules are under their hidden names."""
    plain = facts.restricted(p for p in facts if p not in program.external)
    found = plain.replaced(fed.restricted(program.external).renamed(program.external))
    for rules in (rules for pair in bridges(program) for rules in pair):
        found = found | engine.match(rules, found, found, phase="opening").facts()
    return found


def _fed_again(engine: Engine, program: StratifiedProgram, state: State) -> FactSet:
    """The facts that reasoning keeps, with the rules that feed modules matched again.

    Where a stratum's rules depend on its own modules, the listed pairs of these serve until all is known.
    """
    names, generated = program.external, state.generated
    derived_above = {p for stratum in program.strata if stratum.alone for p in stratum.predicates}
    facts = state.facts.restricted(p for p in state.facts if p not in derived_above)
    facts = facts | state.explicit.restricted(p for p in names if p not in generated).renamed(names)
    facts = facts.replaced(state.external.restricted(generated).renamed(names))
    hidden = {names[predicate] for predicate in names if predicate not in generated}
    for stratum in program.strata:
        mixed = stratum.special if stratum.is_mixed else ()
        within = [module for module in mixed if generated.intersection(module.predicates)]
        facts = facts.replaced(derived_by_modules(engine, within, facts))
        feeding = RuleSet([rule for rule in stratum.rules if rule.head.predicate in hidden])
        while more := engine.match(feeding, facts, facts, phase="opening").facts(without=facts):
            facts = facts | more
        for module in stratum.special:
            facts = facts.replaced(implementation(module).derive(facts))
    return facts


def stored(
    program: StratifiedProgram,
    dictionary: Dictionary,
    materialisation: Materialisation,
    generated: frozenset[Predicate] = frozenset(),
    pairs: FactSet = NONE,
) -> State:
    """The state as a store has it: facts of modules are listed, except those of generated predicates.

    ``pairs`` are facts of modules that are listed already.
    """
    seen = outward(program, materialisation)
    shown = {predicate: relation for predicate, relation in seen.facts.items() if predicate not in generated}
    based = [predicate for predicate, relation in shown.items() if relation.base is not None]
    shown.update({predicate: pairs.get(predicate) or shown[predicate].plain() for predicate in based})
    fed, graphs = external(program, materialisation.facts), graphs_of(program, materialisation.facts)
    return State(dictionary, seen.explicit, FactSet(shown), seen.nr, seen.rec, fed, True, generated, graphs)


def above(program: StratifiedProgram, facts: FactSet, most: int) -> frozenset[Predicate]:
    """The predicates of modules that have more than ``most`` facts."""
    return frozenset(predicate for predicate in program.external if len(facts.relation(predicate)) > most)
