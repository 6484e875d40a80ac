"""Derivations of the predicates of a program, and those that a changed program shares.

Between a program and a changed one there are programs with *guards*: predicates of arity 0 in the bodies of the rules
that are added or removed. A rule whose guard holds is equivalent to the rule without the guard, and a rule whose guard
does not hold derives nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from everlog.analysis.dependencies import strong_components
from everlog.analysis.modules.module import OrdinaryRules
from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.lang.syntax import Atom, Predicate, Rule

Guards = Mapping[Predicate, bool]
"""For each guard, whether it holds."""

UNRULED = -1
"""The index of the stratum of predicates whose rules were all removed."""


def guarded(rule: Rule, guard: Predicate) -> Rule:
    """The rule with the guard in its body: it derives facts only while the guard holds.

    >>> from everlog.lang.parser import parse_program
    >>> from everlog.lang.printer import print_rule
    >>> print_rule(guarded(parse_program("p(?x) :- q(?x) .").rules[0], Predicate("now", 0)))
    'p(?x) :- now(), q(?x) .'
    """
    return replace(rule, positive=(Atom(guard, ()), *rule.positive))


@dataclass
class Derivation:
    """The derivation of a predicate: a multiset of rules, or a module."""

    nonrecursive: list[Rule] = field(default_factory=list)
    recursive: list[Rule] = field(default_factory=list)
    module: object = None
    """The parameters of the module: what its result depends on besides facts."""

    def has_facts_of(self, other: Derivation) -> bool:
        """Whether both derive equal facts of the predicate from equal facts of the predicates that it depends on."""
        if self.module != other.module:
            return False
        return self.has_counters_of(other) or Counter(self.rules) == Counter(other.rules)

    def has_counters_of(self, other: Derivation) -> bool:
        """Whether both also give the facts equal numbers of derivations."""
        return _same(self.nonrecursive, other.nonrecursive) and _same(self.recursive, other.recursive)

    @property
    def rules(self) -> list[Rule]:
        return self.nonrecursive + self.recursive

    def __bool__(self) -> bool:
        """Whether some rule or a module derives the predicate."""
        return bool(self.nonrecursive or self.recursive or self.module is not None)


def _same(some: list[Rule], others: list[Rule]) -> bool:
    """Whether two lists have equal rules in any order; lists in the same order are compared fastest."""
    return some == others or (len(some) == len(others) and Counter(some) == Counter(others))


NOTHING = Derivation()


@dataclass(frozen=True)
class Derivations:
    """The derivation of each predicate of a program, given which guards hold."""

    program: StratifiedProgram
    guards: Guards = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def by_predicate(self) -> dict[Predicate, Derivation]:
        """The derivation of each predicate that has rules or a module, including rules that are not in force."""
        found: dict[Predicate, Derivation] = {}
        for stratum in self.program.strata:
            found.update((predicate, Derivation()) for predicate in stratum.predicates)
            for module in stratum.special:
                found.update((predicate, Derivation(module=module.identity)) for predicate in module.predicates)
            for rule in self.in_force(stratum.nonrecursive):
                found[rule.head.predicate].nonrecursive.append(rule)
            for rule in self.in_force(stratum.recursive):
                found[rule.head.predicate].recursive.append(rule)
        return found

    def of(self, predicate: Predicate) -> Derivation:
        return self.by_predicate.get(predicate, NOTHING)

    @cached_property
    def hidden(self) -> frozenset[Predicate]:
        """The hidden predicates that have the explicit facts of modules."""
        return frozenset(self.program.external.values())

    def in_force(self, rules: tuple[Rule, ...]) -> Iterator[Rule]:
        """The rules whose guards hold, without their guards."""
        for rule in rules:
            guards = [atom.predicate for atom in rule.positive if atom.predicate in self.guards]
            if not guards:
                yield rule
            elif all(self.guards[guard] for guard in guards):
                yield replace(rule, positive=tuple(a for a in rule.positive if a.predicate not in self.guards))

    def changed_in(self, new: Derivations) -> frozenset[Predicate]:
        """The predicates of a later program whose facts may differ from those that this program derives."""
        no_more = self.hidden - new.hidden
        found = {p for p, how in new.by_predicate.items() if not how.has_facts_of(self.of(p))}
        lost = {p for p, how in self.by_predicate.items() if how and p not in new.by_predicate and p not in no_more}
        return frozenset({*found, *lost, *(new.hidden - self.hidden)})


@dataclass(frozen=True)
class ChangedProgram:
    """A program that is to reason over the facts that another program derived.

    The predicates ``afresh`` have another derivation than before. Their facts are computed again, in strata of their
    own; the facts of all other strata may be repaired.
    """

    program: StratifiedProgram
    afresh: tuple[Predicate, ...] = ()


def started_from(old: Derivations, new: Derivations) -> ChangedProgram:
    """The new program over the facts that the old one derived, with the predicates to compute again."""
    changed = old.changed_in(new)
    if not changed:
        return ChangedProgram(new.program)
    strata = [part for stratum in new.program.strata for part in _divided(stratum, changed)]
    unruled = tuple(sorted(changed.difference(new.by_predicate)))
    if unruled:
        strata.insert(0, Stratum(UNRULED, unruled, ()))
    stratum_of = MappingProxyType({**new.program.stratum_of, **dict.fromkeys(unruled, UNRULED)})
    afresh = [p for stratum in strata if not changed.isdisjoint(stratum.predicates) for p in stratum.predicates]
    return ChangedProgram(replace(new.program, strata=tuple(strata), stratum_of=stratum_of), tuple(afresh))


def _divided(stratum: Stratum, changed: frozenset[Predicate]) -> Iterable[Stratum]:
    """The parts of a stratum: the stratum itself, or smaller strata if some of its predicates changed."""
    return (stratum,) if changed.isdisjoint(stratum.predicates) else split(stratum)


def split(stratum: Stratum) -> Iterator[Stratum]:
    """The parts of a stratum whose predicates depend on each other, each after those that it depends on.

    >>> from everlog.analysis.check import check
    >>> from everlog.analysis.stratify import stratify
    >>> from everlog.lang.parser import parse_program
    >>> program = parse_program("p(?x) :- e(?x) . q(?x) :- e(?x) . q(?x) :- q(?x), e(?x) .")
    >>> [len(part.rules) for stratum in stratify(check(program)).strata for part in split(stratum)]
    [1, 2]
    """
    if stratum.alone is not None:
        yield stratum
        return
    below: dict[Predicate, dict[Predicate, None]] = {predicate: {} for predicate in stratum.predicates}
    for rule in stratum.rules:
        below[rule.head.predicate].update((atom.predicate, None) for atom in rule.positive)
    for module in stratum.special:
        for predicate in module.predicates:
            below[predicate].update(dict.fromkeys((*module.inputs, *module.predicates)))
    for component in strong_components(below, lambda node: [other for other in below[node] if other in below]):
        yield _part(stratum, component)


def _part(stratum: Stratum, component: tuple[Predicate, ...]) -> Stratum:
    own = frozenset(component)
    rules = [rule for rule in stratum.rules if rule.head.predicate in own]
    recursive = tuple(rule for rule in rules if not own.isdisjoint(atom.predicate for atom in rule.positive))
    nonrecursive = tuple(rule for rule in rules if own.isdisjoint(atom.predicate for atom in rule.positive))
    ordinary = (OrdinaryRules(recursive, nonrecursive),) if rules else ()
    special = (module for module in stratum.special if not own.isdisjoint(module.predicates))
    return Stratum(stratum.index, component, (*ordinary, *special))
