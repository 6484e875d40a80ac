"""Makes closures from components whose shape is known."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.modules.closure.description import Closure, ClosureKind, Transition
from everlog.reasoning.modules.closure.shapes import Arm, Linear, Shape


def closure(component: Component, shape: Shape, reader: RuleReader) -> Closure:
    """The closure of a component with this shape."""
    recursive = [read for read in component.recursive if not read.makes_alias]
    external = MappingProxyType({predicate: hidden(predicate) for predicate in component.predicates})
    if not isinstance(shape, Linear):
        return Closure(shape, component.predicates, _rules(recursive), external)
    arms = [arm for arm in shape.arms if arm.edges or arm.source != arm.target]
    linear = len(component.predicates) == 1 and all(len(arm.edges) == 1 for arm in arms)
    edges = {edge for arm in arms for edge in arm.edges}
    closed = linear and not shape.again and edges <= component.contained
    states, transitions = _automaton(component.predicates, arms, reader)
    if shape.again:
        transitions = (*transitions, Transition(0, Edge(hidden(component.predicates[0])), 0))
    taken = [*recursive, *(read for read in component.others if closed and read.edge in edges)]
    kind: ClosureKind = "linear" if linear else "chain"
    return Closure(kind, states, _rules(taken), external, transitions, shape.side == "right", closed)


def _automaton(
    predicates: tuple[Predicate, ...], arms: Iterable[Arm], reader: RuleReader
) -> tuple[tuple[Predicate | None, ...], tuple[Transition, ...]]:
    """States and transitions: an arm of several edges passes through states of its own.

    Paths along a single edge from a state to itself repeat it at will, so that edges with the same
    transitive closure do as well.
    """
    states: list[Predicate | None] = list(predicates)
    number = {predicate: at for at, predicate in enumerate(predicates)}
    transitions: dict[Transition, None] = {}
    for arm in arms:
        here, end = number[arm.source], number[arm.target]
        if not arm.edges:
            transitions[Transition(here, None, end)] = None
        elif here == end and len(arm.edges) == 1:
            transitions.update(dict.fromkeys(Transition(here, edge, end) for edge in reader.generated(arm.edges[0])))
        else:
            between = range(len(states), len(states) + len(arm.edges) - 1)
            states += [None] * len(between)
            for edge, target in zip(arm.edges, [*between, end], strict=True):
                transitions[Transition(here, edge, target)] = None
                here = target
    return tuple(states), tuple(transitions)


def _rules(reads: Iterable[ReadRule]) -> tuple[Rule, ...]:
    return tuple(read.rule for read in reads)
