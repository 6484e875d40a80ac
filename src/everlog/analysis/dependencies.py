"""Dependencies between predicates, and components of predicates that depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from everlog.lang.syntax import Predicate, Rule

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """For each derived predicate, the predicates in the bodies of its rules, in order of appearance."""

    positive: dict[Predicate, tuple[Predicate, ...]]
    negative: dict[Predicate, tuple[Predicate, ...]]

    @property
    def derived(self) -> Iterable[Predicate]:
        """The predicates that have rules."""
        return self.positive.keys()

    def of(self, predicate: Predicate) -> tuple[Predicate, ...]:
        """The predicates that a predicate depends on directly."""
        return self.positive.get(predicate, ()) + self.negative.get(predicate, ())

    def components(self) -> list[tuple[Predicate, ...]]:
        """The strongly connected components of the derived predicates, each after those it depends on."""
        derived = self.positive.keys()
        return strong_components(derived, lambda node: [other for other in self.of(node) if other in derived])


def dependencies(rules: Iterable[Rule]) -> Dependencies:
    """The dependency graph of a set of rules, in time linear in their size.

    >>> from everlog.lang.parser import parse_program
    >>> graph = dependencies(parse_program("p(?x) :- q(?x), ~r(?x) .").rules)
    >>> [str(other) for other in graph.of(Predicate("p", 1))]
    ['q/1', 'r/1']
    """
    positive: dict[Predicate, dict[Predicate, None]] = {}
    negative: dict[Predicate, dict[Predicate, None]] = {}
    for rule in rules:
        head = rule.head.predicate
        positive.setdefault(head, {}).update((atom.predicate, None) for atom in rule.positive)
        negative.setdefault(head, {}).update((atom.predicate, None) for atom in rule.negative)
    return Dependencies(
        {head: tuple(body) for head, body in positive.items()},
        {head: tuple(body) for head, body in negative.items()},
    )


def strong_components(nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[tuple[Node, ...]]:
    """Strongly connected components, every one after those it can reach.

    Tarjan's algorithm (SIAM J. Comput. 1(2), 1972) with an explicit stack, so that long chains of
    predicates do not exhaust Python's; time linear in nodes and edges.

    >>> edges = {1: [2], 2: [3], 3: [2], 4: [1]}
    >>> strong_components(edges, lambda node: edges[node])
    [(2, 3), (1,), (4,)]
    """
    order: dict[Node, int] = {}
    found: list[Node] = []
    low: list[int] = []
    closed: list[bool] = []
    stack: list[int] = []
    components: list[tuple[Node, ...]] = []

    def enter(node: Node) -> tuple[int, Iterator[Node]]:
        number = order[node] = len(found)
        found.append(node)
        low.append(number)
        closed.append(False)
        stack.append(number)
        return number, iter(successors(node))

    for root in nodes:
        if root in order:
            continue
        work = [enter(root)]
        while work:
            number, rest = work[-1]
            for other in rest:
                seen = order.get(other)
                if seen is None:
                    work.append(enter(other))
                    break
                if seen < low[number] and not closed[seen]:
                    low[number] = seen
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[number])
                if low[number] == number:
                    start = len(stack) - 1
                    while stack[start] != number:
                        start -= 1
                    component = stack[start:]
                    del stack[start:]
                    for each in component:
                        closed[each] = True
                    components.append(tuple([found[each] for each in component]))
    return components
