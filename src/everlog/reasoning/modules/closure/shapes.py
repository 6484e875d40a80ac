"""Finds the closure that the recursive rules of a component form, judged by their words.

Let p be the only predicate of a component, X its facts from elsewhere, and e a predicate below it.

- p p is transitivity: p = X⁺.
- p⁻ is symmetry. With it, all of p p, p p⁻, p⁻ p, p⁻ p⁻ are transitivity. Without it, two of the last
  three imply it: from p(a, b) the words p p⁻, p⁻ p, p⁻ p⁻ derive (a, a); (b, b); nothing, and any two of them
  then derive (b, a), for instance p⁻ p⁻ by b <- a <- a. One rule alone is never symmetry and transitivity: if
  it applies to the single fact p(a, b), each variable stands only first or only second in its atoms. If its head
  is then (a, a) or (b, b), no first argument ever becomes a second one or the other way round; if it is (b, a),
  an even number of steps never separates the variables of the head, so neither (a, a) nor (b, b) follows. With
  p(a, a) and p(b, b) for all facts p(a, b) one of them would do, but no rule made of edges derives these.
- p e is left-linear, e p right-linear, e being any word over lower predicates: p = X e*, p = e* X. Both at once
  are p = e* X e*, which is neither.
- p p and p e together are p = X (X + e)*.
- A word is implied if p p is there and every letter is p or has a rule of its own for p.

Components of several predicates have left-linear rules only, or right-linear rules only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.words import Word
from everlog.lang.syntax import Predicate

Side = Literal["left", "right"]


@dataclass(frozen=True)
class LinearRule:
    """A linear rule: from Q by these edges to P, as read on its side."""

    source: Predicate
    edges: Word
    target: Predicate


@dataclass(frozen=True)
class Linear:
    """Left- or right-linear rules; ``again`` if the one predicate is transitive as well."""

    side: Side
    rules: tuple[LinearRule, ...]
    again: bool = False


Basis = Literal["symmetric-transitive", "transitive"]
Shape = Basis | Linear


class Misfit(Exception):
    """The rules form no closure; the message is the reason."""


def shape_of(
    component: frozenset[Predicate], rules: Iterable[tuple[Predicate, Word]], contained: AbstractSet[Edge]
) -> Shape | None:
    """The closure that recursive rules, heads with words, form; :func:`flaw_of` must be None for each word.

    ``contained`` are the edges from below that have a rule of their own for the one predicate. None means that the
    rules only say p = p or p = p⁻. A :class:`Misfit` is raised if there is no such closure.
    """
    distinct = dict.fromkeys(rules)
    if len(component) > 1:
        return _linear(distinct, component)
    predicate = next(iter(component))
    return _one(predicate, {path: None for _, path in distinct}.keys(), contained)


def _one(predicate: Predicate, words: Collection[Word], contained: AbstractSet[Edge]) -> Shape | None:
    forth, back = Edge(predicate), Edge(predicate, True)
    basis = basis_of(predicate, words)
    rest = [path for path in words if not is_implied(path, basis, predicate, contained) and path != (forth,)]
    if basis is not None and not rest:
        return basis
    linear = [path for path in rest if len(path) > 1 and not {forth, back}.issuperset(path)]
    if basis == "symmetric-transitive":
        raise Misfit("symmetry and transitivity do not go together with linear rules")
    if linear and len(linear) < len(rest):
        raise Misfit("linear rules do not go together with symmetry, nor with transitivity written in other ways")
    if linear:
        found = _linear([(predicate, path) for path in linear], frozenset([predicate]))
        return Linear(found.side, found.rules, basis is not None)
    if rest not in ([], [(back,)]):
        raise Misfit("without symmetry this is not transitivity")
    return None


def basis_of(predicate: Predicate, words: Collection[Word]) -> Basis | None:
    """The kind of closure that words of one predicate alone make it: transitive, also symmetric, or None.

    >>> p = Predicate("p", 2)
    >>> basis_of(p, [(Edge(p), Edge(p, True)), (Edge(p, True),)])
    'symmetric-transitive'
    """
    forth, back = Edge(predicate), Edge(predicate, True)
    squares = {path for path in words if len(path) == 2 and {forth, back}.issuperset(path)}
    turned = len(squares - {(forth, forth)})
    if (squares and (back,) in words) or turned > 1:
        return "symmetric-transitive"
    return "transitive" if squares and not turned else None


def is_implied(path: Word, basis: Basis | None, predicate: Predicate, contained: AbstractSet[Edge]) -> bool:
    """Whether a rule with this word follows from the basis and the rules for the contained edges."""
    if basis is None:
        return False

    def known(edge: Edge) -> bool:
        return edge == Edge(predicate) or edge in contained

    return all(known(edge) or (basis == "symmetric-transitive" and known(edge.inverse)) for edge in path)


def _linear(rules: Collection[tuple[Predicate, Word]], component: frozenset[Predicate]) -> Linear:
    sides = {side_of(path, component) for _, path in rules if len(path) > 1}
    if len(sides) != 1:
        raise Misfit("left-linear and right-linear rules do not go together")
    side = sides.pop()
    if side == "left":
        linear = tuple(LinearRule(path[0].predicate, path[1:], head) for head, path in rules)
    else:
        linear = tuple(LinearRule(path[-1].predicate, path[-2::-1], head) for head, path in rules)
    return Linear(side, linear)


def side_of(path: Word, component: frozenset[Predicate]) -> Side:
    """The side on which the word has the one edge of the component."""
    return "left" if path[0].predicate in component else "right"


def flaw_of(path: Word, component: frozenset[Predicate]) -> str | None:
    """The reason why no closure of the component's predicates has a rule with this word; None if one may have it."""
    own = [at for at, edge in enumerate(path) if edge.predicate in component]
    if len(component) == 1 and (len(path) == 1 or len(own) == len(path) == 2):
        return None
    if len(own) > 1:
        return "its body has more than one atom of the recursion"
    if own[0] not in (0, len(path) - 1):
        return "the atom of the recursion is in the middle of its path"
    return "the atom of the recursion is turned round" if path[own[0]].inverted else None
