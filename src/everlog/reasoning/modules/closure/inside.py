"""Closures inside a stratum: modules that depend on their own facts through other rules of it.

Transitivity, symmetry with it, and left- or right-linear rules of a predicate become a module of the
stratum even if the rest of the predicate's rules, or the edges, depend on the predicate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.lang.syntax import Atom, Predicate, Rule, Variable
from everlog.reasoning.modules.closure.description import Closure, Transition

Role = Literal["transitive", "symmetric", "left", "right"]


@dataclass(frozen=True)
class Closing:
    """The role of a recursive rule in the closure of its head's predicate."""

    role: Role
    edge: Edge | None = None


def closure_inside(predicate: Predicate, recursive: Iterable[Rule]) -> Closure | None:
    """The closure that some recursive rules of a predicate form; None if there is none."""
    found = [(rule, closing) for rule in recursive if (closing := _closing(rule, predicate)) is not None]
    roles = {closing.role for _, closing in found}
    if "transitive" in roles:
        kind: Literal["transitive", "symmetric-transitive"]
        kind = "symmetric-transitive" if "symmetric" in roles else "transitive"
        rules = tuple(rule for rule, closing in found if closing.role in ("transitive", "symmetric"))
        return Closure(kind, (predicate,), rules, {predicate: hidden(predicate)})
    sides = roles & {"left", "right"}
    if len(sides) != 1:
        return None
    (side,) = sides
    rules = tuple(rule for rule, closing in found if closing.role == side)
    steps = tuple(Transition(0, closing.edge, 0) for _, closing in found if closing.role == side)
    return Closure("linear", (predicate,), rules, {predicate: hidden(predicate)}, steps, mirrored=side == "right")


def _closing(rule: Rule, predicate: Predicate) -> Closing | None:
    """The role of a rule for the predicate, if it has one."""
    if rule.head.predicate != predicate or rule.negative or not _is_plain(rule.head):
        return None
    x, z = rule.head.terms
    if not all(_is_plain(atom) for atom in rule.positive):
        return None
    if len(rule.positive) == 1:
        only = rule.positive[0]
        return Closing("symmetric") if only.predicate == predicate and only.terms == (z, x) else None
    if len(rule.positive) != 2:
        return None
    for first, second in (rule.positive, rule.positive[::-1]):
        if x in first.terms and z in second.terms and z not in first.terms and x not in second.terms:
            return _path(first, second, x, z, predicate)
    return None


def _path(first: Atom, second: Atom, x: object, z: object, predicate: Predicate) -> Closing | None:
    """The role of a path from x over some y to z."""
    forth, back = first.terms[0] == x, second.terms[1] == z
    if first.terms[1 if forth else 0] != second.terms[0 if back else 1]:
        return None
    left, right = Edge(first.predicate, not forth), Edge(second.predicate, not back)
    own = Edge(predicate)
    if left == right == own:
        return Closing("transitive")
    if left == own and second.predicate != predicate:
        return Closing("left", right)
    if right == own and first.predicate != predicate:
        return Closing("right", left)
    return None


def _is_plain(atom: Atom) -> bool:
    """Whether the atom has two different variables."""
    return len(atom.terms) == 2 and all(isinstance(t, Variable) for t in atom.terms) and atom.terms[0] != atom.terms[1]
