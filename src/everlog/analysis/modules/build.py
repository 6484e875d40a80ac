"""Make modules of components whose shape is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from everlog.analysis.modules.kinds import Closure, ClosureKind, Edge, Transition, VirtualUnion, hidden
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.analysis.modules.shapes import Arm, Linear, Shape
from everlog.lang.syntax import Predicate, Rule

MAX_GENERATORS = 32
"""A union of more than so many relations is read as a whole where it feeds a closure."""


def closure(component: Component, shape: Shape, reader: RuleReader) -> Closure:
    """The closure of a component with this shape."""
    recursive = [read for read in component.recursive if not _belongs_to_alias(read)]
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


def union(component: Component, reader: RuleReader) -> VirtualUnion | None:
    """The one predicate of a component as a union, if some part of it is a predicate of a module."""
    (predicate,) = component.predicates
    if not any(edge.predicate in reader.generators for edge in component.contained):
        return None
    parts = [*reader.sources(predicate), *(read.edge for read in component.others if read.edge is not None)]
    if any(read.edge == Edge(predicate, True) for read in component.recursive):
        parts += [part.inverse for part in parts]
    reads = [read for read in (*component.recursive, *component.others) if read.edge is not None]
    rules = _rules(read for read in reads if not _belongs_to_alias(read))
    external = MappingProxyType({predicate: hidden(predicate)})
    return VirtualUnion(predicate, tuple(dict.fromkeys(parts)), rules, external)


def alias_unions(component: Component, reader: RuleReader) -> Iterator[VirtualUnion]:
    """The aliases of a component's predicates, each as a union with one part."""
    own: dict[Predicate, list[Rule]] = {}
    for read in component.recursive:
        if _belongs_to_alias(read):
            own.setdefault(read.rule.head.predicate, []).append(read.rule)
    for predicate, rules in own.items():
        part = reader.aliases.translate(Edge(predicate))
        external = MappingProxyType({predicate: hidden(predicate)})
        yield VirtualUnion(predicate, (part,), tuple(rules), external)


def generators(module: Closure | VirtualUnion, reader: RuleReader) -> dict[Predicate, tuple[Edge, ...]]:
    """For each predicate of a module, edges that have the same transitive closure as itself.

    TC(TC(X)) = TC(X); a closed linear module contains its edges and its external facts, and consists
    of paths along them; a union has the closure of its parts.
    """
    if isinstance(module, VirtualUnion):
        found = tuple(dict.fromkeys(edge for part in module.parts for edge in reader.generated(part)))
        return {module.predicate: found if len(found) <= MAX_GENERATORS else (Edge(module.predicate),)}
    if module.kind == "chain" or (module.kind == "linear" and not module.closed):
        return {predicate: (Edge(predicate),) for predicate in module.predicates}
    (predicate,) = module.predicates
    outside = Edge(hidden(predicate))
    if module.kind == "symmetric-transitive":
        return {predicate: (outside, outside.inverse)}
    edges = (transition.edge for transition in module.transitions if transition.edge is not None)
    return {predicate: (outside, *edges)}


def _belongs_to_alias(read: ReadRule) -> bool:
    """Whether the rule is one of those that make its predicate an alias of another one."""
    return read.is_alias and read.rule.head.predicate != read.head.predicate


def _rules(reads: Iterable[ReadRule]) -> tuple[Rule, ...]:
    return tuple(read.rule for read in reads)
