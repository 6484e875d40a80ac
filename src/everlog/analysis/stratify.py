"""Stratification: the order in which rules are evaluated so that negated predicates are complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from everlog.analysis.check import CheckedProgram
from everlog.analysis.cycles import reject_negative_cycles
from everlog.analysis.dependencies import Dependencies, dependencies
from everlog.lang.syntax import Predicate, Rule

if TYPE_CHECKING:
    from everlog.analysis.modules.kinds import Closure, Module, Untaken

Kind = Literal["levels", "single"]
Component = tuple[Predicate, ...]


@dataclass(frozen=True)
class Stratum:
    """The rules whose heads are in one stratum. Strata are numbered from 1; predicates without rules have number 0."""

    index: int
    recursive: tuple[Rule, ...]
    """The rules with a positive body atom of this stratum."""
    nonrecursive: tuple[Rule, ...]
    predicates: tuple[Predicate, ...]
    """The predicates that the rules or the module derive."""
    module: Module | None = None
    """The module that derives the predicates of a stratum without rules."""
    inner: tuple[Closure, ...] = ()
    """Modules inside the recursion of the stratum: they depend on their own facts through its rules."""
    afresh: bool = False
    """Whether the stored facts of its predicates come from other rules, so that they cannot be repaired."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.nonrecursive + self.recursive

    @property
    def modules(self) -> tuple[Module, ...]:
        """The module of the stratum, or those inside it."""
        return self.inner if self.module is None else (self.module,)


@dataclass(frozen=True)
class StratifiedProgram:
    """A checked program with its rules in strata, to be evaluated one after the other."""

    program: CheckedProgram
    kind: Kind
    strata: tuple[Stratum, ...]
    stratum_of: Mapping[Predicate, int]
    """The stratum of each predicate of the program, and of each hidden predicate that modules read."""
    untaken: tuple[Untaken, ...] = ()
    """The recursive rules that no module takes, if modules are on."""

    @property
    def modules(self) -> tuple[Module, ...]:
        """All modules, in the order of their strata."""
        return tuple(module for stratum in self.strata for module in stratum.modules)

    @property
    def repairable(self) -> StratifiedProgram:
        """The program with strata that may be repaired, once its rules have derived all facts."""
        return replace(self, strata=tuple(replace(stratum, afresh=False) for stratum in self.strata))

    @cached_property
    def external(self) -> Mapping[Predicate, Predicate]:
        """For each predicate of a module, the hidden one that has its explicit facts."""
        external = (each.external.items() for each in self.modules)
        return MappingProxyType({predicate: hidden for items in external for predicate, hidden in items})


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
    """The lowest level of a component that is not below what it depends on, and above what it negates."""
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
        Stratum(index, tuple(recursive.get(index, ())), tuple(nonrecursive.get(index, ())), tuple(predicates[index]))
        for index in sorted(predicates)
    )
