"""Closures: rules over binary predicates that close what comes from elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.feeding import fed_by
from everlog.analysis.modules.hidden import hidden, is_intermediate
from everlog.analysis.modules.module import Shown, SpecialModule
from everlog.analysis.modules.reading import ReadRule, RuleReader
from everlog.lang.syntax import Atom, Predicate, Rule, Variable

ClosureKind = Literal["symmetric-transitive", "transitive", "linear", "chain"]


@dataclass(frozen=True, slots=True)
class Transition:
    """A step from (source, y) to (target, z) if the edge leads from y to z; without an edge y = z."""

    source: int
    edge: Edge | None
    target: int


@dataclass(frozen=True)
class Closure(SpecialModule):
    """Rules that close what comes from elsewhere.

    X_p below are the facts of ``external[p]``: all explicit facts of p and what rules outside the
    module derive for it.

    - *transitive*: the one state p is TC(X_p), the transitive closure without reflexivity.
    - *symmetric-transitive*: p is TC(X_p and its inverse).
    - *linear* (one state) and *chain* (several): P(x, z) holds if X_Q(x, y) and a path of
      transitions, perhaps empty, leads from (Q, y) to (P, z). If ``closed``, P also holds for (x, z)
      if a path of at least one transition leads from x to z: each edge is contained in P.

    ``mirrored``: read "X_Q(y, x)" and "P(z, x)", and an edge that is not inverted leads from its
    second argument to its first. For the relations that means p = e* X instead of X e*.

    >>> p = Predicate("p", 2)
    >>> Closure("transitive", (p,), (), {p: hidden(p)}).path(lambda edge: edge.predicate.name)
    '(p external)+'
    """

    kind: ClosureKind
    states: tuple[Predicate | None, ...]
    """The predicates derived, one a state; for a state that is not asked for None, or an
    :func:`~everlog.analysis.modules.hidden.intermediate` predicate if pairs start there."""
    rules: tuple[Rule, ...]
    external: Mapping[Predicate, Predicate] = field(hash=False)
    """For each predicate derived and each intermediate one, the hidden predicate with what comes from elsewhere."""
    transitions: tuple[Transition, ...] = ()
    mirrored: bool = False
    closed: bool = False

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        return tuple(state for state in self.states if state is not None and not is_intermediate(state))

    @property
    def inputs(self) -> tuple[Predicate, ...]:
        return tuple(dict.fromkeys([*self.external.values(), *(edge.predicate for edge in self.edges)]))

    @property
    def identity(self) -> Hashable:
        return self.kind, self.states, self.transitions, self.mirrored, self.closed

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of transitions."""
        return tuple(move.edge for move in self.transitions if move.edge is not None)

    # What feeds it ----------------------------------------------------------------------------------

    def feeding(self, read: ReadRule, reader: RuleReader) -> tuple[Rule, ...]:
        """The rules that feed the closure; a transitive closure is fed with the generators of a relation."""
        if read.edge is not None and "transitive" in self.kind:
            edges = reader.generated(read.edge)
            if edges != (read.edge,):
                return fed_by(edges, read.head.predicate, read.rule)
        return super().feeding(read, reader)

    def generators(self, reader: RuleReader) -> Mapping[Predicate, tuple[Edge, ...]]:
        """The edges that generate each relation. TC(TC(X)) = TC(X); a closed linear module contains its edges and its
        external facts, and consists of paths along them.
        """
        if self.kind == "chain" or (self.kind == "linear" and not self.closed):
            return super().generators(reader)
        (predicate,) = self.predicates
        outside = Edge(hidden(predicate))
        more = (outside.inverse,) if self.kind == "symmetric-transitive" else self.edges
        return {predicate: (outside, *more)}

    # In other forms ---------------------------------------------------------------------------------

    def as_rules(self) -> tuple[tuple[Rule, ...], dict[Predicate, tuple[Edge, ...]]]:
        """Linear rules that derive the same relations, and for each predicate that they derive the edges that its pairs
        start with. There are none for a symmetric closure.
        """
        x, y, z = (Variable(name) for name in "xyz")
        states = [state or Predicate(f"state {number}", 2) for number, state in enumerate(self.states)]
        seeds: dict[Predicate, tuple[Edge, ...]] = dict.fromkeys(states, ())
        seeds.update((state, (Edge(outside),)) for state, outside in self.external.items())
        if self.kind == "transitive":
            step = Atom(self.external[states[0]], (y, z))
            return (Rule(Atom(states[0], (x, z)), (Atom(states[0], (x, y)), step)),), seeds
        rules = []
        for transition in self.transitions:
            source, target = states[transition.source], states[transition.target]
            if transition.edge is None:
                rules.append(Rule(Atom(target, (x, y)), (Atom(source, (x, y)),)))
                continue
            along = Atom(transition.edge.predicate, (y, z) if transition.edge.inverted == self.mirrored else (z, y))
            terms = ((x, z), (x, y)) if not self.mirrored else ((z, x), (y, x))
            rules.append(Rule(Atom(target, terms[0]), (Atom(source, terms[1]), along)))
            if self.closed:
                seeds[target] = (*seeds[target], transition.edge)
        return tuple(rules), seeds

    def path(self, shown: Shown) -> str:
        if self.kind == "chain":
            return self._transitions(shown)
        outside = Edge(self.external[self.predicates[0]])
        if self.kind == "linear" and len(self.states) > 1:
            return self._bound(shown)
        if self.kind == "linear":
            return self._linear(shown(outside), shown)
        return _repeated([outside] if self.kind == "transitive" else [outside, outside.inverse], "+", shown)

    def _linear(self, outside: str, shown: Shown) -> str:
        many = _repeated(self.edges, "*", shown)
        path = f"{many} / {outside}" if self.mirrored else f"{outside} / {many}"
        return f"{path} | {_repeated(self.edges, '+', shown)}" if self.closed else path

    def _bound(self, shown: Shown) -> str:
        """The path of a closure from a constant: pairs that are extended, and pairs that are not."""
        outside, going = (shown(Edge(predicate)) for predicate in self.external.values())
        many = _repeated(dict.fromkeys(self.edges), "+", shown)
        return f"{outside} | {many} / {going}" if self.mirrored else f"{outside} | {going} / {many}"

    def _transitions(self, shown: Shown) -> str:
        """Each state with the transitions that lead to it; states inside a chain are numbers."""

        def state(number: int) -> str:
            predicate = self.states[number]
            return str(number) if predicate is None else shown(Edge(predicate))

        def move(each: Transition) -> str:
            steps = [state(each.source), *([] if each.edge is None else [shown(each.edge)])]
            return f"{state(each.target)} = {' / '.join(reversed(steps) if self.mirrored else steps)}"

        return ", ".join(map(move, self.transitions))


def _repeated(edges: Iterable[Edge], sign: str, shown: Shown) -> str:
    texts = list(map(shown, edges))
    together = " | ".join(texts)
    return f"({together}){sign}" if " " in together else f"{together}{sign}"
