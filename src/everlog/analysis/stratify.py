"""Stratification: the order in which rules are evaluated so that negated predicates are complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from everlog.analysis.check import CheckedProgram
from everlog.analysis.cycles import reject_negative_cycles
from everlog.analysis.dependencies import Dependencies, dependencies
from everlog.analysis.modules.module import Module, OrdinaryRules, SpecialModule, Untaken
from everlog.lang.syntax import Predicate, Rule, Span

Kind = Literal["levels", "single"]
Component = tuple[Predicate, ...]


NO_RULES = OrdinaryRules()


@dataclass(frozen=True)
class Stratum:
    """The rules whose heads are in one stratum. Strata are numbered from 1; predicates without rules have number 0."""

    index: int
    predicates: tuple[Predicate, ...]
    """The predicates that the modules derive, and hidden predicates of the stratum that modules read."""
    modules: tuple[Module, ...]
    """The modules that take the rules, each rule in one of them. Ordinary rules come first."""

    @classmethod
    def of_rules(
        cls,
        index: int,
        recursive: tuple[Rule, ...],
        nonrecursive: tuple[Rule, ...],
        predicates: tuple[Predicate, ...],
    ) -> Stratum:
        """A stratum of ordinary rules."""
        return cls(index, predicates, (OrdinaryRules(recursive, nonrecursive),))

    @cached_property
    def ordinary(self) -> OrdinaryRules:
        """The ordinary rules, which may be none."""
        return next((module for module in self.modules if isinstance(module, OrdinaryRules)), NO_RULES)

    @cached_property
    def special(self) -> tuple[SpecialModule, ...]:
        """The modules that are not ordinary rules."""
        return tuple(module for module in self.modules if isinstance(module, SpecialModule))

    @cached_property
    def alone(self) -> SpecialModule | None:
        """The only module of the stratum, if it does not read its own stratum, so that applying it once is enough."""
        if len(self.modules) != 1 or not self.special or not set(self.predicates).isdisjoint(self.special[0].inputs):
            return None
        return self.special[0]

    @cached_property
    def inputs(self) -> frozenset[Predicate]:
        """The predicates that the modules read."""
        return frozenset(predicate for module in self.modules for predicate in module.inputs)

    @property
    def is_mixed(self) -> bool:
        """Whether special modules depend on each other, on their own facts, or on ordinary rules of the stratum."""
        return bool(self.special) and self.alone is None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The ordinary rules."""
        return self.ordinary.rules

    @property
    def recursive(self) -> tuple[Rule, ...]:
        """The ordinary rules with a positive body atom of this stratum."""
        return self.ordinary.recursive

    @property
    def nonrecursive(self) -> tuple[Rule, ...]:
        """The other ordinary rules."""
        return self.ordinary.nonrecursive


@dataclass(frozen=True)
class StratifiedProgram:
    """A checked program with its rules in strata, to be evaluated one after the other."""

    program: CheckedProgram
    kind: Kind
    strata: tuple[Stratum, ...]
    stratum_of: Mapping[Predicate, int]
    """The stratum of each predicate of the program, and of each hidden predicate that modules read."""
    untaken: tuple[Untaken, ...] = ()
    """The recursive rules that no special module takes, if modules are on."""

    @property
    def special(self) -> tuple[SpecialModule, ...]:
        """All modules that are not ordinary rules, in the order of their strata."""
        return tuple(module for stratum in self.strata for module in stratum.special)

    @cached_property
    def external(self) -> Mapping[Predicate, Predicate]:
        """For each predicate of a special module, the hidden one that has its explicit facts."""
        external = (each.external.items() for each in self.special)
        return MappingProxyType({predicate: hidden for items in external for predicate, hidden in items})

    @cached_property
    def predicates(self) -> frozenset[Predicate]:
        """All predicates of the program, of its rules and of its modules, hidden ones included."""
        rules = (rule for stratum in self.strata for rule in stratum.rules)
        in_rules = {atom.predicate for rule in rules for atom in (rule.head, *rule.body)}
        in_modules = {p for module in self.special for p in (*module.predicates, *module.inputs)}
        of_users = {*self.program.predicates, *self.external, *self.external.values()}
        return frozenset(in_rules | in_modules | of_users)

    def reusing(self, other: StratifiedProgram) -> StratifiedProgram:
        """The program with the ordinary rules of another where they are equal, so that their plans are used again."""
        known = {_with_spans(stratum.ordinary): stratum.ordinary for stratum in other.strata}

        def reused(module: Module) -> Module:
            return known.get(_with_spans(module), module) if isinstance(module, OrdinaryRules) else module

        strata = (replace(stratum, modules=tuple(map(reused, stratum.modules))) for stratum in self.strata)
        return replace(self, strata=tuple(strata))


