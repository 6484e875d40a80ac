"""What modules are: closures and virtual unions of binary predicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from everlog.lang.syntax import Predicate, Rule

ClosureKind = Literal["symmetric-transitive", "transitive", "linear", "chain"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A step along a fact of a binary predicate, from the first argument to the second or back.

    >>> Edge(Predicate("e", 2)).inverse
    Edge(predicate=Predicate(name='e', arity=2), inverted=True)
    """

    predicate: Predicate
    inverted: bool = False
    """From the second argument to the first."""

    @property
    def inverse(self) -> Edge:
        return Edge(self.predicate, not self.inverted)

    def turned(self, inverted: bool) -> Edge:
        """The edge or its inverse."""
        return self.inverse if inverted else self


@dataclass(frozen=True, slots=True)
class Transition:
    """From (source, y) to (target, z) if the edge leads from y to z; without an edge y is z."""

    source: int
    edge: Edge | None
    target: int


@dataclass(frozen=True)
class Closure:
    """Rules that close what comes from elsewhere.

    X_p below are the facts of ``external[p]``: all explicit facts of p and what rules outside the
    module derive for it. None of them, and no edge, depends on a predicate of the module.

    - *transitive*: the one state p is TC(X_p), the transitive closure without reflexivity.
    - *symmetric-transitive*: p is TC(X_p and its inverse).
    - *linear* (one state) and *chain* (several): P(x, z) holds if X_Q(x, y) and a path of
      transitions, perhaps empty, leads from (Q, y) to (P, z). If ``closed``, P also holds for (x, z)
      if a path of at least one transition leads from x to z: each edge is contained in P.

    ``mirrored``: read "X_Q(y, x)" and "P(z, x)", and an edge that is not inverted leads from its
    second argument to its first. For the relations that means p = e* X instead of X e*.
    """

    kind: ClosureKind
    states: tuple[Predicate | None, ...]
    """The predicates derived, one a state; for a state that is not asked for None, or an :func:`inner` predicate if
    pairs start there."""
    rules: tuple[Rule, ...]
    """The rules of the program that the module takes."""
    external: Mapping[Predicate, Predicate] = field(hash=False)
    """For each predicate derived and each inner one, the hidden predicate with what comes from elsewhere."""
    transitions: tuple[Transition, ...] = ()
    mirrored: bool = False
    closed: bool = False

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """What the module derives."""
        return tuple(state for state in self.states if state is not None and not is_inner(state))

    @property
    def inputs(self) -> tuple[Predicate, ...]:
        """What the module reads."""
        edges = (transition.edge.predicate for transition in self.transitions if transition.edge is not None)
        return tuple(dict.fromkeys([*self.external.values(), *edges]))


@dataclass(frozen=True)
class VirtualUnion:
    """A predicate that is exactly the union of its parts, so that its facts need not be kept.

    Its explicit facts and what other rules derive are in ``external[predicate]``. That is a part of
    the union, or of the predicate that it shares with others if ``predicate`` equals that one.
    """

    predicate: Predicate
    parts: tuple[Edge, ...]
    rules: tuple[Rule, ...]
    """The rules of the program that the module takes."""
    external: Mapping[Predicate, Predicate] = field(hash=False)

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """What the module derives."""
        return (self.predicate,)

    @property
    def inputs(self) -> tuple[Predicate, ...]:
        """What the module reads."""
        return tuple(dict.fromkeys(part.predicate for part in self.parts))


Module = Closure | VirtualUnion


@dataclass(frozen=True)
class Untaken:
    """A recursive rule that no module takes."""

    rule: Rule
    reason: str


INNER = " going on"


def inner(predicate: Predicate) -> Predicate:
    """The predicate of a state of pairs that nobody asks for."""
    return Predicate(f"{predicate.name}{INNER}", predicate.arity)


def is_inner(predicate: Predicate) -> bool:
    """Whether a predicate is one of a state that nobody asks for."""
    return predicate.name.endswith(INNER)


def hidden(predicate: Predicate) -> Predicate:
    """The predicate with what comes from outside the module; no name in a program contains a space."""
    return Predicate(f"{predicate.name} external", predicate.arity)
