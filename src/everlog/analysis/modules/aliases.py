"""Predicates that are unions of each other: equal, or one the inverse of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everlog.analysis.dependencies import strong_components
from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.words import single
from everlog.lang.syntax import Predicate, Rule


@dataclass(frozen=True)
class Aliases:
    """Maps each predicate that equals or inverts another to an edge of its representative.

    If p(x, y) :- q(y, x) and q(x, y) :- p(y, x), then q is the inverse of p, so that all rules of both may
    be read as rules of p. If p turns out to be its own inverse, that remains as a rule p(x, y) :- p(y, x).
    """

    edge_of: Mapping[Predicate, Edge]
    others: Mapping[Predicate, tuple[Predicate, ...]]
    """Maps a representative to the predicates it represents."""

    def name(self, predicate: Predicate) -> Predicate:
        """The representative of a predicate; the predicate itself if it has no other."""
        found = self.edge_of.get(predicate) if self.edge_of else None
        return predicate if found is None else found.predicate

    def translate(self, edge: Edge) -> Edge:
        """The edge in terms of the representative of its predicate."""
        found = self.edge_of.get(edge.predicate)
        return edge if found is None else found.turned(edge.inverted)

    def members(self, predicate: Predicate) -> tuple[Predicate, ...]:
        """A representative and the predicates it represents, itself first."""
        return (predicate, *self.others.get(predicate, ()))


def find_aliases(rules: Sequence[Rule]) -> Aliases:
    """The aliases of a program: strongly connected by rules with a single edge for a body.

    The representative is the predicate whose rules begin first.
    """
    parts: dict[Predicate, dict[Edge, None]] = {}
    for rule in rules:
        edge = single(rule)
        if edge is not None:
            parts.setdefault(rule.head.predicate, {})[edge] = None
    components = strong_components(parts, lambda one: [e.predicate for e in parts[one] if e.predicate in parts])
    classes = [component for component in components if len(component) > 1]
    if not classes:
        return Aliases({}, {})
    position = {rule.head.predicate: -number for number, rule in enumerate(reversed(rules))}
    edge_of: dict[Predicate, Edge] = {}
    others: dict[Predicate, tuple[Predicate, ...]] = {}
    for each in classes:
        members = sorted(each, key=position.__getitem__)
        edge_of.update(_oriented(members, parts))
        others[members[0]] = tuple(members[1:])
    return Aliases(edge_of, others)


def _oriented(members: Sequence[Predicate], parts: Mapping[Predicate, Mapping[Edge, None]]) -> dict[Predicate, Edge]:
    """Each member as an edge of the first one, by a search along the rules from the first one."""
    first, inside = members[0], set(members)
    found = {first: Edge(first)}
    waiting = [first]
    while waiting:
        here = waiting.pop()
        for edge in parts[here]:
            if edge.predicate in inside and edge.predicate not in found:
                found[edge.predicate] = found[here].turned(edge.inverted)
                waiting.append(edge.predicate)
    return found