def _with_spans(rules: OrdinaryRules) -> tuple[OrdinaryRules, tuple[Span | None, ...]]:
    return rules, tuple(rule.span for rule in rules.rules)


def stratify(program: CheckedProgram, kind: Kind = "levels") -> StratifiedProgram:
    """Put the rules into strata, in time linear in the size of the program.

    ``levels`` (section 10 of the journal paper): a predicate without rules is at level 0; those that
    depend on each other are one level above the highest of the other predicates that they depend on. ``single``: a
    predicate is only above what it negates, which gives as few strata as possible.

    Negation through recursion is a :class:`RuleError` that shows the cycle, rule by rule.

    >>> from everlog.analysis.check import check
    >>> from everlog.lang.parser import parse_program
    >>> program = check(parse_program("p(?x) :- e(?x) . q(?x) :- p(?x) . r(?x) :- q(?x), ~p(?x) ."))
    >>> [len(stratify(program, kind).strata) for kind in ("levels", "single")]
    [3, 2]
    """
    graph = dependencies(program.rules)
    components = graph.components()
    reject_negative_cycles(program.rules, components, program.prefixes)
    number = dict.fromkeys(program.predicates, 0)
    for component in components:
        height = _level(component, graph, number) if kind == "levels" else _height(component, graph, number)
        number.update(dict.fromkeys(component, height))
    strata = group_by_stratum(program.rules, number)
    return StratifiedProgram(program, kind, strata, MappingProxyType(number))


def _level(component: Component, graph: Dependencies, number: Mapping[Predicate, int]) -> int:
    """The level of a component: one above everything outside the component that it depends on."""
    inside = set(component)
    return 1 + max((number[other] for each in component for other in graph.of(each) if other not in inside), default=0)


def _height(component: Component, graph: Dependencies, number: Mapping[Predicate, int]) -> int:
    """The minimum level of a component: not below its dependencies, and above the predicates that it negates."""
    inside = set(component)
    beside = [number[other] for each in component for other in graph.positive[each] if other not in inside]
    below = [number[other] + 1 for each in component for other in graph.negative[each]]
    return max([1, *beside, *below])


def group_by_stratum(rules: Iterable[Rule], number: Mapping[Predicate, int]) -> tuple[Stratum, ...]:
    """The strata of these rules, given the stratum of each predicate."""
    recursive: dict[int, list[Rule]] = {}
    nonrecursive: dict[int, list[Rule]] = {}
    predicates: dict[int, dict[Predicate, None]] = {}
    for rule in rules:
        stratum = number[rule.head.predicate]
        predicates.setdefault(stratum, {})[rule.head.predicate] = None
        own = any(number[atom.predicate] == stratum for atom in rule.positive)
        (recursive if own else nonrecursive).setdefault(stratum, []).append(rule)
    return tuple(
        Stratum.of_rules(
            index, tuple(recursive.get(index, ())), tuple(nonrecursive.get(index, ())), tuple(predicates[index])
        )
        for index in sorted(predicates)
    )
