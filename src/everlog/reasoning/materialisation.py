"""The state that reasoning keeps between updates: the facts, and the bookkeeping of the algorithms."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, cast

from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.algebra import AnyCounts, AnyEngine, AnyFactSet
from everlog.engine.factset import NONE, FactSet
from everlog.engine.multiset import NO_COUNTS, Counts
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.rule_sets import rule_sets

Maintain = Literal["dredc", "bfc", "counting", "none"]
"""The algorithm for which bookkeeping is kept."""

Trace = tuple[tuple[Counts, ...], ...]
"""For each stratum and round, the facts derived in it with the number of their derivations."""

AnyTrace = tuple[tuple[AnyCounts, ...], ...]

F = TypeVar("F", bound=AnyFactSet)
C = TypeVar("C", bound=AnyCounts)

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    F_co = TypeVarWithDefault("F_co", bound=AnyFactSet, default=FactSet, covariant=True)
    C_co = TypeVarWithDefault("C_co", bound=AnyCounts, default=Counts, covariant=True)
else:
    F_co, C_co = TypeVar("F_co"), TypeVar("C_co")


@dataclass(frozen=True)
class Materialisation(Generic[F_co, C_co]):
    """The explicit facts, all facts that hold, and the bookkeeping of their derivations.

    ``nr`` counts for each fact of a rule's predicate its being explicit and its instances of
    nonrecursive rules, ``rec`` its instances of recursive ones (the thesis's C_nr and C_r);
    ``trace`` is that of the Counting algorithm. Each is None if it is not kept, or no longer right.

    All sets are of one implementation of the algebra; without type arguments, of the local one.
    """

    explicit: F_co
    facts: F_co
    nr: C_co | None = None
    rec: C_co | None = None
    trace: tuple[tuple[C_co, ...], ...] | None = None
    instances: int = 0
    """The number of instances that materialising considers, as far as it is known."""
    afresh: frozenset[Predicate] = frozenset()
    """The predicates whose facts were derived by other rules than the program's, so that they cannot be repaired."""

    @property
    def nbytes(self: Materialisation) -> int:
        """The memory of the bookkeeping."""
        counters = sum(counts.nbytes for counts in (self.nr, self.rec) if counts is not None)
        return counters + sum(counts.nbytes for rounds in self.trace or () for counts in rounds)

    def fitted(self: Materialisation, universe: int) -> Materialisation:
        """The materialisation in layouts that hold ids below ``universe``."""
        facts = self.facts
        if all(relation.layout.fits(universe) for relation in (*facts.values(), *self.explicit.values())):
            return self
        return Materialisation(
            self.explicit.fitted(universe),
            facts.fitted(universe),
            None if self.nr is None else self.nr.fitted(universe),
            None if self.rec is None else self.rec.fitted(universe),
            None if self.trace is None else tuple(tuple(c.fitted(universe) for c in rounds) for rounds in self.trace),
            self.instances,
            self.afresh,
        )

    def is_afresh(self, stratum: Stratum) -> bool:
        """Whether the facts of a stratum cannot be repaired."""
        return bool(self.afresh) and not self.afresh.isdisjoint(stratum.predicates)


AnyMaterialisation = Materialisation[AnyFactSet, AnyCounts]


def with_bookkeeping(
    engine: AnyEngine, program: StratifiedProgram, fresh: Materialisation[F, C], maintain: Maintain
) -> Materialisation[F, C]:
    """A new materialisation with the bookkeeping for an algorithm, ready for updates."""
    if maintain == "none":
        return fresh
    settled = replace(fresh, facts=fresh.facts.settled())
    return (with_trace if maintain == "counting" else with_counters)(engine, program, settled)


def with_counters(engine: AnyEngine, program: StratifiedProgram, old: Materialisation[F, C]) -> Materialisation[F, C]:
    """The materialisation with its counters, computed from the facts if they are not kept."""
    if old.nr is not None and old.rec is not None:
        return old
    return replace(old, nr=nonrecursive_counts(engine, program, old), rec=recursive_counts(engine, program, old))


def nonrecursive_counts(engine: AnyEngine, program: StratifiedProgram, old: Materialisation[F, C]) -> C:
    """C_nr: for each fact the number of its instances of nonrecursive rules, plus one if it is explicit."""
    counts: AnyCounts = NO_COUNTS
    for stratum in _repairable_strata(program, old):
        counts += engine.once(old.explicit.restricted(stratum.predicates))
        counts += engine.match(rule_sets(stratum).nonrecursive, old.facts, old.facts, phase="bookkeeping").counts()
    return cast("C", counts)


def recursive_counts(engine: AnyEngine, program: StratifiedProgram, old: Materialisation[F, C]) -> C:
    """C_r: for each fact the number of its instances of recursive rules."""
    counts: AnyCounts = NO_COUNTS
    for stratum in _repairable_strata(program, old):
        counts += engine.match(rule_sets(stratum).recursive, old.facts, old.facts, phase="bookkeeping").counts()
    return cast("C", counts)


def _repairable_strata(program: StratifiedProgram, old: AnyMaterialisation) -> Iterable[Stratum]:
    """The strata whose facts were derived by the rules of the program."""
    return (stratum for stratum in program.strata if not old.is_afresh(stratum))


def counted_anew(
    engine: AnyEngine, strata: Iterable[Stratum], old: Materialisation[F, C], predicates: Collection[Predicate]
) -> Materialisation[F, C]:
    """The materialisation with the counters of some predicates computed anew, for their rules in some strata."""
    if old.nr is None or old.rec is None or not predicates:
        return old
    others: list[AnyCounts] = [c.restricted({p for p in c if p not in predicates}) for c in (old.nr, old.rec)]
    nr, rec = others
    for stratum in strata:
        mine = [predicate for predicate in stratum.predicates if predicate in predicates]
        parts = (stratum.nonrecursive, stratum.recursive)
        nonrecursive, recursive = (RuleSet([rule for rule in part if rule.head.predicate in mine]) for part in parts)
        nr += engine.once(old.explicit.restricted(mine))
        nr += engine.match(nonrecursive, old.facts, old.facts, phase="bookkeeping").counts()
        rec += engine.match(recursive, old.facts, old.facts, phase="bookkeeping").counts()
    return replace(old, nr=cast("C", nr), rec=cast("C", rec))


def with_trace(engine: AnyEngine, program: StratifiedProgram, old: Materialisation[F, C]) -> Materialisation[F, C]:
    """The materialisation with its trace, computed from the facts if it is not kept (journal paper, Algorithm 2)."""
    if old.trace is not None:
        return old
    return replace(old, trace=tuple(trace_of(engine, stratum, old) for stratum in program.strata))


def trace_of(engine: AnyEngine, stratum: Stratum, old: Materialisation[F, C]) -> tuple[C, ...]:
    """The trace of one stratum; empty for a module, and for a stratum whose facts were derived by other rules."""
    if stratum.special or old.is_afresh(stratum):
        return ()
    own = frozenset(stratum.predicates)
    facts: AnyFactSet = old.facts.restricted(predicate for predicate in old.facts if predicate not in own)
    recursive, rounds = rule_sets(stratum).recursive, list[AnyCounts]()
    counts = engine.once(old.explicit.restricted(stratum.predicates))
    counts += engine.match(rule_sets(stratum).nonrecursive, facts, facts, phase="bookkeeping").counts()  # l. 12

    def step(delta: AnyFactSet) -> AnyFactSet:
        nonlocal facts, counts
        rounds.append(counts)
        facts = facts.extended(delta)  # l. 16
        counts = engine.match(recursive, facts, facts, [(delta, NONE)], phase="bookkeeping").counts()  # l. 18
        return counts.facts() - facts  # l. 14

    fixpoint(counts.facts() - facts, step)
    return cast("tuple[C, ...]", trimmed([*rounds, counts]))


def trimmed(rounds: list[AnyCounts]) -> tuple[AnyCounts, ...]:
    """The rounds without empty ones at the end."""
    while rounds and not rounds[-1].facts():
        rounds = rounds[:-1]
    return tuple(rounds)
