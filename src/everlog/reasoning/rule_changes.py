"""Changes of the rules: a materialisation is repaired for removed rules and for added rules.

The instances of a removed rule are deletions, those of an added one insertions. So a removed rule gets a guard, a
hidden predicate of arity 0 whose only fact is deleted, and an added rule gets one whose fact is inserted: that is an
update, and any algorithm can do it. Rules are removed first and added afterwards, so that the program can be stratified
at each step.

A rule that a module takes cannot have a guard. It is removed or added at once, and the facts of the module are computed
afresh and compared with the old ones; so are the facts of each predicate that the two programs derive in different ways
(see :mod:`everlog.analysis.derivations`). All other facts are repaired, or not touched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from everlog.analysis.check import CheckedProgram
from everlog.analysis.derivations import ChangedProgram, Derivations, guarded, started_from
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.algebra import AnyEngine
from everlog.engine.factset import NONE, FactSet
from everlog.engine.match import Engine
from everlog.engine.multiset import Counts
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.change import ExplicitChange, SignedChange, Summands, both, compared, followed, replaced
from everlog.reasoning.materialisation import C, F, Materialisation, Trace, counted_anew, trace_of
from everlog.reasoning.modules.boundary import outward, outward_counts
from everlog.reasoning.modules.graphs import derived_by_modules
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.seminaive import close_under
from everlog.reasoning.statistics import Listener, Statistics, UpdateStatistics
from everlog.reasoning.update import kept_for, materialise, repair

REMOVED = Predicate("removed rules", 0)
ADDED = Predicate("added rules", 0)
"""The guards of rules; no name in a program contains a space."""

SHOWN = 3
"""Maximum number of predicates computed afresh that the reason of an update names."""


@dataclass(frozen=True)
class RuleChange:
    """A program before and after a change of its rules.

    ``removed`` are rules that only the old one has, ``added`` rules that only the new one has. ``arranged`` returns a
    program in strata, and modules, like both programs.
    """

    old: StratifiedProgram
    new: StratifiedProgram
    removed: frozenset[Rule]
    added: frozenset[Rule]
    arranged: Callable[[CheckedProgram], StratifiedProgram]

    def removing(self) -> StratifiedProgram:
        """The old program with guards on the removed rules, without removed rules of modules."""
        return self._guarded(self.old, self.removed, REMOVED, taken=lambda rule: None)

    def adding(self) -> StratifiedProgram:
        """The new program with guards on the added rules, except those of modules."""
        return self._guarded(self.new, self.added, ADDED, taken=lambda rule: rule)

    def _guarded(
        self, program: StratifiedProgram, rules: frozenset[Rule], guard: Predicate, taken: Callable[[Rule], Rule | None]
    ) -> StratifiedProgram:
        inside = {rule for module in program.special for rule in module.rules}
        changed = [
            rule if rule not in rules else taken(rule) if rule in inside else guarded(rule, guard)
            for rule in program.program.rules
        ]
        left = tuple(rule for rule in changed if rule is not None)
        predicates = (*program.program.predicates, guard)
        return self.arranged(replace(program.program, rules=left, predicates=predicates)).reusing(program)


def change_rules(
    engine: Engine,
    change: RuleChange,
    materialisation: Materialisation,
    explicit: ExplicitChange,
    algorithm: Algorithm,
    strategy: Strategy = "never",
) -> SignedChange:
    """The materialisation by the new rules of changed explicit facts, which are under the names that users see.

    The counters are kept; those of predicates whose rules are recursive in only one of the programs are computed anew.
    The change is under the names that users see, since hidden ones differ from program to program, and facts of hidden
    predicates are not in it; the materialisation is under those of the new program.
    """
    run = _Run(engine, algorithm, strategy, Derivations(change.old), materialisation)
    delete = explicit.deleted
    if change.removed:
        run.step(change.removing(), REMOVED, delete, NONE, holds=True)
        delete = NONE
    if change.added or delete or explicit.inserted:
        run.step(change.adding(), ADDED, delete, explicit.inserted, holds=False)
    return run.finish(change.old, change.new, explicit)


def derive_again(
    engine: AnyEngine,
    before: StratifiedProgram,
    program: StratifiedProgram,
    old: Materialisation[F, C],
    explicit: ExplicitChange[F],
    listener: Listener | None = None,
) -> tuple[SignedChange[F, C], Statistics]:
    """The change of :func:`change_rules`, found by deriving everything by the new rules and comparing, and the figures
    of deriving it.

    ``explicit`` is under the names that users see. The bookkeeping that was kept is computed.
    """
    given = explicit.explicit.renamed(program.external)
    new, statistics = materialise(engine, program, given, kept_for(old), listener)
    done = compared(outward(before, old), outward(program, new), explicit, statistics)
    return replace(done, materialisation=new), statistics


class _Run:
    """A materialisation on its way from one program to another."""

    def __init__(
        self,
        engine: Engine,
        algorithm: Algorithm,
        strategy: Strategy,
        derived: Derivations,
        materialisation: Materialisation,
    ) -> None:
        self.engine = engine
        self.algorithm = algorithm
        self.strategy = strategy
        self.derived = derived
        self.materialisation = materialisation
        self.before_rules = materialisation
        self.facts: tuple[FactSet, FactSet] = (NONE, NONE)
        self.counters: tuple[Summands[Counts] | None, Summands[Counts] | None] = (Summands(), Summands())
        self.afresh: dict[Predicate, None] = {}
        self.done: list[UpdateStatistics] = []
        self.begin = time.perf_counter()
        self.before = dict(engine.work.instances)

    def step(
        self, program: StratifiedProgram, guard: Predicate, delete: FactSet, insert: FactSet, *, holds: bool
    ) -> None:
        """Continue with a program with guards, and delete or insert their fact."""
        fact = FactSet({guard: Relation.from_columns([], self.engine.universe, 1)})
        new = Derivations(program, {guard: holds})
        start = started_from(self.derived, new)
        old = self._begun(start, Derivations(start.program, new.guards), fact if holds else NONE)
        delete, insert = (facts.renamed(start.program.external) for facts in (delete, insert))
        explicit = ExplicitChange(old.explicit, *((delete | fact, insert) if holds else (delete, insert | fact)))
        done = repair(self.engine, start.program, old, explicit, self.algorithm, self.strategy)
        self.done.append(done.statistics)
        self._note(start, done, guard)
        self.derived, self.materialisation = Derivations(start.program, {guard: not holds}), done.materialisation

    def _begun(self, start: ChangedProgram, new: Derivations, guard: FactSet) -> Materialisation:
        """The materialisation in the names of a program, with counters and trace of predicates that it derives as
        before.
        """
        materialisation = replace(self._renamed(start.program, guard), afresh=frozenset(start.afresh))
        standing = [stratum for stratum in start.program.strata if not materialisation.is_afresh(stratum)]
        return self._with_bookkeeping(new, standing, materialisation)

    def _renamed(self, program: StratifiedProgram, guard: FactSet) -> Materialisation:
        """The materialisation with explicit facts under the names that a program has for them."""
        old = self.derived
        seen = {hidden: predicate for predicate, hidden in old.program.external.items()}
        explicit = old_guards_left(self.materialisation.explicit, old).renamed(seen).renamed(program.external)
        no_more = old.hidden.difference(program.external.values())
        facts = old_guards_left(self.materialisation.facts, old)
        facts = facts.restricted(predicate for predicate in facts if predicate not in no_more)
        return replace(self.materialisation, explicit=explicit | guard, facts=facts | guard, trace=None)

    def _with_bookkeeping(
        self, new: Derivations, strata: Iterable[Stratum], materialisation: Materialisation
    ) -> Materialisation:
        """The materialisation with its counters and its trace, computed anew for some strata where they do not fit."""
        old, strata = self.derived, list(strata)
        own = {predicate for stratum in strata for predicate in stratum.predicates}
        counted = {*(self.materialisation.nr or ()), *(self.materialisation.rec or ())}
        wrong = {p for p in own if p not in old.by_predicate or not new.of(p).has_counters_of(old.of(p))}
        anew = wrong | (counted - own)
        found = counted_anew(self.engine, strata, materialisation, anew)
        if found is not materialisation:
            sides = (materialisation.nr, found.nr), (materialisation.rec, found.rec)
            self._count(*(self._recounted(new.program, anew, before, after) for before, after in sides))
        return replace(found, trace=self._trace(new, found))

    def _recounted(
        self, program: StratifiedProgram, anew: set[Predicate], before: Counts | None, after: Counts | None
    ) -> Summands[Counts] | None:
        """The change of a counter that was computed anew for some predicates, as users see it."""
        if before is None or after is None:
            return None
        old, new = before.restricted(anew), after.restricted(anew)
        return replaced(outward_counts(self.derived.program.external, old), outward_counts(program.external, new))

    def _count(self, nr: Summands[Counts] | None, rec: Summands[Counts] | None) -> None:
        """Add differences of the counters, as users see them, to the change."""
        self.counters = both(self.counters[0], nr), both(self.counters[1], rec)

    def _trace(self, new: Derivations, materialisation: Materialisation) -> Trace | None:
        """The trace; the trace of each unchanged stratum is reused."""
        if self.materialisation.trace is None:
            return None
        old = self.derived.program.strata
        known = {_outline(self.derived, each): own for each, own in zip(old, self.materialisation.trace, strict=True)}
        outlines = [_outline(new, stratum) for stratum in new.program.strata]
        return tuple(
            known[outline]
            if outline in known and not materialisation.is_afresh(stratum)
            else trace_of(self.engine, stratum, materialisation)
            for outline, stratum in zip(outlines, new.program.strata, strict=True)
        )

    def _note(self, start: ChangedProgram, done: SignedChange, guard: Predicate) -> None:
        """Add an update to the change."""
        hidden = {guard, *start.program.external.values(), *self.derived.hidden}
        won, lost = (facts.restricted(p for p in facts if p not in hidden) for facts in (done.inserted, done.deleted))
        self._count(*(_outward(start.program, summands) for summands in (done.nr_summands, done.rec_summands)))
        self.facts = followed(self.facts, (won, lost))
        self.afresh.update(dict.fromkeys(p for p in start.afresh if p not in hidden))

    def finish(self, before: StratifiedProgram, program: StratifiedProgram, explicit: ExplicitChange) -> SignedChange:
        """Remove the guards, which changes no facts; returns the whole change."""
        new = Derivations(program)
        materialisation = self._renamed(program, NONE)
        facts = _FormConverter(self.engine, self.derived, new, materialisation.explicit).converted(
            materialisation.facts
        )
        materialisation = self._with_bookkeeping(new, program.strata, replace(materialisation, facts=facts))
        first, last = outward(before, self.before_rules), outward(program, materialisation)
        nr, rec = (
            replaced(old, now) if known is None or now is None else known
            for known, old, now in zip(self.counters, (first.nr, first.rec), (last.nr, last.rec), strict=True)
        )
        sides = *self.facts, explicit.inserted, explicit.deleted
        return SignedChange(materialisation, *sides, self._statistics(), nr, rec)

    def _statistics(self) -> UpdateStatistics:
        done, work = self.done, self.engine.work.instances
        sums = {
            name: sum(getattr(each, name) for each in done)
            for name in ("overdeleted", "rederived", "checked", "proved", "blocked")
        }
        reasons = list(dict.fromkeys(each.reason for each in done if each.reason))
        if self.afresh:
            names = [str(predicate) for predicate in self.afresh]
            more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
            reasons.append(f"computed afresh: {', '.join(names[:SHOWN])}{more}")
        return UpdateStatistics(
            ", ".join(dict.fromkeys(each.algorithm for each in done)) or "none",
            reason="; ".join(reasons),
            instances={phase: n - self.before.get(phase, 0) for phase, n in work.items()},
            seconds=time.perf_counter() - self.begin,
            **sums,
        )


def _outward(program: StratifiedProgram, summands: Summands[Counts] | None) -> Summands[Counts] | None:
    """Differences of a counter as users see them."""
    if summands is None:
        return None
    plus, minus = (
        tuple(outward_counts(program.external, counts) for counts in part) for part in (summands.plus, summands.minus)
    )
    return Summands(plus, minus)


def old_guards_left(facts: FactSet, old: Derivations) -> FactSet:
    """Facts without those of guards."""
    return facts.restricted(predicate for predicate in facts if predicate not in old.guards)


def _outline(derived: Derivations, stratum: Stratum) -> object:
    """The parts of a stratum that its trace depends on besides facts."""
    if stratum.special:
        return None
    rules = (frozenset(_counted(derived, part)) for part in (stratum.nonrecursive, stratum.recursive))
    return (frozenset(stratum.predicates), *rules)


def _counted(derived: Derivations, rules: tuple[Rule, ...]) -> Iterable[tuple[Rule, int]]:
    counts: dict[Rule, int] = {}
    for rule in derived.in_force(rules):
        counts[rule] = counts.get(rule, 0) + 1
    return counts.items()


class _FormConverter:
    """Converts facts into the forms of the modules of another program."""

    def __init__(self, engine: Engine, old: Derivations, new: Derivations, explicit: FactSet) -> None:
        self.engine = engine
        self.old = old
        self.new = new
        self.explicit = explicit
        self.remade: set[Predicate] = set()

    def converted(self, facts: FactSet) -> FactSet:
        program = self.new.program
        modules = {predicate for module in program.special for predicate in module.predicates}
        plain = {p: r.plain() for p, r in facts.items() if r.base is not None and p not in modules}
        facts = self._refed(facts.replaced(plain), self.new.hidden.difference(self.new.by_predicate), ())
        for stratum in program.strata:
            facts = self._refed(facts, self.new.hidden.intersection(stratum.predicates), stratum.rules)
            facts = self._rederived(facts, stratum)
        return facts

    def _refed(self, facts: FactSet, hidden: Iterable[Predicate], rules: Iterable[Rule]) -> FactSet:
        """The facts, where the inputs of modules are derived again if they are unknown or stale."""
        rules = list(rules)
        stale = {p for p in hidden if p not in self.old.hidden or not self.new.of(p).has_facts_of(self.old.of(p))}
        while (
            more := {
                rule.head.predicate
                for rule in rules
                if rule.head.predicate in hidden
                and not stale.union(self.remade).isdisjoint(_read(rule, self.new.hidden))
            }
            - stale
        ):
            stale |= more
        if not stale:
            return facts
        self.remade |= stale
        facts = facts.replaced({predicate: self.explicit.relation(predicate) for predicate in stale})
        feeding = RuleSet([rule for rule in rules if rule.head.predicate in stale])
        return close_under(self.engine, feeding, facts, "bookkeeping")

    def _rederived(self, facts: FactSet, stratum: Stratum) -> FactSet:
        """The facts with those of modules derived again, for modules that are new or read facts that were derived
        again.
        """
        if not any(map(self._is_stale, stratum.special)):
            return facts
        own = {predicate for module in stratum.special for predicate in module.predicates}
        self.remade |= own
        below = facts.restricted(predicate for predicate in facts if predicate not in own)
        return below.replaced(derived_by_modules(self.engine, stratum.special, below))

    def _is_stale(self, module: SpecialModule) -> bool:
        if not self.remade.isdisjoint(module.inputs):
            return True
        return any(self.new.of(p).module != self.old.of(p).module for p in module.predicates)


def _read(rule: Rule, hidden: frozenset[Predicate]) -> set[Predicate]:
    return {atom.predicate for atom in rule.positive if atom.predicate in hidden}
