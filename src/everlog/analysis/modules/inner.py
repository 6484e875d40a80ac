"""Closures inside a stratum: modules that depend on their own facts through other rules of it.

Transitivity, symmetry with it, and left- or right-linear rules of a predicate become a module of the
stratum even if the rest of the predicate's rules, or the edges, depend on the predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from everlog.analysis.modules.kinds import Closure, Edge, Transition, hidden
from everlog.analysis.stratify import Stratum, group_by_stratum
from everlog.lang.syntax import Atom, Predicate, Rule, Variable

Role = Literal["transitive", "symmetric", "left", "right"]


@dataclass(frozen=True)
class Closing:
    """What a recursive rule does for the closure of its head's predicate."""

    role: Role
    edge: Edge | None = None


def with_inner(stratum: Stratum, stratum_of: dict[Predicate, int]) -> Stratum:
    """The stratum with its closures as modules; the hidden predicates they read are put into ``stratum_of``."""
    if stratum.module is not None:
        return stratum
    by_head: dict[Predicate, list[Rule]] = {}
    for rule in stratum.recursive:
        by_head.setdefault(rule.head.predicate, []).append(rule)
    modules = [m for p, rules in by_head.items() if p.arity == 2 and (m := _closure(p, rules)) is not None]
    if not modules:
        return stratum
    external = {p: name for module in modules for p, name in module.external.items()}
    stratum_of.update(dict.fromkeys(external.values(), stratum.index))
    taken = {id(rule) for module in modules for rule in module.rules}
    rules = [_fed(rule, external) for rule in stratum.rules if id(rule) not in taken]
    numbers = {p: stratum_of.get(p, 0) for rule in rules for p in _predicates(rule)}
    (found,) = group_by_stratum(rules, numbers) or (replace(stratum, recursive=(), nonrecursive=()),)
    predicates = dict.fromkeys((*found.predicates, *stratum.predicates, *external.values()))
    return replace(found, predicates=tuple(predicates), inner=tuple(modules))


def _predicates(rule: Rule) -> Iterable[Predicate]:
    return (atom.predicate for atom in (rule.head, *rule.body))


def _fed(rule: Rule, external: Mapping[Predicate, Predicate]) -> Rule:
    head = rule.head
    if head.predicate not in external:
        return rule
    return replace(rule, head=replace(head, predicate=external[head.predicate]))


def _closure(predicate: Predicate, recursive: Iterable[Rule]) -> Closure | None:
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
