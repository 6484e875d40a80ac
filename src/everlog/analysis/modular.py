"""Strata of a program with special modules, made from those of the program without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from everlog.analysis.dependencies import Dependencies, dependencies
from everlog.analysis.modules.detect import Detected, detect
from everlog.analysis.modules.module import Detections, SpecialModule
from everlog.analysis.stratify import Kind, StratifiedProgram, Stratum, group_by_stratum
from everlog.lang.syntax import Predicate, Rule

Position = tuple[int, int]
"""A level, and a number within it: 0 for rules, otherwise the number of a module. Modules come after the rules."""


def with_modules(program: StratifiedProgram, kinds: Detections) -> StratifiedProgram:
    """The program with the modules that some kinds make of its rules.

    A module whose inputs do not depend on it gets its own stratum (:func:`with_outer`); others join the stratum of the
    rules that depend on them (:func:`with_inside`).
    """
    kinds = tuple(kinds)
    outer = with_outer(program, kinds)
    stratum_of = dict(outer.stratum_of)
    strata = tuple(with_inside(stratum, stratum_of, kinds) for stratum in outer.strata)
    taken = {id(rule) for stratum in strata for module in stratum.special for rule in module.rules}
    untaken = tuple(each for each in outer.untaken if id(each.rule) not in taken)
    return replace(outer, strata=strata, stratum_of=MappingProxyType(stratum_of), untaken=untaken)


def with_outer(program: StratifiedProgram, kinds: Detections) -> StratifiedProgram:
    """The program with special modules, each in a stratum of its own.

    Rules outside a module that derive its predicates derive hidden predicates instead, which the
    module reads; so must explicit facts of these predicates (``external`` of the result says which).
    Strata are of the same kind: with ``levels`` everything is above what it depends on; with
    ``single`` rules are above what they negate and above modules that they read, and modules are
    above what they read. The time is linear in the size of the program.
    """
    found = detect(program.program.rules, kinds, program.program.prefixes)
    if not found.modules:
        return replace(program, untaken=found.untaken)
    positions = _positions(found, program.kind)
    number = {position: index for index, position in enumerate(sorted(set(positions.values())), 1)}
    stratum_of = dict.fromkeys(program.program.predicates, 0)
    stratum_of.update(dict.fromkeys((hidden for each in found.modules for hidden in each.external.values()), 0))
    stratum_of.update((predicate, number[position]) for predicate, position in positions.items())
    strata = [*group_by_stratum(found.outside, stratum_of), *_module_strata(found.modules, stratum_of)]
    return replace(
        program,
        strata=tuple(sorted(strata, key=lambda stratum: stratum.index)),
        stratum_of=MappingProxyType(stratum_of),
        untaken=found.untaken,
    )


def with_inside(stratum: Stratum, stratum_of: dict[Predicate, int], kinds: Detections) -> Stratum:
    """The stratum with modules that depend on their own facts through other rules of it.

    The hidden predicates that they read are put into ``stratum_of``.
    """
    by_head: dict[Predicate, list[Rule]] = {}
    for rule in stratum.recursive:
        by_head.setdefault(rule.head.predicate, []).append(rule)
    asked = (next(filter(None, (kind.inside(head, rules) for kind in kinds)), None) for head, rules in by_head.items())
    modules = tuple(module for module in asked if module is not None)
    if not modules:
        return stratum
    external = {p: name for module in modules for p, name in module.external.items()}
    stratum_of.update(dict.fromkeys(external.values(), stratum.index))
    taken = {id(rule) for module in modules for rule in module.rules}
    rules = [_fed(rule, external) for rule in stratum.rules if id(rule) not in taken]
    numbers = {atom.predicate: stratum_of.get(atom.predicate, 0) for rule in rules for atom in (rule.head, *rule.body)}
    others = [part for each in group_by_stratum(rules, numbers) for part in each.modules]
    heads = (rule.head.predicate for rule in rules)
    predicates = dict.fromkeys((*heads, *stratum.predicates, *external.values()))
    return Stratum(stratum.index, tuple(predicates), (*others, *modules))


def _fed(rule: Rule, external: Mapping[Predicate, Predicate]) -> Rule:
    """The rule with the hidden predicate in its head if a module derives that of its head."""
    name = external.get(rule.head.predicate)
    return rule if name is None else replace(rule, head=replace(rule.head, predicate=name))


def _module_strata(modules: Iterable[SpecialModule], stratum_of: Mapping[Predicate, int]) -> Iterable[Stratum]:
    return (Stratum(stratum_of[each.predicates[0]], each.predicates, (each,)) for each in modules)


def _positions(found: Detected, kind: Kind) -> dict[Predicate, Position]:
    """The position of each derived predicate in the order of strata."""
    graph = dependencies(found.outside)
    modules = {each.predicates[0]: each for each in found.modules}
    positions: dict[Predicate, Position] = {}
    for number, component in enumerate(found.components, 1):
        module = modules.get(component[0])
        if module is not None:
            below = [positions[other] for other in module.inputs if other in positions]
            level = _step(below, kind == "levels", least=int(kind == "levels"))
            positions.update(dict.fromkeys(component, (level, number)))
        elif component[0] in graph.positive:
            level = _rules_level(component, graph, positions, kind)
            positions.update(dict.fromkeys(component, (level, 0)))
    return positions


def _rules_level(
    component: tuple[Predicate, ...], graph: Dependencies, positions: Mapping[Predicate, Position], kind: Kind
) -> int:
    negated = [positions[other] for each in component for other in graph.negative[each] if other in positions]
    used = [positions[other] for each in component for other in graph.positive[each] if other in positions]
    modules = [position for position in used if position[1] > 0]
    return max(_step([*negated, *modules], above=True, least=1), _step(used, above=kind == "levels", least=1))


def _step(below: Iterable[Position], above: bool, least: int) -> int:
    """The highest of these levels, plus one if ``above``; at least ``least``."""
    return max([least, *(level + above for level, _ in below)])
