"""Makes closures from components whose shape is known."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.modules.closure.description import Closure, ClosureKind, Transition
from everlog.reasoning.modules.closure.shapes import Linear, LinearRule, Shape


def closure(component: Component, shape: Shape, reader: RuleReader) -> Closure:
    """The closure of a component with this shape."""
    recursive = [read for read in component.recursive if not read.makes_alias]
    external = MappingProxyType({predicate: hidden(predicate) for predicate in component.predicates})
    if not isinstance(shape, Linear):
        return Closure(shape, component.predicates, _rules(recursive), external)
    rules = [rule for rule in shape.rules if rule.edges or rule.source != rule.target]
    linear = len(component.predicates) == 1 and all(len(rule.edges) == 1 for rule in rules)
    edges = {edge for rule in rules for edge in rule.edges}
    closed = linear and not shape.again and edges <= component.contained
    states, transitions = _automaton(component.predicates, rules, reader)
    if shape.again:
        transitions = (*transitions, Transition(0, Edge(hidden(component.predicates[0])), 0))
    taken = [*recursive, *(read for read in component.others if closed and read.edge in edges)]
    kind: ClosureKind = "linear" if linear else "chain"
    return Closure(kind, states, _rules(taken), external, transitions, shape.side == "right", closed)


def _automaton(
    predicates: tuple[Predicate, ...], rules: Iterable[LinearRule], reader: RuleReader
) -> tuple[tuple[Predicate | None, ...], tuple[Transition, ...]]:
    """States and transitions: a rule with several edges passes through states of its own.

    Paths along a single edge from a state to itself repeat it at will, so that edges with the same
    transitive closure do as well.
    """
    states: list[Predicate | None] = list(predicates)
    number = {predicate: at for at, predicate in enumerate(predicates)}
    transitions: dict[Transition, None] = {}
    for rule in rules:
        here, end = number[rule.source], number[rule.target]
        if not rule.edges:
            transitions[Transition(here, None, end)] = None
        elif here == end and len(rule.edges) == 1:
            transitions.update(dict.fromkeys(Transition(here, edge, end) for edge in reader.generated(rule.edges[0])))
        else:
            between = range(len(states), len(states) + len(rule.edges) - 1)
            states += [None] * len(between)
            for edge, target in zip(rule.edges, [*between, end], strict=True):
                transitions[Transition(here, edge, target)] = None
                here = target
    return tuple(states), tuple(transitions)


def _rules(reads: Iterable[ReadRule]) -> tuple[Rule, ...]:
    return tuple(read.rule for read in reads)
